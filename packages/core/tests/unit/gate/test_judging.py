"""The gate as a pure function: which stored records may be executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.builders import NOW_MS, REFUND, SEALS, approve, begin, put_in, stage

from assent.gate import gate
from assent.gate.gate import Case, Objection
from assent.gate.policy import DEFAULT, PRESETS, Policy, PolicyRule, Requirement
from assent.gate.records import Action, Assurance, Attempt, Effect, ExecutionState
from assent.gate.seals import Seals
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    STATES,
    UNKNOWN,
    State,
)
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Reason, Refusal

LATER_MS = NOW_MS + 3_600_000
SCHEDULED = replace(REFUND, schedule_ms=LATER_MS)
DENYING = Policy(
    low=Requirement(Assurance.AGENT),
    medium=Requirement(Assurance.AGENT),
    high=Requirement(Assurance.PERSON),
    rules=(PolicyRule(name="never", deny="No refunds."),),
)
HOUR = Policy(high=Requirement(Assurance.PERSON, within_ms=3_600_000))


def judge(action: Action, policy: Policy = DEFAULT, now_ms: int = NOW_MS, *, by_hand: bool = False) -> None:
    gate.judge_execution(action, policy.require(action), now_ms, SEALS, by_hand=by_hand)


def object_to(
    action: Action, policy: Policy = DEFAULT, now_ms: int = NOW_MS, *, by_hand: bool = False
) -> Case:
    """What the gate objects to."""
    with pytest.raises(Objection) as objected:
        judge(action, policy, now_ms, by_hand=by_hand)
    assert objected.value.action is action
    return objected.value.case


@pytest.mark.rule("E5")
@pytest.mark.parametrize("state", [APPROVED, RETRYABLE])
def test_what_was_approved_may_be_executed(state: State) -> None:
    judge(put_in(state))


@pytest.mark.parametrize(
    ("state", "case"),
    [
        (AWAITING, Case.WAITING),
        (EXECUTING, Case.IN_PROGRESS),
        (UNKNOWN, Case.OUTCOME_UNKNOWN),
        (REJECTED, Case.ENDED),
        (EXECUTED, Case.ENDED),
        (FAILED, Case.ENDED),
    ],
)
def test_in_every_other_state_nothing_is_executed(state: State, case: Case) -> None:
    assert object_to(put_in(state)) is case


@pytest.mark.rule("E25")
@pytest.mark.parametrize("case", [Case.WAITING, Case.ENDED, Case.UNMET, Case.UNSEALED, Case.EARLY])
def test_an_executor_that_lacks_an_approval_gets_the_reason_of_the_contract(case: Case) -> None:
    action = stage()
    objection = Objection(case, action)

    assert objection.reason is Reason.REQUIRES_APPROVAL
    assert (objection.action_id, objection.recovery().status) == (action.action_id, action.status)


def test_every_case_has_a_reason() -> None:
    assert {Objection(case, stage()).case for case in Case} == {*Case}


@pytest.mark.parametrize(
    ("state", "attempt", "barred"),
    [
        (RETRYABLE, begin(barred_until_ms=NOW_MS + 1), True),
        (RETRYABLE, begin(barred_until_ms=NOW_MS), False),
        (RETRYABLE, begin(), False),
        (RETRYABLE, None, False),
        (APPROVED, begin(barred_until_ms=NOW_MS + 1), False),
    ],
)
def test_a_lost_attempt_bars_a_new_one_while_its_call_may_be_in_flight(
    state: State, attempt: Attempt | None, barred: bool
) -> None:
    action = put_in(state, attempt=attempt)

    assert gate.is_barred(action, NOW_MS) is barred
    if barred:
        assert object_to(action) is Case.IN_PROGRESS
    else:
        judge(action)


@pytest.mark.parametrize(
    ("state", "by_hand", "expires_ms", "refused"),
    [
        (AWAITING, False, NOW_MS, True),
        (AWAITING, True, NOW_MS, True),
        (APPROVED, False, NOW_MS, True),
        (RETRYABLE, False, NOW_MS - 1, True),
        (APPROVED, True, NOW_MS, False),
        (APPROVED, False, NOW_MS + 1, False),
        (APPROVED, True, NOW_MS + 1, False),
        (APPROVED, False, None, False),
    ],
)
def test_an_expired_action_is_executed_only_if_a_person_has_done_it(
    state: State, by_hand: bool, expires_ms: int | None, refused: bool
) -> None:
    action = put_in(state, expires_ms=expires_ms)

    if refused:
        assert object_to(action, by_hand=by_hand) is Case.EXPIRED
    else:
        judge(action, by_hand=by_hand)


def test_a_waiting_action_that_has_not_expired_lacks_an_approval_also_by_hand() -> None:
    assert object_to(stage(), by_hand=True) is Case.WAITING
    assert object_to(stage(expires_ms=NOW_MS + 1)) is Case.WAITING


@pytest.mark.parametrize("state", [AWAITING, APPROVED])
def test_what_the_policy_denies_is_not_executed_whoever_approved_it(state: State) -> None:
    assert object_to(put_in(state), DENYING) is Case.DENIED


@pytest.mark.rule("E5")
def test_an_approval_of_other_content_executes_nothing_even_if_its_seal_is_valid() -> None:
    sent = replace(REFUND, body="Refund 1,250 EUR")
    action = approve(stage(sent), digest=REFUND.digest())
    assert SEALS.hold(action) and action.digest == sent.digest()

    assert object_to(action) is Case.UNMET


def test_content_that_is_not_what_its_digest_says_is_not_executed() -> None:
    exchanged = replace(approve(stage()), effect=replace(REFUND, body="Refund 1,250 EUR"))
    assert SEALS.hold(exchanged)

    assert object_to(exchanged) is Case.UNMET


def test_content_with_another_time_than_its_action_is_not_executed() -> None:
    moved = approve(stage(SCHEDULED, schedule_ms=LATER_MS + 1))
    assert SEALS.hold(moved)

    assert object_to(moved, now_ms=LATER_MS) is Case.UNMET


def test_an_approved_status_without_an_approval_executes_nothing() -> None:
    assert object_to(replace(put_in(APPROVED), approval=None)) is Case.UNMET


def test_an_approval_without_this_servers_seal_executes_nothing() -> None:
    assert object_to(change_approval(put_in(APPROVED), mac="")) is Case.UNSEALED


@pytest.mark.parametrize(
    ("now_ms", "by_hand", "refused"),
    [
        (LATER_MS - 1, False, True),
        (LATER_MS - 1, True, False),
        (LATER_MS, False, False),
        (LATER_MS + 1, False, False),
    ],
)
def test_what_was_approved_for_a_time_is_not_executed_before_it(
    now_ms: int, by_hand: bool, refused: bool
) -> None:
    action = approve(stage(SCHEDULED))

    if refused:
        assert object_to(action, now_ms=now_ms, by_hand=by_hand) is Case.EARLY
    else:
        judge(action, now_ms=now_ms, by_hand=by_hand)


def test_an_approval_that_the_present_policy_does_not_accept_executes_nothing() -> None:
    relayed = approve(stage(), by="Ada", person_id="", assurance=Assurance.AGENT)

    assert object_to(relayed) is Case.UNMET
    assert object_to(put_in(APPROVED), PRESETS["two_people"]) is Case.UNMET


def test_an_approval_ends_with_the_time_for_which_it_counts() -> None:
    action = approve(stage(), HOUR)

    judge(action, HOUR, LATER_MS)
    assert object_to(action, HOUR, LATER_MS + 1) is Case.UNMET


FORGERIES: dict[str, Callable[[Action], Action]] = {
    "workspace": lambda action: replace(action, workspace_id=WorkspaceId("other")),
    "action": lambda action: replace(action, action_id=ActionId("other")),
    "revision": lambda action: replace(action, revision=action.revision + 1),
    "digest": lambda action: replace(action, digest=replace(REFUND, body="other").digest()),
    "body": lambda action: replace(action, effect=replace(action.effect, body="other")),
    "recipients": lambda action: replace(
        action, effect=replace(action.effect, recipients=("eve@example.org",))
    ),
    "connector": lambda action: replace(action, effect=replace(action.effect, connector="other")),
    "arguments": lambda action: replace(action, effect=replace(action.effect, arguments={"amount": 1})),
    "time": lambda action: replace(action, schedule_ms=LATER_MS),
    "approver": lambda action: change_approval(action, by="Eve"),
    "person": lambda action: change_approval(action, person_id="eve"),
    "assurance": lambda action: change_approval(action, assurance=Assurance.PASSKEY),
    "approvers": lambda action: change_approval(action, approvers=2),
    "approved at": lambda action: change_approval(action, at_ms=NOW_MS + 1),
    "since": lambda action: change_approval(action, since=7),
    "policy": lambda action: change_approval(action, policy=""),
    "seal": lambda action: Seals.of((b"another secret of enough characters",)).seal(
        action, action.approval or pytest.fail("not approved")
    ),
}


def change_approval(action: Action, **changes: Any) -> Action:
    assert action.approval is not None
    return replace(action, approval=replace(action.approval, **changes))


@pytest.mark.rule("E63")
@given(st.lists(st.sampled_from(sorted(FORGERIES)), min_size=1, max_size=4, unique=True))
def test_a_record_that_was_changed_after_its_approval_executes_nothing(changed: list[str]) -> None:
    action = put_in(APPROVED)
    for name in changed:
        action = FORGERIES[name](action)

    with pytest.raises(Refusal) as refused:
        judge(action, now_ms=LATER_MS)

    assert refused.value.reason is Reason.REQUIRES_APPROVAL


@pytest.mark.rule("E65")
@given(body=st.text(), metadata=st.dictionaries(st.text(), st.booleans() | st.text()))
def test_no_text_of_the_content_and_nothing_stored_beside_it_is_an_approval(
    body: str, metadata: dict[str, Any]
) -> None:
    waiting = stage(replace(REFUND, body=body, details=metadata), metadata=metadata)

    assert object_to(waiting) is Case.WAITING


@pytest.mark.parametrize("state", STATES)
def test_a_connector_gets_only_a_claimed_action_or_one_that_is_reconciled(state: State) -> None:
    action = put_in(state)

    if state in (EXECUTING, UNKNOWN):
        assert gate.open_gate(action).action is action
    else:
        assert shut(action).recovery().status == state.status


def shut(action: Action) -> Refusal:
    with pytest.raises(Refusal) as refused:
        gate.open_gate(action)
    assert refused.value.reason is Reason.REQUIRES_APPROVAL
    return refused.value


@pytest.mark.rule("E64")
@pytest.mark.parametrize("state", [EXECUTING, UNKNOWN])
def test_no_claim_opens_the_gate_without_an_approval_of_exactly_its_content(state: State) -> None:
    claimed = put_in(state)

    shut(replace(claimed, approval=None))
    shut(change_approval(claimed, digest=replace(REFUND, body="other").digest()))
    shut(replace(claimed, effect=replace(REFUND, body="other")))
    shut(replace(claimed, attempt=None))


def test_no_claim_opens_the_gate_for_another_time_than_its_content_has() -> None:
    claimed = put_in(EXECUTING, SCHEDULED)

    assert gate.open_gate(claimed).action is claimed
    shut(replace(claimed, schedule_ms=LATER_MS + 1))
    shut(replace(claimed, schedule_ms=None))


def test_only_the_gate_makes_what_a_connector_performs() -> None:
    with pytest.raises(TypeError):
        gate.ApprovedAction(object(), put_in(EXECUTING))


@pytest.mark.parametrize(
    ("effect_ms", "action_ms", "intact"),
    [
        (None, None, True),
        (None, LATER_MS, True),
        (LATER_MS, LATER_MS, True),
        (LATER_MS, LATER_MS + 1, False),
        (LATER_MS, None, False),
    ],
)
def test_a_record_is_intact_if_digest_and_time_match_its_content(
    effect_ms: int | None, action_ms: int | None, intact: bool
) -> None:
    effect: Effect = replace(REFUND, schedule_ms=effect_ms)
    action = stage(effect, schedule_ms=action_ms)

    assert gate.is_intact(action) is intact
    assert gate.is_intact(replace(action, digest=replace(effect, body="other").digest())) is False


def test_an_objection_of_the_policy_says_what_it_asks_for() -> None:
    for policy, action in ((DENYING, stage()), (DEFAULT, stage()), (PRESETS["two_people"], put_in(APPROVED))):
        with pytest.raises(Objection) as objected:
            judge(action, policy)
        assert objected.value.needed == policy.require(action)


def test_an_attempt_in_another_state_than_retryable_bars_nothing() -> None:
    attempt = begin(barred_until_ms=NOW_MS + 1)

    for state in STATES:
        action = put_in(state, attempt=attempt)
        assert gate.is_barred(action, NOW_MS) is (action.execution_state is ExecutionState.RETRYABLE)


WITHOUT_APPROVAL = replace(put_in(APPROVED), approval=None)
OF_OTHER_CONTENT = approve(stage(replace(REFUND, body="other")), digest=REFUND.digest())
EXCHANGED = replace(approve(stage()), effect=replace(REFUND, body="other"))
RELAYED = approve(stage(), by="Ada", person_id="", assurance=Assurance.AGENT)


@pytest.mark.parametrize(
    ("action", "policy", "approved"),
    [
        (put_in(APPROVED), DEFAULT, True),
        (approve(stage(SCHEDULED)), DEFAULT, True),
        (WITHOUT_APPROVAL, DEFAULT, False),
        (OF_OTHER_CONTENT, DEFAULT, False),
        (EXCHANGED, DEFAULT, False),
        (change_approval(put_in(APPROVED), mac=""), DEFAULT, False),
        (RELAYED, DEFAULT, False),
        (put_in(APPROVED), PRESETS["two_people"], False),
        (put_in(APPROVED), DENYING, False),
    ],
)
def test_an_action_is_approved_if_a_sealed_approval_of_its_content_is_all_that_is_needed(
    action: Action, policy: Policy, approved: bool
) -> None:
    assert gate.is_approved(action, policy.require(action), NOW_MS, SEALS) is approved
