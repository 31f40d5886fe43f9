"""What wrapping reads from its store: accepted definitions, and as many of the new ones as a person can read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.scripted import Script, ScriptedRow, ScriptedStore

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent_wrap.effects import ToolOffer, write_definition
from assent_wrap.listing import OfferedTool
from assent_wrap.repository import (
    SHOWN_CHARS,
    Proposed,
    accept_tools,
    find_definition,
    find_proposed,
    show_tools,
)


def serve(**rows: list[ScriptedRow]) -> Any:
    return cast(Any, SimpleNamespace(store=ScriptedStore(**{f"wrap.{name}": rows[name] for name in rows})))


def offer(tool: str, length: int) -> OfferedTool:
    """A tool whose definition has this length as text."""
    definition = {"name": tool, "description": "x" * (length - 100)}
    definition["description"] += "x" * (length - len(write_definition(definition)))
    assert len(write_definition(definition)) == length
    return OfferedTool(
        name=tool, server="notes", tool=tool, mode="gate", rule=None, definition=definition, pin="sha256:1"
    )


@pytest.mark.parametrize(("rows", "text"), [([ScriptedRow(definition="{}")], "{}"), ([], "")])
async def test_an_accepted_definition_is_found_as_text(rows: list[ScriptedRow], text: str) -> None:
    assert await find_definition(serve(find_wrap_tool=rows), LOCAL_WORKSPACE, "notes", "look") == text


@pytest.mark.parametrize(
    ("lengths", "before", "shown"),
    [
        ([SHOWN_CHARS // 2, SHOWN_CHARS // 2, 200], "", 2),
        ([SHOWN_CHARS // 2, SHOWN_CHARS // 2 - 300, 301], "", 2),
        ([SHOWN_CHARS // 2 - 5, SHOWN_CHARS // 2 - 5], "x" * 5, 2),
        ([SHOWN_CHARS // 2 - 5, SHOWN_CHARS // 2 - 4], "x" * 5, 1),
        ([SHOWN_CHARS + 1, 200], "", 1),
        ([], "", 0),
    ],
)
async def test_a_question_shows_as_many_definitions_as_a_person_can_read_and_at_least_one(
    lengths: list[int], before: str, shown: int
) -> None:
    held = [offer(f"tool{number}", length) for number, length in enumerate(lengths)]
    known = [ScriptedRow(definition=before)] if before else []
    found = await show_tools(serve(find_wrap_tool=known), LOCAL_WORKSPACE, held, {"tool1"})

    assert [each.name for each in found] == [each.tool for each in held[:shown]]
    assert all(each.before == before and each.passes is (each.name == "tool1") for each in found)


@pytest.mark.parametrize("reads", [True, False])
def test_an_accepted_definition_keeps_whether_its_hint_was_there(reads: bool) -> None:
    after = write_definition({"name": "look", "annotations": {"readOnlyHint": reads}})
    script = Script(**{"wrap.put_wrap_tool": []})
    script.run(
        accept_tools(LOCAL_WORKSPACE, "notes", [ToolOffer(name="look", pin="sha256:1", after=after)], 7)
    )

    assert script.find("wrap.put_wrap_tool")["hinted"] == int(reads)


def test_the_newest_proposal_of_a_call_is_found_if_there_is_one() -> None:
    row = ScriptedRow(generation=2, action_id="a")

    assert Script(**{"wrap.find_wrap_call": [row]}).run(find_proposed(LOCAL_WORKSPACE, "h", "c")) == Proposed(
        2, "a"
    )
    assert Script(**{"wrap.find_wrap_call": []}).run(find_proposed(LOCAL_WORKSPACE, "h", "c")) is None
