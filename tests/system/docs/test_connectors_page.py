"""The page about connectors: its code is a channel that a person connects, reviews, and that is measured."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from tests.support.actions.kit import EDIT, EXECUTE, Gate
from tests.support.connections.kit import connect
from tests.support.docs.mastodon_server import CLIENT, Mastodon
from tests.support.docs.pages import block_of, blocks_of
from tests.support.extensions.fixtures import gate_with
from tests.support.surfaces import signed_in

from assent.gate.records import Assurance
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import Outcome, all_serving

PAGE = "connectors.md"
TOOL = "acme_social_mastodon_toot"
TEXT = "The importer reads a million rows in nine seconds since Tuesday."


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["python"]


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[Mastodon]:
    made = Mastodon(Ledger(tmp_path / "ledger.jsonl"), CLIENT)
    async with all_serving((made,)):
        yield made


@pytest.fixture
async def surface(
    transport: str, database_url: str, tmp_path: Path, provider: Mastodon, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Gate]:
    monkeypatch.setenv("MASTODON_URL", provider.url)
    monkeypatch.setenv("MASTODON_CLIENT_ID", CLIENT.client_id)
    monkeypatch.setenv("MASTODON_CLIENT_SECRET", CLIENT.client_secret or "")
    file = tmp_path / "social.py"
    file.write_text(block_of(PAGE, "python"))
    gate = gate_with((str(file),), database_url, tmp_path, transport, allow_hosts=("127.0.0.1",))
    provider.now_ms = gate.clock.now_ms
    async with signed_in(gate):
        assert gate.app.extensions.failures == ()
        yield gate


async def test_a_message_waits_for_the_connection_goes_out_once_and_is_measured(
    surface: Gate, provider: Mastodon
) -> None:
    prepared = await surface.done(TOOL, body=TEXT, link="https://acme.example/news")
    (action,) = prepared["actions"]
    assert not action["preflight"]["connectorReady"]
    await connect(surface.app, "mastodon", surface.workspace_id)
    for body in (TEXT * 10, "Buy now #ad"):
        assert (await surface.denied(EDIT, actionId=action["id"], body=body))["problems"][0]["path"] == "body"
    await surface.approve_as(Assurance.PERSON, action["id"])
    done = await surface.done(EXECUTE, actionId=action["id"])
    assert done["externalUrl"] == "https://social.example/1"
    (status,) = provider.statuses.values()
    assert (status["status"], status["link"]) == (TEXT, "https://acme.example/news")
    surface.clock.advance(days=2)
    measured = await surface.done("chieflab_measure", runId=prepared["runId"])
    assert b'"likes":7' in msgspec.json.encode(measured)


async def test_a_lost_answer_is_read_back_and_not_sent_again(surface: Gate, provider: Mastodon) -> None:
    await connect(surface.app, "mastodon", surface.workspace_id)
    prepared = await surface.done(TOOL, body=TEXT)
    action_id = prepared["actions"][0]["id"]
    await surface.approve_as(Assurance.PERSON, action_id)
    provider.plan(Outcome.RESET_AFTER)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown"
    surface.clock.advance(seconds=5)
    await surface.run_jobs()
    assert (await surface.record(action_id))["externalId"] == "1"
    assert len(provider.statuses) == 1
