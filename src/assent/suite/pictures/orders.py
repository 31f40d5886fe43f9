"""The messages between the server and its drawing process."""

from __future__ import annotations

from assent.platform.values import Record
from assent.suite.pictures.graphics import Order


class PictureJob(Record, kw_only=True):
    order: Order
    channels: tuple[str, ...]
    layouts: tuple[str, ...]
    font_dirs: tuple[str, ...] = ()


class MadePicture(Record):
    channel: str
    layout: str
    width: int
    height: int
    content: bytes


class OverflowingChannel(Record):
    """A channel whose picture is too small: how much fits, or the widest word."""

    channel: str
    most: int
    word: str
    is_name: bool = False


class PictureResult(Record, kw_only=True):
    """All pictures, or the reason why none was made."""

    made: tuple[MadePicture, ...] = ()
    too_long: tuple[OverflowingChannel, ...] = ()
    no_glyph: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Emoji, which text fonts do not have; the words around them are drawn."""
    order: Order | None = None
    """The order that was drawn."""


class PicturesFailed(Exception):  # noqa: N818 - what happened
    """The process failed; the message is for the log."""
