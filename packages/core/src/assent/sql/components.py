"""Components: extensions with their own tables, statements and migrations.

A component has a name and a table prefix. Its folder may contain `statements/*.sql` and
`migrations/{sqlite,postgres}/NNNN_name.sql`. Its migrations have their own numbers, recorded with
its name in the table `component_versions`. Its SQL touches its own tables only, so that it can be
removed: its tables stay, and no statement of the server or of another component misses it.

A `Place` describes where a table can hold data of a person: its key, the columns, and what happens to a row
in which it is found. The server and every component list their places; one search and one erasure read the
list (`assent.engine.erasure`). The statements of a place are made from it once per process.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from assent.kernel.structs import Record
from assent.ports import Bound, SchemaMismatch
from assent.sql.loader import NOT_HERE, SqlBlock, StatementError, Statements, compile_blocks, load
from assent.sql.schema import MIGRATIONS, ComponentState, Migration, file_name, find_pending, read_migrations

NOW: Final = "now"
"""A value of `Place.also`: the time of the erasure, in milliseconds."""


_TABLE_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


class How(enum.StrEnum):
    """What happens to a row if the data is found in this column."""

    REPLACE = "replace"
    """Every text that has the data is replaced: the whole column, or the strings of its JSON."""
    DELETE = "delete"
    """The row is deleted."""
    LEAVE = "leave"
    """The server cannot do without it. It is reported with what to do."""
    APART = "apart"
    """A function of its own erases it: an action, a session, an event, a connection."""


class Place:
    """A table that can hold data of a person."""

    def __init__(
        self,
        table: str,
        key: str,
        columns: str,
        label: str,
        *,
        how: How = How.REPLACE,
        but: Mapping[str, How] | None = None,
        also: Mapping[str, str | None] | None = None,
        advice: str = "",
        then: Callable[[], Bound] | None = None,
    ) -> None:
        """`key` and `columns` have spaces between the names; the key begins with `workspace_id`. A key column
        that ends with # is a number. `but` are columns that are treated otherwise, `also` values that an erased
        row gets. `advice` is what a person does about a row that is left. `then` makes the statement that runs after
        an erasure, for what is made from these rows."""
        for name in (table, *key.replace("#", "").split(), *columns.split(), *(also or ())):
            if _TABLE_NAME.fullmatch(name) is None:
                raise ValueError(f"{name!r} is no name of a table or column")
        self.table = table
        self.key = tuple(name.removesuffix("#") for name in key.split())
        self.numbers = frozenset(name[:-1] for name in key.split() if name.endswith("#"))
        self.columns = tuple(columns.split())
        self.label = label
        self.ways = {name: (but or {}).get(name, how) for name in self.columns}
        self.also = dict(also or {})
        self.advice = advice
        self.then = then

    def __repr__(self) -> str:
        return f"Place({self.table!r})"

    @cached_property
    def _statements(self) -> Mapping[str, type[Bound]]:
        selected = ", ".join(dict.fromkeys((*self.key, *self.columns)))
        keys, marks = ", ".join(self.key), ", ".join(f":after_{name}" for name in self.key)
        here = " AND ".join(f"{name} = :{name}" for name in self.key)
        changed = ", ".join(f"{name} = :new_{name}" for name in (*self._replaced(), *self.also))
        # The names are checked, and all values are parameters.
        find = f"SELECT {selected} FROM {self.table} WHERE {here}"  # noqa: S608
        texts = {
            ("page", None): f"SELECT {selected} FROM {self.table} WHERE ({keys}) > ({marks}) "  # noqa: S608
            f"AND (:workspace_id = '' OR workspace_id = :workspace_id) ORDER BY {keys} LIMIT :most",
            ("lock", "sqlite"): find,
            ("lock", "postgres"): f"{find} FOR UPDATE",
            ("delete", None): f"DELETE FROM {self.table} WHERE {here}",  # noqa: S608
        }
        if changed:
            texts["replace", None] = f"UPDATE {self.table} SET {changed} WHERE {here}"  # noqa: S608
        blocks = [
            SqlBlock("personal.py", f"{name}_{self.table}", dialect, None, sql)
            for (name, dialect), sql in texts.items()
        ]
        return {
            name.removesuffix(f"_{self.table}"): made.bound_type()
            for name, made in compile_blocks(blocks).items()
        }

    def _replaced(self) -> tuple[str, ...]:
        return tuple(
            name
            for name in self.columns
            if name not in self.key and name not in self.also and self.ways[name] is How.REPLACE
        )

    def first(self) -> tuple[str | int, ...]:
        """A position before every row."""
        return tuple(-1 if name in self.numbers else "" for name in self.key)

    def page(self, after: tuple[str | int, ...], workspace_id: str, most: int) -> Bound:
        """Rows after a key, of one workspace or of all ("")."""
        position = {f"after_{name}": value for name, value in zip(self.key, after, strict=True)}
        return self._statements["page"](**position, workspace_id=workspace_id, most=most)

    def lock(self, key: tuple[str | int, ...]) -> Bound:
        return self._statements["lock"](**self._named(key))

    def delete(self, key: tuple[str | int, ...]) -> Bound:
        return self._statements["delete"](**self._named(key))

    def replace(self, key: tuple[str | int, ...], values: Mapping[str, object], now_ms: int) -> Bound:
        """Store new values of the columns that are replaced."""
        also = {f"new_{name}": now_ms if value == NOW else value for name, value in self.also.items()}
        new = {f"new_{name}": values[name] for name in self._replaced()}
        return self._statements["replace"](**self._named(key), **new, **also)

    def _named(self, key: tuple[str | int, ...]) -> dict[str, str | int]:
        return dict(zip(self.key, key, strict=True))


DIALECTS: Final = ("sqlite", "postgres")
MAX_NAME_CHARS: Final = 40

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_PREFIX: Final = re.compile(r"[a-z][a-z0-9_]{1,28}_")
_DEFINES: Final = re.compile(
    r"(?:CREATE\s+(?:VIRTUAL\s+)?TABLE|CREATE\s+(?:UNIQUE\s+)?INDEX|ALTER\s+TABLE|DROP\s+TABLE|DROP\s+INDEX"
    r"|INSERT\s+INTO|UPDATE|DELETE\s+FROM)\b",
    re.IGNORECASE,
)
"""The statements of a component's migrations."""


