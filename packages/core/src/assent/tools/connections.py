"""Tools to list, connect and disconnect connectors (E54, E84, E86, E94, E98).

A key never passes through here: a person enters it on a page or in a terminal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Annotated, Final, Literal

import msgspec

from assent.engine.actions import actions, circumstances
from assent.engine.actions.staging import PreparedRun, Request
from assent.engine.connections.oauth import find_access
from assent.gate.connection import AuthMode, Connection, ConnectorInfo
from assent.gate.effects import MANUAL, EffectType
from assent.gate.records import Action, Effect, Status
from assent.gate.review_link import DECIDE_RIGHT
from assent.kernel.guide import TEXT, Guide, SuggestedCall, make_guide
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, Refusal, Replay, Words, bad_argument
from assent.kernel.structs import Arguments, Record, WireRecord, from_record
from assent.ports import Begin, Preparation, Transaction
from assent.present.guidance import guide_unstaged
from assent.tools.arguments import IdempotencyKey
from assent.tools.definition import DECIDES, READS, WRITES, Call, PublicCall, Tool
from assent.use_cases import runs
from assent.use_cases.connections import disconnect

# Reports whether a connector works for a caller now, in words for a person (E54, E86, E98).
#
# A caller without a key gets what is the same for all workspaces, without a read of the store.

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
    accounts: str = ""
    """The names of the accounts that can be used; of a channel, the one that it goes to."""
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
    return ConnectorStatus(info, "live", "", url, _name_accounts(found, info))


async def _assess_for(call: Call, info: ConnectorInfo, channel: EffectType) -> ConnectorStatus:
    """Assess a connector for one channel, of which a connected service may have no account."""
    status = await assess_connector(call, info)
    if status.state != "live":
        return status
    sent = Effect(channel=channel.channel, verb=channel.verb, connector=info.id, body="")
    sent, readiness = await circumstances.address(call.services, call.caller.workspace_id, sent)
    if not readiness.ready:
        hint, said = readiness.fix_hint or "", readiness.summary or ""
        return msgspec.structs.replace(status, state="needs_connection", hint=hint, summary=said)
    return msgspec.structs.replace(status, accounts=(sent.target or {}).get("name", status.accounts))


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
    if channel is None or not known:
        served = (each.channel for each in effects.types.values() if each.via)
        raise bad_argument(
            "provider", f"one of {', '.join(dict.fromkeys((*effects.connectors, *served)))}", repr(name)
        )
    found = [
        await _assess_for(call, effects.connectors[each], channel)
        for each in known
        if each != MANUAL or len(known) == 1
    ]
    return next((each for each in found if each.state == "live"), found[-1]), channel


async def alternatives(call: Call, info: ConnectorInfo, channel: EffectType | None) -> list[ConnectorStatus]:
    """Return other connectors that serve the same channels and can be connected."""
    served = set(info.channels)
    others = [
        each
        for each in call.services.effects.connectors.values()
        if each.id != info.id and served and served <= set(each.channels)
    ]
    found = [
        await (assess_connector(call, each) if channel is None else _assess_for(call, each, channel))
        for each in others
    ]
    return [each for each in found if each.state != "needs_configuration"]


async def waiting_for(call: Call, names: Sequence[str], channel: EffectType | None) -> list[Action]:
    """Return the open actions that one of these connectors blocks, of a channel if one is named."""
    services, workspace_id, now_ms = call.services, call.caller.workspace_id, call.now_ms
    waiting = await services.store.read(lambda: actions.waiting(workspace_id, "", 50, now_ms))
    approved = await services.store.read(lambda: actions.trail(workspace_id, Status.APPROVED, "", 50))
    wanted = [
        each
        for each in (*approved, *waiting)
        if each.effect.connector in names
        and (channel is None or each.effect.channel == channel.channel)
        and not each.is_expired(now_ms)
        and each.execution_state != "executing"
    ]
    outlook = await circumstances.read_outlook(services, call.caller, wanted)
    return [each for each in wanted if not outlook.readiness_of(each.effect).ready][:MOST_WAITING]


def describe(status: ConnectorStatus) -> str:
    """Describe a connector's state to a person in a sentence or two."""
    if status.state == "live":
        return f"It works now{_in_brackets(status.accounts)}."
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
    where = f" {status.connect_url}" if wanting else _in_brackets(status.accounts)
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
        through = " or ".join(each.name_inside for each in (info, *(other.info for other in others)))
        said.append(f"{channel.label} goes out through {through}.")
    if status.state == "live":
        works = "is connected and works" if info.auth_mode != "none" else "needs no account"
        said.append(f"{info.label} {works}{_in_brackets(status.accounts)}.")
        if info.auth_mode == "none":
            said.append(info.description)
        if waiting:
            said.append(
                f"{_drafts(waiting)} prepared before: I show you where each goes, and you approve it."
            )
        return " ".join(said)
    lacking = bool(status.accounts)  # it is connected, without an account of this channel
    said.append(status.hint if lacking else f"{status.summary} {info.needed}".strip())
    said.append(
        f"Open {status.connect_url} and {'choose it' if lacking else _DONE_THERE[info.auth_mode]}; then tell me."
        if status.connect_url
        else status.hint
    )
    if waiting:
        said.append(f"{_drafts(waiting)} waiting for it.")
    said += [_offer_instead(each) for each in others]
    return " ".join(said)


