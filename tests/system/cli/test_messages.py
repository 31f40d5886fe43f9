"""Every command in every kind of trouble: it fails with a sentence and no traceback, and the commands in its message
work when pasted."""

from __future__ import annotations

import ctypes
import io
import logging
import os
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from rich.text import Text
from tests.support.cli.fixtures import Done
from tests.support.cli.message_cases import COMMANDS
from tests.support.warm_processes import ASSENT, Process
from typer._click.exceptions import ClickException

from assent.__main__ import main
from assent.cli.commands import build_parser
from assent.settings.client_config import this_command

PROGRAM: Final = this_command()[0]
NONSENSE: Final = b"\x00 this is [no] file that {any command reads\n"


def find_commands() -> dict[str, Any]:
    """Every command of the parser by its words."""

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            yield " ".join(words), command
            return
        for name, below in command.commands.items():
            yield from walk(below, (*words, name))

    return dict(walk(build_parser(), ()))


PARSED: Final = find_commands()


def test_a_terminal_shows_every_help_as_it_is_written_and_wraps_it_itself() -> None:
    helps = [(words, command.help or "") for words, command in PARSED.items()]
    helps += [
        (words, getattr(each, "help", None) or "")
        for words, command in PARSED.items()
        for each in command.params
    ]
    assert [words for words, text in helps if re.search(r"[^\n]\n[^\n]", text)] == []
    assert [words for words, text in helps if Text.from_markup(text).plain != text] == []


class Bench:
    """Runs commands in this process, on a data directory whose name the shell must quote."""

    def __init__(
        self, folder: Path, environment: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str], port: int
    ) -> None:
        self.folder, self.data_dir, self.port = folder, folder / "my data", port
        self.file, self.empty = folder / "file", folder / "empty"
        self._environment, self._captured = environment, captured
        self.places: set[str] = set()
        self.worked: set[str] = set()
        self.said: dict[str, str] = {}
        """The message of each line that failed, as it was printed."""

    def run(self, command: str, words: tuple[str, ...], *, data_dir: Path | None = None) -> Done:
        filled = [
            word.replace("{file}", str(self.file))
            .replace("{dir}", str(self.empty))
            .replace("{port}", str(self.port))
            for word in words
        ]
        place = ["--data-dir", str(data_dir or self.data_dir)]
        self.places.add(place[1])
        self.empty.mkdir(exist_ok=True)
        self._environment.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a-secret\n")))
        self._captured.readouterr()
        logging.getLogger().handlers.clear()
        with pytest.raises(SystemExit) as end:
            main([*command.split(), *place, *filled])
        out, err = self._captured.readouterr()
        return Done(int(end.value.code or 0), out, err)

    def record(self, command: str, words: tuple[str, ...], done: Done) -> None:
        """Keep which commands worked, and what the others said. `doctor` also says what is well."""
        if done.code == 0:
            self.worked.add(command)
            return
        failed = "".join(re.findall(r"FAIL .*\n(?: .*\n)*", unbox(done.out)))
        self.said[f"{command} {shlex.join(words)}"] = failed or unbox(done.err or done.out)

    def judge(self, *works: str) -> None:
        """These commands work; the others said what is wrong, and the commands that they name can be pasted."""
        assert self.worked == set(works)
        silent = [line for line, text in self.said.items() if len(text.split()) < 3]
        unusable = [wrong for text in self.said.values() for wrong in find_unusable(text, self.places)]
        assert (silent, unusable) == ([], [])


def unbox(text: str) -> str:
    """An error of the parser without its frame and the synopsis."""
    text = re.sub(r"^Usage: .*\n( .*\n)*", "", text)
    text = re.sub(r"^[╭╰].*\n?", "", text, flags=re.MULTILINE)
    return re.sub(r" *│\n│ ", " ", text.replace("\r", "")).replace("│ ", "").replace("│", "")


@pytest.fixture
def bench(
    tmp_path: Path, bare_environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Bench]:
    bare_environment.setenv("PATH", "/nowhere")
    bare_environment.setenv("NO_COLOR", "1")
    bare_environment.setenv("COLUMNS", "100")
    bare_environment.chdir(tmp_path)
    with socket.socket() as other:  # it does not listen, so that asking it costs no time
        other.bind(("127.0.0.1", 0))
        yield Bench(tmp_path, bare_environment, capsys, other.getsockname()[1])


def find_unusable(text: str, places: set[str]) -> Iterator[str]:
    """The lines of a message with a command that does not parse, or that would work on other data."""
    if re.search(r"Traceback|made a mistake", text):
        yield text
    for line in text.splitlines():
        named = re.sub(r"`[^`]*`", "", line.replace(PROGRAM, "@"))
        if re.search(rf"\bassent ({'|'.join({each.split()[0] for each in PARSED})})\b", named):
            yield line
        for found in re.findall(rf"{re.escape(PROGRAM)} ([^`]*)", line):
            if not works(found, places):
                yield line


def works(command: str, places: set[str]) -> bool:
    try:
        words = shlex.split(re.sub(r"( < key-file|' for help\.)$", "", command))
    except ValueError:
        return False
    if words[-1] in ("-h", "--help"):
        return any(each.startswith(" ".join(words[:-1])) for each in PARSED)
    name = next((each for each in PARSED if words[: len(each.split())] == each.split()), None)
    if name is None:
        return False
    try:
        context = PARSED[name].make_context(name, words[len(name.split()) :])
    except ClickException:
        return False
    return context.params.get("data_dir") in places


