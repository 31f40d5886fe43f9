"""An outlook is a value: who may do what with an action, what stands in its way, what a refusal adds."""

from __future__ import annotations

from typing import Any, Final

import pytest
from msgspec.structs import replace
from tests.support.builders import NOW_MS, approve, put_in, stage

from assent.gate.effects import EffectTypes
from assent.gate.gate import Case, Objection
from assent.gate.policy import DEFAULT
from assent.gate.preflight import Readiness
from assent.gate.records import Freeze, Status
from assent.gate.review_link import DECIDE_RIGHT, EXECUTE_RIGHT
from assent.gate.transitions import EXECUTED, FAILED
from assent.kernel.guide import Guide
from assent.kernel.refusals import Reason, Refusal
from assent.present.next_steps import LETS_IT_GO, describe_decision
from assent.present.outlook import WRITE_RIGHT, Outlook, RunLinks, Unready, key_of_account
from assent.present.refusals import word
from assent.present.status_report import explain

WAITING: Final = stage()
RIGHTS: Final = frozenset({DECIDE_RIGHT, EXECUTE_RIGHT, WRITE_RIGHT})


BY_A_PERSON: Final = {
    Case.OUTCOME_UNKNOWN,
    Case.ENDED,
    Case.WAITING,
    Case.UNMET,
    Case.UNSEALED,
    Case.EARLY,
    Case.NOTHING_TO_WITHDRAW,
    Case.STALE,
}
"""What a person answers on the review page."""


def look(**changes: Any) -> Outlook:
    """The outlook of a key with all rights, where nothing stands in the way."""
    return Outlook(
        **{
            "caller": "key:1",
            "rights": RIGHTS,
            "client_dialog": False,
            "policy": DEFAULT,
            "unready": {},
            "effects": EffectTypes(),
            "missing": frozenset(),
            "frozen": (),
            "links": {WAITING.run_id: RunLinks("https://assent.test/runs/1", "seen")},
            "now_ms": NOW_MS,
            **changes,
        }
    )


@pytest.mark.parametrize("right", [DECIDE_RIGHT, EXECUTE_RIGHT, WRITE_RIGHT])
def test_a_key_may_do_what_its_rights_say(right: str) -> None:
    around = look(rights=RIGHTS - {right}).describe(WAITING)

    assert around.may_edit is (right != DECIDE_RIGHT)
    assert around.may_execute is (right != EXECUTE_RIGHT)
    assert around.may_write is (right != WRITE_RIGHT)


def test_a_key_that_may_not_decide_gets_the_link_for_a_person() -> None:
    around = look(rights=RIGHTS - {DECIDE_RIGHT}).describe(WAITING)

    assert not around.may_decide
    assert around.review_url == "https://assent.test/runs/1"


def test_an_account_that_can_be_connected_is_named_with_its_page() -> None:
    unready = Unready(Readiness(ready=False, summary="Not connected."), "https://assent.test/connect/acme")
    around = look(unready={key_of_account(WAITING.effect): unready}).describe(WAITING)

    assert (around.blocker, around.help_url) == ("Not connected.", "https://assent.test/connect/acme")


def test_an_account_that_is_not_ready_stands_in_the_way_of_nothing_that_has_ended() -> None:
    unready = Unready(Readiness(ready=False, summary="Not connected."), "https://assent.test/connect/acme")
    around = look(unready={key_of_account(WAITING.effect): unready}).describe(put_in(FAILED))

    assert (around.blocker, around.help_url, around.connectable) == (None, None, False)


def test_connecting_an_account_of_an_approved_action_is_said_to_let_it_go_out() -> None:
    unready = Unready(Readiness(ready=False, summary="Not connected."), "https://assent.test/connect/acme")
    stage_for = replace(WAITING.effect, target={"accountId": "1", "name": "@acme"})
    action = approve(stage(stage_for))
    around = look(
        unready={key_of_account(action.effect): unready},
        links={action.run_id: RunLinks("https://assent.test/runs/1", "seen")},
    ).describe(action)

    assert LETS_IT_GO in describe_decision("approve", action, around)
    assert LETS_IT_GO in explain(action, around, NOW_MS)
    assert LETS_IT_GO not in explain(
        action, look(links={action.run_id: RunLinks("", "")}).describe(action), NOW_MS
    )


def test_a_freeze_is_an_obstacle_to_what_the_server_sends() -> None:
    frozen = Freeze(WAITING.workspace_id, NOW_MS, "Ada", "Stop.")

    assert look(frozen=(frozen,)).describe(WAITING).obstacle
    assert look().describe(WAITING).obstacle is None


def test_a_refused_send_shows_the_action_as_it_waits_again() -> None:
    refused = Refusal(Reason.REQUIRES_APPROVAL, action_id=WAITING.action_id).recovery()
    completed = look().complete(refused, approve(WAITING))

    assert isinstance(completed.agent_guide, Guide)
    assert completed.agent_guide.render_in_chat
    assert completed.review_url == "https://assent.test/runs/1"
    assert "chieflab_reject_action" in str(completed.agent_guide.next_tool_calls)


@pytest.mark.parametrize("case", sorted(set(Case) - {Case.UNFIT, Case.DENIED}))
def test_a_review_link_is_given_where_a_person_can_help(case: Case) -> None:
    about = put_in(EXECUTED) if case in (Case.CLOSED, Case.ENDED) else WAITING
    said = look().complete(word(Objection(case, about)).recovery(), about)

    assert (said.review_url == "https://assent.test/runs/1") is (case in BY_A_PERSON)
    assert case not in BY_A_PERSON or not (said.recovery_tool or said.retryable)


def test_an_answer_to_a_decision_shows_what_still_waits() -> None:
    outlook = look()

    edited, approved = (
        outlook.answer_decision(action, move).agent_guide
        for action, move in ((WAITING, "edit"), (approve(WAITING), "approve"))
    )

    assert isinstance(edited, Guide) and edited.render_in_chat
    assert isinstance(approved, Guide) and not approved.render_in_chat
    assert outlook.answer_decision(approve(WAITING), "approve").status == Status.APPROVED