_DONE_THERE: Final[dict[AuthMode, str]] = {
    "none": "look there",
    "api_key": "enter it there",
    "password": "enter it there",
    "oauth": "sign in there",
}


def show(call: Call, status: ConnectorStatus, said: str) -> str:
    """Return the message as Markdown, with the terminal command."""
    flags = TERMINAL.get(status.info.auth_mode)
    if status.state != "needs_connection" or status.connect_url is None or flags is None or status.accounts:
        return said
    where = f"assent connect {status.info.id} --workspace {call.caller.workspace_id} {flags}"
    return f"{said}\n\nOr in a terminal of this server: `{where}`"


TERMINAL: Final[dict[str, str]] = {
    "api_key": "--key-stdin",
    "password": '--from "NAME <ADDRESS>" --key-stdin',
}


def _offer_instead(other: ConnectorStatus) -> str:
    if other.state == "live":
        return f"{other.info.label} is connected and can be used instead."
    where = f": {other.connect_url}" if other.connect_url else "."
    return f"You can connect {other.info.name_inside} instead{where}"


def _drafts(count: int) -> str:
    return "One draft is" if count == 1 else f"{count} drafts are"


def _name_accounts(connection: Connection | None, info: ConnectorInfo) -> str:
    """Name the accounts, and of a service for several channels those where they are."""
    if connection is None or not connection.live:
        return ""
    usable = [each for each in connection.accounts if each.usable]
    several = len(info.channels) > 1
    return ", ".join(f"{each.name} on {each.platform}" if several else each.name for each in usable)


def _in_brackets(names: str) -> str:
    return f" ({names})" if names else ""


OPERATOR = "chieflab-connect"
BY_PAGE = ("api_key", "oauth", "password")
"""Kinds of connectors that need an account of the workspace."""


class ListConnectors(Record, forbid_unknown_fields=True):
    """No arguments."""


class ConnectorView(WireRecord, kw_only=True, omit_defaults=True):
    """A connector and its state for the caller. `says` describes the state to a person."""

    id: str
    label: str
    description: str
    auth_mode: AuthMode
    channels: tuple[str, ...]
    does: tuple[str, ...]
    status: State
    says: str
    connect_url: str | msgspec.UnsetType = msgspec.UNSET
    """The URL where a person connects it."""


class ConnectorList(WireRecord, kw_only=True):
    ok: bool
    connectors: tuple[ConnectorView, ...]
    agent_guide: Guide | msgspec.UnsetType


class ConnectProvider(Arguments, kw_only=True):
    provider: Annotated[
        str,
        msgspec.Meta(max_length=60, description="A connector, or a channel such as x, linkedin or email."),
    ]
    idempotency_key: IdempotencyKey | None = None


class ConnectReply(PreparedRun, frozen=True, kw_only=True, rename="camel"):
    """The full shape of a run; nothing is staged. `connect_url`: where a person connects it."""

    provider: str
    connected: bool
    connect_url: str | None


class DisconnectProvider(Arguments, kw_only=True):
    provider: Annotated[str, msgspec.Meta(max_length=60, description="The connector's id.")]
    idempotency_key: IdempotencyKey | None = None


class Disconnected(WireRecord, kw_only=True):
    ok: bool
    provider: str
    disconnected: bool
    """False if nothing was connected."""
    user_message: str
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


async def list_connectors(call: PublicCall, request: ListConnectors) -> ConnectorList:
    """List the connectors as they are for the caller, without secrets (E86)."""
    found = [await assess_connector(call, info) for info in call.services.effects.connectors.values()]
    return ConnectorList(
        ok=True,
        connectors=tuple(_view(each) for each in found),
        agent_guide=make_guide({TEXT: list_for_person(found)}, ()),
    )


def _view(status: ConnectorStatus) -> ConnectorView:
    return from_record(
        ConnectorView,
        status.info,
        status=status.state,
        says=describe(status),
        connect_url=status.connect_url or msgspec.UNSET,
    )


