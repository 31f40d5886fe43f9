"""`assent wrap` on a machine where no server runs: from the start of the process to the first list of tools.

Each start has a data directory of its own, so it starts `assent serve`, which makes its database and starts the wrapped
server: the bare SDK server, which the same client also asks without Assent, in turns.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.figures import Figure, Limit, compared, in_turns, require
from benchmarks.machine import STOP_SECONDS, assent, environment, free_port, python
from benchmarks.messages import INITIALIZE

STARTS: Final = 5
AGAINST: Final = "the server itself"
LIST: Final = b'{"jsonrpc": "2.0", "id": "list", "method": "tools/list", "params": {}}\n'
READY: Final = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
POLL_SECONDS: Final = 0.02


def first_list(command: list[str], settings: dict[str, str], log: Path) -> float:
    """Milliseconds to the list of tools, by the handshake that clients begin with."""
    with log.open("wb") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment(settings),
        )
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(INITIALIZE)
        process.stdin.flush()
        process.stdout.readline()
        process.stdin.write(READY + LIST)
        process.stdin.flush()
        line = process.stdout.readline()
        taken = (time.perf_counter() - started) * 1_000
        process.stdin.close()
        process.stdout.close()
        process.wait(STOP_SECONDS)
    answer: dict[str, Any] = msgspec.json.decode(line) if line else {}
    names = [each["name"] for each in answer.get("result", {}).get("tools", ())]
    require(int("echo" in names), 1, f"{command} listed {names} and said {log.read_text()[-2000:]}")
    return taken


def measure(scratch: Path) -> list[Figure]:
    bare, directories = python("benchmarks.bare.stdio"), iter(range(1_000))
    command = assent("wrap", "--name", "bare", "--env", "PYTHONPATH", "--", *bare)

    def ours() -> float:
        directory = scratch / f"wrapped-{next(directories)}"
        settings = {"ASSENT_DATA_DIR": str(directory), "ASSENT_PORT": str(free_port())}
        try:
            return first_list(command, settings, scratch / "wrap.log")
        finally:
            _stop_server(directory)

    def theirs() -> float:
        return first_list(bare, {}, scratch / "bare.log")

    ours(), theirs()  # what is cold only once: byte code and the disk
    turns: dict[str, Callable[[], float]] = {"ours": ours, "theirs": theirs}
    times = in_turns(turns, STARTS)
    return [
        compared(
            "wrap, start to the first list of tools",
            AGAINST,
            "ms",
            times["ours"],
            times["theirs"],
            successes=STARTS,
            limit=Limit(times=2.0),
        )
    ]


def _stop_server(directory: Path) -> None:
    """End the server that the front has started, which outlives it."""
    announced = directory / "serve.json"
    pid = json.loads(announced.read_text())["pid"] if announced.is_file() else None
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and Path(f"/proc/{pid}/stat").exists():
            if Path(f"/proc/{pid}/stat").read_text().split(") ")[1].startswith("Z"):
                break
            time.sleep(POLL_SECONDS)
