"""What is said between a server and the process that makes its pictures."""

from __future__ import annotations

import msgspec

from assent.suite.pictures.graphics import Order


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Pictures of one headline: which, and where fonts may be looked for."""

    order: Order
    channels: tuple[str, ...]
    layouts: tuple[str, ...]
    font_dirs: tuple[str, ...] = ()


class Made(msgspec.Struct, frozen=True):
    """One picture as PNG."""

    channel: str
    layout: str
    width: int
    height: int
    content: bytes


class Short(msgspec.Struct, frozen=True):
    """A channel whose picture has too little room: how many characters would fit, or the word that is too wide."""

    channel: str
    most: int
    word: str
    is_name: bool = False


class PictureResult(msgspec.Struct, frozen=True, kw_only=True):
    """All the pictures, or what keeps them from being made: nothing is half done."""

    made: tuple[Made, ...] = ()
    too_long: tuple[Short, ...] = ()
    no_glyph: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Emoji, which no font of text draws; the words around them are drawn."""
    order: Order | None = None
    """What was drawn in the end."""


class PicturesFailed(Exception):  # noqa: N818 - what happened
    """The process did not deliver; the message is for the log."""
