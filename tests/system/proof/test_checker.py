"""The judge: a true story is clean, each way to break a promise is seen, and nothing of the server is imported."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from proof.checker import PROMISES, judge
from proof.history import (
    GENESIS,
    Call,
    Delivery,
    Effect,
    Event,
    Evidence,
    Request,
    Trial,
    canonical,
    digest,
    link,
    read_calls,
    read_export,
    read_ledger,
)
from proof.promises import ADVANCE, APPROVE, EDIT, EXECUTE, REJECT, RESOLVE, STAGE, START, WITHDRAW

ROOT = Path(__file__).parents[3]
DAY_MS = 86_400_000


class Story:
    """Writes evidence as a client, a provider and the journal would."""

    def __init__(self, connector: str = "hook") -> None:
        self.connector = connector
        self.calls: list[Call] = []
        self.requests: list[Request] = []
        self.effects: list[Effect] = []
        self.events: list[Event] = []
        self.record: dict[str, Any] = {}
        self.now = 1_000.0
        self.revision = 1
        self.content: dict[str, Any] = {"body": "Version 1", "channel": "site", "connector": connector}

    @property
    def digest(self) -> str:
        return digest(self.content)

    def call(self, tool: str, answer: dict[str, Any] | None, **arguments: Any) -> Call:
        self.now += 10
        begun, self.now = self.now, self.now + 10
        made = Call("c", "local", tool, arguments, begun, None if answer is None else self.now, answer)
        self.calls.append(made)
        return made

    def event(self, kind: str, stream: str = "run", **body: Any) -> None:
        before = [event for event in self.events if event.stream_id == stream]
        text = canonical(body)
        event = Event("w", stream, len(before) + 1, kind, int(self.now), text, "")
        self.events.append(replace(event, hash=link(event, before[-1].hash if before else GENESIS)))

    def move(self, name: str, state: str, **body: Any) -> None:
        self.event(f"action_{name}", actionId="a", digest=self.digest, revision=self.revision, **body)
        beside = {"executing", "outcome_unknown", "retryable"}
        status = "approved" if state in beside else state
        execution = state if state in beside else "done" if state in ("executed", "failed") else "none"
        self.record |= {"status": status, "executionState": execution}

    def stage(self) -> Story:
        action = {"id": "a", "digest": self.digest, "connector": self.connector}
        self.call(STAGE, {"ok": True, "actions": [action]}, idempotencyKey="s")
        self.event("run_prepared", actions=[{"actionId": "a", "digest": self.digest}])
        self.record = {
            "status": "awaiting_approval",
            "executionState": "none",
            "connector": self.connector,
            "userMessage": "…",
        }
        return self

    def approve(self, **arguments: Any) -> Story:
        self.call(APPROVE, {"ok": True, "digest": self.digest}, actionId="a", **arguments)
        self.move("approve", "approved")
        return self

    def edit(self) -> Story:
        self.content = {**self.content, "body": "Version 2"}
        self.revision += 1
        self.call(EDIT, {"ok": True, "revision": self.revision}, actionId="a")
        self.move("edit", "awaiting_approval")
        return self

    def request(self, outcome: str = "deliver") -> Story:
        self.requests.append(Request(f"a:{self.revision}", outcome, int(self.now)))
        return self

    def happen(self) -> Story:
        name = f"e{len(self.effects) + 1}"
        self.effects.append(Effect(name, f"a:{self.revision}", self.content, int(self.now)))
        return self

    def execute(self, **arguments: Any) -> Story:
        self.now += 10
        self.move("claim", "executing")
        self.request().happen()
        self.call(EXECUTE, {"ok": True, "externalId": self.effects[-1].effect_id}, actionId="a", **arguments)
        self.move("succeed", "executed", externalId=self.effects[-1].effect_id)
        self.record["externalId"] = self.effects[-1].effect_id
        return self

    def lose(self) -> Story:
        self.now += 10
        self.move("claim", "executing")
        self.request("timeout_after")
        self.call(EXECUTE, {"ok": False, "reason": "outcome_unknown"}, actionId="a")
        self.move("lose", "outcome_unknown")
        return self

    def again(self) -> Story:
        """The last call once more, with the same answer."""
        last = self.calls[-1]
        self.call(last.tool, {**(last.answer or {}), "replay": {}}, **last.arguments)
        return self

    def told(self, **changes: Any) -> Evidence:
        deliveries = {
            "hook": Delivery("none"),
            "post": Delivery("key", 300_000),
            "look": Delivery("look"),
        }
        return Evidence(
            **{
                "calls": self.calls,
                "requests": self.requests,
                "effects": self.effects,
                "events": self.events,
                "records": {"a": self.record} if self.record else {},
                "deliveries": deliveries,
                **changes,
            }
        )


def sent(**arguments: Any) -> Story:
    return Story().stage().approve().execute(**arguments)


def advanced(*, events: int = 1) -> Story:
    story = Story()
    session = {"session": {"runId": "wf"}}
    story.call(START, {"ok": True, "stateToken": "st1", "ackToken": "ack1", **session}, workflowId="w")
    story.call(
        ADVANCE,
        {"ok": True, "stateToken": "st2", "ackToken": "ack2", **session},
        stateToken="st1",
        ackToken="ack1",
    )
    for _ in range(events):
        story.event("step_acked", "wf", node=1)
    return story


TRUE_STORIES: dict[str, Callable[[], Evidence]] = {
    "sent": lambda: sent().told(),
    "executed again": lambda: sent(idempotencyKey="x").again().told(),
    "approved, edited, waits": lambda: Story().stage().approve().edit().told(),
    "edited and sent": lambda: edited_and_sent().told(),
    "an edit that is repeated": lambda: edited_twice().told(),
    "unknown, waits for a person": lambda: Story().stage().approve().lose().told(),
    "unknown, repeated under its key": lambda: repeated("post", 60_000).told(),
    "killed before the answer": lambda: killed().told(),
    "the answer to a commit lost": lambda: doubtful().told(),
    "advanced twice": lambda: advanced_again().told(),
    "measured": lambda: measured(1).told(server_now_ms=3 * DAY_MS),
    "tampered with, and found": lambda: sent().told(
        trials=[Trial("t", True, True), Trial("u", False, False)]
    ),
}


def edited_and_sent() -> Story:
    story = Story().stage().approve().edit()
    return story.approve(digest=story.digest).execute()


def edited_twice() -> Story:
    """A client that was cut short repeats its edit under its key, after the new text was approved."""
    story = Story().stage().approve().edit()
    edit = story.calls[-1]
    story.approve(digest=story.digest)
    story.call(EDIT, {**(edit.answer or {}), "replay": {}}, **edit.arguments)
    return story.execute()


def repeated(connector: str, later_ms: int) -> Story:
    story = Story(connector).stage().approve().lose()
    story.happen()
    story.now += later_ms
    story.request()
    story.move("found_done", "executed", externalId="e1")
    story.record["externalId"] = "e1"
    return story


def killed() -> Story:
    """The server dies after the provider was asked; the client asks again and is told."""
    story = Story().stage().approve()
    story.call(EXECUTE, None, actionId="a", idempotencyKey="x")
    story.move("claim", "executing")
    story.request().happen()
    story.move("lose", "outcome_unknown")
    story.call(RESOLVE, {"ok": True}, actionId="a", outcome="happened")
    story.move("found_done", "executed", externalId="https://seen.example")
    story.record["externalId"] = "https://seen.example"
    story.call(EXECUTE, {"ok": True, "externalId": "https://seen.example"}, actionId="a", idempotencyKey="x")
    return story


def doubtful() -> Story:
    """The server could not tell whether an approval was stored, and it was."""
    story = Story().stage()
    story.call(APPROVE, {"ok": False, "reason": "temporarily_unavailable"}, actionId="a")
    story.move("approve", "approved")
    return story.execute()


def advanced_again() -> Story:
    story = advanced()
    story.call(ADVANCE, story.calls[-1].answer, **story.calls[-1].arguments)
    return story


def measured(times: int) -> Story:
    story = sent()
    for _ in range(times):
        story.event("run_measured", by="schedule")
    return story


def without(story: Story, kind: str) -> Evidence:
    """The story in a journal that never had events of this kind."""
    kept, story.events = [event for event in story.events if event.kind != kind], []
    for event in kept:
        story.event(event.kind, event.stream_id, **json.loads(event.text))
    return story.told()


def unapproved() -> Story:
    story = Story().stage()
    story.content = {**story.content, "body": "not what was shown"}
    return story.approve().execute()


def stale() -> Story:
    story = Story().stage().edit()
    story.call(
        APPROVE, {"ok": True, "digest": story.digest}, actionId="a", digest=digest({"body": "Version 1"})
    )
    story.move("approve", "approved")
    return story.execute()


def retried_through_approved() -> Story:
    story = Story().stage().approve().lose()
    story.happen()
    story.record |= {"executionState": "none"}
    story.now += 10
    return story.execute()


def kept_approval() -> Story:
    story = Story().stage().approve().edit()
    story.move("approve", "approved")
    return story.execute()


def rejected_and_sent() -> Story:
    story = Story().stage()
    story.call(REJECT, {"ok": True}, actionId="a")
    story.move("reject", "rejected")
    return story.approve().execute()


def withdrawn_and_sent() -> Story:
    story = Story().stage().approve()
    story.call(WITHDRAW, {"ok": True}, actionId="a")
    story.now += 10
    return story.execute()


def rewritten() -> Evidence:
    story = sent()
    first = story.events[0]
    others = replace(first, text=first.text.replace("digest", "Digest"))
    return story.told(events=[others, *story.events[1:]])


def answered_otherwise() -> Story:
    story = sent(idempotencyKey="x")
    story.call(EXECUTE, {"ok": True, "externalId": "e1", "more": 1}, actionId="a", idempotencyKey="x")
    return story


def said_otherwise() -> Story:
    story = sent()
    for text in ("Sent.", "Not sent."):
        story.call(EXECUTE, {"ok": True, "externalId": "e1", "show": text}, actionId="a", idempotencyKey="x")
    return story


def other_arguments() -> Story:
    story = sent()
    story.call(STAGE, {"ok": True, "actions": []}, idempotencyKey="s", body="another")
    return story


def refused_after_success() -> Story:
    story = sent(idempotencyKey="x")
    story.call(EXECUTE, {"ok": False, "reason": "requires_approval"}, actionId="a", idempotencyKey="x")
    return story


def double() -> Story:
    story = sent()
    return story.request().happen()


def forged() -> Story:
    story = advanced()
    story.call(ADVANCE, story.calls[-1].answer, stateToken="st1", ackToken="made up")
    return story


def advanced_otherwise() -> Story:
    story = advanced()
    answer = {**(story.calls[-1].answer or {}), "stateToken": "st9"}
    story.call(ADVANCE, answer, **story.calls[-1].arguments)
    return story


def stuck() -> Story:
    story = Story().stage().approve()
    story.move("claim", "executing")
    return story


def denied() -> Story:
    story = sent()
    story.record |= {"status": "failed", "executionState": "done"}
    return story


def silent() -> Story:
    story = Story().stage()
    story.record["userMessage"] = ""
    return story


def of_nothing_known() -> Evidence:
    return Evidence(effects=[Effect("e", "b:1", {}, 5)])


BROKEN: dict[str, tuple[str, Callable[[], Evidence]]] = {
    "another content is sent": ("P1", lambda: unapproved().told()),
    "an approval counts for what it did not name": ("P1", lambda: stale().told()),
    "sent after a withdrawal": ("P1", lambda: withdrawn_and_sent().told()),
    "no claim for an effect": ("P1", lambda: without(sent(), "action_claim")),
    "two effects": ("P2", lambda: double().told()),
    "retried through approved": ("P2", lambda: retried_through_approved().told()),
    "repeated without a key": ("P2", lambda: repeated("hook", 60_000).told()),
    "repeated where it could be looked up": ("P2", lambda: repeated("look", 60_000).told()),
    "repeated after the key was forgotten": ("P2", lambda: repeated("post", 400_000).told()),
    "one key, two answers": ("P3", lambda: answered_otherwise().told()),
    "one key, other arguments": ("P3", lambda: other_arguments().told()),
    "one key, refused after a success": ("P3", lambda: refused_after_success().told()),
    "one key, two texts": ("P3", lambda: said_otherwise().told()),
    "the record is gone": ("P4", lambda: sent().told(records={})),
    "an approval is gone": ("P4", lambda: without(sent(), "action_approve")),
    "all events are gone": ("P4", lambda: sent().told(events=[])),
    "stuck": ("P4", lambda: stuck().told()),
    "it happened, and the record denies it": ("P4", lambda: denied().told()),
    "executed, and nothing happened": ("P4", lambda: sent().told(effects=[])),
    "no next step": ("P4", lambda: silent().told()),
    "an effect of nothing known": ("P4", of_nothing_known),
    "an edit keeps its approval": ("P5", lambda: kept_approval().told()),
    "sent after a rejection": ("P5", lambda: rejected_and_sent().told()),
    "a token was made up": ("P6", lambda: forged().told()),
    "one advance, two answers": ("P6", lambda: advanced_otherwise().told()),
    "one advance, two events": ("P6", lambda: advanced(events=2).told()),
    "an advance without an event": ("P6", lambda: advanced(events=0).told()),
    "measured twice": ("P7", lambda: measured(2).told(server_now_ms=3 * DAY_MS)),
    "never measured": ("P7", lambda: measured(0).told(server_now_ms=3 * DAY_MS)),
    "an event is rewritten": ("P8", rewritten),
    "an event is removed": ("P8", lambda: sent().told(events=sent().events[:1] + sent().events[2:])),
    "the journal is cut": ("P8", lambda: sent().told(earlier=[sent().events], events=sent().events[:-1])),
    "a change is not found": ("P8", lambda: sent().told(trials=[Trial("t", True, False)])),
    "a change is found where none is": ("P8", lambda: sent().told(trials=[Trial("t", False, True)])),
}


@pytest.mark.parametrize("name", TRUE_STORIES)
def test_a_true_story_is_clean(name: str) -> None:
    verdict = judge(TRUE_STORIES[name]())
    assert verdict.clean, verdict.describe()


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_seen(name: str) -> None:
    promise, told = BROKEN[name]
    verdict = judge(told())
    assert promise in verdict.promises, verdict.describe()


def test_every_promise_has_a_story_that_breaks_it() -> None:
    assert {promise for promise, _ in BROKEN.values()} == set(PROMISES)


def test_the_totals_are_those_of_the_story() -> None:
    verdict = judge(double().told(records={}))
    assert (verdict.calls, verdict.succeeded, verdict.actions) == (3, 3, 1)
    assert (verdict.effects, verdict.double_effects) == (2, 1)
    assert verdict.lost == 1
    assert judge(Story().stage().approve().lose().told()).unresolved == 1


def test_a_call_without_an_answer_and_a_line_cut_short_are_read() -> None:
    begun = {"id": "1", "client": "c", "holder": "h", "tool": "t", "arguments": {}, "begun": 1.0}
    lines = [json.dumps(begun), '{"id": "2", "tool": ', json.dumps({**begun, "id": "3"})]
    lines.append(json.dumps({"id": "3", "ended": 2.0, "answer": {"ok": True}}))
    first, second = read_calls(lines)
    assert (first.answer, first.ok, first.latest) == (None, False, float("inf"))
    assert (second.ok, second.latest) == (True, 2.0)


def test_a_ledger_and_an_export_are_read_as_they_are_written() -> None:
    effect = {
        "kind": "effect",
        "effectId": "e",
        "reference": "a:2",
        "key": None,
        "content": {"b": 1},
        "atMs": 3,
    }
    call = {
        "kind": "call",
        "number": 1,
        "method": "POST",
        "path": "/",
        "reference": "a:2",
        "outcome": "deliver",
    }
    requests, effects = read_ledger([json.dumps({**call, "atMs": 2}), json.dumps(effect), '{"kind": "eff'])
    assert [(each.action_id, each.outcome) for each in requests] == [("a", "deliver")]
    assert [(each.action_id, each.revision) for each in effects] == [("a", 2)]
    line = '{"workspaceId":"w","streamId":"s","seq":1,"kind":"k","atMs":5,"body":{"b": 1},"hash":"00"}'
    [event] = read_export([line, '{"checkpoint": 1}'])
    assert (event.text, event.body, event.hash) == ('{"b": 1}', {"b": 1}, "00")


def test_the_judge_imports_nothing_of_the_server() -> None:
    for file in sorted((ROOT / "proof").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in {"proof", *sys.stdlib_module_names} for name in names), file
    program = "import sys, proof.checker; sys.exit('assent' in {name.split('.')[0] for name in sys.modules})"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
