"""A database of an earlier commit opens, verifies, and does what was approved in it.

`tests/data/86bd63e` holds one database for each store, made by that commit through its own tools with the secrets of
these tests, and `facts.json`: which action is in which state, tokens and answers that were given.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.gate.conftest import gate_over
from tests.gate.kit import EXECUTE, GET, Gate
from tests.gate.provider import providers
from tests.postgres_server import Server
from tests.workflows.kit import Player

from assent.engine import audit_log
from assent.engine.audit_log import Signer
from assent.kernel.ids import WorkspaceId
from assent.stores.migrate import migrate

MADE = Path(__file__).parents[1] / "data" / "86bd63e"
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
    verdict = await audit_log.verify(old.app.store, Signer(old.app.known_secrets.master))
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
