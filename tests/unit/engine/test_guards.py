"""The guards of a claim as plain functions: what each says of what was read, and which is asked first."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.builders import NOW_MS, REFUND, SEALS, approve, stage

from assent.engine.actions import guards
from assent.engine.actions.guards import (
    PASS,
    Ask,
    ClaimFacts,
    HasDrifted,
    HaveApproversLeft,
    IsReady,
    ReadinessAnswer,
    Refuse,
    WasSent,
)
from assent.engine.core.freezes import Freeze
from assent.engine.recovery import doubts
from assent.gate.effects import EffectType, EffectTypes
from assent.gate.policy import DEFAULT, Requirement
from assent.gate.preflight import Readiness
from assent.gate.records import WORKFLOW, Assurance, Observation, Voice
from assent.gate.views import Unfit, View
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason
from assent.ports import Delivery
from assent.present.refusals import no_link

ADA = Voice("person:ada", Assurance.PERSON, NOW_MS)
TWO = Requirement(Assurance.PERSON, approvers=2)
REFUNDS = EffectTypes([EffectType(channel="acme", verb="refund", label="Refund")])


class Ready:
    """A connector that needs not be asked."""

    id, always_ready, delivery = "acme", True, Delivery("none")


class Asked(Ready):
    always_ready = False


def facts(**changes: Any) -> ClaimFacts:
    """What is read of an approved refund that may be sent."""
    action = changes.pop("action", None) or approve(stage())
    return ClaimFacts(
        **{
            "action": action,
            "needed": DEFAULT.require(action),
            "voices": None,
            "frozen": None,
            "times": (NOW_MS,),
            "tool": guards.EXECUTE_TOOL,
            "approval": None,
            "asked": None,
            "effects": REFUNDS,
            "connector": Ready(),
            "prices": {},
            "seals": SEALS,
            "links": no_link,
            **changes,
        }
    )


def read_reason(found: guards.Verdict) -> Reason:
    assert isinstance(found, Refuse)
    return found.refusal.reason


def test_an_approved_action_of_a_known_type_passes_all_guards() -> None:
    assert guards.judge(facts()) is PASS


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"frozen": Freeze(WorkspaceId("w"), NOW_MS, "Ada", "")}, Reason.FROZEN),
        ({"action": stage()}, Reason.REQUIRES_APPROVAL),
        ({"approval": 7}, Reason.REQUIRES_APPROVAL),
        ({"tool": "chieflab_send_approved_email"}, Reason.VALIDATION_ERROR),
        ({"action": approve(stage(replace(REFUND, connector=WORKFLOW)))}, Reason.VALIDATION_ERROR),
        ({"effects": EffectTypes()}, Reason.PROVIDER_NOT_LIVE),
        ({"connector": None}, Reason.PROVIDER_NOT_LIVE),
    ],
)
def test_a_guard_refuses(changes: dict[str, Any], reason: Reason) -> None:
    assert read_reason(guards.judge(facts(**changes))) is reason


def test_content_that_no_one_can_deliver_is_refused() -> None:
    unfit = approve(stage(view=replace(stage().view, unfit=Unfit("too_long", "It is too long."))))
    assert isinstance(guards.is_fit(facts(action=unfit)), Refuse)
    assert guards.is_fit(facts()) is PASS


def test_what_a_person_does_by_hand_is_not_sent() -> None:
    by_hand = approve(stage(view=View(executes="person")))
    assert isinstance(guards.can_be_performed(facts(action=by_hand)), Refuse)


@pytest.mark.parametrize(
    ("voices", "stays"), [((ADA,), False), ((ADA, replace(ADA, approver="person:kim")), True)]
)
def test_an_approval_of_which_too_few_are_left_is_a_question(voices: tuple[Voice, ...], stays: bool) -> None:
    found = facts(needed=TWO, voices=voices)
    assert guards.has_its_approvers(found) == (PASS if stays else Ask(HaveApproversLeft(found.action)))


def test_a_connector_is_asked_once_and_its_answer_counts_for_this_content_alone() -> None:
    connector: Any = Asked()
    unasked = facts(connector=connector)
    ready = ReadinessAnswer("acme", unasked.action.digest, Readiness(ready=True))
    assert guards.can_be_performed(unasked) == Ask(IsReady(unasked.action, connector))
    assert guards.can_be_performed(facts(connector=connector, asked=ready)) is PASS
    other = replace(ready, digest="sha256:other")
    assert isinstance(guards.can_be_performed(facts(connector=connector, asked=other)), Ask)
    unready = replace(ready, readiness=Readiness(ready=False))
    assert read_reason(guards.can_be_performed(facts(connector=connector, asked=unready))) is not None


def test_a_price_that_rose_after_the_approval_is_a_question() -> None:
    approved = approve(stage(), observed=Observation(credits=1))
    dearer = ReadinessAnswer("acme", approved.digest, Readiness(ready=True), Observation(credits=3))
    same = replace(dearer, observed=Observation(credits=1))
    found = guards.is_as_it_was_approved(facts(action=approved, asked=dearer))
    assert isinstance(found, Ask) and isinstance(found.question, HasDrifted)
    assert guards.is_as_it_was_approved(facts(action=approved, asked=same)) is PASS


def test_what_a_restore_left_in_doubt_is_a_question_unless_the_provider_recognises_it() -> None:
    doubted = doubts.add_doubt(approve(stage()), NOW_MS - 1_000)
    connector = Ready()
    connector.delivery = Delivery("native_key", window_ms=10_000)
    recognised = facts(action=doubted, connector=connector)
    assert guards.was_not_sent_before_a_restore(facts(action=doubted)) == Ask(WasSent(doubted))
    assert guards.was_not_sent_before_a_restore(recognised) is PASS
    set_back = replace(recognised, times=(NOW_MS, NOW_MS + 60_000))
    assert guards.was_not_sent_before_a_restore(set_back) == Ask(WasSent(doubted))


def test_the_approval_is_judged_before_anything_is_asked() -> None:
    waiting = stage()
    found = facts(action=waiting, voices=(), connector=None, approval=7)
    assert read_reason(guards.judge(found)) is Reason.REQUIRES_APPROVAL
    assert isinstance(guards.judge(replace(found, action=approve(waiting))), Ask)
