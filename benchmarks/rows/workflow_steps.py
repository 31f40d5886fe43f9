"""Workflows over stdio: a start and an advance against a call that does nothing on the same server, and an advance
after a thousand steps against one at the beginning.

Wall time of one client, from the request's last byte to the answer's: what an agent waits for. An advance is durable
before it is answered, so one line holds it against what no server can avoid: the call, and the rows on the disk.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec

from assent.stores.sqlite_connection import CHECKPOINT_PAGES
from benchmarks.figures import Figure, Limit, compared, in_turns, require
from benchmarks.machine import assent, environment, free_port
from benchmarks.messages import INITIALIZE, succeeded

ROUNDS: Final = 150
CALLS: Final = 5
FAR: Final = 1_000
NOTHING: Final = "a call that does nothing, same server"
WORKFLOW: Final = {
    "id": "bench-loop",
    "name": "Bench",
    "description": "One step again and again.",
    "version": "1.0.0",
    "steps": [
        {
            "id": "again",
            "type": "loop",
            "title": "Again",
            "loop": {"type": "while", "condition": {"var": "more"}, "maxIterations": 1_000},
            "body": [{"id": "body", "title": "Body", "prompt": "Do it."}],
        },
        {
            "id": "once-more",
            "type": "loop",
            "title": "Once more",
            "loop": {"type": "while", "condition": {"var": "more"}, "maxIterations": 1_000},
            "body": [{"id": "other", "title": "Other", "prompt": "Do it."}],
        },
    ],
}


class Client:
    """One client of `assent stdio`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.successes = 0
        self.spent = 0.0

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """One call; its payload. Adds its time to `spent`."""
        assert self._process.stdin is not None and self._process.stdout is not None
        params = {"name": tool, "arguments": arguments}
        line = (
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n"
        )
        began = time.perf_counter()
        self._process.stdin.write(line)
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        self.spent += time.perf_counter() - began
        self.successes += succeeded(answer)
        payload: dict[str, Any] = msgspec.json.decode(answer)["result"]["structuredContent"]
        return payload

    def timed(self, work: Any) -> float:
        """Milliseconds per call of something that calls `CALLS` times."""
        self.spent = 0.0
        work()
        return self.spent / CALLS * 1_000


class Floor:
    """The rows of an advance on bare `sqlite3`, on the same disk with the same care: an event and its head, a node and
    its run."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        for line in (*_FLOOR_CARE, *_FLOOR_TABLES):
            self._database.execute(line)
        self._rows = 0
        self.commit(FAR)

    def commit(self, times: int = CALLS) -> float:
        """Milliseconds per commit."""
        began = time.perf_counter()
        for _ in range(times):
            self._rows += 1
            self._database.execute("BEGIN IMMEDIATE")
            for table in ("events", "nodes"):
                self._database.execute(f"INSERT INTO {table} VALUES (?, ?)", (self._rows, "x" * 500))
            for table in ("heads", "runs"):
                self._database.execute(f"UPDATE {table} SET seq = ? WHERE id = 1", (self._rows,))
            self._database.execute("COMMIT")
        return (time.perf_counter() - began) / times * 1_000

    def close(self) -> None:
        self._database.close()


_FLOOR_CARE: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}",
)
_FLOOR_TABLES: Final = (
    *(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, body TEXT)" for table in ("events", "nodes")),
    *(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, seq INTEGER)" for table in ("heads", "runs")),
    "INSERT INTO heads VALUES (1, 0)",
    "INSERT INTO runs VALUES (1, 0)",
)


class Run:
    """A run that is advanced from where it stands."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.at = client.call("workflow_start", workflowId="bench-loop", context={"more": True})

    def advance(self, steps: int = CALLS) -> None:
        for _ in range(steps):
            tokens = {"stateToken": self.at["stateToken"], "ackToken": self.at["ackToken"]}
            self.at = self._client.call(
                "workflow_advance", **tokens, notesMarkdown="What was done, in a sentence."
            )


def measure(scratch: Path) -> list[Figure]:
    folder = scratch / "data" / "workflows"
    folder.mkdir(parents=True)
    (folder / "bench-loop.json").write_text(json.dumps(WORKFLOW))
    settings = {
        "ASSENT_DATA_DIR": str(scratch / "data"),
        "ASSENT_PORT": str(free_port()),
        "ASSENT_STORAGE_QUOTA_MB": "100000000",
    }
    with ExitStack() as stack:
        process = stack.enter_context(
            subprocess.Popen(
                assent("stdio"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(settings),
            )
        )
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(INITIALIZE)
        process.stdin.flush()
        require(succeeded(process.stdout.readline()), 1, "assent stdio did not answer")
        client = Client(process)
        far = Run(client)
        far.advance(FAR)

        def start() -> None:
            for _ in range(CALLS):
                Run(client)

        def nothing() -> None:
            for _ in range(CALLS):
                client.call("chieflab_list_connectors")

        def fresh() -> None:
            run = Run(client)
            client.spent = 0.0
            run.advance()

        floor = Floor(scratch / "floor.db")
        stack.callback(floor.close)
        for warm_up in (nothing, start, fresh):
            warm_up()
        costs = in_turns(
            {
                "nothing": lambda: client.timed(nothing),
                "start": lambda: client.timed(start),
                "advance": lambda: client.timed(fresh),
                "far": lambda: client.timed(far.advance),
                "commit": floor.commit,
            },
            ROUNDS,
        )
        require(client.successes, FAR + 4 * ROUNDS * CALLS, "calls")
    return [
        compared(
            "workflow_advance over stdio",
            NOTHING,
            "ms",
            costs["advance"],
            costs["nothing"],
            successes=ROUNDS * CALLS,
            limit=Limit(times=3.0),
        ),
        compared(
            "workflow_start over stdio",
            NOTHING,
            "ms",
            costs["start"],
            costs["nothing"],
            successes=ROUNDS * CALLS,
            limit=Limit(times=4.0),
        ),
        compared(
            "workflow_advance over stdio",
            "that call and a bare durable commit",
            "ms",
            costs["advance"],
            [call + commit for call, commit in zip(costs["nothing"], costs["commit"], strict=True)],
            successes=ROUNDS * CALLS,
        ),
        compared(
            f"workflow_advance after {FAR} steps",
            "workflow_advance at the beginning",
            "ms",
            costs["far"],
            costs["advance"],
            successes=ROUNDS * CALLS,
            limit=Limit(times=1.2),
        ),
    ]
