"""The common part of Google's two measurement sources: they are polled, and an absence of rows is
not zero.

Neither source can send: `perform` refuses. A reading without numbers gives the reason (E100).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from assent.gate.connection import Connection
from assent.gate.gate import ApprovedAction
from assent.gate.preflight import Readiness
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Campaign, Delivered, Delivery, NotSent, OutcomeUnknown, Reading
from assent.suite.connectors.approved import action_of, not_ready
from assent.suite.connectors.http_outcomes import refusal
from assent.suite.connectors.json_http import Exchanged
from assent.suite.connectors.key_access import PATIENCE
from assent.suite.connectors.oauth_access import OAuthAccess

MOST_PAGES: Final = 10

MAX_CHOICES: Final = 200


class GoogleProperty(Record):
    id: str
    label: str


class GoogleSource:
    """A source of numbers. Subclasses define the choice and the query."""

    id = ""
    label = ""
    channel = ""
    setting = ""
    """The name of the person's choice in the connection's settings."""
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

    async def perform(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered:
        action_of(approved)
        raise refusal(f"{self.label} is read and never written to")

    async def look_up(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered | None:
        raise OutcomeUnknown(f"{self.label} is read and never written to")

    @property
    def choose_hint(self) -> str:
        return f"{self.label} is connected, but what it reads is not chosen yet. Choose it on its page."

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
    ) -> tuple[GoogleProperty, ...] | None:
        """Return the properties to choose from; None if Google does not list them."""
        url = self.choices_url
        answer = await self.access.call(workspace_id, "GET", url, timeout_seconds=timeout_seconds)
        if not answer.ok or not isinstance(answer.value, dict):
            return None
        return tuple(self.list_choices(answer))[:MAX_CHOICES]

    @property
    def choices_url(self) -> str:
        raise NotImplementedError

    def list_choices(self, answer: Exchanged) -> Iterable[GoogleProperty]:
        raise NotImplementedError

    def unavailable(self, reason: str) -> Reading:
        return Reading(source=self.id, channel=self.channel, status="unavailable", reason=reason)

    def counted(self, metrics: dict[str, int | float]) -> Reading:
        return Reading(source=self.id, channel=self.channel, status="ok", metrics=metrics)

    def refused(self, answer: Exchanged) -> Reading:
        said = {
            403: f"the connected account may not read it in {self.label}; choose another on its page",
            404: f"{self.label} does not know what was chosen; choose another on its page",
            429: f"{self.label} limits how often it is asked; measure again later",
        }
        return self.unavailable(said.get(answer.status, f"{self.label} answered HTTP {answer.status}"))


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
