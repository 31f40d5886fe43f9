"""The rewind of `examples/rewind.py` in LangGraph: write, a person's consent, publish, report; then back, and on again.

Runs in the peers' environment and knows nothing of Assent. `publish` writes into a ledger file of ours, which is the
oracle: what it holds has happened, whatever the graph's history says. Prints what was seen as one JSON object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

POST = "The importer now reads a million rows in nine seconds."


class State(TypedDict, total=False):
    """What the steps hand on."""

    text: str
    consent: bool
    report: str


def graph_over(ledger: Path) -> Any:
    """The four steps, one after the other; consent is asked for with LangGraph's own interrupt."""

    def write(state: State) -> State:
        return {"text": POST}

    def confirm(state: State) -> State:
        return {"consent": interrupt("May this be published?")}

    def publish(state: State) -> State:
        if state["consent"]:
            with ledger.open("a") as effects:
                effects.write(json.dumps({"published": state["text"]}) + "\n")
        return {}

    def report(state: State) -> State:
        return {"report": "It is published."}

    builder = StateGraph(State)
    steps = {"write": write, "confirm": confirm, "publish": publish, "report": report}
    for name, step in steps.items():
        builder.add_node(name, step)
    for before, after in zip((START, *steps), (*steps, END), strict=True):
        builder.add_edge(before, after)
    return builder


def effects_in(ledger: Path) -> list[str]:
    """Everything that was published, in order."""
    return [json.loads(line)["published"] for line in ledger.read_text().splitlines()]


def play(scratch: Path) -> dict[str, Any]:
    """The demonstration; what it showed."""
    ledger = scratch / "effects.jsonl"
    ledger.touch()
    thread = {"configurable": {"thread_id": "LAUNCH-1"}}
    with SqliteSaver.from_conn_string(str(scratch / "checkpoints.db")) as saver:
        graph = graph_over(ledger).compile(checkpointer=saver)
        asked = "__interrupt__" in graph.invoke({}, thread)
        graph.invoke(Command(resume=True), thread)
        before = effects_in(ledger)
        # The user rewinds to the moment before the post went out, and the agent goes on from there.
        past = next(state for state in graph.get_state_history(thread) if state.next == ("publish",))
        asked_again = "__interrupt__" in graph.invoke(None, past.config)
    return {"asked": asked, "before": before, "askedAgain": asked_again, "after": effects_in(ledger)}


def main() -> None:
    json.dump(play(Path(sys.argv[1])), sys.stdout)


if __name__ == "__main__":
    main()
