"""Describes the connector of incoming webhooks. Imports nothing slow."""

from __future__ import annotations

from typing import Final

from assent.platform.effects import ConnectorInfo, KeyWords, ProviderWords

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
        key=KeyWords(
            "In Slack under Apps, Incoming WebHooks, for the channel of your choice.",
            "It starts with https://hooks.slack.com/services/.",
            "Address of the webhook",
        ),
    ),
)
