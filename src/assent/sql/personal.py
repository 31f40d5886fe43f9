"""Where a table can hold data of a person, and how it is erased there.

A `Place` describes one table: its key, the columns that people's data can be in, and what happens to a
row in which it is found. The server and every component list their places; one search and one erasure
read the list (`assent.engine.erasure`). The statements of a place are made from it once per process.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from assent.ports import Bound
from assent.sql.loader import SqlBlock, compile_blocks

NOW: Final = "now"
"""A value of `Place.also`: the time of the erasure, in milliseconds."""


_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


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
    ) -> None:
        """`key` and `columns` have spaces between the names; the key begins with `workspace_id`. A key column
        that ends with # is a number. `but` are columns that are treated otherwise, `also` values that an erased
        row gets. `advice` is what a person does about a row that is left."""
        for name in (table, *key.replace("#", "").split(), *columns.split(), *(also or ())):
            if _NAME.fullmatch(name) is None:
                raise ValueError(f"{name!r} is no name of a table or column")
        self.table = table
        self.key = tuple(name.removesuffix("#") for name in key.split())
        self.numbers = frozenset(name[:-1] for name in key.split() if name.endswith("#"))
        self.columns = tuple(columns.split())
        self.label = label
        self.ways = {name: (but or {}).get(name, how) for name in self.columns}
        self.also = dict(also or {})
        self.advice = advice

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
