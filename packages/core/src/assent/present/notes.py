"""The words of a note. Pure.

A note leaves this server: the services that carry it can read it. It therefore has the workspace's
name, the number of actions, and the kind and risk of each, which follow from the declared type. It
never has a title, text, recipient, argument or account, because those may be personal data. After a
decision it has the name of the person who decided. A message in which people decide is another thing: it has
the content (`NoteCard`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from assent.gate.next_try import is_tried_again
from assent.gate.policy import Policy, suffices
from assent.gate.records import (
    WORKFLOW,
    Action,
    Assurance,
    ExecutionState,
    Status,
    is_with_agent,
    list_change_requests,
)
from assent.gate.rules.drift import read_changes
from assent.gate.views import Severity
from assent.kernel.structs import Record
from assent.kernel.texts import name_unseen, truncate
from assent.kernel.times import full_time
from assent.present.cards import explain_unshown, render_content
from assent.present.status_report import SECTION_TITLES, find_section

NAMED: Final = 4
"""Kinds of actions that a note names."""

LINES: Final = 8
"""Decisions that a note lists."""

WISH_CHARS: Final = 300
"""Characters of a wish for changes in a message. The page has all."""


HOW: Final = {Assurance.AGENT: ", passed on by an agent,", Assurance.LINK: ", with the review link,"}


class CauseWords(Record):
    """Selects the actions of a note, with its wording."""

    concerns: Callable[[Action, int], bool]
    title: str
    one: str
    several: str


class DecisionWords(Record):
    """Who decided about an action, and when."""

    verb: str
    by: str
    at_ms: int
    how: str = ""
    """How the decision came, if not from a signed-in person."""


def is_waiting(action: Action, now_ms: int) -> bool:
    return action.status is Status.AWAITING_APPROVAL and not action.is_expired(now_ms)


def is_unknown(action: Action, now_ms: int) -> bool:
    return action.execution_state is ExecutionState.OUTCOME_UNKNOWN


def is_unsent(action: Action, now_ms: int) -> bool:
    """Whether an action is approved and the server does not send it. A step of a workflow is never sent."""
    return (
        action.status is Status.APPROVED
        and action.execution_state in (ExecutionState.NONE, ExecutionState.RETRYABLE)
        and action.effect.connector != WORKFLOW
        and (action.schedule_ms is None or action.schedule_ms <= now_ms)
        and not action.is_expired(now_ms)
        and not is_tried_again(action, now_ms)
    )


def has_stopped(action: Action, now_ms: int) -> bool:
    return action.status is Status.FAILED or is_unsent(action, now_ms) or bool(read_changes(action))


WORDS: Final[dict[str, CauseWords]] = {
    "waiting": CauseWords(is_waiting, "Something waits for your decision", "waits for you", "wait for you"),
    "reminder": CauseWords(
        is_waiting, "Still waiting for your decision", "still waits for you", "still wait for you"
    ),
    "unknown": CauseWords(is_unknown, "Did this go out?", "waits for you", "wait for you"),
    "stopped": CauseWords(has_stopped, "Something did not go out", "did not go out", "did not go out"),
    "unsent": CauseWords(
        is_unsent, "Approved, and not sent yet", "is approved and not sent", "are approved and not sent"
    ),
}


def summarize(actions: Sequence[Action], places: Iterable[str], words: CauseWords) -> str:
    """Say how many actions it is about, where, of which kinds and risks."""
    worst: dict[str, Severity] = {}
    for action in actions:
        risk = action.preflight.severity
        known = worst.setdefault(action.view.noun, risk)
        worst[action.view.noun] = risk if risk.exceeds(known) else known
    kinds = [f"{noun} ({risk.value} risk)" for noun, risk in worst.items()]
    named = ", ".join(kinds[:NAMED]) + (" and more" if len(kinds) > NAMED else "")
    count = "One draft" if len(actions) == 1 else f"{len(actions)} drafts"
    verb = words.one if len(actions) == 1 else words.several
    return f"{count} in {' and '.join(dict.fromkeys(places))} {verb}: {named}."


def say_when_expired(actions: Sequence[Action]) -> str:
    """Say when the first of them can no longer be approved."""
    soonest = min((each.expires_ms for each in actions if each.expires_ms is not None), default=None)
    return "" if soonest is None else f" It can be approved until {full_time(soonest)}."


def describe_decisions(
    actions: Sequence[Action], decided: dict[str, DecisionWords], place: str, now_ms: int
) -> tuple[str, str]:
    """Return title and text about the decisions of a run."""
    lines = []
    for action in actions[:LINES]:
        words = decided.get(action.action_id)
        ending = "waits" if is_waiting(action, now_ms) else "ended without a decision"
        if words is not None:
            ending = (
                f"{words.verb} by {words.by}{words.how} at {full_time(words.at_ms).replace(' at ', ', ')}"
            )
        lines.append(f"{action.view.noun}: {ending}.")
    if len(actions) > LINES:
        lines.append(f"And {len(actions) - LINES} more.")
    verbs = {each.verb for each in decided.values()}
    open_still = any(is_waiting(each, now_ms) for each in actions)
    title = "Decided in part" if open_still else verbs.pop().capitalize() if len(verbs) == 1 else "Decided"
    return f"{title} in {place}", "\n".join(lines)


def read_approval(action: Action) -> DecisionWords | None:
    """Return who approved an action; None if no approval holds."""
    held = action.approval
    if held is None:
        return None
    return DecisionWords("approved", held.by, held.at_ms, HOW.get(held.claim, ""))


class NoteCard(Record, kw_only=True):
    """An action as a message shows it: whole, in its present state."""

    action_id: str
    digest: str
    title: str
    text: str
    """Its facts and its whole content. Invisible characters are named."""
    unshown: str
    """What no text can show of it, so that it is decided on its page; empty if the text has all."""
    state: str
    """What became of it, and who decided; empty while it waits for a person."""
    may_decide: bool
    """Whether the policy lets someone decide it in a chat app."""
    url: str


def make_note_card(
    action: Action, policy: Policy, words: DecisionWords | None, url: str, now_ms: int
) -> NoteCard:
    """Return an action as a message shows it that people decide in: its facts, its content whole, what became of it,
    and whether the policy lets someone decide it there."""
    needed = policy.require(action)
    waits = is_waiting(action, now_ms)
    may = waits and not needed.denied and suffices(Assurance.CHAT_APP, needed.assurance)
    unshown = explain_unshown(action, "A message")
    state = "" if waits else SECTION_TITLES[find_section(action, now_ms)]
    if waits and is_with_agent(action):
        asked = list_change_requests(action)[-1]
        state = f"{asked.get('by')} asked for changes: {truncate(str(asked.get('text')), WISH_CHARS)}"
    if not waits and action.execution_state is ExecutionState.EXECUTING:
        state = "It is being sent"
    by = f"{words.verb} by {words.by}{words.how} at {full_time(words.at_ms)}" if words is not None else ""
    return NoteCard(
        action_id=action.action_id,
        digest=action.digest,
        title=name_unseen(action.view.heading),
        # A message shows no Markdown; the label is its only part that is not plain.
        text=name_unseen(render_content(action).replace("**", "", 2)),
        unshown=unshown,
        state=". ".join(each for each in (state, "" if waits else by) if each),
        may_decide=may and not unshown and action.view.unfit is None,
        url=url,
    )
