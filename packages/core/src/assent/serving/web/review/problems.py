"""Refused decisions: the reason, worded for the person at the page, and the typed values; or the
confirm page, if the decision only lacks assurance.

The texts for agents are in `kernel.reasons` and `present.refusals`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from starlette.requests import Request

from assent.engine.actions.approvals import GivenApproval
from assent.engine.core.services import Services
from assent.engine.views.review import RunReview
from assent.gate.policy import Policy, suffices
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Assurance, Voice
from assent.gate.transitions import FAILED, state_of
from assent.gate.views import Facts
from assent.kernel.canonical import short_digest
from assent.kernel.refusals import MEANINGS, Reason, Refusal
from assent.present.cards import goes_to, write_block
from assent.present.outlook import NOT_SEEN
from assent.present.refusals import SIGNED_IN_ANSWER
from assent.serving.web.people.confirming import Confirming, Consequence
from assent.serving.web.review.access import Viewer
from assent.serving.web.review.blocks import list_arguments, list_facts
from assent.serving.web.review.forms import (
    ARGUMENT,
    OPEN,
    RejectedForm,
    completes,
    locate_problems,
    sends_at_once,
)
from assent.serving.web.review.naming import is_function, say_effect, shorten_value
from assent.serving.web.shell.problems import AnswerInstead, PageProblem
from assent.use_cases.decisions import read_readiness

NO_SUCH_ACTION: Final = PageProblem(
    404,
    "There is nothing to decide here",
    "This run has no such action.",
    "Go back, reload the page and decide there.",
    None,
)


class BadFields(Exception):  # noqa: N818 - a state of the form
    def __init__(self, wrong: dict[str, str]) -> None:
        super().__init__(", ".join(sorted(wrong)))
        self.wrong = wrong


class NeedsPerson(Exception):  # noqa: N818 - what is missing
    """Only a signed-in person can do this."""


_TYPED: Final[tuple[str, ...]] = (
    *("name", "reason", "text", "body", "title", "subject", "recipients", "cc", "reply_to"),
    *("outcome", "evidence", "url", "comment", "asked"),
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
        "From this moment on it can be neither changed nor taken back. Reload the page in a moment.",
    ),
    Reason.OUTCOME_UNKNOWN: (
        "It is not known whether this was sent",
        "This server has no confirmation that it went out. Look at the provider, then answer below.",
    ),
}


_CHECK_FORM: Final = ("Check the form", "Nothing was changed.")
_NEEDS_PERSON: Final = (
    "This needs a signed-in person",
    "Nothing was decided. A review link alone is not enough for this: sign in, and you come back here to "
    "press the button again.",
)
_OUT_OF_DATE: Final = (
    "This form was out of date",
    "It was opened too long ago, in another browser, or about other content. Nothing was decided. The current "
    "state is below: read it, then decide.",
)


def explain(refused: Exception, action_id: str, decision: str, form: dict[str, str]) -> RejectedForm:
    """Explain a refused decision to the person. A `PageRefused` is about the form's age."""
    typed = {name: text for name, text in form.items() if name in _TYPED or name.startswith(ARGUMENT)}

    def tried(status: int, title: str, text: str, **more: Any) -> RejectedForm:
        return RejectedForm(action_id, decision, status, title, text, typed=typed, **more)

    if isinstance(refused, BadFields):
        return tried(400, *_CHECK_FORM, wrong=refused.wrong)
    if lacks_assurance(refused, decision):
        by_policy = isinstance(refused, Refusal) and decision != "resolve"
        return tried(409 if by_policy else 403, *_NEEDS_PERSON, sign_in=True)
    # Keep typed text, but not an approval of different content.
    reopen = decision == "edit"
    if not isinstance(refused, Refusal):
        return tried(403, *_OUT_OF_DATE, reopen=reopen)
    status, recovery = MEANINGS[refused.reason].status, refused.recovery()
    approving = decision in ("approve", "send")
    if refused.reason is Reason.MISSING_CONNECTOR and approving:
        if decision == "send":
            text = f"Nothing was sent. {recovery.user_message}"
        else:
            text = f"Nothing was decided and nothing was sent. {recovery.user_message}"
        if form.get("then") == "send":
            text = f"{text} To approve it all the same, press “Approve” alone."
        return tried(409, "It cannot be sent now", text)
    if refused.reason is Reason.VALIDATION_ERROR and approving and recovery.recovery_tool:
        # The problem is in the action, not in the form.
        return tried(409, "This cannot be approved as it is", recovery.user_message)
    if refused.reason is Reason.VALIDATION_ERROR and isinstance(recovery.problems, list):
        wrong = {
            name: f"Expected {found[-1].expected}; this is {found[-1].got}."
            for name, found in locate_problems(recovery.problems, form).items()
        }
        return tried(status, *_CHECK_FORM, wrong=wrong)
    if refused.reason is Reason.STALE_REVISION and isinstance(recovery.problems, list):
        return tried(status, "Something has changed since this was shown", recovery.user_message)
    if refused.reason is Reason.STALE_REVISION and recovery.user_message.endswith(NOT_SEEN):
        return tried(409, "Look at where it goes", recovery.user_message)
    title, text = _TITLES.get(refused.reason, (recovery.summary_for_user, recovery.user_message))
    return tried(status, title, text, reopen=reopen)


