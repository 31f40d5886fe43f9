"""Completes the refusal of an advance that waits for a person: text for the person, and the next
calls (W40).

The calls are complete: the approval of exactly this content, and the refused call as it was sent.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import circumstances
from assent.engine.workflows.answers import ADVANCE
from assent.gate.calls import Command, SuggestedCall
from assent.gate.card_calls import Circumstances, ask, commands
from assent.gate.cards import quote
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, Status
from assent.gate.step_calls import OTHER_CONTENT, is_rewritten
from assent.gate.views import Severity
from assent.kernel.ids import ActionId
from assent.kernel.limits import MAX_WAIT_SECONDS
from assent.kernel.refusals import Reason, Recovery, Refusal
from assent.kernel.toolsets import Toolset
from assent.tools.definition import Call
from assent.tools.toolsets import TOOLSET_OF

KEY: Final = "this step"
MOST_REPEATED_CHARS: Final = 8_000
"""The longest refused call that is repeated in the answer."""
RISKS: Final[dict[Toolset, Severity]] = {
    "workflows": Severity.LOW,
    "memory": Severity.LOW,
    "admin": Severity.LOW,
    "launch": Severity.MEDIUM,
}
"""The worst risk of what the tools of a set stage."""
AS_SENT: Final = "exactly as in the call that was refused"


def grade_tool(effects: EffectTypes, name: str) -> Severity:
    """Return the worst risk of a call that a step makes after its approval: that of the types which the
    tool prepares or executes, else that of its tool set; high for a tool that is not known."""
    return effects.grade_tool(name) or RISKS.get(TOOLSET_OF.get(name, "legacy"), Severity.HIGH)


async def with_gate(call: Call, sent: dict[str, Any], refusal: Refusal) -> Refusal:
    """Complete a refusal that waits for a person. `sent` are the call's arguments."""
    action_id = refusal.action_id
    if refusal.reason is not Reason.REQUIRES_APPROVAL or action_id is None:
        return refusal
    action, outlook = await circumstances.read_action(call.services, call.caller, ActionId(action_id))
    # An approval that is not enough leaves the step waiting, so the policy says who decides.
    around = outlook.of(msgspec.structs.replace(action, status=Status.AWAITING_APPROVAL))
    recovery = refusal.recovery()
    # The agent changes a step by submitting it again.
    said = [each for each in commands(KEY, action, around) if each.tool != "chieflab_edit_action"]
    how = _ways_to_decide(recovery, action, around)
    return Refusal.from_answer(
        msgspec.structs.replace(
            recovery,
            **how,
            show=render_step(recovery.user_message, action, around),
            commands=said or msgspec.UNSET,
            next=_next(action, around, said, sent),
        )
    )


def _ways_to_decide(recovery: Recovery, action: Action, around: Circumstances) -> dict[str, str]:
    """Return the texts of a pending step, with where this caller's person can decide it."""
    if action.status is not Status.AWAITING_APPROVAL or is_rewritten(action):
        return {}
    if around.may_decide:
        return {"user_message": f"{recovery.user_message} Approve it in the chat, or open the review link."}
    said = f"{recovery.user_message} {around.decider_note}"
    return {"user_message": said, "fix_action_for_agent": _DECIDED_ELSEWHERE}


_DECIDED_ELSEWHERE: Final = (
    "STOP. Show what was submitted and give the user the review link (reviewUrl): this chat cannot approve it. After "
    "the person approved, make the same advance call again, exactly as it was sent."
)


def render_step(message: str, action: Action, around: Circumstances) -> str:
    """Return the text for the person: the quoted submission of the step, and the answers to
    give."""
    content = action.effect.body.removeprefix(action.effect.title).lstrip("\n")
    parts = [message, quote(content), ask(KEY, action, around) or ""]
    return "\n\n".join(part for part in parts if part)


def _next(
    action: Action, around: Circumstances, said: list[Command], sent: dict[str, Any]
) -> list[SuggestedCall]:
    tokens = {name: sent[name] for name in ("stateToken", "ackToken")}
    if action.status is Status.REJECTED or is_rewritten(action):
        when = "with other content, as the person wants it; that needs a new approval"
        return [SuggestedCall(ADVANCE, tokens, when, OTHER_CONTENT)]
    calls = [SuggestedCall(each.tool, each.args, f"the user said “{each.say}”", each.needs) for each in said]
    if not around.may_decide:
        waiting = {"actionId": action.action_id, "waitSeconds": MAX_WAIT_SECONDS}
        calls.insert(0, SuggestedCall("chieflab_get_action", waiting, "the user decides on the review page"))
    again = "once it is approved: the refused call again, exactly as it was sent"
    if len(msgspec.json.encode(sent)) > MOST_REPEATED_CHARS:
        left = {name: AS_SENT for name in sent if name not in tokens}
        return [*calls, SuggestedCall(ADVANCE, tokens, again, left)]
    return [*calls, SuggestedCall(ADVANCE, sent, again)]
