"""Refused decisions: the reason, worded for the person at the page, and the typed values.

`kernel.refusals` words the same reasons for agents.
"""

from __future__ import annotations

from typing import Final

from assent.kernel.refusals import MEANINGS, Reason, Refusal
from assent.serving.web.review.forms import Tried


class BadFields(Exception):  # noqa: N818 - a state of the form
    def __init__(self, wrong: dict[str, str]) -> None:
        super().__init__(", ".join(sorted(wrong)))
        self.wrong = wrong


class NeedsPerson(Exception):  # noqa: N818 - what is missing
    """Only a signed-in person can do this."""


class NotReady(Exception):  # noqa: N818 - a state of the connector
    """It cannot be sent now; the message says why."""


class NowBound(Exception):  # noqa: N818 - what happened
    """The account was bound just now; the message names it."""


_TYPED: Final[tuple[str, ...]] = (
    "name",
    "reason",
    "text",
    "body",
    "title",
    "subject",
    "recipients",
    "outcome",
    "evidence",
    "url",
)

_TITLES: Final[dict[Reason, tuple[str, str]]] = {
    Reason.STALE_REVISION: (
        "The content changed while you were looking",
        "Nothing was decided. Below is the content as it is now: read it again, then decide.",
    ),
    Reason.ACTION_CLOSED: (
        "This was decided already",
        "Someone already decided this, here or in the chat. The current state is below and is final.",
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
        "The provider did not confirm that it went out. Please look there, then answer below.",
    ),
}


def _keep_typed(form: dict[str, str]) -> dict[str, str]:
    return {name: form[name] for name in _TYPED if name in form}


def explain(refusal: Refusal, action_id: str, decision: str, form: dict[str, str]) -> Tried:
    """A refusal of the engine in words for the person at the page."""
    typed = _keep_typed(form)
    status = MEANINGS[refusal.reason].status
    recovery = refusal.recovery()
    if refusal.reason is Reason.REQUIRES_APPROVAL and decision in ("approve", "send"):
        return needs_person(action_id, decision, form, status)
    if (
        refusal.reason is Reason.VALIDATION_ERROR
        and decision in ("approve", "send")
        and recovery.recovery_tool
    ):
        # The problem is in the action, not in the form.
        return Tried(
            action_id, decision, 409, "This cannot be approved as it is", recovery.user_message, {}, typed
        )
    if refusal.reason is Reason.VALIDATION_ERROR and isinstance(recovery.problems, list):
        wrong: dict[str, str] = {}
        for problem in recovery.problems:
            name = problem.path.partition(".")[0]
            wrong[name] = f"Expected {problem.expected}; this is {problem.got}."
        return Tried(
            action_id, decision, status, "Please check the form", "Nothing was changed.", wrong, typed
        )
    title, text = _TITLES.get(refusal.reason, (recovery.summary_for_user, recovery.user_message))
    # Keep typed text, but not an approval of different content.
    return Tried(action_id, decision, status, title, text, {}, typed, reopen=decision == "edit")


def not_ready(unready: NotReady, action_id: str, decision: str, form: dict[str, str]) -> Tried:
    text = f"Nothing was decided and nothing was sent. {unready} To approve it all the same, press “Approve” alone."
    if decision == "send":
        text = f"Nothing was sent. {unready}"
    return Tried(action_id, decision, 409, "It cannot be sent now", text, {}, _keep_typed(form))


def now_bound(bound: NowBound, action_id: str, decision: str, form: dict[str, str]) -> Tried:
    """The account was just bound, so no reviewer has seen it yet."""
    return Tried(action_id, decision, 409, "Look at where it goes", str(bound), {}, _keep_typed(form))


def badly_filled(bad: BadFields, action_id: str, decision: str, form: dict[str, str]) -> Tried:
    typed = _keep_typed(form)
    return Tried(action_id, decision, 400, "Please check the form", "Nothing was changed.", bad.wrong, typed)


def needs_person(action_id: str, decision: str, form: dict[str, str], status: int = 403) -> Tried:
    typed = _keep_typed(form)
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
    typed = _keep_typed(form)
    return Tried(
        action_id,
        decision,
        403,
        "This form was out of date",
        "It was opened too long ago, in another browser, or about other content. Nothing was decided. The current "
        "state is below: read it, then decide.",
        {},
        typed,
        reopen=decision == "edit",
    )
