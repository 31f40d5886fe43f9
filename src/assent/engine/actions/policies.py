"""The approval policy of a workspace (C8): its versions, and who set them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions.actions import policy_of
from assent.engine.core import freezes, journal
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.policy import (
    DEFAULT,
    PEOPLE,
    TWO_PEOPLE,
    Policy,
    digest_policy,
    find_preset,
    name_preset,
)
from assent.gate.records import Freeze
from assent.gate.rules.source import preset_source, read_policy
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.sql.loader import statements

FOR_ONE: Final = {TWO_PEOPLE: PEOPLE}
"""The preset that a signed-up workspace gets in place of another: it begins with one person."""


class PolicyVersion(Record):
    """One version of a workspace's policy, as its author wrote it."""

    version: int
    digest: str
    source: dict[str, Any]
    by: str
    at_ms: int | None


def find(workspace_id: WorkspaceId) -> Transaction[Policy]:
    return (yield from find_with_freeze(workspace_id))[0]


def find_with_freeze(workspace_id: WorkspaceId) -> Transaction[tuple[Policy, Freeze | None]]:
    """Return the policy of a workspace and what stops it."""
    row = (yield statements.find_policy(workspace_id=workspace_id))[0]
    return policy_of(row), freezes.read_joined(row) if row["frozen_in"] else None


def find_version(workspace_id: WorkspaceId) -> Transaction[PolicyVersion]:
    """Return the present version. A policy that was never set is version 0."""
    rows = yield statements.find_policy_version(workspace_id=workspace_id)
    if not rows:
        return PolicyVersion(0, digest_policy(DEFAULT), preset_source("relay"), "", None)
    row = rows[0]
    source = msgspec.json.decode(row["source"])
    return PolicyVersion(row["version"], row["digest"], source, row["by"], row["at_ms"])


def save(workspace_id: WorkspaceId, source: dict[str, Any], now_ms: int, *, by: str) -> Transaction[Policy]:
    """Set the policy to what `source` describes, as a new version. It also applies to earlier
    approvals. Raises `BadPolicy`."""
    policy = yield from read(source)
    yield from _store(workspace_id, policy, source, now_ms, by=by)
    return policy


def read(source: Any) -> Transaction[Policy]:
    """Return the policy that `source` describes, with the people of this server. Raises `BadPolicy`."""
    rows = yield statements.list_person_names(workspace_id=SYSTEM_WORKSPACE)
    listed = [(row["email"] or "").casefold() for row in rows]
    # An address that several people gave names none of them.
    named = {
        each: row["person_id"] for each, row in zip(listed, rows, strict=True) if listed.count(each) == 1
    }
    return read_policy(source, {**named, **{row["person_id"].casefold(): row["person_id"] for row in rows}})


def choose(workspace_id: WorkspaceId, preset: str, now_ms: int, *, by: str) -> Transaction[None]:
    """Set the policy to a preset."""
    policy = find_preset(preset)
    if policy is None:
        raise ValueError(f"{preset!r} is no preset")
    yield from _store(workspace_id, policy, preset_source(preset), now_ms, by=by)


def begin(workspace_id: WorkspaceId, preset: str, now_ms: int, *, by: str) -> Transaction[None]:
    """Set the first policy of a new workspace, unless it is the default one."""
    if find_preset(preset) != DEFAULT:
        yield from choose(workspace_id, preset, now_ms, by=by)


def choose_first(preset: str | None) -> Transaction[str]:
    """Return the preset of a new workspace: that of the settings, else that of the default workspace without
    its rules. Rules alone, without a preset, stand for `people`, as what no rule matches needs a person."""
    if preset is not None:
        return preset
    return name_preset((yield from find(LOCAL_WORKSPACE))) or PEOPLE


def _store(
    workspace_id: WorkspaceId, policy: Policy, source: dict[str, Any], now_ms: int, *, by: str
) -> Transaction[None]:
    yield statements.set_policy(workspace_id=workspace_id, policy=msgspec.json.encode(policy).decode())
    digest = digest_policy(policy)
    rows = yield statements.add_policy_version(
        workspace_id=workspace_id,
        digest=digest,
        source=msgspec.json.encode(source).decode(),
        set_by=by,
        at_ms=now_ms,
    )
    facts = {"policy": source.get("preset", ""), "version": rows[0]["version"], "digest": digest, "by": by}
    yield from journal.note(workspace_id, "policy_changed", facts, now_ms)
