"""What a confirmation of a workflow's step is, and what it is not: nothing that an executor sends.

Apart from deciding, because executors ask it too and need nothing of that.
"""

from __future__ import annotations

from typing import Final

from assent.kernel.refusals import Problem, Reason, Refusal
from assent.lifecycle.records import Action

WORKFLOW: Final = "workflow"
"""The connector of a workflow's confirmations, which nobody outside sees."""


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
