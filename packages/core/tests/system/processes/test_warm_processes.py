"""A forked process is like a started one for whoever looks at it from outside."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import warm_processes
from tests.support.processes.running import ASSENT, environment

REPORT = """
import atexit, json, os, signal, sys
atexit.register(lambda: print("and at the end"))
facts = {
    "argv": sys.argv, "path": sys.path[0], "directory": os.getcwd(), "environment": dict(os.environ),
    "heard": sys.stdin.read(), "open": sorted(os.listdir("/dev/fd"))[:3],
    "interrupt": str(signal.getsignal(signal.SIGINT)), "lines": sys.stderr.line_buffering, "name": __name__,
}
print(json.dumps(facts))
print("\\udcff", file=sys.stderr)
sys.exit(7)
"""

Run = Callable[..., subprocess.CompletedProcess[Any]]


def report(run: Run, command: list[str], directory: Path) -> tuple[int, Any, str]:
    done = run(
        command,
        input="good day",
        capture_output=True,
        text=True,
        cwd=directory,
        env=environment({"ODD": "ä", "HOME": str(directory)}),
    )
    said, end = done.stdout.splitlines()
    assert end == "and at the end"
    return done.returncode, json.loads(said), done.stderr


def test_a_forked_program_sees_what_a_started_one_sees(tmp_path: Path) -> None:
    (tmp_path / "report.py").write_text(REPORT)
    command = [sys.executable, str(tmp_path / "report.py"), "--flag", "value"]
    forked = report(warm_processes.run, command, tmp_path)
    assert forked == report(subprocess.run, command, tmp_path)
    assert forked[0] == 7


def test_forked_and_started_commands_say_the_same_and_end_the_same_way() -> None:
    for words in (["--version"], ["workspace", "--help"], ["no-such-command"], ["stdio", "--no-such-flag"]):
        given: dict[str, Any] = {"capture_output": True, "env": environment({}), "input": b""}
        forked, started = (run([*ASSENT, *words], **given) for run in (warm_processes.run, subprocess.run))
        assert (forked.returncode, forked.stdout, forked.stderr) == (
            started.returncode,
            started.stdout,
            started.stderr,
        )


def test_a_forked_process_is_killed_as_any_child_is(tmp_path: Path) -> None:
    with warm_processes.Process(
        [*ASSENT, "stdio", "--data-dir", str(tmp_path)], stdin=subprocess.PIPE, env=environment({})
    ) as process:
        assert process.poll() is None
        process.kill()
        assert process.wait(30) == -signal.SIGKILL
