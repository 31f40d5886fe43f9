"""The calls of the guides, made in their order: each is accepted, and its answer has what the page says."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from tests.support.catalog import ALL_TOOLS
from tests.support.operators.fixtures import LaunchClient

from assent.serving.web.shell.pages import GUIDES, write_guide

TOOLS = {tool.name: tool for tool in ALL_TOOLS}
CALL = re.compile(r"^```json\n(.*?)^```\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^- `(\w+)`: (?:`(\w+)`$)?", re.MULTILINE)


class Step(msgspec.Struct):
    """A call as `tools/call` takes it."""

    name: str
    arguments: dict[str, Any]


@pytest.mark.parametrize("guide", GUIDES)
async def test_the_calls_of_a_guide_work_in_their_order_and_answer_what_it_says(
    client: LaunchClient, guide: str
) -> None:
    text = write_guide(guide, "http://localhost").markdown
    names: dict[str, str] = {}
    made: list[str] = []
    for block, said in CALL.findall(text):
        step = msgspec.json.decode(block, type=Step)
        msgspec.convert(step.arguments, TOOLS[step.name].request)
        if step.name == "chieflab_measure":
            client.clock.advance(hours=25)
            await client.run_jobs()
        arguments = {name: names.get(str(value), value) for name, value in step.arguments.items()}
        answer = (await client.call(step.name, arguments)).payload
        made.append(step.name)

        assert answer["ok"] is True, (step.name, answer)
        fields = FIELD.findall(said)
        assert fields, step.name
        for field, value in fields:
            assert answer.get(field), (step.name, field)
            assert value in ("", answer[field]), (step.name, field)
        if "actions" in answer:
            [action] = answer["actions"] or [{"id": "", "digest": ""}]
            names |= {"RUN_ID": answer["runId"], "ACTION_ID": action["id"], "DIGEST": action["digest"]}

    assert len(made) == text.count("```json")
    assert "chieflab_execute_approved_action" in made
    assert set(re.findall(r"`((?:chieflab|workflow)_\w+)`", text)) <= set(TOOLS)
