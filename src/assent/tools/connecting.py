"""Reports whether a connector works for a caller now, in words for a person (E54, E86, E98).

A caller without a key gets what is the same for all workspaces, without a read of the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from assent.engine.actions import actions, circumstances
from assent.engine.connections.oauth_access import find_access
from assent.gate.connection import Connection, ConnectorInfo
from assent.gate.effects import MANUAL, EffectType
from assent.gate.preflight import is_expired
from assent.gate.records import Action, Status
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, bad_argument
from assent.kernel.structs import Record
from assent.tools.definition import Call, PublicCall

State = Literal["live", "needs_connection", "needs_configuration"]

MOST_WAITING: Final = 5
"""The most pending actions that an answer names."""

ABSENT: Final = "It is not part of this server. The person who runs the server can add it."


class ConnectorStatus(Record):
    """A connector as it is for one caller."""

    info: ConnectorInfo
    state: State
    hint: str = ""
    """Tells a person what is missing and how to fix it."""
    connect_url: str | None = None
    connection: Connection | None = None
    summary: str = ""
    """What is missing, in a few words."""


async def assess_connector(call: PublicCall, info: ConnectorInfo) -> ConnectorStatus:
    connector = call.services.connectors.get(info.id)
    if connector is None:
        return ConnectorStatus(info, "needs_configuration", ABSENT)
    if call.caller is None:
        return _for_anybody(info, connector)
    workspace_id = call.caller.workspace_id
    readiness = await connector.readiness(workspace_id)
    url = find_page(call, info, workspace_id)
    if readiness.blocker == Reason.PROVIDER_NOT_LIVE:
        hint = readiness.fix_hint or ABSENT
        return ConnectorStatus(info, "needs_configuration", f"{hint} {url}" if url else hint, url)
    if not readiness.ready:
        said = readiness.summary or f"{info.label} is not connected."
        return ConnectorStatus(info, "needs_connection", readiness.fix_hint or "", url, summary=said)
    found = None
    if info.auth_mode != "none":
        found = await call.services.connections.find(workspace_id, info.id)
    return ConnectorStatus(info, "live", "", url, found if found is not None and found.live else None)


def _for_anybody(info: ConnectorInfo, connector: object) -> ConnectorStatus:
    access = find_access(connector)
    if access is not None and not access.provider.configured:
        return ConnectorStatus(info, "needs_configuration", access.provider.not_set_up)
    if info.auth_mode == "none" or getattr(connector, "for_everybody", False):
        return ConnectorStatus(info, "live")
    return ConnectorStatus(info, "needs_connection", "Every workspace connects its own.")


def find_page(call: PublicCall, info: ConnectorInfo, workspace_id: WorkspaceId) -> str | None:
    """Return the URL for connecting it; None without pages, or if no account is needed."""
    address = call.services.links.page_address()
    if address is None or info.auth_mode == "none":
        return None
    return f"{address}/connect/{info.id}?workspace={workspace_id}"


async def choose(call: Call, name: str) -> tuple[ConnectorStatus, EffectType | None]:
    """Return the connector of a name, or the first working one of a channel, and the channel."""
    effects, key = call.services.effects, name.strip().lower()
    channel = effects.find_channel(name)
    if key in effects.connectors:
        return await assess_connector(call, effects.connectors[key]), channel
    known = [each for each in channel.via if each in effects.connectors] if channel is not None else []
    if not known:
        served = (each.channel for each in effects.types.values() if each.via)
        raise bad_argument(
            "provider", f"one of {', '.join(dict.fromkeys((*effects.connectors, *served)))}", repr(name)
        )
    found = [
        await assess_connector(call, effects.connectors[each])
        for each in known
        if each != MANUAL or len(known) == 1
    ]
    return next((each for each in found if each.state == "live"), found[-1]), channel


async def alternatives(call: Call, info: ConnectorInfo) -> list[ConnectorStatus]:
    """Return other connectors that serve the same channels and can be connected."""
    served = set(info.channels)
    others = [
        each
        for each in call.services.effects.connectors.values()
        if each.id != info.id and served and served <= set(each.channels)
    ]
    found = [await assess_connector(call, each) for each in others]
    return [each for each in found if each.state != "needs_configuration"]


async def waiting_for(call: Call, names: Sequence[str]) -> list[Action]:
    """Return the open actions that one of these connectors blocks."""
    services, workspace_id, now_ms = call.services, call.caller.workspace_id, call.now_ms
    waiting = await services.store.read(lambda: actions.waiting(workspace_id, "", 50, now_ms))
    approved = await services.store.read(lambda: actions.trail(workspace_id, Status.APPROVED, "", 50))
    wanted = [
        each
        for each in (*approved, *waiting)
        if each.effect.connector in names
        and not is_expired(each, now_ms)
        and each.execution_state != "executing"
    ]
    outlook = await circumstances.outlook(services, call.caller, wanted)
    return [each for each in wanted if not outlook.readiness_of(each.effect).ready][:MOST_WAITING]


def describe(status: ConnectorStatus) -> str:
    """Describe a connector's state to a person in a sentence or two."""
    if status.state == "live":
        return f"It works now{_accounts(status.connection)}."
    if status.state == "needs_configuration":
        return status.hint
    return status.summary or "It is not connected."


