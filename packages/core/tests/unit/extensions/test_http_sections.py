"""Sections `[effect.NAME]` of the settings file: every mistake names file, section and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.extensions.http_section import section

from assent.extensions.effect_types import make_effect_type, prepare_effect
from assent.extensions.http_effects import HttpEffect, read_sections
from assent.extensions.operators import Operator
from assent.extensions.registry import Extensions, Names, load_extensions
from assent.gate.records import Effect
from assent.kernel.refusals import Refusal
from assent.settings.load import load_settings

GOOD = section("https://billing.example.com/")


def load(**sections: Any) -> Extensions:
    return load_extensions(declared=read_sections(sections, "/etc/assent.toml"))


def only_effect(**changes: Any) -> HttpEffect:
    loaded = load(refund={**GOOD, **changes})
    assert loaded.failures == ()
    (effect,) = loaded.effects
    assert isinstance(effect, HttpEffect)
    return effect


def arguments(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


ONE = {"customer": {"type": "string"}, "amount": {"type": "string"}}
MISTAKES: list[tuple[str, Any, str, str]] = [
    ("url", None, "url", "is missing"),
    ("url", 3, "url", "no text"),
    ("url", "billing.example.com", "url", "fixed host"),
    ("url", "ftp://billing.example.com/", "url", "fixed host"),
    ("url", "https://{customer}.example.com/", "url", "fixed host"),
    ("url", "https://a:b@example.com/", "url", "fixed host"),
    ("url", "https://example.com:99999/", "url", "fixed host"),
    ("url", "https://example.com/{nobody}", "url", "names no argument"),
    ("url", "https://example.com/{customer", "url", "not closed"),
    ("method", "FETCH", "method", "POST, PUT"),
    ("method", "GET", "method", "POST, PUT"),
    ("description", None, "description", "is missing"),
    ("description", "", "description", "no text"),
    ("label", "x" * 81, "label", "80"),
    ("verb", "Pay!", "verb", "small letters"),
    ("title", "Refund {sum}", "title", "Known: customer, amount"),
    ("risk", "none", "risk", "low, medium or high"),
    ("without", ["people"], "without", "recipients, amount, arguments"),
    ("without", "amount", "without", "recipients, amount, arguments"),
    ("reversible", "yes", "reversible", "true or false"),
    ("timeout_seconds", 0, "timeout_seconds", "up to 3600"),
    ("timeout_seconds", "soon", "timeout_seconds", "up to 3600"),
    ("headers", {"Host": "x"}, "headers.Host", "server sets it"),
    ("headers", {"A B": "x"}, "headers.A B", "cannot be yours"),
    ("headers", {"A": "x\ny"}, "headers.A", "printable"),
    ("headers", {"A": "secret:"}, "headers.A", "assent secret set"),
    ("headers", {"A": "Bearer secret:My Key"}, "headers.A", "assent secret set"),
    ("headers", "x", "headers", "no table"),
    ("idempotency_header", "Idempotency-Key", "idempotency_hours", "belong together"),
    ("idempotency_hours", 24, "idempotency_header", "belong together"),
    ("idempotency_hours", True, "idempotency_hours", "no such number"),
    ("result", {"id": "a..b"}, "result.id", "no path"),
    ("result", {"ids": "a"}, "result", "Did you mean id?"),
    ("read_back", {"proof": "id"}, "read_back.url", "is missing"),
    ("read_back", {"url": "https://example.com/"}, "read_back.proof", "is missing"),
    ("read_back", {"url": "https://example.com/", "proof": "id", "equals": "{x}"}, "read_back.equals", "{x}"),
    ("headers", {"idempotency-key": "x"}, "idempotency_header", "too"),
    ("arguments", arguments(customer={"type": "string", "title": "a\nb"}), "customer", "no line"),
    ("arguments", None, "arguments", "is missing"),
    ("arguments", [], "arguments", "no table"),
    ("arguments", {"type": "string"}, "arguments", "not describe an object"),
    ("arguments", {**arguments(**ONE), "additionalProperties": True}, "arguments", "approved"),
    ("arguments", {**arguments(**ONE), "required": ["nobody"]}, "arguments", "Add nobody"),
    ("arguments", {**arguments(**ONE), "required": "customer"}, "arguments.required", "of texts"),
    ("arguments", arguments(customer={}), "arguments.properties.customer", "has no type"),
    ("arguments", arguments(customer={"type": "text"}), "customer.type", "string, number"),
    (
        "arguments",
        arguments(customer={"type": "string", "minimum": 3}),
        "arguments.properties.customer",
        "minimum",
    ),
    ("arguments", arguments(customer={"type": "string", "format": "email"}), "customer.format", "pattern"),
    ("arguments", arguments(customer={"type": "string", "format": ["date"]}), "customer.format", "a text"),
    ("arguments", arguments(customer={"type": "string", "pattern": "("}), "customer.pattern", "missing )"),
    (
        "arguments",
        arguments(customer={"type": "string", "pattern": "^(?=a)"}),
        "customer.pattern",
        "look-ahead",
    ),
    (
        "arguments",
        arguments(customer={"type": "string", "pattern": "a{600}"}),
        "customer.pattern",
        "too large",
    ),
    ("arguments", arguments(customer={"type": "integer", "minimum": "1"}), "customer.minimum", "a number"),
    ("arguments", arguments(customer={"type": "string", "enum": [1]}), "customer", "do not have its type"),
    ("arguments", arguments(customer={"type": "array"}), "customer.items", "has no type"),
    ("arguments", arguments(customer={"type": "object"}), "customer", "no properties"),
    ("arguments", arguments(customer={"anyOf": []}), "customer.anyOf", "at least 1"),
    ("arguments", arguments(**{"a-b": {"type": "string"}}), "a-b", "letters, digits"),
    ("arguments", arguments(tenantId={"type": "string"}), "tenantId", "letters, digits"),
    ("arguments", arguments(n={"type": "integer", "default": "x"}), "arguments.properties.n", "default"),
    ("colour", "red", "colour", "unknown"),
    ("titel", "Refund", "titel", "Did you mean title?"),
]


@pytest.mark.parametrize(
    ("key", "value", "place", "words"), MISTAKES, ids=[f"{key}-{n}" for n, (key, *_) in enumerate(MISTAKES)]
)
def test_a_mistake_names_its_key_and_leaves_out_its_section_only(
    key: str, value: Any, place: str, words: str
) -> None:
    bad = {**GOOD, key: value}
    if value is None:
        del bad[key]
    if key == "arguments":
        bad.update(url="https://example.com/", title="")
    if place == "idempotency_header" and key == "headers":
        bad.update(idempotency_header="Idempotency-Key", idempotency_hours=24)
    loaded = load(first=GOOD, refund=bad, last=GOOD)
    assert [operator.id for operator in loaded.operators] == ["first", "last"]
    (failure,) = loaded.failures
    assert str(failure.source) == "settings /etc/assent.toml [effect.refund]"
    assert place in failure.why
    assert words in failure.why


@pytest.mark.parametrize("sections", [3, [], "x"])
def test_a_table_of_effects_that_is_none_is_a_message(sections: Any) -> None:
    loaded = load_extensions(declared=read_sections(sections, "a.toml"))
    assert (loaded.operators, "no table" in loaded.failures[0].why) == ((), True)


@pytest.mark.parametrize("name", ["Refund", "chieflab", "workflow", "x" * 41, "a b"])
def test_a_section_whose_name_cannot_be_an_operator_is_left_out(name: str) -> None:
    loaded = load(**{name: GOOD, "other": GOOD})
    assert ([each.id for each in loaded.operators], len(loaded.failures)) == (["other"], 1)


def test_a_name_that_a_python_operator_has_is_refused_with_both_places() -> None:
    taken = Names(tools={"refund_request": "billing.py:3, request"})
    loaded = load_extensions((), taken, declared=read_sections({"refund": GOOD}, "a.toml"))
    (failure,) = loaded.failures
    assert "billing.py:3" in failure.why and "a.toml [effect.refund]" in failure.why


def test_the_published_schema_has_the_limits_of_the_section() -> None:
    line = {"type": "object", "properties": {"sku": {"type": "string", "pattern": "^[a-z]+$"}}}
    effect = only_effect(
        url="https://example.com/",
        title="",
        arguments=arguments(
            to={"type": "string", "minLength": 1, "maxLength": 9, "description": "Who gets it."},
            count={"type": "integer", "minimum": 1, "maximum": 3},
            share={"type": "number", "exclusiveMaximum": 1},
            plan={"type": "string", "enum": ["a", "b"]},
            lines={"type": "array", "items": line, "maxItems": 2},
            others={"type": "array", "items": line},
            tags={"type": "object", "additionalProperties": {"type": "boolean"}},
            on={"type": "string", "format": "date"},
        ),
    )
    schema = make_effect_type(effect).schema
    assert schema is not None
    text = msgspec.json.encode(schema(Effect(channel="", verb="", connector="", body=""))).decode()
    for part in (
        '"minLength":1',
        '"maxLength":9',
        '"maximum":3',
        '"enum":["a","b"]',
        '"maxItems":2',
        "Who gets it.",
    ):
        assert part in text
    given = {
        "to": "ann",
        "count": 2,
        "share": 0.5,
        "plan": "a",
        "lines": [{"sku": "x"}],
        "others": [{}],
        "tags": {"new": True},
        "on": "2026-01-31",
    }
    assert prepare_effect(effect, given).arguments == given
    wrong = (
        {"to": ""},
        {"count": 4},
        {"share": 1},
        {"plan": "c"},
        {"lines": [{"sku": "X"}]},
        {"lines": [{"other": 1}]},
        {"tags": {"new": 1}},
        {"on": "31.1.2026"},
        {"colour": "red"},
    )
    for change in wrong:
        with pytest.raises(Refusal):
            prepare_effect(effect, {**given, **change})


def test_an_argument_that_is_not_required_may_be_left_out_or_has_its_default() -> None:
    schema = arguments(customer={"type": "string"})
    schema["properties"] |= {"note": {"type": "string"}, "count": {"type": "integer", "default": 2}}
    effect = only_effect(url="https://example.com/", title="", arguments=schema)
    assert prepare_effect(effect, {"customer": "a"}).arguments == {"customer": "a", "note": None, "count": 2}


@pytest.mark.parametrize(
    ("changes", "kind", "searches"),
    [
        ({}, "none", False),
        ({"idempotency_header": "Idempotency-Key", "idempotency_hours": 1}, "native_key", False),
        ({"read_back": {"url": "https://example.com/", "proof": "id"}}, "read_back", False),
        (
            {
                "idempotency_header": "Idempotency-Key",
                "idempotency_hours": 1,
                "read_back": {"url": "https://example.com/", "proof": "id"},
            },
            "native_key",
            True,
        ),
    ],
)
def test_header_and_read_back_declare_the_guarantee(
    changes: dict[str, Any], kind: str, searches: bool
) -> None:
    delivery = only_effect(**changes).options.delivery
    assert (delivery.kind, delivery.searches) == (kind, searches)


def test_sections_come_from_the_settings_file_and_a_bad_one_does_not_stop_the_start(tmp_path: Path) -> None:
    file = tmp_path / "assent.toml"
    file.write_text(
        """
