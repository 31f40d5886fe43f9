"""The guards of a claim, one at a time: which facts let an action be sent, refuse it, or raise a question."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.builders import NOW_MS, REFUND, SEALS, approve, put_in, stage

from assent.engine.actions import doubts, guards
from assent.engine.actions.guards import (
    GUARDS,
    PASS,
    Ask,
    ClaimFacts,
    HasDrifted,
    HaveApproversLeft,
    IsReady,
    Pass,
    ReadinessAnswer,
    Refuse,
    Verdict,
    WasSent,
)
from assent.gate.effects import EXECUTE, EffectType, EffectTypes
from assent.gate.policy import DEFAULT, Requirement
from assent.gate.preflight import Readiness
from assent.gate.records import WORKFLOW, Action, Assurance, Freeze, Observation, Voice, as_test
from assent.gate.transitions import APPROVED, AWAITING, EXECUTED, State
from assent.gate.views import Facets, Unfit, View
from assent.kernel.limits import HOUR_MS
from assent.kernel.refusals import Reason
from assent.ports import Delivery

REFUNDS = EffectTypes([EffectType(channel="acme", verb="refund")])
ADA, BOB = Voice("person:ada", Assurance.PERSON, NOW_MS), Voice("person:bob", Assurance.PERSON, NOW_MS)
FROZEN = Freeze(stage().workspace_id, NOW_MS, "Ada", "Stop.")


class Acme:
    """A connector, as far as guards look at one."""

    id = "acme"
    always_ready = True
    observes = False
    emulated = False

    def __init__(self, kind: Any = "none", window_ms: int | None = None) -> None:
        self.delivery = Delivery(kind, window_ms=window_ms)


class MustBeAsked(Acme):
    always_ready = False


def facts(action: Action | None = None, **changes: Any) -> ClaimFacts:
    """The facts about an action that may be sent, but for these changes."""
    about = action or with_type(put_in(APPROVED))
    known: dict[str, Any] = {
        "needed": DEFAULT.require(about),
        "voices": None,
        "frozen": None,
        "times": (NOW_MS,),
        "tool": about.executor_tool,
        "approval": None,
        "asked": None,
        "effects": REFUNDS,
        "connector": Acme(),
        "prices": {},
        "seals": SEALS,
    }
    return ClaimFacts(**{"action": about, **known, **changes})


def with_type(action: Action, **view: Any) -> Action:
    """The action with the view of its type."""
    return replace(action, view=View(**view))


def answer(readiness: Readiness, observed: Observation | None = None, **changes: Any) -> ReadinessAnswer:
    return replace(ReadinessAnswer("acme", REFUND.digest(), readiness, observed), **changes)


def read_reason(verdict: Verdict) -> Reason:
    assert isinstance(verdict, Refuse)
    return verdict.refusal.reason


READY, BLOCKED = (
    Readiness(ready=True),
    Readiness(ready=False, blocker="not_connected", fix_hint="Connect it."),
)
LATER_MS = NOW_MS + HOUR_MS


def test_an_action_that_no_guard_objects_to_may_be_sent() -> None:
    assert guards.judge(facts()) is PASS


def test_every_guard_lets_such_an_action_pass() -> None:
    assert [guard(facts()) for guard in GUARDS] == [PASS] * len(GUARDS)


def test_a_guard_that_returns_a_pass_of_its_own_spares_no_later_guard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guards, "GUARDS", (lambda _: Pass(), guards.is_not_frozen))
    assert read_reason(guards.judge(facts(frozen=FROZEN))) is Reason.FROZEN


FAILING: dict[str, dict[str, Any]] = {
    "is_not_frozen": {"frozen": FROZEN},
    "is_approved": {"seals": type(SEALS).of((b"another secret of enough characters",))},
    "has_its_approvers": {"voices": ()},
    "has_the_approval_that_is_meant": {"approval": 7},
    "suits_the_tool": {"tool": "other_tool"},
    "can_be_performed": {"connector": None},
}


def test_the_guards_are_asked_in_their_order_and_the_first_objection_counts() -> None:
    names = [guard.__name__ for guard in GUARDS]
    order = sorted(FAILING, key=names.index)
    for number, name in enumerate(order):
        wrong: dict[str, Any] = {}
        for each in order[number:]:
            wrong |= FAILING[each]
        about = facts(**wrong)
        guard = GUARDS[names.index(name)]
        assert guards.judge(about) != PASS
        assert type(guards.judge(about)) is type(guard(about))
        if isinstance(found := guards.judge(about), Refuse):
            assert found.refusal.recovery() == refused_by(guard(about))


def refused_by(verdict: Verdict) -> Any:
    assert isinstance(verdict, Refuse)
    return verdict.refusal.recovery()


@pytest.mark.parametrize(
    ("test", "emulated", "passes"), [(True, False, False), (True, True, True), (False, False, True)]
)
def test_a_test_reaches_an_emulator_or_no_one(test: bool, emulated: bool, passes: bool) -> None:
    connector = Acme()
    connector.emulated = emulated
    for executes in ("server", "agent"):
        about = with_type(put_in(APPROVED), executes=executes)
        verdict = guards.is_no_test(facts(as_test(about) if test else about, connector=connector))
        assert (verdict is PASS) is passes
        assert passes or read_reason(verdict) is Reason.PROVIDER_NOT_LIVE
    assert guards.may_reach(as_test(stage()) if test else stage(), None) is not test


def test_what_is_frozen_is_refused_as_such() -> None:
    verdict = guards.is_not_frozen(facts(frozen=FROZEN))

    assert read_reason(verdict) is Reason.FROZEN
    assert refused_by(verdict).action_id == facts().action.action_id
    assert guards.is_not_frozen(facts()) is PASS


@pytest.mark.parametrize(
    ("state", "schedule_ms", "early"),
    [
        (APPROVED, LATER_MS, True),
        (APPROVED, NOW_MS, False),
        (APPROVED, None, False),
        (AWAITING, LATER_MS, False),
        (EXECUTED, LATER_MS, False),
    ],
)
def test_only_what_is_approved_for_a_later_time_is_early(
    state: State, schedule_ms: int | None, early: bool
) -> None:
    assert guards.is_early(put_in(state, schedule_ms=schedule_ms), NOW_MS) is early


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (stage(), Reason.REQUIRES_APPROVAL),
        (put_in(EXECUTED), Reason.REQUIRES_APPROVAL),
        (put_in(APPROVED, expires_ms=NOW_MS), Reason.ACTION_EXPIRED),
    ],
)
def test_what_the_gate_objects_to_is_refused_with_its_words(action: Action, reason: Reason) -> None:
    assert read_reason(guards.is_approved(facts(with_type(action)))) is reason


def test_what_a_person_performs_may_be_approved_and_expired() -> None:
    expired = put_in(APPROVED, expires_ms=NOW_MS)

    assert guards.is_approved(facts(with_type(expired, executes="person"))) is PASS
    assert guards.is_approved(facts(with_type(expired, executes="agent"))) is not PASS


@pytest.mark.parametrize(
    ("voices", "passes"), [(None, True), ((ADA, BOB), True), ((ADA,), False), ((), False)]
)
def test_an_approval_whose_approvers_have_left_raises_a_question(
    voices: tuple[Voice, ...] | None, passes: bool
) -> None:
    about = facts(voices=voices, needed=Requirement(Assurance.PERSON, 2))

    verdict = guards.has_its_approvers(about)

    assert verdict == (PASS if passes else Ask(HaveApproversLeft(about.action)))


@pytest.mark.parametrize(("meant", "passes"), [(None, True), (3, True), (2, False)])
def test_a_job_uses_only_the_approval_that_scheduled_it(meant: int | None, passes: bool) -> None:
    about = facts(approve(stage(), since=3), approval=meant)

    verdict = guards.has_the_approval_that_is_meant(about)

    if passes:
        assert verdict is PASS
    else:
        assert read_reason(verdict) is Reason.REQUIRES_APPROVAL
    missing = guards.has_the_approval_that_is_meant(replace(about, action=stage(), approval=3))
    assert read_reason(missing) is Reason.REQUIRES_APPROVAL


@pytest.mark.parametrize(
    ("executes", "tool", "passes"),
    [
        ("server", "own_tool", True),
        ("server", EXECUTE, True),
        ("server", "other_tool", False),
        ("agent", "own_tool", True),
        ("agent", EXECUTE, False),
    ],
)
def test_an_action_is_sent_by_its_own_tool_or_the_general_one(executes: Any, tool: str, passes: bool) -> None:
    action = with_type(put_in(APPROVED, executor_tool="own_tool"), executes=executes)

    verdict = guards.suits_the_tool(facts(action, tool=tool))

    if passes:
        assert verdict is PASS
    else:
        assert read_reason(verdict) is Reason.VALIDATION_ERROR
        assert [problem.path for problem in refused_by(verdict).problems] == ["actionId"]
        assert refused_by(verdict).action_id == action.action_id


def test_no_tool_sends_the_confirmation_of_a_step() -> None:
    step = put_in(APPROVED, replace(REFUND, connector=WORKFLOW))

    assert read_reason(guards.suits_the_tool(facts(step, tool=EXECUTE))) is Reason.VALIDATION_ERROR


def test_content_that_could_not_be_delivered_is_not_sent() -> None:
    unfit = with_type(put_in(APPROVED), unfit=Unfit("recipients_missing", "It has no recipients."))

    assert guards.is_fit(facts()) is PASS
    assert read_reason(guards.is_fit(facts(unfit))) is Reason.VALIDATION_ERROR


def test_what_is_ready_or_always_ready_can_be_performed() -> None:
    assert guards.can_be_performed(facts()) is PASS
    assert guards.can_be_performed(facts(connector=MustBeAsked(), asked=answer(READY))) is PASS
    assert guards.can_be_performed(facts(asked=answer(BLOCKED))) is PASS


@pytest.mark.parametrize(
    "asked",
    [None, answer(READY, connector_id="other"), answer(READY, digest=replace(REFUND, body="other").digest())],
)
def test_a_connector_is_asked_about_exactly_this_content_first(asked: ReadinessAnswer | None) -> None:
    about = facts(connector=MustBeAsked(), asked=asked)
    assert about.connector is not None

    assert guards.can_be_performed(about) == Ask(IsReady(about.action, about.connector))


def test_what_cannot_be_performed_is_refused_with_what_is_in_the_way() -> None:
    blocked = guards.can_be_performed(facts(connector=MustBeAsked(), asked=answer(BLOCKED)))
    gone = guards.can_be_performed(facts(effects=EffectTypes()))
    by_hand = guards.can_be_performed(facts(with_type(put_in(APPROVED), executes="person")))
    not_live = guards.can_be_performed(facts(connector=None))

    assert isinstance(by_hand, Refuse)
    assert read_reason(not_live) is read_reason(gone) is Reason.PROVIDER_NOT_LIVE
    assert isinstance(blocked, Refuse)
    assert len({str(refused_by(each)) for each in (blocked, gone, by_hand, not_live)}) == 4


def test_a_person_performs_by_hand_also_where_no_connector_is() -> None:
    by_hand = with_type(put_in(APPROVED), executes="person")

    found = guards.can_be_performed(facts(by_hand, connector=None))

    assert refused_by(found) == refused_by(guards.can_be_performed(facts(by_hand)))


PAID = Facets(amount="12.50", currency="EUR")


def observed(before: Observation | None) -> Action:
    """An action that was approved when this was observed."""
    return with_type(approve(stage(), observed=before), facets=PAID)


@pytest.mark.parametrize(
    ("before", "asked", "changed"),
    [
        (None, None, []),
        (Observation(amount="12.50 EUR"), None, []),
        (Observation(amount="1 EUR"), None, ["amount"]),
        (Observation(amount="12.50 EUR"), answer(READY), []),
        (Observation(amount="12.50 EUR"), answer(READY, Observation(amount="12.50 EUR")), []),
        (Observation(amount="12.50 EUR"), answer(READY, Observation(amount="1 EUR")), ["amount"]),
        (Observation(credits=3), None, ["credits", "amount"]),
    ],
)
def test_what_is_not_as_it_was_approved_raises_a_question(
    before: Observation | None, asked: ReadinessAnswer | None, changed: list[str]
) -> None:
    about = facts(observed(before), asked=asked, prices={"acme": 5})

    verdict = guards.is_as_it_was_approved(about)

    if not changed:
        assert verdict is PASS
    else:
        assert isinstance(verdict, Ask) and isinstance(verdict.question, HasDrifted)
        assert sorted(each.path for each in verdict.question.changes) == sorted(changed)
        assert verdict.question.action is about.action


def test_an_observation_of_the_connector_counts_before_what_is_known_without_it() -> None:
    now = Observation(amount="1 EUR")

    verdict = guards.is_as_it_was_approved(
        facts(observed(Observation(amount="2 EUR")), asked=answer(READY, now))
    )

    assert isinstance(verdict, Ask) and isinstance(verdict.question, HasDrifted)
    assert verdict.question.now == now


def test_an_action_without_an_approval_has_not_drifted() -> None:
    assert guards.is_as_it_was_approved(facts(stage())) is PASS


@pytest.mark.parametrize(
    ("connector", "times", "passes"),
    [
        (Acme("natural_key"), (NOW_MS,), True),
        (Acme("native_key", 2 * HOUR_MS), (NOW_MS,), True),
        (Acme("native_key", 2 * HOUR_MS), (NOW_MS, NOW_MS + HOUR_MS), False),
        (Acme("native_key", 2 * HOUR_MS), (NOW_MS + HOUR_MS, NOW_MS), False),
        (Acme("none"), (NOW_MS,), False),
        (None, (NOW_MS,), False),
    ],
)
def test_what_a_restore_left_in_doubt_is_sent_only_if_a_repetition_is_recognised(
    connector: Acme | None, times: tuple[int, ...], passes: bool
) -> None:
    about = facts(doubts.add_doubt(put_in(APPROVED), NOW_MS), connector=connector, times=times)

    verdict = guards.was_not_sent_before_a_restore(about)

    assert verdict == (PASS if passes else Ask(WasSent(about.action)))


def test_an_edited_action_is_not_recognised_and_one_without_doubt_is_not_asked_about() -> None:
    edited = replace(doubts.add_doubt(put_in(APPROVED), NOW_MS), revision=2)

    assert guards.was_not_sent_before_a_restore(facts(edited, connector=Acme("natural_key"))) != PASS
    assert guards.was_not_sent_before_a_restore(facts(connector=None)) is PASS


def test_the_time_of_a_claim_is_now() -> None:
    assert facts(times=(NOW_MS, LATER_MS)).now_ms == NOW_MS
