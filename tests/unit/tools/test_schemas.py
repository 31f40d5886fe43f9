"""What clients are shown of a tool's arguments is flat, and says what the server really does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec
import pytest
from tests.support.catalog import ALL_TOOLS

from assent.kernel.schemas import flatten
from assent.tools.catalog import Catalog, input_schema
from assent.tools.definition import Tool

every_tool = pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for part in schema.values():
            yield from nodes(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from nodes(part)


@every_tool
def test_a_schema_is_an_object_at_its_root_and_refers_nowhere(tool: Tool) -> None:
    schema = input_schema(tool.request)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    for node in nodes(schema):
        assert not {"$ref", "$defs", "$dynamicRef", "$id", "$schema", "definitions"} & set(node)


@every_tool
def test_no_branch_of_a_schema_is_null(tool: Tool) -> None:
    for node in nodes(input_schema(tool.request)):
        assert node.get("type") != "null"
        assert "null" not in (node["type"] if isinstance(node.get("type"), list) else ())
        assert None not in node.get("enum", ())
        assert "default" not in node or node["default"] is not None


@every_tool
def test_unknown_arguments_are_refused_by_the_schema_as_by_the_server(tool: Tool) -> None:
    assert input_schema(tool.request)["additionalProperties"] is False
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"noSuchArgument": 1}, tool.request)


class Inner(msgspec.Struct):
    """Written for readers of the source."""

    count: int


class Outer(msgspec.Struct):
    inner: Inner
    maybe: Inner | None
    many: list[Inner]
    by_name: dict[str, Inner | None]
    either: Inner | str | None = None
    word: str | None = None


def test_nested_structs_unions_and_optionals_are_flattened_too() -> None:
    for keep_null in (True, False):
        schema = flatten(Outer, keep_null=keep_null)
        for node in nodes(schema):
            assert "$ref" not in node
            assert node.get("type") != "null"
            assert node.get("description") != "Written for readers of the source."
    assert flatten(Outer, keep_null=False)["properties"]["word"] == {"type": "string"}
    answer: dict[str, Any] = {
        "inner": {"count": 1},
        "maybe": None,
        "many": [],
        "by_name": {"a": None},
        "either": None,
        "word": None,
    }
    jsonschema.Draft202012Validator(flatten(Outer, keep_null=True)).validate(answer)


def test_two_tools_of_one_name_cannot_be_listed() -> None:
    with pytest.raises(ValueError, match="same name"):
        Catalog((ALL_TOOLS[0], ALL_TOOLS[0]))


@pytest.mark.parametrize(
    "tool", [tool for tool in ALL_TOOLS if tool.name.startswith("chieflab_")], ids=lambda tool: tool.name
)
def test_every_old_name_leads_to_its_tool_and_no_other_prefix_does(tool: Tool) -> None:
    catalog = Catalog(ALL_TOOLS)
    ending = tool.name.removeprefix("chieflab_")

    assert catalog.by_name.get(tool.name) is tool
    assert catalog.by_name.get(f"chiefmo_{ending}") is tool
    for name in (
        ending,
        f"chiefmo_chieflab_{ending}",
        f"CHIEFLAB_{ending}",
        f"{tool.name} ",
        f"chief_{ending}",
    ):
        assert catalog.by_name.get(name) is None
