"""The store port: a transaction is a *generator* that yields bound statements, receives their rows
and returns its result.

The SQLite writer drives it synchronously in its own thread, which allows group commit; the
PostgreSQL store drives the same generator with await. No other code uses a driver.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

import msgspec

from assent.kernel.structs import Record

T = TypeVar("T")


class Row(Protocol):
    """One row: columns by name or by position."""

    def __getitem__(self, key: Any, /) -> Any: ...


Rows = Sequence[Row]


class Statement(Record):
    """A named statement, compiled for both dialects. `params` is the order of its positional
    values, `writes` whether it changes or locks rows, `counted` whether SQLite returns an empty row
    for each changed row."""

    name: str
    sqlite: str
    postgres: str
    params: tuple[str, ...]
    writes: bool = True
    counted: bool = False

    def bound_type(self) -> type[Bound]:
        """Make the class of this statement with values. Its constructor raises TypeError for a
        missing or unknown parameter."""
        made = msgspec.defstruct(
            self.name, self.params, bases=(Bound,), namespace={"statement": self}, frozen=True, kw_only=True
        )
        return cast("type[Bound]", made)


class Bound(Record, kw_only=True):
    """A statement with its values. Each statement has its own subclass, which has a field for each
    parameter, in order; `msgspec.structs.astuple` returns the values."""

    statement: ClassVar[Statement]

    if TYPE_CHECKING:

        def __init__(self, **values: Any) -> None: ...


Transaction = Generator[Bound, Rows, T]
"""Yields statements, receives their rows, returns its result."""

Begin = Callable[[], Generator[Bound, Rows, T]]
"""Creates the generator. A store may run a transaction again after a serialization failure, so it
must have no effects other than the statements it yields."""


class Guarded(Bound):
    """A part of a transaction whose fault must not end it: `rows = yield Guarded(begin=…)`.

    The store runs it under a savepoint. If it raises an exception or one of its statements fails, everything that it
    wrote is taken back, and the outer transaction gets one row with the exception, and goes on; otherwise no row.
    What concerns the whole transaction still ends it: `StoreUnavailable`, and a serialization failure, after which it
    runs again.
    """

    statement: ClassVar[Statement] = Statement("guarded", "", "", ("begin",), writes=False)
    begin: Begin[Any]


class Single(Record):
    """A transaction of one statement that returns its rows: `await
    store.write(Single(statements.x(…)))`.

    One statement is atomic without BEGIN and COMMIT, which saves PostgreSQL two round trips.
    """

    bound: Bound

    def __call__(self) -> Transaction[Rows]:
        return (yield self.bound)


class Signal(Protocol):
    """A flag that a task can wait for, such as `asyncio.Event`."""

    def set(self) -> None: ...

    def clear(self) -> None: ...

    async def wait(self) -> bool: ...


class Store(Protocol):
    """Durable state. `write` returns after the transaction is on disk, or raises and nothing is
    stored.

    Raises `StoreUnavailable` when the database cannot be reached, is read-only or full; nothing is
    stored then, and the next call may succeed without a restart. If a connection breaks during its
    COMMIT, the result is unknown: repeat the call with the same idempotency key. An exception of
    the generator rolls back its transaction and reaches the caller unchanged. A statement that
    violates a constraint ends the transaction with `ConstraintViolation`; the generator does not
    see it, because PostgreSQL has aborted the transaction by then (but see `Guarded`).

    Every statement returns a list of rows, which may be empty. `read` sees one snapshot and cannot
    write. The transaction of a cancelled caller happens completely or not at all.

    Creating a store does no work. `open` connects and checks the schema (`SchemaMismatch`); without
    it the first call does. `close` finishes earlier requests.
    """

    dialect: str

    @property
    def written(self) -> Signal:
        """Set after every write through this object. The task that waits for writes clears it."""
        ...

    async def open(self) -> None: ...

    async def write(self, begin: Begin[T]) -> T: ...

    async def read(self, begin: Begin[T]) -> T: ...

    async def close(self) -> None: ...


class CountingStore(Store, Protocol):
    """A store that counts the committed writes through this object."""

    writes: int


class StoreUnavailable(Exception):  # noqa: N818 - a state of the world, not a programming error
    """The database cannot serve this call now. The message is for the log, never for a caller."""


class SchemaMismatch(StoreUnavailable):
    """This release cannot use the database as it is set up. The message says what to do."""


class SchemaTooNew(SchemaMismatch):
    """A newer release has migrated this database."""


class SchemaOutdated(SchemaMismatch):
    """The database needs `assent migrate`."""


class ConstraintViolation(Exception):  # noqa: N818 - an outcome, not a fault
    """A statement violated a constraint of the schema; its transaction was rolled back."""


class UniqueViolation(ConstraintViolation):
    """A row with this key exists."""


class Clock(Protocol):
    """The time as a value: milliseconds since the epoch."""

    def now_ms(self) -> int: ...