def list_for_person(statuses: Sequence[ConnectorStatus]) -> str:
    words: dict[State, str] = {
        "live": "Works now",
        "needs_connection": "To be connected",
        "needs_configuration": "Not set up on this server",
    }
    parts = []
    for state, title in words.items():
        rows = [_row(each) for each in statuses if each.state == state]
        if rows:
            parts.append("\n".join([f"**{title}**", *rows]))
    return "\n\n".join(parts)


def _row(status: ConnectorStatus) -> str:
    wanting = status.state == "needs_connection" and status.connect_url is not None
    where = f" {status.connect_url}" if wanting else _accounts(status.connection)
    return f"- {status.info.label}: {status.info.description}{where}"


def write_message(
    status: ConnectorStatus, channel: EffectType | None, others: Sequence[ConnectorStatus], waiting: int
) -> str:
    """Return the message to the person about connecting it."""
    info, said = status.info, []
    if info.id == MANUAL:
        name = channel.label if channel is not None else "This"
        return f"{name} is published by hand: I give you the text to copy, and there is nothing to connect."
    if channel is not None and (channel.channel != info.id or others):
        through = " or ".join(_name_in_sentence(each) for each in (info, *(other.info for other in others)))
        said.append(f"{channel.label} goes out through {through}.")
    if status.state == "live":
        said.append(f"{info.label} is connected and works{_accounts(status.connection)}.")
        if waiting:
            said.append(
                f"{_drafts(waiting)} prepared before: I show you where each goes, and you approve it."
            )
        return " ".join(said)
    said.append(f"{status.summary} {info.needed}".strip())
    said.append(
        f"Open {status.connect_url} and enter it there; then tell me, and I try again."
        if status.connect_url
        else status.hint
    )
    if waiting:
        said.append(f"{_drafts(waiting)} waiting for it.")
    said += [_offer_instead(each) for each in others]
    return " ".join(said)


def show(call: Call, status: ConnectorStatus, said: str) -> str:
    """Return the message as Markdown, with the terminal command."""
    flags = TERMINAL.get(status.info.auth_mode)
    if status.state != "needs_connection" or status.connect_url is None or flags is None:
        return said
    where = f"assent connect {status.info.id} --workspace {call.caller.workspace_id} {flags}"
    return f"{said}\n\nOr in a terminal of this server: `{where}`"


TERMINAL: Final[dict[str, str]] = {
    "api_key": "--key-stdin",
    "password": '--from "NAME <ADDRESS>" --key-stdin',
}


def _name_in_sentence(info: ConnectorInfo) -> str:
    """Return the connector's name for the middle of a sentence."""
    return info.label.replace("Your ", "your ", 1)


def _offer_instead(other: ConnectorStatus) -> str:
    if other.state == "live":
        return f"{other.info.label} is connected and can be used instead."
    where = f": {other.connect_url}" if other.connect_url else "."
    return f"You can connect {_name_in_sentence(other.info)} instead{where}"


def _drafts(count: int) -> str:
    return "One draft is" if count == 1 else f"{count} drafts are"


def _accounts(connection: Connection | None) -> str:
    usable = [each.name for each in connection.accounts if each.usable] if connection is not None else []
    return f" ({', '.join(usable)})" if usable else ""
