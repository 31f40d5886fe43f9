"""A store that writes down which statements ran and how many rows each gave."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, cast

from assent.app import App
from assent.ports import Begin, Bound, Rows, Store, Transaction

T = TypeVar("T")


OWN = frozenset({"advance_head", "note_caller"})
"""What begins a transaction that a process makes by itself, some time after any write: no call causes it."""


class Step(NamedTuple):
    """One statement of a transaction."""

    mode: str
    statement: str
    rows: int


class Traced:
    """Follows the transactions of a store."""

    def __init__(self, store: Store) -> None:
        self._write, self._read = store.write, store.read
        self.trace: list[Step] = []

    @classmethod
    def around(cls, app: App) -> Traced:
        """Follow the transactions of an app."""
        traced = cls(app.store)
        store = cast(Any, app.store)
        store.write, store.read = traced.write, traced.read
        return traced

    async def write(self, begin: Begin[T]) -> T:
        return await self._write(lambda: self._followed("write", begin))

    async def read(self, begin: Begin[T]) -> T:
        return await self._read(lambda: self._followed("read", begin))

    def _followed(self, mode: str, begin: Begin[T]) -> Transaction[T]:
        transaction = begin()
        rows: Rows | None = None
        own = False
        while True:
            try:
                bound = next(transaction) if rows is None else transaction.send(rows)
            except StopIteration as end:
                result: T = end.value
                return result
            own = own or (rows is None and bound.statement.name in OWN)
            rows = yield bound
            if not own:
                self._note(mode, bound, rows)

    def _note(self, mode: str, bound: Bound, rows: Rows) -> None:
        self.trace.append(Step(mode, bound.statement.name, len(rows)))
