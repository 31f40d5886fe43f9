"""`chieflab-post`: one post on one channel."""

from __future__ import annotations

from assent.platform.staging import Preparation
from assent.suite.channels.channel import Channel
from assent.suite.channels.registry import name_connectors
from assent.suite.content.records import NeedsDraft
from assent.suite.operators.definition import OperatorInfo, Workbench
from assent.suite.operators.drafts import ChannelDraft, SuppliedText, place_effects, write

INFO = OperatorInfo(
    id="chieflab-post",
    label="Post",
    function="Prepares one post for one channel and publishes it once it is approved.",
    primary_tool="chieflab_post",
    connectors=name_connectors("publish"),
    status="live",
    tools=("chieflab_post", "chieflab_execute_approved_action"),
)


def prepare(bench: Workbench, channel: Channel, supplied: SuppliedText | None) -> Preparation | NeedsDraft:
    """Return one draft and one action, or a request for a draft."""
    written = write(bench, channel, supplied)
    if isinstance(written, NeedsDraft):
        return written
    return prepare_one(written)


def prepare_one(written: ChannelDraft) -> Preparation:
    return Preparation(drafts=(written.draft,), effects=place_effects((written,)))
