"""The cost of a call does not grow with history: no statement of a hot call reads or sorts the whole of a table that
grows, on either store, where each of these holds many rows: a hundred thousand in a proof.

Plans are what is held here, not times: `make bench` has those.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import asyncpg
import msgspec
import pytest
from benchmarks.rows.gate_growth import COPIED, IDS, NUMBER
from msgspec.structs import astuple
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import APPROVE, PENDING, PUBLISH, STAGE, Gate
from tests.support.actions.provider import providers
from tests.support.actions.trace import Traced
from tests.support.effort import rounds
from tests.support.surfaces import BASE_URL

from assent.engine.people import people
from assent.engine.people.people import OWNER
from assent.ports import Bound, Rows

pytestmark = [pytest.mark.slow, pytest.mark.prove, pytest.mark.own_database]

ROWS: Final = rounds(20_000, 100_000)
FEW: Final = 2_000
"""More rows than any page, run or reading has: who expects to look at more of a growing table reads history."""


WAITING: Final = frozenset(
    {
        "actions_by_risk",
        "actions_waiting",
        "actions_waiting_anywhere",
        "actions_unsent_anywhere",
        "actions_held",
    }
)
"""Indexes that hold what waits for a human or to be sent, and nothing else: no history."""
FREEZES: Final = "what stops the server, one workspace and its agents"
SORTED: Final = {
    "find_action": FREEZES,
    "find_freezes": FREEZES,
    "find_policy_with_freezes": FREEZES,
    "list_workspaces": "no table that grows with use",
    "list_open_signups": "the requests of a day, of which twenty wait at most",
    "list_api_keys": "no table that grows with use",
    "list_run_page": "the runs of one page, picked in the order of an index",
    "list_tenant_waiting": "what waits for one tenant, and what was approved and has not ended",
    "list_first_actions": "a few actions of each run of one page",
    "list_held_groups": "one row for each caller whose proposals are held",
    "list_inbox": "the rows of one page, picked in the order of an index",
    "search_inbox": "as many rows as one search reads, picked in the order of an index",
    "list_with_agent_for": "what waits for its agent, at most the rows of one page",
    "list_stopped_for": "the rows of one page of each sort, picked in the order of an index",
    "list_unknown_for": "the rows of one page, picked in the order of an index",
    "list_done_for": "the rows of one page, and what went out in the same millisecond",
}
"""What is sorted all the same, and why that stays small."""
EVERY_ACTION: Final = tuple(f"SEARCH {name} USING PRIMARY KEY (workspace_id=?)" for name in ("a", "actions"))
"""What SQLite does for the actions of a workspace in one state where no index is named."""
NAMED: Final = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)\s+(?:AS\s+)?(\w+)")
"""A table and the name that a statement gives it: a plan of SQLite has the name."""
BEFORE_MS: Final = 30 * 86_400_000
"""How long ago the copies went out: history, not what was done lately."""


PAGES: Final = (
    "/inbox",
    "/inbox?q=clubs&channel=linkedin",
    "/inbox?tenant=club-7",
    "/runs",
    "/runs?q=clubs&state=executed",
    "/runs?tenant=club-7",
    "/audit",
    "/audit?q=clubs",
    "/results",
    "/results?tenant=club-7",
    "/memory?group=decisions",
    "/operations",
)
"""Pages that are looked at all day."""


class Seen(Traced):
    """Keeps every statement with its values, once for each name."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.bound: dict[str, Bound] = {}

    def _note(self, mode: str, bound: Bound, rows: Rows) -> None:
        self.bound.setdefault(bound.statement.name, bound)


@pytest.fixture
async def gate(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Gate]:
    made = gate_over(database_url, tmp_path, transport, providers())
    await made.sign_in()
    try:
        yield made
    finally:
        await made.close()


async def test_no_statement_of_a_hot_call_reads_or_sorts_a_whole_history(
    gate: Gate, database_url: str
) -> None:
    await sign_in(gate)
    await used(gate)
    seen = Seen.around(gate.app)
    await used(gate)
    assert isinstance(seen, Seen)

    look = long_looks_sqlite if gate.dialect == "sqlite" else long_looks_postgres
    found = await look(database_url, seen.bound)

    assert found == []
    assert {"append_event", "launch.list_usable_entries", "count_inbox", "search_inbox"} <= {*seen.bound}, (
        sorted(seen.bound)
    )


