"""A database of an earlier commit opens, verifies, and does what was approved in it.

`tests/data/86bd63e` holds one database for each store, made by that commit through its own tools with the secrets of
these tests, and `facts.json`: which action is in which state, tokens and answers that were given.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.engine.actions.conftest import gate_over
from tests.engine.actions.kit import EXECUTE, GET, Gate
from tests.engine.actions.provider import providers
from tests.engine.workflows.kit import Player
from tests.postgres_server import Server

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.engine.views import memory_views
from assent.engine.views.memory_views import GROUPS, MemoryFilter
from assent.kernel.ids import WorkspaceId
from assent.stores.migrate import migrate

MADE = Path(__file__).parents[2] / "data" / "86bd63e"
FACTS: dict[str, Any] = json.loads((MADE / "facts.json").read_text())
STATES = {
    "awaiting": "awaiting_approval",
    "approved": "approved",
    "approved_by_person": "approved",
    "scheduled": "approved",
    "scheduled_waiting": "awaiting_approval",
    "edited": "approved",
    "unknown": "outcome_unknown",
    "executed": "executed",
    "executed_under_a_key": "executed",
    "rejected": "rejected",
    "failed": "failed",
    "retryable": "retryable",
    "mail": "approved",
}
TWO_HOURS_SECONDS = 2 * 3600


OLD_READINGS = [
    {"source": "zernio", "channel": "linkedin", "status": "ok", "reason": None}
    | {"metrics": {"impressions": 1234, "views": 1300, "reach": 1000, "likes": 161, "engagementRate": 0.05}},
    {"source": "zernio", "channel": "x", "status": "ok", "metrics": {"engagementRate": 0.05}, "reason": None},
]
OLD_WHY = "linkedin brought 161 responses from 3,534 views. Earlier runs averaged 5,301.5."
OLD_MEASUREMENT = {
    "measuredAt": "2026-08-01T12:00:00.000Z",
    "sources": OLD_READINGS,
    "totals": {"impressions": 1234, "views": 1300, "reach": 1000, "likes": 161, "engagementRate": 0.1},
    "baseline": {"runs": 2, "averages": {"delivered": 0.5}},
    "nextMove": {"move": "Follow up on linkedin.", "why": OLD_WHY, "channel": "linkedin"},
}
OLD_NUMBERS = f"""
UPDATE measurements SET measured_ms = due_ms, asset_id = run_id, body = '{json.dumps(OLD_MEASUREMENT)}'
WHERE run_id = (SELECT min(run_id) FROM measurements);
INSERT INTO assets (workspace_id, asset_id, run_id, tenant_id, type, title, body, metadata, created_ms)
SELECT workspace_id, run_id, run_id, tenant_id, 'measurement', 'What became of it', '{OLD_WHY}',
       '{json.dumps({"measurement": OLD_MEASUREMENT})}', measured_ms
FROM measurements WHERE measured_ms IS NOT NULL;
INSERT INTO brain_entries
  (workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, facts, natural_key, created_ms)
SELECT workspace_id, run_id, tenant_id, 'channel_performance', 'linkedin: {OLD_WHY}', 'confirmed', 'zernio', 'linkedin',
       run_id, '{json.dumps({"metrics": {"views": 1300}, "nextMove": "x", "angle": ""})}', 'performance:' || run_id, 0
FROM measurements WHERE measured_ms IS NOT NULL;
INSERT INTO brain_entries
  (workspace_id, entry_id, tenant_id, kind, body, state, source, channel, run_id, facts, natural_key, created_ms)
SELECT workspace_id, 'c' || run_id, tenant_id, 'approval', 'Approved for contacts: Dana, 0664 1', 'confirmed',
       'decision', 'contacts', run_id, '{{}}', 'approval:' || run_id, 0
