"""A value that a rule reads and an action lacks: absent or unknown; and texts that are compared folded."""

from __future__ import annotations

from typing import Any
from unittest.mock import ANY

import pytest
from packages.core.tests.unit.gate.rules.test_property import (
    ADA_AND_CLEO,
    REFUND,
    build_action,
    let_groups_overlap,
)
from tests.support.gate.policies import PEOPLE

from assent.gate.gate import Decider, SeenVersion, judge_approval
from assent.gate.policy import Requirement, counts, holds
from assent.gate.records import Assurance, Voice
from assent.gate.rules.source import read_policy
from assent.kernel.ids import WorkspaceId
from assent.kernel.reasons import Reason
from assent.kernel.refusals import Problem, Refusal
from assent.present.refusals import wording

pytestmark = pytest.mark.rule("E62")

LACKING = {**REFUND, "risk": "low", "amount": "", "currency": ""}
READS: list[tuple[str, str, dict[str, Any]]] = [
    ("recipients", "recipients", {"recipients": {"outside": ["@example.org"]}}),
    ("recipients", "recipients", {"recipients": {"at_most": 5}}),
    ("amount", "amount", {"amount": {"at_least": 500}}),
    ("amount", "currency", {"currency": "EUR"}),
    ("arguments", "arguments.reason", {"arguments": {"reason": ["test"]}}),
    ("arguments", "arguments.customer.country", {"arguments": {"customer.country": "NO"}}),
]
"""The value that a type declares, its name in a refusal, and a condition on it."""


def require(when: dict[str, Any], *, deny: bool = True, preset: str = "relay", **facts: Any) -> Requirement:
    """What an action needs under one rule."""
    does: dict[str, Any] = {"deny": "Not here."} if deny else {"ask": {"approvers": 3, "assurance": "agent"}}
    source = {"preset": preset, "rule": [{"name": "the rule", "when": when, **does}]}
    return read_policy(source, PEOPLE).require(build_action({**LACKING, **facts}))


def judge(when: dict[str, Any], **facts: Any) -> bool | str:
    """Whether the conditions hold; the name of the value if that is unknown."""
    needed = require(when, **facts)
    return needed.unknown or bool(needed.denied)


@pytest.mark.parametrize(("declared", "name", "when"), READS)
def test_a_value_that_the_type_declares_absent_makes_the_condition_false(
    declared: str, name: str, when: dict[str, Any]
) -> None:
    assert judge(when, without=[declared]) is False
    assert require(when, deny=False, without=[declared]) == Requirement(Assurance.AGENT)


@pytest.mark.parametrize(("declared", "name", "when"), READS)
def test_a_rule_that_denies_denies_what_is_unknown_and_names_itself_and_the_value(
    declared: str, name: str, when: dict[str, Any]
) -> None:
    others = [each for each in ("recipients", "amount", "arguments") if each != declared]
    needed = require(when, without=others)
    assert (needed.rules, needed.unknown) == (("the rule",), name)
    assert needed.denied.startswith("Not here.") and name in needed.denied


@pytest.mark.parametrize(("declared", "name", "when"), READS)
def test_a_rule_that_asks_asks_for_the_strictest_if_a_value_is_unknown(
    declared: str, name: str, when: dict[str, Any]
) -> None:
    asked = require(when, deny=False)
    assert asked == Requirement(Assurance.PERSON, 3, rules=("the rule",))


def test_the_refusal_of_a_denial_has_the_rule_and_the_unknown_value() -> None:
    unsure = {"name": "strangers", "when": {"recipients": {"outside": ["@example.org"]}}, "deny": "No."}
    later = {"name": "later", "ask": {}}
    policy = read_policy({"preset": "relay", "rule": [unsure, later]}, PEOPLE)
    action = build_action(LACKING)
    decider = Decider(WorkspaceId("w"), "Ada", Assurance.PASSKEY, "page", "ada")
    with pytest.raises(Refusal) as refused, wording():
        judge_approval(action, policy, decider, SeenVersion(digest=action.digest), 0)
    answer = refused.value.recovery()
    assert answer.reason is Reason.DENIED_BY_POLICY
    assert answer.problems == [Problem("recipients", ANY, "unknown")]
    assert "“strangers”" in answer.user_message and "“later”" not in answer.user_message


@pytest.mark.parametrize(
    "value", ["test", "Test", " TEST\n", "ｔｅｓｔ", "te\u200bst", "t\u00adest", "\ufefftest"], ids=ascii
)
def test_texts_are_compared_without_case_compatible_forms_outer_space_and_unseen_characters(
    value: str,
) -> None:
    assert judge({"arguments": {"reason": ["debug", "test"]}}, arguments={"reason": value}) is True


