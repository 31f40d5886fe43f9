"""`assent erase person`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent

from assent.ports import StoreUnavailable


def test_a_person_is_shown_before_they_are_erased_and_then_gone(assent: Assent) -> None:
    assert assent("init").code == 0
    assert assent("workspace", "create", "acme", "--email", "ada@example.org").code == 0
    assert assent("people", "invite", "Ada Lovelace", "--email", "ada@example.org", "--json").code == 0

    asked = assent("erase", "person", "ada@example.org")
    done = assent("erase", "person", "ada@example.org", "--also", "Ada Lovelace", "--yes", "--json")
    again = assent("erase", "person", "ADA@example.org", "--also", "Ada Lovelace", "--yes")

    assert asked.code == 1 and "Nothing was erased" in asked.err and "workspaces: 1" in asked.err
    assert done.code == 0, done.err
    assert done.data["found"]["people"] == 1
    assert any("Backups" in each for each in done.data["beyondReach"])
    assert again.code == 0 and "Nothing here names" in again.out
    assert assent("audit", "verify").code == 0


def test_only_copies_of_the_database_are_named_as_such(assent: Assent, tmp_path: Path) -> None:
    assert assent("init").code == 0
    assert assent("workspace", "create", "acme", "--email", "ada@example.org").code == 0
    [database] = tmp_path.rglob("assent.db")
    copies = ("assent.db.replaced-20261118", "assent.db.v0050-20261118.backup")
    for name in (*copies, "assent.db.head", "assent.db.turnstile", "assent.db.writer", "assent.db.lock"):
        database.with_name(name).touch()

    done = assent("erase", "person", "ada@example.org", "--yes", "--json")

    [said] = [each for each in done.data["beyondReach"] if "assent.db" in each]
    assert all(name in said for name in copies)
    assert not any(name in said for name in ("head", "turnstile", "writer", "lock"))


def test_a_name_that_is_in_every_text_is_refused(assent: Assent) -> None:
    assert assent("init").code == 0

    refused = assent("erase", "person", "a", "--yes")

    assert refused.code == 1 and "too short" in refused.err


def test_a_file_that_could_not_be_rewritten_is_named_with_what_was_erased(
    assent: Assent, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert assent("init").code == 0
    assert assent("workspace", "create", "acme", "--email", "ada@example.org").code == 0

    async def refuse(url: str) -> bool:
        raise StoreUnavailable("another process reads it")

    with monkeypatch.context() as patched:
        patched.setattr("assent.stores.backups.rewrite", refuse)
        done = assent("erase", "person", "ada@example.org", "--yes", "--json")

    assert done.code == 1
    assert done.data["erased"] and "another process reads it" in done.data["beyondReach"][0]
