"""Canonical JSON (RFC 8785) and the digests made from it.

Two values that mean the same have the same canonical bytes, so a digest can bind an approval to a content.
Where bytes are only stored and read back (journal bodies), the codec's own deterministic order is enough and faster;
this module is for what must be equal across programs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import rfc8785

from assent.kernel.limits import MAX_WRAPPED_DEPTH

DIGEST_PREFIX: Final = "sha256:"
MAX_SAFE_INTEGER: Final = 2**53 - 1

_SORTED: Final = msgspec.json.Encoder(order="sorted")
_AS_WRITTEN: Final = frozenset({str, bool, type(None)})


class NotCanonical(ValueError):  # noqa: N818 - named for what the value is
    """The value has no canonical form: a number past 2^53, NaN, a lone surrogate, or too deep a nesting."""


def canonical(value: Any) -> bytes:
    """The canonical JSON bytes of a value (structs are taken as their wire form)."""
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
    """`sha256:` and the hex digest of the canonical bytes."""
    return DIGEST_PREFIX + hashlib.sha256(canonical(value)).hexdigest()


def digest_of_bytes(content: bytes) -> str:
    """The same for bytes that are no JSON: a picture, a file."""
    return DIGEST_PREFIX + hashlib.sha256(content).hexdigest()


def short_digest(full: str) -> str:
    """The first eight hex digits: short enough to compare by eye in chat and on a page."""
    return full.removeprefix(DIGEST_PREFIX)[:8]


def depth(value: Any) -> int:
    """How deep lists and objects nest, without recursion so that no input can exhaust the stack."""
    return _survey(value)[0]


def nests_too_deep(raw: bytes, value: Any, most: int) -> bool:
    """Whether decoded JSON is deeper than that. Most messages have too few brackets to be, which is cheap to see."""
    return raw.count(b"[") + raw.count(b"{") > most and depth(value) > most


def _survey(value: Any) -> tuple[int, bool]:
    """How deep a value nests, and whether the codec writes it as the RFC does: it does all but numbers with a point,
    unsafe integers and the order of keys beyond ASCII.
    """
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
        return False  # a key that is no text