FROM measurements WHERE measured_ms IS NOT NULL;
"""
"""Rows as that commit wrote them for the numbers above, with sums that are not true, and for a saved contact."""


class Old(Gate):
    """A server of today over a database of then."""

    facts: dict[str, Any]

    def id_of(self, name: str) -> str:
        found: str = self.facts["actions"][name]
        return found


@pytest.fixture
def old_url(request: pytest.FixtureRequest, database: str, tmp_path: Path) -> str:
    """The database of then, as it was."""
    if database == "sqlite":
        file = tmp_path / "assent.db"
        file.write_bytes(gzip.decompress((MADE / "sqlite.db.gz").read_bytes()))
        return f"sqlite:///{file}"
    server: Server = request.getfixturevalue("postgres_server")
    url: str = request.getfixturevalue("empty_postgres_url")
    server.run_on(url, gzip.decompress((MADE / "postgres.sql.gz").read_bytes()).decode())
    return url


@pytest.fixture
def old_numbers(request: pytest.FixtureRequest, old_url: str, database: str) -> None:
    """A run of that database was measured by the rules of then."""
    if database == "sqlite":
        with closing(sqlite3.connect(old_url.removeprefix("sqlite:///"))) as file:
            file.executescript(OLD_NUMBERS)
        return
    server: Server = request.getfixturevalue("postgres_server")
    server.run_on(old_url, OLD_NUMBERS)


@pytest.fixture
async def old(old_url: str, database: str, transport: str, tmp_path: Path) -> AsyncIterator[Old]:
    await migrate(old_url, 0)
    gate = gate_over(old_url, tmp_path, transport, providers(), kind=Old)
    assert isinstance(gate, Old)
    gate.facts = FACTS[database]
    gate.key, gate.workspace_id = gate.facts["apiKey"], WorkspaceId(gate.facts["workspaceId"])
    yield gate
    await gate.close()


async def test_every_action_is_in_the_state_it_was_left_in(old: Old) -> None:
    assert {name: await old.where(old.id_of(name)) for name in STATES} == STATES
    assert set(old.facts["actions"]) == set(STATES)


async def test_its_journal_verifies(old: Old) -> None:
    await old.app.prepare()
    verdict = await audit_log.verify(old.app.store, Signer(old.app.keys.master))
    assert verdict.findings == ()
    assert verdict.events > len(STATES)


@pytest.mark.parametrize("name", ["approved", "approved_by_person", "edited", "mail", "retryable"])
async def test_what_was_approved_goes_out_once(old: Old, name: str) -> None:
    action_id = old.id_of(name)
    approved = (await old.done(GET, actionId=action_id))["digest"]
    await old.done(EXECUTE, actionId=action_id)
    assert [(sent.action_id, sent.digest) for sent in old.ledger] == [(action_id, approved)]
    assert (await old.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"


async def test_what_was_scheduled_goes_out_at_its_time_and_nothing_else_does(old: Old) -> None:
    await old.run_jobs()
    before = len(old.ledger)
    old.clock.advance(seconds=TWO_HOURS_SECONDS - 1)
    await old.run_jobs()
    assert old.id_of("scheduled") not in [sent.action_id for sent in old.ledger]
    old.clock.advance(seconds=2)
    await old.run_jobs()
    assert [sent.action_id for sent in old.ledger].count(old.id_of("scheduled")) == 1
    assert await old.where(old.id_of("scheduled_waiting")) == "awaiting_approval"
    assert len(old.ledger) == before + 1


async def test_what_was_not_approved_stays_where_it_is(old: Old) -> None:
    for name in ("awaiting", "scheduled_waiting", "rejected", "unknown", "failed", "executed"):
        await old.denied(EXECUTE, actionId=old.id_of(name))
    assert old.calls == 0


async def test_an_answer_that_was_given_is_given_again(old: Old) -> None:
    replay = old.facts["replay"]
    assert await old.done(replay["tool"], **replay["arguments"]) == replay["answer"]
    assert old.calls == 0


async def test_a_review_link_that_was_given_out_opens(old: Old) -> None:
    opened = await old.http.get(old.facts["reviewUrl"])
    assert opened.status_code == 303


async def test_a_workflow_goes_on_where_it_was(old: Old, tmp_path: Path) -> None:
    play = Player(old, tmp_path / "workflows")
    given = old.facts["workflow"]
    again = await play.advance(given["start"], notesMarkdown="first done")
    assert again["stateToken"] == given["second"]["stateToken"]
    assert (await play.advance(given["second"]))["pending"]["stepId"] == "three"
    confirmed = given["confirmation"]
    passed = await play.advance(confirmed["at"], notesMarkdown=confirmed["notes"])
    assert passed["pending"]["stepId"] == "after"
    assert await play.journal_holds()


@pytest.mark.rule("E100")
async def test_numbers_that_earlier_rules_added_are_not_told_any_more(old_numbers: None, old: Old) -> None:
    run_id = min(each["runId"] for each in (await old.done("chieflab_status"))["measured"])
    true = "LinkedIn: 1,234 impressions, 161 likes."

    status = await old.done("chieflab_status")
    run = await old.done("chieflab_get_run", runId=run_id)
    assets = await old.done("chieflab_list_assets", runId=run_id)
    memory = await old.done("chieflab_brain_read", kind="channel_performance")

    [told] = status["measured"]
    assert told["totals"] == {"impressions": 1234, "views": 1300, "likes": 161}
    assert true in told["results"]
    [asset] = [each for each in run["assets"] if each["type"] == "measurement"]
    assert asset in assets["assets"]
    assert true in asset["body"]
    assert asset["metadata"]["measurement"]["rules"] == 2
    assert asset["metadata"]["measurement"]["baseline"] == []
    assert memory["entries"] == []
    for shown in (status, run, assets, memory):
        assert "3,534" not in json.dumps(shown) and "5,301.5" not in json.dumps(shown)


async def test_a_memory_of_earlier_rules_is_kept_retired_with_its_reason(old_numbers: None, old: Old) -> None:
    await old.app.prepare()
    page = await old.app.store.read(
        lambda: memory_views.entries(old.workspace_id, MemoryFilter(kinds=("channel_performance",)), 9)
    )
    [entry] = page.entries
    assert (entry.state, entry.facts["retiredBecause"]) == ("retired", "earlier_rules")
    assert entry.facts["metrics"] == {"views": 1300}
    confirm = partial(memory_views.decide, old.workspace_id, entry.entry_id, "confirmed", "Ada", 0)
    assert not await old.app.store.write(confirm)


async def test_a_contact_that_was_remembered_is_told_to_no_agent_any_more(
    old_numbers: None, old: Old
) -> None:
    told = await old.done("chieflab_brain_read", limit=50)
    assert told["entries"]
    assert "Dana" not in json.dumps(told)


@pytest.mark.rule("E33")
async def test_what_earlier_rules_learned_shapes_no_draft_and_says_why(old: Old) -> None:
    await old.app.prepare()
    every_kind = tuple(kind for kinds in GROUPS.values() for kind in kinds)
    page = await old.app.store.read(
        lambda: memory_views.entries(old.workspace_id, MemoryFilter(kinds=every_kind, state="retired"), 50)
    )
    told = await old.done("chieflab_brain_read", limit=50)

    because = {(entry.kind, entry.channel, entry.facts["retiredBecause"]) for entry in page.entries}
    assert because == {("edit", "linkedin", "word_diff"), ("approval", "workflow", "workflow_step")}
    assert not {entry.entry_id for entry in page.entries} & {entry["entryId"] for entry in told["entries"]}
