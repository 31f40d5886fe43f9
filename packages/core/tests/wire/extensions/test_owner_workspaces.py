"""What the settings bring serves the owner's workspaces. Any other workspace, and a caller without a key, neither sees
nor reaches it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE
from tests.support.extensions.owner_kit import (
    MARKS,
    NOTE,
    RESTART,
    SENDER,
    WORKFLOW,
    read_everything,
    running,
    wrote,
)
from tests.support.jobs.kit import claim
from tests.support.keyed_browser import KeyedBrowser
from tests.support.keys import make_key
from tests.support.net.stub_server import StubServer
from tests.support.review.kit import BROWSER, Server
from tests.support.surfaces import BASE_URL

from assent.engine.actions.send_jobs import SEND_JOB
from assent.engine.core import jobs
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.extensions.hooks import list_own_settings
from assent.gate.records import Assurance
from assent.jobs.kinds import job_kinds
from assent.serving.web.shell.console import PLACE_COOKIE
from assent.settings.load import SettingsError, load_settings

pytestmark = pytest.mark.own_database


@pytest.mark.rule("E50")
@pytest.mark.every_surface
async def test_only_the_owner_s_workspace_sees_what_the_settings_bring(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    async with running(transport, database_url, tmp_path, stub) as (gate, _):
        guest = (await gate.new_workspace("guest")).api_key
        owner = await make_key(gate.app)
        await gate.call(NOTE, {"text": "A first call, which the metrics count."}, key=owner)

        own = await read_everything(gate, owner)
        assert {mark for mark in MARKS if mark in own} >= {"acme_billing", "acme-billing", RESTART, WORKFLOW}
        for key in (guest, None):
            read = await read_everything(gate, key)
            assert [mark for mark in MARKS if mark in read] == []


@pytest.mark.every_surface
async def test_a_guest_s_call_of_an_owner_s_tool_is_a_call_of_an_unknown_tool(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    async with running(transport, database_url, tmp_path, stub) as (gate, _):
        guest = (await gate.new_workspace("guest")).api_key
        for key in (guest, None):
            gate.key = key
            headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
            for tool in (NOTE, RESTART, "acme_billing_nothing"):
                refused = await gate.call(tool, {"text": "x", "what": "x"})
                assert refused.reason == "unknown_tool"
                assert "acme_billing_note" not in json.dumps(refused.message).replace(tool, "")
                rest = await gate.http.post(f"/api/tools/{tool}", json={}, headers=headers)
                assert rest.json()["reason"] == "unknown_tool"
        assert wrote(stub) == []


async def test_a_guest_s_mail_needs_a_mail_server_of_its_own(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    mail = {"to": ["ann@example.org"], "subject": "Hello", "body": "We have moved to the second floor."}
    async with running(transport, database_url, tmp_path, stub) as (gate, inbox):
        guest = await gate.new_workspace("guest")
        gate.key, gate.workspace_id = guest.api_key, guest.workspace_id
        prepared = await gate.call("chieflab_send", mail)
        assert SENDER not in json.dumps(prepared.message)
        for each in prepared.payload["actions"]:
            await gate.approve_as(Assurance.PERSON, each["id"])
            assert (await gate.call(EXECUTE, {"actionId": each["id"]})).is_error
        assert inbox.taken == []

        gate.key, gate.workspace_id = await make_key(gate.app), LOCAL_WORKSPACE
        (action,) = (await gate.done("chieflab_send", **mail))["actions"]
        await gate.approve_as(Assurance.PERSON, action["id"])
        await gate.done(EXECUTE, actionId=action["id"])
        assert SENDER in inbox.raw().decode()


async def test_a_guest_reaches_no_private_host_of_the_settings(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    async with running(transport, database_url, tmp_path, stub) as (gate, _):
        owner = await make_key(gate.app)
        launch = {"productUrl": stub.url("/product"), "goal": "Announce the second floor"}
        for key in ((await gate.new_workspace("guest")).api_key, None):
            await gate.call("chieflab_launch_product", launch, key=key)
        assert wrote(stub) == []
        await gate.call("chieflab_launch_product", launch, key=owner)
        assert "/product" in wrote(stub)


@pytest.mark.every_surface
async def test_an_approval_from_before_the_settings_named_the_owner_fires_nothing(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    """Actions that were approved while the operators served every workspace, and a schedule among them."""
    async with running(transport, database_url, tmp_path, stub, owner_workspaces=("all",)) as (gate, _):
        guest = await gate.new_workspace("guest")
        gate.key, gate.workspace_id = guest.api_key, guest.workspace_id
        made = [(await gate.done(RESTART, what="prod"))["actions"][0]["id"] for _ in range(3)]
        for action_id in made[:2]:
            await gate.approve_as(Assurance.PERSON, action_id)
        key, clock = gate.key, gate.clock

    async with running(transport, database_url, tmp_path, stub) as (gate, _):
        gate.key, gate.workspace_id = key, guest.workspace_id
        gate.clock.advance(seconds=(clock.now_ms() - gate.clock.now_ms()) / 1000 + 60)
        assert (await gate.denied(EXECUTE, actionId=made[0]))["reason"] == "provider_not_live"
        assert (await gate.denied(APPROVE, actionId=made[2]))["reason"] == "provider_not_live"

        now_ms = gate.clock.now_ms()
        payload = {"actionId": made[1]}
        await gate.app.store.write(
            lambda: jobs.enqueue(guest.workspace_id, SEND_JOB, "k", payload, due_ms=now_ms, now_ms=now_ms)
        )
        kinds = job_kinds(gate.app)
        due = await claim(gate.app.store, kinds, now_ms, 10)
        (job,) = [each for each in due if each.payload == payload]
        await kinds[job.kind].run(job)
        assert wrote(stub) == []


async def test_named_workspaces_are_the_owner_s_and_the_default_one_is_not_unless_named(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    async with running(transport, database_url, tmp_path, stub) as (gate, _):
        team = await gate.new_workspace("team")
        key = await make_key(gate.app)
    async with running(transport, database_url, tmp_path, stub, owner_workspaces=(team.workspace_id,)) as (
        gate,
        _,
    ):
        assert not (await gate.call(NOTE, {"text": "Hello"}, key=team.api_key)).is_error
        assert (await gate.call(NOTE, {"text": "Hello"}, key=key)).reason == "unknown_tool"


def test_every_credential_of_the_settings_is_the_owner_s() -> None:
    """A new provider with a token in the settings has to be the owner's, too."""
    tokens = [row for row in list_own_settings() if row.secret]
    assert tokens and all(row.of_owner for row in tokens)


