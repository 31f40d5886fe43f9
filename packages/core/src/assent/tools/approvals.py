"""Tools for decisions that an agent relays (C8).

A decision made here has the assurance `agent`: the server knows that a key of the workspace asked
for it, not that a person did, and records that. Where the policy asks for `client`, an approval is
confirmed in the client's own dialog (`tools/client_dialog.py`). The review page calls the same engine
functions with a signed-in person.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, circumstances, pictures
from assent.engine.actions.execution import ExecutionOrder
from assent.gate.effects import EXECUTE
from assent.gate.gate import ANY_CONTENT, Decider, SeenVersion
from assent.gate.records import Action, Assurance, ExecutionState, Media, PlannedTime, is_with_agent, name_of
from assent.gate.review_link import EXECUTE_RIGHT
from assent.kernel.canonical import short_digest
from assent.kernel.guide import Guide, SuggestedCall, join_guides, make_guide
from assent.kernel.ids import ActionId, require_action_id, require_run_id
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.kernel.structs import Arguments, WireRecord, from_record
from assent.kernel.times import iso_time
from assent.ports import Begin, Transaction
from assent.present.cards import render_card
from assent.present.guidance import name_all
from assent.present.next_steps import execution_key, list_calls
from assent.present.outlook import DecisionReply
from assent.tools import client_dialog
from assent.tools.arguments import Cursor, PageSize, RunIdArgument, TenantIdArgument, require_addresses
from assent.tools.client_dialog import (
    ApproveAction,
    AskedQuestion,
    EditAction,
    RejectAction,
    ShownContent,
    WithdrawApproval,
)
from assent.tools.definition import DECIDES, READS, Call, InputRequired, Tool
from assent.use_cases import decisions, executions
from assent.use_cases.decisions import DecisionOrder

SCOPE: Final = "actions:decide"


class ListPendingActions(Arguments, kw_only=True):
    run_id: RunIdArgument | None = None
    tenant_id: TenantIdArgument | None = None
    cursor: Cursor | None = None
    limit: PageSize = 50


class WaitingAction(WireRecord):
    """An action that needs a person. Its text is shown under its name; chieflab_get_action has its record."""

    id: str
    name: str
    digest: str
    severity: str


class PendingActions(WireRecord, kw_only=True):
    ok: bool
    actions: tuple[WaitingAction, ...]
    review_url: str
    """The page with all of it: of the run, if it is one, else the inbox."""
    next_cursor: str | None
    user_message: str
    stop_rule: str
    agent_guide: Guide | msgspec.UnsetType


class JudgedApproval(WireRecord, kw_only=True, omit_defaults=True):
    """What became of one of several actions."""

    action_id: str
    name: str
    status: str
    sent: bool | msgspec.UnsetType = msgspec.UNSET
    external_url: str | msgspec.UnsetType | None = msgspec.UNSET
    reason: str | msgspec.UnsetType = msgspec.UNSET
    """Why it was not approved."""


class ApprovedActions(WireRecord, kw_only=True, omit_defaults=True):
    ok: bool
    results: tuple[JudgedApproval, ...]
    user_message: str
    stop_rule: str
    review_url: str | msgspec.UnsetType = msgspec.UNSET
    """The page on which a person decides what is left."""
    agent_guide: Guide | msgspec.UnsetType = msgspec.UNSET
    """What is left to be shown, and the most likely call for each action."""


async def approve(call: Call, request: ApproveAction) -> DecisionReply | InputRequired | ApprovedActions:
    """Approve one action, or several, each of which is judged alone."""
    if request.actions is None:
        return await approve_action(call, request)
    if request.action_id or request.digest is not None:
        raise bad_argument("actions", "either actionId with its digest, or actions", "both")
    await call.write_once(request, _begin_list, type(None))
    judged = [await _judge(call, request, shown) for shown in request.actions]
    left = [each.name for each, *_ in judged if each.reason == Reason.REQUIRES_APPROVAL]
    said = [f"{each.name}: {words}" for each, words, _ in judged]
    if left:
        said.append(f"Left for a person on the review page: {', '.join(left)}.")
    return ApprovedActions(
        ok=True,
        results=tuple(each for each, *_ in judged),
        user_message="\n".join(said),
        stop_rule="Do only what the human just decided.",
        review_url=f"{call.services.links.base_url}/inbox" if left else msgspec.UNSET,
        agent_guide=join_guides([guide for *_, guide in judged]),
    )


def _begin_list() -> Transaction[None]:
    """Bind the idempotency key to this list. The answers are kept with each action's own key."""
    yield from ()


Judged = tuple[JudgedApproval, str, Guide | msgspec.UnsetType]
"""What became of an action, in words, and what may follow."""


