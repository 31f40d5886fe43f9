"""Conditions forgive what agents vary, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from assent.workflow.machine.conditions import holds
from assent.workflow.machine.values import Scope, render, render_value


def scope(**context: Any) -> Scope:
    return Scope((context,))


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ({"equals": "Large"}, " large ", True),
        ({"equals": 3}, "3", True),
        ({"equals": "3"}, 3, True),
        ({"equals": 3}, "3.0", True),
        ({"equals": 3}, "three", False),
        ({"equals": True}, "yes", True),
        ({"equals": "Yes"}, True, True),
        ({"equals": False}, "no", True),
        ({"equals": True}, "maybe", False),
        ({"equals": False}, None, False),
        ({"equals": [1, "a"]}, [1, "a"], True),
        ({"not_equals": "Small"}, "LARGE", True),
        ({"gt": 3}, 4, True),
        ({"gt": 3}, "4", False),
        ({"gte": 0.8}, 0.8, True),
        ({"lt": 1}, True, False),
        ({"lte": 1}, 1, True),
        ({"in": ["a", "b"]}, "B", True),
        ({"in": []}, "b", False),
        ({"contains": "sec"}, "Security", True),
        ({"contains": "security"}, ["correctness", "Security"], True),
        ({"contains": "sec"}, ["security review"], True),
        ({"contains": "sec"}, [["a"], 3, None], False),
        ({"contains": "4"}, 2048, True),
        ({"startsWith": "fix"}, "Fix: it", True),
        ({"endsWith": "it"}, "fix: IT", True),
        ({"matches": "^v\\d+$"}, "V12", True),
        ({"matches": "^\\d+$"}, 12, True),
        ({"matches": "x"}, None, False),
        ({"matches": "^v\\d+$"}, "v12x", False),
        ({"matches": "^1\\d$"}, 12, True),
        ({"matches": "t"}, True, False),
        ({"startsWith": "1"}, 12, True),
        ({"endsWith": "1"}, 12, False),
        ({"contains": "2"}, 120, True),
        ({"gte": 2, "lt": 4}, 4, False),
        ({}, "text", True),
        ({}, "false", False),
        ({}, [], False),
        ({}, 0, False),
    ],
)
def test_an_operator_decides(condition: dict[str, Any], value: Any, expected: bool) -> None:
    assert holds({"var": "x", **condition}, scope(x=value)) is expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"equals": "a"}, False),
        ({"not_equals": "a"}, True),
        ({"gt": 0}, False),
        ({"contains": "a"}, False),
        ({}, False),
    ],
)
def test_an_unset_variable_equals_nothing(condition: dict[str, Any], expected: bool) -> None:
    assert holds({"var": "missing", **condition}, scope()) is expected


def test_conditions_compose() -> None:
    high = {"var": "risk", "equals": "High"}
    assert holds({"and": [high, {"not": {"var": "done"}}]}, scope(risk="high"))
    assert holds({"or": [high, {"var": "done"}]}, scope(risk="low", done=True))
    assert holds({"and": []}, scope()) and not holds({"or": []}, scope())
    assert holds(None, scope())


def test_a_path_leads_into_objects_and_lists() -> None:
    names = scope(slice={"name": "One", "files": ["a", "b"]}, **{"dotted.name": 1})
    assert names.get("slice.files.1") == names.get("slice.files[1]") == "b"
    assert (names.get("slice.files.length"), names.get("dotted.name"), bool(names.get("slice.none"))) == (
        2,
        1,
        False,
    )


def test_templates_show_values_and_mark_what_is_unset() -> None:
    names = scope(name="Ada", items=[1, {"a": True}], index=0, trick="{{name}}")
    text = "{{name}} {{ items }} {{index + 1}}/{{items.length}} {{missing}} {{trick}} {{missing.part()}}"
    assert render(text, names) == 'Ada [1,{"a":true}] 1/2 [unset: missing] {{name}} [unset: missing.part()]'
    assert render_value({"list": "{{items}}", "text": "to {{name}}", "n": 1}, names) == {
        "list": [1, {"a": True}],
        "text": "to Ada",
        "n": 1,
    }


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        # A text where an object is wanted, as agents send lists of names.
        ("slice.name", "[unset: slice.name; slice = 1: Login]"),
        ("slices[0].name", "[unset: slices[0].name; slices = [\"1: Login\"]]"),
        ("round === 1 ? 'slice' : 'all'", "[work out: round === 1 ? 'slice' : 'all'; round = 2]"),
        ("(round / slices.length).toFixed(1)",
         '[work out: (round / slices.length).toFixed(1); round = 2, slices = ["1: Login"]]'),
        ("missing || 'none'", "[unset: missing || 'none']"),
        ("wr.bindings", "[unset: wr.bindings]"),
        ("long.part", f"[unset: long.part; long = {'x' * 100}…]"),
    ],
)  # fmt: skip
def test_a_marker_says_what_is_known_of_it(expression: str, shown: str) -> None:
    names = scope(slice="1: Login", slices=["1: Login"], round=2, long="x" * 300, wr={"decisions": {}})
    assert render(f"{{{{{expression}}}}}", names) == shown


def test_a_large_value_is_cut_with_a_marker() -> None:
    shown = render("{{big}}", scope(big="x" * 10_000))
    assert shown.endswith("[… 5904 more characters]") and len(shown) < 4_200
