"""Canonical JSON (RFC 8785) and the digests made from it.

Equal values have equal canonical bytes, so a digest can bind an approval to its content. Use this
module for bytes that must be equal across programs. For bytes that are only stored and read back,
such as journal bodies, the codec's deterministic order is enough and faster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

import msgspec
import rfc8785

from assent.kernel.limits import MAX_WRAPPED_DEPTH

SHORT_DIGEST_CHARS: Final = 16
DIGEST_PREFIX: Final = "sha256:"
MAX_SAFE_INTEGER: Final = 2**53 - 1

_SORTED: Final = msgspec.json.Encoder(order="sorted")
_NESTING: Final = (dict, list, tuple)
_AS_WRITTEN: Final = frozenset({str, bool, type(None)})


class NotCanonical(ValueError):  # noqa: N818 - named for what the value is
    """The value has no canonical form: a number past 2^53, NaN, a lone surrogate, deep nesting."""


def canonical(value: Any) -> bytes:
    """Return the canonical JSON bytes of a value or struct. Raises `NotCanonical`."""
    levels, simple = _survey(value)
    if not simple:
        value = msgspec.to_builtins(value)
        levels, simple = _survey(value)
    if levels > MAX_WRAPPED_DEPTH:
        raise NotCanonical(f"nested deeper than {MAX_WRAPPED_DEPTH}")
    try:
        return _SORTED.encode(value) if simple else rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise NotCanonical(str(error)) from error


def digest(value: Any) -> str:
    """Return `sha256:` and the hex digest of the canonical bytes."""
    return DIGEST_PREFIX + hashlib.sha256(canonical(value)).hexdigest()


def digest_of_bytes(content: bytes) -> str:
    """Return `sha256:` and the hex digest of bytes that are no JSON, such as a picture."""
    return DIGEST_PREFIX + hashlib.sha256(content).hexdigest()


def short_digest(full: str) -> str:
    """Return the digits that name a content to people and agents, enough to prevent a forged match."""
    return full.removeprefix(DIGEST_PREFIX)[:SHORT_DIGEST_CHARS]


def depth(value: Any) -> int:
    """Return the nesting depth. Iterative, so that no input can exhaust the stack, and lean, because every message of
    many brackets is looked through while others wait."""
    levels, row = 0, iter((value,))
    while nested := [
        node.values() if isinstance(node, dict) else node for node in row if isinstance(node, _NESTING)
    ]:
        levels += 1
        row = chain.from_iterable(nested)
    return levels


def _survey(value: Any) -> tuple[int, bool]:
    """Return the depth of a value, and whether the codec encodes it as the RFC does: it differs for
    floats, unsafe integers and the order of non-ASCII keys."""
    levels, simple = 0, True
    row = [value]
    while row:
        below: list[Any] = []
        nests = False
        for node in row:
            kind = type(node)
            if kind in _AS_WRITTEN:
                continue
            if isinstance(node, dict):
                nests = True
                below.extend(node.values())
                simple = simple and _are_ascii(node)
            elif isinstance(node, (list, tuple)):
                nests = True
                below.extend(node)
            elif kind is not int or not -MAX_SAFE_INTEGER <= node <= MAX_SAFE_INTEGER:
                simple = False
        levels += nests
        row = below
    return levels, simple


def _are_ascii(keys: Iterable[Any]) -> bool:
    try:
        return "".join(keys).isascii()
    except TypeError:
        return False  # a key that is not a string
