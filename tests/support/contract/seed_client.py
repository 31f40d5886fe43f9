"""A client written from the five sources alone. It imports nothing of this server.

It knows JSON-RPC and the envelope (S3), the answer to a preparation and the calls of an approval (S0 §3), the recovery
shape and what to do on it (S0 §7, S4), and the tokens of a workflow (S2). What a tool takes beyond the examples of the
sources it reads from the tool's schema.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

Payload = dict[str, Any]
Send = Callable[[Payload], Awaitable[Payload | None]]
Say = Callable[[str], str]

PREPARED = ("runId", "workspaceId", "assets", "actions", "reviewUrl", "agentGuide", "stopRule")
ACTION = ("id", "channel", "connector", "executorTool", "status", "preflight")
GUIDE = ("renderInChat", "userMessage", "nextToolCalls", "stopRule", "agentDependency")
ASSET = ("id", "type", "title", "body")
PREFLIGHT = (
    "severity",
    "warnings",
    "recommendations",
    "gates",
    "connectorReady",
    "connectorBlocker",
    "connectorFixHint",
    "estimatedCostCredits",
)
AUDIT = (
    *ACTION,
    "runId",
    "workspaceId",
    "type",
    "approvedBy",
    "approvedAt",
    "executedAt",
    "externalId",
    "metadata",
)
TOKEN = {"runId", "workspaceId", "iat", "exp", "scope"}
WEEK_SECONDS = 7 * 24 * 3_600
RECOVERY = (
    "ok",
    "reason",
    "summaryForUser",
    "userMessage",
    "fixActionForAgent",
    "recoveryTool",
    "retryable",
    "stopRule",
)
EVIDENCE = (
    "whatChanged",
    "recentCommits",
    "changedFiles",
    "routes",
    "README",
    "targetCustomer",
    "launchGoal",
)
STEP = ("stepId", "title", "prompt", "requireConfirmation")


class BrokenContractError(AssertionError):
    """An answer is not what the sources promise."""


class Stopped(Exception):  # noqa: N818 - what happened
    """`retryable` is false: the human has to hear it, and nothing is tried again."""

    def __init__(self, refusal: Payload) -> None:
        super().__init__(refusal["reason"])
        self.refusal = refusal


def require(holds: object, what: str, seen: object = None) -> None:
    if not holds:
        raise BrokenContractError(f"{what}: {seen!r}")


def require_fields(payload: Payload, names: tuple[str, ...], what: str) -> None:
    missing = [name for name in names if name not in payload]
    require(not missing, f"{what} has {', '.join(names)}", missing)


class SeedClient:
    """`send` carries one message; `human` reads what it is shown and answers in the chat."""

    def __init__(self, send: Send, human: Say) -> None:
        self._send = send
        self._human = human
        self._number = 0
        self.tools: dict[str, Payload] = {}

    async def _rpc(self, method: str, params: Payload | None = None) -> Payload:
        self._number += 1
        message: Payload = {"jsonrpc": "2.0", "id": self._number, "method": method}
        answer = await self._send(message if params is None else {**message, "params": params})
        require(answer is not None and answer["id"] == self._number, "an answer has the id of its request")
        assert answer is not None
        return answer

    async def connect(self) -> str:
        """Read the instructions and the list of tools."""
        welcome = (await self._rpc("initialize"))["result"]
        require(
            "serverInfo" in welcome and "USE WHEN" in welcome["instructions"],
            "the server says when it is used",
        )
        silent = await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        require(silent is None, "a notification is acknowledged silently", silent)
        listed = (await self._rpc("tools/list"))["result"]["tools"]
        self.tools = {tool["name"]: tool for tool in listed}
        return str(welcome["instructions"])

    async def call(self, tool: str, **arguments: Any) -> Payload:
        """Call a tool, and recover as §7 says: after the recovery tool once more, or stop."""
        payload = await self._ask(tool, arguments)
        if payload.get("ok") is not False:
            return payload
        require_fields(payload, RECOVERY, f"a refusal of {tool}")
        if not payload["retryable"] or payload["recoveryTool"] is None:
            raise Stopped(payload)
        await self._ask(payload["recoveryTool"]["name"], payload["recoveryTool"]["args"])
        again = await self._ask(tool, arguments)
        if again.get("ok") is False:
            raise Stopped(again)
        return again

    async def _ask(self, tool: str, arguments: Payload) -> Payload:
        answer = await self._rpc("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            return dict(answer["error"]["data"])
        return unwrap(answer["result"])

    # Prepare, review, approve, execute, measure, remember

    async def launch(self, goal: str, evidence: Payload) -> Payload:
        """Prepare a launch. `evidence` goes where the tool's schema has the fields that S4 names."""
        require(set(evidence) <= set(EVIDENCE), "evidence has the names of S4", evidence)
        taken = self.tools["chieflab_launch_product"]["inputSchema"]["properties"]
        place = next(name for name, node in taken.items() if set(EVIDENCE) <= set(node.get("properties", ())))
        run = await self.call("chiefmo_launch_product", goal=goal, **{place: evidence})
        require_fields(run, PREPARED, "a prepared run")
        require_fields(run["agentGuide"], GUIDE, "agentGuide")
        require(run["stopRule"] == run["agentGuide"]["stopRule"], "stopRule mirrors the guide's")
        require(run["externalActionsExecuted"] == 0, "nothing has gone out", run["externalActionsExecuted"])
        require_link(run)
        for asset in run["assets"]:
            require_fields(asset, ASSET, "an asset")
        for action in run["actions"]:
            require_fields(action, ACTION, "an action")
            require_fields(action["preflight"], PREFLIGHT, "a preflight")
            require(action["status"] == "awaiting_approval", "an action waits", action["status"])
        return run

    def review(self, run: Payload) -> dict[str, str]:
        """Show every draft in the chat; the human's words per action."""
        guide, said = run["agentGuide"], {}
        bodies = {asset["type"]: asset["body"] for asset in run["assets"]}
        for action in run["actions"]:
            body = guide["renderInChat"][action["channel"]]["body"]
            draft = bodies[action["channel"]].split("\n")[0]
            require(draft and draft in body, f"the draft for {action['channel']} can be read", body)
            said[action["id"]] = self._human(body)
        self._human(guide["userMessage"])
        return said

    async def decide(self, action_id: str, said: str) -> Payload:
        verdict, _, reason = said.partition(": ")
        if verdict == "approve":
            return await self.call("chieflab_approve_action", actionId=action_id)
        return await self.call("chieflab_reject_action", actionId=action_id, reason=reason)

    async def execute(self, action: Payload, key: str) -> Payload:
        """Execute by the tool that the action names; a retry with the key is the same answer."""
        done = await self.call(action["executorTool"], actionId=action["id"], idempotencyKey=key)
        again = await self.call(action["executorTool"], actionId=action["id"], idempotencyKey=key)
        require(done["status"] == "executed" and done["externalId"], "the effect is on the record", done)
        require({**again, "replay": None} == {**done, "replay": None}, "a retry gets the prior result")
        record = await self.call("chieflab_get_action", actionId=action["id"])
        require_fields(record, AUDIT, "the audit record of an action")
        require(
            record["externalId"] == done["externalId"] and record["executedAt"], "it is on record", record
        )
        return done

    # Workflows

    async def follow(self, workflow_id: str, ticket: str, work: Say) -> list[str]:
        """Follow a workflow to its end. Returns the steps that were done."""
        at = await self.call("workflow_start", workflowId=workflow_id, context={"ticketId": ticket})
        require(
            at["session"]["sessionId"] == ticket and at["session"]["runId"], "the session is the ticket's"
        )
        done = []
        while not at["isComplete"]:
            require_fields(at["pending"], STEP, "a pending step")
            notes = work(at["pending"]["prompt"])
            tokens = {"stateToken": at["stateToken"], "ackToken": at["ackToken"]}
            at, step = await self._advance(tokens, notes), at["pending"]
            done.append(step["stepId"])
        require(at["pending"] is None, "nothing is pending at the end", at["pending"])
        return done

    async def _advance(self, tokens: Payload, notes: str) -> Payload:
        sent = {**tokens, "context": {"notesMarkdown": notes}}
        try:
            following = await self.call("workflow_advance", **sent)
        except Stopped as stopped:
            refusal = stopped.refusal
            if refusal["reason"] != "requires_approval":
                raise
            self._human(refusal["userMessage"])
            await self.decide(refusal["actionId"], "approve")
            following = await self.call("workflow_advance", **sent)
        again = await self.call("workflow_advance", **sent)
        require(again == following, "a replay is the same payload and does not advance twice")
        return following


def require_link(run: Payload) -> None:
    """The link of a review: its path, and a token for this run alone, for a week (S0 §4)."""
    path, _, token = run["reviewUrl"].partition("?token=")
    require(path.endswith(f"/runs/{run['runId']}"), "the link leads to the run", path)
    said = token.split(".")[0]
    known = json.loads(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)))
    require(set(known) == TOKEN and known["scope"] == "review", "the token has its fields", known)
    require(known["exp"] - known["iat"] == WEEK_SECONDS, "the token ends after a week", known)
    for name in ("runId", "workspaceId"):
        require(known[name] == run[name], f"the token is of this {name}", known)


def unwrap(result: Payload) -> Payload:
    """The payload: JSON in the first text (S3), or the backbone behind text that comes first (S2)."""
    for part in result["content"]:
        try:
            found = json.loads(part["text"])
        except ValueError:
            continue
        return dict(found)
    return dict(result["structuredContent"])
