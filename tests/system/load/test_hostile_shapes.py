"""No schema of an author stalls the server: each that is loaded against 64 KB made for it."""

from __future__ import annotations

import random
import time
from typing import Any, Final

import msgspec
import pytest
from tests.support.effort import rounds
from tests.system.load.test_hostile_patterns import CALL_MS, CHARS, TAKEN, hostile

from assent.kernel.shapes import check_shape, find_mismatches
from assent.workflow.contracts.registry import REGISTRY

MANY: Final = 20
"""How many choices a keyword takes."""


def fill(item: Any) -> list[Any]:
    """A list of about 64 KB."""
    return [item] * (CHARS // (len(msgspec.json.encode(item)) + 1))


def nest(shape: dict[str, Any], keyword: str, levels: int) -> dict[str, Any]:
    for _ in range(levels):
        shape = {keyword: [shape, shape]}
    return shape


def each(**shape: Any) -> dict[str, Any]:
    return {"type": "array", "items": shape}


NAMES: Final = [f"n{number}" for number in range(1_000)]
KNOWN: Final[list[tuple[dict[str, Any], Any]]] = [
    (each(), fill(0)),
    (each(type="integer"), fill(0)),
    (each(type="string"), fill(0)),
    (each(anyOf=[{"type": "string"}] * MANY), fill(0)),
    (each(oneOf=[{"type": "integer"}] * MANY), fill(0)),
    (each(allOf=[{"not": {"type": "integer"}}] * MANY), fill(0)),
    (each(enum=NAMES), fill(0)),
    (each(enum=[{"a": name} for name in NAMES]), fill({"a": 0})),
    (each(required=NAMES), fill({})),
    (each(properties={name: {} for name in NAMES}), fill({})),
    (each(properties={name: {} for name in NAMES}), [dict.fromkeys(NAMES, 0)] * 8),
    (each(additionalProperties={"type": "string"}), fill({"a": 0})),
    (each(patternProperties={each: {"type": "string"} for each in TAKEN[:100]}), fill({"ab": 0})),
    (each(patternProperties={each: {} for each in TAKEN[:100]}, additionalProperties=False), fill({"é": 0})),
    (each(anyOf=[{"pattern": pattern} for pattern in TAKEN[:MANY]]), fill("ab!")),
    (each(format="regex"), [f"(a{number})" for number in range(7_000)]),
    (each(format="date-time"), fill("2027-01-31T09:00:00+01:00")),
    (each(multipleOf=0.1), fill(1e308)),
    ({"uniqueItems": True}, [{"a": number} for number in range(6_000)]),
    ({"uniqueItems": True}, [[number, str(number)] for number in range(5_000)]),
    ({"uniqueItems": True}, fill({"b": 1})),
    (nest({"uniqueItems": True}, "allOf", 10), fill([0])),
    (nest({"type": "string"}, "anyOf", 10), fill(0)),
    (nest(each(type="string"), "anyOf", 8), fill(0)),
    (nest({"const": fill("a")}, "allOf", 2), [*fill("a")[:-1], "b"]),
    ({"allOf": [{"pattern": pattern} for pattern in TAKEN[:MANY]]}, "a" * CHARS),
    ({"additionalProperties": False}, {f"{number:x}": 0 for number in range(8_000)}),
    ({"properties": {"n1": {}}, "additionalProperties": False}, {f"n{number}": 0 for number in range(6_000)}),
]


def generate(seed: int) -> tuple[dict[str, Any], Any]:
    """A schema of compositions of lists and objects, and a value that has its form."""
    dice = random.Random(seed)  # noqa: S311 - no secret

    def part(depth: int) -> tuple[dict[str, Any], Any]:
        if depth == 0:
            pattern = dice.choice(TAKEN)
            leaves: list[tuple[dict[str, Any], Any]] = [
                ({"type": "string", "pattern": pattern}, hostile(pattern)[0][:200]),
                ({"enum": NAMES[:50]}, 0),
                ({"type": "number", "multipleOf": 0.3, "maximum": 1}, 1e300),
            ]
            return dice.choice(leaves)
        shape, value = part(depth - 1)
        match dice.randrange(5):
            case 0:
                return {dice.choice(["anyOf", "oneOf", "allOf"]): [shape] * dice.randint(1, MANY)}, value
            case 1:
                return {"items": shape, "uniqueItems": dice.random() < 0.5}, [value] * dice.randint(1, 50)
            case 2:
                names = [f"a{number}" for number in range(dice.randint(1, 30))]
                return {"properties": dict.fromkeys(names, shape)}, dict.fromkeys(names, value)
            case 3:
                return {"patternProperties": {dice.choice(TAKEN): shape}}, {"ab": value, "aa!": value}
            case _:
                return {"not": shape}, value

    shape, value = part(dice.randint(2, 5))
    size = len(msgspec.json.encode(value))
    return each(**shape), [value] * max(1, CHARS // (size + 1)) if size < CHARS else [value]


@pytest.mark.prove
def test_no_schema_takes_long_for_a_value_made_for_it() -> None:
    slow, loaded, tried = [], 0, [*KNOWN, *map(generate, range(rounds(50, 1_000)))]
    for shape, value in tried:
        if check_shape(shape, "$"):
            continue
        loaded += 1
        begun = time.thread_time()
        for _ in find_mismatches(value, shape):
            pass
        if (took := (time.thread_time() - begun) * 1_000) > CALL_MS:
            slow.append((took, msgspec.json.encode(shape)[:200], msgspec.json.encode(value)[:80]))
    assert slow == []
    assert loaded > len(tried) * 0.65


def test_what_takes_too_long_is_said_and_does_not_fit() -> None:
    found = list(find_mismatches(fill(0), each(anyOf=[{"type": "integer"}] * MANY, minimum=0)))
    assert [each.code for each in found] == ["too_large"]


@pytest.mark.parametrize("dialect", ["http://json-schema.org/draft-07/schema#", "https://example.org/"])
def test_a_dialect_named_inside_a_schema_changes_nothing(dialect: str) -> None:
    shape = {"items": {"$schema": dialect, "$id": "http://[", "pattern": "^(a+)+$"}}
    begun = time.thread_time()
    (found,) = find_mismatches(["a" * 40 + "!"], shape)
    assert (found.code, found.steps) == ("pattern", (0,))
    assert (time.thread_time() - begun) * 1_000 < CALL_MS


@pytest.mark.parametrize(
    "reference", ["#", "#/items", "https://example.org/schema.json", "file:///etc/hostname"]
)
def test_a_reference_is_refused_by_name_and_never_followed(reference: str) -> None:
    shape = {"items": {"$ref": reference}}
    (bad,) = check_shape(shape, "$")
    assert (bad.path, bad.code) == ("$.items.$ref", "unknown_keyword")
    assert list(find_mismatches([[[1]]], shape)) == []


def test_a_schema_that_is_too_deep_or_too_large_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"items": deep}
    assert [bad.code for bad in check_shape(deep, "$")] == ["too_deep"]
    wide = {"properties": {f"a{number}": {"type": "string"} for number in range(10_000)}}
    assert [bad.code for bad in check_shape(wide, "$")] == ["too_many"]
    patterns: dict[str, Any] = {
        "allOf": [{"patternProperties": {f"a{n}{m}": {} for n in range(20)}} for m in range(20)]
    }
    assert [bad.code for bad in check_shape(patterns, "$")] == ["too_many"]


def test_a_value_that_is_too_deep_is_not_gone_through() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert [found.code for found in find_mismatches(deep, {"uniqueItems": True})] == ["too_deep"]


@pytest.mark.parametrize(
    ("shape", "value", "found"),
    [
        ({"items": {"type": "integer"}}, [1, 1.0, True], [((2,), "type")]),
        ({"uniqueItems": True}, [1, 1.0, True, {"a": 1, "b": 2}], [((1,), "duplicate")]),
        ({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1}], [((1,), "duplicate")]),
        ({"patternProperties": {"^a": {"type": "null"}}}, {"a1": 1, "b": 1}, [(("a1",), "type")]),
        (
            {"patternProperties": {"^a": {}}, "additionalProperties": False},
            {"a1": 1, "b": 1},
            [(("b",), "unknown_field")],
        ),
        ({"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}]}, {}, [(("c",), "required")]),
        ({"enum": ["a"], "type": "string"}, 1, [((), "type")]),
        ({"format": "regex"}, "(?=a)", [((), "format")]),
        ({"format": "date"}, "31.1.2027", [((), "format")]),
        ({"format": "of-another-library"}, "x", []),
        ({"format": "money"}, "12.50 EUR\n", [((), "format")]),
    ],
)
def test_a_mismatch_has_its_place_and_code(shape: Any, value: Any, found: list[Any]) -> None:
    assert check_shape(shape, "$") == []
    assert [(each.steps, each.code) for each in find_mismatches(value, shape)] == found


def make_largest(shape: dict[str, Any]) -> Any:
    """The largest value of a contract's shape, with short texts."""
    for key in ("const", "enum"):
        if key in shape:
            return shape[key] if key == "const" else shape[key][-1]
    match shape.get("type"):
        case "object":
            return {name: make_largest(part) for name, part in shape["properties"].items()}
        case "array":
            return [make_largest(shape["items"])] * shape.get("maxItems", 200)
        case "string":
            return "a text"
        case "integer" | "number":
            return shape.get("minimum", 1)
    return True


@pytest.mark.parametrize(
    "ref", ["mr_review.changed_files", "mr_review.findings", "wr.contracts.review_verdict"]
)
def test_the_largest_output_of_a_contract_is_checked_whole(ref: str) -> None:
    shape = REGISTRY[ref].schema or {}
    assert list(find_mismatches(make_largest(shape), shape)) == []
