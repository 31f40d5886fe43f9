"""The loop that users get, against the same loop in another framework, in process: `PEERS=1` measures it.

Ours is over HTTP with a key, with content checks, a journal and a policy; the peer has no transport, no key and no
record of who approved. Both are durable before they answer, and take turns.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import uvloop

from benchmarks.figures import Figure, Limit, NotRun, compared, in_turns, require
from benchmarks.machine import ROOT
from benchmarks.rows.gate_world import BODY, database, in_status
from benchmarks.rows.user_loop import post_all, serve_users

PYTHON: Final = ROOT / ".peers" / "bin" / "python"
LOOPS: Final = 20
ROUNDS: Final = 7
LIMIT: Final = Limit(times=1)


class Peer:
    """A peer's process, which runs as many loops as it is told."""

    def __init__(self, script: str, scratch: Path) -> None:
        scratch.mkdir()
        self._process = subprocess.Popen(
            [PYTHON, ROOT / "benchmarks" / "peers" / script, scratch, BODY.format(2)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, loops: int) -> float:
        """Microseconds for each loop."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{loops}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        require(bool(answer), 1, "loops of the peer")
        return float(answer) / loops * 1e6

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measure(scratch: Path) -> list[Figure]:
    if os.environ.get("PEERS") != "1":
        raise NotRun("PEERS=1 was not asked for")
    subprocess.run([ROOT / "scripts" / "peers.sh"], check=True)
    if not PYTHON.exists():
        raise NotRun("the peers' packages could not be installed")
    work = "post on the site, approve, execute, 1 caller over HTTP, against a peer"
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        peer = Peer("langgraph_loop.py", scratch / "peer")
        stack.callback(peer.close)
        data_dir = scratch / "data"
        data_dir.mkdir()
        users, _ = serve_users(stack, runner, data_dir)
        peer.run(LOOPS)
        before = in_status(database(data_dir), "executed")
        costs = in_turns(
            {
                "ours": lambda: runner.run(post_all(users[:1], LOOPS)).wall,
                "theirs": lambda: peer.run(LOOPS),
            },
            ROUNDS,
        )
        done = in_status(database(data_dir), "executed") - before
        require(done, LOOPS * ROUNDS, f"{work}: actions executed")
        return [
            compared(
                work,
                "LangGraph on SQLite, in process",
                "µs",
                costs["ours"],
                costs["theirs"],
                successes=done,
                limit=LIMIT,
            )
        ]
