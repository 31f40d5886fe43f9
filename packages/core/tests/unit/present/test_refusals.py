"""What the gate objects to, as an agent gets it: the facts beside the words."""

from __future__ import annotations

import pytest
from tests.support.builders import put_in, stage

from assent.gate.gate import Case, Objection
from assent.gate.policy import Requirement
from assent.gate.records import Action, Assurance
from assent.gate.transitions import EXECUTED, UNKNOWN
from assent.gate.views import Unfit, View
from assent.kernel.refusals import Problem, Recovery
from assent.present.refusals import IN_PROGRESS_RETRY_SECONDS, word

DENIED = Requirement(Assurance.PERSON, denied="No refunds.", rules=("never",))


def answer(case: Case, action: Action | None = None, needed: Requirement | None = None) -> Recovery:
    about = action or (put_in(EXECUTED) if case in (Case.CLOSED, Case.ENDED) else stage())
    if case is Case.UNFIT:
        about = stage(view=View(unfit=Unfit("recipients_missing", "It has no recipients.")))
    if case is Case.DENIED:
        needed = needed or DENIED
    return word(Objection(case, about, needed)).recovery()


@pytest.mark.parametrize("case", Case)
def test_the_words_of_a_case_keep_its_reason_and_its_action(case: Case) -> None:
    said = answer(case)

    assert said.reason is Objection(case, stage()).reason
    assert said.action_id == stage().action_id


def test_what_is_in_progress_may_be_asked_for_again_in_a_moment() -> None:
    said = answer(Case.IN_PROGRESS)

    assert said.retryable and said.retry_after_seconds == IN_PROGRESS_RETRY_SECONDS


@pytest.mark.parametrize("case", [Case.CLOSED, Case.ENDED])
def test_a_closed_action_says_what_the_provider_called_it(case: Case) -> None:
    assert answer(case, put_in(EXECUTED, external_id="receipt-7")).external_id == "receipt-7"


@pytest.mark.parametrize(("via", "named"), [("", "acme"), ("Acme Pay", "Acme Pay")])
def test_an_unknown_outcome_names_the_provider(via: str, named: str) -> None:
    said = answer(Case.OUTCOME_UNKNOWN, put_in(UNKNOWN, view=View(via=via)))

    assert named in said.user_message
    assert ("acme" in said.user_message) is (via == "")


@pytest.mark.parametrize("unknown", ["", "currency"])
def test_a_denial_names_its_rule_and_the_value_that_it_could_not_judge(unknown: str) -> None:
    said = answer(
        Case.DENIED, needed=Requirement(Assurance.PERSON, denied="No.", rules=("few",), unknown=unknown)
    )

    assert "few" in said.user_message + said.fix_action_for_agent
    problems = said.problems if isinstance(said.problems, list) else []
    assert [each.path for each in problems if isinstance(each, Problem)] == ([unknown] if unknown else [])
