"""What a call costs where a workspace has a long history, against one where it has a short one.

Both have 50 actions that wait. The long history is 100,000 actions that went out, each with its run, asset, events,
job, page and measurement, 10,000 sessions of workflows, and 50,000 memory entries; the short one 1,000 actions, 100
sessions and 500 entries. They are copies of one that is posted, approved, executed and edited as in life, and of one
session, a month ago and under other ids, made in the database itself. `BENCH_ACTIONS=1000000` has a million actions and
100,000 sessions.

Held to a limit is the processor time of this process and of the database's, which a busy machine does not blur.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, closing
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple, cast

import asyncpg
import httpx
import msgspec
import uvloop
from tests.support.postgres_server import Cluster, binaries

from assent.app import App
from assent.engine.actions import actions
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.engine.people import people
from assent.engine.workflows.answers import WorkflowAnswer
from assent.gate.effects import EXECUTE
from assent.kernel.ids import ActionId
from assent.processes.serve import Surfaces
from assent.settings.load import load_settings
from assent.tools.approvals import approve_action, edit_action
from assent.tools.client_dialog import ApproveAction, EditAction
from assent.tools.definition import Call
from assent.tools.execution import ExecuteAction, execute_approved
from assent.tools.guide import StatusRequest, status
from assent.tools.workflows import WorkflowAdvance, WorkflowStart, advance_workflow, start_workflow
from assent_launch.component import statements
from assent_launch.tools.prepare import prepare_post
from assent_launch.tools.requests import Post
from benchmarks.figures import Figure, Limit, NotRun, compared, in_turns, require
from benchmarks.machine import cpu_seconds
from benchmarks.rows.gate_growth import COPIED, IDS, NUMBER
from benchmarks.rows.store_loop import Cost
from benchmarks.rows.workflow_steps import WORKFLOW

SIZES: Final = {"long": (int(os.environ.get("BENCH_ACTIONS", "100000")), 50_000), "short": (1_000, 500)}
"""Actions and memory entries."""
ACTIONS_OF_A_SESSION: Final = 10
WAITING: Final = 50
ROUNDS: Final = 15
CALLS: Final = 40
"""Calls of each kind in a round."""
LIMIT: Final = Limit(times=1.3)
MEMORY: Final = "launch_brain_entries"
OF_AN_ACTION: Final = {**COPIED, "action_revisions": "action_id", "launch_site_posts": "action_id"}
OF_A_SESSION: Final = {
    "workflow_sessions": "session_id",
    "workflow_runs": "run_id",
    "workflow_nodes": "run_id",
    "runs": "run_id",
    "streams": "stream_id",
    "events": "stream_id",
}
"""Tables that grow with sessions, and the column that names the session or its run."""
AGO_MS: Final = 30 * 86_400_000
PAST: Final = {"executed_ms": f"executed_ms - {AGO_MS}", "measured_ms": "due_ms"}
"""History is what happened a while ago."""
_numbers: Final = count(2)


class Copies(NamedTuple):
    """Rows of a table that are copied so many times."""

    table: str
    where: str
    times: int


def measure_sqlite(scratch: Path) -> list[Figure]:
    return _on(scratch, "SQLite", dict.fromkeys(SIZES))


def measure_postgres(scratch: Path) -> list[Figure]:
    if binaries() is None:
        raise NotRun("PostgreSQL's server programs are not installed (Debian: apt-get install postgresql)")
    with ExitStack() as stack:
        urls: dict[str, str | None] = {}
        for name in SIZES:
            cluster = Cluster({"fsync": "off", "synchronous_commit": "off"})
            stack.callback(cluster.delete)
            urls[name] = cluster.url
        return _on(scratch, "PostgreSQL", urls)


def _on(scratch: Path, store: str, urls: dict[str, str | None]) -> list[Figure]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        stack = AsyncExitStack()
        try:
            sides = {
                name: runner.run(_ready(stack, scratch / name, url, *SIZES[name]))
                for name, url in urls.items()
            }
            for side in sides.values():
                runner.run(side.round())  # what is cold only once
            costs = in_turns({name: partial(_run, runner, side) for name, side in sides.items()}, ROUNDS)
        finally:
            runner.run(stack.aclose())
    stored, entries = SIZES["long"]
    return [
        compared(
            f"{call} at {stored:,} actions, {stored // ACTIONS_OF_A_SESSION:,} sessions and {entries:,} memory entries"
            f" on {store}, CPU",
            f"the same at {SIZES['short'][0]:,}",
            "µs",
            [each[call].cpu for each in costs["long"]],
            [each[call].cpu for each in costs["short"]],
            successes=ROUNDS * CALLS,
            limit=LIMIT,
            note=f"by the clock {_wall_ratio(costs, call):.2f}×",
        )
        for call in ("post", "approve", "execute", "status", "inbox", "advance")
    ]


def _wall_ratio(costs: dict[str, list[dict[str, Cost]]], call: str) -> float:
    long, short = ([each[call].wall for each in costs[name]] for name in SIZES)
    return median(mine / other for mine, other in zip(long, short, strict=True))


def _run(runner: asyncio.Runner, side: Side) -> dict[str, Cost]:
    return runner.run(side.round())


async def _ready(stack: AsyncExitStack, data_dir: Path, url: str | None, stored: int, entries: int) -> Side:
    """A server with so much history and its owner signed in."""
    (data_dir / "workflows").mkdir(parents=True)
    (data_dir / "workflows" / "bench-loop.json").write_bytes(msgspec.json.encode(WORKFLOW))
    app = _app(data_dir, url)
    await app.prepare()
    first = Side(app, url)
    action_id, run_id = await first.lived()
    session = (await first.start()).session
    plan = [
        Copies(table, "" if table == MEMORY else f"WHERE {column} IN ('{run_id}', '{action_id}')", stored)
        for table, column in OF_AN_ACTION.items()
    ]
    plan += [
        Copies(
            table,
            f"WHERE {column} IN ('{session.run_id}', '{session.session_id}')",
            stored // ACTIONS_OF_A_SESSION,
        )
        for table, column in OF_A_SESSION.items()
    ]
    await app.close()
    if url is None:
        _grow_sqlite(data_dir / "assent.db", plan, stored, entries)
    else:
        await _grow_postgres(url, plan, stored, entries)
    app = _app(data_dir, url)
    stack.push_async_callback(app.close)
    await app.prepare()
    side = Side(app, url)
    await side.sign_in(stack)
    for _ in range(WAITING):
        await side.post()
    return side


def _app(data_dir: Path, url: str | None) -> App:
    given = {
        "ASSENT_DATA_DIR": str(data_dir),
        "ASSENT_RATE_LIMIT_PER_MINUTE": "100000000",
        "ASSENT_PAGE_LIMIT_PER_MINUTE": "100000000",
        "ASSENT_STORAGE_QUOTA_MB": "100000000",
        "RUN_TOKEN_SECRET": "a run token secret for the benchmarks, long enough",
        "ASSENT_SECRET": "a master secret for the benchmarks only, long enough",
        **({"ASSENT_DATABASE_URL": url} if url is not None else {}),
    }
    return App(load_settings({}, given).settings)


class Side:
    """One server, its caller and its reader."""

    def __init__(self, app: App, url: str | None) -> None:
        self._app = app
        self._url = url
        self._browser: httpx.AsyncClient | None = None

    async def sign_in(self, stack: AsyncExitStack) -> None:
        app = self._app
        entropy, now_ms = os.urandom(people.ENTROPY_BYTES), app.clock.now_ms()
        token = await app.store.write(lambda: people.issue_link(entropy, now_ms, shown_to="terminal"))
        transport = httpx.ASGITransport(app=Surfaces(app).site())
        self._browser = httpx.AsyncClient(transport=transport, base_url=app.settings.base_url)
        stack.push_async_callback(self._browser.aclose)
        signed_in = await self._browser.post(f"/sign-in/{token}", data={})
        require(int(signed_in.status_code == 303), 1, "signing in")

    async def _next(self) -> Call:
        await asyncio.sleep(0)
        return Call(self._app.owner_services, LOCAL_PRINCIPAL, "local", "", self._app.clock.now_ms())

    async def post(self) -> str:
        """The id of an action that waits for approval."""
        number = next(_numbers)
        text = f"We rebuilt the importer last week. It now reads {number} million rows in nine seconds."
        request = Post(channel="site", title=f"A faster importer, number {number}", body=text)
        reply = await prepare_post(await self._next(), request)
        assert reply.publish_action is not None
        return reply.publish_action.id

    async def approve(self, action_id: str) -> None:
        await approve_action(await self._next(), ApproveAction(action_id=action_id))

    async def execute(self, action_id: str) -> None:
        await execute_approved(await self._next(), ExecuteAction(action_id=action_id), tool=EXECUTE)

    async def status(self) -> None:
        await status(await self._next(), StatusRequest())

    async def inbox(self) -> None:
        assert self._browser is not None
        found = await self._browser.get("/inbox")
        require(int(found.status_code == 200), 1, "the inbox")

    async def start(self) -> WorkflowAnswer:
        """A run of a workflow that was advanced once, in a session of its own."""
        begun = await start_workflow(
            await self._next(), WorkflowStart(workflow_id="bench-loop", context={"more": True})
        )
        return await self.advance(cast("WorkflowAnswer", begun.reply))

    async def advance(self, at: WorkflowAnswer) -> WorkflowAnswer:
        request = WorkflowAdvance(
            state_token=at.state_token, ack_token=at.ack_token, notes_markdown="What was done, in a sentence."
        )
        return cast("WorkflowAnswer", (await advance_workflow(await self._next(), request)).reply)

    async def lived(self) -> tuple[str, str]:
        """The ids of an action that was edited, approved and executed, and of its run."""
        action_id = await self.post()
        text = (
            "We rebuilt the importer. It reads a million rows in nine seconds, and says which row is wrong."
        )
        await edit_action(await self._next(), EditAction(action_id=action_id, body=text))
        place = LOCAL_PRINCIPAL.workspace_id
        shown, _ = await self._app.store.read(lambda: actions.find(place, ActionId(action_id)))
        await approve_action(await self._next(), ApproveAction(action_id=action_id, digest=shown.digest))
        await self.execute(action_id)
        return action_id, shown.run_id

    async def round(self) -> dict[str, Cost]:
        """What a call of each kind costs, in microseconds."""
        made: list[str] = []
        at = await self.start()
        clock = await self._clock()

        async def advance() -> None:
            nonlocal at
            at = await self.advance(at)

        async def post() -> None:
            made.append(await self.post())

        costs = {"post": await self._each(clock, [post] * CALLS)}
        for name, call in (("approve", self.approve), ("execute", self.execute)):
            costs[name] = await self._each(clock, [partial(call, action_id) for action_id in made])
        costs["status"] = await self._each(clock, [self.status] * CALLS)
        costs["inbox"] = await self._each(clock, [self.inbox] * CALLS)
        costs["advance"] = await self._each(clock, [advance] * CALLS)
        return costs

    async def _each(self, clock: Callable[[], float], calls: list[Callable[[], Awaitable[None]]]) -> Cost:
        began, spent = time.perf_counter(), clock()
        for call in calls:
            await call()
        each = 1e6 / len(calls)
        return Cost((time.perf_counter() - began) * each, (clock() - spent) * each)

    async def _clock(self) -> Callable[[], float]:
        """The processor time of this process and of the database's connections to it."""
        pids = [os.getpid()]
        if self._url is not None:
            connection = await asyncpg.connect(self._url)
            rows = await connection.fetch(
                "SELECT pid FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
            await connection.close()
            pids += [row["pid"] for row in rows]
        return lambda: sum(map(cpu_seconds, pids))


def _values(columns: list[str], other_id: str) -> str:
    """The columns of a copy: under another id of the same length, a while ago."""
    changed = {name: other_id.replace("?", name) for name in (*IDS, "session_id", "post_id")} | PAST
    return ", ".join(changed.get(name, name) for name in columns)


def _times(copies: Copies, rows: int, entries: int) -> int:
    """How many copies of each row make the wanted number."""
    return entries // rows if copies.table == MEMORY else copies.times


def _grow_sqlite(path: Path, plan: list[Copies], stored: int, entries: int) -> None:
    other_id = "substr(?, 1, 24) || printf('%012x', copy) || substr(?, 37)"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA synchronous = OFF")  # nothing that is copied was promised to anybody
        for copies in plan:
            table = copies.table
            told = connection.execute(f"PRAGMA table_xinfo({table})").fetchall()
            columns = [name for _, name, _, _, _, _, hidden in told if not hidden and name != NUMBER]
            found = connection.execute(f"SELECT count(*) FROM {table} {copies.where}").fetchone()[0]
            rows = _count(found, table)
            connection.execute(
                "WITH RECURSIVE copies (copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies"
                f" WHERE copy < {_times(copies, rows, entries)}),"
                f" lived AS MATERIALIZED (SELECT * FROM {table} {copies.where})"
                f" INSERT OR IGNORE INTO {table} ({', '.join(columns)})"
                f" SELECT {_values(columns, other_id)} FROM lived, copies"
            )
        connection.execute(statements.index_brain_words.statement.sqlite)
        connection.execute("INSERT INTO launch_brain_words (launch_brain_words) VALUES ('optimize')")
        for table, least in (("actions", stored), (MEMORY, entries * 9 // 10)):
            require(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0], least, table)


async def _grow_postgres(url: str, plan: list[Copies], stored: int, entries: int) -> None:
    other_id = "substr(?, 1, 24) || lpad(to_hex(copy), 12, '0') || substr(?, 37)"
    connection = await asyncpg.connect(url)
    try:
        for copies in plan:
            table = copies.table
            told = await connection.fetch(
                "SELECT column_name FROM information_schema.columns"
                " WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER'",
                table,
            )
            columns = [row[0] for row in told if row[0] != NUMBER]
            found = await connection.fetchval(f"SELECT count(*) FROM {table} {copies.where}")
            rows = _count(found, table)
            await connection.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {_values(columns, other_id)}"
                f" FROM (SELECT * FROM {table} {copies.where}) AS lived,"
                f" generate_series(1, {_times(copies, rows, entries)}) AS copies (copy)"
                " ON CONFLICT DO NOTHING"
            )
        await connection.execute("VACUUM ANALYZE")  # as a database that has been in use has been
        for table, least in (("actions", stored), (MEMORY, entries * 9 // 10)):
            require(await connection.fetchval(f"SELECT count(*) FROM {table}"), least, table)
    finally:
        await connection.close()


def _count(rows: Any, table: str) -> int:
    require(rows, 1, f"rows of {table} to copy")
    return int(rows)
