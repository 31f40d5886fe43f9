"""Canonical JSON (RFC 8785) and the digests made from it.

Two values that mean the same have the same canonical bytes, so a digest can bind an approval to a content.
Where bytes are only stored and read back (journal bodies), the codec's own deterministic order is enough and faster;
this module is for what must be equal across programs.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec
import rfc8785

from assent.kernel.limits import MAX_JSON_DEPTH

DIGEST_PREFIX: Final = "sha256:"


class NotCanonical(ValueError):  # noqa: N818 - named for what the value is
    """The value has no canonical form: a number past 2^53, NaN, a lone surrogate, or too deep a nesting."""


def canonical(value: Any) -> bytes:
    """The canonical JSON bytes of a value (structs are taken as their wire form)."""
    plain = msgspec.to_builtins(value)
    if depth(plain) > MAX_JSON_DEPTH:
        raise NotCanonical(f"nested deeper than {MAX_JSON_DEPTH}")
    try:
        return rfc8785.dumps(plain)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise NotCanonical(str(error)) from error


def digest(value: Any) -> str:
    """`sha256:` and the hex digest of the canonical bytes."""
    return DIGEST_PREFIX + hashlib.sha256(canonical(value)).hexdigest()


def short_digest(full: str) -> str:
    """The first eight hex digits: short enough to compare by eye in chat and on a page."""
    return full.removeprefix(DIGEST_PREFIX)[:8]


def depth(value: Any) -> int:
    """How deep lists and objects nest, without recursion so that no input can exhaust the stack."""
    deepest = 0
    stack: list[tuple[Any, int]] = [(value, 0)]
    while stack:
        node, level = stack.pop()
        if isinstance(node, dict):
            children: Any = node.values()
        elif isinstance(node, (list, tuple)):
            children = node
        else:
            continue
        deepest = max(deepest, level + 1)
        stack.extend((child, level + 1) for child in children)
    return deepest


def nests_too_deep(raw: bytes, value: Any) -> bool:
    """Whether decoded JSON is deeper than we take. Most messages have too few brackets to be, which is cheap to see."""
    return raw.count(b"[") + raw.count(b"{") > MAX_JSON_DEPTH and depth(value) > MAX_JSON_DEPTH
