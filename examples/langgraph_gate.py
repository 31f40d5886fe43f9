"""A LangGraph agent whose tool needs a person, and which may end while the person thinks.

    python examples/langgraph_gate.py start FOLDER
    python examples/langgraph_gate.py resume FOLDER
    python examples/langgraph_gate.py rewind FOLDER

ASSENT_BASE_URL and ASSENT_API_KEY name the server. `start` proposes the call and ends. `resume` goes on in
another process: it runs the call if a person has approved it. `rewind` replays the thread from before the
call, which neither repeats it nor reuses its approval. The model is a fake one; FOLDER has the checkpoints
and the ledger that the tool writes.
"""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

from assent_wrap.adapters.langgraph import GatedTools

THREAD: Any = {"configurable": {"thread_id": "release-42"}}


def build_graph(folder: Path, checkpoints: Any) -> Any:
    @tool
    def delete_branch(name: str) -> str:
        """Delete a branch of the repository."""
        with (folder / "ledger.txt").open("a") as ledger:
            ledger.write(f"{name}\n")
        return f"deleted {name}"

    def think(state: MessagesState) -> dict[str, Any]:
        """Ask for the tool once, then say what it answered."""
        *_, last = state["messages"]
        if isinstance(last, ToolMessage):
            said = AIMessage(f"The tool answered: {last.content}")
        else:
            call = {"name": "delete_branch", "args": {"name": "old"}, "id": f"call-{uuid.uuid4()}"}
            said = AIMessage("", tool_calls=[call])
        return {"messages": [GenericFakeChatModel(messages=iter([said])).invoke(state["messages"])]}

    gate = GatedTools(names={"delete_branch"})
    builder = StateGraph(MessagesState)
    builder.add_node("think", think)
    builder.add_node("tools", ToolNode([delete_branch], wrap_tool_call=gate.wrap, awrap_tool_call=gate.awrap))
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", tools_condition)
    builder.add_edge("tools", "think")
    return builder.compile(checkpointer=checkpoints)


def main(step: str, folder: Path) -> None:
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as checkpoints:
        graph = build_graph(folder, checkpoints)
        if step == "start":
            result = graph.invoke({"messages": [("user", "Clean up the branches.")]}, THREAD)
        elif step == "resume":
            result = graph.invoke(Command(resume="go on"), THREAD)
        else:
            # The oldest checkpoint in which the tool is next: the call has not run there.
            before = [each for each in graph.get_state_history(THREAD) if each.next == ("tools",)][-1]
            result = graph.invoke(None, before.config)
            if "__interrupt__" in result:
                result = graph.invoke(Command(resume="go on"), THREAD)
    waiting = [each.value for each in result.get("__interrupt__", ())]
    print(json.dumps({"waiting": waiting, "said": result["messages"][-1].content}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
