"""The page about undo: its function, its section and its rule each take back what they did, after an approval."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.support.actions.kit import EXECUTE, Gate
from tests.support.docs.pages import DOCS, block_of, blocks_of
from tests.support.extensions.fixtures import gate_with
from tests.support.net.stub_server import Answer, stub_server
from tests.support.surfaces import signed_in
from tests.support.wrap.kit import Wrapped

from assent.gate.effects import EffectType
from assent.gate.records import Assurance, Effect
from assent_launch.channels.registry import CONNECTORS
from assent_launch.effect_types import effect_types

PAGE = "undo.md"
UNDO = "chieflab_undo_action"


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["python", "toml", "toml"]


async def undo(surface: Gate, action_id: str) -> str:
    """Approve and execute an action, then its reverse, and return the id of that."""
    for each in ("", UNDO):
        if each:
            action_id = (await surface.done(each, actionId=action_id))["actions"][0]["id"]
        await surface.approve_as(Assurance.PERSON, action_id)
        await surface.ask(EXECUTE, actionId=action_id)
        await surface.run_jobs()
        assert await surface.where(action_id) == "executed", (await surface.stored(action_id)).metadata
    return action_id


@pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
async def test_the_function_of_the_page_takes_back_a_refund(
    transport: str, database_url: str, tmp_path: Path
) -> None:
    module = tmp_path / "billing.py"
    module.write_text(block_of(PAGE, "python"))
    async with signed_in(gate_with((str(module),), database_url, tmp_path, transport)) as surface:
        staged = await surface.done("acme_billing_refund", customer="ada", amount="12.00 EUR")
        action_id = staged["actions"][0]["id"]
        reverse = await undo(surface, action_id)
        assert (await surface.stored(reverse)).external_id == f"cancelled re_{action_id}"


@pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
async def test_the_section_of_the_page_deletes_what_it_posted(
    transport: str, database_url: str, tmp_path: Path
) -> None:
    with stub_server() as stub:
        headers = {"Content-Type": "application/json"}
        stub.answers["/refunds"] = Answer(
            status=201, body=json.dumps({"id": "re_1"}).encode(), headers=headers
        )
        stub.answers["/refunds/re_1"] = Answer(status=200, body=b"{}", headers=headers)
        text = block_of(PAGE, "toml").replace("https://billing.example.com/", stub.url("/"))
        sections = tomllib.loads(text)["effect"]
        gate = gate_with((), database_url, tmp_path, transport, effects=sections, allow_hosts=("127.0.0.1",))
        async with signed_in(gate) as surface:
            action_id = (await surface.done("refund_request", customer="ada"))["actions"][0]["id"]
            reverse = await surface.stored(await undo(surface, action_id))
        assert [(each.method, each.path) for each in stub.asked] == [
            ("POST", "/refunds"),
            ("DELETE", "/refunds/re_1"),
        ]
        assert reverse.effect.arguments == {"receipt": "re_1"}


@pytest.mark.parametrize("database", ["sqlite"])
async def test_the_rule_of_the_page_removes_what_a_call_stored(wrapped: Wrapped) -> None:
    client = await wrapped.open(rules=block_of(PAGE, "toml", 1))
    await client.handshake()
    await client.call("store", path="a", content="new")
    (waiting,) = await wrapped.waiting()
    reverse = await wrapped.stored(await undo(wrapped, waiting["id"]))
    assert wrapped.calls_of("remove") == [{"path": "a"}]
    assert (reverse.view.title, reverse.effect.details["actionId"]) == (f"Undo: {'Store: a'}", waiting["id"])
    assert "text that was there before" in reverse.view.sentence
    await client.close()


def test_the_page_says_of_each_connector_whether_it_can_be_undone() -> None:
    page = (DOCS / PAGE).read_text()
    kinds: dict[str, str] = {}
    for kind in effect_types():
        for name in kind.via:
            kinds[name] = max(kinds.get(name, "no"), _say(kind, name), key=("no", "partly", "yes").index)
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    said = {name.strip(" `"): word.strip() for names, word in rows for name in names.split(",")}
    sends = {each.id for each in CONNECTORS if "publish" in each.does and each.id != "manual"}
    assert {name: kinds[name] for name in kinds if name != "manual"} == said, sends


def _say(kind: EffectType, connector: str) -> str:
    effect = Effect(channel=kind.channel, verb=kind.verb, connector=connector, body="")
    found = kind.find_reverse(effect)
    return "no" if found is None else "partly" if found.leaves else "yes"
