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
WINDOW_BITS: Final = 14
MEMORY_LEVEL: Final = 6
"""The window is 16 KB, twice the dictionary. A packer is copied for each answer, and a large one takes longer."""


def pack(text: str) -> bytes:
    packer = _prepare_packer().copy()
    return bytes([CURRENT]) + packer.compress(text.encode()) + packer.flush()


@cache
def _prepare_packer() -> zlib._Compress:
    """Return a packer that has read the dictionary, which takes longer than packing an answer."""
    dictionary = _read_dictionary(CURRENT)
    return zlib.compressobj(
        LEVEL, zlib.DEFLATED, WINDOW_BITS, MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, zdict=dictionary
    )


def unpack(packed: bytes) -> str:
    """Return the text, exactly. Raises `ValueError` if it was packed by a later version."""
    unpacker = zlib.decompressobj(zdict=_read_dictionary(packed[0]))
    return (unpacker.decompress(packed[1:]) + unpacker.flush()).decode()


@cache
def _read_dictionary(number: int) -> bytes:
    if not 1 <= number <= CURRENT:
        raise ValueError(f"a stored answer was packed by a later version (dictionary {number})")
    return (Path(__file__).parent / f"answers_{number}.txt").read_bytes()
