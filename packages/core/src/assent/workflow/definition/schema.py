"""The JSON Schema of definitions, for editors, made from the tables with which they are checked.

It is draft 7, which editors know best. Every definition that the compiler takes fits it. What needs
more than one place of the file (references, duplicate ids, nesting, patterns) only the compiler
checks: `assent workflow validate`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from assent.kernel import shapes
from assent.kernel.shapes import Shape
from assent.workflow.contracts import criteria
from assent.workflow.definition import format
from assent.workflow.definition.source import SERVER_NAMES
from assent.workflow.machine import conditions

DRAFT: Final = "http://json-schema.org/draft-07/schema#"
SCHEMA_PATH: Final = "/workflow.schema.json"
"""Where a server has it. Files with this ending are no definitions."""


def _ref(name: str) -> Shape:
    return {"$ref": f"#/definitions/{name}"}


def _when(test: Shape, then: Shape, otherwise: Shape | None = None) -> Shape:
    return {"if": test, "then": then, **({"else": otherwise} if otherwise is not None else {})}


def _has(*names: str) -> Shape:
    """Match an object with at least one of these fields."""
    return {"anyOf": [{"required": [name]} for name in names]}


def _is(field: str, value: str) -> Shape:
    return {"properties": {field: {"const": value}}, "required": [field]}


def _needs(table: Iterable[tuple[str, tuple[str, ...]]]) -> list[Shape]:
    return [_when(_is("type", kind), _has(*names)) for kind, names in table]


_RESERVED: Final[Shape] = {"not": {"enum": list(SERVER_NAMES)}}
_FIELDS: Final[dict[str, Shape]] = {
    **dict.fromkeys(("runCondition", "condition", "when"), _ref("condition")),
    "schema": _ref("schema"),
    "steps": {"items": _ref("step")},
    "body": {"items": _ref("step")},
    "validationCriteria": _ref("criteria"),
    "requireConfirmation": _ref("confirmation"),
    **dict.fromkeys(("iterationVar", "itemVar", "indexVar"), _RESERVED),
}
"""What holds for a field beyond its shape in the tables."""


def _publish(shape: Shape) -> Shape:
    """Return a shape of the tables as JSON Schema, with the advice as description."""
    made = {key: value for key, value in shape.items() if key not in ("hint", "properties")}
    if shape is format.OUTPUT_CONTRACT:
        made |= _when(_has("schema"), {"required": ["kind", "example"]}, {"required": ["contractRef"]})
    if shape is format.LOOP_CONFIG:
        made["allOf"] = _needs((kind, names) for kind, (names, _) in format.LOOP_NEEDS.items())
    if shape is format.STANDARD:
        made |= _when(_has("assessmentConsequences"), {"required": ["assessmentRefs"]})
    if "hint" in shape:
        made["description"] = shape["hint"]
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = _publish(made[key])
    if "anyOf" in shape:
        made["anyOf"] = [_publish(part) for part in shape["anyOf"]]
    if "properties" in shape:
        made["properties"] = {name: _publish_field(name, part) for name, part in shape["properties"].items()}
    return made


def _publish_field(name: str, shape: Shape) -> Shape:
    made = _publish(shape)
    if name == "conditionSource":
        kinds = [
            {**part, "properties": {**part["properties"], "kind": {"const": kind}}}
            for kind, part in ((kind, _publish(part)) for kind, part in format.CONDITION_SOURCES.items())
        ]
        return {**made, "anyOf": kinds}
    more = _FIELDS.get(name)
    if more is None or "properties" in shape:
        return made
    return {**made, "allOf": [more]} if "$ref" in more else {**made, **more}


def _step() -> Shape:
    kinds = {kind: _ref(f"{kind}Step") for kind in format.STEP_SHAPES if kind != "step"}
    chosen = _ref("standardStep")
    for kind, reference in kinds.items():
        chosen = _when(_is("type", kind), reference, chosen)
    return {"type": "object", "required": ["id", "title"], "allOf": [chosen]}


def _condition() -> Shape:
    properties: dict[str, Shape] = {
        **{name: {} for name in conditions.OPERATORS},
        **{
            name: {"type": list(types), "description": f"Takes {words}."}
            for name, (words, types) in conditions.OPERANDS.items()
        },
        **{name: {"type": "array", "items": _ref("condition")} for name in ("and", "or")},
        "not": _ref("condition"),
    }
    properties["var"]["pattern"] = r"\S"
    return {
        "type": "object",
        "minProperties": 1,
        "properties": properties,
        "additionalProperties": False,
        **_when(_has(*conditions.OPERATORS, conditions.MATCHES), {"required": ["var"]}),
    }


def _criteria() -> Shape:
    rules = {"type": "array", "minItems": 1, "items": _ref("criteria")}
    composed = {
        "maxProperties": 1,
        "properties": {"and": rules, "or": rules, "not": _ref("criteria")},
    }
    chosen = _when(_has("and", "or", "not"), composed, _ref("rule"))
    return {
        "type": ["array", "object"],
        "items": _ref("criteria"),
        **_when({"type": "object"}, {"allOf": [chosen]}),
    }


def _subschema() -> Shape:
    """Return the schema of the schemas that authors write for an output."""
    inner, named = _ref("schema"), {"enum": list(shapes.TYPES)}
    properties: dict[str, Shape] = {
        **dict(sorted(shapes.KEYWORDS.items())),
        "type": {"anyOf": [named, {"type": "array", "items": named}]},
        "properties": {"type": "object", "additionalProperties": inner},
        "patternProperties": {"type": "object", "additionalProperties": inner},
        "items": inner,
        "not": inner,
        "additionalProperties": {"anyOf": [{"type": "boolean"}, inner]},
    }
    for key in ("anyOf", "oneOf", "allOf"):
        properties[key] = {**properties[key], "items": inner}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _confirmation() -> Shape:
    of_kind = {
        "properties": {
            "kind": {"enum": list(format.CONFIRMATION_KINDS)},
            "condition": _ref("condition"),
        },
        "additionalProperties": False,
    }
    return _when({"type": "object"}, {"allOf": [_when(_has("kind"), of_kind, _ref("condition"))]})


@functools.cache
def definition_schema() -> bytes:
    """Return the schema as indented JSON."""
    standard, others = format.STANDARD, {k: v for k, v in format.STEP_SHAPES.items() if k != "step"}
    rule = _publish(criteria.RULE)
    document: dict[str, Any] = {
        "$schema": DRAFT,
        "title": "Workflow definition",
        "description": "A workflow that Assent runs. `assent workflow validate` also checks references and patterns.",
        **_publish(format.WORKFLOW),
        "definitions": {
            "step": _step(),
            "standardStep": _publish(standard),
            **{f"{kind}Step": _publish(shape) for kind, shape in others.items()},
            "condition": _condition(),
            "confirmation": _confirmation(),
            "criteria": _criteria(),
            "rule": {**rule, "allOf": _needs(criteria.NEEDS.items())},
            "schema": _subschema(),
        },
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