class ComponentError(Exception):
    """A component breaks a rule; the message names the file and the rule."""


class Component:
    """The tables and statements of one extension."""

    def __init__(
        self,
        name: str,
        *,
        prefix: str,
        folder: Path | str,
        required: bool = False,
        personal: Iterable[Place] = (),
        reference: Iterable[str] = (),
    ) -> None:
        """A store does not open if a `required` component cannot be migrated. `personal` says where its
        tables can hold data of a person, so that `assent erase` finds it. On shards a table is spread by its
        `workspace_id`; `reference` names those that are whole on every server. Reads no file."""
        self.name = name
        self.prefix = prefix
        self.folder = Path(folder)
        self.required = required
        self.personal = tuple(personal)
        self.reference = frozenset(reference)
        self.statements = Statements(self.folder / "statements", name)

    def __repr__(self) -> str:
        return f"Component({self.name!r}, prefix={self.prefix!r})"

    def owns(self, table: str) -> bool:
        return table.startswith(self.prefix)

    def overlaps(self, prefix: str) -> bool:
        """Whether a table can have both prefixes."""
        return self.prefix.startswith(prefix) or prefix.startswith(self.prefix)

    def migrations(self, dialect: str) -> list[Migration]:
        """List its migrations, in order."""
        return read_migrations(self.folder / "migrations" / dialect)

    def tables(self) -> frozenset[str]:
        """List the tables that its migrations create on PostgreSQL."""
        return _list_created(self.migrations("postgres"))

    def name_file(self, migration: Migration) -> str:
        return file_name(migration, self.name)


ListComponents = Callable[[], Sequence[Component]]


class AppliedMigration(Record):
    """A row of `component_versions`."""

    component: str
    version: int
    prefix: str
    digest: str


def pending_of(
    component: Component, dialect: str, applied: Sequence[AppliedMigration], where: str
) -> list[Migration]:
    """Return the pending migrations of a component. Raises `SchemaMismatch` if its prefix belongs to
    another component of the database, or if another release of it has migrated the database.

    Also reads its statements, since a transaction reads no file."""
    component.statements.read()
    name = component.name
    for row in applied:
        if row.component != name and component.overlaps(row.prefix):
            raise SchemaMismatch(
                f"{where} holds tables of the component {row.component} with the prefix {row.prefix}, which "
                f"{name} has too. Give {name} another prefix."
            )
    digests = {row.version: row.digest for row in applied if row.component == name}
    return find_pending(component.migrations(dialect), digests, where, name)


