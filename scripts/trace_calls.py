"""Traces one call of each flow through a whole server.

    .venv/bin/python scripts/trace_calls.py [--counts | --files] [prepare|approve|execute|get|…]

A server on SQLite runs in this process, as in the tests, and has answered the same call before. The profiler
notes the functions of the package in the order of their calls, on every thread: one entry for a call, none when a
coroutine or generator goes on, none for lambdas and comprehensions. A call into another file than the entry before is
a switch. Printed are the files, the distinct functions and the switches; then every hop as module.function in order,
indented where the file stays the same, or with --files each file where the flow first enters it. Calls that follow
each other immediately and are equal count as one.
"""

from __future__ import annotations

import argparse
import asyncio
import dis
import json
import os
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = tuple(ROOT.glob("packages/*/src"))
sys.path.insert(0, str(ROOT))

import httpx  # noqa: E402
from tests.support.sqlite_files import new_sqlite  # noqa: E402
from tests.support.surfaces import BASE_URL, ManualClock, Surface, settings_for  # noqa: E402
from tests.support.wrap.kit import Wrapped  # noqa: E402

from assent.app import App  # noqa: E402
from assent.jobs.kinds import job_kinds  # noqa: E402
from assent.jobs.worker import Runner  # noqa: E402
from assent.processes import store_position  # noqa: E402
from assent.stores import sqlite_reading, sqlite_transactions  # noqa: E402
from assent_launch.learning import memory  # noqa: E402
from assent_wrap import gateway, proposals  # noqa: E402

store_position.RECORD_SECONDS = 600.0  # type: ignore[misc] # the position is recorded beside the calls, not by one
store_position.PAUSE_SECONDS = 600.0  # type: ignore[misc] # nor later, because a call before claimed an action
# A slow disk must not change which thread writes or reads.
sqlite_transactions.BRIEF_SECONDS = sqlite_reading.BRIEF_SECONDS = 60.0  # type: ignore[misc,attr-defined]

memory.WORDS_BATCH = 1 << 30  # type: ignore[misc] # words are indexed by one entry in many, drawn by its id
proposals.HOLD_SECONDS = 0  # type: ignore[misc] # the call answers that a person has to approve it, and waits for no one

WARM_UPS = 4
"""Calls before the traced one, so that every thread has opened its connection."""

POST = {
    "channel": "site",
    "goal": "first users for the import",
    "brand": {"name": "Ledgerleaf", "audience": "treasurers of small clubs"},
    "body": "Ledgerleaf now imports bank statements as CSV and matches them to the members of the club.",
}
STEPS = [
    {"id": f"step-{number}", "title": f"Step {number}", "prompt": f"Do {number}."}
    for number in range(WARM_UPS + 3)
]
WORKFLOW = {
    "id": "steps",
    "name": "Steps",
    "description": "To trace.",
    "version": "1.0.0",
    "steps": STEPS,
}


class Hop(NamedTuple):
    """One call of a function of the package."""

    module: str
    """As its file is called, without the suffix: `engine/actions/decisions` in the core, `assent_wrap/gateway`."""
    function: str

    def __str__(self) -> str:
        return f"{self.module}.{self.function}"


