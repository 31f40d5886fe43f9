"""Describes the required output of a step in its prompt (W34, W38).

An author may have written an example into the prompt. If it passes the contract, it is used; else
one sentence says which form counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.kernel.shapes import Shape
from assent.workflow.contracts.checks import join_artifacts, make_assessment
from assent.workflow.contracts.registry import name_kind
from assent.workflow.issues import mismatches
from assent.workflow.machine.content import parse_output
from assent.workflow.program import Assessment, Consequence, Contract, Text

MAX_FIELDS: Final = 24
MAX_DEPTH: Final = 4
_BLOCK: Final = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)
_TYPES: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def form_texts(
    contract: Contract | None,
    assessments: tuple[Assessment, ...] = (),
    consequences: tuple[Consequence, ...] = (),
    written: str = "",
) -> tuple[Text, ...]:
    """Return the prompt texts about the output. `written` is the author's prompt."""
    if contract is None and not assessments:
        return ()
    parts = [*_fields(contract), *_scales(assessments)]
    examples = [contract.example] if contract is not None and contract.example is not None else []
    examples += [made for each in assessments if (made := make_assessment(each, consequences)) is not None]
    if (form := join_artifacts(examples)) is not None:
        own = list(_objects(written))
        if not assessments and any(_passes(each, contract) for each in own):
            parts.append("Send the JSON above as `output`, with your own values.")
        else:
            json = msgspec.json.format(msgspec.json.encode(form, order="deterministic"), indent=2).decode()
            counts = (
                " This form counts, also where the text above shows another."
                if _BLOCK.search(written)
                else ""
            )
            parts.append(
                f"Send `output` in this form, with your own values.{counts}\n\n```json\n{escape_braces(json)}\n```"
            )
    return (Text(text="\n\n".join(parts)),)


def _objects(written: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON blocks of an author's text."""
    for block in _BLOCK.findall(written):
        try:
            found = msgspec.json.decode(block)
        except msgspec.DecodeError:
            continue
        if isinstance(found, dict):
            yield found


def _passes(output: dict[str, Any], contract: Contract | None) -> bool:
    if contract is None or contract.kind is None or contract.schema is None:
        return False
    taken, issues = parse_output(output)
    sent = taken.of_kind(contract.kind)
    return bool(sent) and not issues and not any(mismatches(each, contract.schema, at) for at, each in sent)


def _fields(contract: Contract | None) -> list[str]:
    if contract is None:
        return []
    need = "This step needs" if contract.required else "This step takes"
    if contract.example is None:
        return [
            f"{need} structured output ([unknown contract: {contract.ref}]): send any object with a `kind`, such as "
            f"`{name_kind(contract.ref)}`."
        ]
    lines = [line for line in _describe(contract.schema or {}, "", 0) if not line.startswith("- `kind`")]
    if len(lines) > MAX_FIELDS:
        lines = [*lines[:MAX_FIELDS], f"- and {len(lines) - MAX_FIELDS} more fields, as in the form"]
    return ["\n".join([f"## Structured output\n{need} structured output:", *map(escape_braces, lines)])]


def _describe(shape: Shape, prefix: str, depth: int) -> Iterator[str]:
    """Yield a line per field of an object: whether it is required, and its allowed values."""
    if depth >= MAX_DEPTH:
        return
    required = shape.get("required", ())
    for name, part in shape.get("properties", {}).items():
        path = f"{prefix}{name}"
        yield f"- `{path}`{' (required)' if name in required else ''}: {_describe_values(part)}"
        if part.get("type") == "array":
            yield from _describe(part.get("items") or {}, f"{path}[].", depth + 1)
        else:
            yield from _describe(part, f"{path}.", depth + 1)


def _describe_values(shape: Shape) -> str:
    values = shape.get("enum") or ([shape["const"]] if "const" in shape else [])
    what = " / ".join(each if isinstance(each, str) else str(each) for each in values)
    kind = shape.get("type")
    what = what or (_TYPES.get(kind, "any value") if isinstance(kind, str) else "any value")
    return f"{what}. {shape['hint']}" if values and "hint" in shape else what


def _scales(assessments: tuple[Assessment, ...]) -> list[str]:
    if not assessments:
        return []
    lines = ["## Assess your work", "Send one `wr.assessment` in `output` for each of:"]
    for entry in assessments:
        lines.append(f"- `{entry.id}`: {entry.purpose}")
        lines += [f"  - `{part.id}` ({' / '.join(part.levels)}): {part.purpose}" for part in entry.dimensions]
    return ["\n".join(lines)]


def escape_braces(text: str) -> str:
    """Escape a text for the renderer: doubled braces would be placeholders."""
    return text.replace("{{", "{ {").replace("}}", "} }")
