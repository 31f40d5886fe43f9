"""What a confirmation of a workflow's step is, and what it is not: nothing that an executor sends.

Apart from deciding, because executors ask it too and need nothing of that.
"""

from __future__ import annotations

from typing import Final

from assent.kernel.refusals import Problem, Reason, Refusal
from assent.lifecycle.records import Action

WORKFLOW: Final = "workflow"
"""The connector of a workflow's confirmations, which nobody outside sees."""
SUBMITTED: Final = "submitted"
"""The digest of what was staged, which an edit leaves as it was."""


def rewritten(action: Action) -> bool:
    """A person changed the text: then it is theirs, and not what the agent submitted, that they approved."""
    submitted = action.metadata.get(SUBMITTED)
    # What was staged by an earlier version does not say it.
    return action.revision > 1 if submitted is None else action.digest != submitted


def refuse_confirmation(action: Action) -> None:
    """What confirms a step of a workflow is sent by nobody: the agent's own next advance is its effect (W40)."""
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
