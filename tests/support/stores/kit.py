"""What the tests of the stores share: a few statements of their own, transactions made of them, and children."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from tests.support.warm_processes import Process

from assent.engine.core import journal
from assent.engine.core.journal import Event, Head, NewEvent
from assent.ports import Store, Transaction
from assent.sql.loader import compile_blocks, parse
from assent.stores.sqlite import SqliteStore

T = TypeVar("T")

ROOT = Path(__file__).parents[3]
NOON = 1_900_000_000_000
WORKSPACE = "0190a000-0000-7000-8000-00000000000a"
DEADLINE_SECONDS = 30.0

COMPILED = compile_blocks(
    parse(
        """
        -- name: put
        -- One row; a second one with the same stream breaks the primary key.
        INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
        VALUES (:workspace_id, :stream_id, :seq, '', 0);

        -- name: count
        -- How many rows there are.
        SELECT count(*) AS n FROM streams WHERE workspace_id = :workspace_id;

        -- name: put_null
        -- Breaks a constraint that is not about uniqueness.
        INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)
        VALUES (:workspace_id, 'null', NULL, '', 0);

        -- name: nonsense
        -- A bug in a statement.
        SELECT 1 FROM nowhere;

        -- name: alter_event
        -- What a forger does.
        UPDATE events SET body = :body WHERE workspace_id = :workspace_id AND seq = :seq;

        -- name: drop_event
        -- What a forger does.
        DELETE FROM events WHERE workspace_id = :workspace_id AND seq = :seq;

        -- name: alter_head
        -- What a forger does.
        UPDATE streams SET seq = :seq, hash = :hash WHERE workspace_id = :workspace_id;

        -- name: everything
        -- Its columns change with the table.
        SELECT * FROM streams;

        -- name: versions
        -- What was applied.
        SELECT version, name FROM schema_versions ORDER BY version;
        """.replace("\n        ", "\n"),
        "kit",
    )
)
SQL = {name: statement.bound_type() for name, statement in COMPILED.items()}


def put(*streams: str, workspace: str = WORKSPACE) -> Transaction[str]:
    for stream in streams:
        yield SQL["put"](workspace_id=workspace, stream_id=stream, seq=0)
    return streams[-1]


def count(workspace: str = WORKSPACE) -> Transaction[int]:
    rows = yield SQL["count"](workspace_id=workspace)
    return int(rows[0]["n"])


def append(stream: str, *bodies: Any) -> Transaction[Head]:
    return journal.append(WORKSPACE, stream, [NewEvent("noted", body) for body in bodies], NOON)


def whole_stream(stream: str) -> Transaction[tuple[Head, list[Event]]]:
    head = yield from journal.read_head(WORKSPACE, stream)
    events = yield from journal.read_stream(WORKSPACE, stream, limit=1_000_000)
    return head, events


async def marks(store: Store, stream: str) -> list[Any]:
    """The bodies of a stream whose numbers are contiguous and whose chain holds."""
    head, events = await store.read(lambda: whole_stream(stream))
    assert [event.seq for event in events] == list(range(1, head.seq + 1))
    assert journal.verify_chain(events, head) is None
    return [json.loads(event.body) for event in events]


async def at_rest(store: Store) -> None:
    """Until the writer's thread has looked after the log, which it does after it answered."""
    assert isinstance(store, SqliteStore) and store._writer is not None
    in_use = store._writer._in_use
    await asyncio.to_thread(in_use.acquire)
    in_use.release()


def in_a_thread(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end in a thread and an event loop of its own."""
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(asyncio.run(work())))
    thread.start()
    thread.join(DEADLINE_SECONDS)
    return results[0]


class Child:
    """A process of its own on the same store: `python -m tests.support.stores.child`."""

    def __init__(self, *arguments: str) -> None:
        self._process = Process(
            [sys.executable, "-m", "tests.support.stores.child", *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        """The next line it says."""
        line = self._read()
        assert line, f"the child ended with {self._process.wait(DEADLINE_SECONDS)}"
        return line

    def _read(self) -> str:
        """The next whole line, or nothing at the end: what a kill has cut off was never said."""
        assert self._process.stdout is not None
        line: str = self._process.stdout.readline()
        return line.strip() if line.endswith("\n") else ""

    def go(self) -> None:
        """Let it pass its next barrier."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def rest(self) -> list[str]:
        """Everything else it says until it ends."""
        lines = list(iter(self._read, ""))
        self._process.wait(DEADLINE_SECONDS)
        return lines

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()


@contextmanager
def children(number: int, *arguments: str) -> Iterator[list[Child]]:
    """Processes that are ready to start together."""
    started = [Child(*arguments) for _ in range(number)]
    try:
        for child in started:
            assert child.line() == "ready"
        yield started
    finally:
        for child in started:
            child.close()
