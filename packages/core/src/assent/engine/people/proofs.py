"""Proofs that a person confirmed a form: the signature of the browser's key, and nonces that work
once.

The key is ECDSA P-256, made in the browser when it signed in, and cannot be exported from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from assent.engine.people import passkeys
from assent.gate.records import Assurance
from assent.kernel import tokens
from assent.kernel.canonical import canonical
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import Record
from assent.kernel.tokens import TokenInvalid
from assent.ports import Transaction
from assent.sql.loader import statements

VERSION: Final = "assent confirm 1"

_POINT_BYTES: Final = 65
_NUMBER_BYTES: Final = 32


class FormStatement(Record):
    """What a key signs: one form, at one address, in one session, once."""

    origin: str
    path: str
    session_id: str
    fields: Mapping[str, str]
    nonce: str

    def encode(self) -> bytes:
        """Return canonical JSON, which the script in the browser writes too."""
        return canonical(
            {
                "fields": dict(self.fields),
                "nonce": self.nonce,
                "origin": self.origin,
                "path": self.path,
                "session": self.session_id,
                "version": VERSION,
            }
        )

    def challenge(self) -> bytes:
        """Return the challenge with which a passkey covers the same data."""
        return hashlib.sha256(self.encode()).digest()


class FormProof(Record):
    """A verified proof, not yet used up."""

    session_id: str
    assurance: Assurance
    nonce: str
    expires_ms: int
    passkey: passkeys.PasskeyUse | None = None


def is_public_key(text: str) -> bool:
    """Whether a text is a P-256 public key: the uncompressed point, as base64url."""
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        point = tokens.decode(text)
        if len(point) != _POINT_BYTES:
            return False
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except (TokenInvalid, ValueError):
        return False
    return True


def is_signed(statement: bytes, signature: str, public_key: str) -> bool:
    """Whether the browser's key signed these bytes. The signature is `r || s`, as base64url."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    try:
        raw = tokens.decode(signature)
        if len(raw) != 2 * _NUMBER_BYTES:
            return False
        r, s = int.from_bytes(raw[:_NUMBER_BYTES], "big"), int.from_bytes(raw[_NUMBER_BYTES:], "big")
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), tokens.decode(public_key))
        key.verify(encode_dss_signature(r, s), statement, ec.ECDSA(hashes.SHA256()))
    except (TokenInvalid, ValueError, InvalidSignature):
        return False
    return True


def use(proof: FormProof, now_ms: int) -> Transaction[bool]:
    """Use up a proof, in the transaction of what it confirms. Returns False if it was used before."""
    used = yield from use_nonce(proof.nonce, proof.expires_ms)
    if not used or proof.passkey is None:
        return used
    return (yield from passkeys.note_use(proof.passkey, now_ms))


def use_nonce(nonce: str, expires_ms: int) -> Transaction[bool]:
    """Use up a nonce. Returns False if it was used before."""
    used = yield statements.use_nonce(
        workspace_id=SYSTEM_WORKSPACE,
        nonce_hash=hashlib.sha256(nonce.encode()).hexdigest(),
        expires_ms=expires_ms,
    )
    return bool(used)
