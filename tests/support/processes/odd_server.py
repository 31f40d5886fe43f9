"""The command `assent` with one tool that misbehaves, for tests of what surrounds the tools."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from typing import Any

from tests.support.catalog import ALL_TOOLS

from assent.__main__ import main

TOOL = "chieflab_list_connectors"


async def noisy(call: Any, request: Any) -> Any:
    """Every way there is to write to stdout by accident, and then a crash."""
    print("noise from print")  # noqa: T201
    sys.stdout.write("noise from sys.stdout\n")
    sys.stdout.flush()
    if sys.__stdout__ is not None:
        sys.__stdout__.write("noise from the first sys.stdout\n")
        sys.__stdout__.flush()
    os.write(1, b"noise from descriptor 1\n")
    subprocess.run(["sh", "-c", "echo noise from a child"], check=True)  # noqa: ASYNC221
    logging.getLogger("noise").error("noise from a logger")
    raise RuntimeError("noise from an exception")


async def greedy(call: Any, request: Any) -> Any:
    """Reads the protocol's own input."""
    taken = sys.stdin.readline()
    raise RuntimeError(f"took {taken!r}")


async def slow(call: Any, request: Any) -> Any:
    """Says that it has begun, and answers when it is let go."""
    gate = os.environ["ODD_GATE"]
    with open(gate + ".begun", "w"):  # noqa: PTH123, ASYNC230
        pass
    while not os.path.exists(gate + ".go"):  # noqa: PTH110, ASYNC110, ASYNC240
        await asyncio.sleep(0.01)
    return await ORIGINAL(call, request)


tool = next(tool for tool in ALL_TOOLS if tool.name == TOOL)
ORIGINAL = tool.handler
object.__setattr__(tool, "handler", {"noisy": noisy, "greedy": greedy, "slow": slow}[os.environ["ODD_TOOL"]])
main(sys.argv[1:])
