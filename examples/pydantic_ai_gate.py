"""A Pydantic AI agent whose tool needs a person, and which may end while the person thinks.

    python examples/pydantic_ai_gate.py start FOLDER
    python examples/pydantic_ai_gate.py resume FOLDER

ASSENT_BASE_URL and ASSENT_API_KEY name the server. `start` proposes the call, stores the messages and ends.
`resume` goes on from them in another process: it runs the call if a person has approved it, and only once.
The model is a fake one; FOLDER has the messages and the ledger that the tool writes.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, FunctionToolset
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from assent_wrap.adapters.pydantic_ai import GatedToolset


def build_agent(folder: Path) -> Agent[None, Any]:
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain
    def delete_branch(name: str) -> str:
        """Delete a branch of the repository."""
        with (folder / "ledger.txt").open("a") as ledger:
            ledger.write(f"{name}\n")
        return f"deleted {name}"

    def think(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """Ask for the tool once, then say what it answered."""
        answered = [part for part in messages[-1].parts if part.part_kind == "tool-return"]
        if answered:
            return ModelResponse([TextPart(f"The tool answered: {answered[0].content}")])
        return ModelResponse([ToolCallPart("delete_branch", {"name": "old"})])

    gated = GatedToolset(tools, names={"delete_branch"})
    return Agent(FunctionModel(think), toolsets=[gated], output_type=[str, DeferredToolRequests])


async def main(step: str, folder: Path) -> None:
    agent, kept = build_agent(folder), folder / "messages.json"
    if step == "start":
        result = await agent.run("Clean up the branches.")
    else:
        messages = ModelMessagesTypeAdapter.validate_json(kept.read_bytes())
        calls = [part for part in messages[-1].parts if isinstance(part, ToolCallPart)]
        asked = DeferredToolRequests(approvals=calls)
        results = asked.build_results(approve_all=True)
        result = await agent.run(message_history=messages, deferred_tool_results=results)
    waits = isinstance(result.output, DeferredToolRequests)
    if waits:
        kept.write_bytes(ModelMessagesTypeAdapter.dump_json(result.all_messages()))
    waiting = list(result.output.metadata.values()) if waits else []
    print(json.dumps({"waiting": waiting, "said": "" if waits else result.output}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
