"""The approval loop in LangGraph, in process: prepare, LangGraph's own interrupt, a person's yes, publish.

Its place is a directory for SQLite, or the address of a PostgreSQL database. Each loop has a thread of the graph of its
own. Publishing is a function that returns at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from benchmarks.peers.driver import in_threads, serve


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


@contextmanager
def open_saver(place: str) -> Iterator[Any]:
    if not place.startswith("postgresql://"):
        with SqliteSaver.from_conn_string(str(Path(place) / "checkpoints.db")) as saver:
            yield saver
        return
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(place, min_size=8, max_size=8, kwargs=options) as pool:
        saver = PostgresSaver(pool)
        saver.setup()
        yield saver


def main() -> None:
    published: list[str] = []
    numbers, text = count(), sys.argv[2]
    with open_saver(sys.argv[1]) as saver:
        graph = make_builder(published).compile(checkpointer=saver)

        def loop() -> None:
            thread = {"configurable": {"thread_id": str(next(numbers))}}
            graph.invoke({"text": text}, thread)
            graph.invoke(Command(resume=True), thread)

        serve(in_threads(loop), published)


if __name__ == "__main__":
    main()
