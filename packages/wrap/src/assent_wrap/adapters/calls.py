"""The protocol of an agent that runs its own tools behind the gate: propose, wait, claim, report.

`CallGate.ask` takes one call as far as it gets now and returns one of three steps. It may be repeated with
the same key, also by another process: the server knows the action.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Literal, Protocol

import msgspec

from assent.client import Client, Refused

LONGEST_WAIT_SECONDS: Final = 45
"""Of one request. A decision that takes longer is waited for with several."""


class ToolCaller(Protocol):
    """Calls tools of a server: `assent.client.Client`, or a server in the same process."""

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the payload. Raises `Refused`."""
        ...


class WaitingCall(msgspec.Struct, frozen=True):
    """A person has not decided yet."""

    action_id: str
    review_url: str


class ClosedCall(msgspec.Struct, frozen=True):
    """The call may not run: it was rejected, has run before, or it is unknown whether it ran."""

    action_id: str
    reason: Literal["rejected", "expired", "executed", "failed", "in_progress", "unknown"]
    message: str
    output: Any = None
    """What the tool returned, if it ran before."""


class ClaimedCall(msgspec.Struct, frozen=True):
    """The approved call. It runs once, with these arguments, and is reported."""

    action_id: str
    claim_id: str
    arguments: dict[str, Any]
    edited: bool


Step = WaitingCall | ClosedCall | ClaimedCall


class CallGate:
    """Asks the gate about calls of one source, such as `langgraph`."""

    def __init__(self, caller: ToolCaller, source: str, context: Mapping[str, str] | None = None) -> None:
        """`context` tells the person where the calls run, by labels."""
        self._caller = caller
        self._source = source
        self._context = dict(context or {})

    async def ask(
        self, tool: str, arguments: Mapping[str, Any], *, key: str | None = None, wait_seconds: float = 0
    ) -> Step:
        """Propose a call and claim it if it is approved within the time. With a key the call is an action of
        its own; without one it joins the same call that is still open. Raises `Refused`."""
        more = {"idempotencyKey": key} if key is not None else {}
        asked = await self._caller.call(
            "chieflab_propose_call",
            source=self._source,
            toolName=tool,
            arguments=dict(arguments),
            context=self._context,
            **more,
        )
        action_id, deadline = str(asked["actionId"]), time.monotonic() + wait_seconds
        while True:
            left = max(0, deadline - time.monotonic())
            shown = await self._caller.call(
                "chieflab_get_action", actionId=action_id, waitSeconds=int(min(left, LONGEST_WAIT_SECONDS))
            )
            if shown["status"] != "awaiting_approval" or shown["expired"]:
                break
            if left < 1 or shown["waiting"]["ended"] in ("server_full", "server_stops"):
                return WaitingCall(action_id, str(asked["reviewUrl"]))
        closed = _read_closed(shown)
        return closed if closed is not None else await self._claim(action_id)

    async def _claim(self, action_id: str) -> Step:
        try:
            held = await self._caller.call("chieflab_claim_call", actionId=action_id)
        except Refused as refused:
            if refused.reason != "execution_in_progress":
                raise
            return ClosedCall(action_id, "in_progress", _MESSAGES["in_progress"])
        return ClaimedCall(action_id, held["claimId"], held["arguments"], held["edited"])

    async def report(
        self,
        claimed: ClaimedCall,
        outcome: Literal["executed", "failed", "unknown"],
        *,
        output: Any = None,
        detail: str = "",
    ) -> None:
        """Record what became of a claimed call. `failed`: it certainly did not happen. Raises `Refused`."""
        await self._caller.call(
            "chieflab_report_call",
            actionId=claimed.action_id,
            claimId=claimed.claim_id,
            outcome=outcome,
            output=output,
            detail=detail[:2_000],
        )


class ServerAddress(msgspec.Struct, frozen=True):
    """A server and the key for it; by default those of the environment variables."""

    url: str = msgspec.field(
        default_factory=lambda: os.environ.get("ASSENT_BASE_URL", "http://localhost:8080")
    )
    key: str | None = msgspec.field(default_factory=lambda: os.environ.get("ASSENT_API_KEY"))

    @asynccontextmanager
    async def open(self, source: str, context: Mapping[str, str] | None = None) -> AsyncIterator[CallGate]:
        """Open the gate for one call: event loops come and go in a framework."""
        async with Client(self.url, self.key) as client:
            yield CallGate(client, source, context)


_MESSAGES: Final = {
    "rejected": "A person rejected this call: {why}. Do not run it and do not repeat it as it is.",
    "expired": "No one approved this call in time. Propose it again if it is still needed.",
    "executed": "This call has run before; it was not run again.",
    "failed": "This call was approved, and it failed before it did anything: {why}. Propose it again.",
    "in_progress": "Another process runs this call now; it was not run again.",
    "unknown": "It is not known whether this call ran, so it was not run again. A person has to find out.",
}


def _read_closed(shown: Mapping[str, Any]) -> ClosedCall | None:
    """Return why an action cannot be claimed, by its record; None if it can."""
    beside = {"executing": "in_progress", "outcome_unknown": "unknown"}.get(shown["executionState"])
    status = shown["status"] if shown["status"] in ("rejected", "executed", "failed") else None
    reason: Any = beside or status or ("expired" if shown["expired"] else None)
    if reason is None:
        return None
    why = shown["rejectionReason"] or (shown["result"] or {}).get("detail") or "no reason given"
    message = _MESSAGES[reason].format(why=f"“{why}”")
    return ClosedCall(str(shown["id"]), reason, message, shown["metadata"].get("output"))
