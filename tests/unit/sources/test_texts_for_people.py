"""A text for a person names no tool, no argument, no setting and no class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.support.sources import list_modules

from assent.kernel.reasons import MEANINGS

INTERNAL = re.compile(r"chieflab_|chiefmo_|workflow_[a-z]|ASSENT_|\b[a-z]+[A-Z]\w*|\b[a-z]+(_[a-z]+)+\b")
FOR_PEOPLE = frozenset({"user_message", "summary", "summary_for_user"})
TAKES_WORDS = frozenset({"Words", "Refusal", "Meaning", "Decided"})


def texts_in(node: ast.expr) -> Iterator[str]:
    """The literal parts of a text; what is filled in is another's."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield re.sub(r"\{\w+\}", "", part.value)


@cache
def texts_for_people() -> tuple[tuple[str, str], ...]:
    """Every literal that the code hands over as a text for a person, with its place."""
    return tuple(_texts_for_people())


def _texts_for_people() -> Iterator[tuple[str, str]]:
    for name, path in list_modules().items():
        source = path.read_text()
        if not any(each in source for each in FOR_PEOPLE):
            continue
        for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
            called = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            for keyword in call.keywords:
                named = keyword.arg == "user_message" or (keyword.arg in FOR_PEOPLE and called in TAKES_WORDS)
                if named:
                    for text in texts_in(keyword.value):
                        yield f"{name}:{keyword.value.lineno}", text


def test_no_text_for_a_person_names_anything_internal() -> None:
    found = [
        f"{where}: {inside[0]!r} in {text!r}"
        for where, text in texts_for_people()
        if (inside := INTERNAL.search(text)) is not None
    ]

    assert found == []


def test_no_connector_tells_a_person_about_a_tool_or_a_setting() -> None:
    """Hints of readiness and details of failures reach the person in the words of the connector."""
    spoken = {"Readiness", "NotSent", "OutcomeUnknown", "Reading", "Unavailable"}
    found = []
    connectors = [path for name, path in list_modules().items() if name.startswith("assent_launch/channels/")]
    assert connectors
    for path in connectors:
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            said = [*call.args, *(keyword.value for keyword in call.keywords)] if name in spoken else []
            found += [
                f"{path.name}:{call.lineno}: {text!r}"
                for part in said
                for text in texts_in(part)
                if re.search(r"chieflab_|chiefmo_|workflow_|ASSENT_", text)
            ]

    assert found == []


def test_the_table_of_reasons_is_among_the_texts_that_are_looked_at() -> None:
    looked_at = {where.partition(":")[0] for where, _ in texts_for_people()}

    assert {"assent/kernel/reasons.py", "assent/present/refusals.py"} <= looked_at
    for meaning in MEANINGS.values():
        for text in (meaning.summary, meaning.user_message):
            assert INTERNAL.search(re.sub(r"\{\w+\}", "", text)) is None, text
