"""The real server with the conformance suite's diagnostic tools beside its own.

Some scenarios can only be tried with a tool that needs a capability, asks for input or would log. Assent has
none of these, so they are mounted here, on the same guard, message filter and dispatch that serve everybody.
Nothing of this is installed with Assent.

    python -m tests.support.interop.diagnostic_server --port N --data-dir DIR
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequests,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    SamplingMessage,
    TextContent,
)

from assent.app import App
from assent.kernel.tokens import KeyRing, TokenInvalid
from assent.processes.listening import bind
from assent.processes.serve import Surfaces, http_server
from assent.serving.edge import Edge
from assent.serving.mcp import McpServer
from assent.settings.load import load_settings

STATE = KeyRing.for_purpose((b"only for diagnostics: " + b"x" * 32,), "request state")

DONE = CallToolResult(content=[TextContent(text="done")])

QUESTION = ElicitRequest(
    params=ElicitRequestFormParams(
        message="Go on?",
        requested_schema={"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
    )
)

COMPLETION = CreateMessageRequest(
    params=CreateMessageRequestParams(
        messages=[SamplingMessage(role="user", content=TextContent(text="Say yes."))], max_tokens=8
    )
)


def missing_capability(ctx: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    if ctx.session.client_capabilities.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs the sampling capability",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return DONE


def asks_the_user(ctx: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    return InputRequiredResult(input_requests={"question": QUESTION})


def is_silent(ctx: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    return DONE


def keeps_state(ctx: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    if params.request_state is None:
        return InputRequiredResult(input_requests={"question": QUESTION}, request_state=STATE.sign(b"asked"))
    try:
        STATE.verify(params.request_state)
    except TokenInvalid:
        raise MCPError(code=INVALID_PARAMS, message="Invalid requestState") from None
    return DONE


def asks_what_it_can(ctx: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    able = ctx.session.client_capabilities
    requests: InputRequests = {}
    if able.elicitation is not None:
        requests["question"] = QUESTION
    if able.sampling is not None:
        requests["completion"] = COMPLETION
    return InputRequiredResult(input_requests=requests)


TOOLS: dict[str, Callable[[Any, CallToolRequestParams], CallToolResult | InputRequiredResult]] = {
    "test_missing_capability": missing_capability,
    "test_streaming_elicitation": asks_the_user,
    "test_logging_tool": is_silent,
    "test_input_required_result_tampered_state": keeps_state,
    "test_input_required_result_capabilities": asks_what_it_can,
}


class DiagnosticServer(McpServer):
    """Assent's dispatch with the diagnostic tools in front, and empty lists. The tools need the SDK's context."""

    DIRECT = ()

    def __init__(self, edge: Edge) -> None:
        super().__init__(edge)
        for method, empty in (
            ("prompts/list", ListPromptsResult(prompts=[])),
            ("resources/list", ListResourcesResult(resources=[])),
            ("resources/templates/list", ListResourceTemplatesResult(resource_templates=[])),
        ):
            self._server.add_request_handler(method, PaginatedRequestParams, _always(empty))

    async def _list_tools(self, ctx: Any, params: PaginatedRequestParams | None) -> dict[str, Any]:
        listing = await super()._list_tools(ctx, params)
        mounted = [
            {"name": name, "description": "Diagnostic.", "inputSchema": {"type": "object", "properties": {}}}
            for name in TOOLS
        ]
        return {**listing, "tools": [*listing["tools"], *mounted]}

    async def _call_tool(self, ctx: Any, params: CallToolRequestParams) -> Any:
        tool = TOOLS.get(params.name)
        return await super()._call_tool(ctx, params) if tool is None else tool(ctx, params)


def _always(result: Any) -> Any:
    async def handler(ctx: Any, params: PaginatedRequestParams | None) -> Any:
        return result

    return handler


async def run(port: int, data_dir: str) -> None:
    settings = load_settings({"port": port, "data_dir": data_dir}).settings
    app = App(settings)
    try:
        await app.prepare()
        surfaces = Surfaces(app)
        surfaces.messages = DiagnosticServer(surfaces.edge)
        await http_server(surfaces.site(), surfaces.end_streams).serve(sockets=bind(settings))
    finally:
        await app.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data-dir", required=True)
    arguments = parser.parse_args()
    sys.exit(asyncio.run(run(arguments.port, arguments.data_dir)))
