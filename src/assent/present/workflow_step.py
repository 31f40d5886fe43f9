"""The confirmation of a workflow step: an action that no executor sends, and the calls that follow
a decision.

Its effect is the agent's next advance (W40).
"""

from __future__ import annotations

from typing import Final

from assent.gate.records import CALL, WORKFLOW, Action, Status, is_rewritten
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.present.calls import SuggestedCall

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
