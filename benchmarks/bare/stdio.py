"""The echo server over the SDK's own stdio transport."""

from __future__ import annotations

import asyncio
import sys

from mcp.server.stdio import stdio_server

from benchmarks.bare.echo import echo_server


async def _run(tools: int) -> None:
    server = echo_server(tools)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def main() -> None:
    asyncio.run(_run(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
