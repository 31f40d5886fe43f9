"""How much a workspace may store in a day (UTC).

Counted is what the statements of a transaction write, copies and all, and in the same transaction: one row for each
workspace and day. A write that would go beyond is taken back as a whole. Whatever ends something that was begun, a
decision, an execution or its outcome, is not counted here and never refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS, SECOND_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Begin, Transaction
from assent.sql.loader import statements

T = TypeVar("T")

SMALL_BYTES: Final = 1_024
"""What is always taken: the same answer once more, or a step that is looked at again."""

KEPT_DAYS: Final = 30
NUMBER_BYTES: Final = 8


def meter(begin: Begin[T], workspace_id: WorkspaceId, most_bytes: int, now_ms: int) -> Begin[T]:
    """The same transaction, with what it writes counted at its end."""

    def counting() -> Transaction[T]:
        written = 0
        transaction = begin()
        try:
            bound = next(transaction)
            while True:
                if bound.statement.writes:
                    written += size_of(bound.values)
                bound = transaction.send((yield bound))
        except StopIteration as end:
            result: T = end.value
        if written:
            yield from _count(workspace_id, written, most_bytes, now_ms)
        return result

    return counting


def size_of(values: Iterable[Any]) -> int:
    """The bytes of the values of one statement."""
    size = 0
    for value in values:
        if isinstance(value, str):
            size += len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        else:
            size += len(value) if isinstance(value, bytes) else NUMBER_BYTES
    return size


def read_stored(workspace_id: WorkspaceId, now_ms: int) -> Transaction[int]:
    """How much a workspace has stored today."""
    rows = yield statements.find_stored_bytes(workspace_id=workspace_id, day=now_ms // DAY_MS)
    found: int = rows[0]["bytes"] if rows else 0
    return found


def _count(workspace_id: WorkspaceId, written: int, most_bytes: int, now_ms: int) -> Transaction[None]:
    # Last, so that the row of a workspace is held for no longer than the commit takes.
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
