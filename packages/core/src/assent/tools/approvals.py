"""Tools for decisions that an agent relays (C8).

A decision made here has the assurance `agent`: the server knows that a key of the workspace asked
for it, not that a person did, and records that. Where the policy asks for `client`, an approval is
confirmed in the client's own dialog (`tools/client_dialog.py`). The review page calls the same engine
functions with a signed-in person.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine.actions import actions, circumstances
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.core.tenancy import lack_scope
from assent.engine.learning import pictures
from assent.gate.audit import ActionRecord, build_record
from assent.gate.effects import EXECUTE
from assent.gate.gate import ANY_CONTENT, Decider, SeenVersion
from assent.gate.preflight import is_expired
from assent.gate.records import Action, Assurance, ExecutionState, Media
from assent.gate.review_link import EXECUTE_RIGHT
from assent.kernel.ids import ActionId, require_action_id, require_run_id
from assent.kernel.refusals import Refusal, SuggestedCall, bad_argument
from assent.kernel.structs import Arguments, WireRecord
from assent.kernel.times import iso_time
from assent.ports import Begin, Transaction
from assent.present.cards import render_card
from assent.present.guidance import channel_keys
from assent.present.next_steps import describe_stuck, execution_key, next_calls
from assent.present.outlook import DecisionReply
from assent.tools import client_dialog
from assent.tools.arguments import (
    Cursor,
    PageSize,
    RunIdArgument,
    addresses,
    moment,
)
from assent.tools.client_dialog import (
    ApproveAction,
    AskedQuestion,
    EditAction,
    RejectAction,
    WithdrawApproval,
)
from assent.tools.definition import DECIDES, READS, Call, InputRequired, Tool
from assent.use_cases import decisions, executions
from assent.use_cases.decisions import DecisionOrder

SCOPE = "actions:decide"


class ListPendingActions(Arguments, kw_only=True):
    run_id: RunIdArgument | None = None
    cursor: Cursor | None = None
    limit: PageSize = 50


class PendingActions(WireRecord, kw_only=True):
    ok: bool
    actions: tuple[ActionRecord, ...]
    review_urls: dict[str, str]
    next_cursor: str | None
    stop_rule: str
    show: str
    next: tuple[SuggestedCall, ...]
    """For each pending action, the decisions about the listed content that the caller may make."""


async def approve_action(call: Call, request: ApproveAction) -> DecisionReply | InputRequired:
    """Approve an action by its id (E20). No other tool approves; it must be one's own (E69).

    The approval is the one that the agent passes on. If the policy asks for `client`, the client asks
    its person, and that is recorded instead.
    """
    services, action_id = call.services, require_action_id(request.action_id)
    action, outlook = await circumstances.read_action(services, call.caller, action_id)
    if action.view.approval_executes and EXECUTE_RIGHT not in call.caller.scopes:
        raise lack_scope(EXECUTE_RIGHT)
    readiness = outlook.readiness_of(action.effect)
    sends = request.send and action.view.executes != "agent"  # with those the agent goes on itself

    async def approve(asked: AskedQuestion | None) -> DecisionReply:
        async def write(begin: Begin[Action]) -> DecisionReply:
            present = outlook
            if not readiness.ready:
                # It may have become ready: it was asked again.
                _, present = await circumstances.read_action(services, call.caller, action_id)

            def answer() -> Transaction[DecisionReply]:
                return present.answer_decision((yield from begin()), "approve")

            once = (
                client_dialog.approve_once(call, asked, DecisionReply, answer)
                if asked is not None
                else answer
            )
            return await call.write_once(request, once, DecisionReply)

        decider, seen = decider_for(call), SeenVersion(digest=request.digest)
        if asked is not None:
            decider = client_dialog.make_decider(call, asked)
            seen = SeenVersion(asked.revision, asked.digest)
        wish = DecisionOrder(decider, action, seen, send=sends and EXECUTE_RIGHT in call.caller.scopes)
        return await decisions.approve(services, wish, write, by_job=False, readiness=readiness)

    asked: AskedQuestion | InputRequired | Action | None = None
    if call.dialog is not None and call.dialog.state is not None:
        asked = await client_dialog.find_confirmed(call, request, action)
    if asked is None:
        try:
            answer = await approve(None)
        except Refusal as refusal:
            asked = await client_dialog.ask(call, request, refusal)
    if isinstance(asked, InputRequired):
        return asked
    if isinstance(asked, AskedQuestion):
        answer = await approve(asked)
    elif asked is not None:
        answer = outlook.answer_decision(asked, "approve")
    return await _send(call, answer) if sends else answer


async def _send(call: Call, answer: DecisionReply) -> DecisionReply:
    """Execute the approved action, or say why it was not sent. The approval is kept either way."""
    if answer.status != "approved" or EXECUTE_RIGHT not in call.caller.scopes:
        return msgspec.structs.replace(answer, sent=False)
    action_id = ActionId(answer.action_id)
    action, _ = await call.services.store.read(lambda: actions.find(call.caller.workspace_id, action_id))
    approval = action.approval
    if approval is None or (action.digest, iso_time(approval.at_ms)) != (answer.digest, answer.approved_at):
        # A repeated call: its approval was for earlier content.
        return msgspec.structs.replace(answer, sent=False, user_message=OVERTAKEN, show=OVERTAKEN)
    order = ExecutionOrder(
        workspace_id=call.caller.workspace_id,
        action_id=action_id,
        tool=EXECUTE,
        by=call.caller.name,
        key=execution_key(answer.action_id, answer.revision),
        approval=approval.since,
        holder=call.caller.holder,
    )
    try:
        done = await executions.execute(call.services, order)
    except Refusal as refusal:
        return await _not_sent(call, answer, refusal)
    return msgspec.structs.replace(
        answer,
        sent=True,
        status=done.status,
        execution_state="done",
        external_url=done.external_url if isinstance(done.external_url, str) else None,
        user_message=f"Approved. {done.user_message}",
        show=f"Approved. {done.show}",
        next=done.next,
        replay=done.replay,
    )


OVERTAKEN = (
    "Nothing was sent: this approval was for an earlier version. Read the current one and decide about it."
)


async def _not_sent(call: Call, answer: DecisionReply, refusal: Refusal) -> DecisionReply:
    """Say why the action was not sent, with the action as the attempt left it."""
    completed = await circumstances.complete(call.services, call.caller, refusal, {})
    why, action_id = completed.recovery(), ActionId(answer.action_id)
    action, outlook = await circumstances.read_action(call.services, call.caller, action_id)
    present = outlook.answer_decision(action, "approve")
    unknown = action.execution_state in (ExecutionState.OUTCOME_UNKNOWN, ExecutionState.EXECUTING)
    said = (
        why.user_message
        if unknown or action.status != "approved"
        else f"It was not sent: {why.user_message.removeprefix('Nothing was sent: ')}"
    )
    if action.approval is not None:
        said = f"Approved. {said}"
    if (stuck := describe_stuck(action, outlook.describe(action), call.now_ms)) is not None:
        said = stuck
    return msgspec.structs.replace(
        present,
        sent=msgspec.UNSET if unknown else False,
        not_sent=why,
        user_message=said,
        show=why.show if isinstance(why.show, str) else said,
        replay=why.replay,
    )


async def reject_action(call: Call, request: RejectAction) -> DecisionReply:
    """Reject an action by its id, with a reason (E20)."""
    action_id = require_action_id(request.action_id)
    action, outlook = await circumstances.read_action(call.services, call.caller, action_id)
    wish = DecisionOrder(decider_for(call), action, SeenVersion(digest=request.digest))
    write = call.answering(request, lambda done: outlook.answer_decision(done, "reject"), DecisionReply)
    return await decisions.reject(call.services.clock, wish, request.reason, write)


async def withdraw_approval(call: Call, request: WithdrawApproval) -> DecisionReply:
    action_id = require_action_id(request.action_id)
    action, outlook = await circumstances.read_action(call.services, call.caller, action_id)
    wish = DecisionOrder(decider_for(call), action, ANY_CONTENT)
    write = call.answering(request, lambda done: outlook.answer_decision(done, "withdraw"), DecisionReply)
    return await decisions.withdraw(call.services.clock, wish, request.reason, write)


async def edit_action(call: Call, request: EditAction) -> DecisionReply:
    action_id = require_action_id(request.action_id)
    changes: dict[str, Any] = {
        name: value
        for name in ("title", "subject", "preheader", "body")
        if (value := getattr(request, name)) is not None
    }
    if request.arguments is not None:
        changes["arguments"] = request.arguments
    if request.to is not None:
        changes["recipients"] = addresses("to", request.to)
    if request.image_asset_id is not None:
        changes["media"] = await _pick(call, action_id, request.image_asset_id)
    schedule_ms = moment("scheduleFor", request.schedule_for) if request.schedule_for is not None else None
    if not changes and schedule_ms is None:
        raise bad_argument(
            "body",
            "at least one of body, title, subject, preheader, to, imageAssetId, arguments, scheduleFor",
            "no change",
        )
    before, outlook = await circumstances.read_action(call.services, call.caller, action_id)
    if not outlook.describe(before).may_edit:
        expected = "an action of this key: a person changes others on the review page"
        raise bad_argument("actionId", expected, "the call of another key")
    found = call.services.effects.find(before.effect)
    if schedule_ms is not None and found is not None and not found.schedulable:
        raise bad_argument("scheduleFor", "no time: this is done when it is executed", "a time")
    write = call.answering(request, lambda done: outlook.answer_decision(done, "edit"), DecisionReply)
    return await decisions.edit(
        call.services,
        DecisionOrder(decider_for(call), before, SeenVersion(digest=request.digest)),
        changes,
        lambda begin: write(call.metered(begin)),
        schedule_ms=schedule_ms,
        asked=request.asked or "",
        key_of=call.caller.person_id,
    )


async def _pick(call: Call, action_id: ActionId, asset_id: str) -> tuple[Media, ...]:
    def look() -> Transaction[tuple[Media, ...]]:
        action, _ = yield from actions.find(call.caller.workspace_id, action_id)
        return (yield from pictures.pick(action, asset_id, call.services.links.base_url))

    return await call.services.store.read(look)


async def list_pending_actions(call: Call, request: ListPendingActions) -> PendingActions:
    workspace_id = call.caller.workspace_id
    if request.run_id is not None:
        run_id = require_run_id(request.run_id)
        found = await call.services.store.read(lambda: actions.run_actions(workspace_id, run_id))
        shown = tuple(
            a
            for a in found
            if (a.status == "awaiting_approval" and not is_expired(a, call.now_ms))
            or a.execution_state == "outcome_unknown"
        )
        cursor = None
    else:
        after = request.cursor or ""
        shown = await call.services.store.read(
            lambda: actions.waiting(workspace_id, after, request.limit + 1, call.now_ms)
        )
        cursor = shown[request.limit - 1].action_id if len(shown) > request.limit else None
        shown = shown[: request.limit]
    outlook = await circumstances.read_outlook(call.services, call.caller, shown)
    shown = tuple(outlook.refresh(action) for action in shown)
    keyed = {key: (action, outlook.describe(action)) for key, action in channel_keys(shown).items()}
    return PendingActions(
        ok=True,
        actions=tuple(build_record(action, call.now_ms) for action in shown),
        review_urls={
            run_id: call.review_url(run_id) for run_id in dict.fromkeys(action.run_id for action in shown)
        },
        next_cursor=cursor,
        stop_rule="Show what waits and stop: only the human decides.",
        show="\n\n---\n\n".join(render_card(key, *of) for key, of in keyed.items())
        or "Nothing waits for you.",
        next=tuple(each for key, of in keyed.items() for each in next_calls(key, *of)),
    )


def decider_for(call: Call) -> Decider:
    return Decider(call.caller.workspace_id, call.caller.name, Assurance.AGENT, "chat")


TOOLS = (
    Tool(
        name="chieflab_approve_action",
        title="Approve an action",
        description="Records that the user approves one staged action, bound to its current content. USE WHEN the "
        "user has read the content and said yes to it (approve it, looks good, go ahead), in this chat; digest says "
        "which content that was, and is needed once it was edited. With send: true it goes out in the same call, "
        "which is right when the user said so; else nothing is sent, unless its card says that the approval executes "
        "it. High-risk actions are refused here and need a signed-in person on the review page. DO NOT call it on "
        "your own judgement.",
        category="review",
        behaviour=DECIDES,
        request=ApproveAction,
        reply=DecisionReply,
        handler=approve_action,
        scope=SCOPE,
        keyed_as="ApproveAction",
    ),
    Tool(
        name="chieflab_reject_action",
        title="Reject an action",
        description="Records that the user does not want a staged action or draft, with their reason. It can never "
        "be sent afterwards. USE WHEN the user said no, rejects it or does not want it published; for changes use "
        "chieflab_edit_action.",
        category="review",
        behaviour=DECIDES,
        request=RejectAction,
        reply=DecisionReply,
        handler=reject_action,
        scope=SCOPE,
        keyed_as="RejectAction",
    ),
    Tool(
        name="chieflab_edit_action",
        title="Edit an action",
        description="Changes the text, title, subject or recipients of a staged action as the user asked. It then "
        "waits for approval again, also if it was approved before. USE WHEN the user wants something changed: "
        "rewrite a headline, make a text shorter, fix a typo. Paste show, which is the new content, and wait.",
        category="review",
        behaviour=DECIDES,
        request=EditAction,
        reply=DecisionReply,
        handler=edit_action,
        scope=SCOPE,
        keyed_as="EditAction",
    ),
    Tool(
        name="chieflab_withdraw_approval",
        title="Withdraw an approval",
        description="Takes back the approval of an action that has not been sent. It waits for approval again. USE "
        "WHEN the user changes their mind after approving.",
        category="review",
        behaviour=DECIDES,
        request=WithdrawApproval,
        reply=DecisionReply,
        handler=withdraw_approval,
        scope=SCOPE,
        keyed_as="WithdrawApproval",
    ),
    Tool(
        name="chieflab_list_pending_actions",
        title="List what waits for the human",
        description="Lists the actions that need a human: waiting for approval, or with an unknown outcome. USE WHEN "
        "the user asks to show what is open, what is waiting or what needs approval, or you lost track after a "
        "rewind. Gives the review link of each run as a fallback.",
        category="review",
        behaviour=READS,
        request=ListPendingActions,
        reply=PendingActions,
        handler=list_pending_actions,
    ),
)
