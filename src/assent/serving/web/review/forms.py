"""Which forms an action has, and what stands in them.

That follows from the action's state, its policy and how sure the server is of who is looking; the engine judges again
when one of them comes back. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from assent.engine.actions.execution import MANUAL
from assent.gate.policy import suffices
from assent.gate.preflight import blocking_gate
from assent.gate.records import Action, Assurance, Effect
from assent.gate.review_link import APPROVE, REVIEW, Scope
from assent.gate.transitions import APPROVED, AWAITING, RETRYABLE, UNKNOWN, state_of
from assent.serving.web.review.words import SENDS_NOTHING

OPEN: Final = frozenset({AWAITING, APPROVED, RETRYABLE, UNKNOWN})
"""States in which a human can still do something."""


class Tried(msgspec.Struct, frozen=True):
    """A form that came back and was not taken: what is wrong, and what was typed."""

    action_id: str
    decision: str
    status: int
    title: str
    text: str
    wrong: dict[str, str] = {}
    typed: dict[str, str] = {}
    sign_in: bool = False
    reopen: bool = True
    """Whether its form is shown open, to be corrected."""


class Form(msgspec.Struct, frozen=True):
    """One form of one action."""

    decision: str
    address: str
    nonce: str
    is_open: bool
    values: dict[str, str]
    wrong: dict[str, str]


class Looking(msgspec.Struct, frozen=True):
    """Who looks, when, and what the page needs to make its forms."""

    assurance: Assurance
    name: str
    now_ms: int
    nonce: Callable[[Action, str], str]
    tried: Tried | None = None
    approver: str = ""
    """Who is signed in, as approvers are told apart."""
    seen: dict[str, int] = {}
    """The revision of each action that this browser showed last."""
    opened: tuple[str, str] = ("", "")
    """The action and the decision whose form is shown open."""
    scope: Scope = REVIEW
    """What the link that was followed may do."""


SENDING: Final = frozenset({"send", "publish"})
"""Decisions that let something out, or say that it went out: for them a link needs the right to execute, too."""


def permits(scope: Scope, decision: str, *, send_now: bool = False) -> bool:
    """Whether a link of this scope may take a decision; whoever is signed in holds the widest."""
    if scope == REVIEW:
        return True
    return scope == APPROVE and decision not in SENDING and not send_now


def offer_decisions(
    action: Action, looking: Looking, may_approve: bool, *, in_flight: bool, own_yes: bool = False
) -> tuple[str, ...]:
    """The decisions that a person can take about an action as it is now. `own_yes`: theirs is one of several."""
    state = state_of(action)
    if state == UNKNOWN:
        return ("resolve",)
    if action.expired(looking.now_ms) or state not in OPEN:
        return ()
    # The text of a workflow's step is what its agent handed in; another one is the agent's to hand in.
    edit = ("edit",) if action.effect.connector != "workflow" else ()
    if state == AWAITING:
        yes = ("approve",) if blocking_gate(action.effect) is None else ()
        return (*(("withdraw",) if own_yes else yes), *edit, "ask", "reject")
    weaker = action.approval is not None and not suffices(action.approval.assurance, looking.assurance)
    confirm = ("approve",) if weaker and may_approve else ()
    send: tuple[str, ...] = ()
    if action.effect.connector == MANUAL:
        send = ("publish",)
    elif action.effect.connector not in SENDS_NOTHING and action.schedule_ms is None and not in_flight:
        send = ("send",) if may_approve else ()
    return (*confirm, *send, *edit, "ask", "withdraw", "reject")


def forms_of(
    action: Action, looking: Looking, may_approve: bool, *, in_flight: bool, own_yes: bool = False
) -> dict[str, Form]:
    tried = (
        looking.tried if looking.tried is not None and looking.tried.action_id == action.action_id else None
    )
    found = {}
    for decision in offer_decisions(action, looking, may_approve, in_flight=in_flight, own_yes=own_yes):
        if not permits(looking.scope, decision):
            continue
        back = tried if tried is not None and tried.decision == decision else None
        found[decision] = Form(
            decision=decision,
            address=f"/runs/{action.run_id}/actions/{action.action_id}/{decision}",
            nonce=looking.nonce(action, decision),
            is_open=(back is not None and back.reopen)
            or decision == "resolve"
            or looking.opened == (action.action_id, decision),
            values={
                "name": looking.name,
                **_content(action.effect),
                **(back.typed if back is not None else {}),
            },
            wrong=back.wrong if back is not None else {},
        )
    return found


def _content(effect: Effect) -> dict[str, str]:
    """What the edit form begins with."""
    return {
        "body": effect.body,
        "title": effect.title,
        "subject": effect.subject,
        "recipients": "\n".join(effect.recipients),
    }
