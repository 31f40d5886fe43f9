"""Every definition of the public library, and each of our own, loads, compiles and runs to its end by every branch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from tests.support.workflows.agent import Agent
from tests.support.workflows.coverage import Way, explore
from tests.support.workflows.library import ABSENT, PUBLIC, builtin_files, compiled, public_files, read

from assent.workflow import DefinitionRefused, parse
from assent.workflow.definition.preview import diagram, metadata
from assent.workflow.program import Repeat, decode, encode

needs_library = pytest.mark.skipif(not PUBLIC.is_dir(), reason=ABSENT)
FILES = [*public_files(), *builtin_files()]
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@needs_library
def test_the_public_library_has_its_22_workflows() -> None:
    assert len(public_files()) == 22


@every_file
def test_a_definition_compiles_without_a_warning(path: Path) -> None:
    assert compiled(path).warnings == ()


@every_file
def test_a_program_survives_its_stored_form(path: Path) -> None:
    program = compiled(path).program
    assert decode(encode(program)) == program


EXCLUDED = {
    # Asked only where taskComplexity is not Small, so this part of a hint in it, which says the same, always holds.
    "coding-task-workflow-agentic": {Way("phase-1c-challenge-and-select.prompt[4].and[1]", "fails")},
}
"""What no run can do, by file: everything else was done."""


@every_file
@pytest.mark.rule("W61", "W63")
def test_an_agent_reaches_the_end_by_every_branch_and_loop(path: Path) -> None:
    covered = explore(compiled(path).program)
    assert covered.ways - covered.taken == EXCLUDED.get(path.stem, set()) == set(covered.excluded)
    for journey in covered.journeys:
        assert len(set(journey.keys)) == len(journey.keys)


@every_file
def test_a_loop_that_always_wants_more_is_left_with_a_warning(path: Path) -> None:
    program = compiled(path).program
    decided = [node for node in program.nodes if isinstance(node, Repeat) and node.mode in ("while", "until")]
    journeys = [Agent(program, seed, loops="continue").run() for seed in range(10)]
    entered = any("loop_exited:limit" in journey.events for journey in journeys)
    warned = any("loop_limit_reached" in journey.warnings for journey in journeys)
    assert entered is warned is bool(decided)


@every_file
def test_the_same_content_always_leads_to_the_same_snapshots(path: Path) -> None:
    program = compiled(path).program
    first, second = (Agent(program, 7).run() for _ in range(2))
    assert msgspec.json.encode(first) == msgspec.json.encode(second)


@every_file
def test_a_preview_shows_every_step(path: Path) -> None:
    result = compiled(path)
    text = diagram(result.program)
    titles = [part for node in result.program.nodes for part in re.split(r"\{\{[^}]*\}\}", node.title)]
    assert all(part.strip() in text for part in titles) and "{{" not in text and "wr.decisions" not in text
    assert metadata(result.program, result.workflow_hash)["workflowHash"] == result.workflow_hash


@needs_library
@pytest.mark.rule("W59")
def test_the_invalid_file_is_refused_with_every_reason() -> None:
    with pytest.raises(DefinitionRefused) as refused:
        parse(read(PUBLIC / "invalid-workflow.json"), "invalid-workflow.json")
    assert refused.value.file == "invalid-workflow.json"
    assert {(issue.path, issue.code) for issue in refused.value.issues} == {
        ("$.id", "pattern"),
        ("$.name", "too_short"),
        ("$.preconditions[1]", "too_short"),
        ("$.clarificationPrompts[1]", "duplicate"),
        ("$.steps", "too_few"),
        ("$.metaGuidance[1]", "duplicate"),
        ("$.extraField", "unknown_field"),
    }


def _without(document: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != field}


@needs_library
@pytest.mark.parametrize("path", public_files(), ids=lambda path: path.stem)
def test_what_the_published_schema_refuses_is_refused_here_too(path: Path) -> None:
    schema = jsonschema.Draft7Validator(read(PUBLIC / "workflow.schema.json"))
    whole = read(path)
    broken = [
        *(_without(whole, field) for field in ("id", "name", "description", "version", "steps")),
        {**whole, "id": "Not An Id"},
        {**whole, "version": "one"},
        {**whole, "steps": [{**whole["steps"][0], "title": ""}]},
        {**whole, "steps": [{**whole["steps"][0], "surprise": 1}]},
        {**whole, "steps": "none"},
        {**whole, "metaGuidance": ["twice", "twice"]},
    ]
    assert schema.is_valid(whole)
    for document in broken:
        assert not schema.is_valid(document)
        with pytest.raises(DefinitionRefused):
            parse(document, path.name)
