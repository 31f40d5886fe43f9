"""Drives a transaction with scripted rows instead of a store, and keeps the statements that it yields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from assent.gate.policy import Policy
from assent.gate.records import Action
from assent.ports import Bound, Guarded, Rows, Transaction

T = TypeVar("T")


class ScriptedRow:
    """A row with columns by name or by position."""

    def __init__(self, **columns: Any) -> None:
        self._columns = columns
        self._values = tuple(columns.values())

    def __getitem__(self, key: Any, /) -> Any:
        return self._columns[key] if isinstance(key, str) else self._values[key]


class Script:
    """The rows for each statement, by its name. A statement without rows in the script is an error."""

    def __init__(self, **rows: Sequence[ScriptedRow]) -> None:
        self._rows = rows
        self.statements: list[Bound] = []

    @property
    def names(self) -> list[str]:
        """The names of the statements that ran, in order."""
        return [bound.statement.name for bound in self.statements]

    def run(self, transaction: Transaction[T]) -> T:
        """Run a transaction to its end."""
        rows: Rows | None = None
        try:
            while True:
                bound = next(transaction) if rows is None else transaction.send(rows)
                rows = self._guard(bound) if isinstance(bound, Guarded) else self._answer(bound)
        except StopIteration as end:
            result: T = end.value
            return result

    def _answer(self, bound: Bound) -> Rows:
        self.statements.append(bound)
        return self._rows[bound.statement.name]

    def _guard(self, part: Guarded) -> Rows:
        """Run a part whose fault is handed back as a row, and take back what it wrote."""
        before = len(self.statements)
        try:
            self.run(part.begin())
        except Exception as fault:
            del self.statements[before:]
            return [ScriptedRow(fault=fault)]
        return []

    def find(self, name: str) -> dict[str, Any]:
        """The values of the only statement with this name."""
        (bound,) = (each for each in self.statements if each.statement.name == name)
        return msgspec.structs.asdict(bound)


class ScriptedStore(Script):
    """A store whose transactions run on scripted rows."""

    async def read(self, begin: Callable[[], Transaction[T]]) -> T:
        return self.run(begin())

    write = read


def write_row(action: Action, policy: Policy | None = None) -> ScriptedRow:
    """The row of an action, as the store has it."""
    stored = {name: getattr(action, name) for name in Action.__struct_fields__}
    for name in ("effect", "preflight", "approval", "attempt", "metadata", "view"):
        if stored[name] is not None:
            stored[name] = msgspec.json.encode(stored[name]).decode()
    written = msgspec.json.encode(policy).decode() if policy is not None else None
    return ScriptedRow(**stored, policy=written)
