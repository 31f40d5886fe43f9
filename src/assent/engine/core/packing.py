"""Packs stored answers: a replay needs every byte, and the file would be half answers otherwise.

DEFLATE with a preset dictionary of usual answers, which makes a usual answer about a sixth of its size. The
first byte names the dictionary; one that was in a release never changes, because answers depend on it.
"""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from typing import Final

CURRENT: Final = 1
LEVEL: Final = 6


def pack(text: str) -> bytes:
    packer = zlib.compressobj(LEVEL, zdict=_read_dictionary(CURRENT))
    return bytes([CURRENT]) + packer.compress(text.encode()) + packer.flush()


def unpack(packed: bytes) -> str:
    """Return the text, exactly. Raises `ValueError` if it was packed by a later version."""
    unpacker = zlib.decompressobj(zdict=_read_dictionary(packed[0]))
    return (unpacker.decompress(packed[1:]) + unpacker.flush()).decode()


@cache
def _read_dictionary(number: int) -> bytes:
    if not 1 <= number <= CURRENT:
        raise ValueError(f"a stored answer was packed by a later version (dictionary {number})")
    return (Path(__file__).parent / f"answers_{number}.txt").read_bytes()
