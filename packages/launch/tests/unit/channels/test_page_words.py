"""The words of the suite's channels on the pages: titles, sentences and destinations."""

from __future__ import annotations

from typing import Any, Final

import pytest

from assent.gate.effects import EffectTypes
from assent.gate.records import Effect
from assent.gate.views import View
from assent_launch.extension import list_connectors, list_types

TYPES: Final = EffectTypes(list_types(), list_connectors())
NAMES: Final = {
    "bluesky": "Bluesky",
    "contacts": "Contact",
    "email": "E-mail",
    "facebook": "Facebook",
    "hn": "Hacker News",
    "instagram": "Instagram",
    "linkedin": "LinkedIn",
    "product_hunt": "Product Hunt",
    "reddit": "Reddit",
    "site": "Your site",
    "slack": "Slack",
    "threads": "Threads",
    "tiktok": "TikTok",
    "workflow": "Workflow",
    "x": "X",
}


def describe(channel: str, verb: str, connector: str, **more: Any) -> View:
    effect = Effect(channel=channel, verb=verb, connector=connector, body="A text.", **more)
    return TYPES.describe(effect, workspace_id="local", base_url="http://127.0.0.1")


def test_the_filter_of_the_inbox_names_every_channel() -> None:
    assert dict(sorted(TYPES.channels.items())) == NAMES


@pytest.mark.parametrize("channel", sorted(set(NAMES) - {"contacts", "email", "site", "workflow"}))
@pytest.mark.parametrize("verb", ["post", "publish"])
def test_a_post_is_named_after_its_channel(channel: str, verb: str) -> None:
    view, name = describe(channel, verb, "zernio", target={"account": "acme"}), NAMES[channel]
    assert (view.heading, view.done, view.common_noun) == (f"{name} post", "Published", False)
    assert view.sentence == f"Posts this to {name} as acme through Zernio."
    assert view.destination == f"To {name} as acme"
    by_hand = describe(channel, verb, "manual")
    assert by_hand.destination == f"By hand on {name}"
    assert by_hand.sentence == (
        f"The server sends nothing. You take the text, publish it on {name} yourself and say where it is."
    )


def test_the_title_of_a_contact_has_the_limit_of_the_tool_that_edits_it() -> None:
    title, body = describe("contacts", "save", "hubspot", title="Ada").fields
    assert (title.name, title.most, title.used) == ("title", 300, 3)
    assert (body.name, body.many) == ("body", True)
