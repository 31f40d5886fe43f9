"""What a confirmation of a workflow's step is, and what it is not: nothing that an executor sends.

Apart from deciding, because executors ask it too and need nothing of that.
"""

from __future__ import annotations

import re
from typing import Final

from assent.gate.records import Action
from assent.gate.step_calls import WORKFLOW
from assent.kernel.limits import MAX_CONTENT_CHARS
from assent.kernel.refusals import Problem, Reason, Refusal, Words

_CUT: Final = re.compile(r"\n\n\[… \d+ characters in all; the rest is not shown here\]\Z")
_CUT_CHARS: Final = 100


def is_cut(action: Action) -> bool:
    """An earlier version left the end of a long text away, and an approval would cover all of it."""
    body = action.effect.body
    return (
        action.effect.connector == WORKFLOW
        and len(body) == MAX_CONTENT_CHARS
        and _CUT.search(body, len(body) - _CUT_CHARS) is not None
    )


def refuse_cut(action: Action) -> None:
    """Refuse to approve what cannot be read whole."""
    if is_cut(action):
        raise Refusal(
            Reason.VALIDATION_ERROR,
            words=Words(
                summary="This cannot be read whole.",
                user_message="The end of this text is not shown, because an earlier version of the server left it "
                "away. It cannot be approved: ask for a shorter version.",
                fix="STOP. Submit a shorter version of the same step; it needs a new approval.",
                stop_rule="Do not approve this action.",
            ),
            action_id=action.action_id,
            status=action.status,
            problems=[Problem("actionId", "an action whose content is shown whole", "a text that was cut")],
        )


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
