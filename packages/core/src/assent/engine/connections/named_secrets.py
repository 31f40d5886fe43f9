"""Secrets of a workspace that its HTTP effects name. They stay in the vault (E8).

Each change is an event in the workspace's stream, with its author and without the secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from assent.engine.core import journal
from assent.engine.core.vault import Seal, Vault
from assent.gate.connection import OpenedSecrets
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.sql.loader import statements

SECRET_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)
FIELD: Final = "named"


class NamedSecret(Record):
    """A stored secret without its value."""

    name: str
    changed_ms: int


def put_secret(
    vault: Vault, workspace_id: WorkspaceId, name: str, value: str, seal: Seal, now_ms: int, *, by: str
) -> Transaction[None]:
    """Store a secret. It replaces an earlier one of that name."""
    yield from vault.put(workspace_id, _holder(name), OpenedSecrets({FIELD: value}), seal, now_ms)
    yield from journal.note(workspace_id, "secret_stored", {"name": name, "by": by}, now_ms)


def open_secrets(vault: Vault, workspace_id: WorkspaceId, names: Iterable[str]) -> Transaction[OpenedSecrets]:
    """Return the values of the names that are stored. Raises `SealBroken`."""
    found: dict[str, str] = {}
    for name in names:
        opened = yield from vault.open(workspace_id, _holder(name))
        if (value := opened.get(FIELD)) is not None:
            found[name] = value
    return OpenedSecrets(found)


def list_secrets(workspace_id: WorkspaceId) -> Transaction[tuple[NamedSecret, ...]]:
    rows = yield statements.list_secrets_of_field(workspace_id=workspace_id, field=FIELD)
    return tuple(NamedSecret(row["holder"].partition(":")[2], row["changed_ms"]) for row in rows)


def remove_secret(
    vault: Vault, workspace_id: WorkspaceId, name: str, now_ms: int, *, by: str
) -> Transaction[bool]:
    """Destroy a secret. Returns False if there is none."""
    if all(each.name != name for each in (yield from list_secrets(workspace_id))):
        return False
    yield from vault.destroy(workspace_id, _holder(name))
    yield from journal.note(workspace_id, "secret_removed", {"name": name, "by": by}, now_ms)
    return True


def _holder(name: str) -> str:
    return f"secret:{name}"