async def _judge(call: Call, request: ApproveAction, shown: ShownContent) -> Judged:
    """Approve one of several, and say what became of it. No client is asked: what needs its person is left for
    them."""
    key, name = request.idempotency_key, shown.action_id
    one = ApproveAction(
        action_id=shown.action_id,
        digest=shown.digest,
        send=request.send,
        idempotency_key=f"{key}/{shown.action_id}" if key is not None else None,
    )
    try:
        action_id = require_action_id(shown.action_id)
        action, _ = await call.services.store.read(lambda: actions.find(call.caller.workspace_id, action_id))
        name = name_of(action)
        answer = await approve_action(dataclasses.replace(call, dialog=None), one)
    except Refusal as refusal:
        why = (await circumstances.complete(call.services, call.caller, refusal, {})).recovery()
        status = why.status if isinstance(why.status, str) else ""
        judged = JudgedApproval(action_id=shown.action_id, name=name, status=status, reason=why.reason)
        return judged, why.user_message, why.agent_guide
    if isinstance(answer, InputRequired):
        raise TypeError("a call without a dialog asks no client")
    judged = from_record(JudgedApproval, answer, name=name, reason=msgspec.UNSET)
    return judged, answer.user_message, answer.agent_guide


async def approve_action(call: Call, request: ApproveAction) -> DecisionReply | InputRequired:
    """Approve an action by its id (E20). No other tool approves; it must be one's own (E69).

    The approval is the one that the agent passes on. If the policy asks for `client`, the client asks
    its person, and that is recorded instead.
    """
    services, action_id = call.services, require_action_id(request.action_id)
    action, outlook = await circumstances.read_action(services, call.caller, action_id)
    if action.view.approval_executes:
        call.caller.require(EXECUTE_RIGHT)
    readiness = outlook.readiness_of(action.effect)
    sends = request.send and action.view.executes != "agent"  # with those the agent goes on itself

    async def approve_as(asked: AskedQuestion | None) -> DecisionReply:
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
            answer = await approve_as(None)
        except Refusal as refusal:
            asked = await client_dialog.ask(call, request, refusal)
    if isinstance(asked, InputRequired):
        return asked
    if isinstance(asked, AskedQuestion):
        answer = await approve_as(asked)
    elif asked is not None:
        answer = outlook.answer_decision(asked, "approve")
    return await _send(call, answer) if sends else answer


