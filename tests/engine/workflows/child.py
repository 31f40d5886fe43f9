"""Processes that work on workflows beside the test: `python -m tests.engine.workflows.child URL DATA_DIR`.

One process imports what a server needs without its protocol, and forks a fresh one for every order that it reads, so
that each has a store of its own and can be killed. An order is a line of JSON:

    {"tool": "start" | "advance", "arguments": {…}, "processes": N, "kill_after_ms": x | null}

The answer is a line of JSON: a list with what each process came to, `null` for one that was killed first.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec
from tests.surfaces import settings_for

from assent.app import App
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.kernel.refusals import Refusal
from assent.tools.definition import Call, Prose
from assent.tools.workflows import WorkflowAdvance, WorkflowStart, advance_workflow, start_workflow

TOOLS: dict[str, tuple[Any, Any]] = {
    "start": (WorkflowStart, start_workflow),
    "advance": (WorkflowAdvance, advance_workflow),
}
HUNG_SECONDS = 60.0


async def serve(url: str, data_dir: str, order: dict[str, Any], ready: int, go: int, out: int) -> None:
    """What a forked process does: open the store, say so, wait for the word, call, answer."""
    app = App(settings_for(url, Path(data_dir)))
    await app.prepare()
    request, handler = TOOLS[order["tool"]]
    call = Call(
        services=app.owner_services,
        caller=LOCAL_PRINCIPAL,
        address="",
        request_id="",
        now_ms=app.clock.now_ms(),
    )
    os.write(ready, b"r")
    os.read(go, 1)
    try:
        said: Prose = await handler(call, msgspec.convert(order["arguments"], request))
        answer = msgspec.json.encode(said.reply)
    except Refusal as refusal:
        answer = msgspec.json.encode(refusal.recovery())
    os.write(out, answer + b"\n")


class Forked:
    """One process, ready to call."""

    def __init__(self, url: str, data_dir: str, order: dict[str, Any]) -> None:
        ready, ready_in = os.pipe()
        go_out, self.go = os.pipe()
        self.out, out_in = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                asyncio.run(serve(url, data_dir, order, ready_in, go_out, out_in))
                code = 0
            finally:
                os._exit(code)
        for used in (ready_in, go_out, out_in):
            os.close(used)
        found, _, _ = select.select([ready], [], [], HUNG_SECONDS)
        assert found and os.read(ready, 1) == b"r", "a process did not get ready"
        os.close(ready)

    def answer(self, within_ms: float | None) -> Any:
        """What it says in time; else it is killed."""
        raw = b""
        while not raw.endswith(b"\n"):
            seconds = HUNG_SECONDS if within_ms is None else within_ms / 1000
            found, _, _ = select.select([self.out], [], [], seconds)
            chunk = os.read(self.out, 65_536) if found else b""
            if not chunk:
                break
            raw += chunk
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.out)
        os.close(self.go)
        return json.loads(raw) if raw.endswith(b"\n") else None


def main(url: str, data_dir: str) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        forked = [Forked(url, data_dir, order) for _ in range(order["processes"])]
        for each in forked:
            os.write(each.go, b"g")
        answers = [each.answer(order["kill_after_ms"]) for each in forked]
        sys.stdout.write(json.dumps(answers) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
