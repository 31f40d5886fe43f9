"""The approval policy of a workspace (C8): one of the presets, set by an owner."""

from __future__ import annotations

import msgspec

from assent.engine.actions.actions import policy_of
from assent.engine.core import journal
from assent.gate.policy import DEFAULT, PRESETS, Policy
from assent.kernel.ids import WorkspaceId
from assent.ports import Transaction
from assent.sql.loader import statements


def find(workspace_id: WorkspaceId) -> Transaction[Policy]:
    rows = yield statements.find_policy(workspace_id=workspace_id)
    return policy_of(rows[0]) if rows else DEFAULT


def choose(workspace_id: WorkspaceId, preset: str, now_ms: int, *, by: str) -> Transaction[None]:
    """Set the policy to a preset. It also applies to earlier approvals."""
    text = msgspec.json.encode(PRESETS[preset]).decode()
    yield statements.set_policy(workspace_id=workspace_id, policy=text)
    yield from journal.note(workspace_id, "policy_changed", {"policy": preset, "by": by}, now_ms)


def name_of(policy: Policy) -> str:
    """Return the name of the preset; empty for a policy that is none."""
    return next((name for name, preset in PRESETS.items() if preset == policy), "")
