"""The confirmation of a workflow's step: what was submitted, and the calls that follow a decision about it.

Nothing is sent: the agent's own next advance is the effect (W40).
"""

from __future__ import annotations

from typing import Final

from assent.gate.calls import SuggestedCall
from assent.gate.records import Action, Status

WORKFLOW: Final = "workflow"
"""The connector of a workflow's confirmations, which is not shown outside."""
SUBMITTED: Final = "submitted"
"""The digest of what was staged, which an edit leaves as it was."""
CALL: Final = "call"
"""The arguments of the advance that waits, and the names of those that are too long to be kept."""
SUPERSEDED: Final = "supersededBy"
"""In the metadata: the action with the content that was submitted in its place."""

_TOKENS: Final = ("stateToken", "ackToken")
OTHER_CONTENT: Final = {"notesMarkdown": "the other version, with output where the step asks for one"}
"""What an advance with another version lacks."""
_CHANGED_CONTENT: Final = {
    "notesMarkdown": "the text as it was changed, with output where the step asks for one"
}
_AS_SENT: Final = "as in the call that was refused"


def is_rewritten(action: Action) -> bool:
    """A person changed the text: then it is theirs, and not what the agent submitted, that they approved."""
    submitted = action.metadata.get(SUBMITTED)
    # What was staged by an earlier version does not say it.
    return action.revision > 1 if submitted is None else action.digest != submitted


def calls_after_decision(action: Action, *, may_withdraw: bool) -> tuple[SuggestedCall, ...]:
    """The calls that lead on from a step that was approved or rejected; none from one that was passed."""
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
    """What became of a step, in a sentence for the person; None while it waits."""
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
