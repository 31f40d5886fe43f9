"""The journal: append-only events in streams, each chained to the one before it. Nothing else appends.

An append locks the stream's head row (number and hash of the last event) first, so that what a caller reads
after `lock_head` is still true when it appends. The chain is sha256(previous hash ‖ digest), where the digest
covers the workspace, the stream, the number, the kind, the time and the body exactly as stored: whoever
changes, removes or reorders an event has to change every hash after it and the head.

Deliberately unaware of what an event means.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from assent.kernel.limits import MINUTE_MS
from assent.ports import Rows, Transaction
from assent.sql.loader import statements

GENESIS: Final = "0" * 64
"""The hash before the first event."""

DATE_GRAIN_MS: Final = MINUTE_MS
"""How exactly a head says when its stream grew. Only checkpoints ask, for what grew since the last one; to the minute,
the index of dates is written once for all that happens to a stream within it."""

_json = msgspec.json.Encoder(order="deterministic")


class Head(msgspec.Struct, frozen=True):
    """Where a stream ends. `seq` is 0 for a stream without events. It last grew less than `DATE_GRAIN_MS` after
    `dated_ms`."""

    workspace_id: str
    stream_id: str
    seq: int
    hash: str
    dated_ms: int = 0


class NewEvent(msgspec.Struct, frozen=True):
    """An event to append. The body is anything that can be written as JSON."""

    kind: str
    body: Any


class Event(msgspec.Struct, frozen=True):
    """An event as stored. `body` is the JSON text that was hashed."""

    seq: int
    kind: str
    at_ms: int
    body: str
    hash: str


class ChainFlaw(enum.StrEnum):
    """What can be wrong with a chain."""

    MISSING = "missing"
    ALTERED = "altered"
    TRUNCATED = "truncated"
    BEYOND_HEAD = "beyond_head"
    HEAD_ALTERED = "head_altered"


class ChainBreak(msgspec.Struct, frozen=True):
    """The first event at which a chain does not hold."""

    seq: int
    flaw: ChainFlaw


def lock_head(workspace_id: str, stream_id: str, now_ms: int) -> Transaction[Head]:
    """Lock the stream until the transaction ends, also one that is new."""
    named = {"workspace_id": workspace_id, "stream_id": stream_id}
    rows = yield statements.lock_head(**named)
    if not rows:
        rows = yield statements.make_head(**named, genesis=GENESIS, now_ms=now_ms)
    return _head(workspace_id, stream_id, rows)


def lock_seen(head: Head) -> Transaction[Head]:
    """Lock a stream whose head this transaction has read, and to which it has appended nothing since."""
    rows = yield statements.lock_seen_head(workspace_id=head.workspace_id, stream_id=head.stream_id)
    return _head(head.workspace_id, head.stream_id, rows) if rows else head


def new_head(workspace_id: str, stream_id: str) -> Head:
    """The head of a stream whose id was just made: nobody else can know it, so there is nothing to lock."""
    return Head(workspace_id, stream_id, 0, GENESIS)


def append_to(head: Head, events: Sequence[NewEvent], now_ms: int) -> Transaction[Head]:
    """Append to a stream whose head this transaction has locked or just made; returns the new head."""
    if not events:
        return head
    named = {"workspace_id": head.workspace_id, "stream_id": head.stream_id}
    seq, chained = head.seq, head.hash
    for position, event in enumerate(events, start=1):
        seq += 1
        body = _json.encode(event.body)
        chained = link(head.workspace_id, head.stream_id, seq, event.kind, now_ms, body, chained)
        row = {"seq": seq, "kind": event.kind, "now_ms": now_ms, "body": body.decode(), "hash": chained}
        if position < len(events):
            yield statements.insert_event(**named, **row)
    fresh = 0 <= now_ms - head.dated_ms < DATE_GRAIN_MS
    dated_ms = head.dated_ms if fresh else now_ms
    append_last = statements.append_event if head.seq else statements.begin_stream
    if not (yield append_last(**named, **row, previous_hash=head.hash, dated_ms=dated_ms)):
        raise RuntimeError(f"stream {head.stream_id} was appended to with a head that was not locked")
    yield statements.write_event(**named, **row)
    if head.seq and not fresh:
        yield statements.date_head(**named, dated_ms=dated_ms)
    return Head(head.workspace_id, head.stream_id, seq, chained, dated_ms)


def append(workspace_id: str, stream_id: str, events: Sequence[NewEvent], now_ms: int) -> Transaction[Head]:
    """Lock and append in one go, for callers that read nothing under the lock."""
    head = yield from lock_head(workspace_id, stream_id, now_ms)
    return (yield from append_to(head, events, now_ms))


def read_head(workspace_id: str, stream_id: str) -> Transaction[Head]:
    """Where a stream ends, without a lock."""
    rows = yield statements.read_head(workspace_id=workspace_id, stream_id=stream_id)
    return _head(workspace_id, stream_id, rows)


def _head(workspace_id: str, stream_id: str, rows: Rows) -> Head:
    if not rows:
        return new_head(workspace_id, stream_id)
    return Head(workspace_id, stream_id, rows[0]["seq"], rows[0]["hash"], rows[0]["updated_at"])


def read_stream(
    workspace_id: str, stream_id: str, *, after_seq: int = 0, limit: int = 1_000
) -> Transaction[list[Event]]:
    """A page of a stream, in order."""
    rows = yield statements.read_events(
        workspace_id=workspace_id, stream_id=stream_id, after_seq=after_seq, limit=limit
    )
    return [Event(row["seq"], row["kind"], row["at_ms"], row["body"], row["hash"]) for row in rows]


def link(
    workspace_id: str, stream_id: str, seq: int, kind: str, at_ms: int, body: bytes, previous: str
) -> str:
    """The chain hash of one event."""
    # JSON text holds no raw line break, so that the two parts cannot be read as two others.
    identity = _json.encode((workspace_id, stream_id, seq, kind, at_ms))
    digest = hashlib.sha256(identity + b"\n" + body).digest()
    return hashlib.sha256(bytes.fromhex(previous) + digest).hexdigest()


def verify_chain(events: Iterable[Event], head: Head, *, start: Head | None = None) -> ChainBreak | None:
    """Whether the events lead from `start` (or from the beginning) to `head`; the first flaw, or None."""
    seq, chained = (start.seq, start.hash) if start is not None else (0, GENESIS)
    for event in events:
        seq += 1
        if event.seq != seq:
            return ChainBreak(seq, ChainFlaw.MISSING)
        chained = link(
            head.workspace_id, head.stream_id, seq, event.kind, event.at_ms, event.body.encode(), chained
        )
        if event.hash != chained:
            return ChainBreak(seq, ChainFlaw.ALTERED)
    if seq < head.seq:
        return ChainBreak(seq + 1, ChainFlaw.TRUNCATED)
    if seq > head.seq:
        return ChainBreak(head.seq + 1, ChainFlaw.BEYOND_HEAD)
    return None if chained == head.hash else ChainBreak(seq, ChainFlaw.HEAD_ALTERED)
