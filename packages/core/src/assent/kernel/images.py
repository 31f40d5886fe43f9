"""Reads an untrusted picture (PNG, JPEG, WebP) and writes it again with its pixels alone.

The container is read strictly: sizes, order and checksums must be right, nothing may follow the end,
and only the parts that a decoder needs are written again. Metadata, profiles, comments, animations
and everything that another program might read as something else are left out. SVG is no picture
here, because it can hold scripts. Pure.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

from assent.kernel.structs import Record

MAX_IMAGE_BYTES: Final = 512 * 1024
MAX_IMAGE_SIDE: Final = 2_000

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT: Final = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})
_PNG_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PNG_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_JPEG_SIZES: Final = frozenset({0xC0, 0xC1, 0xC2})
_JPEG_KEPT: Final = frozenset({*_JPEG_SIZES, 0xC4, 0xDB, 0xDD, 0xEE})
"""Sizes, Huffman and quantisation tables, restart intervals, and Adobe's mark of the colour space."""


class BadImage(ValueError):  # noqa: N818 - carries a message for a person
    """The bytes are no picture that can be shown safely. The message is for a person."""


class CleanImage(Record):
    media_type: str
    width: int
    height: int
    content: bytes


def clean_image(raw: bytes) -> CleanImage:
    """Return the picture without anything but its pixels. Raises `BadImage`."""
    if len(raw) > MAX_IMAGE_BYTES:
        raise BadImage(f"The picture is larger than {MAX_IMAGE_BYTES // 1024} KB. Choose a smaller one.")
    for starts, read in _READERS:
        if starts(raw):
            try:
                image = read(raw)
            except (IndexError, zlib.error):
                raise BadImage("The picture is damaged. Save it again, and choose that file.") from None
            if not 0 < image.width <= MAX_IMAGE_SIDE or not 0 < image.height <= MAX_IMAGE_SIDE:
                raise BadImage(f"The picture is larger than {MAX_IMAGE_SIDE} by {MAX_IMAGE_SIDE} pixels.")
            return image
    raise BadImage("Choose a PNG, JPEG or WebP picture.")


def _damaged(why: str) -> BadImage:
    return BadImage(f"The picture is damaged ({why}). Save it again, and choose that file.")


def _read_png(raw: bytes) -> CleanImage:
    parts: list[bytes] = [_PNG]
    pixels = bytearray()
    header, at, ended = b"", len(_PNG), False
    while at < len(raw):
        size, kind = int.from_bytes(raw[at : at + 4]), raw[at + 4 : at + 8]
        body, stop = raw[at + 8 : at + 8 + size], at + 12 + size
        if ended or stop > len(raw):
            raise _damaged("it does not end where it says")
        if int.from_bytes(raw[stop - 4 : stop]) != zlib.crc32(kind + body):
            raise _damaged("a checksum is wrong")
        if (kind == b"IHDR") is not (at == len(_PNG)):
            raise _damaged("its header is not at the start")
        if kind in _PNG_KEPT:
            parts.append(raw[at:stop])
        elif kind[:1].isupper():
            raise _damaged("it has an unknown part")
        header = body if kind == b"IHDR" else header
        pixels += body if kind == b"IDAT" else b""
        at, ended = stop, kind == b"IEND"
    if not ended or len(header) != 13:
        raise _damaged("it does not end")
    width, height = int.from_bytes(header[:4]), int.from_bytes(header[4:8])
    depth, colour, interlace = header[8], header[9], header[12]
    if depth not in _PNG_DEPTHS.get(colour, ()) or header[10:12] != b"\0\0" or interlace > 1:
        raise _damaged("its header is wrong")
    if width > MAX_IMAGE_SIDE or height > MAX_IMAGE_SIDE:
        return CleanImage("image/png", width, height, b"")
    row = (width * _PNG_CHANNELS[colour] * depth + 7) // 8 + 1
    # An interlaced picture has up to seven passes, each with its own rounding and filter bytes.
    most = row * height if not interlace else 2 * row * height + 16 * (width + height)
    opened = zlib.decompressobj()
    found = len(opened.decompress(bytes(pixels), most + 1))
    if found > most or (not interlace and found != most):
        raise _damaged("it has another number of pixels than it says")
    return CleanImage("image/png", width, height, b"".join(parts))


