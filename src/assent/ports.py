"""The seams of Assent and what each promises.

A transaction is a *generator*: it yields bound statements and receives their rows, and returns its result.
The SQLite writer drives it synchronously inside its own thread (so that group commit stays possible), the
PostgreSQL adapter drives the same generator with await. No other code touches a driver.

Nothing here knows a contract noun, a transport or a dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

T = TypeVar("T")


class Row(Protocol):
    """One row: columns by name or by position, as both drivers give it."""

    def __getitem__(self, key: Any, /) -> Any: ...


Rows = Sequence[Row]


class Statement(msgspec.Struct, frozen=True):
    """A named statement, compiled once for both dialects. `params` is the order of its positional values,
    `writes` whether it changes or locks anything."""

    name: str
    sqlite: str
    postgres: str
    params: tuple[str, ...]
    writes: bool = True

    def __call__(self, **values: Any) -> Bound:
        if len(values) != len(self.params):
            unknown = sorted(set(values) ^ set(self.params))
            raise TypeError(f"statement {self.name}: parameters {unknown} do not match")
        return Bound(self, tuple([values[name] for name in self.params]))


class Bound(NamedTuple):
    """A statement with its values, ready for a driver."""

    statement: Statement
    values: tuple[Any, ...]


Transaction = Generator[Bound, Rows, T]
"""Yields statements, receives their rows, returns its result."""

Begin = Callable[[], Generator[Bound, Rows, T]]
"""Makes a fresh generator: a store may run it again after a serialization failure, so it must be free of
effects other than the statements it yields."""


class Single(msgspec.Struct, frozen=True):
    """A transaction of one statement, which gives its rows: `await store.write(Single(statements.x(…)))`.

    A statement is atomic by itself, so that PostgreSQL is asked once instead of three times.
    """

    bound: Bound

    def __call__(self) -> Transaction[Rows]:
        return (yield self.bound)


class Store(Protocol):
    """Durable state. `write` returns only after the transaction is on disk (or raises and nothing is).

    Raises `StoreUnavailable` when the database cannot be reached, is read-only or full; nothing is half done
    then, and the next call may succeed without a restart. Where a connection breaks while its COMMIT is on
    the way, nobody can know whether the whole transaction is there: repeat with the same idempotency key. An
    exception raised by the generator rolls its transaction back and is re-raised to the caller as it is. A
    statement that breaks a constraint ends the transaction with `ConstraintViolation`; the generator does not
    see it, because PostgreSQL has given the transaction up by then.

    Every statement answers with a list of rows, an empty one where it returns none. `read` sees one snapshot
    and cannot write. A cancelled caller's transaction happens as a whole or not at all.

    Making a store does no work. `open` connects and checks the schema (`SchemaMismatch`); without it the
    first call does the same. `close` finishes what was asked before it.
    """

    dialect: str

    async def open(self) -> None: ...

    async def write(self, begin: Begin[T]) -> T: ...

    async def read(self, begin: Begin[T]) -> T: ...

    async def close(self) -> None: ...


class StoreUnavailable(Exception):  # noqa: N818 - a state of the world, not a programming error
    """The database cannot serve this call now; the message is for the log, never for a caller."""


class SchemaMismatch(StoreUnavailable):
    """The database holds a schema that this release cannot work with; the message says what to do."""


class SchemaTooNew(SchemaMismatch):
    """A newer release has migrated this database."""


class SchemaOutdated(SchemaMismatch):
    """The database waits for `assent migrate`."""


class ConstraintViolation(Exception):  # noqa: N818 - what happened, whoever is to blame
    """A statement would have broken a constraint of the schema; its transaction was rolled back."""


class UniqueViolation(ConstraintViolation):
    """A row with this key is there already."""


class Clock(Protocol):
    """The time as a value: milliseconds since the epoch."""

    def now_ms(self) -> int: ...
