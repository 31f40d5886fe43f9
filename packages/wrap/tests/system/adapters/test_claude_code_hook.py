"""`assent hook claude-code` as Claude Code runs it: a process for each event, which denies whatever fails."""

from __future__ import annotations

import http.server
import json
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.adapters.server import Server
from tests.support.processes.running import ASSENT, free_port
from tests.support.warm_processes import Process

pytestmark = pytest.mark.slow

HOOK = (*ASSENT, "hook", "claude-code")
PUSH = {"command": "git push", "timeout": 120000}


def event(name: str = "PreToolUse", **more: Any) -> bytes:
    given = {
        "session_id": "s-1",
        "transcript_path": "/srv/t.jsonl",
        "cwd": "/srv/app",
        "permission_mode": "default",
        "hook_event_name": name,
        "tool_name": "Bash",
        "tool_input": PUSH,
        "tool_use_id": "toolu_1",
        **more,
    }
    return json.dumps(given).encode()


class Hook:
    """One run of the hook."""

    def __init__(
        self, given: bytes, variables: dict[str, str], *flags: str, command: tuple[str, ...] = HOOK
    ) -> None:
        self._given = given
        self.process = Process(
            [*command, *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
        )
        assert self.process.stdin is not None
        self.process.stdin.write(given)
        self.process.stdin.close()
        self.process.stdin = None

    def end(self) -> tuple[int, dict[str, Any], str]:
        out, err = self.process.communicate(timeout=60)
        said = json.loads(out)["hookSpecificOutput"] if out else {}
        return self.process.returncode, said, err.decode()


def run(given: bytes, variables: dict[str, str], *flags: str, **more: Any) -> tuple[int, dict[str, Any], str]:
    return Hook(given, variables, *flags, **more).end()


def denied(found: tuple[int, dict[str, Any], str]) -> str:
    """The reason of an answer that denies in each of the ways that Claude Code reads."""
    status, said, error = found
    assert (status, said["hookEventName"], said["permissionDecision"]) == (2, "PreToolUse", "deny"), found
    assert error.strip() == said["permissionDecisionReason"]
    return error


@pytest.fixture
def flags(server: Server, tmp_path: Path) -> tuple[str, ...]:
    return "--data-dir", str(tmp_path / "own"), "--tools", "Bash,mcp__*,!mcp__assent__*"


def test_an_approved_call_runs_with_the_approved_input_and_its_result_is_reported(
    server: Server, flags: tuple[str, ...]
) -> None:
    hook = Hook(event(), server.variables(), *flags)
    action_id = server.one_waiting()
    server.approve(action_id)
    status, said, _ = hook.end()
    assert (status, said["permissionDecision"], said["updatedInput"]) == (0, "allow", PUSH)
    assert server.stored(action_id).execution_state == "executing"
    done = event("PostToolUse", tool_response={"stdout": "ok" * 10_000})
    assert run(done, server.variables(), *flags)[:2] == (0, {})
    stored = server.stored(action_id)
    assert (stored.status, stored.effect.details["context"]) == (
        "executed",
        {"Working directory": "/srv/app"},
    )
    output = stored.metadata["output"]
    assert (output["failed"], len(output["text"]), output["cut"]) == (False, 4_000, 20_013)
    assert list(Path(flags[1]).glob("hooks/*")) == []
    # A result of a call that this hook did not allow is left alone.
    assert run(done, server.variables(), *flags) == (0, {}, "")


def test_an_edited_call_runs_as_edited_and_other_arguments_make_its_outcome_unknown(
    server: Server, flags: tuple[str, ...]
) -> None:
    hook = Hook(event(), server.variables(), *flags)
    action_id = server.one_waiting()
    server.approve(action_id, command="git push --dry-run")
    status, said, _ = hook.end()
    assert (status, said["updatedInput"]) == (0, {"command": "git push --dry-run", "timeout": 120000})
    assert "other arguments" in said["permissionDecisionReason"]
    ran_anyway = event("PostToolUse", tool_response={"stdout": "pushed"})
    assert run(ran_anyway, server.variables(), *flags)[0] == 0
    stored = server.stored(action_id)
    assert stored.execution_state == "outcome_unknown"
    assert "other arguments" in stored.metadata["lastAttempt"]


def test_a_call_that_still_waits_is_denied_with_the_link_and_the_same_call_goes_on_later(
    server: Server, flags: tuple[str, ...]
) -> None:
    reason = denied(run(event(), server.variables(), *flags, "--wait", "0"))
    action_id = server.one_waiting()
    assert f"{server.base_url}/runs/{server.stored(action_id).run_id}" in reason
    again = event(session_id="s-2", tool_use_id="toolu_2")
    denied(run(again, server.variables(), *flags, "--wait", "0"))
    assert server.one_waiting() == action_id
    server.approve(action_id)
    status, said, _ = run(again, server.variables(), *flags, "--wait", "0")
    assert (status, said["permissionDecision"]) == (0, "allow")
    failed = event("PostToolUseFailure", session_id="s-2", tool_use_id="toolu_2", error="Exit code 1")
    assert run(failed, server.variables(), *flags)[0] == 0
    assert server.stored(action_id).metadata["output"] == {"failed": True, "text": "Exit code 1"}


def test_a_rejected_call_is_denied_with_the_persons_reason(server: Server, flags: tuple[str, ...]) -> None:
    hook = Hook(event(), server.variables(), *flags)
    server.reject(server.one_waiting(), "Not on a Friday.")
    assert "“Not on a Friday.”" in denied(hook.end())


def test_without_a_key_it_works_beside_the_server_on_the_same_data(server: Server) -> None:
    variables = {name: text for name, text in server.variables().items() if name != "ASSENT_API_KEY"}
    flags = ("--data-dir", str(server.data_dir))
    hook = Hook(event(tool_name="Write"), variables, *flags)
    action_id = server.one_waiting()
    server.approve(action_id)
    status, said, error = hook.end()
    assert (status, said.get("permissionDecision"), error) == (0, "allow", "")
    done = event("PostToolUse", tool_name="Write", tool_response="ok")
    assert run(done, variables, *flags)[:2] == (0, {})
    assert server.stored(action_id).status == "executed"


BROKEN = [
    b"",
    b"no json",
    b"{}",
    b"[]",
    event(tool_name=""),
    event(tool_input=None),
    event(tool_input="ls"),
    event(tool_name=7),
]


def test_an_event_that_cannot_be_read_is_denied(server: Server, flags: tuple[str, ...]) -> None:
    for given in BROKEN:
        assert "could not be read" in denied(run(given, server.variables(), *flags))


class _Odd(http.server.BaseHTTPRequestHandler):
    """Answers as its server says, whatever it is asked."""

    answers: tuple[int, bytes] = (200, b"")

    def do_POST(self) -> None:
        self.send_response(self.answers[0])
        self.end_headers()
        self.wfile.write(self.answers[1])

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def odd() -> Iterator[http.server.ThreadingHTTPServer]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Odd) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


