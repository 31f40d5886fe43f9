"""The client asks the person, where the policy asks for the assurance `client` (C8).

The server sends the content to the client, which shows it in a dialog of its own; the agent does not
take part. A client may answer without a person, so a yes never counts for more than `client`, and a no
is never a rejection: without a yes nothing changes, and the review link remains.

A legacy client on stdio answers while the call waits. Since 2026-07-28 the client repeats the call
with the answer and with the state that the server gave it. The state is signed. It binds the caller,
the arguments, the version of the action and its content, and it ends after minutes. The store keeps
its number with the answer: the same answer gets the stored reply again, another answer is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from assent.engine.actions import actions, idempotency
from assent.gate.gate import Decider
from assent.gate.policy import client_decides, satisfies
from assent.gate.records import WORKFLOW, Action, Assurance
from assent.kernel import canonical
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import (
    MAX_ASKED_CHARS,
    MAX_CONTENT_CHARS,
    MAX_EMAIL_CHARS,
    MAX_NAME_CHARS,
    MAX_RECIPIENTS,
    MAX_VISIBLE,
    SECOND_MS,
)
from assent.kernel.refusals import Problem, Reason, Refusal, Words
from assent.kernel.structs import Arguments, Record
from assent.kernel.tokens import TokenInvalid
from assent.ports import Begin, Transaction
from assent.present.cards import explain_no_dialog, render_question
from assent.present.refusals import describe_freeze, needs_approval, refuse_stale
from assent.sql.loader import statements
from assent.tools.arguments import ActionIdArgument, DigestArgument, IdempotencyKey
from assent.tools.definition import Call, DialogAnswer, InputRequired, Question, T

# The arguments of the tools that decide about an action.

MOST_AT_ONCE: Final = 50


class ShownContent(Arguments, kw_only=True):
    """An action, and which content of it the user read."""

    action_id: str
    digest: str


class ApproveAction(Arguments, kw_only=True):
    action_id: ActionIdArgument = ""
    digest: DigestArgument | None = None
    actions: (
        Annotated[
            list[ShownContent],
            msgspec.Meta(
                min_length=1,
                max_length=MOST_AT_ONCE,
                description="Several that the user approved, instead of actionId; each is judged alone.",
            ),
        ]
        | None
    ) = None
    send: Annotated[
        bool,
        msgspec.Meta(description="true sends it at once, if the user said yes to that, too."),
    ] = False
    idempotency_key: IdempotencyKey | None = None


class RejectAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    reason: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=2_000, description="The user's reason, in the user's words."),
    ]
    digest: DigestArgument | None = None
    idempotency_key: IdempotencyKey | None = None


class WithdrawApproval(Arguments, kw_only=True):
    action_id: ActionIdArgument
    reason: Annotated[str, msgspec.Meta(max_length=2_000, description="Why.")] = ""
    idempotency_key: IdempotencyKey | None = None


class EditAction(Arguments, kw_only=True):
    action_id: ActionIdArgument
    body: (
        Annotated[
            str, msgspec.Meta(min_length=1, max_length=MAX_CONTENT_CHARS, description="The new text, whole.")
        ]
        | None
    ) = None
    title: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    subject: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    preheader: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    to: Annotated[list[str], msgspec.Meta(max_length=MAX_RECIPIENTS)] | None = None
    cc: Annotated[list[str], msgspec.Meta(max_length=MAX_VISIBLE)] | None = None
    reply_to: Annotated[str, msgspec.Meta(max_length=MAX_EMAIL_CHARS + MAX_NAME_CHARS)] | None = None
    visible: bool | None = None
    schedule_for: (
        Annotated[
            str,
            msgspec.Meta(max_length=40, description="When it goes out: ISO 8601 with a time zone, or now."),
        ]
        | None
    ) = None
    image_asset_id: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=100, description="An image asset that goes along; an empty text for none."
            ),
        ]
        | None
    ) = None
    arguments: (
        Annotated[
            dict[str, Any],
            msgspec.Meta(
                description="For an action that has arguments: those that change, by their names in its content."
            ),
        ]
        | None
    ) = None
    asked: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=MAX_ASKED_CHARS,
                description="What the user asked for, in their words, if it holds for later texts too.",
            ),
        ]
        | None
    ) = None
    digest: DigestArgument | None = None
    idempotency_key: IdempotencyKey | None = None


TOOL: Final = "chieflab_approve_action"
VIA: Final = "client dialog"
KEYED_AS: Final = "ClientDialog"
NONCE_BYTES: Final = 16

NO: Final = "do not approve"
YES: Final = "approve"
CHOICES: Final = (NO, YES)
"""A client that preselects the first choice preselects no approval."""

_WAITS: Final = "It still waits for your decision: nothing was approved, rejected or sent."
_DECIDE_THERE: Final = "You can decide on the review page."
_STOP: Final = "Do not approve, reject or send this action because of this answer."

_NOT_CONFIRMED: Final = {
    "accept": "The dialog came back without a choice.",
    "decline": "The dialog did not bring your approval.",
    "cancel": "The dialog was closed without an answer.",
    "no_answer": "The dialog was not answered in time.",
    "busy": "Other dialogs still wait for your answer.",
}
"""Why there is no approval, by what the client reported."""


class AskedQuestion(Record):
    """A question in a client's dialog: for whom, about what, and until when."""

    workspace_id: WorkspaceId
    holder: str
    arguments: str
    """The digest of the tool's name and the call's arguments."""
    action_id: ActionId
    version: int
    """Every change of the action raises it, also a decision elsewhere."""
    revision: int
    digest: str
    asked_ms: int
    expires_ms: int
    nonce: str


