"""Who wins between flag, variable, file and default, and what each kind of value becomes."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path

import msgspec
import pytest

from assent.settings import load
from assent.settings.load import SECRET_PAIRS, Settings, load_settings
from assent.settings.table import TABLE

STRONG = "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ"
STRONGER = "Zr4Xw9Kd-Lm2Qe7Tn5Vb8Yc3Hs6Fj1Pg"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def test_everything_has_a_default(home: dict[str, str], tmp_path: Path) -> None:
    loaded = load_settings({}, home)
    data_dir = tmp_path / ".local/share/assent"
    assert loaded.settings == Settings(
        data_dir=data_dir, database_url=f"sqlite:///{data_dir}/assent.db", base_url="http://localhost:8080"
    )
    assert loaded.settings.sqlite_path == data_dir / "assent.db"
    assert loaded.warnings == ()
    assert set(loaded.sources.values()) == {"default"}


def test_a_user_without_a_home_starts_on_the_data_directory_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    loaded = load_settings({}, {"ASSENT_DATA_DIR": str(tmp_path)})
    assert loaded.settings.data_dir == tmp_path


def test_the_table_and_the_struct_have_the_same_settings() -> None:
    paired = {name for current, previous, _ in SECRET_PAIRS for name in (current, previous)}
    gathered = {name for _, _, name in SECRET_PAIRS} | {
        "added",
        "config_file",
        "database_in_file",
        "effects",
        "hidden",
        "sections",
    }
    assert {row.name for row in TABLE} - paired == set(Settings.__struct_fields__) - gathered


def test_a_flag_beats_a_variable_beats_the_file_beats_the_default(
    home: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('port = 1\nhost = "0.0.0.0"\npool_size = 3\n')
    environ = home | {"ASSENT_PORT": "2", "ASSENT_HOST": "::1", "ASSENT_CONFIG": str(file)}
    loaded = load_settings({"port": 3, "host": None}, environ)
    assert (loaded.settings.port, loaded.settings.host, loaded.settings.pool_size) == (3, "::1", 3)
    assert loaded.settings.base_url == "http://localhost:3"
    assert loaded.sources["port"] == "flag --port"
    assert loaded.sources["host"] == "environment ASSENT_HOST"
    assert loaded.sources["pool_size"] == f"file {file}"
    assert loaded.sources["log_level"] == "default"
    assert loaded.settings.config_file == file


def test_the_file_in_the_data_directory_is_read_unless_another_is_named(
    home: dict[str, str], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "assent.toml").write_text("port = 9001\n")
    named = tmp_path / "other.toml"
    named.write_text("port = 9002\n")
    environ = home | {"ASSENT_DATA_DIR": str(data)}
    assert load_settings({}, environ).settings.port == 9001
    assert load_settings({"config": str(named)}, environ).settings.port == 9002
    assert load_settings({"data_dir": str(tmp_path / "new")}, environ).settings.port == 8080


def test_relative_paths_start_where_they_were_written(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "settings.toml"
    file.write_text('data_dir = "data"\n')
    monkeypatch.chdir(tmp_path)
    assert load_settings({"config": "folder/settings.toml"}, home).settings.data_dir == folder / "data"
    here = load_settings({"data_dir": "data", "database_url": "sqlite:///x/y.db"}, home).settings
    assert here.data_dir == tmp_path / "data"
    assert here.sqlite_path == tmp_path / "x/y.db"
    assert here.database_url == f"sqlite:///{tmp_path}/x/y.db"
    assert load_settings({"data_dir": "~/mine"}, home).settings.data_dir == tmp_path / "mine"


def test_the_data_directory_follows_xdg_when_it_is_absolute(home: dict[str, str]) -> None:
    assert load_settings({}, home | {"XDG_DATA_HOME": "/srv"}).settings.data_dir == Path("/srv/assent")
    assert load_settings({}, home | {"XDG_DATA_HOME": "srv"}).settings.data_dir.is_relative_to(home["HOME"])


def test_an_empty_variable_counts_as_not_set(home: dict[str, str]) -> None:
    loaded = load_settings({}, home | {"ASSENT_PORT": "", "RUN_TOKEN_SECRET": ""})
    assert loaded.settings.port == 8080
    assert loaded.settings.run_token_secrets == ()


def test_an_address_that_means_every_interface_is_linked_to_as_loopback(home: dict[str, str]) -> None:
    assert load_settings({"host": str(IPv4Address(0))}, home).settings.base_url == "http://127.0.0.1:8080"
    assert load_settings({"host": "::"}, home).settings.base_url == "http://[::1]:8080"


def test_without_both_loopback_addresses_no_name_is_offered(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "has_both", lambda: False)
    assert load_settings({}, home).settings.base_url == "http://127.0.0.1:8080"
    assert load_settings({"host": "localhost"}, home).settings.base_url == "http://127.0.0.1:8080"


def test_each_kind_of_value_is_read_from_text_and_from_the_file(home: dict[str, str], tmp_path: Path) -> None:
    environ = home | {
        "ASSENT_ALLOWED_HOSTS": "a.example, b.example",
        "ASSENT_TRUST_PROXY_HEADERS": "Yes",
        "ASSENT_OPEN_DISCOVERY": "off",
        "ASSENT_CONNECTOR_TIMEOUT_SECONDS": "0.5",
        "ASSENT_BASE_URL": "https://Assent.Example.com/",
        "ASSENT_LOG_LEVEL": "DEBUG",
        "NO_COLOR": "1",
    }
    text = load_settings({}, environ).settings
    file = tmp_path / "all.toml"
    file.write_text(
        'allowed_hosts = ["a.example", "b.example"]\ntrust_proxy_headers = true\nopen_discovery = false\n'
        'connector_timeout_seconds = 0.5\nbase_url = "https://assent.example.com"\nlog_level = "debug"\n'
    )
    from_file = load_settings({"config": str(file)}, home | {"NO_COLOR": "1"}).settings
    assert msgspec.structs.replace(text, config_file=file) == from_file
    assert text.allowed_hosts == ("a.example", "b.example")
    assert (text.trust_proxy_headers, text.open_discovery, text.connector_timeout_seconds) == (
        True,
        False,
        0.5,
    )
    assert text.base_url == "https://assent.example.com"


def test_secrets_are_gathered_newest_first(home: dict[str, str]) -> None:
    environ = home | {"RUN_TOKEN_SECRET": STRONG, "RUN_TOKEN_SECRET_PREVIOUS": f"{STRONGER}, old"}
    assert load_settings({}, environ).settings.run_token_secrets == (STRONG, STRONGER, "old")


def test_settings_can_be_shown_without_their_secrets(home: dict[str, str]) -> None:
    environ = home | {"ASSENT_SECRET": STRONG, "ASSENT_API_KEY": "clp_live_x", "RUN_TOKEN_SECRET": STRONGER}
    shown = repr(load_settings({}, environ))
    assert not [secret for secret in (STRONG, "clp_live_x", STRONGER) if secret in shown]


def test_a_call_always_ends_before_its_lease(home: dict[str, str]) -> None:
    loaded = load_settings({}, home | {"ASSENT_EXECUTION_LEASE_SECONDS": "5"})
    assert loaded.settings.connector_timeout_seconds == 4
    assert "ASSENT_CONNECTOR_TIMEOUT_SECONDS" in loaded.warnings[0]


@pytest.mark.parametrize(
    ("base_url", "signups"),
    [
        ("https://assent.example.org", 0),
        ("http://203.0.113.7:8080", 5),
        ("http://8.8.8.8:8080", 0),
        ("http://192.168.1.4:8080", 5),
        ("http://localhost:8080", 5),
        ("https://assent.local", 5),
    ],
)
def test_sign_up_is_closed_by_default_on_a_public_address(
    base_url: str, signups: int, tmp_path: Path
) -> None:
    given = {"HOME": str(tmp_path), "ASSENT_BASE_URL": base_url}
    assert load_settings({}, given).settings.signups_per_hour == signups
    opened = load_settings({}, {**given, "ASSENT_SIGNUPS_PER_HOUR": "7"}).settings
    assert opened.signups_per_hour == 7
