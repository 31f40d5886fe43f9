"""The answer to a decision: the resulting action, words for the person, and the next calls."""

from __future__ import annotations

import msgspec

from assent.engine.actions.circumstances import Outlook
from assent.gate.calls import SuggestedCall
from assent.gate.card_calls import MANUAL, describe_decision, next_calls
from assent.gate.cards import render_card
from assent.gate.guidance import InChat, as_it_is
from assent.gate.records import Action
from assent.gate.step_calls import WORKFLOW, describe_step
from assent.kernel.refusals import Recovery, Replay
from assent.kernel.structs import WireRecord
from assent.kernel.times import iso_time
from assent.suite.connectors.manual_brief import manual_brief


class Decided(WireRecord, kw_only=True):
    """The result of a decision."""

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
    """Markdown for the person: the decision, and the content if it waits for approval."""
    next: tuple[SuggestedCall, ...] = ()
    render_in_chat: dict[str, InChat] | msgspec.UnsetType = msgspec.UNSET
    """The content that waits for approval, with the commands for exactly this content."""
    sent: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether the action was sent in the same call, if that was asked for."""
    external_url: str | msgspec.UnsetType | None = msgspec.UNSET
    not_sent: Recovery | msgspec.UnsetType = msgspec.UNSET
    """Why it was not sent."""
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


def answer_decision(action: Action, move: str, outlook: Outlook) -> Decided:
    """Return the answer to a decision, with the next calls."""
    key, waits = action.effect.channel, action.status == "awaiting_approval"
    approval, around = action.approval, outlook.of(action, shown=waits)
    message = describe_step(action) if action.effect.connector == WORKFLOW else None
    message = message or describe_decision(move, key, action, around)
    following = next_calls(key, action, around)
    card = render_card(key, action, around) if waits and move == "edit" else None
    if action.status == "approved" and action.effect.connector == MANUAL:
        card = manual_brief(action.effect).text
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
        next=following,
        stop_rule="Do only what the human just decided.",
        render_in_chat=as_it_is(action, around) if waits else msgspec.UNSET,
    )
