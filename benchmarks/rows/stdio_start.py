"""`assent stdio`: from the start of the process to its first answer, and what it holds in memory once it is idle.

Every start of ours has a data directory of its own, as the first start of a new user has.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, Limit, compared, in_turns, require
from benchmarks.machine import assent, environment, free_port, python, resident_bytes
from benchmarks.messages import INITIALIZE, succeeded

STARTS: Final = 11
IDLE_STARTS: Final = 2
IDLE_SECONDS: Final = 2.0
"""After the first answer: by then what waited for it (logging, store, jobs, the listening socket) is there."""
AGAINST: Final = "bare SDK server, one tool"


class Starts:
    """Starts one command again and again. A start that does not answer ends the measurement."""

    def __init__(self, command: list[str], settings: Callable[[], dict[str, str]], log: Path) -> None:
        self._command = command
        self._settings = settings
        self._log = log

    def start(self, stack: ExitStack) -> tuple[float, int]:
        """Milliseconds to the first answer, and the process id; the process ends with the stack."""
        settings = environment(self._settings())
        log = stack.enter_context(self._log.open("wb"))
        started = time.perf_counter()
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=settings,
        )
        stack.callback(process.wait, 15)
        assert process.stdin is not None and process.stdout is not None
        stack.callback(process.stdout.close)
        stack.callback(process.stdin.close)
        process.stdin.write(INITIALIZE)
        process.stdin.flush()
        answer = process.stdout.readline()
        taken = (time.perf_counter() - started) * 1_000
        told = f"{self._command} answered {answer!r} and said {self._log.read_text()[-2000:]}"
        require(bool(answer) and succeeded(answer), 1, told)
        return taken, process.pid

    def first_answer(self) -> float:
        with ExitStack() as stack:
            return self.start(stack)[0]

    def idle_memory(self) -> float:
        """Megabytes, some time after the first answer."""
        with ExitStack() as stack:
            pid = self.start(stack)[1]
            time.sleep(IDLE_SECONDS)
            return resident_bytes(pid) / 1_000_000


def measure(scratch: Path) -> list[Figure]:
    directories = iter(range(1_000))

    def settings() -> dict[str, str]:
        directory = scratch / f"data-{next(directories)}"
        return {"ASSENT_DATA_DIR": str(directory), "ASSENT_PORT": str(free_port())}

    ours = Starts(assent("stdio"), settings, scratch / "assent.log")
    theirs = Starts(python("benchmarks.bare.stdio"), dict, scratch / "bare.log")
    ours.first_answer(), theirs.first_answer()  # what is cold only once: byte code and the disk
    times = in_turns({"ours": ours.first_answer, "theirs": theirs.first_answer}, STARTS)
    sizes = in_turns({"ours": ours.idle_memory, "theirs": theirs.idle_memory}, IDLE_STARTS)
    return [
        compared(
            "stdio, start to first answer",
            AGAINST,
            "ms",
            times["ours"],
            times["theirs"],
            successes=STARTS,
            limit=Limit(times=1.2),
        ),
        compared(
            f"stdio, resident memory idle {IDLE_SECONDS:g} s after the first answer",
            AGAINST,
            "MB",
            sizes["ours"],
            sizes["theirs"],
            successes=IDLE_STARTS,
            limit=Limit(times=1.6),
        ),
    ]
