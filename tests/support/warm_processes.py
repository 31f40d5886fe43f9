"""Starts `assent` without importing it again: a process that has imported it forks for each start.

Imports are two thirds of the processor time of a short-lived `assent`. A forked one has its own number, environment,
directory and streams, is a child of the test's process, and can be killed like any other. Tests of the start itself
run the installed program with `subprocess`, and so does `Process` whenever a start needs more than a fork can give.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
from contextlib import redirect_stdout
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import assent.cli

ASSENT: Final = str(Path(sys.executable).with_name("assent"))
ROOT: Final = Path(__file__).parents[2]
MESSAGE_BYTES: Final = 2**17
STREAMS: Final = 3
DESCRIPTORS: Final = 256
"""More than the process that forks has open."""
SET_CHILD_SUBREAPER: Final = 36
"""Of prctl: orphans below this process become its children."""

PACKAGES: Final = ("assent", "assent_launch", "assent_notify", "assent_wrap")
NOT_SERVED: Final = (
    "assent.__main__",
    "assent_wrap.adapters.langgraph",
    "assent_wrap.adapters.pydantic_ai",
    "assent_launch.testing",
)
IMPORTED_LATE: Final = (
    "anyio._core._sockets",
    "asyncpg",
    "encodings.ascii",
    "httptools",
    "jsonschema",
)


class Process(subprocess.Popen[Any]):
    """`subprocess.Popen`, for which `assent` is forked."""

    def _execute_child(self, args: Any, executable: Any, preexec_fn: Any, *rest: Any) -> None:
        close_fds, pass_fds, cwd, env, _, _, shell, *more = rest
        streams, (_, gid, gids, uid, umask, new_session, group) = more[:6], more[6:]
        simple = (executable, preexec_fn, gid, gids, uid) == (None,) * 5 and (umask, group) == (-1, -1)
        plain = simple and close_fds and not (pass_fds or shell or new_session)
        if not (plain and _is_ours(*args) and _interprets_alike(env)):
            super()._execute_child(args, executable, preexec_fn, *rest)  # type: ignore[misc]
            return
        read_in, _, _, write_out, _, write_err = streams
        given = [given if given != -1 else own for own, given in enumerate((read_in, write_out, write_err))]
        order = {"argv": [*map(str, args)], "cwd": str(cwd or Path.cwd()), "env": {**(env or os.environ)}}
        self.pid = _parent().fork(order, given)
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]


def run(
    args: list[str], *, check: bool = False, timeout: float | None = None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run`, for which `assent` is forked."""
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    told = options.pop("input", None)
    if told is not None:
        options["stdin"] = subprocess.PIPE
    with Process(args, **options) as process:
        try:
            out, err = process.communicate(told, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _is_ours(program: str, first: str = "", second: str = "", *_: str) -> bool:
    """Whether this is `assent` or a program of the tests around it."""
    ours = first.endswith(".py") or (first == "-m" and second.split(".")[0] in ("assent", "tests"))
    return program == ASSENT or (program == sys.executable and ours)


def _interprets_alike(env: dict[str, str] | None) -> bool:
    """Whether Python itself would start with this environment as it did for the process that forks."""
    wanted = os.environ if env is None else env
    names = {name for name in (*wanted, *os.environ) if name.startswith(("PYTHON", "LC_", "LANG", "TZ"))}
    return all(wanted.get(name) == os.environ.get(name) for name in names)


class _Parent:
    """The process that has imported `assent`."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        self._line, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far:
            command = [sys.executable, "-m", "tests.support.warm_processes", str(far.fileno())]
            self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[far.fileno()])

    def fork(self, order: dict[str, Any], streams: list[int]) -> int:
        socket.send_fds(self._line, [json.dumps(order).encode(errors="surrogateescape")], streams)
        answer = self._line.recv(MESSAGE_BYTES)
        assert answer, "the process that forks has ended"
        return int(answer)

    def end(self) -> None:
        self._line.close()
        self._process.wait()


@cache
def _parent() -> _Parent:
    made = _Parent()
    atexit.register(made.end)
    return made


def find_modules() -> list[str]:
    """The modules that a server or a command may import."""
    found = (
        module.name
        for package in PACKAGES
        for spec in [find_spec(package)]
        if spec is not None
        for module in pkgutil.walk_packages(spec.submodule_search_locations, f"{package}.")
    )
    return [name for name in found if not name.startswith(NOT_SERVED)]


def wait_for_orders(line: socket.socket) -> list[str]:
    """Fork for each order, until the line ends. Returns in the forked process alone: the command it is to run."""
    while True:
        message, streams, _, _ = socket.recv_fds(line, MESSAGE_BYTES, STREAMS)
        if not message:
            sys.exit()
        answer, said = os.pipe()
        between = os.fork()
        if between == 0:
            # The process between ends at once, so that its child becomes one of the test's process.
            forked = os.fork()
            if forked == 0:
                line.detach()
                order = json.loads(message.decode(errors="surrogateescape"))
                become(order["cwd"], order["env"], streams)
                return list(order["argv"])
            os.write(said, str(forked).encode())
            os._exit(0)
        os.waitpid(between, 0)
        line.send(os.read(answer, MESSAGE_BYTES))
        for descriptor in (answer, said, *streams):
            os.close(descriptor)


def become(directory: str, environment: dict[str, str], streams: list[int]) -> None:
    """Take over the directory, the environment and the three streams of a start.

    A run that a shell began in the background ignores SIGINT, which an `assent` of its own may not inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(len(streams), DESCRIPTORS)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        before = getattr(sys, name)
        buffering = 1 if before.line_buffering else -1
        made = open(number, mode, buffering, before.encoding, before.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)


def play(program: str, *words: str) -> None:
    """Run a command as Python itself would."""
    if program == ASSENT:
        sys.path[0], sys.argv = str(Path(program).parent), [program, *words]
        importlib.import_module("assent.__main__").main()
    elif words[0] == "-m":
        sys.path[0], sys.argv = str(Path.cwd()), [*words[1:]]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0], sys.argv = str(Path(words[0]).parent), [*words]
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    for module in (*find_modules(), *IMPORTED_LATE):
        importlib.import_module(module)
    with redirect_stdout(io.StringIO()):
        assent.cli.run(["--version"])
    gc.freeze()  # a collection would copy the memory that the forked share
    play(*wait_for_orders(socket.socket(fileno=int(sys.argv[1]))))
