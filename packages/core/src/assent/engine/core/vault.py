"""Secrets at rest: encrypted by a key per workspace, which is encrypted by a key derived from the
master secret.

The cipher is AES-256-GCM. Workspace, holder and field are authenticated with each secret, so a row
that was moved cannot be opened. After a change of the master secret, a starting server encrypts the
workspace keys again; the secrets under them stay as they are.

An opened secret leaves this module only as `OpenedSecrets`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from assent.gate.connection import OpenedSecrets
from assent.kernel import tokens
from assent.kernel.canonical import canonical
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.ports import StoreUnavailable, Transaction
from assent.sql.loader import statements

PURPOSE: Final = "vault"
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
RESEALED_AT_ONCE: Final = 500


class SealBroken(StoreUnavailable):
    """A secret cannot be opened: another master secret sealed it, or the row was altered."""


class Seal(Record):
    """The randomness of one encryption, drawn outside the transaction, which may run twice."""

    data_key: bytes
    nonces: tuple[bytes, ...]

    def __repr__(self) -> str:
        return "Seal(…)"


class Vault:
    """Encrypts and opens the secrets of a workspace's connectors; no response contains them (E8).
    `master` returns the ring of master secrets, newest first."""

    def __init__(self, master: Callable[[], tuple[bytes, ...]], entropy: Callable[[int], bytes]) -> None:
        self._master = master
        self._entropy = entropy

    def seal(self, count: int) -> Seal:
        """Draw the randomness for `count` secrets, and for the workspace's key if it has none."""
        nonces = tuple(self._entropy(NONCE_BYTES) for _ in range(count + 1))
        return Seal(self._entropy(KEY_BYTES), nonces)

    def put(
        self,
        workspace_id: WorkspaceId,
        holder: str,
        secrets: OpenedSecrets | Mapping[str, str],
        seal: Seal,
        now_ms: int,
    ) -> Transaction[None]:
        """Replace all secrets of a holder."""
        yield statements.add_vault_key(
            workspace_id=workspace_id,
            sealed_by=self._names()[0],
            sealed=_seal(self._keys()[0], seal.data_key, seal.nonces[0], _key_of(workspace_id)),
            made_ms=now_ms,
        )
        data_key = yield from self._data_key(workspace_id)
        yield statements.delete_secrets(workspace_id=workspace_id, holder=holder)
        for nonce, (field, secret) in zip(seal.nonces[1:], sorted(secrets.items()), strict=True):
            sealed = _seal(data_key, secret.encode(), nonce, _place(workspace_id, holder, field))
            yield statements.put_secret(
                workspace_id=workspace_id, holder=holder, field=field, sealed=sealed, now_ms=now_ms
            )

    def open(self, workspace_id: WorkspaceId, holder: str) -> Transaction[OpenedSecrets]:
        """Return the secrets of a holder; empty if it has none. Raises `SealBroken`."""
        rows = yield statements.list_secrets(workspace_id=workspace_id, holder=holder)
        if not rows:
            return OpenedSecrets({})
        data_key = yield from self._data_key(workspace_id)
        return OpenedSecrets(
            {
                row["field"]: _open(
                    data_key, row["sealed"], _place(workspace_id, holder, row["field"])
                ).decode()
                for row in rows
            }
        )

    def destroy(self, workspace_id: WorkspaceId, holder: str) -> Transaction[None]:
        """Delete all secrets of a holder."""
        yield statements.delete_secrets(workspace_id=workspace_id, holder=holder)

    def reseal(self, nonces: tuple[bytes, ...]) -> Transaction[int]:
        """Encrypt workspace keys of an earlier master secret under the newest, one per nonce.
        Returns the number changed."""
        newest, names = self._keys()[0], self._names()
        rows = yield statements.list_outdated_vault_keys(newest=names[0], most=len(nonces))
        known = dict(zip(names, self._keys(), strict=True))
        done = 0
        for nonce, row in zip(nonces, rows, strict=False):
            if row["sealed_by"] in known:
                about = _key_of(WorkspaceId(row["workspace_id"]))
                data_key = _open(known[row["sealed_by"]], row["sealed"], about)
                yield statements.reseal_vault_key(
                    workspace_id=row["workspace_id"],
                    before=row["sealed_by"],
                    newest=names[0],
                    sealed=_seal(newest, data_key, nonce, about),
                )
                done += 1
        return done

    def nonces(self) -> tuple[bytes, ...]:
        """Draw nonces for one round of `reseal`."""
        return tuple(self._entropy(NONCE_BYTES) for _ in range(RESEALED_AT_ONCE))

    def _data_key(self, workspace_id: WorkspaceId) -> Transaction[bytes]:
        rows = yield statements.find_vault_key(workspace_id=workspace_id)
        known = dict(zip(self._names(), self._keys(), strict=True))
        if not rows or rows[0]["sealed_by"] not in known:
            raise SealBroken(
                "The secrets of this workspace were sealed with a master secret that this server does not have. "
                "Set it as ASSENT_SECRET_PREVIOUS."
            )
        return _open(known[rows[0]["sealed_by"]], rows[0]["sealed"], _key_of(workspace_id))

    def _keys(self) -> tuple[bytes, ...]:
        return tuple(tokens.derive_key(secret, PURPOSE) for secret in self._master())

    def _names(self) -> tuple[str, ...]:
        return tuple(tokens.fingerprint(key) for key in self._keys())


def _key_of(workspace_id: WorkspaceId) -> bytes:
    return canonical(["data key", workspace_id])


def _place(workspace_id: WorkspaceId, holder: str, field: str) -> bytes:
    return canonical(["secret", workspace_id, holder, field])


def _seal(key: bytes, plain: bytes, nonce: bytes, about: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return tokens.encode(nonce + AESGCM(key).encrypt(nonce, plain, about))


def _open(key: bytes, sealed: str, about: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        raw = tokens.decode(sealed)
        return AESGCM(key).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], about)
    except (InvalidTag, tokens.TokenInvalid, ValueError) as error:
        raise SealBroken("A sealed secret was altered or moved. Connect the provider again.") from error