async def used(gate: Gate) -> None:
    """Every hot call: post, approve, execute, what waits, status, the inbox."""
    posted = await gate.call(
        "chieflab_post", {"channel": "linkedin", "body": "We made a small thing for clubs."}
    )
    staged = await gate.call(STAGE, {"effects": [{}]})
    for made in (posted, staged):
        assert made.payload.get("ok"), made.payload
    action_id = staged.payload["actions"][0]["id"]
    for tool in (APPROVE, PUBLISH):
        done = await gate.call(tool, {"actionId": action_id})
        assert done.payload.get("ok"), done.payload
    for tool in (PENDING, "chieflab_status"):
        assert (await gate.call(tool)).payload.get("ok")
        assert (await gate.call(tool, {"tenantId": "club-7"})).payload.get("ok")
    for path in (posted.payload["reviewUrl"], *PAGES):
        assert (await gate.http.get(path, follow_redirects=True)).status_code == 200


async def sign_in(gate: Gate) -> None:
    """As the owner, who sees the inbox of every workspace."""
    entropy, now_ms = os.urandom(people.ENTROPY_BYTES), gate.clock.now_ms()
    link = await gate.app.store.write(
        lambda: people.issue_link(entropy, now_ms, shown_to="terminal", person_id=OWNER)
    )
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": BASE_URL}
    assert (await gate.http.post(f"/sign-in/{link}", headers=headers)).status_code == 303


async def long_looks_sqlite(url: str, bound: dict[str, Bound]) -> list[str]:
    """Without gathered statistics a plan of SQLite is the same for every number of rows."""
    found = []
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        for name, each in bound.items():
            if not each.statement.sqlite:
                continue
            named = NAMED.findall(each.statement.sqlite)
            grown = {*COPIED, *(alias for table, alias in named if table in COPIED)}
            plan = connection.execute(f"EXPLAIN QUERY PLAN {each.statement.sqlite}", astuple(each)).fetchall()
            for *_, detail in plan:
                whole = detail.startswith("SCAN ") and detail.split()[1] in grown
                sorts = detail.startswith("USE TEMP B-TREE") and name not in SORTED
                filters = detail in EVERY_ACTION and "status = '" in each.statement.sqlite
                if filters:
                    found.append(f"{name}: reads every row of a workspace for those in one state")
                if sorts or (whole and detail.split()[-1] not in WAITING):
                    found.append(f"{name}: {detail}")
    return found


async def long_looks_postgres(url: str, bound: dict[str, Bound]) -> list[str]:
    found = []
    connection = await asyncpg.connect(url)
    try:
        for table, run in COPIED.items():
            await connection.execute(await copying(connection, table, run))
        await connection.execute("ANALYZE")
        for name, each in bound.items():
            if not each.statement.postgres:
                continue
            told = await connection.fetchval(
                f"EXPLAIN (FORMAT JSON) {each.statement.postgres}", *astuple(each)
            )
            found += [f"{name}: {node}" for node in long_nodes(msgspec.json.decode(told)[0]["Plan"])]
    finally:
        await connection.close()
    return found


def long_nodes(plan: dict[str, Any]) -> list[str]:
    """The parts of a plan that read or sort more than a page's worth of rows."""
    found = [inner for below in plan.get("Plans", ()) for inner in long_nodes(below)]
    kind, rows = plan["Node Type"], plan["Plan Rows"]
    if kind == "Seq Scan" and plan["Relation Name"] in COPIED:
        found.append(f"Seq Scan on {plan['Relation Name']}")
    if kind == "Sort" and max([rows, *(below["Plan Rows"] for below in plan.get("Plans", ()))]) > FEW:
        found.append(f"Sort of {rows} rows")
    return found


async def copying(connection: asyncpg.Connection, table: str, run: str) -> str:
    """A hundred thousand copies of what a run that was executed and measured has left, under other ids."""
    told = await connection.fetch(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER'",
        table,
    )
    columns = [row[0] for row in told if row[0] != NUMBER]
    past = {"executed_ms": f"executed_ms - {BEFORE_MS}", "measured_ms": "due_ms"}
    values = [
        f"substr({name}, 1, 24) || lpad(to_hex(copy), 12, '0') || substr({name}, 37)"
        if name in IDS
        else past.get(name, name)
        for name in columns
    ]
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)}"
        f" FROM {table}, generate_series(1, {ROWS}) AS copies (copy)"
        f" WHERE substr({run}, 1, 36) IN (SELECT run_id FROM actions WHERE executed_ms IS NOT NULL)"
        " OR substr({run}, 1, 36) IN (SELECT action_id FROM actions WHERE executed_ms IS NOT NULL)"
        " ON CONFLICT DO NOTHING"
    ).replace("{run}", run)
