"""Let a workspace in, and say who may approve what in it: on the page, by a command and in the chat."""

from __future__ import annotations

from typing import Any

from assent.engine.actions import policies
from assent.engine.people import signup
from assent.engine.people.people import Person
from assent.engine.people.signup import Decision
from assent.gate.policy import Policy
from assent.kernel.ids import WorkspaceId
from assent.use_cases.decisions import R, Write


async def decide_signup(
    workspace_id: WorkspaceId, decision: Decision, by: Person, now_ms: int, write: Write[bool, R]
) -> R:
    """Admit or reject a stranger who asked for a workspace. `write` gets whether that was still open."""
    return await write(lambda: signup.decide(workspace_id, decision, by, now_ms))


async def set_policy(
    workspace_id: WorkspaceId, source: dict[str, Any], now_ms: int, write: Write[Policy, R], *, by: str
) -> R:
    """Replace the policy of a workspace. It also applies to what is approved and not sent. Raises `BadPolicy`."""
    return await write(lambda: policies.save(workspace_id, source, now_ms, by=by))
