"""Connectors: which there are, how to connect one and to end that, and trying again once it is connected (E54, E84,
E86, E94, E98). A key never comes through here: the human enters it on a page or in a terminal."""

from __future__ import annotations

from typing import Annotated

import msgspec

from assent.connectors.registry import CONNECTORS, ConnectorInfo
from assent.engine import actions, blocked, staging
from assent.engine.blocked import LookedAgain
from assent.engine.decisions import once_only
from assent.engine.staging import PreparedRun, Request
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.lifecycle.guidance import SuggestedCall
from assent.ports import Draft, Preparation, Transaction
from assent.tools.arguments import ActionIdArgument, IdempotencyKey
from assent.tools.definition import DECIDES, READS, WRITES, Call, Tool

OPERATOR = "chieflab-connect"
BY_PAGE = ("api_key", "oauth", "password")
"""How those are connected that have an account of the workspace."""


class ListConnectors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class ConnectorList(msgspec.Struct, frozen=True, rename="camel"):
    ok: bool
    connectors: tuple[ConnectorInfo, ...]


class ConnectProvider(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    provider: Annotated[str, msgspec.Meta(max_length=60, description="The connector's id.")]
    idempotency_key: IdempotencyKey | None = None


class ConnectReply(PreparedRun, frozen=True, kw_only=True, rename="camel"):
    """The full shape of a run; nothing is staged. `connect_url` is where the human connects it, if there is a page."""

    provider: str
    connected: bool
    connect_url: str | None


class DisconnectProvider(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    provider: Annotated[str, msgspec.Meta(max_length=60, description="The connector's id.")]
    idempotency_key: IdempotencyKey | None = None


class Disconnected(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    provider: str
    disconnected: bool
    """False where nothing was connected."""
    user_message: str


class RetryBlockedAction(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    action_id: ActionIdArgument
    idempotency_key: IdempotencyKey | None = None


async def list_connectors(call: Call, request: ListConnectors) -> ConnectorList:
    return ConnectorList(ok=True, connectors=CONNECTORS)


async def connect_provider(call: Call, request: ConnectProvider) -> ConnectReply:
    info = _known(request.provider)
    connector = call.services.connectors.get(info.id)
    if connector is None:
        raise Refusal(Reason.PROVIDER_NOT_LIVE, facts={"connector": info.label})
    readiness = await connector.readiness(call.caller.workspace_id)
    if readiness.blocker == Reason.PROVIDER_NOT_LIVE:
        raise Refusal(
            Reason.PROVIDER_NOT_LIVE, facts={"connector": info.label}, user_message=readiness.fix_hint
        )
    said = (
        f"{info.label} is connected and ready."
        if readiness.ready
        else f"{info.label} is not connected yet. {readiness.fix_hint or ''}".strip()
    )
    draft = Draft(
        type="connection", title=f"Connecting {info.label}", body=said, metadata={"provider": info.id}
    )
    return await staging.stage(
        call.services,
        Request(
            principal=call.caller,
            operator=OPERATOR,
            tool="chieflab_connect_provider",
            inputs={"provider": info.id},
            key=request.idempotency_key,
        ),
        Preparation(drafts=(draft,), outputs={"provider": info.id}, next_calls=NEXT),
        ConnectReply,
        lambda assets, staged: {
            "provider": info.id,
            "connected": readiness.ready,
            "connect_url": _page_of(call, info),
        },
    )


def _known(provider: str) -> ConnectorInfo:
    info = next((each for each in CONNECTORS if each.id == provider), None)
    if info is None:
        known = ", ".join(each.id for each in CONNECTORS)
        raise bad_argument("provider", f"one of {known}", repr(provider))
    return info


def _page_of(call: Call, info: ConnectorInfo) -> str | None:
    """Where the human connects it; none where no page is up, and for what needs no account or is a setting."""
    address = call.services.page_address()
    if address is None or info.auth_mode not in BY_PAGE:
        return None
    return f"{address}/connect/{info.id}?workspace={call.caller.workspace_id}"


async def disconnect_provider(call: Call, request: DisconnectProvider) -> Disconnected:
    info = _known(request.provider)
    if info.auth_mode not in BY_PAGE:
        said = "it has no account of this workspace; whoever runs the server sets it up"
        raise bad_argument("provider", "one that this workspace connected", f"{info.id} ({said})")
    workspace_id, by, now_ms = call.caller.workspace_id, call.caller.name, call.now_ms
    connections = call.services.connections

    def end() -> Transaction[Disconnected]:
        ended = yield from connections.ending(workspace_id, info.id, by=by)
        told = (
            f"{info.label} is disconnected and its secrets are destroyed here. To end them at {info.label} too, remove "
            "them there."
        )
        return Disconnected(
            ok=True,
            provider=info.id,
            disconnected=ended,
            user_message=told if ended else f"{info.label} was not connected.",
        )

    asked = {"provider": info.id}
    return await call.services.store.write(
        lambda: once_only(
            call.caller,
            "chieflab_disconnect_provider",
            request.idempotency_key,
            asked,
            now_ms,
            Disconnected,
            end,
        )
    )


async def retry_blocked_action(call: Call, request: RetryBlockedAction) -> LookedAgain:
    action_id = actions.require_action_id(request.action_id)
    return await blocked.look_again(call.services, call.caller, action_id, request.idempotency_key)


NEXT = (
    SuggestedCall("chieflab_list_connectors", {}, "to see which connectors there are"),
    SuggestedCall("chieflab_retry_blocked_action", {"actionId": "…"}, "the human has connected it"),
    SuggestedCall("chieflab_use_manual_fallback", {"actionId": "…"}, "the human prefers to publish by hand"),
    SuggestedCall("chieflab_disconnect_provider", {"provider": "…"}, "the human wants to end a connection"),
)


TOOLS = (
    Tool(
        name="chieflab_list_connectors",
        title="List connectors",
        description="Lists the connectors this server knows (site, e-mail, social, analytics), what each one does, "
        "how "
        "it is connected and whether it is live. Public metadata: needs no key and shows no secret. USE WHEN you "
        "must "
        "know which channels can be published or measured.",
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
        description="Says how the human connects a provider (Zernio, Resend, Google, HubSpot, SMTP, own site) and "
        "whether it is connected; connectUrl is the page for it. USE WHEN a call answered missing_connector or the "
        "user wants to wire a provider. Keys are entered by the human on that page or in a terminal, never in the "
        "chat.",
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
        scope="actions:decide",
    ),
    Tool(
        name="chieflab_retry_blocked_action",
        title="Look again at a blocked action",
        description="Checks anew whether a staged action can be performed. USE WHEN the human has connected its "
        "provider or an account. Where an account can be named now that was missing, the action gets it as a new "
        "revision: show it and ask for approval again. Nothing is sent.",
        category="execute",
        behaviour=DECIDES,
        request=RetryBlockedAction,
        reply=LookedAgain,
        handler=retry_blocked_action,
        scope="runs:write",
    ),
)
