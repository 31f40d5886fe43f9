"""A channel from outside the package: staged, shown with its own preview, edited, approved, published,
read back and measured."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.actions.kit import EDIT, EXECUTE
from tests.support.answers import text_of
from tests.support.extensions.newsroom import Newsroom, open_newsroom

from assent_conform.testing.provider_server import Outcome

POST = "acme_news_pressroom_post"
RELEASE = {
    "title": "Acme opens in Lisbon",
    "body": "Acme opens an office in Lisbon. Forty people work there from March.",
    "link": "https://acme.example/lisbon",
}


@pytest.fixture
async def newsroom(
    monkeypatch: pytest.MonkeyPatch, database_url: str, tmp_path: Path, transport: str
) -> AsyncIterator[Newsroom]:
    async with open_newsroom(monkeypatch, database_url, tmp_path, transport) as made:
        yield made


@pytest.mark.own_database
async def test_a_release_is_staged_shown_edited_approved_published_read_back_and_measured(
    newsroom: Newsroom,
) -> None:
    connected = await newsroom.connect()
    assert connected.status_code == 303, connected.text
    drawn = await newsroom.done("chieflab_create_social_graphics", headline="Acme opens in Lisbon")
    due = "2026-09-22T12:00:00Z"

    # Staged: nothing is sent, and the text, the picture and the schedule are in the answer.
    run = await newsroom.done(POST, **RELEASE, imageAssetId=drawn["images"][0]["id"], scheduleFor=due)
    (action,) = run["actions"]
    action_id = action["id"]
    assert (action["type"], action["channel"]) == ("pressroom_post", "pressroom")
    assert action["preflight"]["severity"] == "medium"
    record = await newsroom.record(action_id)
    assert record["target"]["accountId"] == "room-7"
    assert RELEASE["body"] in text_of(run) and "Acme pressroom" in text_of(run)
    assert not newsroom.far.pictures and not newsroom.far.happened("release")

    # Shown complete, with its own preview.
    page = (await newsroom.browser.get(f"/runs/{run['runId']}")).text
    for shown in (*RELEASE.values(), "Press release “Acme opens in Lisbon”", "Acme pressroom"):
        assert shown in page
    for shown in ("On the front page", RELEASE["title"].upper(), "Desk", "Business"):
        assert shown in page
    assert "/pictures/" in page
    assert "12 of 60 words" in page

    # Edited, in the chat and on the page: the limit holds, and the preview follows the text.
    refused = await newsroom.denied(EDIT, actionId=action_id, body="word " * 61)
    assert [(each["path"], each["expected"], each["got"]) for each in refused["problems"]] == [
        ("body", "at most 60 words", "61 words")
    ]
    title = "Acme opens in Porto"
    too_long = await newsroom.edit(run["runId"], action_id, body="word " * 61)
    assert "at most 60 words" in too_long.text
    assert (await newsroom.edit(run["runId"], action_id, title=title)).status_code == 303
    edited = await newsroom.stored(action_id)
    assert edited.view.title == f"Press release “{title}”"
    assert edited.revision == 2 and len(edited.effect.media) == 1
    assert title.upper() in (await newsroom.browser.get(f"/runs/{run['runId']}")).text

    # Approved on the page, and published at its time; the answer is lost.
    assert (await newsroom.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"
    assert (await newsroom.press(run["runId"], action_id, "approve")).status_code == 303
    await newsroom.run_jobs()
    assert not newsroom.far.happened("release")
    newsroom.clock.advance(days=2)
    newsroom.far.plan(*[Outcome.DELIVER] * 2, Outcome.RESET_AFTER)
    await newsroom.run_jobs()
    assert await newsroom.where(action_id) == "outcome_unknown"
    assert f"{newsroom.far.url}/releases" in (await newsroom.browser.get(f"/runs/{run['runId']}")).text

    # Read back: it happened once, as approved.
    newsroom.clock.advance(seconds=5)
    await newsroom.run_jobs()
    assert await newsroom.where(action_id) == "executed"
    (sent,) = newsroom.far.happened("release")
    assert sent.content == {
        "title": title,
        "text": RELEASE["body"],
        "link": RELEASE["link"],
        "pictures": ["picture-1"],
        "reference": f"{action_id}:2",
    }
    (uploaded,) = newsroom.far.pictures.values()
    assert uploaded[0].startswith(b"\x89PNG") and uploaded[1]
    assert (await newsroom.record(action_id))["externalUrl"] == f"https://pressroom.example/{sent.effect_id}"

    # Measured.
    newsroom.clock.advance(days=3)
    await newsroom.run_jobs()
    report = await newsroom.done("chieflab_measure", runId=run["runId"])
    assert "1200" in repr(report) and "34" in repr(report)
