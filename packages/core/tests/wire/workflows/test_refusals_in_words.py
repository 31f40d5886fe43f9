"""A refused call of an execution tool is text first, as an answer is (W76)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.contract.talk import REVISIONS, say_in
from tests.support.surfaces import Outcome
from tests.support.workflows.kit import GATED, WorkflowClient

NOTES = {"notesMarkdown": "Release 1.4 to everybody."}


def words(refused: Outcome) -> str:
    """The readable text, once the payload behind it was found whole."""
    result: dict[str, Any] = refused.message["result"]
    text, payload = (part["text"] for part in result["content"])
    assert json.loads(payload) == result["structuredContent"] == refused.payload
    assert not text.lstrip().startswith("{")
    return str(text)


@pytest.mark.rule("W76")
async def test_a_refused_advance_is_text_before_data(client: WorkflowClient) -> None:
    at = await client.advance(await client.start(GATED, sessionId="R"))
    refused = await client.send(at, **NOTES)
    assert refused.reason == "requires_approval"
    told = words(refused)
    assert text_of(refused.payload) in told and refused.payload["reviewUrl"] in told


@pytest.mark.rule("W76", "E80")
async def test_a_step_is_read_once_where_the_revision_has_structured_content(client: WorkflowClient) -> None:
    at = await client.start()
    for tool, sent in (
        ("workflow_advance", {"stateToken": at["stateToken"], "ackToken": at["ackToken"]}),
        ("workflow_checkpoint", {"stateToken": at["stateToken"], "notesMarkdown": "Kept."}),
        ("workflow_resume", {}),
        ("workflow_start", {"workflowId": "no-such-workflow"}),
    ):
        params = {"name": tool, "arguments": sent}
        for revision in REVISIONS:
            result = (await say_in(client.surface, revision, "tools/call", params)).result
            text, *payload = (part["text"] for part in result["content"])
            assert not text.lstrip().startswith("{")
            expected = [result["structuredContent"]] if revision < "2025-06-18" else []
            assert [json.loads(each) for each in payload] == expected


@pytest.mark.rule("W76")
async def test_every_execution_tool_refuses_in_words(client: WorkflowClient) -> None:
    at = await client.start()
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("workflow_start", {"workflowId": "no-such-workflow"}, "workflow_not_found"),
        ("workflow_advance", {"stateToken": "st.v9.x"}, "token_unsupported_version"),
        ("workflow_advance", {"stateToken": at["stateToken"], "notesMarkdown": "x"}, "validation_error"),
        ("workflow_checkpoint", {"stateToken": at["stateToken"], "notesMarkdown": " "}, "validation_error"),
    ]
    for tool, arguments, reason in calls:
        refused = await client.ask(tool, **arguments)
        assert refused.reason == reason
        told = words(refused)
        assert refused.payload["fixActionForAgent"] in told, tool
        for problem in refused.payload.get("problems", ()):
            assert problem["path"] in told and problem["expected"] in told, tool
