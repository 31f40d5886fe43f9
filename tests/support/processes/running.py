"""Real processes of the installed `assent`: started, talked to, killed, and looked at from outside.

Decides how long anything may take before a test calls it hung. Knows a command line, HTTP and lines of JSON.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from tests.support.warm_processes import ASSENT as PROGRAM
from tests.support.warm_processes import Process

ASSENT: Final = (PROGRAM,)
ODD: Final = (sys.executable, str(Path(__file__).with_name("odd_server.py")))
"""The same command with one tool that misbehaves as the variable ODD_TOOL says."""

DEADLINE_SECONDS: Final = 30.0
UNLIMITED: Final = {"ASSENT_SIGNUPS_PER_HOUR": "10000000", "ASSENT_RATE_LIMIT_PER_MINUTE": "10000000"}
SECRETS: Final = {
    "RUN_TOKEN_SECRET": "a run token secret for the tests, long enough",
    "ASSENT_SECRET": "a master secret for the tests only, long enough",
}

T = TypeVar("T")


def eventually(condition: Callable[[], T], what: str, seconds: float = DEADLINE_SECONDS) -> T:
    """The first true value of a condition that another process will make true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        threading.Event().wait(0.02)
    return value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(extra: dict[str, str]) -> dict[str, str]:
    """This process's environment without the settings of a server that its owner may run."""
    ours = ("ASSENT_", "RUN_TOKEN_SECRET")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | extra


class Serve:
    """`assent serve` on a port of this machine. What it writes goes to a pipe, so that no disk limit touches it."""

    def __init__(
        self,
        data_dir: Path,
        settings: dict[str, str] | None = None,
        *,
        port: int | None = None,
        command: tuple[str, ...] = ASSENT,
        wait: bool = True,
    ) -> None:
        self.port = port or free_port()
        self.data_dir = data_dir
        self.base_url = f"http://localhost:{self.port}"
        self.process = Process(
            [*command, "serve", "--port", str(self.port), "--data-dir", str(data_dir)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(settings or {}),
        )
        self._out, self._err = _Collected(self.process.stdout), _Collected(self.process.stderr)
        if wait:
            self.wait_until_healthy()

    @property
    def log(self) -> str:
        return self._err.text

    @property
    def stdout(self) -> str:
        return self._out.text

    def wait_until_healthy(self) -> None:
        def healthy_or_gone() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"serve ended with {self.process.returncode}:\n{self.log}")
            return is_healthy(self.port)

        eventually(healthy_or_gone, "serve is healthy")

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def terminate(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.wait()

    def wait(self, seconds: float = DEADLINE_SECONDS) -> int:
        code = self.process.wait(seconds)
        self._out.finish()
        self._err.finish()
        return code

    def __enter__(self) -> Serve:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()


class StdioClient:
    """A client that started `assent stdio` and reads every line of its stdout, whatever it is."""

    def __init__(
        self,
        data_dir: Path,
        settings: dict[str, str] | None = None,
        *,
        flags: tuple[str, ...] = (),
        command: tuple[str, ...] = ASSENT,
        subcommand: str = "stdio",
    ) -> None:
        self.process = Process(
            [*command, subcommand, "--data-dir", str(data_dir), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(settings or {}),
        )
        self._err = _Collected(self.process.stderr)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.seen: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ids = iter(range(1, 10_000_000))

    @property
    def log(self) -> str:
        return self._err.text

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self, seconds: float = DEADLINE_SECONDS) -> bytes | None:
        """The next line of stdout; None at its end."""
        try:
            return self._lines.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"no answer within {seconds} s:\n{self.log}") from None

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """One request at a time; its answer."""
        request_id = next(self._ids)
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
        self.write(json.dumps(message | ({"params": params} if params is not None else {})).encode() + b"\n")
        line = self.line()
        assert line is not None, self.log
        answer: dict[str, Any] = json.loads(line)
        assert answer["id"] == request_id
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The payload of a tool call."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        payload: dict[str, Any] = answer["result"]["structuredContent"]
        return payload

    def end(self, seconds: float = DEADLINE_SECONDS) -> int:
        """Close the input, as a client does that goes; the exit status."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(seconds)
        self._reader.join()
        self._err.finish()
        return code

    def rest(self) -> list[bytes]:
        """Every line that was not asked for yet, after the end."""
        lines = []
        while (line := self.line()) is not None:
            lines.append(line)
        return lines

    def __enter__(self) -> StdioClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.end()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.seen.append(line)
            self._lines.put(line)
        self._lines.put(None)


class _Collected:
    """Reads a pipe to its end in a thread of its own, so that its process never waits for us."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._chunks: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        return b"".join(self._chunks).decode(errors="replace")

    def finish(self) -> None:
        self._thread.join()
        self._pipe.close()

    def _read(self) -> None:
        while chunk := os.read(self._pipe.fileno(), 65_536):
            self._chunks.append(chunk)


@contextlib.contextmanager
def connected(port: int, seconds: float = DEADLINE_SECONDS) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        yield connection
    finally:
        connection.close()


def fetch(port: int, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
    """One request over a connection of its own: status and text."""
    with connected(port) as connection:
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()


def ask(port: int, tool: str, key: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool over REST and return its payload, also of a refusal."""
    _, answer = fetch(port, "POST", f"/api/tools/{tool}", arguments, Authorization=f"Bearer {key}")
    payload: dict[str, Any] = json.loads(answer)
    return payload


def is_healthy(port: int) -> bool:
    try:
        return fetch(port, "GET", "/healthz")[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def sign_up(port: int) -> str:
    """The path of an acknowledged delivery link."""
    status, text = fetch(port, "POST", "/api/tools/chieflab_signup_workspace", {"email": "ada@example.org"})
    assert status == 200, text
    return path_of(json.loads(text)["deliveryUrl"])


def take_key(port: int, connection: http.client.HTTPConnection | None = None) -> str:
    """An acknowledged key of a new workspace, by the form that a person on this machine fills in."""
    with contextlib.ExitStack() as whole:
        used = connection or whole.enter_context(connected(port))
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        used.request("POST", "/get-key", f"email={os.urandom(4).hex()}%40example.org", form)
        response = used.getresponse()
        text = response.read().decode()
    assert response.status == 200, text
    found = re.search(r"clp_live_[A-Za-z0-9_-]{64}", text)
    assert found is not None
    return found[0]


WRITING_TOOL: Final = "chieflab_create_tenant"


def make_small_write() -> dict[str, str]:
    """Arguments of `WRITING_TOOL`: each call stores its answer under a key of its own."""
    return {"tenantId": "acme", "idempotencyKey": os.urandom(8).hex()}


def is_key(port: int, key: str) -> bool:
    tool = "/api/tools/chieflab_get_workspace"
    return fetch(port, "POST", tool, {}, Authorization=f"Bearer {key}")[0] == 200


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def find_own_address() -> str:
    """An address of this machine that is not loopback."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        # An address of the documentation: connecting a datagram socket sends nothing.
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return str(probe.getsockname()[0])
