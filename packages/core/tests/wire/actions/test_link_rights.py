"""A review link has the rights of the key that it was made for (E35): whoever may not decide gets no link that does.

Everything here goes through the answers that an agent gets and the pages that their links lead to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from packages.core.tests.wire.actions.test_review_links import claims_of, token_of
from tests.support.actions.kit import APPROVE, EXECUTE, PENDING, RESOLVE, STAGE, Gate
from tests.support.review.kit import BROWSER, Form, form, forms
from tests.support.surfaces import BASE_URL

DRAFTS_ONLY = ("runs:write",)
DECIDES = ("runs:write", "actions:decide")
EVERYTHING = ("runs:write", "actions:decide", "actions:execute")


@asynccontextmanager
async def browser(gate: Gate) -> AsyncIterator[httpx.AsyncClient]:
    headers = {**BROWSER, "Origin": BASE_URL}
    async with httpx.AsyncClient(transport=gate.wire, base_url=BASE_URL, headers=headers) as made:
        yield made


async def opened(by: httpx.AsyncClient, url: str) -> str:
    """The page behind a link."""
    answer = await by.get(url, follow_redirects=True)
    assert answer.status_code == 200, answer.text
    return answer.text


async def staged_by(gate: Gate, key: str, **effect: Any) -> dict[str, Any]:
    answer = await gate.call(STAGE, {"effects": [effect]}, key=key)
    assert not answer.is_error, answer.payload
    return answer.payload


def scope_of(url: str) -> str:
    scope: str = claims_of(token_of(url))["scope"]
    return scope


def decisions(page: str) -> list[str | None]:
    return [each.decision for each in forms(page)]


async def pressed(by: httpx.AsyncClient, found: Form, **fields: str) -> httpx.Response:
    return await by.post(found.address, data={**found.fields, "name": "Jane Doe", **fields})


@pytest.mark.rule("E35")
@pytest.mark.parametrize(
    ("scopes", "scope"),
    [
        (DRAFTS_ONLY, "look"),
        (("runs:write", "actions:execute"), "look"),
        (DECIDES, "approve"),
        (EVERYTHING, "review"),
    ],
    ids=str,
)
async def test_a_link_says_what_the_key_that_got_it_may_do(
    surface: Gate, scopes: tuple[str, ...], scope: str
) -> None:
    key = await surface.key_with(*scopes)
    run = await staged_by(surface, key)
    assert scope_of(run["reviewUrl"]) == scope
    assert (await surface.call("chieflab_get_run", {"runId": run["runId"]}, key=key)).payload[
        "reviewUrl"
    ] == run["reviewUrl"]


@pytest.mark.rule("E35")
async def test_another_agents_run_is_handed_to_a_drafting_key_to_look_at_only(surface: Gate) -> None:
    run = await surface.run()
    action_id = run["actions"][0]["id"]
    drafting = await surface.key_with("runs:write", "actions:execute")
    answers = [
        (await surface.call(PENDING, {"runId": run["runId"]}, key=drafting)).payload["reviewUrl"],
        (await surface.call(PENDING, {}, key=drafting)).payload["reviewUrl"],
        (await surface.call("chieflab_get_run", {"runId": run["runId"]}, key=drafting)).payload["reviewUrl"],
        (await surface.call(EXECUTE, {"actionId": action_id}, key=drafting)).payload["reviewUrl"],
    ]
    assert [scope_of(url) for url in answers] == ["look"] * len(answers)


async def test_the_refusal_of_a_deciding_key_links_with_its_own_rights(surface: Gate) -> None:
    high = await surface.staged(severity="high")
    lost = await surface.bring_to("outcome_unknown")
    deciding = await surface.key_with("actions:decide")
    refused = [
        await surface.call(APPROVE, {"actionId": high}, key=deciding),
        await surface.call(
            RESOLVE, {"actionId": lost, "outcome": "did_not_happen", "evidence": "none"}, key=deciding
        ),
    ]
    assert [scope_of(each.payload["reviewUrl"]) for each in refused] == ["approve", "approve"]


@pytest.mark.rule("E35", "E71")
async def test_a_drafting_keys_link_shows_everything_and_decides_nothing(surface: Gate) -> None:
    run = await staged_by(surface, await surface.key_with(*DRAFTS_ONLY))
    action_id = run["actions"][0]["id"]
    async with browser(surface) as looking:
        page = await opened(looking, run["reviewUrl"])
        assert "We rebuilt the importer" in page
        assert decisions(page) == []
        assert "Waits for approval" in page and "/sign-in" in page
        edit = await looking.get(f"/runs/{run['runId']}/actions/{action_id}/edit")
        assert (edit.status_code, edit.headers.get("location")) == (303, f"/runs/{run['runId']}")
        async with browser(surface) as deciding:
            # The form of somebody who may, sent by somebody who may only look.
            whole = (await surface.done(PENDING, runId=run["runId"]))["reviewUrl"]
            found = form(await opened(deciding, whole), action_id, "approve")
        answer = await pressed(looking, found, then="send")
        assert answer.status_code == 403
    assert await surface.where(action_id) == "awaiting_approval"
    await surface.run_jobs()
    assert surface.calls == 0


async def test_a_form_that_was_shown_with_more_rights_is_refused_once_the_browser_has_fewer(
    surface: Gate,
) -> None:
    run = await staged_by(surface, await surface.key_with(*DRAFTS_ONLY))
    action_id = run["actions"][0]["id"]
    whole = (await surface.done(PENDING, runId=run["runId"]))["reviewUrl"]
    async with browser(surface) as same:
        found = {each.decision: each for each in forms(await opened(same, whole))}
        assert {"approve", "edit", "ask", "reject"} <= found.keys()
        await opened(same, run["reviewUrl"])
        for name, fields in {"approve": {}, "edit": {"body": "x y"}, "reject": {"reason": "no"}}.items():
            answer = await pressed(same, found[name], **fields)
            assert answer.status_code == 403 and "signed-in person" in answer.text
    assert await surface.where(action_id) == "awaiting_approval"


async def test_a_link_of_a_key_that_may_not_execute_approves_and_does_not_send(surface: Gate) -> None:
    run = await staged_by(surface, await surface.key_with(*DECIDES))
    action_id = run["actions"][0]["id"]
    async with browser(surface) as deciding:
        found = form(await opened(deciding, run["reviewUrl"]), action_id, "approve")
        assert ("then", "send", "") not in found.buttons
        refused = await pressed(deciding, found, then="send")
        assert refused.status_code == 403
        assert await surface.where(action_id) == "awaiting_approval"
        approved = await pressed(deciding, found)
        assert approved.status_code == 303
        assert await surface.where(action_id) == "approved"
        page = await opened(deciding, run["reviewUrl"])
        assert "withdraw" in decisions(page) and "send" not in decisions(page)
        sent = await deciding.post(
            found.address.replace("/approve", "/send"), data={**found.fields, "name": "Jane Doe"}
        )
        assert sent.status_code == 403
    await surface.run_jobs()
    assert surface.calls == 0


async def test_a_link_of_a_whole_key_approves_and_sends_as_before(surface: Gate) -> None:
    run = await surface.run()
    action_id = run["actions"][0]["id"]
    async with browser(surface) as deciding:
        found = form(await opened(deciding, run["reviewUrl"]), action_id, "approve")
        assert (await pressed(deciding, found, then="send")).status_code == 303
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"


async def test_an_unknown_outcome_is_shown_to_whoever_may_look_without_the_question(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown")
    run_id = (await surface.record(action_id))["runId"]
    drafting = await surface.key_with(*DRAFTS_ONLY)
    url = (await surface.call(PENDING, {"runId": run_id}, key=drafting)).payload["reviewUrl"]
    async with browser(surface) as looking:
        page = await opened(looking, url)
    assert decisions(page) == []
    assert "Outcome unknown" in page


async def test_a_provider_is_disconnected_by_a_key_that_may_decide_and_by_no_other(surface: Gate) -> None:
    for scopes, reason in ((DRAFTS_ONLY, "insufficient_scope"), (DECIDES, None)):
        key = await surface.key_with(*scopes)
        answer = await surface.call("chieflab_disconnect_provider", {"provider": "slack"}, key=key)
        assert answer.reason == reason, answer.payload
