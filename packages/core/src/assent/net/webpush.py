"""Web push for one browser: the encryption of a message (RFC 8291, aes128gcm) and the signature of the
request (VAPID, RFC 8292).

A subscription is the address that a browser made, with the private key of this server for it. Time
and randomness are arguments; what the message says is not known here.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from assent.kernel import tokens
from assent.kernel.structs import WireRecord

TOKEN_SECONDS: Final = 3600
RECORD_BYTES: Final = 4096
POINT_BYTES: Final = 65
AUTH_BYTES: Final = 16
KEY_BYTES: Final = 32
SALT_BYTES: Final = 16
ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the curve P-256."""


class PushKeys(WireRecord):
    """Keys of a browser, as `PushSubscription.toJSON` names them."""

    p256dh: str
    auth: str


class PushSubscription(WireRecord):
    """The address of a browser, with the server's private key for it."""

    endpoint: str
    keys: PushKeys
    vapid: str = ""

    def __repr__(self) -> str:
        return "PushSubscription(…)"


def encrypt(plain: bytes, keys: PushKeys, private: bytes, salt: bytes) -> bytes:
    """Encrypt a note for a browser (RFC 8291) with a one-time private key, as one aes128gcm record
    (RFC 8188)."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    own = load_private(private)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), tokens.decode(keys.p256dh))
    points = tokens.decode(keys.p256dh) + (point := public_point(own))
    shared = own.exchange(ec.ECDH(), theirs)
    secret = _hkdf(tokens.decode(keys.auth), shared, b"WebPush: info\0" + points, 32)
    key = _hkdf(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _hkdf(salt, secret, b"Content-Encoding: nonce\0", 12)
    header = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(point)]) + point
    # The byte 2 ends the last record.
    return header + AESGCM(key).encrypt(nonce, plain + b"\x02", None)


def authorize(found: PushSubscription, contact: str, now_seconds: int) -> str:
    """Return the VAPID header: a signed token for the push service's origin, and the public key."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    own = load_private(tokens.decode(found.vapid))
    parts = urlsplit(found.endpoint)
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": now_seconds + TOKEN_SECONDS,
        "sub": contact,
    }
    head, body = (
        tokens.encode(msgspec.json.encode(each)) for each in ({"typ": "JWT", "alg": "ES256"}, claims)
    )
    r, s = decode_dss_signature(own.sign(f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256())))
    signature = tokens.encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    return f"vapid t={head}.{body}.{signature}, k={tokens.encode(public_point(own))}"


def load_private(raw: bytes) -> Any:
    """Return the P-256 private key of 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.derive_private_key(int.from_bytes(raw, "big") % (ORDER - 1) + 1, ec.SECP256R1())


def public_point(private: Any) -> bytes:
    """Return the public key as an uncompressed point, as browsers take it."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    point: bytes = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return point


def _hkdf(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


def read_subscription(address: str) -> PushSubscription | None:
    """Return a stored or sent subscription, if its keys have the right form."""
    try:
        found = msgspec.json.decode(address, type=PushSubscription)
        point, auth = tokens.decode(found.keys.p256dh), tokens.decode(found.keys.auth)
        usable = len(point) == POINT_BYTES and len(auth) == AUTH_BYTES
        if usable:
            from cryptography.hazmat.primitives.asymmetric import ec

            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except (msgspec.MsgspecError, tokens.TokenInvalid, ValueError):
        return None
    return found if usable else None
