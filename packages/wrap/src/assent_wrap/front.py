"""`assent wrap`: the front that a client starts instead of its MCP server.

It copies lines between the client and `assent serve` on the same data directory, which it starts if
none runs. The server owns the wrapped servers, so that a call and its approval outlive this process. It
runs in plain threads and imports little, because a client waits for its first answer.

If the server goes away, the front connects again, repeats the client's handshake, and answers each open
request with an error: the server may have done it, so it is not sent again.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from assent.platform import LocalServer, run_program
from assent_wrap.orders import OWN, REFERENCE, WrapOrder, list_unpassed, select_passed

TRIES: Final = 10
POLL_SECONDS: Final = 0.05
SERVER_ERROR: Final = -32000
SAID_HERE: Final = "notifications/message"
"""What the server tells the person at this process, whose client keeps it in a log."""
LOST: Final = (
    "The Assent server stopped while this call was open. If the call waited for approval, it still does: "
    "chieflab_list_pending_actions shows it. Do not repeat a call that may have been made."
)


class CannotWrap(Exception):  # noqa: N818 - a state of the process
    """The front cannot work. The message says why, and what to do."""


FLAGS: Final = ("--config", "--rules", "--name", "--env")
SWITCHES: Final = ("--trust", "--observe")


def run(arguments: Sequence[str]) -> int:
    """Run `assent wrap`. Standard output is the protocol's; messages go to standard error."""
    words = list(arguments)
    before = words[: words.index("--")] if "--" in words else words

    def work(server: LocalServer, given: Mapping[str, list[str]], switches: frozenset[str]) -> int:
        options = {flag: values[-1] for flag, values in given.items() if flag != "--env"}
        command, named = words[len(before) + 1 :], given.get("--env", ())
        return wrap(server, read_order(command, options, switches, os.environ, named=named))

    return run_program(
        "wrap",
        before,
        lambda loaded, *given: work(LocalServer(loaded.settings), *given),
        FLAGS,
        SWITCHES,
        wrong_usage=CannotWrap,
    )


def wrap(server: LocalServer, order: WrapOrder) -> int:
    """Run a front until its client disconnects. Returns the exit status."""
    try:
        Front(server, order).run()
    except (CannotWrap, ConnectionError) as error:
        _say(str(error))
        return 1
    return 0


class Front:
    """One client and its server."""

    def __init__(self, server: LocalServer, order: WrapOrder) -> None:
        self._server = server
        self._order = order
        self._stdin, self._stdout = _claim_descriptors()
        self._lock = threading.Lock()
        self._link: socket.socket | None = None
        self._open: set[Any] = set()
        """The ids of requests that are not answered."""
        self._handshake: tuple[Any, bytes] | None = None
        """The id and the line of the client's `initialize`."""
        self._over = threading.Event()

    def run(self) -> None:
        link = self._connect()
        with self._lock:
            self._link = link
        threading.Thread(target=self._read_client, daemon=True).start()
        while True:
            self._read_server(link)
            if self._over.is_set():
                return
            _say("the server has stopped; connecting again")
            link = self._connect()
            self._resume(link)

    def _connect(self) -> socket.socket:
        """Return a connection that has told the server what is wrapped. Raises `CannotWrap`."""
        body = msgspec.json.encode({"profile": self._order, "apiKey": self._server.api_key})
        for _ in range(TRIES):
            link = self._server.connect(_say)
            line = b""
            with contextlib.suppress(OSError):  # a server that is being killed still takes connections
                link.sendall(len(body).to_bytes(4) + body)
                line = _read_line(link)
            if line:
                answer = msgspec.json.decode(line)
                if "error" in answer:
                    raise CannotWrap(answer["error"])
                return link
            link.close()
            time.sleep(POLL_SECONDS)
        raise CannotWrap("The server on this data directory does not answer. Stop it and try again.")

    def _resume(self, link: socket.socket) -> None:
        """Repeat the handshake, and answer what was open."""
        with self._lock:
            if self._handshake is not None:
                _, line = self._handshake
                link.sendall(line)
                _read_line(link)  # the client has had this answer
            for request_id in self._open:
                error = {"code": SERVER_ERROR, "message": LOST}
                self._write(msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": error}) + b"\n")
            self._open.clear()
            self._link = link

    def _read_client(self) -> None:
        for line in self._stdin:
            head = _peek(line)
            with self._lock:
                if head.id is not msgspec.UNSET and head.method is not None:
                    self._open.add(head.id)
                    if head.method == "initialize":
                        self._handshake = (head.id, line)
                with contextlib.suppress(OSError):  # the other thread notices
                    if self._link is not None:
                        self._link.sendall(line)
        self._over.set()
        with self._lock, contextlib.suppress(OSError):
            if self._link is not None:
                self._link.shutdown(socket.SHUT_WR)

    def _read_server(self, link: socket.socket) -> None:
        """Copy answers until the connection ends."""
        rest = b""
        with contextlib.suppress(OSError):
            while chunk := link.recv(1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    head = _peek(line)
                    if head.method == SAID_HERE:
                        _say(msgspec.json.decode(line)["params"]["data"])
                        continue
                    if head.method is None and head.id is not msgspec.UNSET:
                        self._open.discard(head.id)
                    self._write(line + b"\n")
        link.close()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._stdout, view) :]
        except OSError:
            self._over.set()  # the client is gone


