"""The arguments of an effect: schemas from the signature, exact numbers, clear errors."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import pytest
from annotated_types import Len, Lt, Predicate, Timezone
from pydantic import Field

import assent
from assent.extensions.effect_types import render_arguments
from assent.extensions.hooks import BadExtension
from assent.extensions.signatures import read_signature
from assent.tools.catalog import input_schema


@dataclass
class Line:
    sku: str
    price: assent.Money
    count: int = 1


class Kind(Enum):
    FULL = "full"
    PART = "part"


def refund(
    ctx: Any,
    customer: Annotated[str, "The customer's id."],
    amount: assent.Money,
    lines: list[Line],
    on: date,
    kind: Kind,
    rate: Decimal | None = None,
    speed: Literal["slow", "fast"] = "slow",
    notes: dict[str, str] = {},  # noqa: B006 - what a stranger writes
) -> assent.Receipt:
    """Refund a customer."""
    return assent.Receipt("1")


SENT = {
    "customer": "cus_1",
    "amount": "12.50 EUR",
    "lines": [{"sku": "a", "price": "1 EUR"}],
    "on": "2026-11-16",
    "kind": "full",
}


def test_the_schema_has_no_reference_and_names_what_is_required() -> None:
    request = read_signature(refund).request_type("Refund", [("idempotencyKey", str | None, None)])
    schema = input_schema(request)
    assert "$ref" not in repr(schema) and "$defs" not in schema
    assert schema["type"] == "object"
    assert schema["required"] == ["customer", "amount", "lines", "on", "kind"]
    assert schema["properties"]["customer"]["description"] == "The customer's id."
    assert schema["properties"]["lines"]["items"]["properties"]["price"]["type"] == "string"
    assert schema["additionalProperties"] is False


def invite(
    who: Annotated[str, Field(description="The person's login.", max_length=9, pattern="^[a-z]+$")],
    until: date | None,
    kind: Kind | None,
    seats: Annotated[int, Field(ge=1), Lt(10)] = 1,
    teams: Annotated[list[str], Len(1, 3)] = ["all"],  # noqa: B006 - what a stranger writes
) -> assent.Receipt:
    return assent.Receipt(who)


INVITED: Final = {"who": "ann", "until": None, "kind": None}


def test_limits_and_descriptions_of_an_annotation_are_in_the_schema() -> None:
    found = input_schema(read_signature(invite).request_type("Invite", []))["properties"]
    assert found["who"] == {
        "type": "string",
        "description": "The person's login.",
        "maxLength": 9,
        "pattern": "^[a-z]+$",
    }
    assert (found["seats"]["minimum"], found["seats"]["exclusiveMaximum"]) == (1, 10)
    assert (found["teams"]["minItems"], found["teams"]["maxItems"]) == (1, 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [("who", "a" * 10), ("who", "Ann"), ("seats", 0), ("seats", 10), ("teams", []), ("teams", ["a"] * 4)],
)
def test_a_limit_of_an_annotation_is_enforced(name: str, value: Any) -> None:
    with pytest.raises(assent.Problem) as refused:
        read_signature(invite).read({**INVITED, name: value})
    assert refused.value.field.startswith(name)


def test_a_time_says_how_it_is_written() -> None:
    def meet(starts: datetime, ends: Annotated[datetime, "When it ends."]) -> assent.Receipt:
        return assent.Receipt(str(starts))

    meet.__annotations__ |= {"starts": datetime, "ends": Annotated[datetime, "When it ends."]}
    found = input_schema(read_signature(meet).request_type("Meet", []))["properties"]
    assert "2027-01-31T09:00:00+01:00" in found["starts"]["description"]
    assert found["ends"]["description"] == "When it ends."


def test_a_described_amount_is_still_checked() -> None:
    def pay(amount: Annotated[assent.Money, "What it costs."]) -> assent.Receipt:
        return assent.Receipt(str(amount))

    pay.__annotations__["amount"] = Annotated[assent.Money, "What it costs."]
    with pytest.raises(assent.Problem):
        read_signature(pay).read({"amount": "12.50"})


def test_a_required_argument_that_may_be_none_takes_null_and_says_so() -> None:
    signature = read_signature(invite)
    schema = input_schema(signature.request_type("Invite", []))
    assert schema["required"] == ["who", "until", "kind"]
    assert schema["properties"]["until"] == {"type": ["string", "null"], "format": "date"}
    assert schema["properties"]["kind"] == {"enum": ["full", "part", None]}
    values = signature.read(INVITED)
    assert (values["until"], values["kind"]) == (None, None)


@pytest.mark.parametrize(
    "note",
    [Field(default="x"), Field(alias="y"), Field(strict=True), Predicate(str.islower), 9, Timezone("UTC")],
)
def test_an_annotation_that_would_be_dropped_is_refused(note: Any) -> None:
    def invite(who: Annotated[str, note]) -> assent.Receipt:
        return assent.Receipt(who)

    invite.__annotations__["who"] = Annotated[str, note]
    with pytest.raises(assent.BadExtension, match="does not check"):
        read_signature(invite)


def test_the_function_gets_values_of_its_own_types_and_the_wire_form_is_the_same_again() -> None:
    signature = read_signature(refund)
    values = signature.read(SENT)
    assert values["amount"] == assent.Money(Decimal("12.50"), "EUR")
    assert values["lines"] == [Line("a", assent.Money(Decimal(1), "EUR"), 1)]
    assert values["on"] == date(2026, 11, 16)
    assert values["kind"] is Kind.FULL
    written = signature.write(values)
    assert written["amount"] == "12.50 EUR"
    assert list(written) == [*SENT, "rate", "speed", "notes"]
    assert signature.read(written) == values


@pytest.mark.parametrize(
    "amount",
    [
        "NaN EUR",
        "1E+400 EUR",
        "Infinity EUR",
        "12.50 EUR\n",
        "12,50 EUR",
        "1 eur",
        "-12.50 EUR",
        "12.50",
        "1" * 19 + " EUR",
    ],
)
def test_money_that_is_not_finite_bounded_and_exact_is_refused(amount: str) -> None:
    with pytest.raises(assent.Problem) as refused:
        read_signature(refund).read({**SENT, "amount": amount})
    assert refused.value.field == "amount"


@pytest.mark.parametrize("rate", ["NaN", "1E+400", "-Infinity", "1e5", "1_000", "٣", "0." + "1" * 10])
def test_a_decimal_that_is_not_finite_and_bounded_is_refused(rate: str) -> None:
    with pytest.raises(assent.Problem):
        read_signature(refund).read({**SENT, "rate": rate})


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("1E+400"), Decimal("1E-30")])
def test_no_money_can_be_made_of_a_number_without_bounds(value: Decimal) -> None:
    with pytest.raises(ValueError, match="is not an amount"):
        assent.Money(value, "EUR")


def test_a_small_decimal_keeps_plain_digits() -> None:
    signature = read_signature(refund)
    written = signature.write({**signature.read(SENT), "rate": Decimal("0.000000001")})
    assert written["rate"] == "0.000000001"


def test_a_number_that_is_not_finite_is_refused_when_a_function_returns_it() -> None:
    def pay(amount: float) -> None: ...

    with pytest.raises(assent.Problem):
        read_signature(pay).write({"amount": float("nan")})


def test_the_text_of_arguments_names_invisible_characters_and_keeps_those_that_scripts_need() -> None:
    def pay(to: str, why: str, lines: list[str]) -> None: ...

    hidden = {"to": "DE12\u202e43", "why": "one\u2028Amount: 5\ntwo", "lines": ["a\u200b", "👩\u200d🚀"]}
    assert render_arguments(read_signature(pay), hidden).splitlines() == [
        "To: DE12⟨U+202E⟩43",
        "Why:",
        "    one⟨U+2028⟩Amount: 5",
        "    two",
        "Lines:",
        "    - a⟨U+200B⟩",
        "    - 👩\u200d🚀",
    ]


def test_two_arguments_never_have_the_same_label() -> None:
    def pay(to: str, to_: str, userID: str, userid: str, sum_of: str, sum__of: str, why: str) -> None: ...  # noqa: N803

    signature = read_signature(pay)
    labels = [each.label for each in signature.parameters]
    assert labels == ["to", "to_", "userID", "userid", "sum_of", "sum__of", "Why"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("kind", "odd", "one of full, part"),
        ("on", "soon", "a date such as 2027-01-31"),
        ("amount", "12,50", "an amount with its currency, such as 12.50 EUR"),
        ("customer", 3, "text"),
        ("lines", [{"sku": 3, "price": "1 EUR"}], "text (at 0.sku)"),
        ("lines", [{"sku": "a"}], "a value for price (at 0)"),
        ("lines", [{"sku": "a", "price": "1 EUR", "size": 1}], "no field size (at 0)"),
        (
            "lines",
            [{"sku": "a", "price": "1"}],
            "an amount with its currency, such as 12.50 EUR (at 0.price)",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_plain_words(name: str, value: Any, expected: str) -> None:
    with pytest.raises(assent.Problem) as refused:
        read_signature(refund).read({**SENT, name: value})
    assert (refused.value.field, refused.value.expected) == (name, expected)


def test_an_unknown_or_missing_argument_is_named() -> None:
    signature = read_signature(refund)
    with pytest.raises(assent.Problem) as unknown:
        signature.read({**SENT, "colour": "red"})
    assert unknown.value.field == "colour"
    with pytest.raises(assent.Problem) as missing:
        signature.read({name: value for name, value in SENT.items() if name != "kind"})
    assert missing.value.field == "kind"


@dataclass
class Tree:
    below: list[Tree]


def _open_ended(*names: str) -> None: ...
def _open_named(**names: str) -> None: ...
def _untyped(customer) -> None: ...  # type: ignore[no-untyped-def]
def _path(file: Path) -> None: ...
def _anything(value: Any) -> None: ...
def _numbered(table: dict[int, str]) -> None: ...
def _reserved(idempotencyKey: str) -> None: ...  # noqa: N803
def _positional(customer: str, /) -> None: ...
def _wrong_default(count: int = "many") -> None: ...  # type: ignore[assignment]
def _callback(then: assent.Operator) -> None: ...
def _endless(tree: Tree) -> None: ...
def _unknown_name(customer: Customer) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (_open_ended, "*names"),
        (_open_named, "**names"),
        (_untyped, "customer"),
        (_path, "file"),
        (_anything, "value"),
        (_numbered, "table"),
        (_reserved, "idempotencyKey"),
        (_positional, "customer"),
        (_wrong_default, "count"),
        (_callback, "then"),
        (_endless, "tree"),
        (_unknown_name, "Customer"),
    ],
)
def test_a_signature_that_cannot_be_shown_is_refused_with_its_place_and_a_correction(
    function: Any, names: str
) -> None:
    with pytest.raises(BadExtension) as refused:
        read_signature(function)
    said = str(refused.value)
    assert "test_arguments.py:" in said
    assert function.__name__ in said
    assert names in said
    assert refused.value.fix


def test_importing_the_package_imports_none_of_the_api() -> None:
    """Every start pays for what `import assent` imports."""
    program = "import sys, assent; print(sorted(name for name in sys.modules if name.startswith('assent')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['assent']"


def test_every_public_name_exists() -> None:
    for name in assent.__all__:
        assert getattr(assent, name) is not None
    with pytest.raises(AttributeError):
        assert assent.no_such_name  # type: ignore[attr-defined]
