"""The server that the HTTP rows about the gate talk to: `assent serve` with a provider that does nothing, the tool
that stages, and a tool that does nothing at all, which is what any call costs before it does anything.

Its arguments are its data directory and its port.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import sys
from pathlib import Path
from typing import Final

import msgspec
import uvloop
from tests.support.catalog import ALL_TOOLS

from assent.processes.serve import Surfaces, http_server, running_jobs
from assent.settings.logs import configure_logging
from assent.tools.catalog import Catalog
from assent.tools.definition import READS, Call, Tool
from assent_conform.testing.operator import TOOL
from benchmarks.rows.gate_world import world


class Nothing(msgspec.Struct, frozen=True):
    ok: bool = True


async def nothing(call: Call, request: Nothing) -> Nothing:
    return Nothing()


NOTHING: Final = Tool(
    name="benchmark_nothing",
    title="Do nothing",
    description="Answers. Exists in measurements only.",
    behaviour=READS,
    request=Nothing,
    reply=Nothing,
    handler=nothing,
)


async def serve(data_dir: Path, port: int) -> None:
    app = world(data_dir)
    await app.prepare()
    surfaces = Surfaces(app)
    app.is_alone = surfaces.is_alone  # as `assent serve` does
    surfaces.edge.catalog = Catalog((*ALL_TOOLS, TOOL, NOTHING))
    server = http_server(surfaces.site(), surfaces.end_streams)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, setattr, server, "should_exit", True)
    gc.freeze()  # as `assent serve` does, too
    with socket.create_server(("127.0.0.1", port), backlog=1024) as listener:
        async with running_jobs(app):
            await server.serve(sockets=[listener])
    await app.close()


def main() -> None:
    data_dir, port = Path(sys.argv[1]), int(sys.argv[2])
    configure_logging(world(data_dir).settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(data_dir, port))
