"""The keys that a server derives from its two secrets. Every replica of a store has the same ones."""

from __future__ import annotations

from functools import cached_property

from assent.gate.seals import Seals
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.tokens import KeyRing, derive_key
from assent.ports import Transaction
from assent.sql.loader import statements


class ServerKeys:
    """Derives each key when it is first used. Every secret is a ring, newest first."""

    def __init__(self, *, run_token: tuple[bytes, ...], master: tuple[bytes, ...]) -> None:
        self.run_token = run_token
        self.master = master

    @cached_property
    def review_links(self) -> KeyRing:
        """RUN_TOKEN_SECRET signs review links and nothing else."""
        return KeyRing(self.run_token)

    @cached_property
    def workflow_tokens(self) -> tuple[bytes, ...]:
        return tuple(derive_key(secret, "workflow token") for secret in self.master)

    @cached_property
    def seals(self) -> Seals:
        """Tell the approvals of this server from others."""
        return Seals.of(self.master)

    @cached_property
    def oauth_verifiers(self) -> bytes:
        """PKCE verifiers are derived from it."""
        return derive_key(self.master[0], "oauth verifier")


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
