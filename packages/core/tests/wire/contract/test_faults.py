"""A mistake of ours: said to be one, found again by its id, and telling nothing of how we are made."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import httpx
import pytest
from tests.support.catalog import ALL_TOOLS
from tests.support.contract.talk import (
    KEYED,
    PUBLIC,
    RECOVERY_FIELDS,
    REVISIONS,
    converse,
    request,
    say,
    say_in,
    tool_call,
)
from tests.support.surfaces import BASE_URL, Surface

from assent.tools.catalog import Catalog

SECRET = "postgresql://admin:hunter2@db.internal/assent"
TELLTALES = (
    SECRET,
    "hunter2",
    "db.internal",
    "Traceback",
    'File "',
    ".py",
    "RuntimeError",
    "TypeError",
    "line ",
)


async def raises(call: Any, request: Any) -> NoReturn:
    raise RuntimeError(SECRET)


async def raises_a_lookup_error(call: Any, request: Any) -> NoReturn:
    raise KeyError(SECRET)


async def raises_a_group(call: Any, request: Any) -> NoReturn:
    raise ExceptionGroup("several", [ValueError(SECRET)])


async def answers_with_nonsense(call: Any, request: Any) -> Any:
    return object()


async def answers_with_a_time_out(call: Any, request: Any) -> NoReturn:
    raise TimeoutError(SECRET)


async def recurses(call: Any, request: Any) -> Any:
    return await recurses(call, request)


FAULTY: tuple[Callable[[Any, Any], Awaitable[Any]], ...] = (
    raises,
    raises_a_lookup_error,
    raises_a_group,
    answers_with_nonsense,
    answers_with_a_time_out,
    recurses,
)


def break_tool(surface: Surface, handler: Callable[[Any, Any], Awaitable[Any]]) -> None:
    changed = [
        dataclasses.replace(tool, handler=handler) if tool.name == PUBLIC else tool for tool in ALL_TOOLS
    ]
    surface.surfaces.edge.catalog = Catalog(changed)


def assert_silent(text: str) -> None:
    for telltale in TELLTALES:
        assert telltale not in text, telltale


@pytest.mark.rule("E87")
async def test_a_tool_that_fails_is_32000_without_internals_in_every_revision(
    surface: Surface, caplog: pytest.LogCaptureFixture
) -> None:
    for faulty in FAULTY:
        break_tool(surface, faulty)
        for revision in REVISIONS:
            heard = await say_in(surface, revision, "tools/call", {"name": PUBLIC, "arguments": {}})
            assert heard.error["code"] == -32000
            assert heard.error["data"]["reason"] == "internal_error"
            assert set(heard.error["data"]) >= RECOVERY_FIELDS
            assert_silent(json.dumps(heard.message) + json.dumps(heard.headers))


async def test_the_id_in_the_answer_finds_the_cause_in_the_log(
    surface: Surface, caplog: pytest.LogCaptureFixture
) -> None:
    break_tool(surface, raises)
    with caplog.at_level(logging.INFO, logger="assent"):
        outcome = await surface.call(PUBLIC)

    request_id = outcome.payload["requestId"]
    assert request_id in outcome.payload["userMessage"]
    (record,) = [record for record in caplog.records if record.exc_info]
    assert getattr(record, "request_id", None) == request_id
    assert SECRET in caplog.text
    if surface.transport == "http":
        # One id for one request, wherever it is read.
        assert outcome.headers["x-request-id"] == request_id
        access = next(record for record in caplog.records if record.name == "assent.access")
        assert getattr(access, "request_id", None) == request_id


async def test_every_call_has_an_id_of_its_own(surface: Surface) -> None:
    break_tool(surface, raises)
    answers = await converse(surface, [tool_call(PUBLIC, request_id=n) for n in range(20)])

    assert len({answer["error"]["data"]["requestId"] for answer in answers}) == 20


async def test_after_a_fault_the_next_call_is_served(surface: Surface) -> None:
    break_tool(surface, raises)
    assert (await surface.call(PUBLIC)).reason == "internal_error"

    await surface.sign_in()
    assert not (await surface.call(KEYED)).is_error


async def test_a_fault_does_not_end_a_stdio_session(surface: Surface) -> None:
    break_tool(surface, raises)

    answers = await converse(
        surface, [tool_call(PUBLIC, request_id="fault"), request("ping", request_id="after")]
    )

    assert {answer["id"] for answer in answers} == {"fault", "after"}


async def test_a_fault_behind_the_tool_list_tells_nothing_either(
    surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(catalog: Catalog) -> NoReturn:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(Catalog, "listing", property(broken))
    for revision in REVISIONS:
        heard = await say_in(surface, revision, "tools/list")
        assert heard.error["code"] == -32000
        assert_silent(json.dumps(heard.message))


async def test_over_rest_a_fault_is_500_with_the_shape(web: Surface) -> None:
    break_tool(web, raises)

    response = await web.http.post(f"/api/tools/{PUBLIC}")

    assert response.status_code == 500
    assert response.json()["reason"] == "internal_error"
    assert response.json()["requestId"] == response.headers["x-request-id"]
    assert_silent(response.text)


@pytest.mark.parametrize("path", ["/claim/" + "A" * 54, "/readyz"])
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
async def test_a_page_that_fails_says_so_without_internals(
    web: Surface, monkeypatch: pytest.MonkeyPatch, path: str, accept: str
) -> None:
    async def broken(begin: Any) -> NoReturn:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(web.app.store, "read", broken)
    transport = httpx.ASGITransport(app=web.surfaces.site(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        response = await client.get(path, headers={"Accept": accept})

    assert response.status_code == 500
    assert response.headers["x-request-id"]
    for telltale in TELLTALES[:-2]:
        assert telltale not in response.text


async def test_a_store_that_fails_in_an_unforeseen_way_is_an_internal_fault(
    surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    await surface.sign_in()

    async def broken(begin: Any) -> NoReturn:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(surface.app.store, "read", broken)
    monkeypatch.setattr(surface.app.store, "write", broken)

    outcome = await surface.call(KEYED)
    assert outcome.reason == "internal_error"
    assert_silent(json.dumps(outcome.message))
    # The tool list looks at the key too.
    heard = await say(surface, request("tools/list"))
    assert heard.error["code"] == -32000
    assert_silent(json.dumps(heard.message))