def _read_jpeg(raw: bytes) -> CleanImage:
    parts: list[bytes] = [raw[:2]]
    at, size = 2, (0, 0)
    while True:
        if raw[at] != 0xFF:
            raise _damaged("a part does not begin where it should")
        kind = raw[at + 1]
        if kind == 0xD9:
            if at + 2 != len(raw):
                raise _damaged("something follows its end")
            parts.append(raw[at:])
            return CleanImage("image/jpeg", *size, b"".join(parts))
        stop = at + 2 + int.from_bytes(raw[at + 2 : at + 4])
        if stop > len(raw) or stop < at + 4:
            raise _damaged("it does not end where it says")
        if kind in _JPEG_SIZES:
            size = int.from_bytes(raw[at + 7 : at + 9]), int.from_bytes(raw[at + 5 : at + 7])
        if kind in _JPEG_KEPT:
            parts.append(raw[at:stop])
        elif kind == 0xDA:
            end = _find_scan_end(raw, stop)
            parts.append(raw[at:end])
            stop = end
        elif not 0xE0 <= kind <= 0xEF and kind != 0xFE:
            raise _damaged("it has an unknown part")
        at = stop


def _find_scan_end(raw: bytes, at: int) -> int:
    """The end of the compressed pixels: the next marker that is neither stuffing nor a restart."""
    while True:
        at = raw.index(b"\xff", at) if b"\xff" in raw[at:] else len(raw)
        if raw[at + 1] == 0 or 0xD0 <= raw[at + 1] <= 0xD7:
            at += 2
        else:
            return at


def _read_webp(raw: bytes) -> CleanImage:
    if int.from_bytes(raw[4:8], "little") + 8 != len(raw):
        raise _damaged("it does not end where it says")
    kept: dict[bytes, bytes] = {}
    at, size = 12, (0, 0)
    while at < len(raw):
        kind, length = raw[at : at + 4], int.from_bytes(raw[at + 4 : at + 8], "little")
        stop = at + 8 + length + length % 2
        if stop > len(raw):
            raise _damaged("it does not end where it says")
        body = raw[at + 8 : at + 8 + length]
        if kind in (b"ANIM", b"ANMF"):
            raise BadImage("The picture moves. Choose one that does not.")
        if kind in (b"VP8 ", b"VP8L", b"ALPH"):
            if kind in kept:
                raise _damaged("it has two pictures")
            kept[kind] = raw[at:stop]
        if kind == b"VP8 ":
            size = int.from_bytes(body[6:8], "little") & 0x3FFF, int.from_bytes(body[8:10], "little") & 0x3FFF
        elif kind == b"VP8L":
            bits = int.from_bytes(body[1:5], "little")
            size = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        at = stop
    if (b"VP8 " in kept) is (b"VP8L" in kept) or 0 in size:
        raise _damaged("it has no picture")
    parts = [kept[kind] for kind in (b"ALPH", b"VP8 ", b"VP8L") if kind in kept]
    if b"ALPH" in kept:
        flags = b"\x10\0\0\0" + (size[0] - 1).to_bytes(3, "little") + (size[1] - 1).to_bytes(3, "little")
        parts.insert(0, b"VP8X" + len(flags).to_bytes(4, "little") + flags)
    content = b"WEBP" + b"".join(parts)
    return CleanImage("image/webp", *size, b"RIFF" + len(content).to_bytes(4, "little") + content)


_READERS: Final[tuple[tuple[Callable[[bytes], bool], Callable[[bytes], CleanImage]], ...]] = (
    (lambda raw: raw.startswith(_PNG), _read_png),
    (lambda raw: raw.startswith(b"\xff\xd8\xff"), _read_jpeg),
    (lambda raw: raw[:4] == b"RIFF" and raw[8:12] == b"WEBP", _read_webp),
)