async def _send(call: Call, answer: DecisionReply) -> DecisionReply:
    """Execute the approved action, or say why it was not sent. The approval is kept either way."""
    if answer.status != "approved" or EXECUTE_RIGHT not in call.caller.scopes:
        return msgspec.structs.replace(answer, sent=False)
    action_id = ActionId(answer.action_id)
    action, _ = await call.services.store.read(lambda: actions.find(call.caller.workspace_id, action_id))
    if (action.schedule_ms or 0) > call.now_ms:
        return msgspec.structs.replace(answer, sent=False)  # the server sends it at its time
    approval = action.approval
    meant = answer.digest, answer.approved_at
    if approval is None or (short_digest(action.digest), iso_time(approval.at_ms)) != meant:
        # A repeated call: its approval was for earlier content.
        return msgspec.structs.replace(answer, sent=False, user_message=OVERTAKEN)
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
        agent_guide=done.agent_guide,
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
        else f"It was not sent: {why.user_message.removeprefix('Nothing was sent').lstrip('.: ')}"
    )
    if action.approval is not None:
        said = f"Approved. {said}"
    return msgspec.structs.replace(
        present,
        sent=msgspec.UNSET if unknown else False,
        not_sent=msgspec.structs.replace(why, agent_guide=msgspec.UNSET, review_url=msgspec.UNSET),
        user_message=said,
        agent_guide=why.agent_guide,
        review_url=why.review_url,
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


KEPT: Final = "What you asked for is kept for later {label} texts."


async def edit_action(call: Call, request: EditAction) -> DecisionReply:
    action_id = require_action_id(request.action_id)
    changes: dict[str, Any] = {
        name: value
        for name in ("title", "subject", "preheader", "body", "visible")
        if (value := getattr(request, name)) is not None
    }
    if request.arguments is not None:
        changes["arguments"] = request.arguments
    if request.to is not None:
        changes["recipients"] = require_addresses("to", request.to)
    if request.cc is not None:
        changes["cc"] = require_addresses("cc", request.cc)
    if request.reply_to is not None:
        changes["reply_to"] = "".join(
            require_addresses("replyTo", [request.reply_to] if request.reply_to else [])
        )
    if request.image_asset_id is not None:
        changes["media"] = await _pick(call, action_id, request.image_asset_id)
    due = PlannedTime.read("scheduleFor", request.schedule_for)
    if not changes and due is None:
        raise bad_argument(
            "body",
            "at least one of body, title, subject, preheader, to, cc, replyTo, visible, imageAssetId, arguments, "
            "scheduleFor",
            "no change",
        )
    before, outlook = await circumstances.read_action(call.services, call.caller, action_id)
    if not outlook.describe(before).may_edit:
        expected = "an action of this key: a person changes others on the review page"
        raise bad_argument("actionId", expected, "the call of another key")
    found = call.services.effects.find(before.effect)
    if due is not None and found is not None and not found.schedulable:
        raise bad_argument("scheduleFor", "no time: this is done when it is executed", "a time")

    def answer(done: Action) -> DecisionReply:
        reply = outlook.answer_decision(done, "edit")
        if not request.asked or not (before.keeps_requests and done.keeps_requests):
            return reply
        return msgspec.structs.replace(
            reply, user_message=f"{reply.user_message} {KEPT.format(label=done.view.label)}"
        )

    write = call.answering(request, answer, DecisionReply)
    return await decisions.edit(
        call.services,
        DecisionOrder(decider_for(call), before, SeenVersion(digest=request.digest)),
        changes,
        lambda begin: write(call.metered(begin)),
        due=due,
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

        def look() -> Transaction[tuple[Action, ...]]:
            found = yield from actions.run_actions(workspace_id, run_id)
            return (yield from actions.weigh(workspace_id, found, call.now_ms))

        found = await call.services.store.read(look)
        shown = tuple(
            a
            for a in found
            if (a.status == "awaiting_approval" and not a.is_expired(call.now_ms))
            or a.execution_state == "outcome_unknown"
        )
        cursor = None
    else:
        after = request.cursor or ""
        shown = await call.services.store.read(
            lambda: actions.waiting(workspace_id, after, request.limit + 1, call.now_ms, request.tenant_id)
        )
        cursor = shown[request.limit - 1].action_id if len(shown) > request.limit else None
        shown = shown[: request.limit]
    outlook = await circumstances.read_outlook(call.services, call.caller, shown)
    named = {name: (action, outlook.describe(action)) for name, action in name_all(shown).items()}
    back = sum(map(is_with_agent, shown))
    left = len(shown) - back
    count = "One action waits" if left == 1 else f"{left or 'No'} actions wait"
    changes = f" Changes were asked for in {back}." if back else ""
    return PendingActions(
        ok=True,
        actions=tuple(_view_waiting(name, action) for name, (action, _) in named.items()),
        review_url=_find_page(call, shown),
        next_cursor=cursor,
        user_message=f"{count} for you{', and there are more' if cursor else ''}.{changes}",
        stop_rule="Show what waits and stop: only the human decides.",
        agent_guide=make_guide(
            {name: render_card(*pair) for name, pair in named.items()},
            (*list_calls(tuple(named.values())), *((SHOW_ONE,) if len(named) > 1 else ())),
        ),
    )


SHOW_ONE: Final = SuggestedCall(
    "chieflab_get_action", {}, "the user asks about one", {"actionId": "its id, from actions"}
)


def _view_waiting(name: str, action: Action) -> WaitingAction:
    return WaitingAction(
        action.action_id,
        name,
        short_digest(action.digest),
        action.preflight.severity,
    )


def _find_page(call: Call, shown: tuple[Action, ...]) -> str:
    runs = {action.run_id for action in shown}
    return call.review_url(runs.pop()) if len(runs) == 1 else f"{call.services.links.base_url}/inbox"


def decider_for(call: Call) -> Decider:
    caller = call.caller
    return Decider(caller.workspace_id, caller.name, Assurance.AGENT, "chat", test=caller.is_test)


TOOLS = (
    Tool(
        name="chieflab_approve_action",
        title="Approve an action",
        description="Records that the user approves one staged action, bound to its current content. USE WHEN the "
        "user has read the content and said yes to it (ok, approve it, looks good, go ahead), in this chat; digest "
        "says which content that was. With send: true it goes out in the same call, which is right when the user said "
        "so; else nothing is sent, unless its card says that the approval executes it. High-risk actions need a "
        "signed-in person on the review page instead, as does the yes of someone else. DO NOT call it on your own "
        "judgement.",
        behaviour=DECIDES,
        request=ApproveAction,
        reply=DecisionReply,
        handler=approve,
        scope=SCOPE,
        keyed_as="ApproveAction",
    ),
    Tool(
        name="chieflab_reject_action",
        title="Reject an action",
        description="Records that the user does not want a staged action or draft, with their reason. It can never be "
        "sent afterwards. USE WHEN the user said no, rejects or scraps it, throws it away or does not want it "
        "published; for changes use chieflab_edit_action.",
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
        description="Changes the text, title, subject, recipients or time of a staged action as the user asked. It "
        "then waits for approval again. USE WHEN the user wants something changed: rewrite a headline, make a text "
        "shorter or warmer, a typo, a wrong date, someone to put in, postpone or move it to another day. Show the new "
        "content and wait.",
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
        description="Takes back the approval of an action that has not been sent, which then needs a new one. USE "
        "WHEN the user changes their mind after a yes: stop, don't send it, wait, cancel, undo, hold it back, pull "
        "it. A person stops all sending at once, on the pages.",
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
        "the user asks to show what is open, what is waiting, left to decide, review or sign off, or what needs "
        "approval, or wants to approve everything, or you lost track after a rewind.",
        behaviour=READS,
        request=ListPendingActions,
        reply=PendingActions,
        handler=list_pending_actions,
    ),
)
