"""The same tools as plain HTTP: the body is the arguments, the answer the payload, the status says how it went."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.support.catalog import ALL_TOOLS
from tests.support.contract.talk import KEYED, PUBLIC, RECOVERY_FIELDS, SIGNUP
from tests.support.surfaces import Surface

from assent.kernel.refusals import MEANINGS, Reason, Refusal, Retry
from assent.serving import arguments
from assent.serving.http import rest_arguments
from assent.tools.catalog import Catalog


def tool(name: str) -> str:
    return f"/api/tools/{name}"


async def test_the_answer_is_the_payload_that_mcp_gives(web: Surface) -> None:
    issued = await web.sign_in()
    for name in (PUBLIC, KEYED):
        response = await web.http.post(
            tool(name), json={}, headers={"Authorization": f"Bearer {issued.api_key}"}
        )
        assert response.status_code == 200
        assert response.json() == (await web.call(name)).payload
        assert response.headers["content-type"] == "application/json"
        assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("body", [b"", b"  \n", b"{}", b"null"], ids=repr)
async def test_a_tool_without_arguments_needs_no_body(web: Surface, body: bytes) -> None:
    assert (await web.http.post(tool(PUBLIC), content=body)).status_code == 200


@pytest.mark.rule("E51")
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"5",
        b'"x"',
        b"true",
        b'{"x":1}',
        b"\xff",
        b'{"a":' + b"[" * 70 + b"]" * 70 + b"}",
        b"[" * 10_000,
    ],
    ids=lambda body: repr(body[:12]),
)
async def test_a_body_that_a_tool_cannot_take_is_400_with_its_problems(web: Surface, body: bytes) -> None:
    response = await web.http.post(tool(PUBLIC), content=body)

    assert response.status_code == 400
    payload = response.json()
    assert payload["reason"] == "validation_error"
    assert set(payload) >= RECOVERY_FIELDS
    assert all(set(problem) == {"path", "expected", "got"} for problem in payload["problems"])
    assert payload["problems"]


async def test_all_problems_come_at_once(web: Surface) -> None:
    response = await web.http.post(tool(SIGNUP), json={"name": 5, "zebra": 1})

    assert response.status_code == 400
    assert {problem["path"] for problem in response.json()["problems"]} == {"email", "name", "zebra"}


@pytest.mark.rule("E84", "E53")
async def test_without_a_key_it_is_401_with_the_way_to_one(web: Surface) -> None:
    response = await web.http.post(tool(KEYED))

    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert response.json()["recoveryTool"]["name"] == SIGNUP


@pytest.mark.parametrize("name", ["nope", "chieflab_", "x" * 500, "..", "%2e%2e", "a%20b", "é"])
async def test_an_unknown_tool_is_404_with_the_shape(web: Surface, name: str) -> None:
    response = await web.http.post(tool(name), json={})

    assert response.status_code == 404
    if response.headers["content-type"].startswith("application/json") and name not in ("..", "%2e%2e"):
        assert response.json()["reason"] == "unknown_tool"


async def test_an_old_name_works_here_too(web: Surface) -> None:
    assert (await web.http.post(tool("chiefmo_list_connectors"))).status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_only_post_calls_a_tool(web: Surface, method: str) -> None:
    response = await web.http.request(method, tool(SIGNUP), params={"email": "a@b.c"})

    assert response.status_code == 405
    assert "POST" in response.headers["allow"]


@pytest.mark.rule("E51", "E52")
async def test_whatever_a_tool_refuses_has_the_status_of_its_reason(web: Surface) -> None:
    for reason in Reason:
        await expect_status(web, reason)


async def expect_status(web: Surface, reason: Reason) -> None:
    async def refuse(call: Any, request: Any) -> Any:
        raise Refusal(reason, retry_after_seconds=9)

    changed = [
        dataclasses.replace(each, handler=refuse) if each.name == KEYED else each for each in ALL_TOOLS
    ]
    web.surfaces.edge.catalog = Catalog(changed)
    issued = await web.sign_in()

    response = await web.http.post(tool(KEYED), headers={"Authorization": f"Bearer {issued.api_key}"})

    assert response.status_code == MEANINGS[reason].status
    assert response.json()["reason"] == reason.value
    # A time to wait is named where the same call is repeated after it.
    waits = MEANINGS[reason].retry is Retry.SAME
    assert response.headers.get("retry-after") == ("9" if waits else None)
    # The same over MCP is a result that the model can read, except where the call itself could not be taken.
    outcome = await web.call(KEYED)
    assert outcome.reason == reason.value
    at_gate = reason in (Reason.TEMPORARILY_UNAVAILABLE, Reason.MISSING_API_KEY)
    protocol_fault = reason in (Reason.UNKNOWN_TOOL, Reason.INTERNAL_ERROR)
    assert ("error" in outcome.message) == (at_gate or protocol_fault)
    assert outcome.status == (MEANINGS[reason].status if at_gate else 200)


async def test_a_form_of_another_site_cannot_call_a_tool(web: Surface) -> None:
    # What a browser sends for <form enctype="text/plain"> is JSON enough, so the Origin must decide.
    response = await web.http.post(
        tool(SIGNUP),
        content=b'{"email":"a@b.c"}',
        headers={"Content-Type": "text/plain", "Origin": "https://evil.example"},
    )

    assert response.status_code == 403


def test_numbers_by_the_thousand_are_not_walked_for_their_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(arguments, "depth")

    assert rest_arguments(b'{"x":[' + b"1," * 9_999 + b"1]}") == {"x": [1] * 10_000}