def component_state(
    component: Component, dialect: str, applied: Sequence[AppliedMigration], where: str
) -> ComponentState:
    """Return the state of a component in a database."""
    try:
        waiting = pending_of(component, dialect, applied, where)
    except SchemaMismatch as problem:
        return ComponentState(component.name, (), str(problem))
    return ComponentState(component.name, tuple(map(component.name_file, waiting)))


def list_upgraded(
    components: Sequence[Component], dialect: str, applied: Sequence[AppliedMigration], where: str
) -> list[str]:
    """Return the pending migrations of the components that have tables in the database."""
    present = {row.component for row in applied}
    return [
        name
        for each in components
        if each.name in present
        for name in component_state(each, dialect, applied, where).pending
    ]


def explain_failure(component: Component, error: Exception) -> str:
    """Say why a component was not migrated. Raises the error if the component is required."""
    if component.required:
        raise error
    why = str(error).strip().rstrip(".")
    return f"The component {component.name} was not migrated: {why}. Correct or remove its extension."


def check_component(component: Component) -> None:
    """Read all files of a component. Raises `ComponentError` for a name, prefix, migration or
    statement that breaks a rule."""
    name, prefix = component.name, component.prefix
    if not isinstance(name, str) or _NAME.fullmatch(name) is None or len(name) > MAX_NAME_CHARS:
        raise ComponentError(f"{name!r} is no name of a component: use small letters, digits and hyphens.")
    if not isinstance(prefix, str) or _PREFIX.fullmatch(prefix) is None:
        raise ComponentError(f"{prefix!r} is no table prefix: use small letters, such as acme_.")
    taken = sorted(table for table in list_core_tables() if table.startswith(prefix))
    if taken:
        raise ComponentError(f"the table prefix {prefix} is the server's: it has {taken[0]}.")
    foreign = [place.table for place in component.personal if not component.owns(place.table)]
    if foreign:
        raise ComponentError(
            f"{name}: its places of personal data name {foreign[0]}, which is not its table."
        )
    try:
        _check_migrations(component)
        statements = load(component.folder / "statements", name)
    except (StatementError, ValueError, OSError) as error:
        raise ComponentError(f"{name}: {error}") from error
    for statement in statements.values():
        for text in (statement.sqlite, statement.postgres):
            if text != NOT_HERE:
                _refuse_foreign(component, text, f"the statement {statement.name}")


def _check_migrations(component: Component) -> None:
    listed = {dialect: component.migrations(dialect) for dialect in DIALECTS}
    names = [[file_name(each) for each in found] for found in listed.values()]
    if names[0] != names[1]:
        odd = sorted(set(names[0]) ^ set(names[1]))
        raise ComponentError(f"{component.name}: {odd[0]}.sql is needed for both sqlite and postgres.")
    for dialect, found in listed.items():
        for number, migration in enumerate(found, start=1):
            where = f"{dialect}/{file_name(migration)}.sql"
            if migration.version != number:
                raise ComponentError(f"{component.name}: {where} has a number that does not follow.")
            for statement in split_statements(migration.sql):
                if _DEFINES.match(statement) is None:
                    begin = " ".join(statement.split())[:40]
                    raise ComponentError(
                        f"{component.name}: {where} may create, alter, fill and drop tables and indexes, "
                        f"not {begin!r}."
                    )
                _refuse_foreign(component, statement, where)


def _refuse_foreign(component: Component, sql: str, where: str) -> None:
    foreign = sorted(table for table in list_tables(sql) if not component.owns(table))
    if foreign:
        raise ComponentError(
            f"{component.name}: {where} touches {foreign[0]}. Its own tables begin with {component.prefix}"
        )


def split_statements(sql: str) -> Iterator[str]:
    """Yield the statements of a script, with empty literals and without comments."""
    yield from filter(None, map(str.strip, hide_texts(sql).split(";")))


@cache
def list_core_tables() -> frozenset[str]:
    """Return the tables that the server's own migrations create."""
    listed = (read_migrations(MIGRATIONS / dialect) for dialect in DIALECTS)
    return frozenset().union(*map(_list_created, listed)) | {"schema_versions"}


