"""The keys that a server derives from its two secrets, equal on every replica."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from assent.gate.seals import Seals
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.tokens import KeyRing, derive_key
from assent.ports import Transaction
from assent.sql.loader import statements

Secret = tuple[bytes, ...]
"""A ring, newest first."""


class ServerKeys:
    """Reads the secrets when a key is first used, and derives each key once.

    `read` returns the run token secret and the master secret. Only opening the store checks that
    they fit.
    """

    def __init__(self, read: Callable[[], tuple[Secret, Secret]]) -> None:
        self._read = read

    def forget(self) -> None:
        """Read the secrets again at the next use: a person may have corrected them."""
        read = self._read
        vars(self).clear()
        self._read = read

    @cached_property
    def _secrets(self) -> tuple[Secret, Secret]:
        return self._read()

    @cached_property
    def run_token(self) -> Secret:
        return self._secrets[0]

    @cached_property
    def master(self) -> Secret:
        return self._secrets[1]

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
    def client_dialogs(self) -> KeyRing:
        """Sign the state of a dialog that a client shows between two calls."""
        return KeyRing.for_purpose(self.master, "client dialog")

    @cached_property
    def chat_codes(self) -> KeyRing:
        """Sign the codes by which people link an account of a chat app."""
        return KeyRing.for_purpose(self.master, "chat code")

    @cached_property
    def wrapped_servers(self) -> KeyRing:
        """Identify a wrapped server by its command, folder and environment, without revealing them."""
        return KeyRing.for_purpose(self.master, "wrapped server")

    @cached_property
    def client_ids(self) -> KeyRing:
        """Sign the metadata of a client that registered: it is its id, and nothing is stored."""
        return KeyRing.for_purpose(self.master, "client id")

    @cached_property
    def client_codes(self) -> KeyRing:
        """Sign the codes that clients exchange for their first tokens."""
        return KeyRing.for_purpose(self.master, "client code")

    @cached_property
    def client_renewals(self) -> KeyRing:
        """Sign refresh tokens, so that one which came before is told from one that was made up."""
        return KeyRing.for_purpose(self.master, "client renewal")

    @cached_property
    def oauth_verifiers(self) -> Secret:
        """The keys from which PKCE verifiers are derived."""
        return tuple(derive_key(secret, "oauth verifier") for secret in self.master)


def check_fingerprint(name: str, known: tuple[str, ...]) -> Transaction[bool]:
    """Whether the stored fingerprint of a secret is in the ring `known`. The first server on a
    store records its own.

    After a rotation the newest fingerprint replaces the older one.
    """
    rows = yield statements.find_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=name)
    stored = rows[0]["value"] if rows else None
    if stored is not None and stored not in known:
        return False
    if known and stored != known[0]:
        yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=name, value=known[0])
    return True
