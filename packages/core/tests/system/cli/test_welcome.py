"""What `assent serve` shows: its first line, and snippets that work when pasted, as a shell and a client read them."""

from __future__ import annotations

import json
import logging
import os
import shlex
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.system.install.test_tracked_files import find_distributions

from assent.__main__ import parse_stdio_flags
from assent.cli.new import write_files
from assent.extensions.registry import Extensions
from assent.gate.policy import PRESETS
from assent.kernel.distribution import DISTRIBUTION, PUBLISHED, list_dependencies, uvx_words, word_install
from assent.processes import serve
from assent.settings import client_config as cli_welcome
from assent.settings.load import BadFlag, Settings, load_settings

ROOT = Path(__file__).parents[5]
SETTINGS = Settings(
    data_dir=Path("/home/me/my data"),
    database_url="sqlite:////home/me/my data/assent.db",
    base_url="http://127.0.0.1:8080",
    secrets=("k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ",),
    api_key="clp_live_x",
)
REPLICA = msgspec.structs.replace(SETTINGS, database_url="postgresql://me:hunter2@db/assent")


def test_every_client_is_shown_and_no_secret() -> None:
    for settings in (SETTINGS, REPLICA):
        text = cli_welcome.welcome_text(settings)
        assert all(
            name in text for name in ("Claude Code", "Cursor", "VS Code", "http://127.0.0.1:8080/api/mcp")
        )
        assert not [secret for secret in ("hunter2", "clp_live_x", *SETTINGS.secrets) if secret in text]
    assert "Claude Desktop" in cli_welcome.welcome_text(SETTINGS)


def test_a_client_starts_a_process_on_the_same_data() -> None:
    elsewhere = msgspec.structs.replace(
        SETTINGS, database_url="sqlite:////srv/other.db", config_file=Path("/etc/assent.toml")
    )
    for settings in (SETTINGS, elsewhere):
        entry = cli_welcome.stdio_entry(settings)
        first, *flags = entry["args"][entry["args"].index("stdio") :]
        assert first == "stdio"
        assert Path(entry["command"]).is_absolute()
        read, _ = parse_stdio_flags(flags)
        if settings is SETTINGS:
            assert (
                load_settings(read, {"HOME": "/nonexistent"}).settings.database_url == settings.database_url
            )
        else:
            assert read["database_url"] == "sqlite:////srv/other.db"
            assert read["config"] == "/etc/assent.toml"


def words_after(command: str, database: str | None) -> list[str]:
    """What a shell makes of a command, with the variable set or not."""
    environment = {"PATH": os.environ["PATH"]} | ({"ASSENT_DATABASE_URL": database} if database else {})
    program, _, rest = command.partition(" ")
    assert program == cli_welcome.this_command()[0]
    done = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {rest}"], capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout.splitlines()


def test_a_key_is_made_in_the_database_that_the_server_uses() -> None:
    without_password = msgspec.structs.replace(REPLICA, database_url="postgresql://me@db/assent")
    words = shlex.split(cli_welcome.key_command(without_password, "editor"))
    assert words[-2:] == ["--database-url", "postgresql://me@db/assent"]

    command = cli_welcome.key_command(REPLICA, "editor")
    assert "hunter2" not in command
    assert words_after(command, REPLICA.database_url)[-2:] == ["--database-url", REPLICA.database_url]
    text = cli_welcome.welcome_text(REPLICA)
    assert all(name in text for name in ("ASSENT_DATABASE_URL", "ASSENT_SECRET", "RUN_TOKEN_SECRET"))
    # In a shell without it the command refuses, and makes no database of its own.
    with pytest.raises(BadFlag):
        load_settings({"database_url": words_after(command, None)[-1]}, {"HOME": "/nonexistent"})

    in_file = msgspec.structs.replace(
        REPLICA, database_in_file=True, config_file=Path("/home/me/my data/assent.toml")
    )
    assert "--database-url" not in cli_welcome.key_command(in_file, "editor")


def test_a_client_that_starts_a_process_is_told_what_it_needs_and_given_no_secret() -> None:
    entry = cli_welcome.stdio_entry(REPLICA)
    assert entry["env"] == {
        "ASSENT_DATABASE_URL": "YOUR_DATABASE_URL",
        "RUN_TOKEN_SECRET": "YOUR_RUN_TOKEN_SECRET",
        "ASSENT_SECRET": "YOUR_ASSENT_SECRET",
    }
    assert "--database-url" not in entry["args"]


def test_commands_survive_a_shell() -> None:
    stdio = cli_welcome.stdio_command(SETTINGS)
    claude = shlex.split(cli_welcome.claude_code_stdio(SETTINGS))
    assert claude[:3] == ["claude", "mcp", "add"]
    assert claude[claude.index("--") + 1 :] == stdio
    code, flag, entry = shlex.split(cli_welcome.vs_code_stdio(SETTINGS))
    assert (code, flag) == ("code", "--add-mcp")
    assert json.loads(entry) == {
        "name": "assent",
        "type": "stdio",
        "command": stdio[0],
        "args": stdio[1:],
    }


