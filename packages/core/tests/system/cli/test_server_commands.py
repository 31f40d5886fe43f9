"""init, migrate and what a start says when it cannot: a plain message, the next step, no traceback."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent

from assent.__main__ import BadUsage, parse_stdio_flags, run_background, run_stdio
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.settings.load import Loaded


def test_init_makes_everything_and_can_be_repeated(assent: Assent, data_dir: Path) -> None:
    first = assent("init", "--json")
    assert first.code == 0
    assert first.data["workspaceId"] == LOCAL_WORKSPACE
    assert first.data["dataDir"] == str(data_dir)
    assert data_dir.stat().st_mode & 0o777 == 0o700
    secrets = {path.name: path.read_text() for path in data_dir.glob("*.secret")}
    assert len(secrets) == 2
    assert assent("init", "--json").data == first.data
    assert {path.name: path.read_text() for path in data_dir.glob("*.secret")} == secrets
    text = assent("init").out
    assert all(step in text for step in first.data["next"])
    assert not [secret for secret in secrets.values() if secret.strip() in text]


def test_init_repeats_the_flags_that_it_was_given(assent: Assent, tmp_path: Path) -> None:
    steps = assent("init", "--data-dir", str(tmp_path / "a b"), "--json").data["next"]
    assert all(f"--data-dir '{tmp_path}/a b'" in step for step in steps)


def test_migrate_reports_where_from_where_to_and_the_backup(assent: Assent, data_dir: Path) -> None:
    first = assent("migrate", "--json").data
    assert first["fromVersion"] == 0
    assert first["applied"]
    again = assent("migrate", "--json").data
    latest = first["toVersion"]
    assert again == {"fromVersion": latest, "toVersion": latest, "applied": [], "backupPath": None}
    assert f"version {first['toVersion']}" in assent("migrate").out
    assert (data_dir / "assent.db").exists()


def test_a_busy_port_is_named_with_the_next_one(assent: Assent) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = assent("serve", "--port", str(port))
    assert (done.code, done.out) == (1, "")
    assert f"Port {port}" in done.err
    assert f"assent serve --port {port + 1}" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [["workspace", "list"], ["migrate"], ["init"]])
def test_an_unreachable_database_is_named_without_its_password(
    assent: Assent, bare_environment: pytest.MonkeyPatch, words: list[str]
) -> None:
    bare_environment.setenv("ASSENT_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/assent")
    bare_environment.setenv("RUN_TOKEN_SECRET", "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ")
    bare_environment.setenv("ASSENT_SECRET", "Zr4Xw9Kd-Lm2Qe7Tn5Vb8Yc3Hs6Fj1Pg")
    done = assent(*words)
    assert (done.code, done.out) == (1, "")
    assert "127.0.0.1:1/assent" in done.err
    assert "assent doctor" in done.err
    assert "hunter2" not in done.err
    assert "Traceback" not in done.err


def test_another_secret_than_the_databases_refuses_to_start(
    assent: Assent, bare_environment: pytest.MonkeyPatch
) -> None:
    assent("init")
    bare_environment.setenv("RUN_TOKEN_SECRET", "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ")
    done = assent("serve")
    assert done.code == 1
    assert "RUN_TOKEN_SECRET_PREVIOUS" in done.err


def test_an_unknown_variable_is_warned_about_beside_the_data(
    assent: Assent, bare_environment: pytest.MonkeyPatch
) -> None:
    bare_environment.setenv("ASSENT_PROT", "1")
    done = assent("workspace", "list", "--json")
    assert json.loads(done.out)
    assert "ASSENT_PORT?" in done.err


def test_a_bug_is_reported_without_a_traceback_unless_asked_for(
    assent: Assent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(settings: object) -> int:
        raise ZeroDivisionError("with clp_live_abcdefghijklmnop")

    monkeypatch.setattr("assent.processes.serve.serve", broken)
    done = assent("serve")
    assert done.code == 1
    assert "--debug" in done.err
    assert "abcdefghijklmnop" not in done.err
    with pytest.raises(ZeroDivisionError):
        assent("serve", "--debug")


def test_version_and_help_are_data(assent: Assent) -> None:
    assert assent("--version").out.startswith("assent ")
    assert assent("--help").code == 0
    for words in (["serve"], ["stdio"], ["doctor"], ["keys", "create"], ["workspace", "show"]):
        helped = assent(*words, "--help")
        assert helped.code == 0
        assert "--data-dir" in helped.out


def test_stdio_flags_are_read_by_hand() -> None:
    words = ["--data-dir", "/x", "--config=/y.toml", "--database-url", "sqlite:////z.db", "--debug"]
    flags, debug = parse_stdio_flags(words)
    assert flags == {
        "data_dir": "/x",
        "config": "/y.toml",
        "database_url": "sqlite:////z.db",
        "log_level": "debug",
    }
    assert debug
    for wrong in (["--data-dir"], ["--prot", "1"], ["extra"]):
        with pytest.raises(BadUsage):
            parse_stdio_flags(wrong)


def test_a_server_in_the_background_has_the_flags_of_stdio_and_a_port(
    bare_environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[tuple[int, Path, bool]] = []

    def serve(loaded: Loaded, *, for_front: bool) -> int:
        started.append((loaded.settings.port, loaded.settings.data_dir, for_front))
        return 0

    bare_environment.setattr("assent.processes.serve.serve", serve)
    assert run_background(["--port", "20022", f"--data-dir={tmp_path}"]) == 0
    assert started == [(20022, tmp_path, True)]
    assert run_background(["--port", "eighty"]) == 2
    assert run_background(["--no-open"]) == 2


def test_stdio_says_what_is_wrong_on_standard_error(
    bare_environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_stdio(["--wrong"]) == 2
    assert run_stdio(["--log-level", "loud"]) == 2
    bare_environment.setenv("ASSENT_PORT", "eighty")
    assert run_stdio([]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "ASSENT_PORT" in captured.err
