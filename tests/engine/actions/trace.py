"""A store that writes down which statements ran and how many rows each gave."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, cast

from assent.app import App
from assent.ports import Begin, Rows, Store, Transaction

T = TypeVar("T")


class Step(NamedTuple):
    """One statement of a transaction."""

    mode: str
    statement: str
    rows: int


class Traced:
    """A store around another."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.dialect = store.dialect
        self.trace: list[Step] = []

    @classmethod
    def around(cls, app: App) -> Traced:
        """Put one between an app and its database."""
        prepared = cast(Any, app.store)
        traced = cls(prepared._store)
        prepared._store = traced
        return traced

    async def open(self) -> None:
        await self._store.open()

    async def close(self) -> None:
        await self._store.close()

    async def write(self, begin: Begin[T]) -> T:
        return await self._store.write(lambda: self._followed("write", begin))

    async def read(self, begin: Begin[T]) -> T:
        return await self._store.read(lambda: self._followed("read", begin))

    def _followed(self, mode: str, begin: Begin[T]) -> Transaction[T]:
        transaction = begin()
        rows: Rows | None = None
        while True:
            try:
                bound = next(transaction) if rows is None else transaction.send(rows)
            except StopIteration as end:
                result: T = end.value
                return result
            rows = yield bound
            self.trace.append(Step(mode, bound.statement.name, len(rows)))
