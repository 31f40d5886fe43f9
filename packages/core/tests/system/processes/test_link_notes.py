"""An answer that holds a link which ends with the chat says so to the person; every other answer says nothing of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import BASE_URL, settings_for

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.processes.serve import Surfaces
from assent.serving.edge import Answer, Credentials, RequestContext

NOTE = "This ends with the chat."
LOCAL = RequestContext(Credentials(local=LOCAL_PRINCIPAL), "203.0.113.7", "test")


class Chat:
    """A process whose links last, or do not, or that has no pages."""

    def __init__(self, tmp_path: Path) -> None:
        self.address: str | None = BASE_URL
        self.note: str | None = NOTE
        self.app = App(
            settings_for(new_sqlite(tmp_path / "assent.db"), tmp_path),
            page_address=lambda: self.address,
            link_note=lambda: self.note,
        )
        self.edge = Surfaces(self.app).edge

    async def call(self, tool: str, **arguments: Any) -> Answer:
        return await self.edge.answer(tool, arguments, LOCAL)

    async def stage(self, **more: Any) -> Answer:
        return await self.call("chieflab_post", channel="site", body="We are open on Sundays now.", **more)


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    made = Chat(tmp_path)
    yield made
    await made.app.close()


async def test_a_link_that_ends_is_said_after_the_payload(chat: Chat) -> None:
    staged = await chat.stage()
    refused = await chat.call(
        "chieflab_execute_approved_action",
        actionId=staged.value["actions"][0]["id"],
        idempotencyKey="execute-1",
    )
    signup = await chat.call("chieflab_signup_workspace", email="ada@example.org")

    assert refused.reason == "requires_approval"
    for answer in (staged, refused, signup):
        assert answer.note == NOTE
        assert NOTE not in answer.text


@pytest.mark.rule("E7")
async def test_a_replay_is_the_same_from_a_process_whose_links_end_and_from_one_whose_links_last(
    chat: Chat,
) -> None:
    first = await chat.stage(idempotencyKey="once")
    chat.note = None
    lasting = await chat.stage(idempotencyKey="once")
    chat.note = NOTE
    ending = await chat.stage(idempotencyKey="once")

    assert lasting.text == ending.text
    assert {**lasting.value, "replay": None} == {**first.value, "replay": None}
    assert [answer.note for answer in (first, lasting, ending)] == [NOTE, None, NOTE]


async def test_where_links_last_or_none_is_there_nothing_is_said(chat: Chat) -> None:
    unlinked = await chat.call("chieflab_get_workspace")
    chat.note = None
    lasting = await chat.stage()

    assert (unlinked.note, lasting.note) == (None, None)
    assert NOTE not in unlinked.text + lasting.text


async def test_where_no_page_is_up_no_link_and_no_token_is_made(chat: Chat) -> None:
    chat.address = None

    staged = await chat.stage()

    assert staged.value["reviewUrl"] == ""
    assert "token=" not in staged.text
    assert (
        await chat.call("chieflab_signup_workspace", email="a@b.example")
    ).reason == "temporarily_unavailable"