async def connect_provider(call: Call, request: ConnectProvider) -> ConnectReply:
    status, channel = await choose(call, request.provider)
    info, connected = status.info, status.state == "live"
    if status.state == "needs_configuration":
        raise Refusal(
            Reason.PROVIDER_NOT_LIVE,
            facts={"connector": info.label},
            words=Words(
                summary=f"{info.label} is not set up on this server.",
                user_message=status.hint,
                fix="STOP. Show the message: only the person who runs the server can set it up.",
            ),
        )
    others = await alternatives(call, info, channel)
    names = (info.id, *(each.info.id for each in others))
    waiting = await waiting_for(call, names, channel)
    said = write_message(status, channel, others, len(waiting))
    shown = show(call, status, said)
    told = f"{info.label} is connected and works." if connected else describe(status)
    if info.auth_mode == "none":
        told = said
    guide = guide_unstaged(
        shown, told, _following(call, status, waiting), CONNECTED_STOP_RULE if connected else STOP_RULE
    )
    return await runs.prepare(
        call.services,
        Request(
            principal=call.caller,
            operator=OPERATOR,
            tool="chieflab_connect_provider",
            inputs={"provider": info.id},
            key=request.idempotency_key,
        ),
        Preparation(outputs={"provider": info.id}),
        ConnectReply,
        lambda assets, staged: {
            "provider": info.id,
            "connected": connected,
            "connect_url": status.connect_url,
            "agent_guide": guide,
            "stop_rule": guide.stop_rule,
        },
    )


def _following(call: Call, status: ConnectorStatus, waiting: list[Action]) -> tuple[SuggestedCall, ...]:
    """Return the next calls: first the drafts that wait for this connector."""
    connected = status.state == "live"
    when = "now" if connected else "the human says that it is connected"
    found = [SuggestedCall("chieflab_get_action", {"actionId": each.action_id}, when) for each in waiting]
    if not connected and DECIDE_RIGHT in call.caller.scopes:
        found += [
            SuggestedCall("chieflab_use_manual_fallback", {"actionId": each.action_id}, BY_HAND_WHEN)
            for each in waiting[:1]
        ]
    if connected and status.info.auth_mode in BY_PAGE and DECIDE_RIGHT in call.caller.scopes:
        about = {"provider": status.info.id}
        found.append(SuggestedCall("chieflab_disconnect_provider", about, "the human wants to end it"))
    listing = SuggestedCall("chieflab_list_connectors", {}, "the human asks what else can be connected")
    return (*found, listing) if waiting else (listing, *found)


BY_HAND_WHEN = "the human prefers to do it by hand"
STOP_RULE = (
    "Show the link and stop: only the human can connect it. Never ask for a key in the chat, and do not call this "
    "again before the human says that it is done."
)
CONNECTED_STOP_RULE = "Say that it is connected and stop: nothing was sent."


async def disconnect_provider(call: Call, request: DisconnectProvider) -> Disconnected:
    known = call.services.effects.connectors
    info = known.get(request.provider)
    if info is None:
        raise bad_argument("provider", f"one of {', '.join(known)}", repr(request.provider))
    if info.auth_mode not in BY_PAGE:
        said = "it has no account of this workspace"
        raise bad_argument("provider", "one that this workspace connected", f"{info.id} ({said})")

    def write(begin: Begin[bool]) -> Awaitable[Disconnected]:
        def end() -> Transaction[Disconnected]:
            ended = yield from begin()
            message = f"{info.label} is disconnected and its secrets are destroyed here."
            if info.auth_mode != "password":
                message += f" If {info.label} still lists this server, remove it there."
            return Disconnected(
                ok=True,
                provider=info.id,
                disconnected=ended,
                user_message=message if ended else f"{info.label} was not connected by this workspace.",
            )

        return call.write_once(request, end, Disconnected, {"provider": info.id})

    return await disconnect(call.services, call.caller.workspace_id, info.id, write, by=call.caller.name)


TOOLS = (
    Tool(
        name="chieflab_list_connectors",
        title="List connectors",
        description="Lists the channels and connectors of this server (site, e-mail, social, analytics) and whether "
        "each works now: live, needs_connection (a person connects it at connectUrl) or needs_configuration (by the "
        "person who runs the server). Needs no key. USE WHEN the user asks which connectors there are, where you can "
        "post or publish, or which accounts are linked.",
        behaviour=READS,
        request=ListConnectors,
        reply=ConnectorList,
        handler=list_connectors,
        public=True,
    ),
    Tool(
        name="chieflab_connect_provider",
        title="Connect a provider",
        description="Says how the human connects a provider (Zernio, Resend, Google, HubSpot, a mail server) or what "
        "serves a channel (x, linkedin, instagram, email), and whether it is connected, with the link. USE WHEN a "
        "call answered missing_connector or the user wants to connect, link or hook up an account. Keys are entered "
        "by the human on that page, never in the chat.",
        behaviour=WRITES,
        request=ConnectProvider,
        reply=ConnectReply,
        handler=connect_provider,
        scope="runs:write",
    ),
    Tool(
        name="chieflab_disconnect_provider",
        title="Disconnect a provider",
        description="Ends this workspace's connection to a provider and destroys its stored secrets; actions for it "
        "are blocked until it is connected again. USE WHEN the user asks for it, never by yourself.",
        behaviour=DECIDES,
        request=DisconnectProvider,
        reply=Disconnected,
        handler=disconnect_provider,
        keyed_as="chieflab_disconnect_provider",
        scope="actions:decide",
    ),
)
