"""Tokens: what is refused, with which reason, and that nothing changes (W1–W10)."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.surfaces import MASTER, START_MS, ManualClock, Surface, settings_for
from tests.support.workflows.kit import WorkflowClient, three_steps

from assent.app import App
from assent.kernel.ids import RunId, uuid7
from assent.kernel.tokens import decode
from assent.workflow.tokens import TokenClaims, mint

pytestmark = pytest.mark.every_surface
ONE_SURFACE = pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
"""For hundreds of texts that are no token: neither the transport nor the store reads one."""

OTHER = "another master secret for the tests, long enough"
THIRD = "a third master secret for the tests only, long enough"


@pytest.mark.rule("W1")
@ONE_SURFACE
async def test_a_token_altered_at_any_position_is_refused_and_changes_nothing(client: WorkflowClient) -> None:
    at = await client.start()
    before = await client.tables()
    refused = set()
    for name in ("stateToken", "ackToken"):
        token = at[name]
        for position in range(len(token)):
            for other in "AZ!é":
                if other != token[position]:
                    altered = {**at, name: token[:position] + other + token[position + 1 :]}
                    refused.add(await client.reason(altered))
    assert refused == {"token_bad_signature"}
    assert await client.tables() == before


@pytest.mark.rule("W2")
@ONE_SURFACE
@pytest.mark.parametrize("name", ["stateToken", "ackToken"])
async def test_what_is_cut_short_garbage_or_empty_is_no_token(client: WorkflowClient, name: str) -> None:
    at = await client.start()
    token: str = at[name]
    bad = [
        "",
        " ",
        "garbage",
        "st.v1.",
        "ack.v1.",
        "st.v1",
        f" {token}",
        f"{token} ",
        token + "A",
        token.upper(),
    ]
    bad += [token[:length] for length in range(len(token))]
    bad += [token.replace(".", "_"), token.replace("v1", "1"), f"x{token}", "x" * 60, "st.v1." * 1_000]
    for text in bad:
        assert await client.reason({**at, name: text}) == "token_invalid_format", text


@pytest.mark.rule("W3")
@pytest.mark.parametrize("version", ["v0", "v2", "v9", "v10"])
async def test_a_token_of_another_version_is_refused_by_name(client: WorkflowClient, version: str) -> None:
    at = await client.start()
    for name in ("stateToken", "ackToken"):
        assert (
            await client.reason({**at, name: at[name].replace("v1", version)}) == "token_unsupported_version"
        )
        # What such a token would hold is not ours to judge.
        kind = at[name].partition(".")[0]
        for rest in ("x", "abc", "…", "a.b.c", "x" * 500):
            assert (
                await client.reason({**at, name: f"{kind}.{version}.{rest}"}) == "token_unsupported_version"
            )


@pytest.mark.rule("W4")
async def test_a_token_of_the_wrong_kind_is_a_mismatch(client: WorkflowClient) -> None:
    at = await client.start()
    swapped = {"stateToken": at["ackToken"], "ackToken": at["stateToken"]}
    assert await client.reason(swapped) == "token_scope_mismatch"
    assert await client.reason({**at, "ackToken": at["stateToken"]}) == "token_scope_mismatch"
    rehydrated = await client.ask("workflow_advance", stateToken=at["ackToken"])
    assert rehydrated.reason == "token_scope_mismatch"
    kept = await client.ask("workflow_checkpoint", stateToken=at["ackToken"], notesMarkdown="x")
    assert kept.reason == "token_scope_mismatch"


@pytest.mark.rule("W5")
async def test_an_ack_of_another_run_snapshot_or_workflow_is_a_mismatch(client: WorkflowClient) -> None:
    client.write(three_steps("twin"))
    first, second, twin = await client.start(), await client.start(), await client.start("twin")
    later = await client.advance(first)
    before = await client.tables()
    for at, ack in ((first, second), (first, twin), (twin, first), (first, later), (later, first)):
        assert await client.reason({**at, "ackToken": ack["ackToken"]}) == "token_scope_mismatch"
    assert await client.tables() == before


@pytest.mark.rule("W8")
async def test_a_token_of_another_workspace_answers_as_one_that_nobody_knows(client: WorkflowClient) -> None:
    at = await client.start()
    keys = client.surface.app.keys.workflow_tokens
    run = RunId(at["session"]["runId"])
    unknown_node = {
        "stateToken": mint(keys, TokenClaims("st", run, 7)),
        "ackToken": mint(keys, TokenClaims("ack", run, 7)),
    }
    nowhere = RunId(uuid7(START_MS, bytes(10)))
    unknown_run = {
        "stateToken": mint(keys, TokenClaims("st", nowhere, 0)),
        "ackToken": mint(keys, TokenClaims("ack", nowhere, 0)),
    }
    before = await client.tables()
    told = [await client.send(each) for each in (unknown_node, unknown_run)]
    told += [await client.ask("workflow_advance", stateToken=unknown_run["stateToken"])]
    told += [await client.ask("workflow_checkpoint", stateToken=unknown_run["stateToken"], notesMarkdown="x")]
    home = client.workspace_id
    await client.surface.sign_in()
    foreign = [await client.send(at), await client.ask("workflow_advance", stateToken=at["stateToken"])]
    assert {answer.reason for answer in (*told, *foreign)} == {"token_unknown_node"}
    assert all(answer.payload == told[0].payload for answer in foreign)
    assert await client.tables(home) == before
    assert not any(rows for name, rows in (await client.tables()).items() if name.startswith("workflow"))


@pytest.mark.rule("W9")
async def test_tokens_are_short_and_say_nothing(client: WorkflowClient) -> None:
    at = await client.start(context={"ticketId": "SECRET-1"})
    assert re.fullmatch(r"st\.v1\.[A-Za-z0-9_-]{40,}", at["stateToken"])
    assert re.fullmatch(r"ack\.v1\.[A-Za-z0-9_-]{40,}", at["ackToken"])
    assert max(len(at["stateToken"]), len(at["ackToken"])) <= 64
    for readable in (
        "three",
        "SECRET",
        at["session"]["runId"],
        at["session"]["runId"].replace("-", ""),
    ):
        assert readable.lower() not in (at["stateToken"] + at["ackToken"]).lower()
        # Not under the letters of the encoding either.
        for token in (at["stateToken"], at["ackToken"]):
            assert readable.encode() not in base64.urlsafe_b64decode(token.rpartition(".")[2] + "==")


@pytest.mark.rule("W9")
async def test_nothing_in_a_token_can_be_read(client: WorkflowClient) -> None:
    at = await client.start()
    later = await client.advance(at, notesMarkdown="done")
    run = bytes.fromhex(at["session"]["runId"].replace("-", ""))
    bodies = [
        decode(each[name].rpartition(".")[2]) for each in (at, later) for name in ("stateToken", "ackToken")
    ]
    assert not any(run[start : start + 4] in body for body in bodies for start in range(13))
    assert not any(bytes(5) in body for body in bodies)
    assert len({body[:8] for body in bodies}) == len(bodies)


# ── other keys, other processes ──────────────────────────────────────────────────────────────────


class Replica:
    """Another server over the same store, with its own keys and its own time."""

    def __init__(self, client: WorkflowClient, tmp_path: Path, *secrets: str) -> None:
        surface = client.surface
        url = surface.app.settings.database_url
        app = App(settings_for(url, tmp_path, secrets=secrets or (MASTER,)), clock=ManualClock())
        self.surface = Surface(app, surface.transport)
        self.surface.key, self.surface.workspace_id = surface.key, surface.workspace_id
        self.client = WorkflowClient(self.surface, client.folder)

    async def __aenter__(self) -> WorkflowClient:
        return self.client

    async def __aexit__(self, *_: Any) -> None:
        await self.surface.close()


@pytest.mark.rule("W7", "W10")
async def test_a_token_works_on_another_replica_and_gives_the_same_answer(
    client: WorkflowClient, tmp_path: Path
) -> None:
    at = await client.start()
    second = await client.advance(at, notesMarkdown="done")
    async with Replica(client, tmp_path) as other:
        assert await other.advance(at, notesMarkdown="done") == second
        third = await other.advance(second)
    assert await client.advance(second) == third
    assert third["pending"]["stepId"] == "three"


@pytest.mark.own_database
@pytest.mark.rule("W6", "W10")
async def test_after_a_rotation_old_tokens_work_once_more_and_replays_stay_the_same(
    client: WorkflowClient, tmp_path: Path
) -> None:
    at = await client.start()
    second = await client.advance(at, notesMarkdown="done")
    blocked = await client.advance(second)
    async with Replica(client, tmp_path, OTHER, MASTER) as rotated:
        assert await rotated.advance(at, notesMarkdown="done") == second
        assert await rotated.advance(second) == blocked
        fresh = await rotated.rehydrate(second)
        assert fresh["stateToken"] != second["stateToken"]
        assert await rotated.advance(fresh) == blocked
        third = await rotated.advance(fresh, notesMarkdown="a branch")
        assert third["pending"]["stepId"] == "three"
    async with Replica(client, tmp_path, THIRD, OTHER, MASTER) as twice:
        assert await twice.reason(at, notesMarkdown="done") == "token_bad_signature"
        assert await twice.reason(second) == "token_bad_signature"
        assert await twice.advance(fresh, notesMarkdown="a branch") == third
        found = await twice.ask("workflow_resume", workflowId="three-steps")
        assert found.payload["resumed"]["pending"]["stepId"] == "three"


@pytest.mark.own_database
@pytest.mark.rule("W6", "W10", "W11")
async def test_a_replay_brings_the_very_tokens_also_where_nobody_knows_their_key_any_more(
    client: WorkflowClient, tmp_path: Path
) -> None:
    at = await client.start()
    second = await client.advance(at, notesMarkdown="done")
    async with Replica(client, tmp_path, OTHER, MASTER) as once:
        await once.rehydrate(at)
    async with Replica(client, tmp_path, THIRD, OTHER) as twice:
        before = await twice.tables()
        keys, run = twice.surface.app.keys.workflow_tokens, RunId(at["session"]["runId"])
        fresh = {
            "stateToken": mint(keys, TokenClaims("st", run, 0)),
            "ackToken": mint(keys, TokenClaims("ack", run, 0)),
        }
        assert await twice.advance(fresh, notesMarkdown="done") == second
        assert await twice.tables() == before
