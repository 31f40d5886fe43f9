"""What the review page's forms ask for (E21, E62, E69, E70, C8, C25): from fields to the engine's own decisions.

Each function runs inside the transaction that has judged who is asking and has locked the action. The page decides by
the same functions as the tools and adds nothing to what they allow, with one exception that narrows: that an unknown
outcome did not happen is a signed-in person's to say, because it opens the way to a second send.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from assent.engine import decisions, reconciliation, review
from assent.engine.decisions import Decider, Seen
from assent.kernel.limits import MAX_NAME_CHARS, MAX_REASON_CHARS
from assent.kernel.refusals import MEANINGS, Reason, Refusal
from assent.lifecycle.records import Action, Assurance
from assent.ports import Transaction
from assent.serving.web.people import is_name
from assent.serving.web.review_access import Viewer
from assent.serving.web.review_view import Tried
from assent.tools.arguments import addresses

MAX_DECISION_BYTES: Final = 1_572_864
"""A form with the longest text that may be approved, every character of it percent-encoded."""

OUTCOMES: Final = ("happened", "did_not_happen", "not_yet_known")


class BadFields(Exception):  # noqa: N818 - a state of the form
    """Fields to fill in again, with what to do about each."""

    def __init__(self, wrong: dict[str, str]) -> None:
        super().__init__(", ".join(sorted(wrong)))
        self.wrong = wrong


class NeedsPerson(Exception):  # noqa: N818 - what is missing
    """Only a signed-in person can do this."""


class Wish(msgspec.Struct, frozen=True):
    """A form as it came, about an action as it is."""

    viewer: Viewer
    decider: Decider
    action: Action
    form: dict[str, str]
    now_ms: int

    @property
    def seen(self) -> Seen:
        return Seen(digest=self.form.get("digest", ""))


def claimed_name(viewer: Viewer, form: dict[str, str]) -> str:
    """The name that the holder of a link gives; a signed-in person is not asked."""
    name = " ".join(form.get("name", "").split())
    if viewer.session is None and not is_name(name):
        raise BadFields({"name": f"Enter your name, with at most {MAX_NAME_CHARS} characters."})
    return name


def _no_link(action: Action) -> str | None:
    """Whoever reads the answer is on the page that a link would lead to."""
    return None


def approve(wish: Wish) -> Transaction[Action]:
    send_now = wish.form.get("then") == "send"
    return (
        yield from decisions.approve(
            wish.decider, wish.action.action_id, wish.seen, _no_link, wish.now_ms, send_now=send_now
        )
    )


def send(wish: Wish) -> Transaction[Action]:
    """Send what is approved already, by the same job; a person who does so confirms the approval."""
    return (
        yield from decisions.approve(
            wish.decider, wish.action.action_id, wish.seen, _no_link, wish.now_ms, send_now=True
        )
    )


def reject(wish: Wish) -> Transaction[Action]:
    reason = _text(wish.form, "reason", "Say why in a few words, so that the next draft is better.")
    return (
        yield from decisions.reject(
            wish.decider, wish.action.action_id, reason, wish.seen, _no_link, wish.now_ms
        )
    )


def withdraw(wish: Wish) -> Transaction[Action]:
    decisions.refuse_stale(wish.action, wish.seen)
    reason = wish.form.get("reason", "").strip()[:MAX_REASON_CHARS]
    return (yield from decisions.withdraw(wish.decider, wish.action.action_id, reason, _no_link, wish.now_ms))


def edit(wish: Wish) -> Transaction[Action]:
    return (
        yield from decisions.edit(
            wish.decider,
            wish.action.action_id,
            changes(wish.action, wish.form),
            wish.seen,
            _no_link,
            wish.now_ms,
        )
    )


def changes(action: Action, form: dict[str, str]) -> dict[str, Any]:
    """The fields that differ from what the form began with. A browser writes line ends its own way."""
    effect = action.effect
    found: dict[str, Any] = {}
    for name, before in (("body", effect.body), ("title", effect.title), ("subject", effect.subject)):
        after = form.get(name)
        if after is not None and after != _plain_lines(before):
            found[name] = after
    if "recipients" in form:
        lines = form["recipients"].replace(",", "\n").replace(";", "\n").split("\n")
        recipients = addresses("recipients", [line for line in lines if line.strip()])
        if recipients != effect.recipients:
            found["recipients"] = recipients
    if "body" in found and not found["body"].strip():
        raise BadFields({"body": "There must be some text. To stop this from going out, reject it."})
    if not found:
        raise BadFields({"body": "Nothing is different yet. Change the text, then save."})
    return found


def resolve(wish: Wish) -> Transaction[Action]:
    outcome = wish.form.get("outcome", "")
    if outcome not in OUTCOMES:
        raise BadFields({"outcome": "Choose one of the three answers."})
    if outcome == "did_not_happen" and wish.viewer.assurance is not Assurance.PERSON:
        raise NeedsPerson
    evidence = _text(wish.form, "evidence", "Say what you saw: the address of it, or where you looked.")
    facts = {
        "by": wish.decider.by,
        "assurance": wish.decider.assurance,
        "via": wish.decider.via,
        "evidence": evidence,
    }
    if outcome == "not_yet_known":
        return (yield from review.still_unknown(wish.viewer.run, wish.action.action_id, facts, wish.now_ms))
    return (
        yield from reconciliation.resolve(
            wish.viewer.run.workspace_id, wish.action.action_id, outcome == "happened", facts, wish.now_ms
        )
    )


DECISIONS: Final[dict[str, Callable[[Wish], Transaction[Action]]]] = {
    "approve": approve,
    "send": send,
    "edit": edit,
    "reject": reject,
    "withdraw": withdraw,
    "resolve": resolve,
}


def _text(form: dict[str, str], name: str, advice: str) -> str:
    text = form.get(name, "").strip()
    if not text:
        raise BadFields({name: advice})
    if len(text) > MAX_REASON_CHARS:
        raise BadFields({name: f"Shorten this to {MAX_REASON_CHARS:,} characters; it has {len(text):,}."})
    return text


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


_TYPED: Final[tuple[str, ...]] = (
    "name",
    "reason",
    "body",
    "title",
    "subject",
    "recipients",
    "outcome",
    "evidence",
)

_TITLES: Final[dict[Reason, tuple[str, str]]] = {
    Reason.STALE_REVISION: (
        "The content changed while you were looking",
        "Nothing was decided. Below is the content as it is now: read it again, then decide.",
    ),
    Reason.ACTION_CLOSED: (
        "This was decided already",
        "Somebody was faster, here or in a chat. Below is how it stands; that cannot be changed any more.",
    ),
    Reason.ACTION_EXPIRED: (
        "This draft has expired",
        "It was prepared too long ago to be sent as it is. Ask your agent to prepare it again.",
    ),
    Reason.EXECUTION_IN_PROGRESS: (
        "It is being sent right now",
        "From this moment on it can be neither changed nor taken back. Look again in a moment.",
    ),
    Reason.OUTCOME_UNKNOWN: (
        "It is not known whether this was sent",
        "The connection broke while it was being sent. Please look there, then answer below.",
    ),
}


def _typed(form: dict[str, str]) -> dict[str, str]:
    """What somebody wrote, to be shown to them again."""
    return {name: form[name] for name in _TYPED if name in form}


def refused(refusal: Refusal, action_id: str, decision: str, form: dict[str, str]) -> Tried:
    """A refusal of the engine in words for the person at the page."""
    typed = _typed(form)
    status = MEANINGS[refusal.reason].status
    recovery = refusal.recovery()
    if refusal.reason is Reason.REQUIRES_APPROVAL and decision in ("approve", "send"):
        return needs_person(action_id, decision, form, status)
    if refusal.reason is Reason.VALIDATION_ERROR and isinstance(recovery.problems, list):
        wrong: dict[str, str] = {}
        for problem in recovery.problems:
            name = problem.path.partition(".")[0]
            wrong[name] = f"Expected {problem.expected}; this is {problem.got}."
        return Tried(
            action_id, decision, status, "Please check the form", "Nothing was changed.", wrong, typed
        )
    title, text = _TITLES.get(refusal.reason, (recovery.summary_for_user, recovery.user_message))
    # What was typed is kept; a yes to something else is not.
    return Tried(action_id, decision, status, title, text, {}, typed, reopen=decision == "edit")


def badly_filled(bad: BadFields, action_id: str, decision: str, form: dict[str, str]) -> Tried:
    typed = _typed(form)
    return Tried(action_id, decision, 400, "Please check the form", "Nothing was changed.", bad.wrong, typed)


def needs_person(action_id: str, decision: str, form: dict[str, str], status: int = 403) -> Tried:
    typed = _typed(form)
    return Tried(
        action_id,
        decision,
        status,
        "This needs a signed-in person",
        "Nothing was decided. A review link alone is not enough for this: sign in in this browser, then press the "
        "button again.",
        {},
        typed,
        sign_in=True,
    )


def out_of_date(action_id: str, decision: str, form: dict[str, str]) -> Tried:
    typed = _typed(form)
    return Tried(
        action_id,
        decision,
        403,
        "This form was out of date",
        "It was opened too long ago, in another browser, or about other content. Nothing was decided. Below is how "
        "it stands now: look at it, then decide.",
        {},
        typed,
        reopen=decision == "edit",
    )
