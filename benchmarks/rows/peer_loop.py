"""The loop that users get, against the same loop in other frameworks, in process: `PEERS=1` measures it.

Ours is over HTTP with a key, with content checks, a journal and a policy; a peer has no transport, no key and no
record of who approved (docs/performance.md says what each guarantees). All are durable before they answer. Ours and the
peers of a store take turns; each has a file or a database of its own on the same disk. With one caller, ours is also
measured in process (`gate_world`), so that the table shows how much of the difference is the transport.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from assent.app import App
from benchmarks.figures import Figure, Limit, NotRun, compared, in_turns, require
from benchmarks.machine import ROOT, environment
from benchmarks.rows.fleet_loop import (
    count_executed,
    create_database,
    roamers,
    run,
    serve_fleet,
    start_cluster,
)
from benchmarks.rows.gate_loop import inside
from benchmarks.rows.gate_world import BODY, Insider, database, in_status, world
from benchmarks.rows.user_loop import MANY, WARM_UP, User, post_all, serve_users

PYTHON: Final = ROOT / ".peers-bench" / "bin" / "python"
LOOPS: Final = {1: 20, MANY: 5}
"""Loops of each caller in a round, by the number of callers."""
ROUNDS: Final = 7
AHEAD: Final = Limit(times=1)


class Peer(msgspec.Struct, frozen=True):
    """Another framework's loop, and the limits that ours is held to."""

    name: str
    script: str
    many: Limit | None = None
    """With several callers over HTTP."""
    one: Limit | None = None
    """With one caller over HTTP."""
    inside: Limit | None = None
    """With one caller in process, as the peer is."""


ON_SQLITE: Final = (
    Peer("LangGraph on SQLite", "langgraph_loop.py", AHEAD, Limit(times=1.25), Limit(times=0.5)),
    Peer("Pydantic AI, its history in SQLite", "pydantic_loop.py"),
)
ON_POSTGRES: Final = (
    Peer("LangGraph on PostgreSQL", "langgraph_loop.py", AHEAD, Limit(times=1.8), AHEAD),
    Peer("DBOS on PostgreSQL", "dbos_loop.py"),
)


class PeerProcess:
    """A peer's process, which runs as many loops as it is told."""

    def __init__(self, script: str, place: str) -> None:
        self._process = subprocess.Popen(
            [PYTHON, ROOT / "benchmarks" / "peers" / script, place, BODY.format(2)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment({}),
        )

    def run(self, callers: int, loops: int) -> float:
        """Microseconds for each loop, all callers at work at once."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{callers} {loops}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        require(bool(answer), 1, "loops of the peer")
        return float(answer) / (callers * loops) * 1e6

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measure(scratch: Path) -> list[Figure]:
    if os.environ.get("PEERS") != "1":
        raise NotRun("PEERS=1 was not asked for")
    subprocess.run([ROOT / "scripts" / "peers.sh", "bench"], check=True)
    if not PYTHON.exists():
        raise NotRun("the peers' packages could not be installed")
    return [*_on_sqlite(scratch / "sqlite"), *_on_postgres(scratch / "postgres")]


def _on_sqlite(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        data_dir = scratch / "data"
        data_dir.mkdir(parents=True)
        users, _ = serve_users(stack, runner, data_dir)
        peers: dict[Peer, PeerProcess] = {}
        for number, peer in enumerate(ON_SQLITE):
            place = scratch / f"peer-{number}"
            place.mkdir()
            peers[peer] = _start(stack, peer, str(place))
        insider = _enter(stack, runner, world(scratch / "beside", one_client=True))
        return _compare(
            "SQLite", runner, users, insider, peers, lambda: in_status(database(data_dir), "executed")
        )


def _on_postgres(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        scratch.mkdir()
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        url = start_cluster(stack).url
        ports, key = serve_fleet(stack, runner, scratch, url, 1)
        users = roamers(stack, ports, key)
        runner.run(post_all(users[:1], WARM_UP))
        peers: dict[Peer, PeerProcess] = {}
        for number, peer in enumerate(ON_POSTGRES):
            place = runner.run(create_database(url, f"peer_{number}"))
            peers[peer] = _start(stack, peer, place)
        own = runner.run(create_database(url, "beside"))
        insider = _enter(stack, runner, world(scratch / "beside", url=own))
        return _compare("PostgreSQL", runner, users, insider, peers, lambda: runner.run(count_executed(url)))


def _start(stack: ExitStack, peer: Peer, place: str) -> PeerProcess:
    process = PeerProcess(peer.script, place)
    stack.callback(process.close)
    process.run(1, WARM_UP)
    return process


def _enter(stack: ExitStack, runner: asyncio.Runner, app: App) -> Insider:
    insider = Insider(app)
    stack.callback(lambda: runner.run(app.close()))
    runner.run(inside(insider, WARM_UP))
    return insider


def _compare(
    store: str,
    runner: asyncio.Runner,
    users: list[User],
    insider: Insider,
    peers: dict[Peer, PeerProcess],
    count: Callable[[], int],
) -> list[Figure]:
    found: list[Figure] = []
    for callers, loops in LOOPS.items():
        sides: dict[str, Callable[[], float]] = {
            peer.name: partial(process.run, callers, loops) for peer, process in peers.items()
        }
        for side in sides.values():
            side()
        work = f"post, approve, execute, {callers} caller{'s' * (callers > 1)} over HTTP on {store}, time"
        sides["ours"] = partial(run, runner, users[:callers], loops)
        if callers == 1:
            sides["inside"] = lambda loops=loops: runner.run(inside(insider, loops)).wall  # type: ignore[misc]
        before = count()
        costs = in_turns(sides, ROUNDS)
        done = count() - before
        require(done, callers * loops * ROUNDS, f"{work}: actions executed")
        for peer in peers:
            against, theirs = f"{peer.name}, in process", costs[peer.name]
            if callers > 1:
                found.append(
                    compared(work, against, "µs", costs["ours"], theirs, successes=done, limit=peer.many)
                )
                continue
            alike = compared(
                f"stage, approve, execute, 1 caller in process on {store}, time",
                against,
                "µs",
                costs["inside"],
                theirs,
                successes=loops * ROUNDS,
                limit=peer.inside,
            )
            note = f"in process, without HTTP, key and post operator, {alike.ratio:.2f}×"
            found += [
                compared(
                    work, against, "µs", costs["ours"], theirs, successes=done, limit=peer.one, note=note
                ),
                alike,
            ]
    return found
