"""A wrapped server is its command, arguments, folder and environment: what it gets, what is kept, and which process
makes an approved call."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from tests.support.keyed_browser import KeyedBrowser, is_confirm_page
from tests.support.processes.running import Serve, StdioClient, eventually
from tests.support.review.kit import BROWSER, Server, form
from tests.support.surfaces import BASE_URL
from tests.support.wrap.kit import FrontClient, Wrapped, said

from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.gate.connection import OpenedSecrets
from assent.gate.views import Facts
from assent.serving.edge import Credentials
from assent_wrap.front import CannotWrap, read_order
from assent_wrap.profiles import Profile
from assent_wrap.profiles import read_order as read_described

PATH = {"PATH": "/usr/bin:/bin"}
STAGING, PRODUCTION = ({**PATH, "TARGET": each} for each in ("staging", "production"))
LISTED = {
    **PATH,
    **dict.fromkeys(("HOME", "USER", "LANG", "LC_ALL", "LC_TIME", "TZ", "TMPDIR", "XDG_CONFIG_HOME"), "/x"),
    **dict.fromkeys(("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"), "/x"),
    **dict.fromkeys(("http_proxy", "https_proxy", "no_proxy", "all_proxy"), "proxy.example"),
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"), "proxy.example"),
}
FOREIGN = {
    "AWS_SECRET_ACCESS_KEY": "foreign-value",
    "ASSENT_SECRET": "foreign-value",
    "PATHS": "foreign-value",
}
SET_BY_PYTHON = {"LC_CTYPE": "C.UTF-8"}


def entry(wrapped: Wrapped, **more: Any) -> str:
    program, *arguments = wrapped.command()
    return json.dumps({"mcpServers": {"notes": {"command": program, "args": arguments, **more}}})


async def list_everything_kept(wrapped: Wrapped) -> tuple[str, str]:
    """All rows of all tables, and the sealed texts of the workspace, opened."""
    plain = repr(await Server.everything(cast("Server", wrapped)))
    rows = await Server.everything(cast("Server", wrapped))
    holders = {value for row in rows["wrap_profiles"] for value in row if isinstance(value, str)}
    opened = [
        await wrapped.app.store.read(
            lambda holder=holder: wrapped.app.services.vault.open(LOCAL_WORKSPACE, f"wrap:{holder}")  # type: ignore[misc]
        )
        for holder in holders
    ]
    return plain, "".join(text for each in opened for _, text in each.items())


async def test_a_server_gets_the_list_and_named_variables_and_nothing_else_is_sent_or_kept(
    wrapped: Wrapped,
) -> None:
    mine = {**LISTED, **FOREIGN, "NOTES_TOKEN": "named-value"}
    order = read_order(["x"], {}, frozenset(), mine, named=["NOTES_TOKEN"])
    assert "foreign-value" not in msgspec.json.encode(order).decode()

    client = await wrapped.open_front(mine, "NOTES_TOKEN")
    await client.names()
    (start,) = wrapped.starts
    expected = {**LISTED, "NOTES_TOKEN": "named-value"}
    assert {**SET_BY_PYTHON, **start["environment"]} == {**SET_BY_PYTHON, **expected}
    client.start_call("store", path="a", content="b")
    await wrapped.until_waiting()
    plain, sealed = await list_everything_kept(wrapped)
    assert "foreign-value" not in plain + sealed
    assert "named-value" in sealed and "named-value" not in plain
    await client.close()


async def test_a_server_of_the_settings_gets_the_list_and_its_env_and_no_other_variable_of_this_server(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**LISTED, **FOREIGN, "NOTES_TOKEN": "named-value"}.items():
        monkeypatch.setenv(name, value)
    config = tmp_path / "mcp.json"
    wrapped = Wrapped(database_url, tmp_path, wrap_config=config, wrap_workspaces=(LOCAL_WORKSPACE,))
    config.write_text(entry(wrapped, env={"NOTES_TOKEN": "${NOTES_TOKEN}"}))
    await wrapped.app.prepare()
    try:
        profile_id = await wrapped.app.gateway.find_profile(LOCAL_WORKSPACE)
        given = Credentials(local=LOCAL_PRINCIPAL, profile_id=profile_id)
        client = FrontClient(wrapped.surfaces, given)
        assert "look" in await client.names()
        (start,) = wrapped.starts
        beyond = start["environment"].keys() - LISTED.keys() - SET_BY_PYTHON.keys()
        assert beyond <= {"NOTES_TOKEN", *(each for each in beyond if each.startswith("LC_"))}
        assert start["environment"]["NOTES_TOKEN"] == "named-value"
        plain, sealed = await list_everything_kept(wrapped)
        assert "foreign-value" not in plain + sealed
        await client.close()
    finally:
        await wrapped.close()


@pytest.mark.parametrize("meanwhile", ["nothing", "restart", "idle"])
async def test_a_call_approved_for_one_environment_is_made_by_a_process_with_that_environment(
    wrapped: Wrapped, database_url: str, tmp_path: Path, meanwhile: str
) -> None:
    staging = await wrapped.open_front(STAGING, "TARGET")
    staging.start_call("remove", path="customers")
    (waiting,) = await wrapped.until_waiting()
    production = await wrapped.open_front(PRODUCTION, "TARGET")
    await production.names()
    assert [each["environment"]["TARGET"] for each in wrapped.starts] == ["staging", "production"]
    same = await wrapped.open_front(STAGING, "TARGET")
    await same.names()
    assert len(wrapped.starts) == 2

    if meanwhile == "idle":
        wrapped.clock.advance(seconds=15 * 60 + 1)
        await production.names()
    later = wrapped
    if meanwhile == "restart":
        for each in (staging, same, production):
            await each.close()
        await wrapped.app.close()
        later = Wrapped(database_url, tmp_path)
        await later.app.prepare()
        production = await later.open_front(PRODUCTION, "TARGET")
        await production.names()
    await later.approve(waiting["id"])
    (made,) = [each for each in later.ledger_entries if each.get("tool") == "remove"]
    assert made["by"][1] == "staging"
    assert (made["by"][0] == later.starts[0]["started"]) == (meanwhile == "nothing")
    assert await later.where(waiting["id"]) == "executed"
    await production.close()
    if later is not wrapped:
        await later.close()


def write_earlier(profile: Profile) -> str | None:
    """A profile as earlier code has kept it: under an id of its own, with the whole environment."""
    return msgspec.json.encode({**msgspec.to_builtins(profile), "inherited": PRODUCTION}).decode()


def write_other(profile: Profile) -> str | None:
    return msgspec.json.encode(msgspec.structs.replace(profile, passed=PRODUCTION)).decode()


def write_nothing(profile: Profile) -> str | None:
    return None


@pytest.mark.parametrize("write", [write_earlier, write_other, write_nothing])
async def test_a_call_whose_server_changed_is_not_made_and_says_so(wrapped: Wrapped, write: Any) -> None:
    client = await wrapped.open_front(STAGING, "TARGET")
    answer = client.start_call("remove", path="customers")
    (waiting,) = await wrapped.until_waiting()
    vault, now_ms = wrapped.app.services.vault, wrapped.clock.now_ms()
    holder = f"wrap:{(await wrapped.stored(waiting['id'])).effect.details['profile']}"
    kept = (await wrapped.app.store.read(lambda: vault.open(LOCAL_WORKSPACE, holder))).get("profile")
    text = write(msgspec.json.decode(kept or "", type=Profile))
    await wrapped.app.store.write(lambda: vault.destroy(LOCAL_WORKSPACE, holder))
    if text is not None:
        secrets, seal = OpenedSecrets({"profile": text}), vault.seal(1)
        await wrapped.app.store.write(lambda: vault.put(LOCAL_WORKSPACE, holder, secrets, seal, now_ms))
    await wrapped.approve(waiting["id"])

    result = (await asyncio.wait_for(answer, 20))["result"]
    refusal = json.loads(said(result).splitlines()[-1])
    assert (refusal["reason"], refusal["retryable"]) == ("connector_failed", False)
    assert "notes" in refusal["userMessage"] and "environment" in refusal["userMessage"]
    assert await wrapped.where(waiting["id"]) == "failed"
    assert wrapped.calls_of("remove") == []
    client.start_call("remove", path="customers")
    (again,) = await wrapped.until_waiting()
    await wrapped.approve(again["id"])
    assert await wrapped.where(again["id"]) == "executed"
    await client.close()


@pytest.mark.slow
def test_a_front_writes_a_failed_start_into_its_clients_log_and_not_into_the_protocol(tmp_path: Path) -> None:
    program = ("--", sys.executable, "-I", "-c", "import os; os.environ['NEEDED_TOKEN']")
    words = ("--env", "GIVEN", "--env=ALSO", "--name", "notes", *program)
    mine = {"NEEDED_TOKEN": "foreign-value", "GIVEN": "1", "ALSO": "2"}
    with Serve(tmp_path), StdioClient(tmp_path, mine, flags=words, subcommand="wrap") as agent:
        assert agent.ask("tools/list")["result"]["tools"]
        named = eventually(lambda: agent.log.partition("not passed: ")[2], "the front says it")
        assert named.startswith("NEEDED_TOKEN") and "foreign-value" not in agent.log
        assert not {"GIVEN", "ALSO"} & set(named.partition(".")[0].split(", "))


async def test_the_question_and_the_confirm_page_show_command_folder_and_differing_names(
    wrapped: Wrapped,
) -> None:
    other = await wrapped.open_front({**PRODUCTION, "HOME": "/x", "GONE": "1"}, "TARGET", "GONE")
    client = await wrapped.open_front({**STAGING, "HOME": "/x"}, "TARGET")
    client.start_call("remove", path="customers", command="a harmless one")
    (waiting,) = await wrapped.until_waiting()
    action = await wrapped.stored(waiting["id"])
    (facts,) = (block for block in action.view.blocks if isinstance(block, Facts))
    command, folder, variables, differs = (text for _, text in facts.rows)
    assert variables == "TARGET"
    assert command == " ".join(wrapped.command()) and folder == str(Path.cwd())
    assert differs.startswith("GONE, TARGET ") and "production" not in differs

    sign_in = await Server.sign_in_path(cast("Server", wrapped))
    async with KeyedBrowser(
        transport=wrapped.wire, base_url=BASE_URL, headers={**BROWSER, "Origin": BASE_URL}
    ) as browser:
        await browser.post(sign_in)
        page = (await browser.get(f"/runs/{action.run_id}")).text
        browser.confirms = False
        asked = form(page, action.action_id, "approve")
        confirm = await browser.post(asked.address, data=asked.fields)
    assert is_confirm_page(confirm)
    for shown in (page, confirm.text):
        assert [text for text in (wrapped.command()[2], folder, "GONE, TARGET") if text not in shown] == []
        # An agent cannot write a row of the server's.
        assert "“command” (an argument" in shown.lower()
    for each in (client, other):
        await each.close()


async def test_a_profile_that_was_not_used_for_long_is_forgotten_and_that_of_an_open_action_is_not(
    wrapped: Wrapped,
) -> None:
    first = await wrapped.open_front({**STAGING, "TARGET": "forgotten"}, "TARGET")
    kept = await wrapped.open_front(STAGING, "TARGET")
    await kept.names()
    wrapped.clock.advance(days=70)
    kept.start_call("remove", path="customers")
    (waiting,) = await wrapped.until_waiting()
    wrapped.clock.advance(days=25)
    other = await wrapped.open_front(PRODUCTION, "TARGET")
    _, sealed = await list_everything_kept(wrapped)
    assert "forgotten" not in sealed and "staging" in sealed
    await wrapped.approve(waiting["id"])
    assert await wrapped.where(waiting["id"]) == "executed"
    for each in (first, kept, other):
        await each.close()


@pytest.mark.parametrize(
    ("named", "said"),
    [("TARGET", "is not set"), ("PATH=/bin", "takes the name"), ("ASSENT_API_KEY", "variable of Assent")],
)
def test_a_variable_that_cannot_be_passed_is_refused_with_the_reason(named: str, said: str) -> None:
    with pytest.raises(CannotWrap, match=said):
        read_order(["x"], {}, frozenset(), {**PATH, "ASSENT_API_KEY": "k"}, named=[named])


def test_the_server_takes_the_list_and_named_variables_alone_whatever_a_front_sends() -> None:
    """A front that was started before an upgrade sends all that its client has."""
    sent = {**LISTED, **FOREIGN, "TARGET": "x", "RUN_TOKEN_SECRET": "foreign-value"}
    order = {"command": ["x"], "cwd": "/", "environment": sent}
    assert read_described(msgspec.json.encode(order)).passed == LISTED
    named = read_described(msgspec.json.encode({**order, "named": ["TARGET", "ASSENT_SECRET"]}))
    assert named.passed == {**LISTED, "TARGET": "x"}
