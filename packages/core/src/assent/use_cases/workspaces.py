"""Let a workspace in, say who may approve what in it, stop its sending: on the page, by a command, in the chat."""

from __future__ import annotations

from typing import Any

from assent.engine.actions import policies
from assent.engine.core import freezes
from assent.engine.people import signup
from assent.engine.people.people import Person
from assent.engine.people.signup import Decision
from assent.gate.policy import Policy
from assent.kernel.ids import WorkspaceId
from assent.ports import Store, StoreUnavailable
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


async def freeze(
    store: Store,
    workspace_id: WorkspaceId,
    now_ms: int,
    *,
    by: str,
    why: str,
    agent: str = "",
    label: str = "",
    person_id: str = "",
) -> bool:
    """Stop sending in a workspace, with `SYSTEM_WORKSPACE` everywhere, or of one agent (`Principal.agent`), called
    `label`. Returns whether no process can begin to send any more: False if a claim from before does not end. The
    freeze is stored either way."""
    await store.write(
        lambda: freezes.freeze(
            workspace_id, now_ms, by=by, why=why, agent=agent, label=label, person_id=person_id
        )
    )
    try:
        await store.write(lambda: freezes.await_claims(workspace_id))
    except StoreUnavailable:  # a process hangs in a claim
        return False
    return True


async def unfreeze(
    store: Store, workspace_id: WorkspaceId, now_ms: int, *, by: str, agent: str = "", label: str = ""
) -> int | None:
    """Let sending go on. Returns since when it was stopped, or None if it was not."""
    return await store.write(lambda: freezes.unfreeze(workspace_id, now_ms, by=by, agent=agent, label=label))
