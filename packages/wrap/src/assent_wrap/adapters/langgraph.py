"""LangGraph: the tools of a `ToolNode` behind the gate.

    gate = GatedTools(names={"delete_branch"})
    ToolNode(tools, wrap_tool_call=gate.wrap, awrap_tool_call=gate.awrap)

A gated call is proposed, and the graph is interrupted until a person has decided. The value with which the
graph is resumed does not count: the server decides. An approved call runs once, also if the thread is
replayed from an earlier checkpoint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, TypeAlias

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt

from assent_wrap.adapters.calls import ClosedCall, ServerAddress, WaitingCall

SOURCE: Final = "langgraph"
Result: TypeAlias = ToolMessage | Command[Any]


class GatedTools:
    """Asks the gate about the tools of these names; about all without names."""

    def __init__(self, server: ServerAddress | None = None, names: Collection[str] | None = None) -> None:
        self._server = server or ServerAddress()
        self._names = names

    def wrap(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Result]) -> Result:
        """For graphs that run without an event loop."""

        async def run(wanted: ToolCallRequest) -> Result:
            return execute(wanted)

        return asyncio.run(self.awrap(request, run))

    async def awrap(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Run a call once it is approved. Raises `Refused`, and the interrupt while a person decides."""
        call = request.tool_call
        if self._names is not None and call["name"] not in self._names:
            return await execute(request)
        thread_id = request.runtime.config["configurable"]["thread_id"]
        async with self._server.open(SOURCE) as gate:
            while True:
                step = await gate.ask(call["name"], call["args"], key=f"{thread_id}:{call['id']}")
                if not isinstance(step, WaitingCall):
                    break
                about = {"actionId": step.action_id, "reviewUrl": step.review_url}
                interrupt({**about, "tool": call["name"], "arguments": call["args"]})
            if isinstance(step, ClosedCall):
                said = step.output if step.reason == "executed" else step.message
                return ToolMessage(said, name=call["name"], tool_call_id=call["id"])
            approved: Any = {**call, "args": step.arguments}
            try:
                result = await execute(request.override(tool_call=approved))
            except BaseException as error:
                await gate.report(step, "unknown", detail=f"the tool raised {type(error).__name__}")
                raise
            failed = isinstance(result, ToolMessage) and result.status == "error"
            output = result.content if isinstance(result, ToolMessage) else None
            await gate.report(step, "unknown" if failed else "executed", output=output)
            return result
