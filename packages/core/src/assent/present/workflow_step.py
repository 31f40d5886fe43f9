"""The confirmation of a workflow step: an action that no executor sends, and the calls that follow
a decision.

Its effect is the agent's next advance (W40).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assent.gate.records import CALL, WORKFLOW, Action, Status, is_rewritten, name_of
from assent.kernel.guide import SuggestedCall
from assent.kernel.refusals import Problem, Reason, Refusal, Words

_TOKENS: Final = ("stateToken", "ackToken")
OTHER_CONTENT: Final = {"notesMarkdown": "the other version, with output where the step asks for one"}
"""Arguments that an advance with another version needs."""
_CHANGED_CONTENT: Final = {
    "notesMarkdown": "the text as it was changed, with output where the step asks for one"
}
_AS_SENT: Final = "as in the call that was refused"


def refuse_confirmation(action: Action) -> None:
    """Raise `Refusal` for a confirmation: its effect is the next advance, not a send (W40)."""
    if action.effect.connector == WORKFLOW:
        raise Refusal(
            Reason.VALIDATION_ERROR,
            action_id=action.action_id,
            problems=[
                Problem(
                    "actionId",
                    "an action that is sent or published; for this one make the same workflow_advance call again once "
                    "it is approved",
                    "the confirmation of a step of a workflow",
                )
            ],
        )


def refuse_passing(action: Action, title: str) -> Refusal:
    """Build the refusal for content that was approved during this call: the same call will pass."""
    return Refusal(
        Reason.EXECUTION_IN_PROGRESS,
        words=Words(
            summary=f"“{title}” was approved just now.",
            user_message=f"“{title}” was approved just now; I go on.",
            fix="Make the same call again, exactly as it was sent; it passes.",
            stop_rule="Do not ask for approval again.",
        ),
        status=action.status,
        action_id=action.action_id,
        retry_after_seconds=1,
    )


def describe_waiting(action: Action, title: str, wish: str | None, earlier: str | None) -> Words:
    """Words for a step that waits for a person, was rejected, or was edited. `wish` is the last change that was
    asked for, `earlier` a sentence about earlier decisions."""
    name = f"“{title}”"
    if action.status is Status.REJECTED:
        why = action.rejection or "no reason given"
        return Words(
            summary=f"{name} was rejected.",
            user_message=f"{name} was rejected: {why}. I will submit another version for your approval.",
            fix="STOP. Do not repeat this call. Change what you submit as the reason says, and advance with that; it "
            "needs a new approval.",
            stop_rule="Do not submit the rejected content again.",
        )
    if is_rewritten(action):
        return Words(
            summary=f"The text of {name} was changed.",
            user_message=f"The text of {name} was changed after it was submitted, so I submit the changed text; it "
            "needs a new approval.",
            fix="STOP. Do not repeat this call. Advance with the text as it was changed; it needs a new approval.",
            stop_rule="Do not submit the earlier text again.",
        )
    said = [f"{name} waits for your approval."]
    fix = (
        "STOP. Show what was submitted and its approval commands in the chat; give the review link only as a fallback. "
        "After the person approved, make the same advance call again, exactly as it was sent."
    )
    if wish is not None:
        said.append(f"A person asked for changes: {wish}")
        fix = (
            "STOP. A person asked for changes: submit a version that has them by advancing with it; it needs a new "
            "approval."
        )
    if earlier is not None:
        said.append(earlier)
    return Words(
        summary=f"{name} waits for a person.",
        user_message=" ".join(said),
        fix=fix,
        stop_rule="Do not advance past this step before a person approved it.",
    )


def describe_plan(title: str, waiting: Sequence[Action], count: int, left: Sequence[str]) -> Words:
    """Words for a step whose plan has actions that wait, or of which none was approved."""
    name = f"“{title}”"
    if not waiting:
        return Words(
            summary=f"Nothing of the plan of {name} was approved.",
            user_message=f"Nothing of the plan of {name} was approved: {'; '.join(left)}. I will prepare another one.",
            fix="STOP. Do not repeat this call. Prepare others as the reasons say, and advance with their runId.",
            stop_rule="Do not advance past this step with actions that were not approved.",
        )
    return Words(
        summary=f"The plan of {name} waits for a person.",
        user_message=f"{name} waits for your decision about {len(waiting)} of the {count} actions of its plan: "
        f"{', '.join(map(name_of, waiting))}.",
        fix="STOP. Show each action that waits, whole (chieflab_list_pending_actions), or give the review link, where "
        "a person approves all of them as one plan. Once each is decided, make the same advance call again.",
        stop_rule="Do not advance past this step before each action of its plan is decided.",
    )


def calls_after_decision(action: Action, *, may_withdraw: bool) -> tuple[SuggestedCall, ...]:
    """Return the next calls of an approved or rejected step; none for a passed one."""
    advance = action.executor_tool
    call = action.metadata.get(CALL, {"args": {}, "left": list(_TOKENS)})
    tokens = {name: call["args"][name] for name in _TOKENS if name in call["args"]}
    left = dict.fromkeys(call["left"], _AS_SENT)
    if action.status is Status.REJECTED:
        again = "with other content; or exactly as it was sent, where the step goes on after a rejection"
        return (SuggestedCall(advance, tokens, again, OTHER_CONTENT | ({} if tokens else left)),)
    if action.status is not Status.APPROVED:
        return ()
    if is_rewritten(action):
        changed = "now, with the text as it was changed; that needs a new approval"
        found = [SuggestedCall(advance, tokens, changed, _CHANGED_CONTENT | ({} if tokens else left))]
    else:
        passing = "now: the call that was refused, exactly as it was sent"
        found = [SuggestedCall(advance, call["args"], passing, left)]
    if may_withdraw:
        about = {"actionId": action.action_id}
        found.append(SuggestedCall("chieflab_withdraw_approval", about, "the user changes their mind"))
    return tuple(found)


def describe_step(action: Action) -> str | None:
    """Describe the decision about a step for the person; None while it waits."""
    if action.status is Status.APPROVED:
        return APPROVED_AS_CHANGED if is_rewritten(action) else APPROVED
    return {Status.REJECTED: REJECTED, Status.EXECUTED: PASSED}.get(action.status)


APPROVED: Final = "Approved. The workflow can go on past this step now."
APPROVED_AS_CHANGED: Final = (
    "Approved, but as it was changed. The workflow goes on once that text is submitted and approved."
)
REJECTED: Final = (
    "Rejected. The workflow does not go past this step with what was submitted; the reason is kept."
)
PASSED: Final = "The workflow went on past this step."
REPLACED: Final = "The agent has submitted another version of this step, so this one no longer waits."