def _list_created(listed: Sequence[Migration]) -> frozenset[str]:
    """Return the tables that migrations create."""
    found: set[str] = set()
    for migration in listed:
        for statement in split_statements(migration.sql):
            if re.match(r"CREATE\s+(?:VIRTUAL\s+)?TABLE\b", statement, re.IGNORECASE):
                found |= list_tables(re.split(r"\(|\bUSING\b", statement, maxsplit=1)[0])
    return frozenset(found)


# Finds the tables that a SQL text touches, without a database.
#
# Not a parser of SQL: it knows the words after which a table's name stands. The tests compare it with SQLite's own
# account for every statement of the server.

_HIDDEN: Final = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""Literals and comments."""
_TOKEN: Final = re.compile(r'"[^"]+"|[A-Za-z_][A-Za-z0-9_.]*|[(),]')
_COMMON: Final = re.compile(
    r"(?:\bWITH(?:\s+RECURSIVE)?|,)\s*(\w+)\s*(?:\([^()]*\)\s*)?AS\s+(?:(?:NOT\s+)?MATERIALIZED\s*)?\(",
    re.IGNORECASE,
)
"""The name of a common table expression."""
_OWN_ARGUMENTS: Final = frozenset({"EXTRACT", "SUBSTRING", "TRIM", "OVERLAY"})
"""Functions with FROM between their arguments."""
_FILLERS: Final = frozenset({"IF", "NOT", "EXISTS", "ONLY", "LATERAL", "CONCURRENTLY"})
_ENDS_LIST: Final = frozenset(
    {"WHERE", "GROUP", "ORDER", "LIMIT", "SET", "SELECT", "RETURNING", "VALUES", "HAVING", "WINDOW"}
)
_NAMES_RELATION: Final = frozenset({"INTO", "TABLE", "REFERENCES", "INDEX", "TO"})
"""Words whose name may be followed by a list in parentheses and is no function."""
_BEFORE_NAME: Final = frozenset({"FROM", "JOIN", "USING", "UPDATE"}) | _NAMES_RELATION


def hide_texts(sql: str) -> str:
    """Return the SQL with empty literals and without comments."""
    return _HIDDEN.sub(lambda found: "''" if found[0].startswith("'") else " ", sql)


def list_tables(sql: str) -> frozenset[str]:
    """Return the names of the tables that a statement reads, changes, defines or refers to. In the
    definition of an index that includes its own name."""
    bare = hide_texts(sql)
    common = {name.lower() for name in _COMMON.findall(bare)}
    return frozenset(_find_names(_TOKEN.findall(bare))) - common


def _find_names(tokens: list[str]) -> Iterator[str]:
    words = [token.upper() for token in tokens]
    makes_index = words[:1] == ["CREATE"] and "INDEX" in words[:3]
    enclosing: list[tuple[str, bool]] = []
    in_list = False
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if word == "(":
            enclosing.append((before, in_list))
            in_list = False
        elif word == ")":
            in_list = enclosing.pop()[1] if enclosing else False
        elif word in _ENDS_LIST:
            in_list = False
        elif word == "FROM" and (before == "DISTINCT" or _is_in(enclosing, _OWN_ARGUMENTS)):
            continue
        elif (word in _BEFORE_NAME and not _is_clause(word, before)) or (makes_index and word == "ON"):
            in_list = in_list or word in ("FROM", "USING")
            yield from _read_name(tokens, words, place + 1, may_call=word not in _NAMES_RELATION | {"ON"})
        elif word == "," and in_list:
            yield from _read_name(tokens, words, place + 1, may_call=True)


def _is_in(enclosing: list[tuple[str, bool]], functions: frozenset[str]) -> bool:
    return bool(enclosing) and enclosing[-1][0] in functions


def _is_clause(word: str, before: str) -> bool:
    """Whether the word is part of another clause: FOR UPDATE, DO UPDATE SET, ON UPDATE CASCADE."""
    if word == "UPDATE":
        return before in ("FOR", "KEY", "DO", "ON")
    return word == "TO" and before != "RENAME"


def _read_name(tokens: list[str], words: list[str], place: int, *, may_call: bool) -> Iterator[str]:
    while place < len(words) and words[place] in _FILLERS:
        place += 1
    if place == len(words) or words[place] in ("(", ")", ",", "SET", "ON"):
        return
    if may_call and words[place + 1 : place + 2] == ["("]:
        return
    yield tokens[place].strip('"').lower()
