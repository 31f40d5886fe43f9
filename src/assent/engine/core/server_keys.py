"""The keys that a server derives from its two secrets. They are the same on every replica."""

from __future__ import annotations

from functools import cached_property

from assent.gate.seals import Seals
from assent.kernel.tokens import KeyRing, derive_key


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
