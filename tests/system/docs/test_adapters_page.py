"""The page about agents that run their own tools: each of its blocks works as it stands."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packages.wrap.tests.system.adapters.test_frameworks import NO_PEERS, PEERS, ROOT
from tests.support.adapters.fixtures import served, server  # noqa: F401 - fixtures
from tests.support.adapters.server import Server
from tests.support.docs.pages import block_of, blocks_of
from tests.support.processes.running import ASSENT, SECRETS, environment

from assent.extensions.hooks import list_own_settings
from assent.settings.load import load_settings

PAGE = "adapters.md"

pytestmark = pytest.mark.slow

RESUMED_GRAPH = """
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

builder = StateGraph(MessagesState)
builder.add_node("tools", node)
builder.add_edge(START, "tools")
graph = builder.compile(checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "page"}}
call = {"name": "delete_branch", "args": {"name": "old"}, "id": "call-1"}
result = graph.invoke({"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]}, thread)
print(result["__interrupt__"][0].value["actionId"], flush=True)
input()
print(graph.invoke(Command(resume="go on"), thread)["messages"][-1].content)
"""
RESUMED_RUN = """
result = agent.run_sync("Clean up.")
(about,) = result.output.metadata.values()
print(about["actionId"], flush=True)
input()
results = result.output.build_results(approve_all=True)
print(agent.run_sync(message_history=result.all_messages(), deferred_tool_results=results).output)
"""


def test_every_block_of_the_page_is_executed_here() -> None:
    found = [language for language, _ in blocks_of(PAGE)]
    assert found == ["toml", "sh", "sh", "json", "python", "python", "python"]


def test_the_setting_of_the_page_is_read(tmp_path: Path) -> None:
    file = tmp_path / "assent.toml"
    file.write_text(block_of(PAGE, "toml"))
    wanted = tuple(tomllib.loads(file.read_text())["agent_risks"])
    loaded = load_settings({"config": str(file)}, {"HOME": str(tmp_path)}, list_own_settings())
    assert loaded.settings.added["agent_risks"] == wanted


def run_shell(text: str, **variables: str) -> str:
    """Run a command of the page with the installed program."""
    program, *words = shlex.split(text)
    assert program == "assent"
    done = subprocess.run(
        [*ASSENT, *words], env=environment(variables), capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_the_commands_of_the_page_make_a_key_and_print_its_settings(tmp_path: Path) -> None:
    variables = {"ASSENT_DATA_DIR": str(tmp_path), **SECRETS}
    run_shell("assent init", **variables)
    assert "clp_live_" in run_shell(block_of(PAGE, "sh", 0), **variables)
    printed = json.loads(run_shell(block_of(PAGE, "sh", 1), **variables))["hooks"]["PreToolUse"]
    shown = json.loads(block_of(PAGE, "json"))["hooks"]["PreToolUse"]
    said, meant = (each[0]["hooks"][0].pop("command") for each in (shown, printed))
    assert printed == shown
    assert shlex.split(meant)[1 : len(shlex.split(said))] == shlex.split(said)[1:]


def play(python: str, code: str, server: Server) -> Any:  # noqa: F811
    return subprocess.Popen(
        [python, "-c", code],
        env=server.variables(PYTHONPATH=f"{ROOT}/packages/core/src:{ROOT}/packages/wrap/src"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("position", "more"), [(0, RESUMED_GRAPH), (1, RESUMED_RUN)], ids=["langgraph", "pydantic"]
)
def test_the_tools_of_the_page_wait_for_a_person_and_run(server: Server, position: int, more: str) -> None:  # noqa: F811
    if not (PEERS / ".stamp").exists():
        pytest.skip(NO_PEERS)
    process = play(str(PEERS / "bin" / "python"), block_of(PAGE, "python", position) + more, server)
    action_id = server.one_waiting()
    assert process.stdout.readline().strip() == action_id
    server.approve(action_id, name="older")
    out, err = process.communicate(os.linesep, timeout=120)
    assert "deleted older" in out, err
    assert server.stored(action_id).status == "executed"


def test_the_agent_of_the_page_deploys_what_was_approved(server: Server) -> None:  # noqa: F811
    process = play(sys.executable, block_of(PAGE, "python", 2), server)
    action_id = server.one_waiting()
    server.approve(action_id)
    out, err = process.communicate(timeout=120)
    assert out.strip() == "deployed 1.4", err
    assert server.stored(action_id).status == "executed"
