"""What somebody wrote wrong, and what they are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assent.settings.load import SettingsError, hide_password, load_settings


def refused(flags: dict[str, object], environ: dict[str, str]) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(flags, {"HOME": "/nonexistent", **environ})
    return str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("ASSENT_PORT", "eighty", "a whole number"),
        ("ASSENT_PORT", "70000", "from 1 to 65535"),
        ("ASSENT_PORT", "0", "from 1 to 65535"),
        ("ASSENT_HOST", "http://x", "base_url"),
        ("ASSENT_BASE_URL", "assent.example.com", "https://"),
        ("ASSENT_BASE_URL", "https://assent.example.com/path", "nothing may follow"),
        ("ASSENT_BASE_URL", "https://assent.example.com:99999", "65535"),
        ("ASSENT_DATABASE_URL", "mysql://host/db", "postgresql://"),
        ("ASSENT_DATABASE_URL", "sqlite:///:memory:", "needs a file"),
        ("ASSENT_DATABASE_URL", "sqlite:////data/x.db?mode=ro", "no options"),
        ("ASSENT_OPEN_DISCOVERY", "maybe", "true or false"),
        ("ASSENT_LOG_FORMAT", "xml", "auto, json, text"),
        ("ASSENT_REVIEW_TTL_SECONDS", "-1", "from 1 to"),
        ("ASSENT_CONNECTOR_TIMEOUT_SECONDS", "nan", "more than 0"),
        ("ASSENT_CONNECTOR_TIMEOUT_SECONDS", "0", "more than 0"),
        ("ASSENT_RATE_LIMIT_PER_MINUTE", "0", "from 1 to"),
    ],
)
def test_a_bad_value_says_what_why_and_what_to_write(variable: str, value: str, expected: str) -> None:
    message = refused({}, {variable: value})
    assert variable in message
    assert repr(value) in message
    assert expected in message
    assert f"Write {variable}=" in message


def test_a_data_directory_that_no_address_can_name_is_refused() -> None:
    message = refused({"data_dir": "/srv/a#b"}, {})
    assert "/srv/a#b (flag --data-dir)" in message


def test_a_bad_flag_is_named_as_it_was_typed() -> None:
    assert "flag --data-dir" in refused({"data_dir": "  "}, {})


@pytest.mark.parametrize("password", ["hunter/2", "hunter#2", "hunter?2", "7/hunter", "h/unter@2"])
def test_a_password_that_breaks_the_address_of_the_database_is_refused_and_not_repeated(
    password: str,
) -> None:
    message = refused({}, {"ASSENT_DATABASE_URL": f"postgresql://me:{password}@host/db"})
    assert "percent-encoded" in message and "hunter" not in message and "unter@" not in message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:a%2Fb@db1:5432,db2:5432/assent?target_session_attrs=read-write",
        "postgresql://[::1]:5432/assent?user=me@server",
        "postgres://me:p@ss@host/db",
        "postgresql:///assent?host=/run/postgresql",
    ],
)
def test_an_address_of_a_database_is_taken_as_its_driver_reads_it(url: str) -> None:
    settings = load_settings({}, {"HOME": "/nonexistent", "ASSENT_DATABASE_URL": url}).settings
    assert settings.database_url == url


def test_a_password_is_never_repeated() -> None:
    assert "hunter2" not in refused({}, {"ASSENT_DATABASE_URL": "mysql://me:hunter2@host/db"})
    assert hide_password("postgresql://me:p@ss:w@host/db") == "postgresql://me:…@host/db"
    assert hide_password("sqlite:////data/assent.db") == "sqlite:////data/assent.db"


@pytest.mark.parametrize(
    ("key", "meant"),
    [("prot", "port"), ("data-dir", "data_dir"), ("rate_limit", "rate_limit_per_minute"), ("ASSENT", None)],
)
def test_an_unknown_key_in_the_file_is_refused_with_a_suggestion(
    tmp_path: Path, key: str, meant: str | None
) -> None:
    file = tmp_path / "assent.toml"
    file.write_text(f'"{key}" = 1\n')
    message = refused({"config": str(file)}, {})
    assert repr(key) in message
    assert (f"Did you mean {meant!r}?" in message) if meant else ("Did you mean" not in message)


def test_the_wrong_type_in_the_file_is_refused(tmp_path: Path) -> None:
    for line in ("port = true", 'allowed_hosts = [""]', "allowed_hosts = 3", "base_url = 3", "port = [1]"):
        file = tmp_path / "assent.toml"
        file.write_text(line + "\n")
        assert str(file) in refused({"config": str(file)}, {})


def test_a_file_that_is_named_must_exist_and_be_toml(tmp_path: Path) -> None:
    missing = tmp_path / "none.toml"
    assert "does not exist" in refused({}, {"ASSENT_CONFIG": str(missing)})
    missing.write_text("port : 80")
    assert "not TOML" in refused({}, {"ASSENT_CONFIG": str(missing)})
    missing.write_bytes(b"\xff\xfe")
    assert "not TOML" in refused({}, {"ASSENT_CONFIG": str(missing)})


def test_an_unknown_variable_of_ours_is_warned_about_with_a_suggestion(tmp_path: Path) -> None:
    environ = {
        "HOME": str(tmp_path),
        "ASSENT_PROT": "1",
        "ASSENT_ZZZZZZ": "1",
        "PROT": "1",
        "ASSENT_CONFIG": "",
    }
    warnings = load_settings({}, environ).warnings
    assert len(warnings) == 2
    assert "ASSENT_PROT" in warnings[0]
    assert "ASSENT_PORT?" in warnings[0]
    assert "ASSENT_ZZZZZZ" in warnings[1]
    assert "Did you mean" not in warnings[1]


def test_a_value_that_may_hold_a_secret_is_not_shown_and_the_sentence_is_whole() -> None:
    message = refused({}, {"ASSENT_SMTP_URL": "hunter2"})
    assert "hunter2" not in message
    assert "has a value that is not shown here, which does not work" in message


def test_previous_secrets_without_a_newest_are_refused() -> None:
    message = refused({}, {"ASSENT_SECRET_PREVIOUS": "x"})
    assert "ASSENT_SECRET_PREVIOUS" in message
    assert "Set ASSENT_SECRET too" in message


def test_a_secret_in_a_file_that_others_can_read_is_warned_about(tmp_path: Path) -> None:
    file = tmp_path / "assent.toml"
    file.write_text('run_token_secret = "x"\n')
    file.chmod(0o644)
    (warning,) = load_settings({"config": str(file)}, {"HOME": str(tmp_path)}).warnings
    assert f"chmod 600 {file}" in warning
    file.chmod(0o600)
    assert load_settings({"config": str(file)}, {"HOME": str(tmp_path)}).warnings == ()


def test_loading_settings_imports_nothing_slow(tmp_path: Path) -> None:
    program = (
        "import sys; from assent.settings.load import load_settings; import assent.settings.secret_files;"
        "load_settings({}, {'HOME': sys.argv[1]});"
        "slow = {'typer', 'rich', 'tomllib', 'difflib', 'mcp', 'argparse', 'asyncio'};"
        "print(*sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")
