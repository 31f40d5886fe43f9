"""Refused decisions: the reason, worded for the person at the page, and the typed values.

`kernel.refusals` words the same reasons for agents.
"""

from __future__ import annotations

from typing import Any, Final

from assent.kernel.refusals import MEANINGS, Reason, Refusal
from assent.serving.web.review.forms import RejectedForm


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
    *("name", "reason", "text", "body", "title", "subject", "recipients", "outcome", "evidence", "url"),
)

_TITLES: Final = {
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


_CHECK_FORM: Final = ("Please check the form", "Nothing was changed.")
_NEEDS_PERSON: Final = (
    "This needs a signed-in person",
    "Nothing was decided. A review link alone is not enough for this: sign in in this browser, then press the "
    "button again.",
)
_OUT_OF_DATE: Final = (
    "This form was out of date",
    "It was opened too long ago, in another browser, or about other content. Nothing was decided. The current "
    "state is below: read it, then decide.",
)


def explain(refused: Exception, action_id: str, decision: str, form: dict[str, str]) -> RejectedForm:
    """Explain a refused decision to the person. A `PageRefused` is about the form's age."""
    typed = {name: form[name] for name in _TYPED if name in form}

    def tried(status: int, title: str, text: str, **more: Any) -> RejectedForm:
        return RejectedForm(action_id, decision, status, title, text, typed=typed, **more)

    if isinstance(refused, BadFields):
        return tried(400, *_CHECK_FORM, wrong=refused.wrong)
    if isinstance(refused, NeedsPerson):
        return tried(403, *_NEEDS_PERSON, sign_in=True)
    if isinstance(refused, NowBound):
        return tried(409, "Look at where it goes", str(refused))
    if isinstance(refused, NotReady):
        text = f"Nothing was decided and nothing was sent. {refused} To approve it all the same, press “Approve” alone."
        return tried(
            409, "It cannot be sent now", f"Nothing was sent. {refused}" if decision == "send" else text
        )
    # Keep typed text, but not an approval of different content.
    reopen = decision == "edit"
    if not isinstance(refused, Refusal):
        return tried(403, *_OUT_OF_DATE, reopen=reopen)
    status, recovery = MEANINGS[refused.reason].status, refused.recovery()
    approving = decision in ("approve", "send")
    if refused.reason is Reason.REQUIRES_APPROVAL and approving:
        return tried(status, *_NEEDS_PERSON, sign_in=True)
    if refused.reason is Reason.VALIDATION_ERROR and approving and recovery.recovery_tool:
        # The problem is in the action, not in the form.
        return tried(409, "This cannot be approved as it is", recovery.user_message)
    if refused.reason is Reason.VALIDATION_ERROR and isinstance(recovery.problems, list):
        wrong = {
            each.path.partition(".")[0]: f"Expected {each.expected}; this is {each.got}."
            for each in recovery.problems
        }
        return tried(status, *_CHECK_FORM, wrong=wrong)
    title, text = _TITLES.get(refused.reason, (recovery.summary_for_user, recovery.user_message))
    return tried(status, title, text, reopen=reopen)
