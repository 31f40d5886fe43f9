"""The blocks of a view and the arguments of a function, whole. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from assent.extensions.effect_types import render_value
from assent.gate.records import Action
from assent.gate.views import Block, Diff, Facts, Table, Text
from assent.kernel.structs import Record
from assent.kernel.texts import fold_name
from assent.serving.web.review.forms import ARGUMENT
from assent.serving.web.review.matching import Steps
from assent.serving.web.shell.word_diff import Piece, word_diff

MOST_COLUMNS: Final = 6
LINE_CHARS: Final = 100
"""The longest argument that stands beside its label."""


class DrawnBlock(Record, kw_only=True):
    kind: Literal["facts", "text", "code", "table", "diff"]
    label: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    text: str = ""
    pieces: tuple[Piece, ...] = ()


def draw_blocks(blocks: Iterable[Block], steps: Steps | None = None) -> tuple[DrawnBlock, ...]:
    """`steps` bounds the differences of a whole page."""
    return tuple(_draw(block, steps) for block in blocks)


def _draw(block: Block, steps: Steps | None) -> DrawnBlock:
    match block:
        case Facts(rows):
            return DrawnBlock(kind="facts", rows=rows)
        case Text(label, text, code):
            return DrawnBlock(kind="code" if code else "text", label=label, text=text)
        case Table(label, columns, rows):
            return DrawnBlock(kind="table", label=label, columns=columns, rows=rows)
        case Diff(label, before, after):
            return DrawnBlock(kind="diff", label=label, pieces=word_diff(before, after, steps))


def list_arguments(action: Action) -> tuple[tuple[str, Any], ...]:
    """Return every argument with its label: those that a person may edit in the order of the form,
    then all others. One that is called as a fact of the server's own says that it is an argument. None if
    the blocks of the view show everything."""
    if action.view.in_blocks:
        return ()
    given = action.effect.arguments
    labels = label_arguments(action)
    names = dict.fromkeys([*labels, *given])
    own = {fold_name(label) for label, _ in list_facts(action.view.blocks)}

    def label(name: str) -> str:
        found = labels.get(name) or _label(name)
        written = "".join((name, *_list_names(given.get(name))))
        if not written.isascii():
            letters = " ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(written) if not char.isascii())
            found = f"“{found}” (a name here may look like another: {letters})"
        return f"“{found}” (an argument of the agent)" if fold_name(found) in own else found

    return tuple((label(name), given.get(name)) for name in names)


def _list_names(value: Any) -> Iterator[str]:
    """Yield the names inside a value, at any depth."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _list_names(each)


def label_arguments(action: Action) -> dict[str, str]:
    """Return the labels of the arguments that a person may edit, by name."""
    return {
        field.name.removeprefix(ARGUMENT): field.label
        for field in action.view.fields
        if field.name.startswith(ARGUMENT)
    }


def _label(name: str) -> str:
    return name.replace("_", " ").strip().capitalize() or name


def write_arguments(action: Action) -> tuple[Block, ...]:
    """Return every argument as blocks: short values as facts, longer texts and nested values alone."""
    found: list[Block] = []
    for label, value in list_arguments(action):
        text = render_value(value)
        if len(text) <= LINE_CHARS and len(text.splitlines()) <= 1:
            before = found.pop() if found and isinstance(found[-1], Facts) else None
            rows = before.rows if isinstance(before, Facts) else ()
            found.append(Facts((*rows, (label, text))))
        elif isinstance(value, str):
            found.append(Text(label, value))
        else:
            found.append(_draw_nested(label, value))
    return tuple(found)


def _draw_nested(label: str, value: Any) -> Block:
    """Return a list of objects as a table with a column for each name, any other list or object as a table of its
    values, each with its path. Nothing is left out."""
    if isinstance(value, list) and all(isinstance(each, dict) and each for each in value):
        columns = tuple(dict.fromkeys(str(name) for each in value for name in each))
        flat = all(not isinstance(part, dict | list) for each in value for part in each.values())
        if flat and len(columns) <= MOST_COLUMNS:
            rows = (tuple(render_value(each[c]) if c in each else "" for c in columns) for each in value)
            return Table(label, columns, tuple(rows))
    if isinstance(value, list) and all(not isinstance(each, dict | list) for each in value):
        return Table(label, (), tuple((render_value(each),) for each in value))
    return Table(label, (), tuple(_flatten("", value)))


def _flatten(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _flatten(f"{path}.{name}" if path else str(name), part)
    elif isinstance(value, list) and value:
        for number, part in enumerate(value, 1):
            yield from _flatten(f"{path} {number}".strip(), part)
    else:
        yield path, render_value(value)


def list_facts(blocks: Iterable[Block]) -> tuple[tuple[str, str], ...]:
    """Return the rows of all facts."""
    return tuple(row for block in blocks if isinstance(block, Facts) for row in block.rows)


def find_block_texts(blocks: Iterable[Block]) -> Iterator[str]:
    """Return every text of the blocks, to look for links."""
    for block in blocks:
        match block:
            case Facts(rows):
                yield from (text for row in rows for text in row)
            case Text(label, text, _):
                yield from (label, text)
            case Table(label, columns, rows):
                yield from (label, *columns, *(text for row in rows for text in row))
            case Diff(label, before, after):
                yield from (label, before, after)


def find_strings(value: Any) -> Iterator[str]:
    """Return every text in an argument, also in nested values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield str(name)
            yield from find_strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from find_strings(part)
