"""The connections screen: one line for each service, with its state and what leads on.

`/connect` is the same page at the address that agents and links name.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from starlette.responses import Response

from assent.engine.connections import connections
from assent.gate.connection import ConnectorInfo
from assent.gate.preflight import Readiness
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS
from assent.ports import Connector, Delivery
from assent.serving.web.connections.provider import (
    ProviderView,
    address,
    at_workspace,
    find_provider,
    find_words,
)
from assent.serving.web.review.words import Badge
from assent.serving.web.shell.console import Screen, Visit

log = logging.getLogger("assent.web")

READINESS_SECONDS: Final = 3.0
"""After this time the page shows that the provider does not answer."""

AUTH_MODES: Final = {
    "none": "No account needed",
    "api_key": "Your API key",
    "oauth": "You sign in there and allow it",
    "password": "Your mail server, or that of this server",
}
DOES: Final = {
    "publish": "publishes",
    "send": "sends",
    "measure": "measures",
}
UNANSWERED: Final = Readiness(
    ready=False,
    blocker="not_answering",
    fix_hint="It does not answer. Reload this page in a moment.",
)
GROUPS: Final = (
    ("ready", "Connected"),
    ("waiting", "Not connected"),
    ("absent", "Not set up on this server"),
)


async def connectors(visit: Visit) -> Response:
    visit = at_workspace(visit)
    there = visit.services.connectors
    readiness = dict(
        zip(
            there,
            await asyncio.gather(*(ready(each, visit.workspace_id) for each in there.values())),
            strict=True,
        )
    )
    rows = [
        await describe_row(visit, info, there.get(info.id), readiness.get(info.id))
        for info in visit.services.effects.connectors.values()
    ]
    groups = [(label, [row for row in rows if row["group"] == name]) for name, label in GROUPS]
    failed = await visit.read(lambda: connections.list_failed_starts(visit.now_ms))
    own = (each for each in failed if each.workspace_id == visit.workspace_id)
    starts = [(each.server, each.why, visit.when(each.at_ms)) for each in own]
    return visit.page("connectors.html", {"groups": [each for each in groups if each[1]], "starts": starts})


async def ready(connector: Connector, workspace_id: WorkspaceId) -> Readiness:
    try:
        return await asyncio.wait_for(connector.readiness(workspace_id), READINESS_SECONDS)
    except Exception as error:
        log.warning("connector %s does not say whether it is ready: %s", connector.id, type(error).__name__)
        return UNANSWERED


async def describe_row(
    visit: Visit, info: ConnectorInfo, connector: Connector | None, readiness: Readiness | None
) -> dict[str, Any]:
    view = (
        await find_provider(visit, info.id)
        if connector is not None and find_words(info) is not None
        else None
    )
    is_ready = readiness is not None and readiness.ready
    state = judge(view, connector, is_ready)
    is_set_up = connector is not None and not (view is not None and view.needs_set_up)
    channels = [visit.services.effects.page_label(each) for each in info.channels]
    does = ", ".join(info.activities or (DOES.get(each, each) for each in info.does))
    account = view.connection.label if view is not None and view.live and view.connection else ""
    return {
        "info": info,
        "icon": choose_icon(info),
        "line": account or ", ".join(channels if channels != [info.label] else ()) or does.capitalize(),
        "badge": state,
        "group": "ready" if is_ready else "waiting" if is_set_up else "absent",
        "is_ready": is_ready,
        "channels": channels,
        "does": does,
        "gives": view.words.gives if view is not None else info.description,
        "auth": AUTH_MODES[info.auth_mode],
        "delivery": promise(connector.delivery) if connector is not None else "",
        "hint": readiness.fix_hint or readiness.blocker if readiness is not None and not is_ready else None,
        "set_up": view.access.provider.what_to_set
        if view is not None and view.needs_set_up and view.access
        else "",
        "connect": address(visit, info.id) if view is not None and is_set_up else None,
    }


def choose_icon(info: ConnectorInfo) -> str:
    """The icon of a service: its own, else one of what it does."""
    if info.icon:
        return info.icon
    if "publish" not in info.does:
        return "mail" if "send" in info.does else "results" if "measure" in info.does else "act"
    return "page" if info.auth_mode == "none" else "post"


def judge(view: ProviderView | None, connector: Connector | None, is_ready: bool) -> Badge:
    """The state of a service in one or two words."""
    if connector is None:
        return Badge("Not on this server")
    if view is None:
        return Badge("Ready", "ok") if is_ready else Badge("Not ready", "warn")
    text, tone = view.state
    if view.live and not is_ready and tone == "ok":
        return Badge("Not ready", "warn")
    return Badge(text, tone)


def promise(delivery: Delivery) -> str:
    """Describe the connector's guarantee against sending twice (C30)."""
    if delivery.kind == "native_key":
        return f"Yes: the provider recognises a repetition for {_span(delivery.window_ms or 0)}"
    return {
        "natural_key": "Yes: the same content is found instead of being made twice",
        "read_back": "Yes: the provider is asked whether it happened",
        "none": "No: a person looks, and it is never repeated on a guess",
    }[delivery.kind]


def _span(ms: int) -> str:
    for unit_ms, name in ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute")):
        if ms >= unit_ms:
            count = ms // unit_ms
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{ms // 1000} seconds"


SCREENS: Final = (
    Screen("/connectors", connectors, "connectors"),
    Screen("/connect", connectors, "connectors"),
)
