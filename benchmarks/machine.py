"""Server processes and what they cost: starting one, its CPU clock, its resident memory."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 15.0
_SCHEDULED: Final = 2
"""The kernel's number for the clock that counts what a process ran, in user and in system mode."""


def python(module: str, *arguments: str) -> list[str]:
    """The command a console script of `module`'s `main` would be, in this environment."""
    return [sys.executable, "-c", f"from {module} import main; main()", *arguments]


def assent(*arguments: str) -> list[str]:
    """The installed command."""
    return [str(Path(sys.executable).with_name("assent")), *arguments]


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This process's environment, without the settings of a server that its owner may run. Byte code is written, as an
    installer does it: a start that compiles every module measures the compiler."""
    left_out = ("ASSENT_", "PYTHONDONTWRITEBYTECODE")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**inherited, "PYTHONPATH": str(ROOT), **settings}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(command: Sequence[str], port: int, settings: Mapping[str, str], log: Path) -> Iterator[int]:
    """A server that listens on `port` when entered and is stopped when left; gives its process id."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment(settings)
        )
    try:
        _wait_for_port(process, port, log)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen on {port}:\n{log.read_text()[-2000:]}")


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of a process so far, to the nanosecond."""
    return time.clock_gettime(~pid << 3 | _SCHEDULED)


def resident_bytes(pid: int) -> int:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} has no resident memory")
