"""A server on the official SDK with prompts, resources and templates. With `--legacy` it speaks the handshake alone."""

from __future__ import annotations

import sys

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server

server = MCPServer("library")


@server.tool()
def count() -> int:
    return 3


@server.prompt(description="Asks for a summary.")
def summarise(title: str) -> str:
    return f"Summarise {title}."


@server.resource("book://emma", mime_type="text/plain")
def emma() -> str:
    return "Emma Woodhouse, handsome, clever, and rich"


@server.resource("book://by/{author}/{title}")
def find(author: str, title: str) -> str:
    return f"{title} by {author}"


async def speak_legacy() -> None:
    inner = server._lowlevel_server
    async with stdio_server() as (reads, writes), inner.lifespan(inner) as state:
        await serve_loop(inner, reads, writes, lifespan_state=state)


if __name__ == "__main__":
    if "--legacy" in sys.argv:
        anyio.run(speak_legacy)
    else:
        server.run("stdio")
