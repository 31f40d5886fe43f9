"""Decisions and executes at once: nothing is sent that was not approved as it is."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, REJECT, WITHDRAW, Gate
from tests.support.actions.provider import providers
from tests.support.effort import rounds

from assent.engine.actions import actions
from assent.engine.core import journal
from assent.kernel.ids import ActionId
from assent.ports import Transaction

TURNS = 40


@pytest.fixture
async def gates(database_url: str, tmp_path: Path) -> AsyncIterator[tuple[Gate, Gate]]:
    """One server, spoken to over HTTP and over stdio."""
    web = gate_over(database_url, tmp_path, "http", providers())
    pipe = Gate(web.app, "stdio", web.surfaces)
    try:
        await web.sign_in()
        pipe.key, pipe.workspace_id, pipe.providers = web.key, web.workspace_id, web.providers
        yield web, pipe
    finally:
        await pipe.http.aclose()
        await web.close()


AS_SHOWN = "as it is shown now"


async def ask(client: Gate, tool: str, arguments: dict[str, Any]) -> None:
    if arguments.get("digest") == AS_SHOWN:
        arguments["digest"] = (await client.record(arguments["actionId"]))["digest"]
    await client.call(tool, arguments)


async def race(web: Gate, pipe: Gate, chance: random.Random, turn: int) -> str:
    """Everybody at one action at once. Gives its run."""
    run = await web.run({"connector": "unaware", "body": f"Version 0 of {turn}: the importer is fast now."})
    action_id, shown = run["actions"][0]["id"], run["actions"][0]["digest"]
    moves: list[tuple[str, dict[str, Any]]] = [
        (APPROVE, {}),
        (APPROVE, {"digest": shown}),
        (APPROVE, {"digest": AS_SHOWN}),
        (EDIT, {"body": f"Version 1 of {turn}: the importer is much faster now."}),
        (EDIT, {"body": f"Version 2 of {turn}: the importer says what is wrong."}),
        (EXECUTE, {}),
        (EXECUTE, {"idempotencyKey": f"k{turn}"}),
        (EXECUTE, {"idempotencyKey": f"k{turn}"}),
        (WITHDRAW, {}),
    ]
    if chance.random() < 0.5:
        moves = [move for move in moves if move[0] != EDIT]  # an edit makes most of the others stale
    if chance.random() < 0.1:
        moves.append((REJECT, {"reason": "no"}))
    if chance.random() < 0.6:
        await web.done(APPROVE, actionId=action_id)
    chance.shuffle(moves)
    chosen = moves[: chance.randint(3, len(moves))]
    clients = [chance.choice((web, pipe)) for _ in chosen]
    await asyncio.gather(
        *(
            ask(client, tool, {"actionId": action_id, **more})
            for client, (tool, more) in zip(clients, chosen, strict=True)
        )
    )
    run_id: str = run["runId"]
    return run_id


async def judged(web: Gate, run_id: str) -> int:
    """What the ledger shows of a run is what its last approval before the claim covered; how many effects."""
    [action] = (await web.done("chieflab_query_audit", runId=run_id))["actions"]
    effects = web.providers["unaware"].of(action["id"])
    assert len(effects) <= 1
    approved: str | None = None
    claimed: list[str | None] = []
    for event in await web.events(run_id):
        kind, facts = event["kind"], event["facts"]
        if kind == "action_approve":
            approved = facts["digest"]
        elif kind in ("action_edit", "action_withdraw", "action_reject"):
            approved = None
        elif kind == "action_claim":
            assert approved is not None, "claimed without an approval"
            assert facts["digest"] == approved
            claimed.append(approved)
    assert [effect.digest for effect in effects] == claimed
    assert (action["status"] == "executed") is bool(effects)
    return len(effects)


async def races(gates: tuple[Gate, Gate], count: int) -> None:
    web, pipe = gates
    chance = random.Random(20_260_921)  # noqa: S311 - a choice of tests
    effects = 0
    for first in range(0, count, 8):
        turns = range(first, min(first + 8, count))
        runs = await asyncio.gather(*(race(web, pipe, chance, turn) for turn in turns))
        effects += sum([await judged(web, run_id) for run_id in runs])
    assert effects == len(web.ledger)
    assert count // 20 < effects < count, "the races were won by one side only"


@pytest.mark.prove
@pytest.mark.rule("E66", "E64", "E29")
async def test_no_race_of_decisions_and_executes_sends_what_was_not_approved_as_it_is(
    gates: tuple[Gate, Gate],
) -> None:
    await races(gates, rounds(24, 500))


async def test_changes_of_the_actions_of_one_run_at_once_each_see_what_the_others_left(
    gates: tuple[Gate, Gate],
) -> None:
    """On PostgreSQL each waits for the row of the action and for the head of its stream, and reads both anew."""
    web, _ = gates
    two = await web.run({"body": "The importer is fast now."}, {"body": "The importer says what is wrong."})
    ids = [ActionId(each["id"]) for each in two["actions"]]
    before = len(await web.events(two["runId"]))

    def change(action_id: ActionId) -> Transaction[tuple[int, int]]:
        action, _, head, _ = yield from actions.lock(web.workspace_id, action_id)
        assert head is not None
        stored = yield from actions.put_without_event(action)
        end = yield from journal.append_to(head, [journal.NewEvent("changed", {})], web.clock.now_ms())
        return stored.version, end.seq

    changed = [ids[turn % 2] for turn in range(TURNS)]
    ends = await asyncio.gather(*(web.app.store.write(partial(change, each)) for each in changed))
    assert sorted(seq for _, seq in ends) == list(range(before + 1, before + 1 + TURNS))
    versions = [version for version, _ in ends]
    assert sorted(versions) == sorted(2 * [*range(2, 2 + TURNS // 2)])