def lacks_assurance(refused: Exception, decision: str) -> bool:
    """Whether a decision was refused because it needs someone who surely is a person."""
    if not isinstance(refused, Refusal) or refused.reason is not Reason.REQUIRES_APPROVAL:
        return isinstance(refused, NeedsPerson)
    says_so = refused.recovery().summary_for_user == SIGNED_IN_ANSWER.summary
    return decision in ("approve", "send") or says_so


def find_needed(refused: Exception, decision: str, action: Action, policy: Policy) -> Assurance | None:
    """Return the assurance for lack of which a decision may have been refused; None if it was
    refused for another reason."""
    if not lacks_assurance(refused, decision):
        return None
    by_policy = isinstance(refused, Refusal) and decision in ("approve", "send")
    return policy.require(action).assurance if by_policy else Assurance.PERSON


async def ask_to_confirm(
    confirming: Confirming,
    request: Request,
    looked_up: tuple[Viewer, Action, Policy, tuple[GivenApproval, ...]],
    refused: Exception,
    form: dict[str, str],
) -> None:
    """Answer with the confirm page if a decision was refused for lack of assurance and the person
    can give more."""
    viewer, action, policy, given = looked_up
    decision = request.path_params["decision"]
    needed = find_needed(refused, decision, action, policy)
    if needed is None or viewer.session is None or not suffices(viewer.reach, needed):
        return
    if not suffices(viewer.assurance, needed):
        what = describe(action, decision, form)
        asked = policy.require(action)
        voice = Voice(viewer.approver, viewer.reach, 0, viewer.role)
        if decision == "approve" and asked.approvers > 1 and not completes(asked, given, voice, action):
            count = f"{len(given) + 1} of {asked.approvers}"
            text = f"{what.text} Nothing happens before another person has approved it, too."
            title, button = "Record your approval?", f"Record my approval, {count}"
            what = msgspec.structs.replace(what, title=title, text=text, button=button)
        raise AnswerInstead(await confirming.ask(request, viewer.session, form, what, needed))


def describe(action: Action, decision: str, form: dict[str, str]) -> Consequence:
    """Describe what a decision about one action does."""
    view = action.view
    given = list_arguments(action) if is_function(action) else ()
    # Those of an agent are its own word.
    facts_beside = list_facts(view.blocks) if view.executes == "server" else ()
    if view.in_blocks:
        shown = (each for each in view.blocks if not isinstance(each, Facts))
        facts_beside += tuple((each.label, write_block(each)) for each in shown)
    # A function that goes somewhere is a request: the whole address is shown, as it is asked.
    address = goes_to(action.effect.target) if is_function(action) else None
    facts = (
        ("What", say_effect(action)),
        ("Goes to", address or view.destination.removeprefix("To ")),
        *facts_beside,
        *((label, shorten_value(value)) for label, value in given),
        ("Risk", f"{action.preflight.severity.value.capitalize()} risk"),
        ("Content", f"Revision {action.revision}, {short_digest(action.digest)}"),
    )
    back = f"/runs/{action.run_id}#action-{action.action_id}"
    act = "run" if is_function(action) else "send"
    if decision == "resolve":
        done = "run" if is_function(action) else "sent"
        text = f"You say that it did not happen. It may then be {done} again."
        return Consequence("It is not there?", text, "No, it is not there", facts, danger=True, back=back)
    if decision == "send" or form.get("then") == "send" or sends_at_once(action):
        verb = act.capitalize() if decision == "send" else f"Approve and {act}"
        title = f"{verb} this?"
    else:
        title, verb = "Approve this?", "Approve"
    if view.danger:
        return Consequence(view.heading, view.sentence, verb, facts, True, view.danger, back)
    return Consequence(title, view.sentence, verb, facts, back=back)


def describe_batch(found: tuple[Action, ...], form: dict[str, str]) -> Consequence:
    """Describe the approval of several actions, each by its title and digest."""
    facts = tuple(
        (f"{number}.", f"{say_effect(each)} ({short_digest(each.digest)})")
        for number, each in enumerate(found, 1)
    )
    now = form.get("then") == "send" or all(map(sends_at_once, found))
    act = "run" if all(map(is_function, found)) else "send"
    verb = f"Approve and {act}" if now else "Approve"
    these, all_ = ("this", "it") if len(found) == 1 else (f"these {len(found)}", f"all {len(found)}")
    text = "You confirm exactly what the page before showed."
    return Consequence(f"{verb} {these}?", text, f"{verb} {all_}", facts, back="/inbox")


async def read_readiness_of_run(services: Services, found: RunReview) -> dict[str, Readiness]:
    """Whether each open or failed action is ready, by its id."""
    return {
        action.action_id: readiness
        for action in found.actions
        if state_of(action) in (*OPEN, FAILED)
        and action.effect.connector in services.connectors
        and (readiness := await read_readiness(services, action)) is not None
    }
