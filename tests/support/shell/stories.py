"""What has happened on the server of these tests, made by the functions that make it in life: reviews that turned back,
launches that were sent and measured, memories."""

from __future__ import annotations

from typing import Any

import msgspec
from tests.support.catalog import ALL_TOOLS
from tests.support.review.kit import Server, mail, post

from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.gate.records import MEASURE_AFTER
from assent.kernel.ids import RunId
from assent.ports import Draft, StagedEffect
from assent.tools.catalog import Catalog
from assent.tools.definition import Call, Prose
from assent_launch.learning import measurement, measuring
from assent_launch.learning import memory as brain
from assent_launch.learning.memory import NewEntry

REVIEW = "assent.merge-request-review"

TRIAGE = {
    "kind": "mr_review.phase_0_triage",
    "review": {
        "mrTitle": "fix(di): wire the description provider explicitly",
        "classification": "Standard",
        "focusAreas": ["tool contract", "wiring", "agent usability"],
    },
    "revisionLogEntry": "Triage done; focus areas set.",
}
FILES = {
    "kind": "mr_review.changed_files",
    "changedFiles": [
        {"path": "src/mcp/tool-description-provider.ts", "summary": "Remove a debug line", "risk": "L"},
        {"path": "src/di/container.ts", "summary": "Wire the provider in the composition root", "risk": "M"},
    ],
}
FINDINGS = {
    "kind": "mr_review.findings",
    "findings": [
        {
            "severity": "Major",
            "location": {"file": "src/mcp/tool-descriptions.ts", "line": 79},
            "title": "The description names a field that is gone",
            "rationale": "Agents would send the **old** shape and be refused at the boundary.",
            "suggestion": "Describe `state` and `event`, as the schema does.",
        },
        {
            "severity": "Minor",
            "location": {"file": "src/di/container.ts", "line": 12},
            "title": "Two bindings for one name",
            "rationale": "The second one wins silently.",
            "suggestion": "Remove the first.",
        },
    ],
    "mrComments": [
        {
            "location": {"file": "src/mcp/tool-descriptions.ts", "line": 79},
            "title": "Fix the description of workflow_next",
            "body": "It mentions completedSteps, but the input is state and event now.",
        }
    ],
}
VERDICT = {
    "kind": "wr.review_verdict",
    "verdict": "minor",
    "confidence": "high",
    "findings": [{"severity": "major", "summary": "The description names a field that is gone"}],
    "summary": "One description has to change; the wiring is right.",
}


