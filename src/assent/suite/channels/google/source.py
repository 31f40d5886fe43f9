"""The common part of Google's two measurement sources: they are polled, and an absence of rows is
not zero.

Neither source can send: `perform` refuses. A reading without numbers gives the reason (E100).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from assent.net.http_outcomes import refusal
from assent.platform.connections import (
    PATIENCE,
    Campaign,
    Connection,
    Context,
    Delivered,
    Delivery,
    Exchanged,
    Grantor,
    NotSent,
    OAuthAccess,
    OfferedChoice,
    OutcomeUnknown,
    Reading,
    action_of,
    not_ready,
)
from assent.platform.effects import ConnectorInfo, Effect, Readiness
from assent.platform.values import WorkspaceId

GOOGLE: Final = Grantor(
    id="google",
    label="Google",
    pages="https://accounts.google.com",
    interface="https://oauth2.googleapis.com",
    authorize_path="/o/oauth2/v2/auth",
    token_path="/token",  # noqa: S106 - an address
    revoke_path="/revoke",
    # Google sends a refresh token only with offline access, and another one only after another
    # consent.
    extra={"access_type": "offline", "prompt": "consent"},
    client_id_setting="ASSENT_GOOGLE_CLIENT_ID",
    client_secret_setting="ASSENT_GOOGLE_CLIENT_SECRET",  # noqa: S106 - a name
    permissions="myaccount.google.com/connections",
)

MOST_PAGES: Final = 10

MAX_CHOICES: Final = 200


class GoogleSource:
    """A source of numbers. Subclasses define the choice and the query."""

    info: ConnectorInfo
    id = ""
    channel = ""
    setting = ""
    scopes: tuple[str, ...] = ()
    """What it asks Google for, no more than it uses."""
    delivery = Delivery("none")

    def __init__(self, access: OAuthAccess, url: str) -> None:
        self.access = access
        self.url = url

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        readiness = await self.access.readiness(workspace_id)
        connection = await self.access.connection(workspace_id) if readiness.ready else None
        if connection is not None and self.chosen(connection) is None:
            return not_ready(self.choose_hint)
        return readiness

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        raise refusal(f"{self.info.label} is read and never written to")

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        raise OutcomeUnknown(f"{self.info.label} is read and never written to")

    @property
    def choose_hint(self) -> str:
        return f"{self.info.label} is connected, but what it reads is not chosen yet. Choose it on its page."

    def chosen(self, connection: Connection) -> str | None:
        value = connection.settings.get(self.setting)
        return value if isinstance(value, str) and value else None

    async def measure_campaign(self, campaign: Campaign, timeout_seconds: float) -> Reading | None:
        """Return the numbers of a run's pages; None if the source was never connected."""
        connection = campaign.connections.get(self.id)
        if connection is None or connection.state == "revoked":
            return None
        chosen = self.chosen(connection)
        if connection.live and chosen is None:
            return self.unavailable(self.choose_hint)
        if not campaign.pages:
            return self.unavailable("nothing of this run leads to a page whose visitors could be counted")
        try:
            return await self.ask(chosen or "", campaign, timeout_seconds * PATIENCE)
        except NotSent as not_sent:
            return self.unavailable(not_sent.detail)
        except OutcomeUnknown as unknown:
            return self.unavailable(str(unknown))

    async def ask(self, chosen: str, campaign: Campaign, timeout_seconds: float) -> Reading:
        raise NotImplementedError

    async def choices(
        self, workspace_id: WorkspaceId, timeout_seconds: float
    ) -> tuple[OfferedChoice, ...] | None:
        """Return the properties to choose from; None if Google does not list them."""
        url = self.choices_url
        answer = await self.access.call(workspace_id, "GET", url, timeout_seconds=timeout_seconds)
        if not answer.ok or not isinstance(answer.value, dict):
            return None
        return tuple(self.list_choices(answer))[:MAX_CHOICES]

    def read_choice(self, typed: str) -> str | None:
        raise NotImplementedError

    @property
    def choices_url(self) -> str:
        raise NotImplementedError

    def list_choices(self, answer: Exchanged) -> Iterable[OfferedChoice]:
        raise NotImplementedError

    def unavailable(self, reason: str) -> Reading:
        return Reading(source=self.id, channel=self.channel, status="unavailable", reason=reason)

    def counted(self, metrics: dict[str, int | float]) -> Reading:
        return Reading(source=self.id, channel=self.channel, status="ok", metrics=metrics)

    def refused(self, answer: Exchanged) -> Reading:
        said = {
            403: f"the connected account may not read it in {self.info.label}; choose another on its page",
            404: f"{self.info.label} does not know what was chosen; choose another on its page",
            429: f"{self.info.label} limits how often it is asked; measure again later",
        }
        return self.unavailable(said.get(answer.status, f"{self.info.label} answered HTTP {answer.status}"))


def day(moment_ms: int) -> str:
    return datetime.fromtimestamp(moment_ms / 1000, UTC).date().isoformat()


def number(value: Any) -> int | float | None:
    """Convert a number, which Google may send as text; None for anything else."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    if not math.isfinite(found):
        return None
    return int(found) if found.is_integer() else found
