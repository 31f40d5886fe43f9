"""Bluesky, directly or by Zernio."""

from __future__ import annotations

from typing import Final

from assent import Key
from assent.platform import ConnectorInfo, ProviderWords
from assent_launch.channels.channel import Channel, Limit, NoteForm, Size, post_form
from assent_launch.content import counting

# Describes the connector of Bluesky. Imports nothing slow.

INFO: Final = ConnectorInfo(
    id="bluesky",
    label="Bluesky",
    icon="cloud",
    description="Publishes to a Bluesky account directly and reads its engagement, by an app password.",
    auth_mode="api_key",
    channels=("bluesky",),
    does=("publish", "measure"),
    needed="You need the handle of the account and an app password, which Bluesky makes under Settings.",
    on_page=True,
    sends_link=True,
    connect=ProviderWords(
        gives="Publishes approved posts on one Bluesky account directly, and reads how they do.",
        asks="The account's handle and an app password, which you can take back at Bluesky at any time.",
        key=Key(
            "In Bluesky under Settings, Privacy and security, App passwords.",
            "The handle, a colon and the app password: alice.bsky.social:abcd-efgh-ijkl-mnop.",
            "Handle and app password",
            page="https://bsky.app/settings/app-passwords",
        ),
    ),
)


BODY: Final = Limit(300, counting.graphemes)

CHANNEL: Final = Channel(
    id="bluesky",
    label="Bluesky",
    shape="post",
    connectors=("bluesky", "zernio"),
    verb="post",
    body=BODY,
    bytes_most=3_000,
    hashtags_habit=2,
    links_habit=1,
    habits="Plain words, no hype.",
    note=NoteForm(facts=0),
    preview="post",
    picture=Size(1200, 675),
    look_at="https://bsky.app/profile",
    by_hand=post_form("https://bsky.app/", BODY),
)
CHANNELS: Final = (CHANNEL,)
CONNECTORS: Final = (INFO,)