class Agent:
    """Somebody who calls tools at the server of the tests."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.tools = {tool.name: tool for tool in Catalog(ALL_TOOLS).tools}

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        await self.server.app.prepare()
        found = self.tools[tool]
        call = Call(self.server.services, LOCAL_PRINCIPAL, "203.0.113.9", "test", self.server.clock.now_ms())
        reply = await found.handler(call, msgspec.convert(arguments, found.request))
        answer: dict[str, Any] = msgspec.to_builtins(reply.reply if isinstance(reply, Prose) else reply)
        return answer

    async def start(self, workflow: str = REVIEW, **arguments: Any) -> dict[str, Any]:
        return await self.ask("workflow_start", workflowId=workflow, **arguments)

    async def advance(self, at: dict[str, Any], notes: str = "", **content: Any) -> dict[str, Any]:
        self.server.clock.advance(seconds=180)
        tokens = {"stateToken": at["stateToken"], "ackToken": at["ackToken"]}
        return await self.ask("workflow_advance", **tokens, notesMarkdown=notes, **content)

    async def keep(self, at: dict[str, Any], notes: str) -> None:
        await self.ask("workflow_checkpoint", stateToken=at["stateToken"], notesMarkdown=notes)


class Review(msgspec.Struct):
    """A review with two branches, a refused attempt and a checkpoint."""

    run_id: str
    session_id: str


async def review(server: Server, session_id: str = "AUTH-1234", text: str = "") -> Review:
    """Follow the review workflow, turn back once, and leave it waiting for a person."""
    agent = Agent(server)
    first = await agent.start(
        sessionId=session_id,
        context={"ticketId": session_id, "complexity": "Standard", "author": text or "Ada"},
    )
    at = await agent.advance(
        first, f"The change is **small**. Focus: wiring and descriptions. {text}", output=TRIAGE
    )
    forked = await agent.advance(at, f"Two files, one of them risky. {text}", output=FILES)
    refused = await agent.advance(forked, "Looked at everything.", output={"kind": "mr_review.findings"})
    assert refused["kind"] == "blocked"
    passed = await agent.advance(
        refused, f"Found one major issue in the descriptions. {text}", output=FINDINGS
    )
    await agent.keep(passed, f"Halfway: the tests of the wiring still have to be read. {text}")
    stop = {"kind": "wr.loop_control", "decision": "stop", "summary": "Everything was seen."}
    left = await agent.advance(passed, "One pass was enough.", output=stop)
    await agent.advance(left, "Change one description, then merge.", output=VERDICT)
    other = {**FINDINGS, "findings": FINDINGS["findings"][:1], "revisionLogEntry": "Second look."}
    turned = await agent.advance(
        forked,
        f"Found two issues: one major in the descriptions, one minor in the wiring. {text}",
        output=other,
        context={"complexity": "High"},
    )
    again = {
        "kind": "wr.loop_control",
        "decision": "continue",
        "summary": "The wiring deserves a second pass.",
    }
    more = await agent.advance(turned, "Not done yet.", output=again)
    await agent.advance(more, "A second pass found nothing new.", output=FINDINGS)
    return Review(first["session"]["runId"], session_id)


async def second_run(server: Server, session_id: str) -> str:
    """Another run in the same session."""
    agent = Agent(server)
    at = await agent.start("assent.bug-fix", sessionId=session_id, context={"ticketId": session_id})
    for note in ("Reported by a user on 3.2.", "It fails every time without a token."):
        at = await agent.advance(at, note, context={"reproduced": True})
    return str(at["session"]["runId"])


async def launch(
    server: Server, goal: str, *effects: StagedEffect, drafts: tuple[Draft, ...] = ()
) -> PreparedRun:
    """A prepared run with a goal, measured a day after it was sent."""
    return await server.stage(
        *effects,
        drafts=drafts,
        operator="chieflab-launch",
        goal=goal,
        productUrl="https://example.org/assent",
    )


async def sent(server: Server, run: PreparedRun) -> None:
    """Approve everything of a run on its page, and send it."""
    browser = await server.owner()
    for action in run.actions:
        await server.decide(browser, run.run_id, action.id, "approve", then="send")
    await server.run_jobs()


async def measured_launch(server: Server, goal: str, views: int, responses: int) -> PreparedRun:
    """A launch that went out, with numbers written down by hand for one channel and none for the other."""
    interval = {MEASURE_AFTER: 24 * 3_600_000}
    run = await launch(server, goal, post(metadata=interval), mail(metadata=interval))
    await sent(server, run)
    server.clock.advance(days=2)
    now_ms = server.clock.now_ms()
    await server.app.store.write(
        lambda: measurement.record_reported(
            LOCAL_WORKSPACE,
            RunId(run.run_id),
            "linkedin",
            {"views": views, "comments": responses},
            "Ada",
            now_ms,
        )
    )
    await measuring.measure(server.services, LOCAL_WORKSPACE, RunId(run.run_id), by="schedule")
    return run


async def remember(server: Server, body: str, kind: brain.Kind = "lesson", **more: Any) -> str:
    entry = NewEntry(
        tenant_id=brain.DEFAULT_TENANT,
        kind=kind,
        body=body,
        source="the user",
        natural_key=f"{kind}:{body}",
        **more,
    )
    now_ms = server.clock.now_ms()
    made = await server.app.store.write(lambda: brain.remember(LOCAL_WORKSPACE, entry, now_ms))
    assert made is not None
    return made