ANSWERS = [
    (200, b"<html>"),
    (200, b"{}"),
    (200, b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"{\\"ok\\":true}"}]}}'),
    (500, b""),
    (200, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}'),
]


def test_a_server_that_is_down_odd_or_refuses_is_denied(
    server: Server, flags: tuple[str, ...], odd: http.server.ThreadingHTTPServer, tmp_path: Path
) -> None:
    down = server.variables(ASSENT_BASE_URL=f"http://127.0.0.1:{free_port()}")
    assert "check that its server runs" in denied(run(event(), down, *flags))
    for answer in ANSWERS:
        odd.RequestHandlerClass.answers = answer  # type: ignore[attr-defined]
        denied(run(event(), server.variables(ASSENT_BASE_URL=f"http://127.0.0.1:{odd.server_port}"), *flags))
    stranger = server.variables(ASSENT_API_KEY="clp_live_" + "a" * 64)
    assert "invalid_api_key" in denied(run(event(), stranger, *flags))
    too_long = event(tool_input={"command": "x" * 200_000})
    assert "characters together" in denied(run(too_long, server.variables(), *flags))
    without_key = {name: text for name, text in server.variables().items() if name != "ASSENT_API_KEY"}
    alone = run(event(), without_key, "--data-dir", str(tmp_path / "alone"))
    assert "serve --data-dir" in denied(alone)
    assert server.waiting() == []


def test_settings_that_cannot_be_read_and_a_wrong_flag_are_denied(server: Server, tmp_path: Path) -> None:
    (tmp_path / "assent.toml").write_text("port = [")
    denied(run(event(), server.variables(), "--config", str(tmp_path / "assent.toml")))
    denied(run(event(), server.variables(), "--config", str(tmp_path / "gone.toml")))
    (tmp_path / "file").write_text("")
    denied(run(event(), server.variables(), "--data-dir", str(tmp_path / "file"), "--wait", "0"))
    assert run(event(), server.variables(), "--no-such-flag")[0] == 2


def test_a_server_that_never_answers_is_denied_before_claude_code_gives_up(
    server: Server, flags: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mute = server.variables(ASSENT_BASE_URL=f"http://127.0.0.1:{silent.getsockname()[1]}")
        soon = (
            sys.executable,
            "-c",
            "import sys; from assent_wrap import hook; hook.SPARE_SECONDS = 2; "
            "sys.exit(hook.run_hook(sys.argv[1:]))",
        )
        assert "in time" in denied(run(event(), mute, *flags, "--wait", "0", command=soon))


def test_the_printed_settings_name_this_command_and_end_after_its_wait(
    server: Server, tmp_path: Path
) -> None:
    done = subprocess.run(
        [*HOOK, "--print-settings", "--tools", "Bash,mcp__*,!mcp__assent__*", "--data-dir", str(tmp_path)],
        env=server.variables(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    hooks = json.loads(done.stdout)["hooks"]
    assert set(hooks) == {"PreToolUse", "PostToolUse", "PostToolUseFailure"}
    (before,) = hooks["PreToolUse"]
    assert before["matcher"] == "Bash|mcp__.*"
    (command,) = before["hooks"]
    assert (command["timeout"], command["onFailure"]) == (570, "block")
    # The printed command works as it stands.
    words = shlex.split(command["command"])
    shell = subprocess.run(
        words, input=event(tool_name="Read"), env=server.variables(), capture_output=True, timeout=60
    )
    assert (shell.returncode, shell.stdout) == (0, b"")
    assert (
        b"--tools"
        in subprocess.run([*HOOK, "--help"], env=server.variables(), capture_output=True, timeout=60).stdout
    )
