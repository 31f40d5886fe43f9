"""Whether the store answers, and whether it was made with the secrets that this server has."""

from __future__ import annotations

from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import Transaction
from assent.sql.loader import statements


def ping() -> Transaction[None]:
    """A read that touches nothing."""
    yield statements.ping()


def check_fingerprint(name: str, known: tuple[str, ...]) -> Transaction[bool]:
    """Whether the stored fingerprint of a secret is one of ours; the first server on a store leaves its own.

    After a rotation the newest fingerprint replaces the older one that was found in the ring.
    """
    rows = yield statements.find_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=name)
    stored = rows[0]["value"] if rows else None
    if stored is not None and stored not in known:
        return False
    if stored != known[0]:
        yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=name, value=known[0])
    return True