def test_every_command_has_a_row() -> None:
    assert COMMANDS.keys() == PARSED.keys()


def test_no_words_at_all_show_the_help(
    bare_environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bare_environment.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main([])
    assert "COMMAND [ARGS]" in "".join(capsys.readouterr())


def test_wrong_arguments(bench: Bench) -> None:
    bench.run("init", ())
    for name, usage in COMMANDS.items():
        bench.record(name, ("--no-such-option",), bench.run(name, ("--no-such-option",)))
        if any(each.required for each in PARSED[name].params):
            bench.record(name, (), bench.run(name, ()))
        bench.record(name, usage.wrong, bench.run(name, usage.wrong))
    bench.judge("workflow schema")  # which reads no settings


def test_files_that_are_missing_or_nonsense(bench: Bench) -> None:
    bench.run("init", ())
    for content in (None, NONSENSE):
        if content is not None:
            bench.file.write_bytes(content)
        for name, usage in COMMANDS.items():
            for words in usage.files if usage.reads_file or content is None else ():
                bench.record(name, words, bench.run(name, words))
        bench.judge("mcp config")  # which makes its file


def test_a_second_run(bench: Bench) -> None:
    bench.run("init", ())
    for name, usage in COMMANDS.items():
        if usage.twice:
            bench.run(name, usage.words)
            bench.record(name, usage.words, bench.run(name, usage.words))
    bench.judge("audit checkpoint", "freeze", "init", "mcp config", "migrate", "policy set")


def test_settings_that_cannot_be_read(bench: Bench) -> None:
    bench.data_dir.mkdir(mode=0o700)
    (bench.data_dir / "assent.toml").write_text("port = = 8\n")
    try_all(bench)


def test_a_directory_that_cannot_be_made(bench: Bench) -> None:
    bench.data_dir = Path("/proc/my data")
    try_all(bench, "mcp config")


def test_a_directory_that_cannot_be_written(bench: Bench) -> None:
    bench.data_dir.mkdir(mode=0o500)
    with without_privileges():
        try_all(bench, "mcp config", "stdio")


def test_a_database_that_cannot_be_written(bench: Bench) -> None:
    bench.run("init", ())
    for each in (*bench.data_dir.glob("assent.db*"), bench.data_dir):
        each.chmod(0o500 if each.is_dir() else 0o400)
    with without_privileges():
        try_all(bench, "mcp config", "stdio")


def test_a_file_that_is_no_database(bench: Bench) -> None:
    bench.run("init", ())
    for each in bench.data_dir.glob("assent.db*"):
        each.unlink()
    (bench.data_dir / "assent.db").write_bytes(NONSENSE * 100)
    try_all(bench, "mcp config", "stdio")


def test_a_database_of_a_newer_release(bench: Bench) -> None:
    bench.run("init", ())
    with sqlite3.connect(bench.data_dir / "assent.db") as database:
        database.execute(
            "UPDATE schema_versions SET version = 9999 WHERE version = (SELECT max(version) FROM schema_versions)"
        )
    database.close()
    try_all(bench, "backup", "mcp config", "stdio")


def test_a_secret_that_is_lost(bench: Bench) -> None:
    bench.run("init", ())
    (bench.data_dir / "master.secret").unlink()
    try_all(bench, "backup", "mcp config", "migrate", "stdio")


def try_all(bench: Bench, *works: str) -> None:
    """Run every command on the data. What stops `serve` is also what `doctor` says."""
    said = {}
    for name, usage in COMMANDS.items():
        if usage.needs_data and "{file}" not in usage.words:
            done = said[name] = bench.run(name, usage.words)
            bench.record(name, usage.words, done)
    bench.judge(*works)
    reason = said["serve"].err.partition("assent: ")[2].splitlines()[0]
    assert f": {reason}\n" in said["doctor"].out


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root obeys the permissions of files meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, held = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, held) == 0
    dropped = (ctypes.c_uint32 * 6)(*held)
    dropped[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, effective
    assert libc.capset(header, dropped) == 0
    try:
        yield
    finally:
        assert libc.capset(header, held) == 0


def test_a_server_that_runs(bench: Bench, tmp_path: Path) -> None:
    """The port is held by a server of ours, then that server is stopped with Ctrl+C."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        bench.port = found.getsockname()[1]
    place = ["--data-dir", str(bench.data_dir)]
    command = [ASSENT, "serve", "--no-open", "--port", str(bench.port), *place]
    with Process(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as server:
        try:
            assert server.stderr is not None
            assert "serving" in next(line for line in server.stderr if "serving" in line)
            for name in ("serve", "doctor"):
                bench.record(name, COMMANDS[name].words, bench.run(name, COMMANDS[name].words))
            bench.record("restore", ("{file}",), bench.run("restore", ("{file}",)))
            other = tmp_path / "other data"
            for name in ("serve", "doctor"):
                done = bench.run(name, COMMANDS[name].words, data_dir=other)
                bench.record(name, (*COMMANDS[name].words, "--data-dir", other.name), done)
            server.send_signal(signal.SIGINT)
            _, err = server.communicate(timeout=30)
        finally:
            server.kill()
    assert server.returncode == 0
    assert all(line.startswith("{") for line in err.splitlines()), "the log alone"
    bench.judge("doctor")


def test_ctrl_c(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is interrupted says nothing, and its exit code says so."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("assent.cli.session.load_settings", interrupt)
    for name, usage in COMMANDS.items():
        if usage.needs_data and name != "stdio" and "{file}" not in usage.words:
            assert bench.run(name, usage.words) == Done(130, "", ""), name
