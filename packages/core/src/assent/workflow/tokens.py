"""The two tokens of a run: `st.v1.…` names a node, `ack.v1.…` one attempt at its pending step (W9).

A token is opaque, has at most 64 characters and a MAC of 128 bits. Its body is masked with a hash
of the MAC, so that no two tokens look alike, which a model might confuse. A token identifies a
place and authorises nothing: the look-up decides which workspace may use it. Tokens are
deterministic: the same place and key give the same token on every replica.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import struct
from typing import Final, Literal

import msgspec

from assent.kernel import tokens
from assent.kernel.ids import RunId
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record

Kind = Literal["st", "ack"]

VERSION: Final = "v1"
MAC_BYTES: Final = 16
KEYS_IN_USE: Final = 2
"""Tokens of the newest key and of the previous one are valid (W6)."""

_SHAPE: Final = re.compile(r"(st|ack)\.(v[0-9]{1,4})\.(.+)")
"""Any text may follow the version, so that an unknown version is reported as such (W3)."""
_BODY_CHARS: Final[dict[str, int]] = {"st": 54, "ack": 56}
_PLACE: Final = struct.Struct(">II")
"""Series and node."""


class TokenClaims(Record):
    """Content of a token. `series` distinguishes an imported run from its original (W71); `attempt`
    counts the blocked attempts at the step."""

    kind: Kind
    run_id: RunId
    node: int
    series: int = 0
    attempt: int = 0


class Tokens(Record):
    """The tokens that the next call needs. There is no ack token where no step is pending."""

    state_token: str
    ack_token: str | None


_minted: dict[tuple[bytes, str], TokenClaims] = {}
"""Cache of tokens that this process minted, by key."""
_KEPT: Final = 512


def mint(keys: tuple[bytes, ...], claims: TokenClaims) -> str:
    """Mint the token of a place with the newest key. It is the same after a restart and on every
    replica (W7), so a replay gets the same tokens (W10)."""
    body = _body(claims)
    mac = _mac(keys[0], claims.kind, body)
    text = f"{claims.kind}.{VERSION}." + tokens.encode(_mask(body, mac) + mac)
    if len(_minted) >= _KEPT:
        _minted.clear()
    _minted[keys[0], text] = claims
    return text


def mint_tokens(keys: tuple[bytes, ...], state: TokenClaims, attempt: int | None) -> Tokens:
    """Mint both tokens of a node. Without an attempt no step is pending."""
    ack = None if attempt is None else msgspec.structs.replace(state, kind="ack", attempt=attempt)
    return Tokens(mint(keys, state), None if ack is None else mint(keys, ack))


def read(keys: tuple[bytes, ...], text: str, kind: Kind) -> TokenClaims:
    """Return the place of a token. Raises `Refusal` for text that is no token (W2), another version
    (W3), another kind (W4), or a MAC of neither the newest nor the previous key (W1, W6)."""
    known = _minted.get((keys[0], text))
    if known is not None and known.kind == kind:
        return known
    shaped = _SHAPE.fullmatch(text)
    if shaped is None:
        raise Refusal(Reason.TOKEN_BAD_SIGNATURE if _is_altered(text) else Reason.TOKEN_INVALID_FORMAT)
    found, version, payload = shaped.groups()
    if version != VERSION:
        raise Refusal(Reason.TOKEN_UNSUPPORTED_VERSION)
    if len(payload) != _BODY_CHARS[found]:
        raise Refusal(Reason.TOKEN_INVALID_FORMAT)
    try:
        raw = tokens.decode(payload)
    except tokens.TokenInvalid:
        raise Refusal(Reason.TOKEN_BAD_SIGNATURE) from None
    body, mac = _parts(raw)
    good = [hmac.compare_digest(_mac(key, found, body), mac) for key in keys[:KEYS_IN_USE]]
    if not any(good):
        raise Refusal(Reason.TOKEN_BAD_SIGNATURE)
    if found != kind:
        raise Refusal(Reason.TOKEN_SCOPE_MISMATCH)
    return _read_claims(kind, body)


def place(text: str, run_id: str) -> TokenClaims:
    """Return the place of a token in a run without checking its MAC, for answers stored by this
    server. Raises `TokenInvalid` for a token of another run."""
    kind: Kind = "st" if text.startswith("st.") else "ack"
    payload = text.rpartition(".")[2]
    if len(payload) != _BODY_CHARS[kind]:
        raise tokens.TokenInvalid("not a token of a run")
    raw = tokens.decode(payload)
    named = _read_claims(kind, _parts(raw)[0])
    if named.run_id != run_id:
        raise tokens.TokenInvalid("a token of another run")
    return named


def _parts(raw: bytes) -> tuple[bytes, bytes]:
    """Split a decoded token into its body and its MAC."""
    mac = raw[-MAC_BYTES:]
    return _mask(raw[:-MAC_BYTES], mac), mac


def _mask(body: bytes, mac: bytes) -> bytes:
    """Mask or unmask the body by XOR. This is no encryption; the MAC protects the token."""
    size = len(body)
    mask = hashlib.sha256(mac).digest()[:size]
    return (int.from_bytes(body, "big") ^ int.from_bytes(mask, "big")).to_bytes(size, "big")


def _read_claims(kind: Kind, body: bytes) -> TokenClaims:
    attempt = int.from_bytes(body[24:26], "big") if kind == "ack" else 0
    run = body[:16].hex()
    run_id = RunId(f"{run[:8]}-{run[8:12]}-{run[12:16]}-{run[16:20]}-{run[20:]}")
    series, node = _PLACE.unpack_from(body, 16)
    return TokenClaims(kind, run_id, node, series, attempt)


def _is_altered(text: str) -> bool:
    """Whether a text looks like an altered token: the right length, and at most one wrong character
    in the prefix (W1)."""
    for kind, chars in _BODY_CHARS.items():
        prefix = f"{kind}.{VERSION}."
        if len(text) == len(prefix) + chars:
            return sum(a != b for a, b in zip(text, prefix, strict=False)) <= 1
    return False


def _body(claims: TokenClaims) -> bytes:
    body = bytes.fromhex(claims.run_id.replace("-", "")) + _PLACE.pack(claims.series, claims.node)
    return body + min(claims.attempt, 0xFFFF).to_bytes(2, "big") if claims.kind == "ack" else body


def _mac(key: bytes, kind: str, body: bytes) -> bytes:
    """Keyed BLAKE2b: a MAC in one call, since every step computes two."""
    return hashlib.blake2b(body, key=key, person=kind.encode(), digest_size=MAC_BYTES).digest()
