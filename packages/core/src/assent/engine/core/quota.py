"""Storage quota of a workspace per day (UTC).

The bytes of all values that a transaction writes are counted in that transaction, in one row per
workspace and day. A transaction that would exceed the quota is rolled back. Decisions, executions
and their outcomes are not counted and never refused, so that work in progress can end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from msgspec.structs import astuple

from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS, SECOND_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Begin, Transaction
from assent.sql.loader import statements

T = TypeVar("T")

SMALL_BYTES: Final = 1_024
"""A write up to this size is always accepted, such as a replay."""

KEPT_DAYS: Final = 30
NUMBER_BYTES: Final = 8


def meter(begin: Begin[T], workspace_id: WorkspaceId, most_bytes: int, now_ms: int) -> Begin[T]:
    """Count the bytes that a transaction writes. Raises `Refusal` above `most_bytes`."""

    def counting() -> Transaction[T]:
        written: list[Any] = []
        transaction = begin()
        try:
            bound = next(transaction)
            while True:
                if bound.statement.writes:
                    written.extend(astuple(bound))
                bound = transaction.send((yield bound))
        except StopIteration as end:
            result: T = end.value
        if written:
            yield from _count(workspace_id, size_of(written), most_bytes, now_ms)
        return result

    return counting


def size_of(values: Iterable[Any]) -> int:
    size = 0
    for value in values:
        if isinstance(value, str):
            size += len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        else:
            size += len(value) if isinstance(value, bytes) else NUMBER_BYTES
    return size


def read_stored(workspace_id: WorkspaceId, now_ms: int) -> Transaction[int]:
    """Return how many bytes a workspace has stored today."""
    rows = yield statements.find_stored_bytes(workspace_id=workspace_id, day=now_ms // DAY_MS)
    found: int = rows[0]["bytes"] if rows else 0
    return found


def _count(workspace_id: WorkspaceId, written: int, most_bytes: int, now_ms: int) -> Transaction[None]:
    # Last, so that the row of the workspace is locked only until the commit.
    day = now_ms // DAY_MS
    rows = yield statements.add_stored_bytes(workspace_id=workspace_id, day=day, bytes=written)
    total: int = rows[0]["bytes"]
    if total > most_bytes and written > SMALL_BYTES:
        raise Refusal(
            Reason.QUOTA_EXCEEDED,
            facts={"megabytes": f"{most_bytes / 1_000_000:g}"},
            retry_after_seconds=-(-((day + 1) * DAY_MS - now_ms) // SECOND_MS),
        )
    if total == written:
        yield statements.forget_stored_bytes(workspace_id=workspace_id, before=day - KEPT_DAYS)
