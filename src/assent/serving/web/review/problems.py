"""Refused decisions: the reason, worded for the person at the page, and the typed values; or the
confirm page, if the decision only lacks assurance.

`kernel.refusals` words the same reasons for agents.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request

from assent.engine.core.services import Services
from assent.engine.views.review import RunReview
from assent.gate.policy import Policy, suffices
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Assurance
from assent.gate.transitions import FAILED, state_of
from assent.gate.views import Facts
from assent.kernel.canonical import short_digest
from assent.kernel.refusals import MEANINGS, Reason, Refusal
from assent.present.cards import goes_to, write_block
from assent.present.outlook import NOT_SEEN
from assent.present.refusals import SIGNED_IN_ANSWER
from assent.serving.web.people.confirming import Confirming, Consequence
from assent.serving.web.review import words
from assent.serving.web.review.access import Viewer
from assent.serving.web.review.blocks import list_arguments, list_facts
from assent.serving.web.review.fields import ARGUMENT, locate_problems
from assent.serving.web.review.forms import OPEN, RejectedForm, sends_at_once
from assent.serving.web.review.naming import is_function, say_effect, shorten_value
from assent.serving.web.review.words import SEVERITIES
from assent.serving.web.shell.problems import AnswerInstead, PageProblem
from assent.use_cases.decisions import read_readiness

NO_SUCH_ACTION: Final = PageProblem(
    404,
    words.THERE_IS_NOTHING_TO_DECIDE,
    words.THIS_RUN_HAS_NO_SUCH,
    words.GO_BACK_RELOAD_THE_PAGE,
    None,
)


class BadFields(Exception):  # noqa: N818 - a state of the form
    def __init__(self, wrong: dict[str, str]) -> None:
        super().__init__(", ".join(sorted(wrong)))
        self.wrong = wrong


class NeedsPerson(Exception):  # noqa: N818 - what is missing
    """Only a signed-in person can do this."""


_TYPED: Final[tuple[str, ...]] = (
    *("name", "reason", "text", "body", "title", "subject", "recipients", "outcome", "evidence", "url"),
)

_TITLES: Final = {
    Reason.STALE_REVISION: (
        words.THE_CONTENT_CHANGED_WHILE,
        words.NOTHING_WAS_DECIDED_BELOW,
    ),
    Reason.ACTION_CLOSED: (
        words.THIS_WAS_DECIDED_ALREADY,
        words.SOMEONE_ALREADY_DECIDED_THIS_HERE,
    ),
    Reason.ACTION_EXPIRED: (
        words.THIS_DRAFT_HAS_EXPIRED,
        words.IT_WAS_PREPARED_TOO_LONG,
    ),
    Reason.EXECUTION_IN_PROGRESS: (
        words.IT_IS_BEING_SENT_RIGHT,
        words.FROM_THIS_MOMENT,
    ),
    Reason.OUTCOME_UNKNOWN: (
        words.IT_IS_NOT_KNOWN_WHETHER,
        words.THIS_SERVER_HAS_NO_CONFIRMATION,
    ),
}


_CHECK_FORM: Final = (words.CHECK_THE_FORM, words.NOTHING_WAS_CHANGED)
_NEEDS_PERSON: Final = (
    words.THIS_NEEDS_A_SIGNED,
    words.NOTHING_WAS_DECIDED_A_REVIEW,
)
_OUT_OF_DATE: Final = (
    words.THIS_FORM_WAS_OUT,
    words.IT_WAS_OPENED_TOO_LONG,
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
            text = words.NOTHING_WAS_SENT.format(refused=recovery.user_message)
        else:
            text = words.NOTHING_WAS_DECIDED_AND_NOTHING.format(refused=recovery.user_message)
        if form.get("then") == "send":
            text = f"{text} {words.TO_APPROVE_IT_ALL}"
        return tried(409, words.IT_CANNOT_BE_SENT_NOW, text)
    if refused.reason is Reason.VALIDATION_ERROR and approving and recovery.recovery_tool:
        # The problem is in the action, not in the form.
        return tried(409, words.THIS_CANNOT_BE_APPROVED, recovery.user_message)
    if refused.reason is Reason.VALIDATION_ERROR and isinstance(recovery.problems, list):
        wrong = {
            name: words.EXPECTED_THIS_IS.format(expected=found[-1].expected, got=found[-1].got)
            for name, found in locate_problems(recovery.problems, form).items()
        }
        return tried(status, *_CHECK_FORM, wrong=wrong)
    if refused.reason is Reason.STALE_REVISION and isinstance(recovery.problems, list):
        return tried(status, words.SOMETHING_HAS_CHANGED_SINCE, recovery.user_message)
    if refused.reason is Reason.STALE_REVISION and recovery.user_message.endswith(NOT_SEEN):
        return tried(409, words.LOOK_AT_WHERE_IT_GOES, recovery.user_message)
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
    looked_up: tuple[Viewer, Action, Policy],
    refused: Exception,
    form: dict[str, str],
) -> None:
    """Answer with the confirm page if a decision was refused for lack of assurance and the person
    can give more."""
    viewer, action, policy = looked_up
    decision = request.path_params["decision"]
    needed = find_needed(refused, decision, action, policy)
    if needed is None or viewer.session is None or not suffices(viewer.reach, needed):
        return
    if not suffices(viewer.assurance, needed):
        what = describe(action, decision, form)
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
        (words.GOES_TO, address or view.destination.removeprefix("To ")),
        *facts_beside,
        *((label, shorten_value(value)) for label, value in given),
        ("Risk", SEVERITIES[action.preflight.severity].text),
        ("Content", f"Revision {action.revision}, {short_digest(action.digest)}"),
    )
    back = f"/runs/{action.run_id}#action-{action.action_id}"
    act = "run" if is_function(action) else "send"
    if decision == "resolve":
        text = words.YOU_SAY_IT_DID_NOT_HAPPEN.format(act="run" if act == "run" else "sent")
        return Consequence(
            words.IT_IS_NOT_THERE, text, words.NO_IT_IS_NOT_THERE, facts, danger=True, back=back
        )
    if decision == "send" or form.get("then") == "send" or sends_at_once(action):
        verb = act.capitalize() if decision == "send" else words.APPROVE_AND_ACT.format(act=act)
        title = words.VERB_THIS.format(verb=verb)
    else:
        title, verb = words.APPROVE_THIS, "Approve"
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
    verb = (
        words.APPROVE_AND_ACT.format(act="run" if all(map(is_function, found)) else "send")
        if now
        else "Approve"
    )
    title = f"{verb} these {len(found)}?"
    text = words.YOU_CONFIRM_EXACTLY_THESE
    return Consequence(title, text, f"{verb} all {len(found)}", facts, back="/inbox")


async def read_readiness_of_run(services: Services, found: RunReview) -> dict[str, Readiness]:
    """Whether each open or failed action is ready, by its id."""
    return {
        action.action_id: readiness
        for action in found.actions
        if state_of(action) in (*OPEN, FAILED)
        and action.effect.connector in services.connectors
        and (readiness := await read_readiness(services, action)) is not None
    }
