"""A bug is investigated with a workflow of the public library, the chat is rewound, lost and found again: every call
follows from the answer before it, none is wasted, and what is read stays short."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.answers import calls_of
from tests.support.surfaces import Outcome
from tests.support.workflows.kit import Payload, WorkflowClient
from tests.support.workflows.library import ABSENT, PUBLIC

pytestmark = pytest.mark.skipif(not PUBLIC.exists(), reason=ABSENT)

MAX_CALLS = 18
MAX_CHARS = 38_000
"""Of all that is read; it was 81,000 in 31 calls."""

TRIAGE = {"rigorMode": "QUICK", "automationLevel": "High", "bugSummary": "An empty CSV crashes the import"}
EVIDENCE = {"contradictionCount": 0, "unresolvedEvidenceGapCount": 0}
READY = {"kind": "wr.assessment", "dimensions": {"confidence": {"level": "high", "rationale": "Seen."}}}


@pytest.fixture
def changed_settings() -> dict[str, Any]:
    return {"workflow_dirs": (str(PUBLIC),)}


class Agent:
    """Follows the answers, and counts what it reads."""

    def __init__(self, client: WorkflowClient) -> None:
        self._play = client
        self.calls = 0
        self.chars = 0

    async def call(self, tool: str, **arguments: Any) -> Outcome:
        answer = await self._play.ask(tool, **arguments)
        self.calls += 1
        self.chars += len(answer.message["result"]["content"][0]["text"])
        return answer

    async def advance(self, at: Payload, **content: Any) -> Payload:
        """Complete a step; where a person must confirm it, they say yes in the chat."""
        tokens = {"stateToken": at["stateToken"], "ackToken": at["ackToken"]}
        answer = await self.call("workflow_advance", **tokens, **content)
        if answer.reason == "requires_approval":
            yes = calls_of(answer.payload)[0]
            approved = (await self.call(yes["name"], **yes["args"])).payload
            answer = await self.call(calls_of(approved)[0]["name"], **calls_of(approved)[0]["args"])
        assert not answer.is_error and answer.payload["kind"] == "step", answer.payload
        return answer.payload


async def test_an_investigation_takes_few_calls_and_few_characters(client: WorkflowClient) -> None:
    agent = Agent(client)
    listed = (await agent.call("workflow_list", query="bug investigation")).payload["workflows"]
    workflow_id = listed[0]["workflowId"]
    at = (await agent.call("workflow_start", workflowId=workflow_id, sessionId="T-7")).payload
    at = await agent.advance(at, notesMarkdown="T-7: an empty CSV crashes the import.", context=TRIAGE)
    at = await agent.advance(at, notesMarkdown="Nothing is missing.")
    second = await agent.advance(at, notesMarkdown="sniff_header reads the first row unseen.")
    at = await agent.advance(second, notesMarkdown="Three hypotheses; sniff_header leads.")
    at = await agent.advance(at, notesMarkdown="Plan: a test with an empty file.")
    at = await agent.advance(at, notesMarkdown="IndexError in sniff_header, line 12.", context=EVIDENCE)
    stop = {"artifacts": [{"kind": "wr.loop_control", "decision": "stop"}]}
    at = await agent.advance(at, notesMarkdown="The evidence is enough.", output=stop)
    far = await agent.advance(at, notesMarkdown="IndexError in sniff_header holds.", output=READY)
    assert far["pending"]["stepId"] == "phase-6-final-handoff"
    # The chat is rewound to the second phase, and lost after a checkpoint.
    branch = await agent.advance(second, notesMarkdown="Perhaps the encoding is None.")
    assert branch["branches"][0]["stateToken"] == far["stateToken"]
    await agent.call(
        "workflow_checkpoint", stateToken=branch["stateToken"], notesMarkdown="detect_encoding gives None."
    )
    found = (await agent.call("workflow_resume", query="T-7 empty CSV")).payload["resumed"]
    assert found["stateToken"] == branch["stateToken"]
    assert found["otherBranches"][0]["notes"][-1] == "IndexError in sniff_header holds."
    await agent.advance(found, notesMarkdown="Plan: call detect_encoding with nothing.")
    assert agent.calls <= MAX_CALLS and agent.chars <= MAX_CHARS, (agent.calls, agent.chars)
