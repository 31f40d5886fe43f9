"""The parts of a draft while it is written: paragraphs with the facts in them and how much they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assent.drafting.phrases import Angle


class Claimed(msgspec.Struct, frozen=True):
    """A sentence and the places of the facts in it."""

    text: str
    facts: tuple[int, ...]


class Block(msgspec.Struct, frozen=True):
    """A paragraph or list. The highest `spare` is left out first; 0 stays."""

    kind: str
    text: str
    claims: tuple[Claimed, ...] = ()
    spare: int = 0


class Opened(msgspec.Struct, frozen=True):
    """How a draft begins. `avoided` are the entries because of which another beginning was not taken; `alike` says that
    there was none unlike what was rejected."""

    blocks: tuple[Block, ...]
    opening: str
    angle: Angle
    avoided: tuple[str, ...] = ()
    alike: bool = False


def joined(blocks: Sequence[Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def present(blocks: Iterable[Block | None]) -> list[Block]:
    return [block for block in blocks if block is not None and block.text]


def lighter(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """The draft whole, then each time without its least needed block."""
    kept = list(blocks)
    while kept:
        yield kept
        spare = max(block.spare for block in kept)
        if spare == 0:
            return
        last = max(place for place, block in enumerate(kept) if block.spare == spare)
        kept = kept[:last] + kept[last + 1 :]