port = 8090

[effect.ping]
url = "https://example.com/ping"
description = "Ring a bell."
arguments = { type = "object" }

[effect.broken]
"""
    )
    settings = load_settings({"config": str(file)}, {"HOME": str(tmp_path)}).settings
    assert settings.port == 8090
    loaded = load_extensions(declared=read_sections(settings.effects, str(file)))
    operators: tuple[Operator, ...] = loaded.operators
    assert [each.tool for each in operators[0].effects] == ["ping_request"]
    assert str(file) in str(loaded.failures[0].source)


def test_a_section_declares_which_values_its_request_never_has() -> None:
    assert set(make_effect_type(only_effect()).without) == {"arguments"}
    assert set(make_effect_type(only_effect(without=["recipients"])).without) == {"arguments", "recipients"}


@pytest.mark.parametrize(("pattern", "is_noted"), [(r"^\w+$", True), (r"^\d{3}$", True), ("^[a-z]+$", False)])
def test_loading_says_which_patterns_match_ascii_only(pattern: str, is_noted: bool) -> None:
    named = arguments(customer={"type": "string", "pattern": pattern}, amount={"type": "string"})
    loaded = load(refund={**GOOD, "arguments": named})
    assert loaded.failures == ()
    assert [pattern in note and "customer" in note for note in loaded.notes] == [True] * is_noted


def test_an_undo_has_the_headers_of_its_section_unless_it_names_its_own_or_goes_to_another_host() -> None:
    kept, own = {"Authorization": "Bearer secret:billing-key"}, {"X-Team": "a"}

    def headers(**undo: Any) -> Any:
        loaded = load(refund={**GOOD, "headers": kept, "undo": {"method": "DELETE", **undo}})
        _, reverse = loaded.effects
        assert isinstance(reverse, HttpEffect)
        return reverse.request.headers

    assert headers(url="https://billing.example.com/{receipt}") == kept
    assert headers(url="https://billing.example.com/{receipt}", headers=own) == own
    for elsewhere in (
        "https://other.example.com/",
        "http://billing.example.com/",
        "https://billing.example.com:444/",
    ):
        assert headers(url=elsewhere + "{receipt}") == {}