async def ask(call: Call, request: ApproveAction, refusal: Refusal) -> AskedQuestion | InputRequired | Action:
    """Have the client ask its person about the present content, after the agent's approval was refused.

    Returns the confirmed question; or the reply that makes the client ask; or the action, if it is
    approved already. Raises the refusal where no dialog helps, and another one without a yes.
    """
    if refusal.reason is not Reason.REQUIRES_APPROVAL:
        raise refusal
    workspace_id, action_id = call.caller.workspace_id, ActionId(request.action_id)
    action, policy, frozen = await call.services.store.read(
        lambda: actions.find_with_freeze(workspace_id, action_id)
    )
    needed, held = policy.require(action), action.approval
    if not client_decides(needed):
        raise refusal
    if (
        held is not None
        and satisfies(action, held, needed, call.now_ms)
        and call.services.keys.seals.hold(action)
    ):
        return action
    why = explain_no_dialog(action) if call.dialog is not None else "Your chat program cannot ask you itself."
    if call.dialog is None or why is not None:
        raise needs_approval(action, _describe_no_dialog(why or ""))
    seconds = call.services.limits.client_dialog_seconds
    asked = AskedQuestion(
        workspace_id=workspace_id,
        holder=call.caller.holder,
        arguments=_digest_arguments(request),
        action_id=action.action_id,
        version=action.version,
        revision=action.revision,
        digest=action.digest,
        asked_ms=call.now_ms,
        expires_ms=call.now_ms + int(seconds * SECOND_MS),
        nonce=call.services.entropy(NONCE_BYTES).hex(),
    )
    stopped = describe_freeze(frozen, action)
    question = Question(_write_message(action, stopped, send=request.send), CHOICES)
    if call.dialog.ask is None:
        return InputRequired(question, call.services.keys.client_dialogs.sign(msgspec.json.encode(asked)))
    if call.peer is not None:
        call.peer.step_aside()
    _require_yes(call, await call.dialog.ask(question, seconds), action)
    return asked


async def find_confirmed(call: Call, request: ApproveAction, action: Action) -> AskedQuestion | None:
    """Return the question that the person confirmed before the client repeated this call; None if the
    call brings no answer. Raises `Refusal` for a state that is not this call's, and without a yes."""
    dialog = call.dialog
    if dialog is None or dialog.state is None:
        return None
    asked = _read_state(call, request, dialog.state)
    if asked.expires_ms <= call.now_ms:
        raise _refuse_unconfirmed(call, "no_answer", action)
    if dialog.answer is None:
        return None
    if not _is_yes(dialog.answer):
        await call.services.store.write(lambda: _use(call, asked))
    _require_yes(call, dialog.answer, action)
    return asked


def approve_once(call: Call, asked: AskedQuestion, reply: type[T], approve: Begin[T]) -> Begin[T]:
    """Wrap the transaction of an approval: it runs once per question, and only if the action is still
    as it was when the person was asked. A repeated yes gets the first answer."""

    def approve_unchanged() -> Transaction[T]:
        action, *_ = yield from actions.lock(asked.workspace_id, asked.action_id)
        if action.version != asked.version:
            raise refuse_stale(action, user_message=CHANGED_MEANWHILE)
        return (yield from approve())

    return lambda: _once(call, asked, YES, reply, approve_unchanged)


CHANGED_MEANWHILE: Final = (
    "This was decided or changed elsewhere while the dialog was open, so your answer was not used. Look at it as it is "
    "now."
)


