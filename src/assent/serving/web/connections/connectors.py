"""The connectors screen: each connector, its delivery guarantee and whether it is ready."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from starlette.responses import Response

from assent.gate.connection import ConnectorInfo
from assent.gate.preflight import Readiness
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.ports import Connector, Delivery
from assent.serving.web.review.words import Badge
from assent.serving.web.shell.console import Screen, Visit

log = logging.getLogger("assent.web")

READINESS_SECONDS: Final = 3.0
"""After this time the page shows that the provider does not answer."""

AUTH_MODES: Final = {
    "none": "Needs no account",
    "api_key": "An API key of yours",
    "oauth": "You sign in there and allow it",
    "password": "A mail server of yours, or that of this server",
}
DOES: Final = {
    "publish": "publishes",
    "send": "sends",
    "measure": "measures",
}
UNANSWERED: Final = Readiness(
    ready=False,
    blocker="not_answering",
    fix_hint="It did not say whether it is ready. Look again in a moment.",
)


async def connectors(visit: Visit) -> Response:
    there = visit.services.connectors
    readiness = dict(
        zip(
            there,
            await asyncio.gather(*(ready(each, visit.workspace_id) for each in there.values())),
            strict=True,
        )
    )
    rows = [
        row(info, there.get(info.id), readiness.get(info.id), visit)
        for info in visit.services.effects.connectors.values()
    ]
    values = {
        "ready": [each for each in rows if each["is_ready"]],
        "not_ready": [each for each in rows if each["is_there"] and not each["is_ready"]],
        "absent": [each for each in rows if not each["is_there"]],
    }
    return visit.page("connectors.html", values)


async def ready(connector: Connector, workspace_id: WorkspaceId) -> Readiness:
    try:
        return await asyncio.wait_for(connector.readiness(workspace_id), READINESS_SECONDS)
    except Exception as error:
        log.warning("connector %s does not say whether it is ready: %s", connector.id, type(error).__name__)
        return UNANSWERED


def row(
    info: ConnectorInfo, connector: Connector | None, readiness: Readiness | None, visit: Visit
) -> dict[str, Any]:
    is_ready = readiness is not None and readiness.ready
    if connector is None:
        badge = Badge("Not on this server")
    else:
        badge = Badge("Ready", "ok") if is_ready else Badge("Not ready", "warn")
    return {
        "info": info,
        "badge": badge,
        "is_ready": is_ready,
        "is_there": connector is not None,
        "channels": [visit.services.effects.page_label(each) for each in info.channels],
        "does": ", ".join(info.activities or (DOES.get(each, each) for each in info.does)),
        "auth": AUTH_MODES[info.auth_mode],
        "delivery": promise(connector.delivery) if connector is not None else "",
        "blocker": readiness.blocker if readiness is not None and not is_ready else None,
        "fix_hint": readiness.fix_hint if readiness is not None and not is_ready else None,
        "connect": f"/connect/{info.id}?workspace={visit.workspace_id}" if can_connect(visit, info) else None,
    }


def can_connect(visit: Visit, info: ConnectorInfo) -> bool:
    """Whether this server has a page to connect this provider."""
    if info.auth_mode == "none":
        return False
    routes = visit.request.app.routes
    return any(getattr(route, "path", "") == "/connect/{provider}" for route in routes)


def promise(delivery: Delivery) -> str:
    """Describe the connector's guarantee against sending twice (C30)."""
    if delivery.kind == "native_key":
        return f"The provider recognises a repetition by our key for {_span(delivery.window_ms or 0)}"
    return {
        "natural_key": "The same content is found instead of being made twice",
        "read_back": "The provider can be asked whether it happened",
        "none": "Only a person can say whether it happened; it is never repeated on a guess",
    }[delivery.kind]


def _span(ms: int) -> str:
    days, hours = ms // DAY_MS, ms // HOUR_MS
    return f"{days} days" if days > 1 else f"{hours} hours"


SCREENS: Final = (Screen("/connectors", connectors, "connectors"),)
