"""Describes every connector: public metadata, without secrets and workspace data (E86).

Also registers connectors, and refuses one that does not declare what happens when a send is
repeated (C30).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from assent.kernel.structs import WireRecord
from assent.ports import Connector, Delivery

AuthMode = Literal["none", "api_key", "oauth", "password"]
"""`password`: a mail server with user and password, of the workspace or of the whole server."""


class ConnectorInfo(WireRecord):
    """A connector: its channels and how to connect it, not whether it works."""

    id: str
    label: str
    description: str
    auth_mode: AuthMode
    channels: tuple[str, ...]
    does: tuple[Literal["publish", "send", "measure", "contacts"], ...]
    needed: str = ""
    """Tells a person what they need to connect it."""


CONNECTORS: Final[tuple[ConnectorInfo, ...]] = (
    ConnectorInfo(
        id="site",
        label="Own site",
        description="Posts become pages of the workspace's own public feed on this server; no account needed.",
        auth_mode="none",
        channels=("site",),
        does=("publish", "measure"),
    ),
    ConnectorInfo(
        id="manual",
        label="By hand",
        description="A brief to copy and paste; a human publishes it and records the live address.",
        auth_mode="none",
        channels=("hn", "reddit", "product_hunt"),
        does=("publish",),
    ),
    ConnectorInfo(
        id="smtp",
        label="Your mail server",
        description="Sends e-mail through any mail server (SMTP).",
        auth_mode="password",
        channels=("email",),
        does=("send",),
        needed="You need its name, and the user and password that you send mail with.",
    ),
    ConnectorInfo(
        id="zernio",
        label="Zernio",
        description="Publishes to LinkedIn, X, Threads, Instagram, Facebook, Bluesky and TikTok, and reads engagement.",
        auth_mode="api_key",
        channels=("linkedin", "x", "threads", "instagram", "facebook", "bluesky", "tiktok"),
        does=("publish", "measure"),
        needed="Zernio is a service that posts for you (zernio.com): you need an account and a key there, "
        "under Settings, API keys.",
    ),
    ConnectorInfo(
        id="bluesky",
        label="Bluesky",
        description="Publishes to a Bluesky account directly and reads its engagement, by an app password.",
        auth_mode="api_key",
        channels=("bluesky",),
        does=("publish", "measure"),
        needed="You need the handle of the account and an app password, which Bluesky makes under Settings.",
    ),
    ConnectorInfo(
        id="slack",
        label="Slack",
        description="Posts to a channel by an incoming webhook, as Slack, Mattermost and others have them.",
        auth_mode="api_key",
        channels=("slack",),
        does=("publish",),
        needed="You need the address of an incoming webhook of the channel.",
    ),
    ConnectorInfo(
        id="resend",
        label="Resend",
        description="Sends e-mail and reads delivery metrics.",
        auth_mode="api_key",
        channels=("email",),
        does=("send", "measure"),
        needed="Resend is a service that sends e-mail (resend.com): you need an account and a key there, "
        "under API keys.",
    ),
    ConnectorInfo(
        id="ga4",
        label="Google Analytics 4",
        description="Reads visits and conversions.",
        auth_mode="oauth",
        channels=(),
        does=("measure",),
        needed="You sign in at Google and allow reading.",
    ),
    ConnectorInfo(
        id="search_console",
        label="Google Search Console",
        description="Reads search impressions and clicks; its numbers lag two to three days.",
        auth_mode="oauth",
        channels=(),
        does=("measure",),
        needed="You sign in at Google and allow reading.",
    ),
    ConnectorInfo(
        id="hubspot",
        label="HubSpot",
        description="Creates contacts and keeps them up to date.",
        auth_mode="oauth",
        channels=("contacts",),
        does=("contacts",),
        needed="You sign in at HubSpot and allow contacts.",
    ),
)


class RegistrationRefused(ValueError):  # noqa: N818 - what happened
    """A connector cannot be registered; the message names it and the reason."""


def register(connectors: Iterable[Connector]) -> dict[str, Connector]:
    """Return the connectors by id. Refuses a missing id or delivery, and duplicate ids."""
    taken: dict[str, Connector] = {}
    for connector in connectors:
        name = getattr(connector, "id", None)
        if not isinstance(name, str) or not name:
            raise RegistrationRefused(f"{type(connector).__name__} has no id")
        if not isinstance(getattr(connector, "delivery", None), Delivery):
            raise RegistrationRefused(
                f"connector {name} does not declare its delivery: native_key, natural_key, read_back or none"
            )
        if name in taken:
            raise RegistrationRefused(f"two connectors are called {name}")
        taken[name] = connector
    return taken
