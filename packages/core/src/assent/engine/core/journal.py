"""The journal: append-only streams of events, each event chained to the one before it by its hash.

Theory of operation

A stream is named by (workspace id, stream id) and holds events numbered from 1 without gaps. Table
`events` has one row per event. Table `streams` has one row per stream, its head: the number and
hash of the last event. A stream without events has no head row, or one with number 0 and the hash
`GENESIS`.

The chain. The hash of event n is sha256(hash of event n - 1 ‖ digest). The digest covers the
workspace, the stream, the number, the kind, the time and the body (`link`). The body is hashed as
the JSON text that is stored, so verification never has to encode it again. A change to one event
changes every later hash and the head. The chain has no secret: a writer with access to the database
can compute a consistent chain. The checkpoints that `engine.audit.log` signs record heads, and a
rewritten stream contradicts the checkpoints signed before.

Appending. A transaction gets a head in one of three ways and passes it to `append_to`:

- `lock_head` locks the head row until the transaction ends. On PostgreSQL this is SELECT … FOR UPDATE,
  and a missing head is inserted first, so that a new stream can be locked too. On SQLite the
  transaction already runs in the one writer, so the statement only reads. The statement that locks an action
  does the same for the stream of its run.
- `lock_seen` locks a head that the same transaction has read before without a lock. On SQLite it runs
  no statement, because no other writer can run in between. On PostgreSQL it reads the row again and
  returns the present head.
- `new_head` returns the head of a stream whose id was just generated. No other transaction knows that
  id.

`append_to` writes the events and moves the head with a compare-and-swap: the UPDATE has the
expected previous hash in its WHERE clause. If the head has moved, no row changes and `append_to`
raises RuntimeError, which rolls the transaction back. A forgotten lock therefore fails; it never
forks a stream. The same holds for a head used twice.

Appending moves the head to the last event first (`append_event`), then writes the events
(`write_event`). A statement that a dialect skips is not sent to that database.

Callers use the lock on the head as the lock of the whole run: they lock it, read the rows they will
change, and append in the same transaction. The state rows and their events therefore commit
together or not at all.

Erasure (`erase_bodies`). A person may ask that their data goes; the hashes stay. The body of an event is
replaced by one without the data, and an event of the kind `EVENTS_ERASED` in the same stream names its number,
the digest of the event as it was appended, and the digest of the new body. The digest leads to the same
hash, so the chain and every checkpoint still hold; the new body is fixed by the chain in its turn. The
event bears a signature of this server: a writer without its secrets cannot replace a body.

Verification recomputes the chain (`follow_chain`) and compares its end with the head (`compare_end`). The
flaws are a missing number, an altered event, events missing before the head, events after the head, or a
head whose hash differs. After a flaw it goes on with the stored hash and with the computed one, so an
altered event or hash is one flaw and hides no other. A long stream is verified page by page in one
transaction: an append moves the head, and events that are read before or after their head do not lead to
it. `verify_chain` returns the first flaw alone.

Invariants

1. Only this module writes `streams` and `events`. No function deletes an event, and only `erase_bodies`
   changes one: its body, never its hash.
2. Numbers of a stream are 1 … head.seq, and the hash of event head.seq is head.hash.
3. Two transactions that append to the same stream run one after the other.
4. The digest of an event depends on stored values only, so any reader with the rows can verify it.
5. No code here looks into an event's body, but for that of `EVENTS_ERASED`.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from assent.kernel.limits import MINUTE_MS
from assent.kernel.structs import Record, WireRecord, from_row
from assent.ports import Rows, Transaction
from assent.sql.loader import statements

GENESIS: Final = "0" * 64
"""The hash before the first event."""

DATE_GRAIN_MS: Final = MINUTE_MS
"""Resolution of `Head.dated_ms`. Checkpoints use it to find the streams that grew. At a resolution
of one minute, the index on this date is written at most once a minute per stream."""

EVENTS_ERASED: Final = "events_erased"
"""The kind of the event that names the events of its stream whose bodies were replaced."""

_json = msgspec.json.Encoder(order="deterministic")
_HASH: Final = re.compile("[0-9a-f]{64}")


class Head(Record):
    """The end of a stream: number and hash of its last event. The stream last grew less than
    `DATE_GRAIN_MS` after `dated_ms`."""

    workspace_id: str
    stream_id: str
    seq: int
    hash: str
    dated_ms: int = 0


class NewEvent(Record):
    """An event to append. The body is any value that msgspec encodes as JSON."""

    kind: str
    body: Any


class Event(Record):
    """An event as stored. `body` is the JSON text that was hashed."""

    seq: int
    kind: str
    at_ms: int
    body: str
    hash: str


class ErasedBody(WireRecord):
    """An event whose body was replaced: the digest that its hash was made from, and that of the new body."""

    seq: int
    digest: str
    body: str


class Erasure(WireRecord):
    """The body of an `EVENTS_ERASED` event. The signature covers `signed_text`."""

    events: tuple[ErasedBody, ...]
    signature: str
    public_key: str

    def signed_text(self, workspace_id: str, stream_id: str) -> str:
        return text_to_sign(workspace_id, stream_id, self.events)


ErasedBodies = Mapping[int, ErasedBody]
Sign = Callable[[str], tuple[str, str]]
"""Returns the signature of a text and the public key."""


class ChainFlaw(enum.StrEnum):
    MISSING = "missing"
    ALTERED = "altered"
    TRUNCATED = "truncated"
    BEYOND_HEAD = "beyond_head"
    HEAD_ALTERED = "head_altered"


class ChainBreak(Record):
    """An event at which verification failed, and how."""

    seq: int
    flaw: ChainFlaw


class ChainEnd(Record):
    """The last event that was verified: its number, and its hash. After an altered event there are two, the
    stored and the computed one."""

    seq: int = 0
    hashes: tuple[str, ...] = (GENESIS,)


def find_latest(workspace_id: str, now_ms: int) -> Transaction[int]:
    """Return the latest time that a workspace knows: now, or that of an event if the clock was set back since."""
    rows = yield statements.find_last_event_time(workspace_id=workspace_id)
    return max(now_ms, rows[0]["at_ms"] if rows else 0)


def lock_head(workspace_id: str, stream_id: str, now_ms: int) -> Transaction[Head]:
    """Lock a stream until the transaction ends and return its head. The stream may be new."""
    named = {"workspace_id": workspace_id, "stream_id": stream_id}
    rows = yield statements.lock_head(**named)
    if not rows:
        rows = yield statements.make_head(**named, genesis=GENESIS, now_ms=now_ms)
    return head_of(workspace_id, stream_id, rows)


def lock_seen(head: Head) -> Transaction[Head]:
    """Lock a stream whose head this transaction has read. Returns the present head."""
    rows = yield statements.lock_seen_head(workspace_id=head.workspace_id, stream_id=head.stream_id)
    return head_of(head.workspace_id, head.stream_id, rows) if rows else head


def new_head(workspace_id: str, stream_id: str) -> Head:
    """Return the head of a stream whose id was just generated; it needs no lock."""
    return Head(workspace_id, stream_id, 0, GENESIS)


def append_to(head: Head, events: Sequence[NewEvent], now_ms: int) -> Transaction[Head]:
    """Append events and return the new head. Raises RuntimeError if `head` is outdated."""
    if not events:
        return head
    named = {"workspace_id": head.workspace_id, "stream_id": head.stream_id}
    seq, chained, rows = head.seq, head.hash, []
    for event in events:
        seq += 1
        body = _json.encode(event.body)
        chained = link(head.workspace_id, head.stream_id, seq, event.kind, now_ms, body, chained)
        rows.append({"seq": seq, "kind": event.kind, "body": body.decode(), "hash": chained})
    fresh = 0 <= now_ms - head.dated_ms < DATE_GRAIN_MS
    dated_ms = head.dated_ms if fresh else now_ms
    append_last = statements.append_event if head.seq else statements.begin_stream
    if not (yield append_last(**named, seq=seq, hash=chained, previous_hash=head.hash, dated_ms=dated_ms)):
        raise RuntimeError(f"stream {head.stream_id} was appended to with a head that was not locked")
    for row in rows:
        yield statements.write_event(**named, **row, now_ms=now_ms)
    if head.seq and not fresh:
        yield statements.date_head(**named, dated_ms=dated_ms)
    return Head(head.workspace_id, head.stream_id, seq, chained, dated_ms)


def append(workspace_id: str, stream_id: str, events: Sequence[NewEvent], now_ms: int) -> Transaction[Head]:
    """Lock a stream and append to it, for callers that read nothing under the lock."""
    head = yield from lock_head(workspace_id, stream_id, now_ms)
    return (yield from append_to(head, events, now_ms))


def note(
    workspace_id: str, kind: str, body: Any, now_ms: int, *, stream_id: str | None = None
) -> Transaction[Head]:
    """Append one event to a stream; without an id, to that of the workspace itself."""
    return append(workspace_id, stream_id or workspace_id, [NewEvent(kind, body)], now_ms)


def read_head(workspace_id: str, stream_id: str) -> Transaction[Head]:
    """Return the head of a stream without locking it."""
    rows = yield statements.read_head(workspace_id=workspace_id, stream_id=stream_id)
    return head_of(workspace_id, stream_id, rows)


def head_of(workspace_id: str, stream_id: str, rows: Rows) -> Head:
    """Return the head in the first row, which is that of a new stream without one."""
    if not rows:
        return new_head(workspace_id, stream_id)
    return Head(workspace_id, stream_id, rows[0]["seq"], rows[0]["hash"], rows[0]["updated_at"])


def read_stream(
    workspace_id: str, stream_id: str, *, after_seq: int = 0, limit: int = 1_000
) -> Transaction[list[Event]]:
    """Return the events after `after_seq` in order, at most `limit`."""
    rows = yield statements.read_events(
        workspace_id=workspace_id, stream_id=stream_id, after_seq=after_seq, limit=limit
    )
    return [Event(row["seq"], row["kind"], row["at_ms"], row["body"], row["hash"]) for row in rows]


def read_latest(head: Head, most: int) -> Transaction[list[Event]]:
    """Return the last events before `head`, in order."""
    after = max(0, head.seq - most)
    return read_stream(head.workspace_id, head.stream_id, after_seq=after, limit=most)


def find_last(workspace_id: str, stream_id: str, kind: str) -> Transaction[Event | None]:
    """Return the newest event of one kind in a stream."""
    rows = yield statements.last_event_of_kind(workspace_id=workspace_id, stream_id=stream_id, kind=kind)
    return from_row(Event, rows[0]) if rows else None


def erase_bodies(
    head: Head, bodies: Mapping[int, str], known: ErasedBodies, sign: Sign, now_ms: int
) -> Transaction[Head]:
    """Replace the bodies of events of a locked stream, by their numbers, and append the event that says so.
    `known` are the events that this server replaced before. Others would make an altered event genuine."""
    workspace_id, stream_id = head.workspace_id, head.stream_id
    replaced = []
    for seq, body in sorted(bodies.items()):
        (event,) = yield from read_stream(workspace_id, stream_id, after_seq=seq - 1, limit=1)
        digest = known[seq].digest if seq in known else digest_event(head, event).hex()
        yield statements.replace_event_body(
            workspace_id=workspace_id, stream_id=stream_id, seq=seq, body=body
        )
        replaced.append(ErasedBody(seq, digest, hashlib.sha256(body.encode()).hexdigest()))
    named = tuple(replaced)
    erasure = Erasure(named, *sign(text_to_sign(workspace_id, stream_id, named)))
    return (yield from append_to(head, [NewEvent(EVENTS_ERASED, erasure)], now_ms))


def text_to_sign(workspace_id: str, stream_id: str, events: tuple[ErasedBody, ...]) -> str:
    return _json.encode((EVENTS_ERASED, workspace_id, stream_id, events)).decode()


def read_erasures(workspace_id: str, stream_id: str) -> Transaction[list[Erasure]]:
    """Return the erasures of a stream, oldest first."""
    rows = yield statements.list_events_of_kind(
        workspace_id=workspace_id, stream_id=stream_id, kind=EVENTS_ERASED
    )
    found = []
    for row in rows:
        # A forged one counts for nothing; verification finds the events that it names.
        with contextlib.suppress(ValueError, RecursionError):
            found.append(msgspec.json.decode(row["body"], type=Erasure))
    return found


def read_erased(workspace_id: str, stream_id: str) -> Transaction[ErasedBodies]:
    """Return the events of a stream whose bodies were replaced, by number. The last replacement counts."""
    found = yield from read_erasures(workspace_id, stream_id)
    return {event.seq: event for erasure in found for event in erasure.events}


def digest_event(head: Head, event: Event) -> bytes:
    return _digest(head.workspace_id, head.stream_id, event.seq, event.kind, event.at_ms, event.body.encode())


def _digest(workspace_id: str, stream_id: str, seq: int, kind: str, at_ms: int, body: bytes) -> bytes:
    # JSON text has no raw line break, so the separator is unambiguous.
    identity = _json.encode((workspace_id, stream_id, seq, kind, at_ms))
    return hashlib.sha256(identity + b"\n" + body).digest()


def link(
    workspace_id: str, stream_id: str, seq: int, kind: str, at_ms: int, body: bytes, previous: str
) -> str:
    """Compute the chain hash of one event."""
    return _chain(previous, _digest(workspace_id, stream_id, seq, kind, at_ms, body))


def _chain(previous: str, digest: bytes) -> str:
    return hashlib.sha256(bytes.fromhex(previous) + digest).hexdigest()


def follow_chain(
    head: Head, events: Iterable[Event], start: ChainEnd, erased: ErasedBodies
) -> tuple[ChainEnd, list[ChainBreak]]:
    """Verify events of the stream of `head`. `erased` are those whose bodies were replaced. Returns the last
    event and every flaw."""
    seq, hashes = start.seq, start.hashes
    breaks: list[ChainBreak] = []
    for event in events:
        linked = _link_after(hashes, head, event, erased)
        if event.seq != seq + 1:
            breaks.append(ChainBreak(seq + 1, ChainFlaw.MISSING))
            linked = []
        elif event.hash not in linked:
            breaks.append(ChainBreak(event.seq, ChainFlaw.ALTERED))
        seq, hashes = event.seq, (event.hash, *(each for each in linked[-1:] if each != event.hash))
    return ChainEnd(seq, hashes), breaks


def _link_after(hashes: Iterable[str], head: Head, event: Event, erased: ErasedBodies) -> list[str]:
    """Compute the hashes that an event may have. Returns none if its text or that of its hash is damaged."""
    linked: list[str] = []
    with contextlib.suppress(ValueError):
        digest = digest_event(head, event)
        if (replaced := erased.get(event.seq)) is not None:
            if hashlib.sha256(event.body.encode()).hexdigest() != replaced.body:
                return linked
            digest = bytes.fromhex(replaced.digest)
        linked = [_chain(each, digest) for each in hashes if _HASH.fullmatch(each)]
    return linked


def compare_end(end: ChainEnd, head: Head) -> ChainBreak | None:
    """Return the flaw if a chain does not lead to its head."""
    if end.seq < head.seq:
        return ChainBreak(end.seq + 1, ChainFlaw.TRUNCATED)
    if end.seq > head.seq:
        return ChainBreak(head.seq + 1, ChainFlaw.BEYOND_HEAD)
    return None if head.hash in end.hashes else ChainBreak(end.seq, ChainFlaw.HEAD_ALTERED)


def verify_chain(
    events: Iterable[Event], head: Head, *, start: Head | None = None, erased: ErasedBodies | None = None
) -> ChainBreak | None:
    """Check that the events lead from `start` to `head`. Returns the first flaw, or None."""
    begin = ChainEnd(start.seq, (start.hash,)) if start is not None else ChainEnd()
    end, breaks = follow_chain(head, events, begin, erased or {})
    return breaks[0] if breaks else compare_end(end, head)
