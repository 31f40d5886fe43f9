"""The answer to a decision: what it left behind, words for the person, and the calls that make sense next."""

from __future__ import annotations

import msgspec

from assent.engine.circumstances import Outlook
from assent.engine.confirming import CALL, WORKFLOW, rewritten
from assent.kernel.refusals import Recovery, Replay
from assent.kernel.times import iso_time
from assent.lifecycle.calls import SuggestedCall
from assent.lifecycle.cards import Circumstances, describe_decision, next_calls, render_card
from assent.lifecycle.guidance import InChat, as_it_is
from assent.lifecycle.records import Action


class Decided(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a decision left behind."""

    ok: bool
    action_id: str
    run_id: str
    status: str
    execution_state: str
    revision: int
    digest: str
    assurance: str | None
    approved_by: str | None
    approved_at: str | None
    user_message: str
    stop_rule: str
    show: str = ""
    """For the person, as Markdown: what was decided, and the content where it waits for approval."""
    next: tuple[SuggestedCall, ...] = ()
    render_in_chat: dict[str, InChat] | msgspec.UnsetType = msgspec.UNSET
    """What waits for approval now, to be shown whole, with the commands for exactly this content."""
    sent: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether it went out in the same call, where that was asked for."""
    external_url: str | msgspec.UnsetType | None = msgspec.UNSET
    not_sent: Recovery | msgspec.UnsetType = msgspec.UNSET
    """Why it did not go out."""
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


SAYS_OF_A_STEP = {
    "approved": "Approved. The workflow can go on past this step now.",
    "rejected": "Rejected. The workflow does not go past this step with what was submitted; the reason is kept.",
}
APPROVED_AS_CHANGED = (
    "Approved, but as it was changed. The workflow goes on once that text is submitted and approved."
)
TOKENS = ("stateToken", "ackToken")
AS_SENT = "as in the call that was refused"


def decided(action: Action, move: str, outlook: Outlook) -> Decided:
    """The answer to a decision, with the calls that make sense next."""
    approval, around = action.approval, outlook.of(action)
    key, waits = action.effect.channel, action.status == "awaiting_approval"
    of_a_step = action.effect.connector == WORKFLOW
    message = _said_of_a_step(action) if of_a_step else None
    message = message or describe_decision(move, key, action, around)
    card = render_card(key, action, around) if waits and move == "edit" else None
    return Decided(
        ok=True,
        action_id=action.action_id,
        run_id=action.run_id,
        status=action.status,
        execution_state=action.execution_state,
        revision=action.revision,
        digest=action.digest,
        assurance=approval.assurance if approval is not None else None,
        approved_by=approval.by if approval is not None else None,
        approved_at=iso_time(approval.at_ms) if approval is not None else None,
        user_message=message,
        show="\n\n".join(filter(None, (message, card))),
        next=_next_of_a_step(action, around) if of_a_step else next_calls(key, action, around),
        stop_rule="Do only what the human just decided.",
        render_in_chat=as_it_is(action, around) if waits else msgspec.UNSET,
    )


def _said_of_a_step(action: Action) -> str | None:
    if action.status == "approved" and rewritten(action):
        return APPROVED_AS_CHANGED
    return SAYS_OF_A_STEP.get(action.status)


def _next_of_a_step(action: Action, around: Circumstances) -> tuple[SuggestedCall, ...]:
    """A workflow goes on by the agent's own next advance."""
    advance = action.executor_tool
    call = action.metadata.get(CALL, {"args": {}, "left": list(TOKENS)})
    tokens = {name: call["args"][name] for name in TOKENS if name in call["args"]}
    left = dict.fromkeys(call["left"], AS_SENT)
    if action.status == "rejected":
        again = "with other content; or exactly as it was sent, where the step goes on after a rejection"
        return (SuggestedCall(advance, tokens, again, {} if tokens else left),)
    if action.status != "approved":
        return next_calls(action.effect.channel, action, around)
    passing = (
        "now, with the text as it was changed; that needs a new approval"
        if rewritten(action)
        else "now: the call that was refused, exactly as it was sent"
    )
    withdraw = SuggestedCall(
        "chieflab_withdraw_approval", {"actionId": action.action_id}, "the user changes their mind"
    )
    if rewritten(action):
        return (SuggestedCall(advance, tokens, passing, {} if tokens else left), withdraw)
    return (SuggestedCall(advance, call["args"], passing, left), withdraw)
