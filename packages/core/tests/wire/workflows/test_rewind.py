"""The demonstration in `examples/rewind.py` shows what it says, and an advance costs the same at any length."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from benchmarks import rewind as peers
from tests.support.rules_manifest import ROOT
from tests.support.workflows.kit import WorkflowClient, definition
from tests.support.workflows.library import loop, step

from assent.ports import Begin, Transaction


def rewind() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rewind_example", ROOT / "examples" / "rewind.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.rule("W40", "W24")
def test_a_rewound_chat_has_one_effect_no_inherited_approval_and_a_branch(tmp_path: Path) -> None:
    example = rewind()
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "ship.json").write_text(json.dumps(example.WORKFLOW))
    server = example.Server(tmp_path)
    said: list[str] = []
    try:
        shown = example.play(server, said.append)
    finally:
        server.close()
    assert shown["passed"] == "report"
    assert shown["before"] == shown["after"] == ["site_publish", "workflow_confirm"]
    assert (shown["published_again"]["reason"], shown["published_again"]["status"]) == (
        "requires_approval",
        "executed",
    )
    assert shown["asked_again"]["reason"] == "requires_approval"
    assert shown["asked_again"]["actionId"] != shown["asked"]["actionId"]
    assert shown["warnings"] == ["new_branch", "decided_before"]
    assert len(shown["branches"]) == 2
    assert said


NO_PEERS = "LangGraph is not installed beside the project (make test brings it where packages can be had)"


@pytest.mark.slow
@pytest.mark.rule("W40", "W24")
def test_the_same_rewind_has_one_effect_here_and_two_in_langgraph(tmp_path: Path) -> None:
    if not (peers.PEERS / ".stamp").exists():
        pytest.skip(NO_PEERS)
    theirs = peers.langgraph_rewound(tmp_path / "langgraph")
    ours = peers.assent_rewound(tmp_path / "assent")
    assert (len(theirs.before), len(theirs.after), theirs.asked_again) == (1, 2, False)
    assert (len(ours.before), len(ours.after), ours.asked_again) == (1, 1, True)
    table = peers.shown([ours, theirs])
    assert "| effects after it          | 1" in table and "| 2 " in table


@pytest.mark.own_database
@pytest.mark.rule("W74")
async def test_an_advance_asks_the_store_the_same_at_any_length_of_the_run(client: WorkflowClient) -> None:
    forever = loop("again", [step("body")], type="while", condition={"var": "more"}, maxIterations=1_000)
    at = await client.start(definition("forever", forever), context={"more": True})
    store = client.surface.app.store
    seen: list[tuple[str, int]] = []
    real = store.write

    async def watched(begin: Begin[object]) -> object:
        def counting() -> Transaction[object]:
            running = begin()
            bound = next(running)
            while True:
                rows = yield bound
                seen.append((bound.statement.name, len(rows)))
                try:
                    bound = running.send(rows)
                except StopIteration as end:
                    return end.value

        return await real(counting)

    store.write = watched  # type: ignore[method-assign, assignment]
    asked: list[list[tuple[str, int]]] = []
    for _ in range(120):
        seen.clear()
        at = await client.advance(at, notesMarkdown="x" * 2_000)
        asked.append(list(seen))
    assert asked[1] and asked[1] == asked[-1]
    sizes = await client.sql("SELECT length(snapshot) FROM workflow_nodes ORDER BY node")
    assert sizes[-1][0] - sizes[2][0] <= 4
