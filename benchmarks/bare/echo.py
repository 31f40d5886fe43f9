"""A low-level SDK server with one tool that answers with its argument. Nothing is imported that it does not need."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

ECHO = Tool(
    name="echo",
    description="Answers with its argument.",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}},
)


async def call_tool(ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    text = str((params.arguments or {}).get("text", ""))
    return CallToolResult(content=[TextContent(type="text", text=text)])


def echo_server(tools: int = 1) -> Server[Any]:
    """With more than one tool, the others are the same under other names."""
    listed = [ECHO, *(ECHO.model_copy(update={"name": f"echo_{number}"}) for number in range(1, tools))]

    async def list_tools(ctx: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    # The schema look-up is given, so that a modern call does not run tools/list: the peer at its best.
    return Server(
        "bare",
        version="1",
        get_tool_input_schema=lambda name: ECHO.input_schema if name == ECHO.name else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
