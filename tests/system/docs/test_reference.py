"""The reference: its examples are arguments and definitions that the server takes, and no field lacks one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
import yaml
from tests.support.catalog import ALL_TOOLS
from tests.support.cli.fixtures import Assent, assent, bare_environment, data_dir, own_logging  # noqa: F401
from tests.support.docs.pages import DOCS, blocks_of
from tests.support.docs.script import load_script

from assent.workflow.definition import format
from assent.workflow.machine import conditions

PAGE = "reference/definitions.md"


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    return load_script("pages")


def test_every_example_of_a_tool_is_its_arguments(pages: ModuleType) -> None:
    for tool in ALL_TOOLS:
        msgspec.convert(pages.make_example(tool), tool.request)


def test_every_definition_of_the_page_is_valid(assent: Assent, tmp_path: Path) -> None:  # noqa: F811
    for number, (language, text) in enumerate(blocks_of(PAGE)):
        assert language == "yaml"
        (tmp_path / f"{number}.yaml").write_text(text)
    done = assent("workflow", "validate", str(tmp_path), "--json")
    assert done.code == 0, done.out
    assert [
        file for file in msgspec.json.decode(done.out)["files"] if file["issues"] or file["warnings"]
    ] == []


def test_every_field_of_a_definition_is_in_a_table_and_in_an_example(pages: ModuleType) -> None:
    shapes = (format.WORKFLOW, *format.STEP_SHAPES.values(), *format.CONDITION_SOURCES.values())
    fields = {field for shape in (*shapes, pages.SHAPES["RULE"]) for field in list_fields(shape)}
    fields |= {*conditions.OPERATORS, *conditions.OPERANDS, "and", "or", "not"}
    used = {key for _, text in blocks_of(PAGE) for key in list_keys(yaml.safe_load(text))}
    assert fields - used == set()

    page = (DOCS / PAGE).read_text(encoding="utf-8")
    assert [name for name in pages.SHAPES if f"<!-- made: fields {name} -->" not in page] == []


def list_fields(shape: Any) -> Iterator[str]:
    """The names of all fields in a shape, at any depth."""
    if isinstance(shape, dict):
        yield from shape.get("properties", {})
        inner = [*shape.get("properties", {}).values(), *shape.get("anyOf", ()), shape.get("items")]
        for part in inner:
            yield from list_fields(part)


def list_keys(value: Any) -> Iterator[str]:
    """The keys of all objects in a document."""
    if isinstance(value, dict):
        yield from value
        for part in value.values():
            yield from list_keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from list_keys(part)
