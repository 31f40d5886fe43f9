"""What every connector is, as public metadata: nothing here is a secret or belongs to a workspace (E86)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

AuthMode = Literal["none", "api_key", "oauth", "settings"]
Status = Literal["live", "not_live"]


class ConnectorInfo(msgspec.Struct, frozen=True, rename="camel"):
    """One connector: what it serves and how it is connected. `not_live` is registered but cannot be used yet."""

    id: str
    label: str
    description: str
    auth_mode: AuthMode
    channels: tuple[str, ...]
    does: tuple[Literal["publish", "send", "measure", "contacts"], ...]
    status: Status


CONNECTORS: Final[tuple[ConnectorInfo, ...]] = (
    ConnectorInfo(
        id="site",
        label="Own site",
        description="Posts become pages of the workspace's own public feed on this server; no account needed.",
        auth_mode="none",
        channels=("site",),
        does=("publish", "measure"),
        status="not_live",
    ),
    ConnectorInfo(
        id="manual",
        label="By hand",
        description="A brief to copy and paste; a human publishes it and records the live address.",
        auth_mode="none",
        channels=("hn", "reddit", "product_hunt"),
        does=("publish",),
        status="not_live",
    ),
    ConnectorInfo(
        id="smtp",
        label="SMTP",
        description="E-mail through any SMTP server.",
        auth_mode="settings",
        channels=("email",),
        does=("send",),
        status="not_live",
    ),
    ConnectorInfo(
        id="zernio",
        label="Zernio",
        description="Publishes to LinkedIn, X, Threads, Instagram, Facebook, Bluesky and TikTok, and reads engagement.",
        auth_mode="api_key",
        channels=("linkedin", "x", "threads", "instagram", "facebook", "bluesky", "tiktok"),
        does=("publish", "measure"),
        status="not_live",
    ),
    ConnectorInfo(
        id="resend",
        label="Resend",
        description="Sends e-mail and reads delivery metrics.",
        auth_mode="api_key",
        channels=("email",),
        does=("send", "measure"),
        status="not_live",
    ),
    ConnectorInfo(
        id="ga4",
        label="Google Analytics 4",
        description="Reads visits and conversions.",
        auth_mode="oauth",
        channels=(),
        does=("measure",),
        status="not_live",
    ),
    ConnectorInfo(
        id="search_console",
        label="Google Search Console",
        description="Reads search impressions and clicks; its numbers lag two to three days.",
        auth_mode="oauth",
        channels=(),
        does=("measure",),
        status="not_live",
    ),
    ConnectorInfo(
        id="hubspot",
        label="HubSpot",
        description="Creates and finds contacts.",
        auth_mode="oauth",
        channels=(),
        does=("contacts",),
        status="not_live",
    ),
)
