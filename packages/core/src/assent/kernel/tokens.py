"""Signed tokens, in layers that add one idea each.

1. *Encoding*: base64url without padding, one spelling per value; every other spelling is refused.
2. *Signature*: HMAC-SHA256 over the encoded payload exactly as received, compared in constant time and checked
   before anything is parsed. The algorithm is fixed and never named in the token.
3. *Keys*: one key for each purpose, derived (HKDF, RFC 5869) from a secret, so that a token made for one purpose
   means nothing to another. A ring holds the newest secret first: it signs, all verify.

Expiry and meaning belong to the payload's author. Reads no clock.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Final

from assent.kernel.limits import MIN_SECRET_BYTES
from assent.kernel.structs import Record

MAC_BYTES: Final = 32
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")


class TokenInvalid(ValueError):  # noqa: N818 - a state of the token
    """The token is invalid. The message is for the log; callers learn only that it is invalid."""


class WeakSecret(ValueError):  # noqa: N818 - a state of the secret
    """The secret is too short to sign with."""


def encode(raw: bytes) -> str:
    """base64url without padding."""
    return binascii.b2a_base64(raw, newline=False).translate(_URL_SAFE, b"=").decode("ascii")


def decode(text: str) -> bytes:
    """Invert `encode`. Raises `TokenInvalid` for any other spelling of a value."""
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise TokenInvalid("not base64url") from error
    if encode(raw) != text:
        raise TokenInvalid("not the canonical base64url form")
    return raw


def derive_key(secret: bytes, purpose: str, length: int = MAC_BYTES) -> bytes:
    """HKDF-SHA256 with the purpose as its info and a fixed salt."""
    pseudo_random_key = hmac.digest(b"assent/v1", secret, "sha256")
    blocks, block, counter = b"", b"", 1
    while len(blocks) < length:
        block = hmac.digest(pseudo_random_key, block + purpose.encode() + bytes([counter]), "sha256")
        blocks += block
        counter += 1
    return blocks[:length]


class KeyRing(Record):
    """The keys of one purpose, newest first: the first signs, every one verifies."""

    keys: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if not self.keys:
            raise WeakSecret("a key ring needs at least one key")
        for key in self.keys:
            require_strong(key)

    @classmethod
    def for_purpose(cls, secrets: tuple[bytes, ...], purpose: str) -> KeyRing:
        """Derive the ring of a purpose from the ring of secrets."""
        for secret in secrets:
            require_strong(secret)
        return cls(tuple(derive_key(secret, purpose) for secret in secrets))

    def sign(self, payload: bytes) -> str:
        """`b64url(payload).b64url(mac)`; HMAC-SHA256 over the encoded payload (E36, E37)."""
        encoded = encode(payload)
        return f"{encoded}.{encode(hmac.digest(self.keys[0], encoded.encode('ascii'), 'sha256'))}"

    def verify(self, token: str) -> bytes:
        """Return the payload of a token signed by the ring. Raises `TokenInvalid` (E40)."""
        encoded, dot, signature = token.partition(".")
        if not dot:
            raise TokenInvalid("no signature")
        mac = decode(signature)
        try:
            signed = encoded.encode("ascii")
        except UnicodeEncodeError as error:
            raise TokenInvalid("not ascii") from error
        # Every key is tried, so the time does not reveal which one signed.
        matches = [hmac.compare_digest(hmac.digest(key, signed, "sha256"), mac) for key in self.keys]
        if not any(matches):
            raise TokenInvalid("signature does not match")
        return decode(encoded)


def require_strong(secret: bytes) -> None:
    """Raise `WeakSecret` for a short or repetitive secret."""
    if len(secret) < MIN_SECRET_BYTES:
        raise WeakSecret(f"a secret needs at least {MIN_SECRET_BYTES} bytes, this one has {len(secret)}")
    if len(set(secret)) < 8:
        raise WeakSecret("the secret repeats a few characters; use random ones")


def fingerprint(secret: bytes) -> str:
    """Return a short public identifier of a secret, equal on every replica."""
    return hashlib.sha256(b"assent/fingerprint" + secret).hexdigest()[:16]
