"""The server under proof, composed as always, with five connectors to one emulated provider and a clock that can jump.

| connector | as | the provider recognises a repetition |
|---|---|---|
| post | a social network | by its key, for five minutes |
| email | a mail service | by its key, for a day |
| page | a site | by the name that we give it, always |
| hook | a webhook | not at all |
| look | a service with search | not at all, and can be asked |
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from proof import history
from tests.support.catalog import ALL_TOOLS

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.gate.records import Action
from assent.kernel.limits import DAY_MS, MINUTE_MS
from assent.ports import Delivery, Reading
from assent.serving.edge import Credentials, Edge, RequestContext
from assent.settings.load import Settings
from assent.tools.catalog import Catalog
from assent_conform.testing.connector import EmulatedConnector
from assent_conform.testing.operator import TOOL
from assent_launch.testing import any_effects

LEASE_SECONDS = 60
SECRET = "a run token secret for the tests, long enough"
MASTER = "a master secret for the tests only, long enough"
DELIVERIES = {
    "post": Delivery("native_key", 5 * MINUTE_MS),
    "email": Delivery("native_key", DAY_MS),
    "page": Delivery("natural_key"),
    "hook": Delivery("none"),
    "look": Delivery("read_back"),
}
CONNECTORS = tuple(DELIVERIES)
_KINDS = {"native_key": "key", "natural_key": "key", "none": "none", "read_back": "look"}
JUDGED = {name: history.Delivery(_KINDS[each.kind], each.window_ms) for name, each in DELIVERIES.items()}
"""The same for the judge."""

CATALOG = Catalog((*ALL_TOOLS, TOOL))


class MeasuredConnector(EmulatedConnector):
    """A connector whose numbers differ at every reading, so that a second measurement cannot hide."""

    _readings = itertools.count(1)

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        return Reading(
            source=self.id,
            channel=action.effect.channel,
            status="ok",
            metrics={"impressions": next(self._readings)},
        )


def connectors(provider_url: str) -> dict[str, Any]:
    return {
        name: MeasuredConnector(provider_url, delivery, connector_id=name)
        for name, delivery in DELIVERIES.items()
    }


class JumpingClock:
    """The machine's clock, moved by as many milliseconds as a file says."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 + int(self._file.read_text() or 0)


def app_for(
    database_url: str, data_dir: Path, provider_url: str, clock: Any, connected: dict[str, Any] | None = None
) -> App:
    """A server in this process."""
    settings = Settings(
        data_dir=data_dir,
        database_url=database_url,
        base_url="http://127.0.0.1:8080",
        run_token_secrets=(SECRET,),
        secrets=(MASTER,),
        rate_limit_per_minute=1_000_000,
        connector_timeout_seconds=10,
        execution_lease_seconds=LEASE_SECONDS,
    )
    return App(settings, clock=clock, connectors=connected or connectors(provider_url), effects=any_effects())


Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any] | None]]
"""Calls a tool. Returns its answer, or None if the server went away before it answered."""


def asking(app: App) -> Ask:
    """The calls of the local user, without a transport."""
    edge = Edge(lambda: CATALOG, app.owner_services)
    context = RequestContext(Credentials(local=LOCAL_PRINCIPAL), "127.0.0.1", "proof")

    async def ask(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return (await edge.answer(tool, arguments, context)).value

    return ask
