"""Many at once: one effect, one answer that is true, and nothing sent that was not approved as it is."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.effort import rounds
from tests.engine.actions.conftest import gate_over
from tests.engine.actions.kit import APPROVE, EDIT, EXECUTE, PUBLISH, REJECT, WITHDRAW, Gate
from tests.engine.actions.provider import providers
from tests.serving.web.review.kit import BROWSER, form
from tests.surfaces import BASE_URL, Outcome

CLIENTS = 64
HEARD = {None, "execution_in_progress", "requires_approval"}
"""Success, C33's answer while one is in flight, and C33's answer afterwards."""


@pytest.fixture
async def gates(database_url: str, tmp_path: Path) -> AsyncIterator[tuple[Gate, Gate]]:
    """One server, spoken to over HTTP and over stdio."""
    web = gate_over(database_url, tmp_path, "http", providers())
    pipe = Gate(web.app, web.surfaces, web.clock, "stdio")
    try:
        web.workspace_id = (await web.sign_in()).workspace_id
        pipe.key, pipe.workspace_id, pipe.providers = web.key, web.workspace_id, web.providers
        yield web, pipe
    finally:
        await pipe.http.aclose()
        await web.close()


async def browser_of(web: Gate, review_url: str) -> httpx.AsyncClient:
    """Somebody who opened the review link."""
    browser = httpx.AsyncClient(
        transport=web.wire, base_url=BASE_URL, headers={**BROWSER, "Origin": BASE_URL}
    )
    opened = await browser.get(httpx.URL(review_url).raw_path.decode())
    assert opened.status_code == 303
    return browser


async def sixty_four_at_once(web: Gate, pipe: Gate, turn: int) -> Counter[str | None]:
    """Executes of one approved action over both transports, with one key, keys of their own and none, while somebody
    presses *approve and send* on the page."""
    run = await web.run({"connector": "unaware", "body": f"The importer is fast now, for the {turn}. time."})
    action_id = run["actions"][0]["id"]
    await web.done(APPROVE, actionId=action_id)
    browser = await browser_of(web, run["reviewUrl"])
    page = (await browser.get(f"/runs/{run['runId']}")).text

    async def execute(number: int) -> Outcome:
        call: dict[str, Any] = {"actionId": action_id}
        if number % 3:
            call["idempotencyKey"] = "shared" + action_id if number % 3 == 1 else f"{number} {action_id}"
        tool = PUBLISH if number % 4 == 3 else EXECUTE
        return await (web if number % 2 else pipe).call(tool, call)

    async def press() -> None:
        button = form(page, action_id, "send")
        pressed = await browser.post(button.address, data={**button.fields, "name": "Ada"})
        assert pressed.status_code in (303, 409), pressed.text
        await web.run_jobs()

    answers, _ = await asyncio.gather(asyncio.gather(*map(execute, range(CLIENTS))), press())
    await browser.aclose()
    assert len(web.providers["unaware"].of(action_id)) == 1
    done = {msgspec.json.encode(answer.payload, order="sorted") for answer in answers if not answer.is_error}
    assert len(done) <= 1
    for answer in answers:
        assert answer.reason in HEARD, answer.payload
        if answer.reason == "requires_approval":
            assert (answer.payload["status"], answer.payload["externalId"]) == (
                "executed",
                f"post-{action_id}:1",
            )
    record = await web.record(action_id)
    assert (record["status"], record["externalId"]) == ("executed", f"post-{action_id}:1")
    return Counter(answer.reason for answer in answers)


async def rounds_of_sixty_four(gates: tuple[Gate, Gate], turns: int) -> None:
    heard: Counter[str | None] = Counter()
    for turn in range(turns):
        heard += await sixty_four_at_once(*gates, turn)
    assert heard.total() == turns * CLIENTS
    assert heard[None] >= turns // 2, "a run in which nobody succeeds proves nothing"
    assert gates[0].calls == turns


@pytest.mark.prove
@pytest.mark.rule("E29", "E72", "E49")
async def test_sixty_four_clients_over_http_stdio_and_the_page_are_one_effect(
    gates: tuple[Gate, Gate],
) -> None:
    await rounds_of_sixty_four(gates, rounds(3, 25))


# ── approve, edit, withdraw, reject and execute at once ──────────────────────────────────────────


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
