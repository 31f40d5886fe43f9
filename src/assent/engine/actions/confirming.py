"""Confirmations of workflow steps: actions that no executor sends.

Separate from `decisions`, because executors use it too.
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
    """Whether an earlier version cut the end off a long text. An approval would cover text that was not shown."""
    body = action.effect.body
    return (
        action.effect.connector == WORKFLOW
        and len(body) == MAX_CONTENT_CHARS
        and _CUT.search(body, len(body) - _CUT_CHARS) is not None
    )


def refuse_cut(action: Action) -> None:
    """Raise `Refusal` for a text that was cut."""
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
    """Raise `Refusal` for a confirmation: its effect is the agent's next advance, not a send (W40)."""
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
