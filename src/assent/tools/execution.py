"""The executors (C6). They take an action's id and an idempotency key, and no content that could
override the action."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import msgspec

from assent.engine.actions import actions, execution, reconciliation, recording
from assent.engine.actions.execution import EXECUTE_TOOL, ExecutionOrder
from assent.engine.actions.recording import Executed
from assent.engine.core import freezes
from assent.gate.audit import ActionRecord, build_record
from assent.gate.policy import suffices
from assent.gate.records import Action, Assurance
from assent.kernel.ids import ActionId, require_action_id
from assent.kernel.refusals import Reason, Refusal, SuggestedCall, bad_argument
from assent.kernel.structs import Arguments, from_record
from assent.ports import Transaction
from assent.present.next_steps import PLAIN, next_calls
from assent.present.refusals import SIGNED_IN_ANSWER
from assent.present.status_report import explain
from assent.tools.arguments import ActionIdArgument, IdempotencyKey
from assent.tools.definition import DECIDES, FIRES, Call, Tool

SCOPE = "actions:execute"
PUBLISH_TOOL = "chieflab_publish_approved_post"
SEND_TOOL = "chieflab_send_approved_email"


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

    show: str = ""
    user_message: str = ""
    next: tuple[SuggestedCall, ...] = ()


async def execute_approved(call: Call, request: ExecuteAction, *, tool: str) -> Executed:
    return await execution.execute(
        call.services,
        ExecutionOrder(
            workspace_id=call.caller.workspace_id,
            action_id=require_action_id(request.action_id),
            tool=tool,
            by=call.caller.name,
            key=request.idempotency_key,
            holder=call.caller.holder,
            link_scope=call.caller.link_scope,
        ),
    )


async def resolve_unknown_outcome(call: Call, request: ResolveUnknownOutcome) -> Resolved:
    """Record a person's answer about an unknown outcome. An agent may relay that it happened; that
    it did not happen allows a second send and needs a person (C8)."""
    action_id = require_action_id(request.action_id)
    workspace_id = call.caller.workspace_id
    if request.outcome == "look_now":
        return await _look_now(call, request, action_id)
    if not request.evidence:
        raise bad_argument(
            "evidence", "what the human saw: the live address, or where they looked", "nothing"
        )
    happened = request.outcome == "happened"

    def begin() -> Transaction[Resolved]:
        if not happened and not suffices(Assurance.AGENT, Assurance.PERSON):
            action, _ = yield from actions.lock(workspace_id, action_id)
            raise Refusal(
                Reason.REQUIRES_APPROVAL,
                status=action.status,
                action_id=action_id,
                review_url=call.review_url(action.run_id),
                words=SIGNED_IN_ANSWER,
            )
        facts = {
            "by": call.caller.name,
            "assurance": Assurance.AGENT,
            "via": "chat",
            "evidence": request.evidence,
        }
        changed = yield from reconciliation.resolve(workspace_id, action_id, happened, facts, call.now_ms)
        return _answer_resolved(changed, call.now_ms)

    arguments = {"actionId": action_id, "outcome": request.outcome, "evidence": request.evidence}
    return await call.write_once(request, begin, Resolved, arguments)


async def _look_now(call: Call, request: ResolveUnknownOutcome, action_id: ActionId) -> Resolved:
    """Let the server ask the provider now instead of at the next retry."""
    workspace_id, connectors = call.caller.workspace_id, call.services.connectors

    def begin() -> Transaction[Resolved]:
        facts = {"by": call.caller.name, "via": "chat"}
        action = yield from reconciliation.ask_again(workspace_id, action_id, facts, call.now_ms)
        name = action.view.via or action.effect.connector
        connector = connectors.get(action.effect.connector)
        asked = reconciliation.can_be_asked(connector)
        told = f"{name} is asked now." if asked else f"{name} cannot be asked: please look there."
        stopped = freezes.describe((yield from freezes.find(workspace_id)), action)
        if stopped and reconciliation.repeatable(connector, action, call.now_ms):
            told = f"{name} can only be asked by sending it again. {stopped}"
        calls = next_calls(action.effect.channel, action, PLAIN)
        return from_record(
            Resolved, build_record(action, call.now_ms), show=told, user_message=told, next=calls
        )

    arguments = {"actionId": action_id, "outcome": request.outcome}
    answer = await call.write_once(request, begin, Resolved, arguments)
    call.services.background.wake_jobs()
    return answer


def _answer_resolved(action: Action, now_ms: int) -> Resolved:
    done = recording.answer_executed(action)
    told = " ".join(filter(None, (done.user_message, explain(action, None, now_ms))))
    return from_record(Resolved, build_record(action, now_ms), show=told, user_message=told, next=done.next)


TOOLS = (
    Tool(
        name=EXECUTE_TOOL,
        title="Execute an approved action",
        description="Fires one approved action exactly as it was approved: publishes the post or sends the mail, once. "
        "USE WHEN the user has approved it and wants it to go out. Refuses with requires_approval unless the stored "
        "status is approved. Pass idempotencyKey so that a retry gives the same result.",
        category="execute",
        behaviour=FIRES,
        request=ExecuteAction,
        reply=Executed,
        handler=partial(execute_approved, tool=EXECUTE_TOOL),
        scope=SCOPE,
    ),
    Tool(
        name=PUBLISH_TOOL,
        title="Publish an approved post",
        description="Publishes one approved post on its channel, once. USE WHEN the user approved a post. Refuses "
        "with requires_approval unless the stored status is approved.",
        category="execute",
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
        description="Sends one approved e-mail to the recipients it was approved for, once. USE WHEN the user approved "
        "an e-mail. Refuses with requires_approval unless the stored status is approved.",
        category="execute",
        behaviour=FIRES,
        request=ExecuteAction,
        reply=Executed,
        handler=partial(execute_approved, tool=SEND_TOOL),
        scope=SCOPE,
        aliases=("chieflab_send_email",),
        legacy_names=("chiefmo_send_approved_email",),
    ),
    Tool(
        name="chieflab_resolve_unknown_outcome",
        title="Say what became of it",
        description="Records what the human found out about an action whose outcome is unknown. USE WHEN a call "
        "answered outcome_unknown and the user has checked at the provider whether it arrived. 'happened' closes it; "
        "'did_not_happen' needs a signed-in person on the review page, because it allows another attempt. 'look_now' "
        "records nothing: the server asks the provider at once.",
        category="execute",
        behaviour=DECIDES,
        request=ResolveUnknownOutcome,
        reply=Resolved,
        handler=resolve_unknown_outcome,
        keyed_as="chieflab_resolve_unknown_outcome",
        scope="actions:decide",
    ),
)
