"""No caller can stall the server: whatever a text holds, nobody else waits for what is done with it.

The texts are those that froze the first release for half a minute, and generated ones that repeat themselves over
100 KB of every field.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from tests.support.effort import PROVE
from tests.support.loop_probe import Probe, longest_wait_ms, probed
from tests.support.surfaces import Outcome, Surface

HELD_MS: Final = 50
"""What a callback may take of the event loop."""
WAIT_MS: Final = 250
"""What another call may wait."""

FIELD: Final = 100_000
PASSAGES: Final = 85


def repeated(text: str, chars: int = FIELD) -> str:
    return (text * (chars // len(text) + 1))[:chars]


def tokens(text: str, count: int = 1_500) -> str:
    words = text.split()
    return " ".join((words * (count // len(words) + 1))[:count])


def passages(text: str) -> str:
    """Passages of 760 words and blanks each, and a line between them that never changes."""
    return "\n".join(f"{tokens(text, 380)}\nPassage {number} ends here." for number in range(PASSAGES))


REPEATED: Final = (
    "go ",
    "![",
    "[a](",
    "**a*",
    "> a\n",
    "- a\n",
    "a|b\n",
    "A. B ",
    "“a ",
    "<a ",
    "\u200b",
    "😀",
    "最高です。",
)
"""What is cheap to write and dear to look at, for one part of the server or another."""


class Caller:
    """Somebody with hostile texts, watched."""

    def __init__(self, surface: Surface, probe: Probe) -> None:
        self.surface = surface
        self.probe = probe
        self.longest_wait_ms = 0.0

    async def call(self, tool: str, **arguments: Any) -> Outcome:
        made, waited = await longest_wait_ms(self.surface.call(tool, arguments), self._another)
        self.longest_wait_ms = max(self.longest_wait_ms, waited)
        return made

    async def look(self, path: str) -> str:
        found, waited = await longest_wait_ms(
            self.surface.http.get(path, follow_redirects=True), self._another
        )
        self.longest_wait_ms = max(self.longest_wait_ms, waited)
        assert found.status_code == 200, found.text[:500]
        return found.text

    async def _another(self) -> None:
        found = await self.surface.http.get("/healthz")
        assert found.status_code == 200


@pytest.fixture
async def caller(surface: Surface) -> AsyncIterator[Caller]:
    """Warmed up: what a process loads with its first call and page is not the texts' doing."""
    await surface.sign_in()
    made = await surface.call(
        "chieflab_post", {"channel": "site", "title": "Hello", "body": "We made a thing. " * 300}
    )
    await surface.http.get(made.payload["reviewUrl"], follow_redirects=True)
    await surface.call("chieflab_launch_product", {"repoContext": {"whatChanged": "We made a thing. " * 300}})
    await surface.call(
        "chieflab_send", {"to": "ann@example.org", "subject": "Hello", "body": "A thing. " * 600}
    )
    await surface.call("chieflab_post", {"channel": 1})
    await surface.http.get("/healthz")
    with probed() as probe:
        yield Caller(surface, probe)
    assert probe.longest_ms < HELD_MS, probe.callback


async def posted(caller: Caller, body: str, **more: Any) -> tuple[str, str]:
    """A post on the site: the id of its action and its review link."""
    made = await caller.call("chieflab_post", channel="site", title="Hello there", body=body, **more)
    assert made.payload.get("ok"), made.payload
    return made.payload["publishAction"]["id"], made.payload["reviewUrl"]


async def test_a_page_with_eighty_five_changed_passages_is_shown_while_others_are_served(
    caller: Caller,
) -> None:
    action_id, link = await posted(caller, passages("go go go"))
    edited = await caller.call("chieflab_edit_action", actionId=action_id, body=passages("go go on"))
    assert edited.payload.get("ok"), edited.payload

    page = await caller.look(link)

    assert "in the last edit" in page
    assert caller.longest_wait_ms < WAIT_MS


async def test_a_text_of_fifty_thousand_open_pictures_is_shown_as_it_is_written(caller: Caller) -> None:
    _, link = await posted(caller, "Look: " + "![" * 49_000)

    page = await caller.look(link)

    assert "![![![" in page
    assert caller.longest_wait_ms < WAIT_MS


@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.parametrize("text", REPEATED if PROVE else REPEATED[::3])
async def test_fields_of_a_hundred_kilobytes_that_repeat_themselves_stall_nobody(
    caller: Caller, text: str
) -> None:
    await caller.call(
        "chieflab_post",
        channel="linkedin",
        body=repeated(text),
        repoContext={"readme": repeated(text), "whatChanged": repeated(text)},
    )
    await caller.call(
        "chieflab_launch_product", repoContext={"readme": repeated(text), "whatChanged": repeated(text)}
    )
    await caller.call(
        "chieflab_send", to="ann@example.org", subject="Hello", body="Hello. " + repeated(text, 99_000)
    )
    made = await caller.call(
        "chieflab_post", channel="site", title="Hello", body="Hello. " + repeated(text, 99_000)
    )
    if made.payload.get("ok"):
        action_id = made.payload["publishAction"]["id"]
        for channel_text in (f"Hi. {repeated(text, 98_000)}", f"Hi! {repeated(text[::-1], 98_000)}"):
            await caller.call(
                "chieflab_edit_action", actionId=action_id, body=channel_text, title=repeated(text, 900)
            )
        await caller.look(made.payload["reviewUrl"])

    assert caller.longest_wait_ms < WAIT_MS
