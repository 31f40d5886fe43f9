"""`assent people apply FILE`: the people of a server by a file."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.cli.fixtures import Assent
from tests.support.surfaces import settings_for

from assent.app import App
from assent.engine.core import journal
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people
from assent.engine.people.people import Person, Role
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import Transaction

GRACE = '[[person]]\nname = "Grace Hopper"\nemail = "grace@example.org"\nworkspaces = ["local"]\n'
ADA = '[[person]]\nname = "Ada Lovelace"\nemail = "ada@example.org"\nrole = "owner"\n'

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str) -> str:
        path = tmp_path / "people.toml"
        path.write_text(text)
        return str(path)

    return put


@pytest.fixture(params=["sqlite", "postgres"])
def on_any_store(
    request: pytest.FixtureRequest, assent: Assent, bare_environment: pytest.MonkeyPatch
) -> Assent:
    """Commands over each kind of store."""
    if request.param == "postgres":
        bare_environment.setenv("ASSENT_DATABASE_URL", request.getfixturevalue("postgres_url"))
        bare_environment.setenv("RUN_TOKEN_SECRET", "a run token secret for the tests, long enough")
        bare_environment.setenv("ASSENT_SECRET", "a master secret for the tests only, long enough")
    return assent


def listed(assent: Assent) -> dict[str, tuple[str, str | None, list[str]]]:
    return {
        each["name"]: (each["role"], each["email"], each["workspaces"])
        for each in assent("people", "list", "--json").data["people"]
    }


def in_store(data_dir: Path, work: Callable[[int], Callable[[], Transaction[Any]]]) -> Any:
    async def run() -> Any:
        url = f"sqlite:///{data_dir / 'assent.db'}"
        app = App(settings_for(url, data_dir, secrets=(), run_token_secrets=()))
        try:
            return await app.store.write(work(app.clock.now_ms()))
        finally:
            await app.close()

    return asyncio.run(run())


def test_a_file_is_applied_and_applying_it_again_changes_nothing(on_any_store: Assent, write: Write) -> None:
    assent, file = on_any_store, write(GRACE + ADA)

    first = assent("people", "apply", file, "--yes", "--json")

    assert [each["name"] for each in first.data["added"]] == ["Grace Hopper", "Ada Lovelace"]
    assert all("/sign-in/" in each["url"] for each in first.data["added"])
    assert "+ Grace Hopper <grace@example.org>, member" in first.err
    people_then = {
        "Grace Hopper": ("member", "grace@example.org", ["local"]),
        "Ada Lovelace": ("owner", "ada@example.org", []),
    }
    assert listed(assent) == people_then

    again = assent("people", "apply", file, "--yes", "--json")

    assert (again.data["added"], again.data["changed"], again.data["removed"]) == ([], [], [])
    assert "Nothing to change." in again.err
    assert listed(assent) == people_then


def test_a_change_is_shown_and_made(on_any_store: Assent, write: Write) -> None:
    assent = on_any_store
    assent("workspace", "create", "Sales")
    assent("people", "apply", write(GRACE), "--yes", "--json")
    changed = GRACE.replace("Grace Hopper", "Rear Admiral Hopper").replace('"local"', '"Sales"')

    done = assent("people", "apply", write(changed), "--yes", "--json")

    [change] = done.data["changed"]
    assert change["changes"] == [
        "name Grace Hopper → Rear Admiral Hopper",
        "+ workspace Sales",
        "- workspace local",
    ]
    assert listed(assent) == {"Rear Admiral Hopper": ("member", "grace@example.org", ["Sales"])}
    promoted = changed.replace('workspaces = ["Sales"]', 'role = "owner"')
    assert assent("people", "apply", write(promoted), "--yes").code == 0
    assert listed(assent) == {"Rear Admiral Hopper": ("owner", "grace@example.org", [])}


def test_only_prune_removes_and_never_the_first_owner(on_any_store: Assent, write: Write) -> None:
    assent = on_any_store
    assent("owner-link", "--json")
    assent("people", "apply", write(GRACE + ADA), "--yes", "--json")

    kept = assent("people", "apply", write(ADA), "--yes", "--json")
    assert kept.data["removed"] == []
    assert "Grace Hopper" in listed(assent)
    assert "is not in the file and stays" in kept.err

    pruned = assent("people", "apply", write(ADA), "--prune", "--yes", "--json")
    assert len(pruned.data["removed"]) == 1
    assert "- Grace Hopper" in pruned.err
    assert set(listed(assent)) == {"owner", "Ada Lovelace"}
    back = assent("people", "apply", write(GRACE + ADA), "--yes", "--json")
    assert [each["name"] for each in back.data["added"]] == ["Grace Hopper"]


def test_without_a_yes_nothing_is_changed(
    assent: Assent, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = assent("people", "apply", write(GRACE))
    assert (piped.code, "+ Grace Hopper" in piped.err, "--yes" in piped.err) == (1, True, True)
    terminal = io.StringIO("n\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert assent("people", "apply", write(GRACE)).code == 1
    assert listed(assent) == {}
    terminal.seek(0)
    terminal.write("y\n")
    terminal.seek(0)
    assert assent("people", "apply", write(GRACE)).code == 0
    assert set(listed(assent)) == {"Grace Hopper"}


def test_behind_a_pipe_people_are_added_without_links(assent: Assent, write: Write, data_dir: Path) -> None:
    done = assent("people", "apply", write(GRACE), "--yes")
    assert "sign-in/" not in done.out + done.err
    found = in_store(data_dir, lambda now: lambda: journal.read_stream(SYSTEM_WORKSPACE, SYSTEM_WORKSPACE))
    assert [event.kind for event in found] == ["person_invited"]


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        (GRACE + '[[person]]\nname = "Ada"\nemial = "a@example.org"\n', "$.person[1]", "`emial`"),
        ('\n[[people]]\nname = "Ada"\n', "", "`people`"),
        ('[person]\nname = "Ada"\n', "$.person", "array"),
        ("[[person]]\nname = Ada\n", "line 2", "not TOML"),
        ('[[person]]\nemail = "ada@example.org"\n', "$.person[0]", "`name`"),
        ('[[person]]\nname = "Ada"\n', "person 1", "email is missing"),
        ('[[person]]\nname = "Ada"\nemail = "ada"\n', "person 1", "no e-mail address"),
        ('[[person]]\nname = 7\nemail = "ada@example.org"\n', "$.person[0].name", "`str`"),
        (ADA.replace("owner", "admin"), "$.person[0].role", "admin"),
        (GRACE.replace('["local"]', '"local"'), "$.person[0].workspaces", "array"),
        (GRACE.replace("local", "lokal"), "person 1", "'lokal' is no workspace"),
        (GRACE.replace("workspaces", "#"), "person 1", "at least one workspace"),
        (GRACE + GRACE.replace("grace@", "Grace@"), "person 2", "that of person 1"),
        (ADA + 'id = "nobody"\n', "person 1", "is no person who can sign in"),
        ('[[person]]\nid = "owner"\nname = "Me"\nworkspaces = ["local"]\n', "person 1", "stays an owner"),
    ],
)
def test_every_mistake_is_named_with_its_person_and_changes_nothing(
    assent: Assent, write: Write, text: str, where: str, said: str
) -> None:
    assent("owner-link", "--json")
    done = assent("people", "apply", write(text), "--yes")
    assert done.code == 1
    assert said in done.err
    assert where in done.err
    assert set(listed(assent)) == {"owner"}


def test_an_address_that_somebody_typed_at_signup_promotes_nobody(
    assent: Assent, write: Write, data_dir: Path
) -> None:
    assent("init")
    stranger = Person("stranger", "Not Ada", Role.MEMBER, "ada@example.org")
    entropy = os.urandom(people.ENTROPY_BYTES)
    in_store(
        data_dir,
        lambda now: lambda: members.join_by_claim(LOCAL_WORKSPACE, stranger, entropy, now, device=""),
    )

    done = assent("people", "apply", write(ADA), "--yes", "--json")

    assert [each["name"] for each in done.data["added"]] == ["Ada Lovelace"]
    assert listed(assent)["Not Ada"][0] == "member"


def test_the_first_owner_can_be_named_by_id(assent: Assent, write: Write) -> None:
    assent("owner-link", "--json")
    text = '[[person]]\nid = "owner"\nname = "Ada"\nemail = "ada@example.org"\nrole = "owner"\n'
    assert assent("people", "apply", write(text), "--prune", "--yes").code == 0
    assert listed(assent) == {"Ada": ("owner", "ada@example.org", [])}
