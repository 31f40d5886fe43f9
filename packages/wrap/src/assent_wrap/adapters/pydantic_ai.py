"""Pydantic AI: a toolset behind the gate, as deferred tools.

    agent = Agent(model, toolsets=[GatedToolset(toolset)], output_type=[str, DeferredToolRequests])

A gated call is proposed and deferred: the run ends with `DeferredToolRequests`, whose metadata name the
review page. Resume with `requests.build_results(approve_all=True)`: that asks again, and the server decides.
An approved call runs once, also if the run is resumed twice.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
from pydantic_core import to_jsonable_python

from assent_wrap.adapters.calls import ClosedCall, ServerAddress, WaitingCall

SOURCE: Final = "pydantic-ai"


@dataclass
class GatedToolset(WrapperToolset[AgentDepsT]):
    """Asks the gate about the tools of these names; about all without names."""

    names: Collection[str] | None = None
    server: ServerAddress = field(default_factory=ServerAddress)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Run a call once it is approved. Raises `Refused`, and `ApprovalRequired` while a person decides."""
        if self.names is not None and name not in self.names:
            return await super().call_tool(name, tool_args, ctx, tool)
        async with self.server.open(SOURCE) as gate:
            key = f"{ctx.conversation_id}:{ctx.tool_call_id}"
            step = await gate.ask(name, to_jsonable_python(tool_args), key=key)
            if isinstance(step, WaitingCall):
                raise ApprovalRequired({"actionId": step.action_id, "reviewUrl": step.review_url})
            if isinstance(step, ClosedCall):
                return step.output if step.reason == "executed" else step.message
            try:
                arguments = tool.args_validator.validate_python(step.arguments)
                result = await super().call_tool(name, arguments, ctx, tool)
            except BaseException as error:
                await gate.report(step, "unknown", detail=f"the tool raised {type(error).__name__}")
                raise
            await gate.report(step, "executed", output=to_jsonable_python(result))
            return result
