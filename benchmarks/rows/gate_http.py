"""The loop over HTTP: by one caller against the loop in process and three calls that do nothing over the same path, and
by 64 callers against the floor.

Modern era, a key with every call, connections that stay open. The client is a few lines over a socket, because its
time is in every figure. The server is a process of its own on a data directory of its own, and runs its jobs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec
import uvloop

from benchmarks.figures import Figure, Limit, TooFewSuccesses, compared, in_turns, require
from benchmarks.machine import cpu_seconds, free_port, python, serving
from benchmarks.messages import MODERN, tool_call
from benchmarks.rows.gate_loop import AGAINST, TARGET, bare, floor_beside, inside
from benchmarks.rows.gate_world import APPROVE, EXECUTE, STAGE, Insider, database, in_status, wanted, world
from benchmarks.rows.store_loop import Cost, Stopwatch
from benchmarks.rows.tool_call import new_key

NOTHING: Final = "benchmark_nothing"
LOOPS: Final = 40
ROUNDS: Final = 15
WARM_UP: Final = 30
MANY: Final = 64
LOOPS_OF_EACH: Final = 3
ROUNDS_OF_MANY: Final = 9
LIMIT: Final = Limit(times=1.2)
LIMIT_OF_MANY: Final = Limit(times=3.2)


class Line:
    """One connection that stays open, and one call at a time over it."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._key = key
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The payload of an answer that is no refusal."""
        body, headers = tool_call(MODERN, tool, arguments)
        answer = await self.post("/api/mcp", body, {"Authorization": f"Bearer {self._key}", **headers})
        message = msgspec.json.decode(answer)
        result = message.get("result", {})
        if result.get("isError", True):
            raise TooFewSuccesses(f"{tool} answered {message}")
        return result["structuredContent"]

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        """The body of an answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Content-Length: {len(body)}\r\n{''.join(lines)}\r\n"
        )
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answer.partition(b"content-length:")[2].partition(b"\r\n")[0])
        return await reader.readexactly(length)

    async def loop(self) -> None:
        """Stage, approve, execute."""
        staged = await self.call(STAGE, wanted())
        about = {"actionId": staged["actions"][0]["id"]}
        await self.call(APPROVE, about)
        await self.call(EXECUTE, about)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def measure(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        served, beside, port = scratch / "served", scratch / "beside", free_port()
        key = new_key({"ASSENT_DATA_DIR": str(served)})
        command = python("benchmarks.rows.gate_server", str(served), str(port))
        pid = stack.enter_context(serving(command, port, {}, scratch / "server.log"))
        app = world(beside)
        stack.callback(lambda: runner.run(app.close()))
        lines = [Line(port, key) for _ in range(MANY)]
        for line in lines:
            stack.callback(line.close)
        return [
            _one_caller(runner, lines[0], Insider(app), served),
            _many_callers(runner, lines, beside, served, pid),
        ]


def _one_caller(runner: asyncio.Runner, line: Line, insider: Insider, served: Path) -> Figure:
    work = "stage, approve, execute, 1 caller over HTTP, time"
    runner.run(_looped([line], WARM_UP))
    runner.run(_nothing(line, WARM_UP))
    runner.run(inside(insider, WARM_UP))
    before = in_status(database(served), "executed")
    costs = in_turns(
        {
            "ours": lambda: runner.run(_looped([line], LOOPS)),
            "inside": lambda: runner.run(inside(insider, LOOPS)),
            "nothing": lambda: runner.run(_nothing(line, LOOPS)),
        },
        ROUNDS,
    )
    done = in_status(database(served), "executed") - before
    require(done, LOOPS * ROUNDS, f"{work}: actions executed")
    pairs = zip(costs["inside"], costs["nothing"], strict=True)
    return compared(
        work,
        "the loop in process and three calls that do nothing",
        "µs",
        [cost.wall for cost in costs["ours"]],
        [loop.wall + 3 * call.wall for loop, call in pairs],
        successes=done,
        limit=LIMIT,
    )


def _many_callers(runner: asyncio.Runner, lines: list[Line], beside: Path, served: Path, pid: int) -> Figure:
    work = f"stage, approve, execute, {len(lines)} callers over HTTP, time for each loop"
    floor = floor_beside(runner, beside)
    each_round = len(lines) * LOOPS_OF_EACH
    try:
        runner.run(_looped(lines, 1))
        before, at_work = in_status(database(served), "executed"), cpu_seconds(pid)
        costs = in_turns(
            {
                "ours": lambda: runner.run(_looped(lines, LOOPS_OF_EACH)),
                "theirs": lambda: bare(floor, each_round),
            },
            ROUNDS_OF_MANY,
        )
    finally:
        floor.close()
    done = in_status(database(served), "executed") - before
    require(done, each_round * ROUNDS_OF_MANY, f"{work}: actions executed")
    at_work = (cpu_seconds(pid) - at_work) / done * 1e6
    floors = [cost.wall for cost in costs["theirs"]]
    return compared(
        work,
        f"{AGAINST}, 1 caller",
        "µs",
        [cost.wall for cost in costs["ours"]],
        floors,
        successes=done,
        limit=LIMIT_OF_MANY,
        note=f"why not {TARGET:g}×: the processor time of the one server process is {at_work:.0f} µs a loop,"
        f" {at_work / median(floors):.2f}× the floor",
    )


async def _looped(lines: list[Line], loops: int) -> Cost:
    """What a loop costs, all callers at work at once."""

    async def caller(line: Line) -> None:
        for _ in range(loops):
            await line.loop()

    watch = Stopwatch()
    await asyncio.gather(*map(caller, lines))
    return watch.cost(loops * len(lines))


async def _nothing(line: Line, calls: int) -> Cost:
    """What a call costs that does nothing."""
    watch = Stopwatch()
    for _ in range(calls):
        await line.call(NOTHING, {})
    return watch.cost(calls)
