"""What a caller is told to call next is in the list that this caller gets, whatever its key or the server shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.answers import calls_of
from tests.support.catalog import ALL_TOOLS
from tests.support.contract.talk import request, say
from tests.support.keys import make_key
from tests.support.sources import list_modules
from tests.support.surfaces import Surface

from assent.kernel.reasons import MEANINGS, Reason
from assent.kernel.toolsets import GATE, TOOLSETS, choose
from assent.serving.edge import drop_unoffered
from assent.tools.catalog import Catalog
from assent.tools.definition import TOOLSET_OF

TOOL_NAME = re.compile(r"\b(?:chieflab|chiefmo|workflow)_[a-z_]+")
CALLABLE = {name for tool in ALL_TOOLS for name in (tool.name, *tool.aliases, *tool.legacy_names)}


async def key_with(surface: Surface, *toolsets: str) -> None:
    """Go on with a key that is shown these groups."""
    await surface.sign_in()
    assert surface.workspace_id is not None
    surface.key = await make_key(surface.app, surface.workspace_id, toolsets=toolsets)


async def listed(surface: Surface) -> set[str]:
    return {tool["name"] for tool in (await say(surface, request("tools/list"))).result["tools"]}


def suggested(node: Any) -> Iterator[str]:
    """Every call that an answer suggests, and every executor that it names."""
    if isinstance(node, list):
        for part in node:
            yield from suggested(part)
    elif isinstance(node, dict):
        if isinstance(node.get("args"), dict):
            yield from (node[key] for key in ("name", "tool") if isinstance(node.get(key), str))
        if isinstance(node.get("executorTool"), str):
            yield node["executorTool"]
        for part in node.values():
            yield from suggested(part)


async def test_a_key_is_shown_its_own_groups_and_the_gate(surface: Surface) -> None:
    await key_with(surface, "workflows")

    assert await listed(surface) == Catalog(ALL_TOOLS, toolsets=("workflows",)).offered


@pytest.mark.parametrize("toolsets", [(), ("workflows",), ("admin", "legacy"), TOOLSETS], ids=str)
async def test_no_answer_suggests_a_tool_outside_the_list(
    surface: Surface, toolsets: tuple[str, ...]
) -> None:
    await key_with(surface, *toolsets)
    names = await listed(surface)
    drafts = {"site": "We built a gate for agents.", "email": "Hello, it is here."}
    launch = {"goal": "Launch", "channels": ["site", "email", "x", "hn"], "drafts": drafts}
    answers = [(await surface.call("chieflab_launch_product", launch)).payload]
    [site] = [action["id"] for action in answers[0]["actions"] if action["channel"] == "site"]
    about = {"actionId": site}
    for tool, arguments in (
        ("chieflab_status", {}),
        ("chieflab_list_pending_actions", {}),
        ("chieflab_get_action", about),
        ("chieflab_execute_approved_action", about),
        ("chieflab_edit_action", {**about, "body": "We built a gate for every agent."}),
        ("chieflab_approve_action", about),
        ("chieflab_execute_approved_action", about),
        ("chieflab_execute_approved_action", about),
        ("chieflab_send", {"to": "ada@example.org", "subject": "Hello", "body": "Hello, Ada."}),
        ("chieflab_measure", {"runId": answers[0]["runId"]}),
        ("chieflab_brain_read", {}),
        ("chieflab_connect_provider", {"provider": "zernio"}),
        ("chieflab_use_manual_fallback", {"actionId": "no-such-action"}),
        ("workflow_list", {}),
        ("chieflab_no_such_tool", {}),
    ):
        answers.append((await surface.call(tool, arguments)).payload)

    found = {name for answer in answers for name in suggested(answer)}
    assert found, "nothing was suggested"
    assert found <= names


def test_a_suggestion_gets_the_listed_name_or_is_left_out_and_reports_stay() -> None:
    catalog = Catalog(ALL_TOOLS)

    def call(name: str) -> dict[str, Any]:
        return {"name": f"chieflab_{name}", "args": {}, "when": "now"}

    answer = {
        "ok": True,
        "recoveryTool": call("query_audit"),
        "tool": "chieflab_help",
        "agentGuide": {
            "nextToolCalls": {
                "primary": call("list_tenants"),
                "fallback": call("status"),
                "more": [call("help"), call("send_approved_email")],
            }
        },
        "actions": [{"executorTool": "chieflab_send_approved_email"}],
    }
    text = msgspec.json.encode(answer).decode()

    kept = msgspec.json.decode(drop_unoffered(text, catalog, catalog.offered))

    assert [each["name"] for each in calls_of(kept)] == ["chieflab_status", "chieflab_send_email"]
    assert kept["recoveryTool"] is None
    assert kept["tool"] == "chieflab_help"
    assert kept["actions"] == [{"executorTool": "chieflab_send_email"}]


@pytest.mark.parametrize("reason", Reason)
def test_the_words_of_a_refusal_name_only_tools_of_the_default_list(reason: Reason) -> None:
    meaning = MEANINGS[reason]
    words = " ".join((meaning.summary, meaning.fix, meaning.stop_rule, meaning.recovery_tool or ""))

    assert set(TOOL_NAME.findall(words)) & CALLABLE <= Catalog(ALL_TOOLS).offered


def test_the_gate_is_in_every_choice_of_groups() -> None:
    assert all(GATE in choose((each,)) for each in TOOLSETS)
    assert choose(()) == {GATE}
    assert set(TOOLSET_OF.values()) <= set(TOOLSETS)


def sentences(source: Path) -> Iterator[str]:
    """Every text of a module that is written for its users."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_no_sentence_names_a_tool_that_is_not_in_the_default_list() -> None:
    offered = Catalog(ALL_TOOLS).offered
    unlisted = {
        (source.name, name)
        for source in list_modules().values()
        for text in sentences(source)
        if " " in text
        for name in TOOL_NAME.findall(text)
        if name in CALLABLE - offered
    }

    assert unlisted == set()
