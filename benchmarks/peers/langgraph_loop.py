"""The approval loop in LangGraph on SQLite, in process: prepare, LangGraph's own interrupt, a person's yes, publish.

Runs in the peers' environment and knows nothing of Assent. Reads a number of loops from each line of its input, runs
them, each on a thread of its own, and prints how many seconds they took. Publishing is a function that returns at once.
"""

from __future__ import annotations

import sys
import time
from itertools import count
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict, total=False):
    """What the steps hand on."""

    text: str
    consent: bool
    url: str


def make_builder(published: list[str]) -> Any:
    def confirm(state: State) -> State:
        return {"consent": interrupt("May this be published?")}

    def publish(state: State) -> State:
        if state["consent"]:
            published.append(state["text"])
        return {"url": "https://provider.example/1"}

    builder = StateGraph(State)
    builder.add_node("confirm", confirm)
    builder.add_node("publish", publish)
    for before, after in ((START, "confirm"), ("confirm", "publish"), ("publish", END)):
        builder.add_edge(before, after)
    return builder


def main() -> None:
    published: list[str] = []
    numbers, text = count(), sys.argv[2]
    with SqliteSaver.from_conn_string(str(Path(sys.argv[1]) / "checkpoints.db")) as saver:
        graph = make_builder(published).compile(checkpointer=saver)
        for line in sys.stdin:
            loops, before, began = int(line), len(published), time.perf_counter()
            for _ in range(loops):
                thread = {"configurable": {"thread_id": str(next(numbers))}}
                graph.invoke({"text": text}, thread)
                graph.invoke(Command(resume=True), thread)
            took = time.perf_counter() - began
            if len(published) - before != loops:
                sys.exit("a loop published nothing")
            print(took, flush=True)


if __name__ == "__main__":
    main()
