"""The page about HTTP effects: its settings send a refund, its command stores the secret, its function verifies."""

from __future__ import annotations

import asyncio
import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.kit import EXECUTE, Gate
from tests.support.cli.fixtures import Assent, assent, bare_environment, data_dir  # noqa: F401 - fixtures
from tests.support.docs.pages import block_of, blocks_of
from tests.support.net.stub_server import Answer, StubServer
from tests.support.surfaces import ManualClock

from assent.app import App
from assent.cli import run
from assent.engine.core import tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.webhooks.webhooks import signing_secret
from assent.extensions.http_effects import _KEYS
from assent.gate.records import Assurance
from assent.settings.load import load_settings

PAGE = "http-effects.md"
PUBLIC = "https://billing.example.com/"


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["toml", "sh", "python"]


def test_the_table_names_every_key_of_a_section() -> None:
    table = (Path(__file__).parents[3] / "docs" / PAGE).read_text(encoding="utf-8")
    assert [key for key in _KEYS if f"`{key}" not in table] == []


async def test_the_settings_of_the_page_refund_a_customer_once(
    stub: StubServer,
    tmp_path: Path,
    bare_environment: pytest.MonkeyPatch,  # noqa: F811
) -> None:
    text = block_of(PAGE, "toml")
    assert tomllib.loads(text)["effect"].keys() == {"refund"}
    file = tmp_path / "assent.toml"
    file.write_text('allow_hosts = ["127.0.0.1"]\n' + text.replace(PUBLIC, stub.url()))
    key_file = tmp_path / "billing.key"
    key_file.write_text("sk_live_1234\n")
    command = block_of(PAGE, "sh").strip()
    words, _, redirected = command.partition(" < ")
    assert redirected == key_file.name
    place = ["--config", str(file), "--data-dir", str(tmp_path / "data")]
    bare_environment.setattr("sys.stdin", io.StringIO(key_file.read_text()))

    assert await asyncio.to_thread(run, [*words.split()[1:], *place]) == 0

    settings = load_settings({"config": str(file), "data_dir": str(tmp_path / "data")}).settings
    gate = Gate(App(settings, clock=ManualClock()), "stdio")
    gate.providers, gate.workspace_id = {}, LOCAL_WORKSPACE
    stub.answers["/v1/customers/cus_1/refunds"] = Answer(
        status=201, body=json.dumps({"id": "re_1", "links": {"receipt": "https://pay.example/re_1"}}).encode()
    )
    async with gate:
        gate.key = await gate.key_with(*tenancy.SCOPES)
        staged = await gate.done("refund_request", customer="cus_1", amount="12.50 EUR", reason="It broke.")
        action_id = staged["actions"][0]["id"]
        assert (await gate.stored(action_id)).view.title == "Refund 12.50 EUR to cus_1"
        assert stub.asked == []
        await gate.approve_as(Assurance.PERSON, action_id)
        done = await gate.done(EXECUTE, actionId=action_id)
        assert (done["externalId"], done["externalUrl"]) == ("re_1", "https://pay.example/re_1")
        secret = await signing_secret(gate.app.owner_services, gate.workspace_id)

    (asked,) = stub.asked
    assert asked.headers["authorization"] == "Bearer sk_live_1234"
    assert asked.headers["idempotency-key"] == f"{action_id}:1"
    names: dict[str, Any] = {}
    exec(block_of(PAGE, "python"), names)  # noqa: S102 - the page itself
    assert names["is_from_assent"](secret, asked.headers, asked.body)
    assert not names["is_from_assent"](secret, asked.headers, asked.body + b" ")


def test_doctor_names_an_effect_that_could_be_approved_and_never_sent(assent: Assent, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "assent.toml"
    for allowed in (False, True):
        text = block_of(PAGE, "toml").replace(PUBLIC, "http://127.0.0.1:9123/")
        file.write_text(('allow_hosts = ["127.0.0.1"]\n' if allowed else "") + text)
        done = assent("doctor", "--config", str(file), "--json")
        found = [each for each in done.data["checks"] if each["name"] == "operators" and not each["ok"]]
        assert ["refund_request" in each["detail"] for each in found] == ([] if allowed else [True])


def test_doctor_names_the_section_with_a_mistake_and_its_key(assent: Assent, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "assent.toml"
    file.write_text(block_of(PAGE, "toml") + '\n[effect.other]\nurl = "nowhere"\ndescription = "Do it."\n')
    done = assent("doctor", "--config", str(file), "--json")
    found = [each for each in done.data["checks"] if each["name"] == "operators"]
    assert [each["ok"] for each in found] == [False, True]
    assert f"{file} [effect.other]" in found[0]["detail"]
    assert found[0]["fix"].startswith("arguments: it is missing")
    assert "refund" in found[1]["detail"]
