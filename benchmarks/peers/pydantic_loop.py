"""The approval loop in Pydantic AI, in process: a call of a tool that requires approval, a person's yes, the effect.

The framework keeps nothing. This program writes the history of the run into SQLite when it is deferred, the approval
when it is given, and the history again at the end, each synced to disk. The model is a function that calls the tool at
once. Publishing is a function that returns at once.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from itertools import count
from pathlib import Path

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelMessagesTypeAdapter
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from benchmarks.peers.driver import serve

published: list[str] = []


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Call the tool for a new request, and end the run after its result."""
    last = messages[-1]
    assert isinstance(last, ModelRequest)
    if any(isinstance(part, ToolReturnPart) for part in last.parts):
        return ModelResponse(parts=[TextPart("It is published.")])
    return ModelResponse(parts=[ToolCallPart("publish", {"text": str(last.parts[0].content)})])


agent = Agent(FunctionModel(answer), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)  # type: ignore[untyped-decorator]
def publish(text: str) -> str:
    published.append(text)
    return "https://provider.example/1"


def open_store(directory: str) -> sqlite3.Connection:
    store = sqlite3.connect(Path(directory) / "runs.db", isolation_level=None)
    store.execute("PRAGMA journal_mode = WAL")
    store.execute("PRAGMA synchronous = FULL")
    store.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, history BLOB NOT NULL, approved TEXT)")
    return store


async def loop(store: sqlite3.Connection, number: int, text: str) -> None:
    proposed = await agent.run(text)
    store.execute("INSERT INTO runs (id, history) VALUES (?, ?)", (number, proposed.all_messages_json()))
    assert isinstance(proposed.output, DeferredToolRequests)
    (asked,) = proposed.output.approvals
    store.execute("UPDATE runs SET approved = ? WHERE id = ?", (asked.tool_call_id, number))
    history, approved = store.execute("SELECT history, approved FROM runs WHERE id = ?", (number,)).fetchone()
    done = await agent.run(
        message_history=ModelMessagesTypeAdapter.validate_json(history),
        deferred_tool_results=DeferredToolResults(approvals={approved: True}),
    )
    store.execute("UPDATE runs SET history = ? WHERE id = ?", (done.all_messages_json(), number))


def main() -> None:
    directory, text = sys.argv[1:]
    store, numbers = open_store(directory), count()

    async def caller(loops: int) -> None:
        for _ in range(loops):
            await loop(store, next(numbers), text)

    async def all_callers(callers: int, loops: int) -> None:
        await asyncio.gather(*(caller(loops) for _ in range(callers)))

    with asyncio.Runner() as runner:
        serve(lambda callers, loops: runner.run(all_callers(callers, loops)), published)


if __name__ == "__main__":
    main()
