"""A store, a provider and the workers on them; and the evidence that a run leaves."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
from proof.checker import Verdict, judge
from proof.history import Call, Evidence, Trial, read_calls, read_export, read_ledger
from tests.support.proof.parts import JUDGED
from tests.support.proof.worker import Task, Turn
from tests.support.proof.workload import write_workflow

ROOT = Path(__file__).parents[3]
START_MS = 1_790_000_000_000
DEADLINE_SECONDS = 120.0


class Workers:
    """The other end of `tests.support.proof.worker`."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.support.proof.worker"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def start(self, task: Task) -> int:
        """Fork a worker; its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(task) + b"\n")
        return self._number()

    def end(self) -> int:
        """How the worker ended: 0, or minus the signal that ended it."""
        return self._number()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _number(self) -> int:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], DEADLINE_SECONDS)
        assert ready, "no word from the workers"
        return int(self._process.stdout.readline())


class Ground:
    """One run: everything in it happens on one store, and is judged together."""

    def __init__(self, database_url: str, folder: Path, provider: tuple[str, Path], workers: Workers) -> None:
        self._database_url = database_url
        self._folder = folder
        self._url, self._ledger = provider
        self._before = self._ledger.stat().st_size
        self.workers = workers
        write_workflow(folder)
        self.now_ms = START_MS

    @property
    def history(self) -> Path:
        return self._folder / "history.jsonl"

    def task(
        self,
        turns: list[Turn],
        *,
        broken: str = "",
        later_ms: list[int] | None = None,
        evidence: bool = False,
    ) -> Task:
        return Task(
            database_url=self._database_url,
            data_dir=str(self._folder),
            provider_url=self._url,
            ledger=str(self._ledger),
            history=str(self.history),
            now_ms=self.now_ms,
            broken=broken,
            turns=turns,
            later_ms=later_ms or [],
            evidence=str(self._folder / "evidence.json") if evidence else "",
        )

    def run(self, task: Task) -> int:
        self.workers.start(task)
        return self.workers.end()

    def judge(self, *, measured: bool = False) -> Verdict:
        """Judge by what the last worker read, the ledger since the start, and every history."""
        read = json.loads((self._folder / "evidence.json").read_text())
        with self.history.open(encoding="utf-8") as history:
            return judge_run(read_calls(history), read, self._ledger, self._before, measured=measured)


def judge_run(
    calls: list[Call],
    read: dict[str, Any],
    ledger: Path,
    before: int = 0,
    *,
    measured: bool = False,
    trials: tuple[Trial, ...] = (),
) -> Verdict:
    """Judge a run by its calls, what was read at its end, and what the ledger has after so many bytes."""
    with ledger.open(encoding="utf-8") as lines:
        lines.seek(before)
        requests, effects = read_ledger(lines)
    return judge(
        Evidence(
            calls=calls,
            requests=requests,
            effects=effects,
            events=read_export(read["export"]),
            earlier=[read_export(export) for export in read.get("earlier", ())],
            records=read["records"],
            deliveries=JUDGED,
            trials=[Trial("the server's own check", False, not read["verified"]), *trials],
            server_now_ms=read["now"] if measured else None,
        )
    )