def make_decider(call: Call, asked: AskedQuestion) -> Decider:
    """The client names no person, so the decider is the user of the client."""
    caller, key_id = call.caller, call.caller.key_id
    where = f"with key {key_id}" if key_id is not None else "on this computer"
    by = f"the user of the client {where}"
    shown_ms, test = asked.asked_ms, caller.is_test
    return Decider(caller.workspace_id, by, Assurance.CLIENT, VIA, shown_ms=shown_ms, test=test)


def _write_message(action: Action, stopped: str, *, send: bool) -> str:
    if stopped:
        then = f"If you approve, it stays approved and nothing is sent now. {stopped}"
    elif action.effect.connector == WORKFLOW:
        then = "If you approve, the workflow goes on."
    elif action.view.executes == "agent":
        then = "If you approve, your agent runs it once, exactly as it is here."
    elif action.view.executes == "person":
        then = "If you approve, you do it by hand afterwards."
    elif action.schedule_ms is not None:
        then = "If you approve, it goes out at its time."
    elif send or action.view.approval_executes:
        then = "If you approve, it is executed at once."
    else:
        then = "If you approve, nothing is sent yet."
    return f"Do you approve this? {then}\n\n{render_question(action)}"


def _digest_arguments(request: ApproveAction) -> str:
    return canonical.digest([TOOL, msgspec.to_builtins(request)])


def _read_state(call: Call, request: ApproveAction, state: str) -> AskedQuestion:
    """Return the question of a state. Raises `Refusal` unless this server gave it to this caller for
    these arguments."""
    try:
        asked = msgspec.json.decode(call.services.keys.client_dialogs.verify(state), type=AskedQuestion)
    except (TokenInvalid, msgspec.DecodeError):
        raise _refuse_state("something else") from None
    caller = call.caller
    if (asked.workspace_id, asked.holder) != (caller.workspace_id, caller.holder):
        raise _refuse_state("the state of another caller")
    if asked.arguments != _digest_arguments(request):
        raise _refuse_state("the state of another call")
    return asked


def _is_yes(answer: DialogAnswer) -> bool:
    return answer.action == "accept" and answer.choice == YES


def _require_yes(call: Call, answer: DialogAnswer, action: Action) -> None:
    """Raise `Refusal` unless the person chose to approve."""
    if not _is_yes(answer):
        declined = answer.action == "accept" and answer.choice == NO
        raise _refuse_unconfirmed(call, "decline" if declined else answer.action, action)


def _use(call: Call, asked: AskedQuestion) -> Transaction[dict[str, Any]]:
    """Record that a question was answered without a yes, so that no later yes can use it."""

    def nothing() -> Transaction[dict[str, Any]]:
        yield statements.ping()
        return {}

    return (yield from _once(call, asked, NO, dict[str, Any], nothing))


def _once(call: Call, asked: AskedQuestion, choice: str, reply: type[T], begin: Begin[T]) -> Transaction[T]:
    answered = [asked.arguments, choice]
    try:
        return (
            yield from idempotency.run_once(
                call.caller, KEYED_AS, asked.nonce, answered, call.now_ms, reply, begin
            )
        )
    except Refusal as refusal:
        if refusal.reason is not Reason.IDEMPOTENCY_CONFLICT:
            raise
        raise _refuse_state("one that was answered otherwise before") from None


def _refuse_state(got: str) -> Refusal:
    return Refusal(
        Reason.VALIDATION_ERROR,
        words=Words(
            summary="The answer does not belong to this call.",
            user_message="The answer from the dialog does not belong to this and was not used. Nothing was approved.",
            fix="STOP. Call chieflab_approve_action again without requestState and inputResponses, if the user wants "
            "that; the client then asks them again.",
            stop_rule="Do not make up, change or repeat the answer of a dialog.",
        ),
        problems=[Problem("requestState", "the state that this call was answered with", got)],
    )


def _refuse_unconfirmed(call: Call, reported: str, action: Action) -> Refusal:
    what = _NOT_CONFIRMED[reported]
    words = Words(
        summary=what,
        user_message=f"{what} {_WAITS} {_DECIDE_THERE}",
        fix="STOP. This is no rejection: some clients decline without showing anything. Give the user the review link "
        "(reviewUrl) and wait for what they say.",
        stop_rule=_STOP,
    )
    return needs_approval(action, words)


def _describe_no_dialog(why: str) -> Words:
    return Words(
        summary="You have to approve this on the review page.",
        user_message=f"This workspace's policy asks you to confirm this yourself. {why} Open the review link, sign in "
        "there and decide.",
        fix="STOP. Show the content and give the user the review link (reviewUrl): an approval in the chat does not "
        "count for this action.",
        stop_rule="Do not approve, publish or send this action; a person decides it on the review page.",
    )
