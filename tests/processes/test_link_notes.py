"""An answer that holds a link which ends with the chat says so to the person; every other answer says nothing of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.sqlite_files import new_sqlite
from tests.surfaces import BASE_URL, settings_for

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.processes.serve import Surfaces
from assent.serving.edge import Credentials, RequestContext

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

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return (await self.edge.answer(tool, arguments, LOCAL)).value

    async def staged(self) -> dict[str, Any]:
        return await self.call("chieflab_post", channel="site", body="We are open on Sundays now.")


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    made = Chat(tmp_path)
    yield made
    await made.app.close()


async def test_a_link_that_ends_is_said_beside_what_is_shown(chat: Chat) -> None:
    staged = await chat.staged()
    refused = await chat.call(
        "chieflab_execute_approved_action", actionId=staged["actions"][0]["id"], idempotencyKey="execute-1"
    )
    signup = await chat.call("chieflab_signup_workspace", email="ada@example.org")

    assert staged["show"].endswith(NOTE)
    assert refused["reason"] == "requires_approval"
    assert NOTE in refused.get("show", refused["userMessage"])
    assert signup["userMessage"].endswith(NOTE)


async def test_where_links_last_or_none_is_there_nothing_is_said(chat: Chat) -> None:
    unlinked = await chat.call("chieflab_get_workspace")
    chat.note = None
    lasting = await chat.staged()

    assert NOTE not in str((unlinked, lasting))


async def test_where_no_page_is_up_no_link_and_no_token_is_made(chat: Chat) -> None:
    chat.address = None

    staged = await chat.staged()

    assert staged["reviewUrl"] == ""
    assert "token=" not in str(staged)
    assert (await chat.call("chieflab_signup_workspace", email="a@b.example"))[
        "reason"
    ] == "temporarily_unavailable"
