"""The gate as a pure function: which decisions about a stored record are taken, and how they count."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.builders import NOW_MS, REFUND, begin, put_in, stage

from assent.gate import gate
from assent.gate.gate import ANY_CONTENT, Case, Decider, Objection, SeenVersion, approver_key
from assent.gate.names import name_by_link
from assent.gate.policy import DEFAULT, PRESETS, Policy, PolicyRule, Requirement
from assent.gate.records import OBSERVED, Action, Assurance, Observation, Voice
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
    IllegalMove,
    Move,
    State,
    Step,
)
from assent.gate.views import Unfit, View
from assent.kernel.ids import WorkspaceId

HOUR_MS = 3_600_000
ADA = Decider(
    workspace_id=WorkspaceId("workspace"),
    by="Ada",
    assurance=Assurance.PERSON,
    via="page",
    person_id="ada",
    role="owner",
)
BY_AGENT = replace(ADA, assurance=Assurance.AGENT, person_id="", role="")

DECISIONS: list[tuple[State, Move, tuple[Step, ...] | Case]] = [
    (AWAITING, Move.APPROVE, ((Move.APPROVE, APPROVED),)),
    (AWAITING, Move.REJECT, ((Move.REJECT, REJECTED),)),
    (AWAITING, Move.EDIT, ((Move.EDIT, AWAITING),)),
    (AWAITING, Move.WITHDRAW, Case.NOTHING_TO_WITHDRAW),
    (APPROVED, Move.APPROVE, ((Move.APPROVE, APPROVED),)),
    (APPROVED, Move.REJECT, ((Move.WITHDRAW, AWAITING), (Move.REJECT, REJECTED))),
    (APPROVED, Move.EDIT, ((Move.EDIT, AWAITING),)),
    (APPROVED, Move.WITHDRAW, ((Move.WITHDRAW, AWAITING),)),
    (RETRYABLE, Move.APPROVE, ((Move.APPROVE, RETRYABLE),)),
    (RETRYABLE, Move.REJECT, ((Move.WITHDRAW, AWAITING), (Move.REJECT, REJECTED))),
    (RETRYABLE, Move.EDIT, ((Move.WITHDRAW, AWAITING), (Move.EDIT, AWAITING))),
    (RETRYABLE, Move.WITHDRAW, ((Move.WITHDRAW, AWAITING),)),
    *(
        (state, move, case)
        for move in (Move.APPROVE, Move.REJECT, Move.EDIT, Move.WITHDRAW)
        for state, case in (
            (EXECUTING, Case.IN_PROGRESS),
            (UNKNOWN, Case.OUTCOME_UNKNOWN),
            (REJECTED, Case.CLOSED),
            (EXECUTED, Case.CLOSED),
            (FAILED, Case.CLOSED),
        )
    ),
]


def decide(action: Action, move: Move, seen: SeenVersion = ANY_CONTENT) -> tuple[Step, ...] | Case:
    """The moves of a decision, or what the gate objects to."""
    try:
        return gate.judge_decision(action, move, seen, NOW_MS)
    except Objection as objection:
        assert objection.action is action
        return objection.case


@pytest.mark.rule("E22", "E23")
@pytest.mark.parametrize(("state", "move", "expected"), DECISIONS)
def test_a_decision_moves_an_action_only_from_a_settled_state(
    state: State, move: Move, expected: tuple[Step, ...] | Case
) -> None:
    assert decide(put_in(state), move) == expected


def test_a_call_that_may_be_in_flight_bars_every_decision() -> None:
    barred = put_in(RETRYABLE, attempt=begin(barred_until_ms=NOW_MS + 1))

    for move in (Move.APPROVE, Move.REJECT, Move.EDIT, Move.WITHDRAW):
        assert decide(barred, move) is Case.IN_PROGRESS


def test_no_decision_is_a_move_of_the_execution() -> None:
    with pytest.raises(IllegalMove):
        decide(put_in(AWAITING), Move.SUCCEED)


@pytest.mark.parametrize("state", [AWAITING, APPROVED])
@pytest.mark.parametrize(
    ("move", "refused"),
    [(Move.APPROVE, True), (Move.EDIT, True), (Move.REJECT, False)],
)
def test_an_expired_action_can_only_be_rejected_or_withdrawn(state: State, move: Move, refused: bool) -> None:
    expired = put_in(state, expires_ms=NOW_MS)

    assert (decide(expired, move) is Case.EXPIRED) is refused
    assert decide(put_in(state, expires_ms=NOW_MS + 1), move) is not Case.EXPIRED
    assert decide(put_in(APPROVED, expires_ms=NOW_MS), Move.WITHDRAW) == ((Move.WITHDRAW, AWAITING),)


@pytest.mark.parametrize("move", [Move.APPROVE, Move.REJECT, Move.EDIT])
def test_a_decision_about_other_content_than_the_present_changes_nothing(move: Move) -> None:
    waiting = stage(revision=2)

    assert decide(waiting, move, SeenVersion(revision=1)) is Case.STALE
    assert isinstance(decide(waiting, move, SeenVersion(revision=2)), tuple)


def test_what_is_closed_or_expired_is_refused_as_such_whatever_was_seen() -> None:
    stale = SeenVersion(revision=7)

    assert decide(put_in(EXECUTED), Move.APPROVE, stale) is Case.CLOSED
    assert decide(stage(expires_ms=NOW_MS), Move.APPROVE, stale) is Case.EXPIRED


DIGEST = REFUND.digest()
HEX = DIGEST.partition(":")[2]


@pytest.mark.parametrize(
    ("seen", "matches"),
    [
        (SeenVersion(), True),
        (SeenVersion(revision=2), True),
        (SeenVersion(revision=1), False),
        (SeenVersion(revision=3), False),
        (SeenVersion(digest=DIGEST), True),
        (SeenVersion(digest=HEX), True),
        (SeenVersion(digest=HEX[:8]), True),
        (SeenVersion(digest=DIGEST[: -len(HEX) + 8]), True),
        (SeenVersion(digest=HEX[:7]), False),
        (SeenVersion(digest=""), False),
        (SeenVersion(digest=HEX[1:]), False),
        (SeenVersion(digest=f"{HEX}0"), False),
        (SeenVersion(revision=2, digest=HEX), True),
        (SeenVersion(revision=1, digest=HEX), False),
        (SeenVersion(revision=2, digest=HEX[1:]), False),
    ],
)
def test_a_caller_saw_the_present_content_if_revision_and_digest_match(
    seen: SeenVersion, matches: bool
) -> None:
    assert seen.matches(stage(revision=2)) is matches


@given(st.text(alphabet="0123456789abcdef", min_size=8, max_size=64))
def test_no_abbreviation_of_another_digest_matches(given_digits: str) -> None:
    assert SeenVersion(digest=given_digits).matches(stage()) is HEX.startswith(given_digits)


def approve(
    action: Action, decider: Decider = ADA, policy: Policy = DEFAULT, now_ms: int = NOW_MS
) -> tuple[tuple[Step, ...], Requirement, Voice]:
    return gate.judge_approval(action, policy, decider, ANY_CONTENT, now_ms)


def object_to(action: Action, decider: Decider = ADA, policy: Policy = DEFAULT, now_ms: int = NOW_MS) -> Case:
    """What the gate objects to."""
    with pytest.raises(Objection) as objected:
        approve(action, decider, policy, now_ms)
    assert objected.value.action is action
    return objected.value.case


def test_an_approval_has_its_moves_what_is_needed_and_how_it_counts() -> None:
    waiting = stage()

    steps, needed, voice = approve(waiting)

    assert steps == ((Move.APPROVE, APPROVED),)
    assert needed == DEFAULT.require(waiting)
    assert voice == Voice("person:ada", Assurance.PERSON, NOW_MS, "owner")


def test_an_approval_is_a_decision_and_is_refused_like_one() -> None:
    assert object_to(put_in(EXECUTED)) is Case.CLOSED
    assert object_to(stage(expires_ms=NOW_MS)) is Case.EXPIRED
    with pytest.raises(Objection) as objected:
        gate.judge_approval(stage(), DEFAULT, ADA, SeenVersion(revision=7), NOW_MS)
    assert objected.value.case is Case.STALE


def test_content_that_could_not_be_delivered_is_not_approved() -> None:
    unfit = Unfit("recipients_missing", "It has no recipients.")
    action = stage(view=View(unfit=unfit))

    assert object_to(action) is Case.UNFIT


@pytest.mark.parametrize(
    ("state", "due_ms", "shown_ms", "executes", "refused"),
    [
        (AWAITING, NOW_MS, None, "server", True),
        (AWAITING, NOW_MS - 1, None, "server", True),
        (AWAITING, NOW_MS + 1, None, "server", False),
        (AWAITING, None, None, "server", False),
        (AWAITING, None, NOW_MS, "server", False),
        (AWAITING, NOW_MS - 5, NOW_MS - 6, "server", True),
        (AWAITING, NOW_MS - 5, NOW_MS - 5, "server", False),
        (AWAITING, NOW_MS - 5, NOW_MS - 4, "server", False),
        (AWAITING, NOW_MS, None, "person", False),
        (APPROVED, NOW_MS, None, "server", False),
    ],
)
def test_what_is_overdue_is_approved_only_on_a_page_that_says_so(
    state: State, due_ms: int | None, shown_ms: int | None, executes: Any, refused: bool
) -> None:
    action = put_in(state, schedule_ms=due_ms, view=View(executes=executes))
    decider = replace(ADA, shown_ms=shown_ms)

    if refused:
        assert object_to(action, decider) is Case.OVERDUE
    else:
        approve(action, decider)


def test_what_the_policy_denies_is_not_approved() -> None:
    denying = Policy(high=Requirement(Assurance.PERSON), rules=(PolicyRule(name="never", deny="No."),))

    assert object_to(stage(), ADA, denying) is Case.DENIED


@pytest.mark.parametrize(
    ("state", "now_ms", "refused"),
    [
        (AWAITING, NOW_MS + HOUR_MS, False),
        (AWAITING, NOW_MS + HOUR_MS + 1, True),
        (APPROVED, NOW_MS + HOUR_MS + 1, False),
    ],
)
def test_an_action_waits_for_its_approval_only_as_long_as_the_policy_says(
    state: State, now_ms: int, refused: bool
) -> None:
    brief = Policy(high=Requirement(Assurance.PERSON, within_ms=HOUR_MS))
    action = put_in(state, created_ms=NOW_MS)

    if refused:
        assert object_to(action, ADA, brief, now_ms) is Case.EXPIRED
    else:
        approve(action, ADA, brief, now_ms)
        approve(action, ADA, DEFAULT, now_ms)


def test_a_yes_that_does_not_count_for_the_policy_is_not_recorded() -> None:
    with pytest.raises(Objection) as objected:
        approve(stage(), BY_AGENT)

    assert objected.value.case is Case.UNMET
    assert objected.value.needed == DEFAULT.require(stage())


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("assurance", Assurance)
def test_high_risk_needs_a_person_under_every_preset(preset: str, assurance: Assurance) -> None:
    decider = replace(ADA, assurance=assurance)

    if assurance in (Assurance.PERSON, Assurance.PASSKEY):
        approve(stage(), decider, PRESETS[preset])
    else:
        assert object_to(stage(), decider, PRESETS[preset]) is Case.UNMET


@pytest.mark.parametrize(
    ("person_id", "name", "key"),
    [
        ("ada", "Ada", "person:ada"),
        ("ada", name_by_link("Ada"), "person:ada"),
        ("", "Ada", "Ada"),
        ("", "key:7", "key:7"),
        ("", name_by_link("Ada"), "Ada"),
        ("", name_by_link("person:ada"), "name:person:ada"),
        ("", name_by_link("key:7"), "name:key:7"),
    ],
)
def test_no_name_that_someone_gives_is_the_key_of_a_person_or_an_agent(
    person_id: str, name: str, key: str
) -> None:
    assert approver_key(person_id, name) == key
    assert replace(ADA, person_id=person_id, by=name).approver == key


def test_an_observation_is_read_from_the_action_and_empty_without_one() -> None:
    seen = Observation(credits=3, since_ms=NOW_MS)

    assert gate.read_observation(stage()) == Observation()
    assert gate.read_observation(stage(metadata={OBSERVED: msgspec.to_builtins(seen)})) == seen
