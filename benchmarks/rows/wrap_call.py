"""A wrapped server against the same server without Assent: one call that passes through, and a list of 200 tools.

The official SDK's client speaks to both over stdio, as a user's client does. The wrapped server is the bare SDK server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import mcp
from mcp.client.stdio import StdioServerParameters

from benchmarks.figures import Figure, Limit, compared, require
from benchmarks.machine import assent, environment, free_port, python, serving

CALLS: Final = 300
LISTS: Final = 30
WARM: Final = 20
RULES: Final = '[bare.tools.echo]\nmode = "pass"\n'
AGAINST: Final = "the server itself"

Ask = Callable[[mcp.Client], Awaitable[bool]]
"""Makes one request and returns whether it worked."""


async def call(client: mcp.Client) -> bool:
    return not (await client.call_tool("echo", {"text": "hello"})).is_error


async def list_tools(client: mcp.Client) -> bool:
    return bool((await client.list_tools()).tools)


def measure(scratch: Path) -> list[Figure]:
    (scratch / "rules.toml").write_text(RULES)
    return [figure for tools in (1, 200) for figure in _measure_server(scratch, tools)]


def _measure_server(scratch: Path, tools: int) -> list[Figure]:
    bare, port = python("benchmarks.bare.stdio", str(tools)), free_port()
    settings = {"ASSENT_DATA_DIR": str(scratch / f"data-{tools}"), "ASSENT_PORT": str(port)}
    options = ("--name", "bare", "--rules", str(scratch / "rules.toml"), "--env", "PYTHONPATH")
    wrap = assent("wrap", *options, "--", *bare)
    with serving(assent("serve"), port, settings, scratch / "serve.log"):
        calls, lists = asyncio.run(_compare(wrap, bare, settings))
    about = f"{tools} tool" + ("s" if tools > 1 else "")
    work = f"a call that passes through, {about}"
    return [
        compared(work, AGAINST, "ms", *calls, successes=CALLS, limit=Limit(times=1.5)),
        compared(work, AGAINST, "ms", *calls, successes=CALLS, limit=Limit(more=2.0)),
        compared(f"tools/list, {about}", AGAINST, "ms", *lists, successes=LISTS, limit=Limit(more=2.0)),
    ]


Times = tuple[list[float], list[float]]


async def _compare(wrap: list[str], bare: list[str], settings: dict[str, str]) -> tuple[Times, Times]:
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                mcp.Client(StdioServerParameters(command=first, args=rest, env=environment(settings)))
            )
            for first, *rest in (wrap, bare)
        ]
        return await _in_turns(clients, call, CALLS), await _in_turns(clients, list_tools, LISTS)


async def _in_turns(clients: list[mcp.Client], ask: Ask, count: int) -> Times:
    """Return the milliseconds of each client, measured in turns."""
    times: Times = ([], [])
    for number in range(WARM + count):
        for client, taken in zip(clients, times, strict=True):
            began = time.perf_counter()
            require(int(await ask(client)), 1, "a request that works")
            if number >= WARM:
                taken.append((time.perf_counter() - began) * 1_000)
    return times
