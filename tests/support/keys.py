"""Workspaces and keys as the command line makes them, on a server in this process."""

from __future__ import annotations

from typing import Any

from assent.app import App
from assent.engine.core import tenancy
from assent.engine.core.tenancy import KEY_ID_BYTES, LOCAL_WORKSPACE, SECRET_BYTES, IssuedKey, KeyEntropy
from assent.kernel.ids import WorkspaceId


def draw_entropy(app: App) -> KeyEntropy:
    draw = app.owner_services.entropy
    return KeyEntropy(draw(KEY_ID_BYTES), draw(SECRET_BYTES))


async def make_workspace(app: App, name: str, *, by: str = "test", **rights: Any) -> IssuedKey:
    """A workspace with a key."""
    now_ms, entropy = app.clock.now_ms(), draw_entropy(app)
    workspace_id = WorkspaceId(app.owner_services.new_id(now_ms))

    def begin() -> Any:
        yield from tenancy.create_workspace(workspace_id, name, now_ms, by=by)
        return (yield from tenancy.issue_key(workspace_id, entropy, now_ms, by=by, **rights))

    issued: IssuedKey = await app.store.write(begin)
    return issued


async def make_key(
    app: App, workspace_id: WorkspaceId = LOCAL_WORKSPACE, *, by: str = "test", **rights: Any
) -> str:
    """A key of a workspace that exists."""
    entropy, now_ms = draw_entropy(app), app.clock.now_ms()
    issued = await app.store.write(lambda: tenancy.issue_key(workspace_id, entropy, now_ms, by=by, **rights))
    return issued.api_key


async def rotate_key(app: App, key: str, **options: Any) -> str | None:
    """The successor of a key; None where it gets none."""
    public, entropy, now_ms = tenancy.parse_key(key), draw_entropy(app), app.clock.now_ms()
    assert public is not None
    issued = await app.store.write(
        lambda: tenancy.rotate_key(public.workspace_id, public.key_id, entropy, now_ms, by="test", **options)
    )
    return issued.api_key if issued is not None else None
