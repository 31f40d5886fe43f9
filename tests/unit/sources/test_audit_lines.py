"""Every event of the journal has a sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import assent
import assent_launch
import assent_wrap
from assent.engine.audit.views import RecordedEvent
from assent.engine.views.names import ActionName, ShownNames
from assent.gate.transitions import Move
from assent.serving.web.audit.lines import (
    audit_line,
    audit_lines,
    fold_lines,
    list_words,
    map_groups,
    sentence,
)
from assent_launch.testing import any_effects

APPENDERS = (
    Path(assent.__file__).parent / "engine",
    *(Path(each.__path__[0]) for each in (assent_launch, assent_wrap)),
)
APPENDING = {"NewEvent", "note", "note_event", "_note", "log", "grow", "_journal", "_event"}
"""Functions that are handed the kind of an event."""

MADE_UP = {f"action_{move}" for move in Move} | {"webhook_delivered", "webhook_failed"}
"""Kinds whose name the code puts together."""


def kinds_in_the_code() -> set[str]:
    found = set(MADE_UP)
    for path in (path for folder in APPENDERS for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for part in _candidates(node):
                for each in ast.walk(part):
                    if isinstance(each, ast.Constant) and re.fullmatch(r"[a-z]+(_[a-z]+)+", str(each.value)):
                        found.add(str(each.value))
    return found


def _candidates(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return node.args if name in APPENDING else []
    if isinstance(node, ast.Assign) and any(getattr(each, "id", "") == "kind" for each in node.targets):
        return [node.value]
    return []


def test_every_kind_of_event_that_the_code_appends_has_a_sentence_and_a_group() -> None:
    kinds = kinds_in_the_code()
    assert {"run_prepared", "step_acked", "key_issued", "webhook_resent", "memory_decided"} <= kinds
    assert kinds - set(list_words()) == set()
    assert set(list_words()) == set(map_groups())


@pytest.mark.parametrize("kind", sorted(list_words()))
def test_a_sentence_is_one_whatever_the_facts_are(kind: str) -> None:
    for facts in ({}, {"by": "key:0011", "issues": 3, "metrics": 7, "totals": "x", "provider": None}):
        said = sentence(any_effects(), kind, facts)
        assert said
        assert said[0].isupper() or not said[0].isalpha()


def test_a_kind_of_another_release_still_shows_and_so_does_a_body_that_is_no_object() -> None:
    line = audit_line(
        any_effects(), RecordedEvent("s", 7, "moon_landed", 0, '["a"]', "00"), ShownNames({}, {}), 0
    )
    assert line["what"] == "Moon landed"
    assert line["seq"] == 7


def test_the_same_for_several_actions_is_one_line_and_twice_for_one_action_is_two() -> None:
    kinds = [
        ("action_approve", "a"),
        ("action_withdraw", "a"),
        ("action_approve", "b"),
        ("action_approve", "a"),
    ]
    names = ShownNames({each: ActionName(each, "run", "Post", each) for each in "ab"}, {})
    events = [
        RecordedEvent("run", seq, kind, 1_000 * seq, f'{{"actionId": "{about}", "by": "Ada"}}', "00")
        for seq, (kind, about) in enumerate(kinds)
    ]
    lines = fold_lines(audit_lines(any_effects(), reversed(events), names, 0))
    assert [[each["action_id"] for each in line["objects"]] for line in lines] == [["a", "b"], ["a"], ["a"]]
    late = [*events, RecordedEvent("run", 9, "action_approve", 10**9, '{"actionId": "b", "by": "Ada"}', "00")]
    assert len(fold_lines(audit_lines(any_effects(), reversed(late), names, 0))) == 4


def test_a_changed_policy_is_named_as_the_settings_name_it() -> None:
    said = [
        sentence(any_effects(), "policy_changed", {"policy": preset, "by": "Ada"})
        for preset in ("two_people", "")
    ]

    assert said == [
        "Policy changed to “Two people for high risk” by Ada",
        "Policy changed to “Own rules only” by Ada",
    ]