def test_json_snippets_are_json() -> None:
    settings = msgspec.structs.replace(SETTINGS, oauth=False)
    lines = [line.strip() for line in cli_welcome.welcome_text(settings).splitlines()]
    local, vs_code, cursor = [json.loads(line) for line in lines if line.startswith("{")]
    assert local == {"mcpServers": {"assent": cli_welcome.stdio_entry(SETTINGS)}}
    assert cursor["mcpServers"]["assent"]["url"] == "http://127.0.0.1:8080/api/mcp"
    asked = vs_code["inputs"][0]["id"]
    assert vs_code["servers"]["assent"]["headers"]["Authorization"] == f"Bearer ${{input:{asked}}}"


def test_no_key_is_made_for_clients_that_sign_in() -> None:
    address = "http://127.0.0.1:8080/api/mcp"
    lines = [line.strip() for line in cli_welcome.welcome_text(SETTINGS).splitlines()]
    claude = next(
        shlex.split(line) for line in lines if line.startswith("claude") and "--transport http" in line
    )
    code = [shlex.split(line) for line in lines if line.startswith("code ")]
    assert claude[-2:] == ["assent", address]
    assert json.loads(code[-1][-1]) == {"name": "assent", "type": "http", "url": address}
    assert len([line for line in lines if "keys create" in line and "runs:write" not in line]) == 1


@pytest.mark.parametrize(
    ("now", "offered"), [("people", "relay"), ("relay", "people"), ("two_people", "people")]
)
def test_the_command_that_changes_the_policy_names_another_one(now: str, offered: str) -> None:
    text = cli_welcome.welcome_text(SETTINGS, PRESETS[now])
    (command,) = [line for line in text.splitlines() if "policy set" in line]
    assert shlex.split(command)[-1] == offered


def test_without_an_installed_script_the_interpreter_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert cli_welcome.this_command() == [str(tmp_path / "python"), "-m", "assent"]


def test_a_command_that_serves_has_the_same_operators() -> None:
    settings = msgspec.structs.replace(SETTINGS, operators=("/srv/billing.py",))
    for words in (("serve",), ("serve", "--port", "8081"), ("stdio",)):
        command = cli_welcome.own_command(settings, *words)
        assert command[command.index("--operators") + 1] == "/srv/billing.py"
    assert "--operators" not in cli_welcome.own_command(settings, "owner-link")


@pytest.mark.parametrize(
    ("prefix", "lasts"),
    [
        ("/home/me/.cache/uv/archive-v0/hYx3k", False),
        ("/home/me/.cache/uv/environments-v2/assent-1f", False),
        ("/home/me/.local/share/uv/tools/assent", True),
        ("/home/me/.local/share/pipx/venvs/assent", True),
    ],
)
def test_no_snippet_names_a_folder_that_uv_may_delete(
    prefix: str, lasts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.prefix", prefix)
    monkeypatch.setattr("sys.executable", f"{prefix}/bin/python")
    monkeypatch.setenv("PATH", "/nowhere")
    text = cli_welcome.welcome_text(SETTINGS)
    entry = cli_welcome.stdio_entry(SETTINGS)
    assert (prefix in text) is lasts
    if lasts:
        assert [entry["command"], *entry["args"]][:3] == [f"{prefix}/bin/python", "-m", "assent"]
    else:
        assert [entry["command"], *entry["args"]][:5] == ["uvx", "--from", str(ROOT), "assent", "stdio"]


def test_a_program_that_is_not_on_the_index_is_never_named_to_an_installer() -> None:
    words = [word_install("postgres", published=False), list_dependencies(published=False)]
    assert not uvx_words((), published=False) and not any(
        DISTRIBUTION in word or find_distributions(word) for word in words
    )
    assert uvx_words(("/srv/a.whl", "/srv/b.whl"), published=False) == [
        *("--from", "/srv/a.whl", "--with", "/srv/b.whl"),
        "assent",
    ]


def test_a_published_program_is_named_as_this_repository_builds_it() -> None:
    words = [word_install("postgres", published=True), f"dependencies = {list_dependencies(published=True)}"]
    words.append(shlex.join(["uvx", *uvx_words((), published=True)]))
    assert [find_distributions(word) for word in words] == [{DISTRIBUTION}] * 3


def test_the_package_of_a_new_operator_depends_on_no_name_of_the_index() -> None:
    written = tomllib.loads(write_files("acme-billing", "acme_billing")["pyproject.toml"])
    assert written["project"]["dependencies"] == ([DISTRIBUTION] if PUBLISHED else [])


BEHIND_PROXY = msgspec.structs.replace(
    SETTINGS, host="192.0.2.7", port=9000, base_url="https://assent.example.org"
)
LINE = (
    "Assent is serving at https://assent.example.org and listens on 192.0.2.7:9000 "
    "(MCP: https://assent.example.org/api/mcp)."
)


def test_the_first_line_names_where_it_listens_and_its_public_address() -> None:
    assert cli_welcome.first_line(BEHIND_PROXY) == LINE
    assert cli_welcome.welcome_text(BEHIND_PROXY).startswith(LINE)
    on_ipv6 = msgspec.structs.replace(SETTINGS, host="::1", port=9000)
    assert " and listens on [::1]:9000 (MCP: " in cli_welcome.first_line(on_ipv6)


async def test_without_a_terminal_the_log_has_one_line_and_nothing_is_printed(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    app: Any = SimpleNamespace(settings=BEHIND_PROXY, extensions=Extensions())

    with caplog.at_level(logging.INFO):
        await serve._welcome(app)

    assert [record.getMessage() for record in caplog.records] == [LINE]
    assert capsys.readouterr().err == ""
