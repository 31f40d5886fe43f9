"""The preflight of an action: severity, gates, warnings, price, time and expiry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.builders import NOW_MS, REFUND, put_in, stage

from assent.gate.preflight import (
    LEEWAY_MS,
    NOT_READY,
    TOO_MANY_TODAY,
    Checked,
    Readiness,
    after_edit,
    explain_expiry,
    extend_expiry,
    grade_severity,
    is_overdue,
    preflight,
    refuse_schedule,
    weigh_crowd,
    with_readiness,
)
from assent.gate.records import CREDITS_MISSING, Action, Preflight
from assent.gate.transitions import APPROVED, AWAITING, RETRYABLE, STATES, State
from assent.gate.views import Facets, Severity, Unfit, View
from assent.kernel.limits import DAY_MS, MANY_RECIPIENTS, MAX_SCHEDULE_AHEAD_MS
from assent.kernel.refusals import Reason, Refusal

LOW, MEDIUM, HIGH = Severity.LOW, Severity.MEDIUM, Severity.HIGH
READY = Readiness(ready=True)
BLOCKED = Readiness(ready=False, blocker="not_connected", fix_hint="Connect it.")
UNFIT = Unfit("recipients_missing", "It has no recipients.")


def people(count: int) -> tuple[str, ...]:
    return tuple(f"{number}@example.org" for number in range(count))


@pytest.mark.parametrize(
    ("risk", "declared", "warned", "severity"),
    [
        (LOW, None, False, LOW),
        (LOW, LOW, False, LOW),
        (LOW, None, True, MEDIUM),
        (LOW, MEDIUM, False, MEDIUM),
        (LOW, HIGH, False, HIGH),
        (MEDIUM, None, False, MEDIUM),
        (MEDIUM, LOW, False, MEDIUM),
        (MEDIUM, HIGH, False, HIGH),
        (HIGH, None, False, HIGH),
        (HIGH, LOW, True, HIGH),
    ],
)
def test_a_declared_risk_and_warnings_only_raise_the_severity(
    risk: Severity, declared: Severity | None, warned: bool, severity: Severity
) -> None:
    assert grade_severity(REFUND, View(risk=risk), declared, warned) is severity


@pytest.mark.parametrize(("count", "severity"), [(MANY_RECIPIENTS, LOW), (MANY_RECIPIENTS + 1, HIGH)])
def test_more_than_a_few_recipients_are_a_high_risk_wherever_they_are_named(
    count: int, severity: Severity
) -> None:
    in_effect = grade_severity(replace(REFUND, recipients=people(count)), View(risk=LOW), None, False)
    in_view = grade_severity(REFUND, View(risk=LOW, facets=Facets(recipients=people(count))), None, False)

    assert in_effect is in_view is severity


def test_a_preflight_has_the_facts_that_the_reviewer_needs() -> None:
    found = preflight(
        REFUND,
        View(risk=LOW, unfit=UNFIT),
        BLOCKED,
        warnings=("careful",),
        recommendations=("shorter",),
        gates=("human_approval", "picture"),
        cost_credits=3,
    )

    assert found == Preflight(
        severity=MEDIUM,
        warnings=("careful",),
        recommendations=("shorter",),
        gates=("human_approval", "picture", UNFIT.gate, NOT_READY),
        connector_ready=False,
        connector_blocker="not_connected",
        connector_fix_hint="Connect it.",
        estimated_cost_credits=3,
    )


@pytest.mark.rule("E44")
def test_a_person_approves_everything_also_what_has_no_defect() -> None:
    found = preflight(REFUND, View(risk=LOW), READY)

    assert found == Preflight(severity=LOW, gates=("human_approval",), connector_ready=True)


def test_publishing_by_hand_costs_nothing() -> None:
    assert preflight(REFUND, View(executes="person"), READY, cost_credits=3).estimated_cost_credits == 0
    assert preflight(REFUND, View(executes="agent"), READY, cost_credits=3).estimated_cost_credits == 3


def test_the_present_readiness_replaces_that_of_the_staging() -> None:
    ready, blocked = (
        preflight(REFUND, View(), READY, gates=("picture",)),
        preflight(REFUND, View(), BLOCKED, gates=("picture",)),
    )

    assert with_readiness(blocked, READY) == with_readiness(ready, READY) == ready
    assert with_readiness(ready, BLOCKED) == with_readiness(blocked, BLOCKED) == blocked
    assert blocked.gates == ("human_approval", "picture", NOT_READY)


def staged(view: View = View(risk=LOW), **found: Any) -> Action:  # noqa: B008 - frozen
    found = {"severity": LOW, "connector_ready": True, "gates": ("human_approval",), **found}
    return stage(view=view, preflight=Preflight(**found))


def test_an_edit_replaces_remarks_about_the_old_text_and_keeps_the_others() -> None:
    before = staged(
        warnings=("old text", "about the account", TOO_MANY_TODAY),
        recommendations=("old advice", "post at noon"),
        severity=MEDIUM,
    )
    checked = Checked(
        readiness=READY,
        outdated=("old text", "old advice"),
        warnings=("new text", "about the account"),
        recommendations=("new advice", "post at noon"),
    )

    found = after_edit(before, REFUND, before.view, checked, ("and this",))

    assert found.warnings == ("new text", "about the account")
    assert found.recommendations == ("new advice", "post at noon", "and this")
    assert found.severity is MEDIUM


def test_an_edit_without_a_check_keeps_the_readiness_of_its_connector_alone() -> None:
    before = staged(
        connector_ready=False, connector_blocker="not_connected", connector_fix_hint="Connect it."
    )

    same = after_edit(before, replace(REFUND, body="Refund 1 EUR"), before.view, None)
    other = after_edit(before, replace(REFUND, connector="other"), before.view, None)

    assert (same.connector_ready, same.connector_blocker) == (False, "not_connected")
    assert same.connector_fix_hint == "Connect it."
    assert (other.connector_ready, other.connector_blocker) == (True, None)


def test_an_edit_answers_the_defects_of_the_old_content_and_keeps_other_gates() -> None:
    before = staged(View(risk=LOW, unfit=UNFIT), gates=("human_approval", UNFIT.gate, NOT_READY, "picture"))

    assert after_edit(before, REFUND, View(risk=LOW), Checked(readiness=READY)).gates == (
        "human_approval",
        "picture",
    )
    still = after_edit(before, REFUND, View(risk=LOW, unfit=UNFIT), Checked(readiness=BLOCKED))
    assert still.gates == ("human_approval", "picture", UNFIT.gate, NOT_READY)


def test_an_edit_of_content_without_a_defect_keeps_every_gate() -> None:
    before = staged(gates=("human_approval", "picture"))

    assert after_edit(before, REFUND, View(risk=LOW), None).gates == ("human_approval", "picture")


def test_an_edit_keeps_the_price() -> None:
    assert after_edit(staged(estimated_cost_credits=3), REFUND, View(), None).estimated_cost_credits == 3


@pytest.mark.parametrize(
    ("severity", "warnings", "after"),
    [
        (LOW, (), LOW),
        (MEDIUM, (), MEDIUM),
        (HIGH, (), HIGH),
        (MEDIUM, ("old text",), LOW),
        (HIGH, ("old text",), HIGH),
        (HIGH, (TOO_MANY_TODAY,), LOW),
    ],
)
def test_an_edit_keeps_the_severity_that_an_operator_declared(
    severity: Severity, warnings: tuple[str, ...], after: Severity
) -> None:
    before = staged(severity=severity, warnings=warnings)

    assert (
        after_edit(before, REFUND, before.view, Checked(readiness=READY, outdated=warnings)).severity is after
    )


@pytest.mark.parametrize(
    ("severity", "reached", "raised"),
    [
        (LOW, MANY_RECIPIENTS, False),
        (LOW, MANY_RECIPIENTS + 1, True),
        (MEDIUM, MANY_RECIPIENTS + 1, True),
        (HIGH, MANY_RECIPIENTS + 1, False),
    ],
)
def test_mails_that_together_reach_many_people_are_a_high_risk(
    severity: Severity, reached: int, raised: bool
) -> None:
    found = Preflight(severity=severity, connector_ready=True, warnings=("careful",))

    after = weigh_crowd(found, reached)

    if raised:
        assert after == replace(found, severity=HIGH, warnings=("careful", TOO_MANY_TODAY))
    else:
        assert after is found


@pytest.mark.parametrize(
    ("left", "missing"), [(None, False), (4, False), (3, False), (2, True), (0, True), (-1, True)]
)
def test_a_price_above_the_remaining_credits_is_a_gate_and_no_risk(left: int | None, missing: bool) -> None:
    found = Preflight(severity=LOW, connector_ready=True, gates=("human_approval",), estimated_cost_credits=3)

    priced = replace(found, warnings=("careful",)).with_balance(left)

    assert priced.severity is LOW
    assert (CREDITS_MISSING in priced.gates) is missing
    assert len(priced.warnings) == 1 + missing and priced.warnings[0] == "careful"
    if missing:
        assert f" {max(0, left or 0)}" in priced.warnings[1] and "3" in priced.warnings[1]
    assert priced.with_balance(left) == priced
    assert priced.with_balance(None) == replace(found, warnings=("careful",))


@pytest.mark.parametrize(
    ("gates", "cost", "may_lack"),
    [((), 0, False), ((), 3, True), ((CREDITS_MISSING,), 0, True), ((CREDITS_MISSING,), 3, True)],
)
def test_only_what_costs_credits_or_lacked_them_may_lack_them(
    gates: tuple[str, ...], cost: int, may_lack: bool
) -> None:
    assert staged(gates=gates, estimated_cost_credits=cost).may_lack_credits is may_lack


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    ("expires_ms", "over"), [(None, False), (NOW_MS + 1, False), (NOW_MS, True), (NOW_MS - 1, True)]
)
def test_an_action_expires_only_while_it_could_be_approved_or_sent(
    state: State, expires_ms: int | None, over: bool
) -> None:
    found = put_in(state, expires_ms=expires_ms).is_expired(NOW_MS)

    assert found is (over and state in (AWAITING, APPROVED, RETRYABLE))


@pytest.mark.parametrize(
    ("due_ms", "executes", "overdue"),
    [
        (None, "server", False),
        (NOW_MS + 1, "server", False),
        (NOW_MS, "server", True),
        (NOW_MS - 1, "agent", True),
        (NOW_MS - 1, "person", False),
    ],
)
def test_an_action_is_overdue_from_its_time_on_unless_a_person_performs_it(
    due_ms: int | None, executes: Any, overdue: bool
) -> None:
    assert is_overdue(stage(schedule_ms=due_ms, view=View(executes=executes)), NOW_MS) is overdue


LATEST_MS = NOW_MS + MAX_SCHEDULE_AHEAD_MS


@pytest.mark.parametrize(
    ("schedule_ms", "schedulable", "refused"),
    [
        (None, True, False),
        (None, False, False),
        (NOW_MS + 1, True, False),
        (NOW_MS + 1, False, True),
        (NOW_MS, True, True),
        (NOW_MS - 1, True, True),
        (LATEST_MS, True, False),
        (LATEST_MS + 1, True, True),
    ],
)
def test_a_time_is_ahead_but_not_too_far_and_only_for_what_can_wait(
    schedule_ms: int | None, schedulable: bool, refused: bool
) -> None:
    if not refused:
        refuse_schedule(schedule_ms, NOW_MS, schedulable=schedulable)
        return
    with pytest.raises(Refusal) as found:
        refuse_schedule(schedule_ms, NOW_MS, "changes.scheduleFor", schedulable=schedulable)
    problems = found.value.recovery().problems
    assert found.value.reason is Reason.VALIDATION_ERROR
    assert isinstance(problems, list) and [each.path for each in problems] == ["changes.scheduleFor"]


def test_what_takes_no_time_can_be_scheduled_unless_its_type_says_otherwise() -> None:
    refuse_schedule(NOW_MS + DAY_MS, NOW_MS)


TIMES = st.none() | st.integers(NOW_MS, NOW_MS + 90 * DAY_MS)


@given(TIMES, TIMES)
def test_an_action_does_not_expire_before_its_time_and_some_leeway(
    expires_ms: int | None, schedule_ms: int | None
) -> None:
    found = extend_expiry(expires_ms, schedule_ms)

    if expires_ms is None or schedule_ms is None or schedule_ms < expires_ms:
        assert found == expires_ms
    else:
        assert found == schedule_ms + LEEWAY_MS
    assert bool(explain_expiry(expires_ms, found)) is (found != expires_ms)


def test_an_expiry_is_extended_from_the_moment_of_its_time_on() -> None:
    assert extend_expiry(NOW_MS, NOW_MS) == NOW_MS + LEEWAY_MS
    assert extend_expiry(NOW_MS, NOW_MS - 1) == NOW_MS
    assert extend_expiry(None, NOW_MS) is None
    assert extend_expiry(NOW_MS, None) == NOW_MS


@pytest.mark.parametrize("times", [(None, None), (None, NOW_MS), (NOW_MS, None), (NOW_MS, NOW_MS)])
def test_an_expiry_that_was_not_extended_needs_no_words(times: tuple[int | None, int | None]) -> None:
    assert explain_expiry(*times) == ()


def test_an_extended_expiry_is_told() -> None:
    assert len(explain_expiry(NOW_MS, NOW_MS + DAY_MS)) == 1


@pytest.mark.rule("E62")
def test_a_severity_that_was_high_for_a_crowd_alone_falls_with_it() -> None:
    calm = preflight(REFUND, View(risk=LOW), READY)
    raised = weigh_crowd(calm, MANY_RECIPIENTS + 1)
    assert (raised.severity, TOO_MANY_TODAY in raised.warnings) == (HIGH, True)
    fallen = weigh_crowd(raised, MANY_RECIPIENTS)
    assert (fallen.severity, TOO_MANY_TODAY in fallen.warnings) == (MEDIUM, False)
    declared = preflight(REFUND, View(risk=LOW), READY, declared=HIGH)
    assert weigh_crowd(declared, 1).severity is HIGH


@pytest.mark.rule("E62")
def test_a_severity_that_is_high_for_a_crowd_stays_while_the_crowd_does() -> None:
    raised = weigh_crowd(preflight(REFUND, View(risk=LOW), READY), MANY_RECIPIENTS + 1)

    assert weigh_crowd(raised, MANY_RECIPIENTS + 1) == raised


def test_a_connector_that_a_person_must_connect_is_not_ready_and_a_new_check_binds_no_account() -> None:
    assert Readiness.unconnected("Connect it.", "not connected") == Readiness(
        ready=False, blocker=Reason.MISSING_CONNECTOR.value, fix_hint="Connect it.", summary="not connected"
    )


def test_a_new_check_binds_the_account_that_was_connected_after_the_preparation() -> None:
    later = Readiness.of_another_account("Acme", replace(REFUND, target=""))
    other = Readiness.of_another_account("Acme", replace(REFUND, target="acme:7"))

    for each in (later, other):
        assert (each.ready, each.blocker, each.nameable) == (False, Reason.MISSING_CONNECTOR.value, True)
        assert each.summary and each.fix_hint and each.fix_hint.startswith(each.summary)
    assert "another account" in str(other.summary) and "another account" not in str(later.summary)
