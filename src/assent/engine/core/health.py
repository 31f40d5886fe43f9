"""Health checks: the store answers, and it was created with the secrets of this server."""

from __future__ import annotations

from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import Transaction
from assent.sql.loader import statements


def ping() -> Transaction[None]:
    """Read nothing, to check that the store answers."""
    yield statements.ping()


def check_fingerprint(name: str, known: tuple[str, ...]) -> Transaction[bool]:
    """Whether the stored fingerprint of a secret is in the ring `known`. The first server on a store records its own.

    After a rotation the newest fingerprint replaces the older one.
    """
    rows = yield statements.find_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=name)
    stored = rows[0]["value"] if rows else None
    if stored is not None and stored not in known:
        return False
    if stored != known[0]:
        yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=name, value=known[0])
    return True
