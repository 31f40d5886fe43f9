"""Stop all sending, and let it go on."""

from __future__ import annotations

from assent.engine.core import freezes
from assent.kernel.ids import WorkspaceId
from assent.ports import Store, StoreUnavailable


async def freeze(store: Store, workspace_id: WorkspaceId, now_ms: int, *, by: str, why: str) -> bool:
    """Stop sending in a workspace, or with `SYSTEM_WORKSPACE` everywhere. Returns whether no process can begin to
    send any more: False if a claim from before does not end. The freeze is stored either way."""
    await store.write(lambda: freezes.freeze(workspace_id, now_ms, by=by, why=why))
    try:
        await store.write(lambda: freezes.await_claims(workspace_id))
    except StoreUnavailable:  # a process hangs in a claim
        return False
    return True


async def unfreeze(store: Store, workspace_id: WorkspaceId, now_ms: int, *, by: str) -> int | None:
    """Let sending go on. Returns since when it was stopped, or None if it was not."""
    return await store.write(lambda: freezes.unfreeze(workspace_id, now_ms, by=by))
