"""Incoming webhooks of Slack and similar services."""

from __future__ import annotations

from typing import Final

from assent import Key
from assent.platform import ConnectorInfo, ProviderWords
from assent_launch.channels.channel import Channel, count_chars, post_form

# Describes the connector of incoming webhooks. Imports nothing slow.

INFO: Final = ConnectorInfo(
    id="slack",
    label="Slack",
    icon="hash",
    description="Posts to a channel by an incoming webhook, as Slack, Mattermost and others have them.",
    auth_mode="api_key",
    channels=("slack",),
    does=("publish",),
    needed="You need the address of an incoming webhook of the channel.",
    on_page=True,
    sends_link=True,
    connect=ProviderWords(
        gives="Posts approved messages to one channel of Slack, or of a program that takes the same webhooks.",
        asks="The address of an incoming webhook. Anyone who has it may post there, so it is kept like a key.",
        key=Key(
            "In Slack under Apps, Incoming WebHooks, for the channel of your choice.",
            "It starts with https://hooks.slack.com/services/.",
            "Address of the webhook",
        ),
    ),
)


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
CHANNELS: Final = (CHANNEL,)
CONNECTORS: Final = (INFO,)
