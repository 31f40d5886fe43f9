"""Zernio, which posts to social networks."""

from __future__ import annotations

from typing import Final

from assent import Key
from assent.platform import ConnectorInfo, ProviderWords

# Describes the connector of Zernio. Imports nothing slow.

INFO: Final = ConnectorInfo(
    id="zernio",
    label="Zernio",
    icon="megaphone",
    description="Publishes to LinkedIn, X, Threads, Instagram, Facebook, Bluesky and TikTok, and reads engagement.",
    auth_mode="api_key",
    channels=("linkedin", "x", "threads", "instagram", "facebook", "bluesky", "tiktok"),
    does=("publish", "measure"),
    needed="Zernio is a service that posts for you (zernio.com): you need an account there, in it the "
    "networks you post to, and a key (Settings, API keys).",
    on_page=True,
    connect=ProviderWords(
        gives="Publishes approved posts on LinkedIn, X, Threads, Instagram, Facebook, Bluesky and TikTok, and reads "
        "how they do.",
        asks="A key that may read and write.",
        key=Key(
            "In Zernio under Settings, API keys.",
            "It starts with sk_ and has 67 characters.",
            starts="sk_",
        ),
    ),
    platforms={"twitter": "X", "googlebusiness": "Google Business"},
)


CONNECTORS: Final = (INFO,)
