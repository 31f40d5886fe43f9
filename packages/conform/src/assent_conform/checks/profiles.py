"""Which distributions a server under test has: the tools that it must offer, and the one by which the checks stage."""

from __future__ import annotations

from typing import Any, Final

import msgspec

GOAL: Final = "Announce it to the people who waited for it"
EVIDENCE: Final = {
    "whatChanged": "Reports are made in the background, so that a large one no longer holds up the page.",
    "targetCustomer": "people who close the books at the end of a month",
}


class ServerProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What a server of this kind offers."""

    has_launch: bool
    """Whether the checks of the tools of assent-launch are run."""
    primary_tools: dict[str, str]
    """By the operator that has it."""
    stage_tool: str
    """Stages one action that needs no account, with these arguments."""
    arguments: dict[str, Any]
    text_argument: str
    """The argument that has the text of the action."""
    action_verb: str
    writing_tools: tuple[str, ...]


FULL: Final = ServerProfile(
    has_launch=True,
    primary_tools={
        "chieflab-launch": "chieflab_launch_product",
        "chieflab-post": "chieflab_post",
        "chieflab-email": "chieflab_send",
        "chieflab-measure": "chieflab_measure",
        "chieflab-brain": "chieflab_brain_read",
        "chieflab-connect": "chieflab_connect_provider",
    },
    stage_tool="chieflab_post",
    arguments={"channel": "site", "goal": GOAL, "repoContext": EVIDENCE},
    text_argument="body",
    action_verb="publish",
    writing_tools=("chieflab_launch_product", "chieflab_post", "chieflab_send"),
)
CORE: Final = ServerProfile(
    has_launch=False,
    primary_tools={"conform": "conform_note"},
    stage_tool="conform_note",
    arguments={"text": "Reports are made in the background."},
    text_argument="text",
    action_verb="note",
    writing_tools=("conform_note",),
)
PROFILES: Final = {"full": FULL, "core": CORE}
