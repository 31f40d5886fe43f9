"""`assent backup` and `assent restore` on either store, and the backups that a restore refuses."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zipfile
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent

from assent.stores.postgres_backup import MANIFEST

NEWER = 9999


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, bare_environment: pytest.MonkeyPatch) -> str:
    bare_environment.setenv("RUN_TOKEN_SECRET", "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ")
    bare_environment.setenv("ASSENT_SECRET", "Zr4Xw9Kd-Lm2Qe7Tn5Vb8Yc3Hs6Fj1Pg")
    if request.param == "postgres":
        url = request.getfixturevalue("empty_postgres_url")
        bare_environment.setenv("ASSENT_DATABASE_URL", url)
    return str(request.param)


def as_of_a_newer_release(file: Path, store: str) -> None:
    if store == "sqlite":
        with contextlib.closing(sqlite3.connect(file)) as copy, copy:
            copy.execute(
                "UPDATE schema_versions SET version = ? WHERE version = (SELECT max(version) FROM schema_versions)",
                (NEWER,),
            )
        return
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members[MANIFEST])
    manifest["versions"][NEWER] = ""
    members[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def names(assent: Assent) -> set[str]:
    return {each["name"] for each in assent("workspace", "list", "--json").data["workspaces"]}


def test_what_is_said_names_the_secrets_where_they_are_and_asks_for_no_answer_where_nothing_is_unknown(
    assent: Assent, store: str, data_dir: Path, tmp_path: Path, bare_environment: pytest.MonkeyPatch
) -> None:
    assert assent("init").code == 0
    said = assent("backup", str(tmp_path / "one")).out
    assert "elsewhere: RUN_TOKEN_SECRET, ASSENT_SECRET.\n" in said
    done = assent("restore", str(tmp_path / "one"))
    assert done.code == 0, done.err
    assert "Start the server: " in done.out and "then answer" not in done.out
    if store == "sqlite":
        (data_dir / "run_token.secret").write_text("k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ")
        (data_dir / "run_token.secret").chmod(0o600)
        bare_environment.delenv("RUN_TOKEN_SECRET")
        said = assent("backup", str(tmp_path / "two")).out
        assert f"elsewhere: {data_dir / 'run_token.secret'}, ASSENT_SECRET.\n" in said


def test_a_backup_is_restored_unless_its_release_or_its_secret_is_another(
    assent: Assent, store: str, tmp_path: Path, bare_environment: pytest.MonkeyPatch
) -> None:
    assert assent("init").code == 0
    file, newer = tmp_path / "backup", tmp_path / "newer"
    done = assent("backup", str(file), "--json")
    assert (done.code, done.data["bytes"]) == (0, file.stat().st_size)
    assert assent("workspace", "create", "after").code == 0
    newer.write_bytes(file.read_bytes())
    as_of_a_newer_release(newer, store)
    refused = assent("restore", str(newer))
    assert (refused.code, refused.out) == (1, "")
    assert f"schema version {NEWER}" in refused.err and "Nothing was changed" in refused.err
    with bare_environment.context() as other:
        other.setenv("ASSENT_SECRET", "another-one-" + "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ")
        refused = assent("restore", str(file))
    assert (refused.code, refused.out) == (1, "")
    assert (
        "is not the secret this database was made with" in refused.err
        and "Nothing was changed" in refused.err
    )
    assert "after" in names(assent)
    done = assent("restore", str(file), "--json")
    assert done.code == 0, done.err
    assert "replaced" in done.data["replaced"] and "after" not in names(assent)
