"""`chieflab-post`: one post on one channel."""

from __future__ import annotations

from assent.platform.staging import Preparation
from assent.suite.channels.channel import Channel
from assent.suite.channels.registry import name_connectors
from assent.suite.operators.definition import OperatorInfo, Workbench
from assent.suite.operators.drafts import SuppliedText, make_draft, place_effects

INFO = OperatorInfo(
    id="chieflab-post",
    label="Post",
    function="Prepares one post for one channel and publishes it once it is approved.",
    primary_tool="chieflab_post",
    connectors=name_connectors("publish"),
    status="live",
    tools=("chieflab_post", "chieflab_execute_approved_action"),
)


def prepare(bench: Workbench, channel: Channel, supplied: SuppliedText | None) -> Preparation | None:
    """Return one draft and one action; None without a text."""
    made = make_draft(bench, channel, supplied)
    return Preparation(drafts=(made.draft,), effects=place_effects((made,))) if made is not None else None
