"""Incoming webhooks of Slack and similar services."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.channel import Channel, count_chars, post_form
from assent.suite.channels.slack.info import INFO

BODY: Final = count_chars(40_000)

CHANNEL: Final = Channel(
    id="slack",
    label="Slack",
    shape="post",
    connectors=("slack",),
    verb="post",
    body=BODY,
    short=4_000,
    links_habit=2,
    habits="For people who know each other: what changed, what they can do now, one link.",
    by_hand=post_form("your Slack workspace", BODY),
)
CONNECTORS: Final = (INFO,)