@pytest.mark.parametrize("value", ["t\u0435st", "T\u0415ST", "\u03c4est", "tes\u0442"], ids=ascii)
def test_a_text_that_only_looks_like_a_listed_one_is_unknown(value: str) -> None:
    when = {"arguments": {"reason": ["debug", "test"]}}
    assert judge(when, arguments={"reason": value}) == "arguments.reason"
    lax = {"name": "lax", "when": when, "ask": {"assurance": "agent"}}
    strict = {"name": "strict", "when": {"channel": "none"}, "ask": {"assurance": "passkey"}}
    policy = read_policy({"preset": "none", "rule": [lax, strict]}, PEOPLE)
    needed = policy.require(build_action({**LACKING, "arguments": {"reason": value}}))
    assert needed.assurance is Assurance.PASSKEY


@pytest.mark.parametrize("preset", ["none", "relay"])
@pytest.mark.parametrize(
    ("when", "facts"),
    [
        *(
            ({"arguments": {"reason": ["debug", "test"]}}, {"arguments": {"reason": value}})
            for value in ("TEST", "test\u200b", " test ", "te\u017ft")
        ),
        ({"caller": "KEY:1"}, {}),
        ({"operator": "Billing"}, {}),
        ({"channel": "Billing"}, {}),
        ({"effect": "BILLING_refund"}, {}),
        ({"currency": "eur"}, {"amount": "5", "currency": "EUR"}),
        ({"effect": "BILLING_refund", "arguments": {"reason": "test"}}, {"arguments": {"reason": "test"}}),
    ],
    ids=ascii,
)
def test_without_a_preset_a_text_that_is_equal_only_when_folded_lowers_nothing(
    when: dict[str, Any], facts: dict[str, Any], preset: str
) -> None:
    asked = require(when, deny=False, preset=preset, **facts)
    assert asked.assurance is (Assurance.PERSON if preset == "none" else Assurance.AGENT)
    assert asked.rules == ("the rule",)
    assert require(when, preset=preset, **facts).denied == "Not here."


@pytest.mark.parametrize(
    ("listed", "value", "found"),
    [
        ([5, "test"], "5 ", "arguments.reason"),
        ([5, "test"], "\uff15", "arguments.reason"),
        ([5, "test"], "TEST", True),
        ([5, "test"], 5, True),
        ([5, "test"], "6", False),
        ([5, "test"], 6, False),
        ([True, "yes"], "true", "arguments.reason"),
        ([True, "yes"], False, False),
    ],
    ids=ascii,
)
def test_a_text_beside_a_listed_value_that_it_cannot_be_compared_with_is_unknown(
    listed: list[Any], value: Any, found: bool | str
) -> None:
    assert judge({"arguments": {"reason": listed}}, arguments={"reason": value}) == found


@pytest.mark.parametrize("value", ["testing", "te st", "t-est", "tést", "rest"])
def test_another_text_is_another(value: str) -> None:
    assert judge({"arguments": {"reason": ["debug", "test"]}}, arguments={"reason": value}) is False


@pytest.mark.parametrize(
    ("address", "listed", "found"),
    [
        ("eve@OTHER.org", "@other.org", True),
        ("Eve <eve@other.org>", "eve@Other.org", True),
        ("eve@b\u00fccher.example", "@xn--bcher-kva.example", True),
        ("eve@xn--bcher-kva.example", "@B\u00dcCHER.example", True),
        ("eve@\u043ether.org", "@other.org", "recipients"),
        ("eve@stra\u00dfe.example", "@strasse.example", "recipients"),
        ("eve@another.org", "@other.org", False),
    ],
    ids=ascii,
)
def test_a_recipient_is_one_of_a_list_by_address_or_domain(
    address: str, listed: str, found: bool | str
) -> None:
    assert judge({"recipients": {"any_of": [listed]}}, recipients=[address]) == found
    assert judge({"recipients": {"outside": [listed]}}, recipients=[address]) is (found is not True)


def test_one_person_may_be_the_one_that_two_rules_ask_for_and_anyone_else_the_second() -> None:
    needed = read_policy(let_groups_overlap({"ask": {}}), PEOPLE).require(build_action(REFUND))
    roles = {"ada": "owner", "bob": "member", "cleo": "member"}

    def says(*names: str) -> bool:
        voices = [Voice(f"person:{name}", Assurance.PERSON, 0, roles[name]) for name in names]
        return holds(voices, needed, build_action(REFUND))

    assert says(*(yes["who"] for yes in ADA_AND_CLEO))
    assert not says("ada") and not says("bob", "cleo")
    assert counts(Voice("person:cleo", Assurance.PERSON, 0, "member"), needed, build_action(REFUND))


def test_where_one_rule_asks_for_everyone_of_a_group_no_one_else_counts() -> None:
    rule = {"name": "owners", "ask": {"approvers": 2, "people": ["role:owner"]}}
    action = build_action(REFUND)
    needed = read_policy({"preset": "two_people", "rule": [rule]}, PEOPLE).require(action)
    assert not counts(Voice("person:cleo", Assurance.PERSON, 0, "member"), needed, action)
    assert counts(Voice("person:ada", Assurance.PERSON, 0, "owner"), needed, action)