def _read_line(link: socket.socket) -> bytes:
    """Read one line, byte by byte: what follows belongs to another reader."""
    line = b""
    while not line.endswith(b"\n"):
        found = link.recv(1)
        if not found:
            break
        line += found
    return line


class _LineHead(msgspec.Struct):
    method: Any = None
    id: Any = msgspec.UNSET


def _peek(line: bytes) -> _LineHead:
    try:
        return msgspec.json.decode(line, type=_LineHead)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return _LineHead()


def _claim_descriptors() -> tuple[BinaryIO, int]:
    """Return the client's stdin and stdout. A stray print goes to stderr."""
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(2, 1)
    return stdin, stdout


def read_order(
    words: list[str],
    options: Mapping[str, str],
    flags: frozenset[str],
    environ: Mapping[str, str],
    read: Callable[[Path], str] = Path.read_text,
    *,
    named: Sequence[str] = (),
) -> WrapOrder:
    """Return what a command line asks to wrap. `named` are the values of `--env`. Raises `CannotWrap`."""
    if bool(words) == ("--config" in options):
        raise CannotWrap("Write the server's command after --, or name a client's file with --config.")

    def read_file(flag: str) -> str | None:
        if flag not in options:
            return None
        try:
            return read(Path(options[flag]))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise CannotWrap(f"{options[flag]} cannot be read: {why}.") from None

    for name in named:
        if not name.partition("=")[0].strip():
            raise CannotWrap("--env needs the name of a variable, such as --env GITHUB_TOKEN.")
        if "=" in name:
            raise CannotWrap(
                "--env takes the name of a variable and passes its value on: a value on a command line can be read by "
                f"every process. Set {name.partition('=')[0]}, and write --env {name.partition('=')[0]}."
            )
        if name.startswith(OWN):
            raise CannotWrap(f"No wrapped server gets a variable of Assent. Leave --env {name} out.")
        if name not in environ:
            raise CannotWrap(f"--env {name}: this variable is not set. Set it, or leave --env {name} out.")
    config = read_file("--config")
    written = frozenset(REFERENCE.findall(config or ""))
    passed = select_passed(environ, named)
    return WrapOrder(
        command=words,
        name=options.get("--name", ""),
        config=config,
        config_path=options.get("--config", ""),
        rules=read_file("--rules"),
        rules_path=options.get("--rules", ""),
        cwd=str(Path.cwd()),
        environment=passed,
        named=list(named),
        variables={name: environ[name] for name in written if name in environ and not name.startswith(OWN)},
        unpassed=list_unpassed(environ, {*passed, *written}),
        trust="--trust" in flags,
        observe="--observe" in flags,
    )


def _say(text: str) -> None:
    sys.stderr.write(f"assent wrap: {text}\n")
    sys.stderr.flush()
