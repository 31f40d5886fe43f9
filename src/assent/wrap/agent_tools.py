"""The tools of an agent that runs its own tools behind the gate: propose a call, claim it, report it.

To wait for the decision, an agent calls `chieflab_get_action` with `waitSeconds`.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final, Literal

import msgspec

from assent.platform.services import (
    Delivered,
    NotSent,
    OutcomeUnknown,
    Preparation,
    PreparedRun,
    Request,
    StagedEffect,
    Transaction,
    actions,
    execution,
    recording,
    staging,
)
from assent.platform.tools import DECIDES, FIRES, WRITES, ActionIdArgument, Call, IdempotencyKey, Tool
from assent.platform.values import (
    Action,
    ActionId,
    Arguments,
    ExecutionState,
    Reason,
    Refusal,
    Status,
    WireRecord,
    bad_argument,
    digest,
    is_expired,
    is_one_line,
    iso_time,
    require_action_id,
)
from assent.wrap.agent_calls import (
    AGENT,
    CLAIM,
    AgentCall,
    AgentConnector,
    find_problems,
    make_effect,
    read_call,
)
from assent.wrap.storing import Proposed, find_proposed, keep_proposed

PROPOSE: Final = "chieflab_propose_call"
REPORT: Final = "chieflab_report_call"
OWN_CALL: Final = "agentCall"
"""Metadata key: the caller that proposed the call, and the digest of the arguments it proposed."""

Source = Annotated[
    str,
    msgspec.Meta(
        pattern="^[a-z][a-z0-9-]{0,39}$", description="What runs the tool, such as claude-code or langgraph."
    ),
]
ToolName = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The tool's name there.")]
Line = Annotated[str, msgspec.Meta(max_length=1_000)]


class ProposeCall(Arguments, kw_only=True):
    source: Source
    tool_name: ToolName
    arguments: Annotated[
        dict[str, Any], msgspec.Meta(description="The arguments of the call, exactly as it would run.")
    ] = {}
    context: Annotated[
        dict[str, Line],
        msgspec.Meta(max_length=8, description="Where it would run, for the person: labels and values."),
    ] = {}
    idempotency_key: IdempotencyKey | None = None


class ProposeReply(WireRecord, kw_only=True):
    ok: bool
    action_id: str
    run_id: str
    status: str
    execution_state: str
    digest: str
    review_url: str
    joined: bool
    """Whether the same call was proposed before."""
    user_message: str


class ClaimCall(Arguments, kw_only=True):
    action_id: ActionIdArgument


class ClaimReply(WireRecord, kw_only=True):
    """The approved call. It is handed out once."""

    ok: bool
    action_id: str
    claim_id: str
    source: str
    tool_name: str
    arguments: dict[str, Any]
    edited: bool
    """Whether the arguments differ from those that were proposed."""
    report_until: str
    user_message: str


class ReportCall(Arguments, kw_only=True):
    action_id: ActionIdArgument
    claim_id: Annotated[str, msgspec.Meta(max_length=100, description="The claimId of the claim.")]
    outcome: Annotated[
        Literal["executed", "failed", "unknown"],
        msgspec.Meta(description="failed: it certainly did not happen. unknown: it may have happened."),
    ]
    output: Annotated[Any, msgspec.Meta(description="What the tool returned, as JSON.")] = None
    detail: Annotated[str, msgspec.Meta(max_length=2_000, description="Why it failed or is unknown.")] = ""


class OutcomeReply(WireRecord, kw_only=True):
    ok: bool
    action_id: str
    status: str
    execution_state: str
    user_message: str


async def propose_call(call: Call, request: ProposeCall) -> ProposeReply:
    """Stage a call, or join the open action of the same call. With an idempotency key of the caller it is
    an action of its own, and the same key finds it again."""
    connector = call.services.connectors.get(AGENT)
    if not isinstance(connector, AgentConnector):
        raise Refusal(Reason.PROVIDER_NOT_LIVE, facts={"connector": AGENT})
    _refuse_unreadable(request)
    wanted = AgentCall(
        source=request.source,
        tool=request.tool_name,
        context=request.context,
        risk=connector.grade(request.source, request.tool_name, call.caller.label),
    )
    effect = make_effect(wanted, request.arguments)
    if problems := find_problems(effect):
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    asked = {
        "source": wanted.source,
        "toolName": wanted.tool,
        "arguments": request.arguments,
        "context": wanted.context,
    }
    same = digest([call.caller.holder, asked])
    known, action = (None, None) if request.idempotency_key is not None else await _find_newest(call, same)
    joined = action is not None and _is_open(action, call.now_ms)
    if action is None or not joined:
        generation = known.generation + 1 if known is not None else 1
        key = request.idempotency_key or f"agent:{same}:{generation}"
        own = {"holder": call.caller.holder, "proposed": digest(request.arguments)}
        staged = StagedEffect(effect=effect, executor_tool=CLAIM, metadata={OWN_CALL: own})
        wish = Request(principal=call.caller, operator=AGENT, tool=PROPOSE, inputs=asked, key=key)
        made = await staging.stage(call.services, wish, Preparation(effects=(staged,)), PreparedRun)
        joined = made.replay is not msgspec.UNSET
        proposed = Proposed(generation, made.actions[0].id)
        if request.idempotency_key is None:
            keep = partial(keep_proposed, call.caller.workspace_id, call.caller.holder, same, proposed)
            await call.services.store.write(keep)
        action = await _find_action(call, ActionId(proposed.action_id))
    said = "It waits for a person." if action.status is Status.AWAITING_APPROVAL else "It was decided before."
    return ProposeReply(
        ok=True,
        action_id=action.action_id,
        run_id=action.run_id,
        status=action.status,
        execution_state=action.execution_state,
        digest=action.digest,
        review_url=call.review_url(action.run_id),
        joined=joined,
        user_message=f"{action.view.title}. {said}",
    )


async def _find_newest(call: Call, same: str) -> tuple[Proposed | None, Action | None]:
    """Return the newest proposal of the same call by the same caller, with its action."""

    def begin() -> Transaction[tuple[Proposed | None, Action | None]]:
        found = yield from find_proposed(call.caller.workspace_id, call.caller.holder, same)
        if found is None:
            return None, None
        action, _ = yield from actions.find(call.caller.workspace_id, ActionId(found.action_id))
        return found, action

    return await call.services.store.read(begin)


def _is_open(action: Action, now_ms: int) -> bool:
    """Whether the call may still be decided or claimed."""
    waits = action.status in (Status.AWAITING_APPROVAL, Status.APPROVED) and not is_expired(action, now_ms)
    return waits and action.execution_state in (ExecutionState.NONE, ExecutionState.RETRYABLE)


def _refuse_unreadable(request: ProposeCall) -> None:
    """Raise `Refusal` for a name or a context that is not one line."""
    lines = {
        "toolName": request.tool_name,
        **{f"context.{name[:40]}": f"{name} {text}" for name, text in request.context.items()},
    }
    for path, text in lines.items():
        if not is_one_line(text) or not text.isprintable():
            raise bad_argument(path, "one line without control characters", repr(text[:80]))


async def claim_call(call: Call, request: ClaimCall) -> ClaimReply:
    """Hand the approved call out, once, to the caller that proposed it."""
    action_id = require_action_id(request.action_id)
    await _require_own(call, action_id)
    order = execution.ExecutionOrder(
        workspace_id=call.caller.workspace_id,
        action_id=action_id,
        tool=CLAIM,
        by=call.caller.name,
        link_scope=call.caller.link_scope,
    )
    action = await execution.hand_out(call.services, order)
    if action.attempt is None:
        raise TypeError("a claimed action has an attempt")
    effect, wanted = action.effect, read_call(action.effect)
    edited = digest(effect.arguments) != action.metadata[OWN_CALL]["proposed"]
    changed = (
        "A person changed the arguments: run it with these, and do not repeat your own call. "
        if edited
        else ""
    )
    return ClaimReply(
        ok=True,
        action_id=action_id,
        claim_id=action.attempt.attempt_id,
        source=wanted.source,
        tool_name=wanted.tool,
        arguments=effect.arguments,
        edited=edited,
        report_until=iso_time(action.attempt.lease_until_ms) or "",
        user_message=f"{changed}It may run once now.",
    )


async def report_call(call: Call, request: ReportCall) -> OutcomeReply:
    """Record what became of a call that was handed out."""
    action_id = require_action_id(request.action_id)
    outcome: Delivered | NotSent | OutcomeUnknown
    if request.outcome == "executed":
        outcome = Delivered(
            request.claim_id, evidence={"reportedBy": call.caller.name}, output=request.output
        )
    elif request.outcome == "failed":
        outcome = NotSent(
            Reason.CONNECTOR_FAILED, request.detail or "the agent did not run it", curable=False
        )
    else:
        outcome = OutcomeUnknown(request.detail or "the agent does not know")

    def begin() -> Transaction[Action]:
        return recording.record_report(
            call.caller.workspace_id, action_id, request.claim_id, outcome, call.now_ms
        )

    await _require_own(call, action_id)
    action = await call.services.store.write(call.metered(begin))
    said = {"executed": "It is recorded as done.", "failed": "It is recorded as not done."}
    return OutcomeReply(
        ok=True,
        action_id=action_id,
        status=action.status,
        execution_state=action.execution_state,
        user_message=said.get(action.status, "It is recorded as unknown; a person looks into it."),
    )


async def _find_action(call: Call, action_id: ActionId) -> Action:
    action, _ = await call.services.store.read(lambda: actions.find(call.caller.workspace_id, action_id))
    return action


async def _require_own(call: Call, action_id: ActionId) -> None:
    """Raise `Refusal` unless this caller proposed the call."""
    action = await _find_action(call, action_id)
    if action.metadata.get(OWN_CALL, {}).get("holder") != call.caller.holder:
        raise bad_argument("actionId", "a call that this key proposed", action.effect.type)


TOOLS: Final = (
    Tool(
        name=PROPOSE,
        title="Propose a call of your own tool",
        description="Asks a person about a call of a tool that you run yourself: nothing runs yet. USE WHEN a tool of "
        "yours needs consent. The same call joins the one that waits. Then wait with chieflab_get_action and "
        "waitSeconds; once it is approved, claim it with chieflab_claim_call.",
        category="primary",
        behaviour=WRITES,
        request=ProposeCall,
        reply=ProposeReply,
        handler=propose_call,
        scope="runs:write",
    ),
    Tool(
        name=CLAIM,
        title="Claim an approved call",
        description="Hands you one approved call to run, once: run exactly the arguments of the answer, then call "
        "chieflab_report_call. USE WHEN a call that you proposed is approved. Refuses with requires_approval unless "
        "the stored status is approved.",
        category="execute",
        behaviour=FIRES,
        request=ClaimCall,
        reply=ClaimReply,
        handler=claim_call,
        scope="actions:execute",
    ),
    Tool(
        name=REPORT,
        title="Report a call that you ran",
        description="Records what became of a call that you claimed: executed with its output, failed if it certainly "
        "did not happen, else unknown. USE WHEN the call has ended. Without a report its outcome becomes unknown.",
        category="execute",
        behaviour=DECIDES,
        request=ReportCall,
        reply=OutcomeReply,
        handler=report_call,
        scope="actions:execute",
    ),
)
