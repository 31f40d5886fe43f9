"""The commands of wrapping: the front between a client and its server, line by line, and the hook's own answers."""

from __future__ import annotations

import io
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
import typer

from assent.client import Refused
from assent.processes.local_server import NoServer
from assent.sdk import Failure
from assent_wrap import commands, front, hook
from assent_wrap.adapters.claude_code import HookAnswer
from assent_wrap.extension import EXTENSION
from assent_wrap.front import LOST, SERVER_ERROR, TRIES, CannotWrap, Front, read_order
from assent_wrap.orders import WrapOrder

Pair = tuple[socket.socket, socket.socket]


def write(*messages: dict[str, Any]) -> bytes:
    return b"".join(msgspec.json.encode(each) + b"\n" for each in messages)


def read(data: bytes) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in data.splitlines()]


@pytest.fixture
def link() -> Iterator[Pair]:
    """The front's end of its connection, and the server's."""
    mine, other = socket.socketpair()
    other.settimeout(5)
    with mine, other:
        yield mine, other


class Client:
    """A front whose client has sent some lines, and what was written to that client."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, sent: bytes = b"") -> None:
        self._answers, written = os.pipe()
        monkeypatch.setattr(front, "_claim_descriptors", lambda: (io.BytesIO(sent), written))
        self.server = SimpleNamespace(api_key="k")
        self.front = Front(cast(Any, self.server), WrapOrder(command=["x"]))

    def read(self) -> list[dict[str, Any]]:
        os.close(self.front._stdout)
        with os.fdopen(self._answers, "rb") as answers:
            return read(answers.read())


START: dict[str, Any] = {"id": 1, "method": "initialize"}
CALL: dict[str, Any] = {"id": 0, "method": "tools/call"}
TOLD: dict[str, Any] = {"method": "notifications/initialized"}
SAID: dict[str, Any] = {"method": front.SAID_HERE, "params": {"data": "notes did not start"}}


def test_a_clients_lines_go_to_the_server_and_its_requests_are_open(
    monkeypatch: pytest.MonkeyPatch, link: Pair
) -> None:
    sent = write(START, TOLD, CALL, {"id": 7, "result": {}}) + b"no JSON\n"
    client = Client(monkeypatch, sent)
    client.front._link = link[0]
    client.front._read_client()

    with link[1].makefile("rb") as told:
        assert told.read() == sent  # and then its end
    assert client.front._open == {1, 0}
    assert client.front._handshake == (1, write(START))
    assert client.front._over.is_set()
    assert client.read() == []


def test_a_client_that_ends_before_the_server_is_reached_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(monkeypatch, write(CALL))
    client.front._read_client()
    assert client.front._over.is_set() and client.front._open == {0} and client.front._handshake is None
    assert client.read() == []


def test_answers_close_their_requests_and_what_the_server_says_goes_to_the_log(
    monkeypatch: pytest.MonkeyPatch, link: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client(monkeypatch)
    client.front._open = {0, 1, 2}
    question = {"id": 1, "method": "elicitation/create"}
    answer, progress = {"id": 0, "result": {}}, {"method": "notifications/progress"}
    link[1].sendall(write(answer, SAID, question, progress) + b"cut off")
    link[1].close()
    client.front._read_server(link[0])

    assert client.front._open == {1, 2}  # a question with the same number is no answer
    assert client.read() == [answer, question, progress]
    assert "notes did not start" in capsys.readouterr().err


def test_a_client_that_is_gone_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(monkeypatch)
    os.close(client._answers)
    client.front._write(b"x")
    assert client.front._over.is_set()
    os.close(client.front._stdout)


@pytest.mark.parametrize("greeted", [True, False])
def test_a_server_that_is_new_gets_the_handshake_and_open_requests_are_answered(
    monkeypatch: pytest.MonkeyPatch, link: Pair, greeted: bool
) -> None:
    client = Client(monkeypatch)
    client.front._open = {0}
    client.front._handshake = (1, write(START)) if greeted else None
    if greeted:
        link[1].sendall(write({"id": 1, "result": {}}))
    client.front._resume(link[0])
    link[0].shutdown(socket.SHUT_WR)

    assert client.front._link is link[0] and client.front._open == set()
    with link[1].makefile("rb") as told:
        assert read(told.read()) == ([START] if greeted else [])
    error = {"code": SERVER_ERROR, "message": LOST}
    assert client.read() == [{"jsonrpc": "2.0", "id": 0, "error": error}]


@pytest.mark.parametrize(
    ("answers", "refused"),
    [
        ([b"{}\n"], ""),
        ([b"", b"", b"{}\n"], ""),
        ([b'{"error":"no such command"}\n'], "no such command"),
        ([b""] * TRIES, "does not answer"),
    ],
)
def test_a_server_is_told_what_is_wrapped_until_one_answers(
    monkeypatch: pytest.MonkeyPatch, answers: list[bytes], refused: str
) -> None:
    client, pairs = Client(monkeypatch), [socket.socketpair() for _ in answers]
    for (_, other), answer in zip(pairs, answers, strict=True):
        other.sendall(answer)
        other.shutdown(socket.SHUT_WR)
    links = (mine for mine, _ in pairs)
    client.server.connect = lambda *_: next(links)
    monkeypatch.setattr(front, "POLL_SECONDS", 0)

    if refused:
        with pytest.raises(CannotWrap, match=refused):
            client.front._connect()
    else:
        assert client.front._connect() is pairs[-1][0]
    for mine, other in pairs:
        mine.close()
        with other, other.makefile("rb") as sent:
            told = sent.read()
        assert int.from_bytes(told[:4]) == len(told[4:])
        assert msgspec.json.decode(told[4:])["profile"]["command"] == ["x"]
    assert client.read() == []


def test_a_front_that_cannot_work_says_why_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client(monkeypatch)

    def fail(*_: Any) -> Any:
        raise NoServer("the port is taken")

    assert front.wrap(cast(Any, SimpleNamespace(api_key="k", connect=fail)), WrapOrder()) == 1
    assert "the port is taken" in capsys.readouterr().err
    assert client.read() == []


@pytest.mark.parametrize(("words", "options"), [([], {}), (["x"], {"--config": "mcp.json"})])
def test_a_command_or_a_file_is_wrapped_and_not_both(words: list[str], options: dict[str, str]) -> None:
    with pytest.raises(CannotWrap):
        read_order(words, options, frozenset(), {}, lambda path: "{}")


def test_an_order_has_the_files_and_the_variables_that_they_name_but_none_of_this_server() -> None:
    config = "${KNOWN} ${env:ALSO} ${MISSING} ${ASSENT_API_KEY}"
    files = {"mcp.json": config, "rules.toml": "[notes]"}
    environ = {"KNOWN": "1", "ALSO": "2", "ASSENT_API_KEY": "k", "PATH": "/bin", "OTHER": "3"}
    options = {"--config": "mcp.json", "--rules": "rules.toml"}
    order = read_order([], options, frozenset({"--trust"}), environ, lambda path: files[str(path)])

    assert order.variables == {"KNOWN": "1", "ALSO": "2"}
    assert (order.config, order.rules) == (config, "[notes]")
    assert order.environment == {"PATH": "/bin"} and order.unpassed == ["OTHER"]
    assert (order.trust, order.observe) == (True, False)
    plain = read_order(["x"], {}, frozenset({"--observe"}), {})
    assert (plain.config, plain.rules, plain.trust, plain.observe) == (None, None, False, True)


@pytest.mark.parametrize(
    "error", [FileNotFoundError(2, "No such file"), UnicodeDecodeError("utf-8", b"", 0, 1, "bad")]
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(error: Exception) -> None:
    def fail(path: Any) -> str:
        raise error

    with pytest.raises(CannotWrap, match=r"mcp\.json.*(No such file|bad)"):
        read_order([], {"--config": "mcp.json"}, frozenset(), {}, fail)


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[WrapOrder]:
    """What fronts were told to wrap. Each of them ends with 7."""
    found: list[WrapOrder] = []

    def wrap(_: Any, order: WrapOrder) -> int:
        found.append(order)
        return 7

    monkeypatch.setattr(front, "wrap", wrap)
    return found


@pytest.mark.parametrize(
    ("own", "command", "env"),
    [
        ([], ["x", "--name", "y"], []),
        (["--name", "notes", "--env", "PATH", "--env", "HOME"], ["x"], ["PATH", "HOME"]),
    ],
)
def test_what_follows_two_dashes_is_the_servers_command(
    own: list[str], command: list[str], env: list[str], tmp_path: Path, orders: list[WrapOrder]
) -> None:
    assert front.run(["--data-dir", str(tmp_path), *own, "--", *command]) == 7
    assert (orders[0].command, orders[0].named) == (command, env)
    assert orders[0].name == ("notes" if own else "")
    assert front.run(["--data-dir", str(tmp_path)]) == 2  # nothing to wrap


def test_the_command_of_help_wraps_as_the_short_way_does(tmp_path: Path, orders: list[WrapOrder]) -> None:
    assert commands.wrap(["x"], name="notes", trust=True, data_dir=str(tmp_path)) == 7
    assert commands.wrap(["x"], observe=True, env=["PATH"]) == 7
    found = [(each.command, each.name, each.trust, each.observe, each.named) for each in orders]
    assert found == [(["x"], "notes", True, False, []), (["x"], "", False, True, ["PATH"])]
    with pytest.raises(Failure):
        commands.wrap(None, data_dir=str(tmp_path))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, []),
        ({"tools": "", "wait": 0}, ["--tools", "", "--wait", "0"]),
        ({"base_url": "http://x", "print_settings": True}, ["--base-url", "http://x", "--print-settings"]),
    ],
)
def test_the_command_of_help_runs_the_hook_with_the_given_flags(
    given: dict[str, Any], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "run_hook", lambda found: 2 if found == words else 0)
    with pytest.raises(typer.Exit) as end:
        commands.hook_claude_code(**given)
    assert end.value.exit_code == 2


def test_the_commands_that_a_client_starts_take_no_flags_but_their_own() -> None:
    found = {each.name for each in EXTENSION.list_commands() if not each.has_common_flags}
    assert found == {"wrap", "unwrap", "hook claude-code"}


@pytest.mark.parametrize(
    ("answer", "status", "out", "err"),
    [
        (HookAnswer(), 0, "", ""),
        (HookAnswer("{}"), 0, "{}", ""),
        (HookAnswer("{}", "No.", 2), 2, "{}", "No.\n"),
    ],
)
def test_an_answer_of_the_hook_is_written_with_its_status(
    answer: HookAnswer, status: int, out: str, err: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert hook._write(answer) == status
    assert tuple(capfd.readouterr()) == (out, err)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Refused({"reason": "frozen", "userMessage": "Stopped."}), "Stopped. (frozen)"),
        (OSError("no route"), "OSError: no route"),
        (TimeoutError(), "TimeoutError: TimeoutError"),
    ],
)
def test_the_hook_says_what_kept_the_gate_from_answering(error: Exception, said: str) -> None:
    assert said in hook._explain(error)


@pytest.mark.parametrize(
    ("tools", "event"),
    [
        (" Write , ,!Bash,", {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}),
        ("Write", {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}),
        ("", {"hook_event_name": "SessionStart"}),
    ],
    ids=["left out", "not named", "no tool"],
)
def test_the_hook_leaves_other_tools_and_events_alone(
    tools: str, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = io.BytesIO(msgspec.json.encode(event))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=given))
    assert hook._answer(hook.read_options(["--tools", tools])) == HookAnswer()


def test_the_hook_of_an_event_that_cannot_be_read_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"{")))
    with pytest.raises(Refused, match="bad_event"):
        hook._answer(hook.read_options([]))


@pytest.mark.parametrize(
    ("claims", "status"), [(False, 0), (True, 1)], ids=["not allowed here", "unreadable"]
)
def test_a_result_that_the_hook_cannot_report_is_a_failure_and_denies_nothing(
    claims: bool, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if claims:
        (tmp_path / hook.CLAIMS).write_text("no folder")
    event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}}
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(msgspec.json.encode(event))))
    answer = hook._answer(hook.read_options(["--data-dir", str(tmp_path)]))
    assert (answer.status, answer.output, bool(answer.error)) == (status, "", claims)


def test_a_stray_print_of_the_front_is_no_part_of_the_protocol(capfd: pytest.CaptureFixture[str]) -> None:
    stdin, stdout = front._claim_descriptors()
    with stdin:
        os.write(stdout, b"protocol")
        os.write(1, b"stray")
        os.dup2(stdout, 1)
        os.close(stdout)
    assert tuple(capfd.readouterr()) == ("protocol", "stray")


@pytest.mark.parametrize(("tools", "asked"), [("", hook.DEFAULT_TOOLS), ("Read", "Read")])
def test_the_printed_hooks_ask_about_the_given_tools_or_about_those_that_change_something(
    tools: str, asked: str, tmp_path: Path
) -> None:
    options = hook.read_options(["--print-settings", "--tools", tools, "--data-dir", str(tmp_path)])
    (before,) = msgspec.json.decode(hook._answer(options).output)["hooks"]["PreToolUse"]
    assert before["matcher"].split("|")[0] == asked.split(",")[0]
    assert asked in before["hooks"][0]["command"]


def test_the_hook_that_is_late_ends_with_its_process() -> None:
    before = set(threading.enumerate())
    hook._deny_in_time(3600)
    (timer,) = set(threading.enumerate()) - before
    assert isinstance(timer, threading.Timer) and timer.daemon
    timer.cancel()
    timer.join()


def test_flags_of_the_hook_are_not_abbreviated_and_a_wrong_one_denies(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert hook.read_options(["--wait", "5"]).wait == 5
    assert hook.read_options([]).print_settings is False
    for wrong in (["--tool", "Bash"], ["--help"]):
        with pytest.raises(SystemExit) as end:
            hook.read_options(wrong)
        assert end.value.code == 2
    assert capsys.readouterr().out == ""
