"""Named SQL statements: read from `statements/*.sql`, compiled once for both dialects.

A block is a `-- name:` line, at least one comment line that says why, and one statement with
`:name` parameters.

- `[postgres]`, `[sqlite]`: the block is written twice, because the dialects differ.
- `[postgres only]`: the other store never runs it.
- `[sqlite, skipped on postgres]`: a step of a shared transaction that the other store does not
need.
- `[counted]`: the caller only needs the number of changed rows. SQLite runs the statement without RETURNING, which
  costs three times the change, and gives an empty row for each changed row. `[sqlite, counted]` marks one of two
  variants.

A file that breaks the format is refused when it is read, not when a statement first runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from assent.ports import Bound, Statement

STATEMENTS = Path(__file__).parent / "statements"

_NAME_LINE = re.compile(r"^--\s*name:\s*(.*?)\s*$")
_NAME = re.compile(
    r"([a-z][a-z0-9_]*)"
    r"(?:\s+\[(?:(sqlite|postgres)( only|, counted|, skipped on (?:sqlite|postgres))?|(counted))\])?"
)
_RETURNING = re.compile(r"\s+RETURNING\s+[\w, ]+$")
_COUNTABLE = re.compile(r"(?i:INSERT|UPDATE|DELETE)\b(?:(?!\b(?i:RETURNING)\b).)*", re.DOTALL)
"""Statements whose changed rows the driver counts: INSERT, UPDATE or DELETE without RETURNING."""

# Tokens: literals, comments, casts, parameters, the end. The first three are skipped whole, so that
# a colon or semicolon inside them is not misread. The look-ahead is for speed only.
_TOKEN = re.compile(
    r"""(?=['"/:;-])(
      '(?:[^']|'')*' | "(?:[^"]|"")*"
    | --[^\n]* | /\*.*?\*/
    | ::
    | :[a-z_][a-z0-9_]*
    | ;
    )""",
    re.VERBOSE | re.DOTALL,
)

_WRITING = re.compile(r"\b(insert|update|delete|merge|lock|share)\b", re.IGNORECASE)

NOT_HERE = "this statement is not for this store"
"""The text for a store that never runs the statement. It is no SQL, so running it is an error."""

SKIPPED = ""
"""The text for a store that skips the statement and returns no rows."""


class StatementError(Exception):
    """A statement file breaks the format; the message names the file, the statement and the
    rule."""


class SqlBlock(NamedTuple):
    """A parsed block. `dialect` None means both."""

    source: str
    name: str
    dialect: str | None
    otherwise: str | None
    sql: str
    counted: bool = False


def parse(text: str, source: str) -> list[SqlBlock]:
    """Split a file into blocks."""
    blocks: list[SqlBlock] = []
    heading: str | None = None
    lines: list[str] = []
    for line in text.splitlines():
        named = _NAME_LINE.match(line)
        if named is None:
            lines.append(line)
            continue
        _close(blocks, source, heading, lines)
        heading, lines = named.group(1), []
    _close(blocks, source, heading, lines)
    return blocks


def _close(blocks: list[SqlBlock], source: str, heading: str | None, lines: list[str]) -> None:
    code = [line for line in lines if line.strip() and not line.lstrip().startswith("--")]
    if heading is None:
        if code:
            raise StatementError(f"{source}: SQL before the first '-- name:' line: {code[0].strip()!r}")
        return
    named = _NAME.fullmatch(heading)
    if named is None:
        raise StatementError(f"{source}: {heading!r} is not 'name', 'name [sqlite]' or 'name [postgres]'")
    name, dialect, condition, both = named.groups()
    counted = both is not None or condition == ", counted"
    if counted and dialect == "postgres":
        raise StatementError(f"{source}: statement {name} is counted on SQLite only; use RETURNING")
    if both is not None and "RETURNING" not in "\n".join(code):
        raise StatementError(f"{source}: statement {name} is counted and has no RETURNING for PostgreSQL")
    if not code:
        raise StatementError(f"{source}: statement {name} has no SQL")
    first = next(line.strip() for line in lines if line.strip())
    sql = "\n".join(lines[lines.index(code[0]) :])
    if not first.startswith("--") or not first.strip("- "):
        raise StatementError(f"{source}: statement {name} has no comment that says why it exists")
    otherwise = None if condition is None or counted else NOT_HERE if condition == " only" else SKIPPED
    blocks.append(SqlBlock(source, name, dialect, otherwise, sql, counted))


def compile_blocks(blocks: Iterable[SqlBlock]) -> dict[str, Statement]:
    """Pair the variants and number the parameters. Every statement gets a text for both
    dialects."""
    variants: dict[str, dict[str | None, SqlBlock]] = {}
    for block in blocks:
        known = variants.setdefault(block.name, {})
        if block.dialect in known:
            other = known[block.dialect].source
            raise StatementError(f"{block.source}: statement {block.name} is already defined in {other}")
        known[block.dialect] = block
    return {name: _statement(name, known) for name, known in variants.items()}


def _statement(name: str, known: dict[str | None, SqlBlock]) -> Statement:
    shared = known.get(None)
    if shared is not None and len(known) > 1:
        raise StatementError(f"{shared.source}: statement {name} is defined for both dialects and for one")
    alone = next((block for block in known.values() if block.otherwise is not None), None)
    if alone is not None:
        if len(known) > 1:
            raise StatementError(f"{alone.source}: statement {name} is for one dialect and defined for both")
        return _of_one_dialect(alone, alone.otherwise or SKIPPED)
    sqlite, postgres = shared or known.get("sqlite"), shared or known.get("postgres")
    if sqlite is None or postgres is None:
        present = next(iter(known.values()))
        missing = "sqlite" if sqlite is None else "postgres"
        raise StatementError(f"{present.source}: statement {name} has no [{missing}] variant")
    one = _scan(sqlite)
    other = one if shared else _scan(postgres)
    if set(one.params) != set(other.params):
        odd = sorted(set(one.params) ^ set(other.params))
        raise StatementError(f"{postgres.source}: the variants of {name} differ in parameters {odd}")
    ours, theirs = one.text("?", one.params), other.text("$", one.params)
    if sqlite.counted:
        ours = _RETURNING.sub("", ours)
        if not _COUNTABLE.fullmatch(ours):
            raise StatementError(
                f"{sqlite.source}: statement {name} is counted; it must begin with what it does and end with RETURNING "
                "and plain names of columns"
            )
    return Statement(name, ours, theirs, one.params, one.writes or other.writes, sqlite.counted)


def _of_one_dialect(block: SqlBlock, otherwise: str) -> Statement:
    scan = _scan(block)
    if block.dialect == "sqlite":
        texts = scan.text("?", scan.params), otherwise
    else:
        texts = otherwise, scan.text("$", scan.params)
    return Statement(block.name, *texts, scan.params, scan.writes)


class Scan(NamedTuple):
    """A tokenised statement: text and tokens, parameters, and whether it writes or locks."""

    pieces: list[str]
    params: tuple[str, ...]
    writes: bool

    def text(self, mark: str, order: tuple[str, ...]) -> str:
        """Return the SQL with positional parameters."""
        places = {f":{name}": f"{mark}{place}" for place, name in enumerate(order, start=1)}
        return "".join([places.get(piece, piece) for piece in self.pieces]).strip()


def _scan(block: SqlBlock) -> Scan:
    """Tokenise a statement, without comments and closing semicolon."""
    pieces = _TOKEN.split(block.sql)
    writes = _WRITING.search(" ".join(pieces[::2])) is not None
    for place in range(1, len(pieces), 2):
        if pieces[place].startswith(("--", "/*")):
            pieces[place] = " "
    if ";" in pieces:
        end = pieces.index(";")
        if "".join(pieces[end + 1 :]).strip():
            raise StatementError(f"{block.source}: statement {block.name} holds more than one statement")
        del pieces[end:]
    names = [piece[1:] for piece in pieces[1::2] if piece[0] == ":" and piece != "::"]
    return Scan(pieces, tuple(dict.fromkeys(names)), writes)


def split_script(sql: str) -> list[str]:
    """Return the statements of a script, without comments. A server that spreads tables takes them one at a time."""
    pieces = [
        "\0" if piece == ";" else piece for piece in _TOKEN.split(sql) if not piece.startswith(("--", "/*"))
    ]
    return [text for each in "".join(pieces).split("\0") if (text := each.strip())]


def load(directory: Path = STATEMENTS, component: str = "") -> dict[str, Statement]:
    """Load every statement of a directory, by name. The statements of a component are named
    `component.name`."""
    blocks: list[SqlBlock] = []
    for path in sorted(directory.glob("*.sql")):
        blocks.extend(parse(path.read_text(encoding="utf-8"), path.name))
    found = compile_blocks(blocks)
    if component:
        return {
            name: msgspec.structs.replace(each, name=f"{component}.{name}") for name, each in found.items()
        }
    return found


class Statements:
    """Statements as attributes: `statements.find_workspace(workspace_id=…)` gives a bound
    statement.

    The files are read at the first use of any statement, once per process. The class of a bound
    statement is made at the first use of that statement.
    """

    def __init__(self, directory: Path = STATEMENTS, component: str = "") -> None:
        self._directory = directory
        self._component = component
        self._loaded: dict[str, Statement] | None = None

    def read(self) -> dict[str, Statement]:
        """Read the files, if no statement was used before. Returns the statements by name."""
        if self._loaded is None:
            self._loaded = load(self._directory, self._component)
        return self._loaded

    def __getattr__(self, name: str) -> type[Bound]:
        if name.startswith("_"):
            raise AttributeError(name)
        loaded = self.read()
        if name not in loaded:
            raise AttributeError(f"no statement named {name!r} in {self._directory.name}/*.sql")
        made = loaded[name].bound_type()
        setattr(self, name, made)
        return made


statements = Statements()
