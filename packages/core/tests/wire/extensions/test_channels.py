"""Channels and connectors of an extension: limits, connections, accounts, several connectors, failures."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, Gate
from tests.support.answers import text_of
from tests.support.connections.console import WHERE
from tests.support.extensions.fixtures import gate_with
from tests.support.extensions.newsroom import Newsroom, open_newsroom
from tests.support.review.kit import send_form
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import signed_in

from assent_conform.testing.provider_server import Outcome

POST = "acme_news_pressroom_post"
NOTE = "acme_news_pressroom_note"
RELEASE = {"title": "Acme opens in Lisbon", "body": "Acme opens an office in Lisbon."}


@pytest.fixture
def changed_settings() -> dict[str, Any]:
    return {}


@pytest.fixture
async def newsroom(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changed_settings: dict[str, Any]
) -> AsyncIterator[Newsroom]:
    database_url = new_sqlite(tmp_path / "assent.db")
    async with open_newsroom(monkeypatch, database_url, tmp_path, "http", **changed_settings) as made:
        yield made


async def stage(newsroom: Newsroom, tool: str = POST, **arguments: Any) -> str:
    action_id: str = (await newsroom.done(tool, **(arguments or RELEASE)))["actions"][0]["id"]
    return action_id


async def approve_on_page(newsroom: Newsroom, action_id: str) -> None:
    run_id = (await newsroom.record(action_id))["runId"]
    answer = await newsroom.press(run_id, action_id, "approve")
    assert answer.status_code == 303, answer.text


async def approved_release(newsroom: Newsroom) -> str:
    """A release of a connected workspace, approved on its page."""
    await newsroom.connect()
    action_id = await stage(newsroom)
    await approve_on_page(newsroom, action_id)
    return action_id


async def test_the_tool_has_the_parts_of_the_shape_and_nothing_else(newsroom: Newsroom) -> None:
    listed = {tool["name"]: tool for tool in (await newsroom.rpc("tools/list"))["result"]["tools"]}
    release, note = listed[POST]["inputSchema"], listed[NOTE]["inputSchema"]
    own = {"tenantId", "idempotencyKey", "reason"}
    parts = {"body", "title", "link", "imageAssetId", "scheduleFor"}
    assert set(release["properties"]) == parts | own
    assert release["required"] == ["body", "title"]
    assert release["properties"]["body"]["description"] == "The text, at most 60 words."
    assert set(note["properties"]) == {"body"} | own
    operators = (await newsroom.http.get("/.well-known/mcp.json")).json()["operators"]
    (own_operator,) = [each for each in operators if each["id"] == "acme-news"]
    assert own_operator["primaryTool"] == POST
    assert own_operator["connectors"] == ["pressroom", "pressdesk", "board"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"body": "word " * 61}, ("body", "at most 60 words", "61 words")),
        ({"title": ""}, ("title", "at least 1 characters", "0 characters")),
        ({"title": "t" * 81}, ("title", "at most 80 characters", "81 characters")),
        ({"body": "Under embargo."}, ("body", "a text that may appear at once", '"a text under embargo"')),
        ({"body": "Rumour."}, ("body", "a text with a source", '"Rumour."')),
        ({"link": "javascript:alert(1)"}, ("link", "an address that begins with https://", None)),
        ({"imageAssetId": "no-such"}, ("imageAssetId", "the id of an image asset of this workspace", None)),
        ({"subject": "News"}, ("subject", None, None)),
    ],
)
async def test_a_message_that_the_channel_would_refuse_is_not_staged(
    newsroom: Newsroom, change: dict[str, str], problem: tuple[str, str | None, str | None]
) -> None:
    refused = await newsroom.denied(POST, **{**RELEASE, **change})
    assert refused["reason"] == "validation_error"
    (found,) = refused["problems"]
    for name, wanted in zip(("path", "expected", "got"), problem, strict=True):
        assert wanted is None or found[name] == wanted
    assert (await newsroom.done("chieflab_list_pending_actions"))["actions"] == []


@pytest.mark.parametrize(
    ("change", "path"),
    [({"body": "word " * 61}, "body"), ({"title": ""}, "title"), ({"subject": "News"}, "subject")],
)
async def test_an_edit_is_checked_like_a_call(newsroom: Newsroom, change: dict[str, str], path: str) -> None:
    action_id = await stage(newsroom)
    refused = await newsroom.denied(EDIT, actionId=action_id, **change)
    assert [each["path"] for each in refused["problems"]] == [path]
    assert (await newsroom.record(action_id))["revision"] == 1


async def test_a_message_without_a_picture_or_a_time_takes_neither(newsroom: Newsroom) -> None:
    drawn = await newsroom.done("chieflab_create_social_graphics", headline="Acme opens in Lisbon")
    image = drawn["images"][0]["id"]
    for argument in ({"imageAssetId": image}, {"scheduleFor": "2030-01-01T00:00:00Z"}):
        refused = await newsroom.denied(NOTE, body="We are open.", **argument)
        assert refused["problems"][0]["path"] == next(iter(argument))
    action_id = await stage(newsroom, NOTE, body="We are open.")
    assert (await newsroom.denied(EDIT, actionId=action_id, imageAssetId=image))[
        "reason"
    ] == "validation_error"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": "An uncountable text."}, "count of pressroom_post: it raised ZeroDivisionError"),
        ({"title": "Describe fails"}, "describe of pressroom_post: it raised KeyError"),
    ],
)
async def test_a_function_of_the_channel_that_fails_stages_nothing(
    newsroom: Newsroom, change: dict[str, str], said: str
) -> None:
    refused = await newsroom.denied(POST, **{**RELEASE, **change})
    assert refused["reason"] == "connector_failed"
    assert said in refused["userMessage"]
    assert (await newsroom.done("chieflab_list_pending_actions"))["actions"] == []


async def test_the_text_is_staged_in_its_normal_form(newsroom: Newsroom) -> None:
    action_id = await stage(newsroom, **{**RELEASE, "body": f"  {RELEASE['body']}\n\n"})
    assert (await newsroom.record(action_id))["content"]["body"] == RELEASE["body"]


async def test_a_connector_without_a_connection_performs_at_once(newsroom: Newsroom) -> None:
    action_id = await stage(newsroom, NOTE, body="We are open.")
    await newsroom.done(APPROVE, actionId=action_id)
    done = await newsroom.done(EXECUTE, actionId=action_id)
    assert done["output"] == {"text": "We are open.", "key": f"{action_id}:1"}


async def test_a_release_before_the_connection_says_how_to_connect_and_goes_to_the_account_that_was_shown(
    newsroom: Newsroom,
) -> None:
    run = await newsroom.done(POST, **RELEASE)
    action_id = run["actions"][0]["id"]
    assert "Pressroom is not connected." in text_of(run)
    assert f"/connect/pressroom{WHERE}" in text_of(run)
    how = await newsroom.done("chieflab_connect_provider", provider="pressroom")
    assert how["connected"] is False
    assert how["connectUrl"].endswith(f"/connect/pressroom{WHERE}")
    page = (await newsroom.browser.get(f"/connect/pressroom{WHERE}")).text
    assert "Publishing releases and reading their numbers." in page

    await newsroom.connect()
    await newsroom.run_jobs()
    again = await newsroom.done("chieflab_get_action", actionId=action_id)
    assert "Acme pressroom" in text_of(again)
    await approve_on_page(newsroom, action_id)
    assert (await newsroom.done(EXECUTE, actionId=action_id))["postId"]


async def test_the_second_connector_takes_over_where_the_first_is_not_connected(newsroom: Newsroom) -> None:
    answer = await send_form(newsroom.browser, f"/connect/pressdesk{WHERE}", "/key", key="123456")
    assert answer.status_code == 303, answer.text
    action_id = await stage(newsroom)
    assert (await newsroom.stored(action_id)).effect.connector == "pressdesk"
    await approve_on_page(newsroom, action_id)
    await newsroom.done(EXECUTE, actionId=action_id)
    (console,) = [
        module.__dict__["DESK"]
        for name, module in sys.modules.items()
        if name.endswith("_pressroom") and getattr(module, "URL", "") == newsroom.far.url
    ]
    assert console == [RELEASE["body"]]


async def test_a_key_that_the_provider_refuses_ends_the_connection_and_sends_nothing(
    newsroom: Newsroom,
) -> None:
    await send_form(newsroom.browser, f"/connect/pressdesk{WHERE}", "/key", key="654321")
    action_id = await stage(newsroom)
    await approve_on_page(newsroom, action_id)
    refused = await newsroom.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "missing_connector"
    found = await newsroom.app.connections.find(newsroom.workspace_id, "pressdesk")
    assert found is not None and found.state == "expired"
    assert "the desk does not know this number" in (found.problem or "")


async def test_a_refused_token_is_renewed_once_and_the_release_appears_once(newsroom: Newsroom) -> None:
    action_id = await approved_release(newsroom)
    newsroom.far.expire_access()
    assert (await newsroom.done(EXECUTE, actionId=action_id))["ok"]
    assert len(newsroom.far.happened("release")) == 1
    assert len(newsroom.far.happened("token_refreshed")) == 1


async def test_a_refusal_after_the_renewal_is_final_because_nothing_was_sent_before(
    newsroom: Newsroom,
) -> None:
    action_id = await approved_release(newsroom)
    newsroom.far.expire_access()
    newsroom.far.plan(Outcome.DELIVER, Outcome.DELIVER, Outcome.REFUSE_422)
    assert (await newsroom.denied(EXECUTE, actionId=action_id))["reason"] == "connector_failed"
    assert await newsroom.where(action_id) == "failed"
    assert not newsroom.far.happened("release")


async def test_an_ended_grant_asks_a_person_to_connect_again_and_keeps_the_approval(
    newsroom: Newsroom,
) -> None:
    action_id = await approved_release(newsroom)
    newsroom.far.revoke_all()
    refused = await newsroom.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "missing_connector"
    assert refused["recoveryTool"]["args"] == {"provider": "pressroom"}
    await newsroom.connect()
    assert (await newsroom.done(EXECUTE, actionId=action_id))["ok"]
    assert len(newsroom.far.happened("release")) == 1


async def test_an_approved_release_does_not_go_to_another_account(newsroom: Newsroom) -> None:
    action_id = await approved_release(newsroom)
    newsroom.far.account = {"id": "room-8", "name": "Another pressroom"}
    await newsroom.disconnect()
    await newsroom.connect()
    refused = await newsroom.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "requires_approval"
    assert "Another pressroom" in refused["userMessage"]
    assert not newsroom.far.happened("release")


async def test_a_provider_that_refuses_to_name_the_account_is_not_connected(newsroom: Newsroom) -> None:
    newsroom.far.account = {"id": "", "name": "Nameless"}
    answer = await newsroom.connect()
    assert answer.status_code == 502
    assert "named no account" in answer.text
    assert await newsroom.app.connections.find(newsroom.workspace_id, "pressroom") is None


@pytest.mark.parametrize("changed_settings", [{"allow_hosts": ()}])
async def test_requests_to_private_addresses_need_the_permission_of_the_settings(newsroom: Newsroom) -> None:
    answer = await newsroom.connect()
    assert answer.status_code == 502
    assert not [each for each in newsroom.far.ledger.entries() if getattr(each, "path", "") == "/api/me"]


async def test_a_person_who_publishes_by_hand_gets_the_declared_words(newsroom: Newsroom) -> None:
    action_id = await stage(newsroom)
    await newsroom.done("chieflab_use_manual_fallback", actionId=action_id)
    approved = await newsroom.approve_as_shown(action_id)
    for said in ("https://pressroom.example/new", "Choose the desk first.", RELEASE["title"]):
        assert said in text_of(approved)


LETTERS = Path(__file__).parents[5] / "tests/support/extensions/letters.py"
LETTER = {"body": "Dear Ada, we moved to Lisbon.", "subject": "We moved", "to": ["ada@example.org"]}


@pytest.fixture
async def mailroom(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Gate]:
    async with signed_in(gate_with((str(LETTERS),), database_url, tmp_path, transport)) as gate:
        yield gate


async def test_a_letter_names_its_recipients_and_keeps_to_their_number(mailroom: Gate) -> None:
    tool = "acme_letters_letter_send"
    run = await mailroom.done(tool, **LETTER)
    action_id = run["actions"][0]["id"]
    assert "To: ada@example.org" in text_of(run) and "Subject: We moved" in text_of(run)
    people = [f"p{number}@example.org" for number in range(4)]
    for change, path in (
        ({"to": people}, "to"),
        ({"to": []}, "to"),
        ({"to": ["nowhere"]}, "to.0"),
        ({"to": ["boss@example.org"]}, "to"),
        ({"subject": "s" * 61}, "subject"),
        ({"title": "News"}, "title"),
    ):
        refused = await mailroom.denied(tool, **{**LETTER, **change})
        assert [each["path"] for each in refused["problems"]] == [path]
    assert (await mailroom.denied(EDIT, actionId=action_id, to=people))["reason"] == "validation_error"
    await mailroom.done(EDIT, actionId=action_id, to=people[:2])
    stored = await mailroom.stored(action_id)
    assert stored.view.facets.recipients == tuple(people[:2])
    assert (
        stored.view.sentence == "Sends this to 2 people: p0@example.org, p1@example.org through Post office."
    )
