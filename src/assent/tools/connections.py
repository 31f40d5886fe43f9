"""Tools to list, connect, disconnect and retry connectors (E54, E84, E86, E94, E98).

A key never passes through here: a person enters it on a page or in a terminal.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from assent.engine.actions import blocked, staging
from assent.engine.actions.blocked import LookedAgain
from assent.engine.actions.staging import PreparedRun, Request
from assent.gate.calls import NextToolCalls, SuggestedCall
from assent.gate.connection import AuthMode
from assent.gate.guidance import AGENT_DEPENDENCY, AgentGuide, AgentUsefulness, InChat
from assent.gate.records import Action
from assent.gate.review_link import DECIDE_RIGHT
from assent.kernel.ids import require_action_id
from assent.kernel.refusals import Reason, Refusal, Replay, Words, bad_argument
from assent.kernel.structs import Arguments, Record, WireRecord, from_record
from assent.ports import Draft, Preparation, Transaction
from assent.tools import connecting
from assent.tools.arguments import ActionIdArgument, IdempotencyKey
from assent.tools.connecting import ConnectorStatus, State
from assent.tools.definition import DECIDES, READS, WRITES, Call, PublicCall, Tool

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
    show: str


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


class RetryBlockedAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    idempotency_key: IdempotencyKey | None = None


async def list_connectors(call: PublicCall, request: ListConnectors) -> ConnectorList:
    """List the connectors as they are for the caller, without secrets (E86)."""
    found = [
        await connecting.assess_connector(call, info) for info in call.services.effects.connectors.values()
    ]
    return ConnectorList(
        ok=True,
        connectors=tuple(_view(each) for each in found),
        show=connecting.list_for_person(found),
    )


def _view(status: ConnectorStatus) -> ConnectorView:
    return from_record(
        ConnectorView,
        status.info,
        status=status.state,
        says=connecting.describe(status),
        connect_url=status.connect_url or msgspec.UNSET,
    )


async def connect_provider(call: Call, request: ConnectProvider) -> ConnectReply:
    status, channel = await connecting.choose(call, request.provider)
    info, connected = status.info, status.state == "live"
    if status.state == "needs_configuration":
        raise Refusal(
            Reason.PROVIDER_NOT_LIVE,
            facts={"connector": info.label},
            words=Words(summary=f"{info.label} is not set up on this server.", user_message=status.hint),
        )
    others = await connecting.alternatives(call, info)
    names = (info.id, *(each.info.id for each in others))
    waiting = await connecting.waiting_for(call, names)
    said = connecting.write_message(status, channel, others, len(waiting))
    shown = connecting.show(call, status, said)
    title = f"{info.label} is connected" if connected else f"Connect {info.label}"
    draft = Draft(type="connection", title=title, body=shown, metadata={"provider": info.id})
    following = _following(call, status, waiting)
    return await staging.stage(
        call.services,
        Request(
            principal=call.caller,
            operator=OPERATOR,
            tool="chieflab_connect_provider",
            inputs={"provider": info.id},
            key=request.idempotency_key,
        ),
        Preparation(
            drafts=(draft,),
            outputs={"provider": info.id},
            next_calls=following,
            user_message=said,
            show=shown,
        ),
        ConnectReply,
        lambda assets, staged: {
            "provider": info.id,
            "connected": connected,
            "connect_url": status.connect_url,
            "stop_rule": CONNECTED_STOP_RULE if connected else STOP_RULE,
            "agent_usefulness": AgentUsefulness(len(assets), 0, not connected, said),
            "agent_guide": AgentGuide(
                {"connect": InChat(body=shown, title=title, asset_id=assets[0].asset_id)},
                said,
                NextToolCalls(following[0], following[-1], following[1:-1]),
                CONNECTED_STOP_RULE if connected else STOP_RULE,
                AGENT_DEPENDENCY,
            ),
        },
    )


def _following(call: Call, status: ConnectorStatus, waiting: list[Action]) -> tuple[SuggestedCall, ...]:
    """Return the next calls: first the drafts that wait for this connector."""
    connected = status.state == "live"
    when = "now" if connected else "the human says that it is connected"
    found = [
        SuggestedCall("chieflab_retry_blocked_action", {"actionId": each.action_id}, when) for each in waiting
    ]
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
    workspace_id, by = call.caller.workspace_id, call.caller.name
    connections = call.services.connections

    def end() -> Transaction[Disconnected]:
        ended = yield from connections.ending(workspace_id, info.id, by=by)
        message = f"{info.label} is disconnected and its secrets are destroyed here."
        if info.auth_mode != "password":
            message += f" To end them at {info.label} too, remove them there."
        return Disconnected(
            ok=True,
            provider=info.id,
            disconnected=ended,
            user_message=message if ended else f"{info.label} was not connected by this workspace.",
        )

    return await call.write_once(request, end, Disconnected, {"provider": info.id})


async def retry_blocked_action(call: Call, request: RetryBlockedAction) -> LookedAgain:
    action_id = require_action_id(request.action_id)
    refresh = await blocked.look_again(call.services, call.caller, action_id)
    return await call.write_once(request, refresh, LookedAgain, {"actionId": action_id})


TOOLS = (
    Tool(
        name="chieflab_list_connectors",
        title="List connectors",
        description="Lists the connectors this server knows (site, e-mail, social, analytics), what each one does, "
        "and whether it works now: live, needs_connection (a person connects it at connectUrl), or "
        "needs_configuration (the person who runs the server sets it up). Needs no key and shows no secret. USE WHEN "
        "the user asks which connectors there are, or you must know which channels can be published or measured.",
        category="workspace",
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
        "serves a channel (x, linkedin, email), and whether it is connected; show has the link. USE WHEN a call "
        "answered missing_connector or the user wants to connect or hook up an account. Keys are entered by the "
        "human on that page or in a terminal, never in the chat.",
        category="primary",
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
        category="workspace",
        behaviour=DECIDES,
        request=DisconnectProvider,
        reply=Disconnected,
        handler=disconnect_provider,
        keyed_as="chieflab_disconnect_provider",
        scope="actions:decide",
    ),
    Tool(
        name="chieflab_retry_blocked_action",
        title="Look again at a blocked action",
        description="Checks again whether a staged action can be performed. USE WHEN the human has connected its "
        "provider or an account. Where an account can be named now that was missing, the action gets it as a new "
        "revision: show it and ask for approval again. Nothing is sent.",
        category="execute",
        behaviour=DECIDES,
        request=RetryBlockedAction,
        reply=LookedAgain,
        handler=retry_blocked_action,
        keyed_as="chieflab_retry_blocked_action",
        scope="runs:write",
    ),
)
