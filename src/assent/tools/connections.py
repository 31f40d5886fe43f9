"""Connectors: which there are, how to connect one, and trying again once it is connected (E54, E84, E86, E94, "
"E98)."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from assent.connectors.registry import CONNECTORS, ConnectorInfo
from assent.engine import actions, blocked, staging
from assent.engine.staging import PreparedRun, Request
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.lifecycle.audit import ActionRecord
from assent.lifecycle.guidance import SuggestedCall
from assent.ports import Draft, Preparation
from assent.tools.arguments import ActionIdArgument, IdempotencyKey
from assent.tools.definition import DECIDES, READS, WRITES, Call, Tool

OPERATOR = "chieflab-connect"


class ListConnectors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class ConnectorList(msgspec.Struct, frozen=True, rename="camel"):
    ok: bool
    connectors: tuple[ConnectorInfo, ...]


class ConnectProvider(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    provider: Annotated[str, msgspec.Meta(max_length=60, description="The connector's id.")]
    idempotency_key: IdempotencyKey | None = None


class ConnectReply(PreparedRun, frozen=True, kw_only=True, rename="camel"):
    """The full shape of a run; nothing is staged. `connect_url` is where the human connects it, if there is a "
    "page."""

    provider: str
    connected: bool
    connect_url: str | None


class RetryBlockedAction(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    action_id: ActionIdArgument
    idempotency_key: IdempotencyKey | None = None


async def list_connectors(call: Call, request: ListConnectors) -> ConnectorList:
    return ConnectorList(ok=True, connectors=CONNECTORS)


async def connect_provider(call: Call, request: ConnectProvider) -> ConnectReply:
    info = next((each for each in CONNECTORS if each.id == request.provider), None)
    if info is None:
        known = ", ".join(each.id for each in CONNECTORS)
        raise bad_argument("provider", f"one of {known}", repr(request.provider))
    connector = call.services.connectors.get(info.id)
    if connector is None:
        raise Refusal(Reason.PROVIDER_NOT_LIVE, facts={"connector": info.label})
    readiness = await connector.readiness(call.caller.workspace_id)
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
        lambda assets, staged: _connected(info, readiness.ready),
    )


def _connected(info: ConnectorInfo, ready: bool) -> dict[str, Any]:
    return {"provider": info.id, "connected": ready, "connect_url": None}


async def retry_blocked_action(call: Call, request: RetryBlockedAction) -> ActionRecord:
    action_id = actions.require_action_id(request.action_id)
    return await blocked.look_again(
        call.services, call.caller.workspace_id, action_id, call.caller.name, request.idempotency_key
    )


NEXT = (
    SuggestedCall("chieflab_list_connectors", {}, "to see which connectors there are"),
    SuggestedCall("chieflab_retry_blocked_action", {"actionId": "…"}, "the human has connected it"),
    SuggestedCall("chieflab_use_manual_fallback", {"actionId": "…"}, "the human prefers to publish by hand"),
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
        description="Says how the human connects a provider (own site, SMTP, and the hosted ones as they become "
        "live) and "
        "whether it is connected. USE WHEN a call answered missing_connector or the user wants to wire a provider. "
        "Keys "
        "are entered by the human on a page or in the settings, never in the chat.",
        category="primary",
        behaviour=WRITES,
        request=ConnectProvider,
        reply=ConnectReply,
        handler=connect_provider,
        scope="runs:write",
    ),
    Tool(
        name="chieflab_retry_blocked_action",
        title="Look again at a blocked action",
        description="Checks anew whether the connector of a staged action is ready. USE WHEN the human has "
        "connected it. "
        "Content and approval stay as they are; nothing is sent.",
        category="execute",
        behaviour=DECIDES,
        request=RetryBlockedAction,
        reply=ActionRecord,
        handler=retry_blocked_action,
        scope="runs:write",
    ),
)