@dataclass(frozen=True)
class Trace:
    """The calls of one flow, in order."""

    hops: tuple[Hop, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """In the order in which the flow first enters them."""
        return tuple(dict.fromkeys(hop.module for hop in self.hops))

    @property
    def functions(self) -> int:
        return len(set(self.hops))

    @property
    def switches(self) -> int:
        return sum(before.module != after.module for before, after in pairwise(self.hops))

    def write(self) -> Iterator[str]:
        """A line for each hop."""
        last = None
        for hop in self.hops:
            yield f"    {hop.function}" if hop.module == last else str(hop)
            last = hop.module


class Profiler:
    """Notes calls on the thread that makes it and on every thread that starts later. There is one in a process, made
    before any other thread: threads are shared by servers and outlive them."""

    def __init__(self) -> None:
        self.hops: list[Hop] = []
        """The calls of the last recording."""
        self._recording = False
        self._known: dict[CodeType, Hop | None] = {}
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    @contextmanager
    def record(self) -> Iterator[None]:
        """Collects the calls made inside the block, in place of those collected before."""
        self.hops = []
        self._recording = True
        try:
            yield
        finally:
            self._recording = False

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        hops = self.hops
        if not self._recording or event != "call" or _goes_on(frame):
            return
        code = frame.f_code
        if code not in self._known:
            self._known[code] = _hop(code)
        hop = self._known[code]
        if hop is not None and (not hops or hops[-1] != hop):
            hops.append(hop)


def _goes_on(frame: FrameType) -> bool:
    """Whether a generator or coroutine is entered again: RESUME says so by its argument."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return at >= 0 and code[at] == dis.opmap["RESUME"] and code[at + 1] != 0


def _hop(code: CodeType) -> Hop | None:
    path = Path(code.co_filename)
    source = next((each for each in SOURCES if path.is_relative_to(each)), None)
    if code.co_name.startswith("<") or source is None or path.suffix != ".py":
        return None
    function = code.co_qualname.replace("<locals>.", "")
    return Hop(path.relative_to(source).with_suffix("").as_posix().removeprefix("assent/"), function)


@asynccontextmanager
async def serve(folder: Path, transport: str) -> AsyncIterator[Surface]:
    """A server with a signed-in client."""
    clock = ManualClock()
    settings = settings_for(new_sqlite(folder / "assent.db"), folder)
    app = App(settings, clock=clock, one_client=transport == "stdio")
    surface = Surface(app, transport)
    try:
        await surface.sign_in()
        yield surface
    finally:
        await surface.close()


async def call(surface: Surface, tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool call that has to work."""
    answer = await surface.call(tool, arguments)
    if answer.is_error:
        raise RuntimeError(f"{tool}: {answer.payload}")
    return answer.payload


async def trace_prepare(profiler: Profiler, folder: Path) -> None:
    """A post is staged, over HTTP."""
    async with serve(folder, "http") as surface:
        for _ in range(WARM_UPS + 1):
            with profiler.record():
                await call(surface, "chieflab_post", **POST)


async def trace_approve(profiler: Profiler, folder: Path) -> None:
    """A person's yes in the chat, over HTTP."""
    async with serve(folder, "http") as surface:
        for _ in range(WARM_UPS + 1):
            run = await call(surface, "chieflab_post", **POST)
            with profiler.record():
                await call(surface, "chieflab_approve_action", actionId=run["actions"][0]["id"])


async def trace_execute(profiler: Profiler, folder: Path) -> None:
    """An approved post is published, over HTTP."""
    async with serve(folder, "http") as surface:
        for _ in range(WARM_UPS + 1):
            action_id = (await call(surface, "chieflab_post", **POST))["actions"][0]["id"]
            await call(surface, "chieflab_approve_action", actionId=action_id)
            with profiler.record():
                await call(surface, "chieflab_execute_approved_action", actionId=action_id)


async def trace_get(profiler: Profiler, folder: Path) -> None:
    """An agent looks at an action that waits, over HTTP."""
    async with serve(folder, "http") as surface:
        run = await call(surface, "chieflab_post", **POST)
        for _ in range(WARM_UPS + 1):
            with profiler.record():
                await call(surface, "chieflab_get_action", actionId=run["actions"][0]["id"])


async def trace_wrap(profiler: Profiler, folder: Path) -> None:
    """A tool of a server behind this one is called, and a person has to approve it."""
    vars(gateway)["PINS_SECONDS"] = (
        3_600.0  # what was read before the traced call is not read again on a slow machine
    )
    wrapped = Wrapped(new_sqlite(folder / "assent.db"), folder)
    try:
        await wrapped.app.prepare()
        client = await wrapped.open(trust=True)
        await client.handshake()
        await client.names()
        for number in range(WARM_UPS + 1):
            with profiler.record():
                answer = await client.call("store", path="a", content=f"text {number}")
            if len(await wrapped.waiting()) != number + 1:
                raise RuntimeError(f"the call does not wait: {answer}")
        await client.close()
    finally:
        await wrapped.close()


async def trace_page(profiler: Profiler, folder: Path) -> None:
    """A person looks at the review page of a run, after they came by its link."""
    async with serve(folder, "http") as surface:
        run = await call(surface, "chieflab_post", **POST)
        transport = httpx.ASGITransport(app=surface.surfaces.site(), client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as browser:
            address = (await browser.get(run["reviewUrl"])).headers["Location"]
            for _ in range(WARM_UPS + 1):
                with profiler.record():
                    page = await browser.get(address)
                page.raise_for_status()


async def trace_advance(profiler: Profiler, folder: Path) -> None:
    """A step in the middle of a workflow is finished, over stdio."""
    (folder / "workflows").mkdir()
    definition = folder / "workflows" / "steps.json"
    definition.write_text(json.dumps(WORKFLOW))
    os.utime(definition, (1_000_000_000, 1_000_000_000))  # a file that has just changed is read again
    os.utime(definition.parent, (1_000_000_000, 1_000_000_000))
    async with serve(folder, "stdio") as surface:
        at = await call(surface, "workflow_start", workflowId=WORKFLOW["id"])
        for _ in range(WARM_UPS + 1):
            with profiler.record():
                at = await call(
                    surface, "workflow_advance", stateToken=at["stateToken"], ackToken=at["ackToken"]
                )


async def trace_measure(profiler: Profiler, folder: Path) -> None:
    """A run's measurement is due, a day after its post went out."""
    async with serve(folder, "http") as surface:
        kinds = {name: kind for name, kind in job_kinds(surface.app).items() if name == "measure_run"}
        runner = Runner(surface.app.store, surface.clock, kinds, worker="trace")
        for _ in range(WARM_UPS + 1):
            run = await call(surface, "chieflab_post", **POST)
            for tool in ("chieflab_approve_action", "chieflab_execute_approved_action"):
                await call(surface, tool, actionId=run["actions"][0]["id"])
            surface.clock.advance(hours=25)
            with profiler.record():
                ran = await runner.run_due_once()
            if ran != 1:
                raise RuntimeError(f"{ran} measurements were due")


FLOWS: dict[str, Callable[[Profiler, Path], Awaitable[None]]] = {
    "prepare": trace_prepare,
    "approve": trace_approve,
    "execute": trace_execute,
    "get": trace_get,
    "wrap": trace_wrap,
    "advance": trace_advance,
    "measure": trace_measure,
    "page": trace_page,
}


def trace(profiler: Profiler, flow: str) -> Trace:
    """The trace of one flow, by a server of its own."""
    with tempfile.TemporaryDirectory() as folder:

        async def run() -> None:
            await FLOWS[flow](profiler, Path(folder))

        asyncio.run(run())
    return Trace(tuple(profiler.hops))


def main() -> int:
    parser = argparse.ArgumentParser(description="Traces one call of each flow through a whole server.")
    parser.add_argument("flows", nargs="*", metavar="flow", help=" ".join(FLOWS))
    parser.add_argument("--counts", action="store_true", help="leave the hops out")
    parser.add_argument("--files", action="store_true", help="the files instead of the hops")
    options = parser.parse_args()
    profiler = Profiler()
    for flow in options.flows or FLOWS:
        found = trace(profiler, flow)
        sys.stdout.write(
            f"{flow}: {len(found.files)} files, {found.functions} functions, {found.switches} switches\n"
        )
        if options.files:
            sys.stdout.write(" → ".join(f"`{name}`" for name in found.files) + "\n")
        elif not options.counts:
            sys.stdout.write("".join(f"  {line}\n" for line in found.write()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
