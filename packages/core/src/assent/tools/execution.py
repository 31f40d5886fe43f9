"""The executors (C6), and the tool that prepares taking back what they did. They take an action's id and an
idempotency key, and no content that could override the action."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal

import msgspec

from assent.engine.actions import actions, circumstances, reconciliation
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.actions.staging import PreparedRun, answer_prepared
from assent.gate.audit import ActionRecord, build_record
from assent.gate.effects import EXECUTE
from assent.gate.gate import ANY_CONTENT
from assent.gate.records import Action, Freeze, Proposal
from assent.kernel.guide import Guide, make_guide
from assent.kernel.ids import require_action_id
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.kernel.structs import Arguments, from_record
from assent.ports import Preparation
from assent.present.next_steps import PLAIN, UNDO, next_calls
from assent.present.outlook import Executed, answer_executed
from assent.present.refusals import describe_freeze
from assent.present.status_report import explain
from assent.tools.approvals import decider_for
from assent.tools.arguments import ActionIdArgument, IdempotencyKey
from assent.tools.definition import DECIDES, FIRES, WRITES, Call, Tool
from assent.use_cases import executions
from assent.use_cases.decisions import DecisionOrder

SCOPE: Final = "actions:execute"
PUBLISH_TOOL = "chieflab_publish_approved_post"
SEND_TOOL = "chieflab_send_email"


class ExecuteAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    idempotency_key: IdempotencyKey | None = None


class ResolveUnknownOutcome(Arguments, kw_only=True):
    action_id: ActionIdArgument
    outcome: Annotated[
        Literal["happened", "did_not_happen", "look_now"],
        msgspec.Meta(
            description="What the human saw when they looked at the provider; look_now: the server asks it now."
        ),
    ]
    evidence: Annotated[
        str,
        msgspec.Meta(
            max_length=2_000,
            description="What the human saw: the live address, or where they looked. Not for look_now.",
        ),
    ] = ""
    idempotency_key: IdempotencyKey | None = None


class Resolved(ActionRecord, frozen=True, kw_only=True, rename="camel"):
    """The action after the answer."""

    user_message: str = ""
    agent_guide: Guide | msgspec.UnsetType = msgspec.UNSET


async def execute_approved(call: Call, request: ExecuteAction, *, tool: str) -> Executed:
    return await executions.execute(
        call.services,
        ExecutionOrder(
            workspace_id=call.caller.workspace_id,
            action_id=require_action_id(request.action_id),
            tool=tool,
            by=call.caller.name,
            key=request.idempotency_key,
            holder=call.caller.holder,
        ),
    )


async def resolve_unknown_outcome(call: Call, request: ResolveUnknownOutcome) -> Resolved:
    """Record a person's answer about an unknown outcome, or let the server ask the provider now instead of at the
    next retry."""
    action_id, workspace_id = require_action_id(request.action_id), call.caller.workspace_id
    action, _, frozen = await call.services.store.read(
        lambda: actions.find_with_freeze(workspace_id, action_id)
    )
    wish = DecisionOrder(decider_for(call), action, ANY_CONTENT)
    said: dict[str, str] = {"actionId": action_id, "outcome": request.outcome}
    if request.outcome == "look_now":
        asked = call.answering(request, partial(_answer_asked, call, frozen), Resolved, said)
        return await executions.look_now(call.services, wish, asked)
    if not request.evidence:
        raise bad_argument(
            "evidence", "what the human saw: the live address, or where they looked", "nothing"
        )
    said["evidence"] = request.evidence
    told = call.answering(request, partial(_answer_resolved, call), Resolved, said)
    return await executions.resolve(call.services.clock, wish, request.outcome, request.evidence, told)


def _answer_asked(call: Call, frozen: Freeze | None, action: Action) -> Resolved:
    name = action.view.via or action.effect.connector
    connector = call.services.connectors.get(action.effect.connector)
    asked = reconciliation.can_be_asked(connector)
    told = f"{name} is asked now." if asked else f"{name} cannot be asked: please look there."
    stopped = describe_freeze(frozen, action)
    if stopped and reconciliation.repeatable(connector, action, call.now_ms):
        told = f"{name} can only be asked by sending it again. {stopped}"
    guide = make_guide({}, next_calls(action, PLAIN))
    return from_record(Resolved, build_record(action, call.now_ms), user_message=told, agent_guide=guide)


def _answer_resolved(call: Call, action: Action) -> Resolved:
    done = answer_executed(action)
    told = " ".join(filter(None, (done.user_message, explain(action, PLAIN, call.now_ms))))
    record = build_record(action, call.now_ms)
    return from_record(Resolved, record, user_message=told, agent_guide=done.agent_guide)


async def undo_action(call: Call, request: ExecuteAction) -> PreparedRun:
    services, caller, action_id = call.services, call.caller, require_action_id(request.action_id)
    action, _ = await services.store.read(lambda: actions.find(caller.workspace_id, action_id))
    run = await services.store.read(lambda: actions.find_run(caller.workspace_id, action.run_id))
    if run is None:
        raise Refusal(Reason.WRONG_WORKSPACE)
    proposal = msgspec.convert(caller.propose(""), Proposal)
    outlook = await circumstances.read_outlook(services, caller, (action,))

    def answer(staged: Action) -> PreparedRun:
        now = msgspec.structs.replace(run, created_ms=call.now_ms)  # for the life of the link
        return answer_prepared(services, caller, now, (), (staged,), Preparation(), outlook)

    write = call.answering(request, answer, PreparedRun)
    return await executions.undo(services, decider_for(call), action, proposal, write)


TOOLS = (
    Tool(
        name=EXECUTE,
        title="Execute an approved action",
        description="Fires one approved action exactly as it was approved, once. USE WHEN the user has approved it "
        "and wants it to go out now, or to try once more, such as after an account is connected. Refuses with "
        "requires_approval unless the stored status is approved.",
        behaviour=FIRES,
        request=ExecuteAction,
        reply=Executed,
        handler=partial(execute_approved, tool=EXECUTE),
        scope=SCOPE,
    ),
    Tool(
        name=PUBLISH_TOOL,
        title="Publish an approved post",
        description="Publishes one approved post on its channel, once. USE WHEN the user approved a post.",
        behaviour=FIRES,
        request=ExecuteAction,
        reply=Executed,
        handler=partial(execute_approved, tool=PUBLISH_TOOL),
        scope=SCOPE,
        legacy_names=("chiefmo_publish_approved_post",),
    ),
    Tool(
        name=SEND_TOOL,
        title="Send an approved e-mail",
        description="Sends one approved e-mail to the recipients it was approved for, once. USE WHEN the user "
        "approved an e-mail.",
        behaviour=FIRES,
        request=ExecuteAction,
        reply=Executed,
        handler=partial(execute_approved, tool=SEND_TOOL),
        scope=SCOPE,
        aliases=("chieflab_send_approved_email",),
        legacy_names=("chiefmo_send_approved_email",),
    ),
    Tool(
        name="chieflab_resolve_unknown_outcome",
        title="Say what became of it",
        description="Records what the human found out about an action whose outcome is unknown. USE WHEN a call timed "
        "out or answered outcome_unknown and the user has checked at the provider whether it arrived: they see it, or "
        "it did not happen. 'happened' closes it; 'did_not_happen' needs a signed-in person on the review page, "
        "because it allows another attempt. 'look_now' makes the server ask the provider at once.",
        behaviour=DECIDES,
        request=ResolveUnknownOutcome,
        reply=Resolved,
        handler=resolve_unknown_outcome,
        keyed_as="chieflab_resolve_unknown_outcome",
        scope="actions:decide",
    ),
    Tool(
        name=UNDO,
        title="Take back what was done",
        description="Prepares taking back what went out: a refund, a post, a page, a call. Staged for approval; "
        "nothing changes by this call. USE WHEN the user wants to remove, delete or take down again a post, page or "
        "blog post that is wrong, an announcement off the site, or to cancel a refund that was made.",
        behaviour=WRITES,
        request=ExecuteAction,
        reply=PreparedRun,
        handler=undo_action,
        scope="runs:write",
        keyed_as=UNDO,
    ),
)
