"""The store loop on PostgreSQL against raw asyncpg, and against pgbench: same statements, same durability, and as many
connections as the store's pool has. The server is a throwaway one on this machine that syncs every commit."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

import asyncpg
import uvloop
from tests.support.postgres_server import Cluster, binaries

from assent.ports import Statement
from assent.stores.migrate import migrate
from assent.stores.postgres import POOL_SIZE, PostgresStore
from benchmarks.figures import Figure, Limit, NotRun, compared, in_turns, require
from benchmarks.rows.store_loop import (
    BODY,
    CALLERS,
    DIGEST,
    EVENT,
    FLOOR,
    NEW_HEAD,
    NOW_MS,
    PACKED,
    ROUNDS,
    TOOL,
    WORKSPACE,
    Cost,
    FloorTransaction,
    Plan,
    Stopwatch,
    calibrated,
    figures,
    floor_transactions,
    planned,
    through,
)

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

LIMIT: Final = Limit(times=2)
_TPS: Final = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
_FAILED: Final = re.compile(r"^number of failed transactions: (\d+)", re.MULTILINE)


def measure(scratch: Path) -> list[Figure]:
    programs = binaries()
    if programs is None:
        raise NotRun("PostgreSQL's server programs are not installed (Debian: apt-get install postgresql)")
    with ExitStack() as stack:
        cluster = Cluster()
        stack.callback(cluster.delete)
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        runner.run(migrate(cluster.url, NOW_MS))
        store = PostgresStore(cluster.url)
        stack.callback(lambda: runner.run(store.close()))
        connections = runner.run(_connections(cluster.url))
        stack.callback(lambda: runner.run(_close(connections)))
        streams = (f"pgbench-{client}" for client in range(POOL_SIZE))
        runner.run(_make_heads(connections[0], streams))
        pgbench = programs / "pgbench"
        bench = PgBench(pgbench, cluster.url, scratch / "loop.sql") if pgbench.exists() else None
        return [
            line
            for callers in CALLERS
            for line in _lines(runner, store, connections[: min(callers, POOL_SIZE)], bench, callers)
        ]


def _lines(
    runner: asyncio.Runner,
    store: PostgresStore,
    connections: list[Connection],
    bench: PgBench | None,
    callers: int,
) -> list[Figure]:
    each = runner.run(calibrated(store, callers))
    each_connection = max(1, callers * each // len(connections))
    ours = planned(f"ours-{callers}", callers, each)
    theirs = planned(f"floor-{callers}", len(connections), each_connection)
    sides: dict[str, Callable[[], Cost]] = {
        "ours": lambda: runner.run(through(store, ours())),
        "theirs": lambda: runner.run(_bare(connections, theirs())),
    }
    if bench is not None:
        sides["pgbench"] = lambda: bench.run(len(connections), each_connection)
    for side in sides.values():
        side()
    costs = in_turns(sides, ROUNDS)
    stored, floor = (runner.run(_events(connections[0], f"{side}-{callers}-")) for side in ("ours", "floor"))
    require(stored, callers * each * ROUNDS, f"assent on PostgreSQL, {callers} callers, events stored")
    require(
        floor, len(connections) * each_connection * ROUNDS, f"raw asyncpg, {callers} callers, events stored"
    )
    work = f"transaction on PostgreSQL, {callers} caller{'s' * (callers > 1)}"
    lines = figures(
        work,
        f"raw asyncpg, {len(connections)} connection{'s' * (len(connections) > 1)}",
        costs["ours"],
        costs["theirs"],
        successes=stored,
        limit=LIMIT,
    )
    if bench is not None:
        walls = [[cost.wall for cost in costs[side]] for side in ("ours", "pgbench")]
        lines.append(compared(f"{work}, time", "pgbench", "µs", *walls, successes=stored))
    return lines


async def _connections(url: str) -> list[Connection]:
    return [await asyncpg.connect(url) for _ in range(POOL_SIZE)]


async def _close(connections: list[Connection]) -> None:
    for connection in connections:
        await connection.close()


async def _bare(connections: list[Connection], plan: Plan) -> Cost:
    """What the plan costs with nothing but the driver: prepared statements, a loop on each connection."""
    streams = [plan.stream(index) for index in range(plan.callers)]
    await _make_heads(connections[0], streams)
    work = [floor_transactions(stream, plan.each) for stream in streams]
    watch = Stopwatch()
    await asyncio.gather(*(_loop(*pair) for pair in zip(connections, work, strict=True)))
    return watch.cost(plan.transactions)


async def _make_heads(connection: Connection, streams: Iterable[str]) -> None:
    for stream in streams:
        await connection.execute(NEW_HEAD.format(stream=stream))


async def _loop(connection: Connection, work: list[FloorTransaction]) -> None:
    texts = [bound.statement.postgres for bound in FLOOR]
    prepared = [await connection.prepare(text) if text else None for text in texts]
    for transaction in work:
        await connection.execute("BEGIN")
        for statement, values in zip(prepared, transaction, strict=True):
            if statement is not None:
                await statement.fetch(*values)
        await connection.execute("COMMIT")


async def _events(connection: Connection, prefix: str) -> int:
    sql = "SELECT count(*) FROM events WHERE starts_with(stream_id, $1)"
    count: int = await connection.fetchval(sql, prefix)
    return count


class PgBench:
    """The same transaction, sent by PostgreSQL's own load generator."""

    def __init__(self, program: Path, url: str, script: Path) -> None:
        self._program = program
        self._url = url
        self._script = script
        script.write_text(_pgbench_script())

    def run(self, clients: int, transactions: int) -> Cost:
        """What so many transactions of each client cost; the CPU time is not this process's."""
        flags = [
            "--no-vacuum",
            "--protocol=prepared",
            f"--client={clients}",
            f"--transactions={transactions}",
        ]
        command = [str(self._program), *flags, "--jobs=1", f"--file={self._script}", self._url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        require(done.returncode == 0, 1, f"pgbench: {done.stderr}")
        told, failed = _TPS.search(done.stdout), _FAILED.search(done.stdout)
        require(told is not None and (failed is None or failed[1] == "0"), 1, f"pgbench: {done.stdout}")
        assert told is not None
        return Cost(1e6 / float(told[1]), 0.0)


def _pgbench_script() -> str:
    stream = "'pgbench-' || :client_id"
    values = {
        "workspace_id": f"'{WORKSPACE}'",
        "stream_id": stream,
        "now_ms": str(NOW_MS),
        "dated_ms": str(NOW_MS),
        "seq": ":next",
        "previous_hash": ":hash",
        "kind": f"'{EVENT.kind}'",
        "body": f"'{BODY}'",
        "hash": "lpad(CAST(:next AS text), 64, '0')",
        "tool": f"'{TOOL}'",
        "key": f"{stream} || '-' || :next",
        "request_digest": f"'{DIGEST}'",
        "response": f"'\\x{PACKED.hex()}'::bytea",
        "expires_at": str(NOW_MS + 1),
        "holder": "NULL",
    }
    lock, *others = (_filled(text.statement, values) for text in FLOOR if text.statement.postgres)
    lines = [
        "BEGIN;",
        f"{lock} \\gset",
        "\\set next :seq + 1",
        *(f"{sql};" for sql in others),
    ]
    return "\n".join([*lines, "COMMIT;"]) + "\n"


def _filled(statement: Statement, values: dict[str, str]) -> str:
    """The statement with literals and pgbench's variables instead of numbered parameters."""
    return re.sub(r"\$(\d+)", lambda mark: values[statement.params[int(mark[1]) - 1]], statement.postgres)
