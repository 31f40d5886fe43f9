"""The seal of an approval: what it covers, and which keys it is valid for."""

from __future__ import annotations

from msgspec.structs import replace
from tests.support.builders import NOW_MS, SEALS, approve, stage

from assent.gate.policy import DEFAULT, PRESETS, digest_policy
from assent.gate.records import Approval, Assurance
from assent.gate.seals import Seals

OLD, NEW = b"an old secret of enough characters", b"a new secret with enough characters"


def test_a_seal_is_valid_for_its_action_alone() -> None:
    action = approve(stage())

    assert SEALS.hold(action) is True
    assert SEALS.hold(replace(action, revision=2)) is False
    assert SEALS.hold(replace(action, schedule_ms=NOW_MS)) is False
    assert SEALS.hold(stage()) is False


def test_an_approval_without_a_seal_has_no_valid_one() -> None:
    action = approve(stage())
    assert action.approval is not None

    assert SEALS.hold(replace(action, approval=replace(action.approval, mac=""))) is False
    assert Seals(()).hold(action) is False


def test_a_seal_covers_the_policy_under_which_it_was_given() -> None:
    people = approve(stage(), PRESETS["people"])
    assert people.approval is not None
    assert people.approval.policy == digest_policy(PRESETS["people"])

    relaxed = replace(people.approval, policy=digest_policy(DEFAULT))
    assert not SEALS.hold(replace(people, approval=relaxed))


def test_an_approval_that_is_sealed_again_keeps_its_policy() -> None:
    action = approve(stage(), PRESETS["people"])
    assert action.approval is not None

    again = SEALS.seal(action, action.approval)

    assert again == action


def test_every_known_secret_verifies_and_only_the_newest_seals() -> None:
    old, new, both = Seals.of((OLD,)), Seals.of((NEW,)), Seals.of((NEW, OLD))
    approval = Approval(by="Ada", at_ms=NOW_MS, assurance=Assurance.PERSON, digest=stage().digest)
    before, after = old.seal(stage(), approval), both.seal(stage(), approval)

    assert both.hold(before) is True and both.is_newest(before) is False
    assert both.hold(after) is True and both.is_newest(after) is True
    assert new.hold(after) and not old.hold(after) and not new.hold(before)
