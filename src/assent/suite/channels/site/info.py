"""Describes the connector of the workspace's own feed. Imports nothing slow."""

from __future__ import annotations

from typing import Final

from assent.platform.effects import ConnectorInfo

INFO: Final = ConnectorInfo(
    id="site",
    label="Own site",
    icon="globe",
    description="Posts become pages of the workspace's own public feed on this server; no account needed.",
    auth_mode="none",
    channels=("site",),
    does=("publish", "measure"),
    sends_link=True,
)
