"""The conditions of a rule, one at a time: true, false or unknown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.builders import REFUND, stage

from assent.gate.records import PROPOSAL, Action, Preflight, Proposal
from assent.gate.rules.matching import (
    ArgumentCondition,
    CommonValues,
    Condition,
    Match,
    Matched,
    RecipientCondition,
    judge_value,
    match_call,
    match_common,
    match_others,
    read_number,
)
from assent.gate.views import Facets, Severity, View

LOW = CommonValues(Severity.LOW, "acme", "acme_refund", True)
TRUE, FALSE, UNKNOWN = True, False, None


def refund(
    *,
    recipients: tuple[str, ...] = (),
    cc: tuple[str, ...] = (),
    facets: Facets = Facets(),  # noqa: B008 - frozen
    without: tuple[str, ...] = (),
    arguments: dict[str, Any] | None = None,
    **proposed: Any,
) -> Action:
    return stage(
        replace(REFUND, recipients=recipients, cc=cc, arguments=arguments or {}),
        view=View(facets=facets, without=without),
        metadata={PROPOSAL: msgspec.to_builtins(Proposal(**proposed))},
    )


def test_the_values_that_every_action_has_are_read_from_it() -> None:
    action = stage(
        preflight=Preflight(severity=Severity.LOW, connector_ready=True), view=View(reversible=True)
    )

    assert CommonValues.of(action) == LOW


@pytest.mark.parametrize(
    ("match", "exact", "found"),
    [
        (Match(), False, True),
        (Match(), True, True),
        (Match(risk=(Severity.LOW,)), False, True),
        (Match(risk=(Severity.HIGH,)), False, False),
        (Match(risk=(Severity.HIGH, Severity.LOW)), True, True),
        (Match(channel=("acme",)), False, True),
        (Match(channel=("ACME",)), False, True),
        (Match(channel=("other",)), False, False),
        (Match(channel=("acme",)), True, None),
        (Match(channel=("other",)), True, False),
        (Match(effect=("acme_refund",)), False, True),
        (Match(effect=("Acme_Refund",)), False, True),
        (Match(effect=("acme_pay",)), False, False),
        (Match(effect=("acme_refund",)), True, None),
        (Match(reversible=True), False, True),
        (Match(reversible=False), False, False),
        (Match(reversible=True), True, True),
        (Match(operator=("billing",)), False, None),
        (Match(operator=("billing",), risk=(Severity.HIGH,)), False, False),
        (Match(operator=("billing",), channel=("other",)), False, False),
        (Match(operator=("billing",), effect=("other",)), False, False),
        (Match(operator=("billing",), reversible=False), False, False),
        (Match(channel=("acme",), effect=("acme_refund",), reversible=True), False, True),
    ],
)
def test_what_every_action_has_decides_alone_where_nothing_else_is_asked(
    match: Match, exact: bool, found: bool | None
) -> None:
    assert match_common(match, LOW, exact=exact) is found


@pytest.mark.parametrize(
    ("match", "exact", "found"),
    [
        (Match(), False, True),
        (Match(channel=("other",)), False, True),
        (Match(channel=("acme",)), True, True),
        (Match(channel=("ACME",)), True, "channel"),
        (Match(channel=("other",)), True, False),
        (Match(effect=("other",)), False, True),
        (Match(effect=("acme_refund",)), True, True),
        (Match(effect=("Acme_refund",)), True, "effect"),
        (Match(effect=("acme_pay",)), True, False),
        (Match(operator=("billing",)), False, True),
        (Match(operator=("Billing",)), False, True),
        (Match(operator=("Billing",)), True, "operator"),
        (Match(operator=("other",)), False, False),
        (Match(caller=("key:1",)), False, True),
        (Match(caller=("Robot",)), False, True),
        (Match(caller=("robot",)), True, "caller"),
        (Match(caller=("key:2",)), False, False),
        (Match(operator=("billing",), caller=("key:2",)), False, False),
        (Match(operator=("Billing",), caller=("key:2",)), True, False),
        (Match(operator=("Billing",), caller=("robot",)), True, "operator"),
    ],
)
def test_names_are_compared_with_those_of_the_action(match: Match, exact: bool, found: Matched) -> None:
    action = refund(operator="billing", caller="key:1", label="Robot")

    assert match_others(match, action, exact=exact) == found


@pytest.mark.parametrize("exact", [True, False])
def test_a_name_that_is_not_known_makes_its_rule_unknown(exact: bool) -> None:
    assert match_others(Match(operator=("billing",)), refund(), exact=exact) == "operator"
    assert match_others(Match(caller=("key:1",)), refund(), exact=exact) == "caller"
    assert match_others(Match(caller=("key:1",)), refund(label="key:1"), exact=exact) is True


TWO = ("ann@example.org", "Bob <bob@Straße.example>")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (RecipientCondition(at_least=2), True),
        (RecipientCondition(at_least=3), False),
        (RecipientCondition(at_least=1), True),
        (RecipientCondition(at_most=2), True),
        (RecipientCondition(at_most=1), False),
        (RecipientCondition(at_most=3), True),
        (RecipientCondition(at_least=2, at_most=2), True),
        (RecipientCondition(any_of=("ann@example.org",)), True),
        (RecipientCondition(any_of=("ANN@example.org",)), True),
        (RecipientCondition(any_of=("@example.org",)), True),
        (RecipientCondition(any_of=("@xn--strae-oqa.example",)), True),
        (RecipientCondition(any_of=("bob@straße.example",)), True),
        (RecipientCondition(any_of=("eve@example.org",)), False),
        (RecipientCondition(any_of=("@org",)), False),
        (RecipientCondition(outside=("@example.org",)), True),
        (RecipientCondition(outside=("@example.org", "@straße.example")), False),
        (RecipientCondition(outside=("ann@example.org", "bob@straße.example")), False),
        (RecipientCondition(outside=("@example.org",), any_of=("eve@example.org",)), False),
        (RecipientCondition(outside=("@example.org",), any_of=("ann@example.org",)), True),
    ],
)
def test_recipients_are_counted_and_found_by_address_or_domain(
    wanted: RecipientCondition, found: bool
) -> None:
    assert match_others(Match(recipients=wanted), refund(recipients=TWO)) is found
    assert match_others(Match(recipients=wanted), refund(recipients=TWO[:1], cc=TWO[1:])) is found
    assert match_others(Match(recipients=wanted), refund(facets=Facets(recipients=TWO))) is found


@pytest.mark.parametrize(
    ("address", "found"),
    [("аnn@example.org", "recipients"), ("eve@example.org", False), ("ęve@example.org", False)],
)
def test_an_address_that_only_looks_like_a_listed_one_is_unknown(address: str, found: Matched) -> None:
    wanted = Match(recipients=RecipientCondition(any_of=("ann@example.org",)))

    assert match_others(wanted, refund(recipients=(address,))) == found


@pytest.mark.parametrize(
    ("recipients", "without", "found"),
    [
        ((), (), "recipients"),
        ((), ("recipients",), False),
        (("ann@example.org",), ("recipients",), True),
        ((), ("amount",), "recipients"),
    ],
)
def test_recipients_that_are_missing_are_unknown_unless_the_type_has_none(
    recipients: tuple[str, ...], without: tuple[str, ...], found: Matched
) -> None:
    wanted = Match(recipients=RecipientCondition(at_least=1))

    assert match_others(wanted, refund(recipients=recipients, without=without)) == found


FIVE = Facets(amount="500", currency="EUR")


@pytest.mark.parametrize(
    ("condition", "facets", "found"),
    [
        (Condition(at_least="500"), FIVE, True),
        (Condition(at_least="501"), FIVE, False),
        (Condition(at_least="500 EUR"), FIVE, True),
        (Condition(at_least="501 EUR"), FIVE, False),
        (Condition(at_least="500 USD"), FIVE, "amount"),
        (Condition(at_least="500 EUR"), Facets(amount="500"), "amount"),
        (Condition(at_least="500"), Facets(amount="500"), True),
        (Condition(at_least="500"), Facets(amount="much", currency="EUR"), "amount"),
        (Condition(at_least="500"), Facets(currency="EUR"), "amount"),
        (Condition(any_of=("500 EUR",)), FIVE, True),
        (Condition(any_of=("EUR",)), Facets(currency="EUR"), "amount"),
        (Condition(count_at_most=3), Facets(), "amount"),
    ],
)
def test_an_amount_is_compared_by_its_number_or_with_its_currency(
    condition: Condition, facets: Facets, found: Matched
) -> None:
    assert match_others(Match(amount=condition), refund(facets=facets)) == found


@pytest.mark.parametrize(
    ("match", "facets", "without", "found"),
    [
        (Match(currency=("EUR",)), FIVE, (), True),
        (Match(currency=("USD",)), FIVE, (), False),
        (Match(currency=("EUR",)), Facets(), (), "currency"),
        (Match(currency=("EUR",)), Facets(), ("amount",), False),
        (Match(currency=("EUR",)), FIVE, ("amount",), True),
        (Match(amount=Condition(at_least="1")), Facets(), (), "amount"),
        (Match(amount=Condition(at_least="1")), Facets(), ("amount",), False),
        (Match(amount=Condition(at_least="1")), FIVE, ("amount",), True),
        (Match(amount=Condition(at_least="1")), Facets(), ("recipients",), "amount"),
    ],
)
def test_an_amount_that_is_missing_is_unknown_unless_the_type_has_none(
    match: Match, facets: Facets, without: tuple[str, ...], found: Matched
) -> None:
    assert match_others(match, refund(facets=facets, without=without)) == found


def argument(name: str, *wanted: bool | int | str) -> Match:
    return Match(arguments=(ArgumentCondition(name, Condition(any_of=wanted)),))


@pytest.mark.parametrize(
    ("name", "arguments", "without", "found"),
    [
        ("tier", {"tier": "gold"}, (), True),
        ("tier", {"tier": "tin"}, (), False),
        ("tier", {}, (), "arguments.tier"),
        ("tier", {}, ("arguments",), False),
        ("tier", {"tier": "gold"}, ("arguments",), True),
        ("tier", {"tier": None}, ("arguments",), "arguments.tier"),
        ("a.tier", {"a": {"tier": "gold"}}, (), True),
        ("a.tier", {"a": {}}, (), "arguments.a.tier"),
        ("a.tier", {"a": {}}, ("arguments",), "arguments.a.tier"),
        ("a.tier", {"b": {}}, ("arguments",), False),
        ("a.tier", {"a": "tier"}, (), "arguments.a.tier"),
    ],
)
def test_an_argument_is_found_by_its_dotted_name(
    name: str, arguments: dict[str, Any], without: tuple[str, ...], found: Matched
) -> None:
    assert match_others(argument(name, "gold"), refund(arguments=arguments, without=without)) == found


def test_one_false_condition_decides_and_else_the_first_unknown_is_named() -> None:
    wanted = Match(
        operator=("billing",),
        recipients=RecipientCondition(at_least=1),
        arguments=(ArgumentCondition("tier", Condition(any_of=("gold",))),),
    )

    assert match_others(wanted, refund()) == "operator"
    assert match_others(wanted, refund(operator="billing")) == "recipients"
    assert match_others(wanted, refund(arguments={"tier": "tin"})) is False


@pytest.mark.parametrize(
    ("condition", "value", "judged"),
    [
        (Condition(), "anything", TRUE),
        (Condition(at_least="5"), 5, TRUE),
        (Condition(at_least="5"), 4.9, FALSE),
        (Condition(at_least="5"), "5", TRUE),
        (Condition(at_least="5"), "five", UNKNOWN),
        (Condition(at_least="5"), True, UNKNOWN),
        (Condition(at_least="5"), "6 EUR", UNKNOWN),
        (Condition(at_most="5"), 5, TRUE),
        (Condition(at_most="5"), 5.1, FALSE),
        (Condition(at_most="5 EUR"), "4 EUR", TRUE),
        (Condition(at_most="5 EUR"), "6 EUR", FALSE),
        (Condition(at_least="4", at_most="6"), 5, TRUE),
        (Condition(at_least="4", at_most="6"), 7, FALSE),
        (Condition(at_least="4", any_of=("x",)), 3, FALSE),
        (Condition(begins_with=("WITH", "SELECT ")), "SELECT 1", TRUE),
        (Condition(begins_with=("SELECT",)), "  ｓelect 1", TRUE),
        (Condition(begins_with=("SELECT",)), "S\u0395LECT 1", UNKNOWN),
        (Condition(begins_with=("SELECT",)), "DROP TABLE x; SELECT", FALSE),
        (Condition(begins_with=("1",)), 12, UNKNOWN),
        (Condition(contains_none=(";",)), "SELECT 1", TRUE),
        (Condition(contains_none=("--", ";")), "SELECT 1\uff1b DROP", FALSE),
        (Condition(contains_none=("drop",)), "SELECT 1; DR\u039fP", UNKNOWN),
        (Condition(contains_none=(";",)), None, UNKNOWN),
        (Condition(at_least="much"), 5, UNKNOWN),
        (Condition(count_at_least=2), [1, 2], TRUE),
        (Condition(count_at_least=3), [1, 2], FALSE),
        (Condition(count_at_least=2), "ab", TRUE),
        (Condition(count_at_least=1), {"a": 1}, TRUE),
        (Condition(count_at_least=1), (1,), TRUE),
        (Condition(count_at_least=1), 7, UNKNOWN),
        (Condition(count_at_most=1), 7, UNKNOWN),
        (Condition(count_at_most=2), [1, 2], TRUE),
        (Condition(count_at_most=1), [1, 2], FALSE),
        (Condition(count_at_least=0), [], TRUE),
        (Condition(count_at_most=0), [1], FALSE),
        (Condition(count_at_least=1, count_at_most=3), [1, 2], TRUE),
        (Condition(count_at_least=1, count_at_most=3), [1, 2, 3, 4], FALSE),
        (Condition(count_at_least=3, count_at_most=4), [1, 2], FALSE),
        (Condition(count_at_least=1, at_least="1"), [1], UNKNOWN),
        (Condition(any_of=(True,)), True, TRUE),
        (Condition(any_of=(True,)), False, FALSE),
        (Condition(any_of=(True,)), "true", UNKNOWN),
        (Condition(any_of=(True,)), 1, UNKNOWN),
        (Condition(any_of=(1,)), True, UNKNOWN),
        (Condition(any_of=("x",)), True, UNKNOWN),
        (Condition(any_of=(1,)), 1, TRUE),
        (Condition(any_of=(1,)), "1.0", TRUE),
        (Condition(any_of=(1,)), 2, FALSE),
        (Condition(any_of=(1,)), "one", UNKNOWN),
        (Condition(any_of=(1,)), "1 EUR", UNKNOWN),
        (Condition(any_of=("1 EUR",)), "1.00 EUR", TRUE),
        (Condition(any_of=("1 EUR",)), "1 USD", UNKNOWN),
        (Condition(any_of=("x",)), "x", TRUE),
        (Condition(any_of=("x",)), "X", TRUE),
        (Condition(any_of=("x",)), "y", FALSE),
        (Condition(any_of=("x",)), "\u0445", UNKNOWN),  # a Cyrillic letter that looks like x
        (Condition(any_of=("x",)), 7, UNKNOWN),
        (Condition(any_of=("x",)), None, UNKNOWN),
        (Condition(any_of=("x",)), ["x"], UNKNOWN),
        (Condition(any_of=("x", 7)), 7, TRUE),
        (Condition(any_of=("x", 7)), 8, FALSE),
        (Condition(any_of=("x", 7)), "x", TRUE),
        (Condition(any_of=("x", 7)), "y", UNKNOWN),
        (Condition(any_of=("x", 7)), "X", TRUE),
    ],
)
def test_a_value_is_judged_by_every_part_of_its_condition(
    condition: Condition, value: Any, judged: bool | None
) -> None:
    assert judge_value(condition, value) is judged


@pytest.mark.parametrize(
    ("value", "judged"), [("x", TRUE), ("X", UNKNOWN), ("y", FALSE), ("\u0445", UNKNOWN)]
)
def test_where_it_has_to_be_exact_a_folded_text_is_unknown(value: str, judged: bool | None) -> None:
    assert judge_value(Condition(any_of=("x",)), value, exact=True) is judged


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, (Decimal(5), "")),
        (-5, (Decimal(-5), "")),
        (0.1, (Decimal("0.1"), "")),
        (1e22, (Decimal(10**22), "")),
        (Decimal("0.10"), (Decimal("0.1"), "")),
        ("12.50", (Decimal("12.5"), "")),
        ("12.50 EUR", (Decimal("12.5"), "EUR")),
        ("12.50 eur", None),
        ("12,50", None),
        ("", None),
        ("1e3", None),
        (" 1", None),
        ("١", None),
        (float("nan"), None),
        (True, None),
        (None, None),
        ([1], None),
    ],
)
def test_a_number_is_read_exactly_or_not_at_all(value: Any, number: tuple[Decimal, str] | None) -> None:
    assert read_number(value) == number


def test_only_numbers_and_texts_are_read_as_numbers() -> None:
    class Disguised:
        def __str__(self) -> str:
            return "5"

    assert read_number(Disguised()) is None


@given(st.integers(-100, 100), st.integers(-100, 100), st.integers(-100, 100))
def test_bounds_hold_as_in_arithmetic(value: int, least: int, most: int) -> None:
    between = Condition(at_least=str(least), at_most=str(most))

    assert judge_value(between, value) is (least <= value <= most)


def test_a_rule_that_lets_pass_wants_the_beginning_character_by_character() -> None:
    condition = Condition(begins_with=("SELECT ",), contains_none=(";",))
    judged = {
        text: judge_value(condition, text, exact=True)
        for text in ("SELECT 1", "select 1", " SELECT 1", "SELECTION", "SELECT 1;", "SELECT 1\uff1b")
    }

    assert judged == {
        "SELECT 1": TRUE,
        "select 1": UNKNOWN,
        " SELECT 1": UNKNOWN,
        "SELECTION": UNKNOWN,
        "SELECT 1;": FALSE,
        "SELECT 1\uff1b": FALSE,
    }


@pytest.mark.parametrize(
    ("callers", "arguments", "found"),
    [
        (("ci",), {"order": "7"}, True),
        (("ci",), {"order": "8"}, False),
        (("ci",), {}, "arguments.order"),
        (("bot",), {"order": "7"}, False),
        ((), {"order": "7"}, "caller"),
    ],
)
def test_a_call_that_is_no_action_is_matched_by_caller_and_arguments(
    callers: tuple[str, ...], arguments: dict[str, Any], found: Matched
) -> None:
    wanted = Match(caller=("ci",), arguments=(ArgumentCondition("order", Condition(any_of=("7",))),))

    assert match_call(wanted, callers, arguments) == found
