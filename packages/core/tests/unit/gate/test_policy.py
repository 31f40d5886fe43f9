"""Policies as pure functions: what an action needs, which yes counts, and when all are there."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.builders import NOW_MS, approve, stage

from assent.gate import policy as policies
from assent.gate.policy import (
    PRESETS,
    ApproverGroup,
    Policy,
    PolicyRule,
    Requirement,
    belongs,
    client_decides,
    counts,
    holds,
    is_proposer,
    join,
    list_voices,
    satisfies,
    suffices,
)
from assent.gate.records import PROPOSAL, Action, Approval, Assurance, Preflight, Proposal, Voice
from assent.gate.rules.matching import ArgumentCondition, Condition, Match
from assent.gate.views import Severity
from assent.kernel.limits import DAY_MS, HOUR_MS

LOW, MEDIUM, HIGH = Severity.LOW, Severity.MEDIUM, Severity.HIGH
AGENT, LINK, CLIENT, CHAT_APP, PERSON, PASSKEY = Assurance
OWNERS = ApproverGroup(("role:owner",))
TEAM = ApproverGroup(("person:ada", "person:bob"), approvers=2)
RANKED = Policy(Requirement(AGENT), Requirement(CLIENT), Requirement(PERSON))
"""Another requirement for each risk."""


def of_risk(severity: Severity, **changes: Any) -> Action:
    return stage(preflight=Preflight(severity=severity, connector_ready=True), **changes)


def by(proposal: Proposal, **changes: Any) -> Action:
    """An action that someone proposed."""
    return stage(metadata={PROPOSAL: msgspec.to_builtins(proposal)}, **changes)


def ask(name: str, needed: Requirement, **when: Any) -> PolicyRule:
    return PolicyRule(name=name, when=Match(**when), ask=needed)


def say(who: str, assurance: Assurance = PERSON, role: str = "") -> Voice:
    return Voice(who, assurance, NOW_MS, role)


ADA, BOB, CLEO = say("person:ada"), say("person:bob"), say("person:cleo", role="owner")
UNKNOWN: dict[str, Any] = {"arguments": (ArgumentCondition("tier", Condition(any_of=("gold",))),)}
"""A condition that cannot be judged for an action without arguments."""


@pytest.mark.parametrize(("severity", "needed"), [(LOW, AGENT), (MEDIUM, CLIENT), (HIGH, PERSON)])
def test_without_rules_the_risk_says_what_is_needed(severity: Severity, needed: Assurance) -> None:
    assert RANKED.require(of_risk(severity)) == Requirement(needed)
    assert RANKED.require_for_risk(severity) == Requirement(needed)


@pytest.mark.parametrize("severity", Severity)
def test_a_risk_for_which_nothing_is_said_needs_the_strictest_that_the_policy_names(
    severity: Severity,
) -> None:
    assert Policy().require(of_risk(severity)) == Requirement(PERSON)
    strict = Requirement(PASSKEY, 2)
    silent = replace(Policy(strict, strict, strict), **{severity.value: None})
    assert silent.require(of_risk(severity)) == strict


def test_the_strictest_of_a_policy_is_all_that_any_of_its_parts_asks_for() -> None:
    rules = (
        ask("two", Requirement(AGENT, 2)),
        PolicyRule(name="no", deny="No."),
        ask("day", Requirement(AGENT, within_ms=DAY_MS)),
    )
    mixed = Policy(Requirement(AGENT), None, Requirement(PASSKEY, groups=(OWNERS,)), rules)

    assert policies.find_strictest(mixed) == Requirement(PASSKEY, 2, (OWNERS,), within_ms=DAY_MS)


def test_a_rule_that_matches_adds_to_what_the_risk_needs_and_names_itself() -> None:
    strict = replace(RANKED, rules=(ask("two", Requirement(AGENT, 2), risk=(MEDIUM,)),))

    assert strict.require(of_risk(MEDIUM)) == Requirement(CLIENT, 2, rules=("two",))
    assert strict.require(of_risk(LOW)) == Requirement(AGENT)


def test_what_a_policy_says_about_high_risk_is_what_its_rules_add_to() -> None:
    own = Policy(high=Requirement(CLIENT), rules=(ask("two", Requirement(AGENT, 2)),))

    assert own.require(of_risk(HIGH)) == Requirement(CLIENT, 2, rules=("two",))


def test_a_rule_that_cannot_be_judged_asks_for_the_strictest() -> None:
    unsure = replace(RANKED, rules=(ask("gold", Requirement(AGENT, 2), **UNKNOWN),))

    assert unsure.require(of_risk(LOW)) == Requirement(PERSON, 2, rules=("gold",))


def test_a_denial_wins_and_the_first_one_is_named() -> None:
    deny = replace(
        RANKED,
        rules=(
            ask("two", Requirement(AGENT, 2)),
            PolicyRule(name="first", deny="Never."),
            PolicyRule(name="second", deny="No."),
        ),
    )

    found = deny.require(of_risk(LOW))

    assert (found.denied, found.rules, found.unknown) == ("Never.", ("first",), "")
    assert not holds((ADA, BOB, CLEO), found, of_risk(LOW))


def test_a_denial_that_cannot_be_judged_denies_and_names_the_value() -> None:
    deny = replace(RANKED, rules=(PolicyRule(name="gold", when=Match(**UNKNOWN), deny="Never."),))

    found = deny.require(of_risk(LOW))

    assert (found.unknown, found.rules) == ("arguments.tier", ("gold",))
    assert found.denied.startswith("Never. ") and "arguments.tier" in found.denied


def test_a_denial_that_does_not_match_denies_nothing() -> None:
    deny = replace(RANKED, rules=(PolicyRule(name="high", when=Match(risk=(HIGH,)), deny="Never."),))

    assert deny.require(of_risk(LOW)) == Requirement(AGENT)


@pytest.mark.parametrize(
    ("severity", "needed"),
    [(LOW, Requirement(AGENT, rules=("lax",))), (HIGH, Requirement(PERSON, rules=("lax",)))],
)
def test_without_a_preset_a_rule_decides_alone_but_high_risk_needs_a_person(
    severity: Severity, needed: Requirement
) -> None:
    assert Policy(rules=(ask("lax", Requirement(AGENT)),)).require(of_risk(severity)) == needed


def test_without_a_preset_what_no_rule_matches_needs_the_strictest() -> None:
    only = Policy(rules=(ask("high", Requirement(PERSON, 2), risk=(HIGH,)),))

    assert only.require(of_risk(LOW)) == Requirement(PERSON, 2)


def test_a_preset_lets_low_risk_pass_by_a_requirement_for_high_risk_alone() -> None:
    two = ask("two", Requirement(AGENT, 2))
    part = Policy(high=Requirement(PASSKEY), rules=(two,))

    assert part.require(of_risk(LOW)) == Requirement(AGENT, 2, rules=("two",))
    assert part.require(of_risk(HIGH)) == Requirement(PASSKEY, 2, rules=("two",))


@pytest.mark.parametrize("channel", ["acme", "ACME"])
@pytest.mark.parametrize("based", [True, False])
def test_a_text_that_is_equal_only_when_folded_makes_no_approval_easier(channel: str, based: bool) -> None:
    rules = (
        ask("acme", Requirement(AGENT), channel=(channel,)),
        ask("all", Requirement(PASSKEY), channel=("other",)),
    )
    found = Policy(low=Requirement(AGENT) if based else None, rules=rules).require(of_risk(LOW))

    easier = based or channel == "acme"
    assert found == Requirement(AGENT if easier else PASSKEY, rules=("acme",))


def test_only_a_rule_that_asks_may_make_an_approval_easier() -> None:
    asks, denies = ask("asks", Requirement(AGENT)), PolicyRule(name="denies", deny="No.")

    assert Policy().may_lower(asks, LOW) is True
    assert Policy().may_lower(denies, LOW) is False
    assert RANKED.may_lower(asks, LOW) is False
    assert RANKED.may_lower(denies, LOW) is False


REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from(Assurance),
    st.integers(1, 3),
    st.lists(st.sampled_from([OWNERS, TEAM]), max_size=2, unique=True).map(tuple),
    st.booleans(),
    st.none() | st.sampled_from([HOUR_MS, DAY_MS]),
    rules=st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True).map(tuple),
)


@given(REQUIREMENTS, REQUIREMENTS)
def test_both_requirements_together_are_the_stricter_of_each_part(
    one: Requirement, other: Requirement
) -> None:
    both = join(one, other)

    for each in (one, other):
        assert suffices(both.assurance, each.assurance)
        assert both.approvers >= each.approvers
        assert {*both.groups} >= {*each.groups} and {*both.rules} >= {*each.rules}
        assert both.not_proposer or not each.not_proposer
        assert each.within_ms is None or (both.within_ms is not None and both.within_ms <= each.within_ms)
    assert both.assurance in (one.assurance, other.assurance)
    assert both.approvers in (one.approvers, other.approvers)
    assert {*both.groups} == {*one.groups, *other.groups} and {*both.rules} == {*one.rules, *other.rules}
    assert both.not_proposer in (one.not_proposer, other.not_proposer)
    assert both.within_ms in (one.within_ms, other.within_ms)
    assert join(one, one) == one


@given(REQUIREMENTS, st.lists(st.sampled_from([ADA, BOB, CLEO, say("key:7", AGENT)]), unique=True))
def test_one_more_yes_of_the_right_people_never_takes_an_approval_away(
    needed: Requirement, voices: list[Voice]
) -> None:
    action = stage()
    if holds(voices, needed, action):
        assert holds([*voices, say("person:dan", PASSKEY, "owner")], needed, action)


def test_the_presets_are_found_by_name_and_named_by_what_they_need() -> None:
    for name, preset in PRESETS.items():
        assert policies.find_preset(name) is preset
        assert policies.name_preset(preset) == name
        assert policies.name_preset(replace(preset, rules=(ask("two", Requirement(AGENT, 2)),))) == name
    assert policies.find_preset("none") is None
    assert policies.name_preset(Policy()) == ""


def test_policies_with_other_words_have_other_digests() -> None:
    assert len({policies.digest_policy(each) for each in (*PRESETS.values(), Policy(), RANKED)}) == 5
    assert policies.digest_policy(Policy()) == policies.digest_policy(Policy())


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [(AGENT, CLIENT), (LINK, CLIENT), (CLIENT, PERSON), (PERSON, PASSKEY), (AGENT, PASSKEY)],
)
def test_a_weaker_assurance_does_not_suffice_for_a_stronger(weaker: Assurance, stronger: Assurance) -> None:
    assert suffices(stronger, weaker) and suffices(weaker, weaker)
    assert not suffices(weaker, stronger)


def test_a_link_is_worth_what_an_agent_says_because_the_agent_holds_it() -> None:
    assert suffices(LINK, AGENT) and suffices(AGENT, LINK)


@pytest.mark.parametrize(
    ("needed", "decides"),
    [
        (Requirement(CLIENT), True),
        (Requirement(CLIENT, within_ms=HOUR_MS, rules=("r",)), True),
        (Requirement(AGENT), False),
        (Requirement(PERSON), False),
        (Requirement(CLIENT, 2), False),
        (Requirement(CLIENT, groups=(OWNERS,)), False),
        (Requirement(CLIENT, not_proposer=True), False),
        (Requirement(CLIENT, denied="No."), False),
    ],
)
def test_a_clients_dialog_decides_where_it_need_not_be_known_who_approves(
    needed: Requirement, decides: bool
) -> None:
    assert client_decides(needed) is decides


@pytest.mark.parametrize(
    ("schedule_ms", "now_ms", "met"),
    [
        (None, NOW_MS + HOUR_MS, True),
        (None, NOW_MS + HOUR_MS + 1, False),
        (NOW_MS + DAY_MS, NOW_MS + DAY_MS + HOUR_MS, True),
        (NOW_MS + DAY_MS, NOW_MS + DAY_MS + HOUR_MS + 1, False),
        (NOW_MS - DAY_MS, NOW_MS + HOUR_MS, True),
        (NOW_MS - DAY_MS, NOW_MS + HOUR_MS + 1, False),
    ],
)
def test_an_approval_counts_for_its_time_from_when_it_was_given_or_is_due(
    schedule_ms: int | None, now_ms: int, met: bool
) -> None:
    action = stage(schedule_ms=schedule_ms)
    approval = approve(action).approval
    assert approval is not None

    assert satisfies(action, approval, Requirement(PERSON, within_ms=HOUR_MS), now_ms) is met
    assert satisfies(action, approval, Requirement(PERSON), now_ms) is True
    assert satisfies(action, approval, Requirement(PASSKEY), now_ms) is False


def test_an_approval_has_every_voice_or_that_of_its_approver_as_often_as_it_counts() -> None:
    said = Approval(by="Ada", at_ms=NOW_MS, assurance=CLIENT, digest="", approvers=2)

    assert list_voices(said) == (Voice("Ada", CLIENT, NOW_MS),) * 2
    assert list_voices(replace(said, person_id="ada", approvers=1)) == (Voice("person:ada", CLIENT, NOW_MS),)
    assert list_voices(replace(said, voices=(ADA, BOB))) == (ADA, BOB)


@pytest.mark.parametrize(
    ("voices", "needed", "met"),
    [
        ([ADA], Requirement(PERSON), True),
        ([], Requirement(PERSON), False),
        ([ADA], Requirement(PERSON, denied="No."), False),
        ([ADA], Requirement(PERSON, 2), False),
        ([ADA, BOB], Requirement(PERSON, 2), True),
        ([ADA, BOB, CLEO], Requirement(PERSON, 2), True),
        ([ADA, say("person:bob", CLIENT)], Requirement(PERSON, 2), False),
        ([ADA, BOB], Requirement(PERSON, groups=(OWNERS,)), False),
        ([CLEO], Requirement(PERSON, groups=(OWNERS,)), True),
        ([ADA, BOB], Requirement(PERSON, 2, groups=(OWNERS,)), False),
        ([ADA, CLEO], Requirement(PERSON, 2, groups=(OWNERS,)), True),
        ([ADA, CLEO], Requirement(PERSON, 2, groups=(TEAM,)), False),
        ([ADA, BOB], Requirement(PERSON, 2, groups=(TEAM,)), True),
        ([ADA, BOB], Requirement(PERSON, 2, groups=(OWNERS, TEAM)), False),
        ([ADA, BOB, CLEO], Requirement(PERSON, 2, groups=(OWNERS, TEAM)), True),
    ],
)
def test_an_approval_holds_if_enough_of_the_right_people_gave_it(
    voices: list[Voice], needed: Requirement, met: bool
) -> None:
    assert holds(voices, needed, stage()) is met


@pytest.mark.parametrize(
    ("voice", "needed", "counted"),
    [
        (ADA, Requirement(PERSON), True),
        (ADA, Requirement(CLIENT), True),
        (ADA, Requirement(PASSKEY), False),
        (ADA, Requirement(PERSON, not_proposer=True), False),
        (BOB, Requirement(PERSON, not_proposer=True), True),
        (ADA, Requirement(PERSON, groups=(OWNERS,)), False),
        (CLEO, Requirement(PERSON, groups=(OWNERS,)), True),
        (ADA, Requirement(PERSON, 2, groups=(OWNERS,)), True),
        (CLEO, Requirement(PERSON, 2, groups=(TEAM,)), False),
        (CLEO, Requirement(PERSON, 3, groups=(TEAM,)), True),
        (CLEO, Requirement(PERSON, 2, groups=(TEAM, OWNERS)), True),
        (say("person:dan"), Requirement(PERSON, 2, groups=(TEAM, OWNERS)), False),
    ],
)
def test_a_yes_counts_by_its_assurance_and_by_whose_it_is(
    voice: Voice, needed: Requirement, counted: bool
) -> None:
    assert counts(voice, needed, by(Proposal(caller="key:1", person_id="ada"))) is counted


@pytest.mark.parametrize(
    ("approver", "proposal", "same"),
    [
        ("person:ada", Proposal(person_id="ada", caller="key:1"), True),
        ("person:bob", Proposal(person_id="ada", caller="key:1"), False),
        ("person:bob", Proposal(), False),
        ("person:bob", Proposal(caller="person:bob"), False),
        ("key:1", Proposal(person_id="ada", caller="key:1"), True),
        ("key:2", Proposal(person_id="ada", caller="key:1"), False),
        ("key:2", Proposal(), True),
        ("local", Proposal(caller="key:1"), True),
        ("Bob", Proposal(caller="key:1"), True),
        ("person:bob", Proposal(person_id="ada", editors=((3, "person:bob"),)), True),
        ("person:bob", Proposal(person_id="ada", editors=((4, "person:bob"),)), True),
        ("person:bob", Proposal(person_id="ada", editors=((5, "person:bob"),)), False),
        ("person:bob", Proposal(person_id="ada", editors=((3, "person:ada"),)), False),
        ("key:2", Proposal(caller="key:1", editors=((3, "key:2"),)), True),
    ],
)
def test_who_proposed_or_edited_an_action_is_its_proposer(
    approver: str, proposal: Proposal, same: bool
) -> None:
    assert is_proposer(approver, by(proposal, revision=4)) is same


@pytest.mark.parametrize(
    ("voice", "group", "member"),
    [
        (ADA, TEAM, True),
        (CLEO, TEAM, False),
        (CLEO, OWNERS, True),
        (ADA, OWNERS, False),
        (say("Cleo", role="owner"), OWNERS, False),
        (say("key:1"), ApproverGroup(("key:1",)), False),
        (say("person:dan", role="person:ada"), TEAM, False),
    ],
)
def test_only_a_signed_in_person_belongs_to_a_group_by_id_or_role(
    voice: Voice, group: ApproverGroup, member: bool
) -> None:
    assert belongs(voice, group) is member
