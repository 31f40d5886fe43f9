"""`assent workspace` and `assent keys`: data on standard output alone, keys shown once."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent

from assent.app import open_app
from assent.engine.core import tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE, Principal
from assent.kernel import ids
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.settings.load import load_settings


def principal(data_dir: Path, key: str) -> Principal:
    """Who the server takes the holder of a key for."""

    async def ask() -> Principal:
        settings = load_settings({"data_dir": str(data_dir)}, {"HOME": str(data_dir)}).settings
        async with open_app(settings) as app:
            return await app.store.read(lambda: tenancy.authenticate(key, app.clock.now_ms()))

    return asyncio.run(ask())


def rejected(data_dir: Path, key: str) -> bool:
    try:
        principal(data_dir, key)
    except Refusal as refusal:
        return refusal.reason is Reason.INVALID_API_KEY
    return False


def test_create_prints_a_workspace_and_a_key_that_works(assent: Assent, data_dir: Path) -> None:
    done = assent("workspace", "create", "acme", "--json")
    assert done.code == 0
    assert done.data["apiKey"].startswith("clp_live_")
    caller = principal(data_dir, done.data["apiKey"])
    assert (caller.workspace_id, caller.workspace_name) == (done.data["workspaceId"], "acme")


def test_create_without_json_prints_the_key_alone(assent: Assent, data_dir: Path) -> None:
    done = assent("workspace", "create", "acme", "--dev")
    assert done.out.startswith("clp_dev_")
    assert len(done.out.split()) == 1
    assert done.out.strip() not in done.err
    assert principal(data_dir, done.out.strip()).mode == "dev"


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb"])
def test_a_name_that_no_page_could_show_is_refused(assent: Assent, data_dir: Path, name: str) -> None:
    done = assent("workspace", "create", name)
    assert (done.code, done.out) == (1, "")
    assert "1 to 200 characters" in done.err
    assert not data_dir.exists()


def test_list_and_show_have_no_secret(assent: Assent) -> None:
    made = assent("workspace", "create", "acme", "--email", "a@example.com", "--json").data
    listed = assent("workspace", "list", "--json").data["workspaces"]
    assert [each["name"] for each in listed] == ["local", "acme"]
    assert listed[1]["email"] == "a@example.com"
    assert listed[1]["createdAt"].endswith("Z")
    for wanted in ("acme", made["workspaceId"]):
        shown = assent("workspace", "show", wanted, "--json")
        assert shown.data["workspace"] == listed[1]
        assert [key["keyId"] for key in shown.data["keys"]] == [made["keyId"]]
        assert made["apiKey"] not in shown.out
    text = assent("workspace", "list").out + assent("workspace", "show", "acme").out
    assert made["workspaceId"] in text
    assert made["keyId"] in text
    assert made["apiKey"] not in text


def add_twins(data_dir: Path, name: str) -> list[str]:
    """Two workspaces of one name, which an earlier version allowed."""
    made = [WorkspaceId(ids.uuid7(each, os.urandom(ids.RANDOM_BYTES))) for each in (1, 2)]

    async def add() -> None:
        async with open_app(load_settings({"data_dir": str(data_dir)}, {}).settings) as app:
            for each in made:
                await app.store.write(partial(tenancy.create_workspace, each, name, 1, by="test"))

    asyncio.run(add())
    return [str(each) for each in made]


def test_an_unknown_or_ambiguous_workspace_is_named_with_the_next_command(
    assent: Assent, data_dir: Path
) -> None:
    unknown = assent("workspace", "show", "nowhere")
    assert (unknown.code, unknown.out) == (1, "")
    assert "assent workspace list" in unknown.err
    add_twins(data_dir, "twin")
    ambiguous = assent("keys", "list", "--workspace", "twin")
    assert ambiguous.code == 1
    assert "by its id" in ambiguous.err


def test_keys_are_made_for_the_local_workspace_unless_another_is_named(
    assent: Assent, data_dir: Path
) -> None:
    other = assent("workspace", "create", "acme", "--json").data
    local = assent("keys", "create", "--json").data
    named = assent("keys", "create", "--workspace", "acme", "--label", "ci", "--json").data
    assert principal(data_dir, local["apiKey"]).workspace_id == LOCAL_WORKSPACE
    assert principal(data_dir, named["apiKey"]).workspace_id == other["workspaceId"]
    listed = assent("keys", "list", "--workspace", "acme", "--json").data
    assert listed["workspaceId"] == other["workspaceId"]
    assert [each["label"] for each in listed["keys"]] == ["default", "ci"]
    assert named["apiKey"] not in assent("keys", "list", "--workspace", "acme").out


def test_where_no_data_is_no_key_is_made_and_the_cure_is_named(assent: Assent, data_dir: Path) -> None:
    for words in (("create",), ("list",), ("revoke", "x"), ("rotate", "x")):
        refused = assent("keys", *words)
        assert (refused.code, refused.out) == (1, "")
        assert str(data_dir / "assent.db") in refused.err
        assert "--data-dir" in refused.err and " init" in refused.err
    assert not data_dir.exists()


def test_a_key_can_be_shown_groups_of_tools_of_its_own(assent: Assent) -> None:
    assert assent("init").code == 0
    made = assent("keys", "create", "--toolset", "gate", "--toolset", "legacy", "--json").data
    listed = {key["keyId"]: key["toolsets"] for key in assent("keys", "list", "--json").data["keys"]}

    assert listed[made["keyId"]] == ["gate", "legacy"]
    wrong = assent("keys", "create", "--toolset", "everything")
    assert wrong.code == 1
    assert "gate, launch, workflows, memory, calls, admin, legacy" in wrong.err


def test_a_key_can_be_limited_in_scope_and_time(assent: Assent, data_dir: Path) -> None:
    assert assent("init").code == 0
    made = assent("keys", "create", "--scope", "runs:write", "--expires-in-days", "1", "--json").data
    assert principal(data_dir, made["apiKey"]).scopes == {"runs:write"}
    (listed,) = assent("keys", "list", "--json").data["keys"]
    assert listed["scopes"] == ["runs:write"]
    assert listed["expiresAt"] > listed["createdAt"]
    wrong = assent("keys", "create", "--scope", "everything")
    assert wrong.code == 1
    assert "runs:write" in wrong.err


def test_a_revoked_key_is_refused_and_cannot_be_revoked_again(assent: Assent, data_dir: Path) -> None:
    assert assent("init").code == 0
    made = assent("keys", "create", "--json").data
    assert assent("keys", "revoke", made["keyId"], "--json").data["revoked"] is True
    assert rejected(data_dir, made["apiKey"])
    again = assent("keys", "revoke", made["keyId"])
    assert (again.code, again.out) == (1, "")
    assert "keys list --workspace" in again.err
    assert assent("keys", "list", "--json").data["keys"][0]["revokedAt"] is not None


def test_a_rotated_key_has_a_successor_with_the_same_rights(assent: Assent, data_dir: Path) -> None:
    assert assent("init").code == 0
    old = assent("keys", "create", "--dev", "--label", "ci", "--scope", "runs:write", "--json").data
    new = assent("keys", "rotate", old["keyId"], "--json").data
    assert rejected(data_dir, old["apiKey"])
    caller = principal(data_dir, new["apiKey"])
    assert caller.mode == "dev"
    assert caller.scopes == {"runs:write"}


def test_a_key_can_keep_its_client_from_asking_and_so_does_its_successor(
    assent: Assent, data_dir: Path
) -> None:
    assert assent("init").code == 0
    quiet = assent("keys", "create", "--no-client-dialog", "--json").data
    usual = assent("keys", "create", "--json").data
    next_quiet, next_usual = (assent("keys", "rotate", key["keyId"], "--json").data for key in (quiet, usual))
    asks = {key["keyId"]: key["clientDialog"] for key in assent("keys", "list", "--json").data["keys"]}
    assert [asks[key["keyId"]] for key in (quiet, usual, next_quiet, next_usual)] == [
        False,
        True,
        False,
        True,
    ]
    assert assent("keys", "list").out.count("no dialog") == 2
    assert not principal(data_dir, next_quiet["apiKey"]).client_dialog


def test_a_whole_key_that_was_pasted_is_understood_and_not_repeated(assent: Assent, data_dir: Path) -> None:
    made = assent("workspace", "create", "acme", "--json").data
    done = assent("keys", "revoke", made["apiKey"])
    assert done.code == 0
    assert rejected(data_dir, made["apiKey"])
    again = assent("keys", "revoke", made["apiKey"])
    assert again.code == 1
    assert made["apiKey"] not in done.out + done.err + again.err


def test_a_name_that_is_taken_makes_no_second_workspace(assent: Assent) -> None:
    assert assent("workspace", "create", "Acme").code == 0
    for name in ("Acme", "  ACME ", "ａｃｍｅ", "local", "00000000-0000-7000-8000-000000000001"):
        done = assent("workspace", "create", name)
        assert (done.code, done.out) == (1, ""), name
    listed = assent("workspace", "list", "--json").data["workspaces"]
    assert [each["name"] for each in listed] == ["local", "Acme"]


def test_a_sign_in_setting_that_means_no_workspace_or_several_is_named(
    assent: Assent, data_dir: Path, bare_environment: pytest.MonkeyPatch
) -> None:
    assent("init")
    bare_environment.setenv("ASSENT_OIDC_ISSUER", "https://id.example.org")
    bare_environment.setenv("ASSENT_OIDC_CLIENT_ID", "x")

    def look(members: str) -> dict[str, object]:
        bare_environment.setenv("ASSENT_OIDC_MEMBERS", members)
        checks: list[dict[str, object]] = assent("doctor", "--json").data["checks"]
        return next(each for each in checks if each["name"] == "sign-in")

    assert look("sales=local")["ok"] is True
    assert look("sales=Sales")["ok"] is False
    twins = add_twins(data_dir, "Sales")
    assert look(f"sales={twins[0]}")["ok"] is True
    several = look("sales=Sales")
    assert several["ok"] is False and "Sales" in str(several)
    started = assent("serve")  # ends before it listens
    assert started.code == 1 and "Sales" in started.err