@pytest.mark.parametrize("wrong", ["acme", "local", "All", "00000000-0000-7000-8000-00000000000g"])
def test_a_name_in_place_of_an_id_is_refused(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(SettingsError, match="owner_workspaces"):
        load_settings({"data_dir": str(tmp_path)}, {"ASSENT_OWNER_WORKSPACES": wrong, "HOME": str(tmp_path)})


async def test_an_owner_s_inbox_shows_their_action_right_whichever_workspace_they_look_at(
    transport: str, database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    async with running(transport, database_url, tmp_path, stub) as (gate, _):
        guest = await gate.new_workspace("guest")
        gate.key = await make_key(gate.app)
        staged = await gate.done(RESTART, what="prod")
        server = cast(Server, gate)
        sign_in = await Server.sign_in_path(server)
        shown = []
        async with KeyedBrowser(
            transport=gate.wire, base_url=BASE_URL, headers={**BROWSER, "Origin": BASE_URL}
        ) as browser:
            await browser.post(sign_in)
            for place in (LOCAL_WORKSPACE, guest.workspace_id):
                browser.cookies.set(PLACE_COOKIE, place)
                page = (await browser.get("/inbox")).text
                assert staged["actions"][0]["id"] in page
                shown.append("not installed" in page)
        assert shown == [False, False]
