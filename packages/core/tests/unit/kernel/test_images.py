"""Untrusted pictures: what is kept of them, and what is refused."""

from __future__ import annotations

import struct
import zlib

import pytest

from assent.kernel.images import MAX_IMAGE_BYTES, MAX_IMAGE_SIDE, BadImage, clean_image

SCRIPT = b"<script>alert(1)</script>"


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(
    width: int = 3, height: int = 2, *, more: bytes = b"", pixels: bytes | None = None, tail: bytes = b""
) -> bytes:
    rows = b"".join(b"\0" + b"\x10\x20\x30" * width for _ in range(height)) if pixels is None else pixels
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header) + more + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts + tail


def segment(kind: int, body: bytes) -> bytes:
    return bytes((0xFF, kind)) + struct.pack(">H", len(body) + 2) + body


def jpeg(*more: bytes, tail: bytes = b"") -> bytes:
    size = segment(0xC0, b"\x08" + struct.pack(">HH", 20, 30) + b"\x01\x01\x11\0")
    scan = segment(0xDA, b"\x01\x01\0\0\x3f\0") + b"\x12\xff\0\x34\xff\xd0\x56"
    return b"\xff\xd8" + b"".join(more) + segment(0xDB, b"\0" * 65) + size + scan + b"\xff\xd9" + tail


def webp(*more: tuple[bytes, bytes]) -> bytes:
    lossless = b"\x2f" + ((40 - 1) | (25 - 1) << 14).to_bytes(4, "little") + b"\0" * 7
    parts = b"".join(
        kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
        for kind, body in (*more, (b"VP8L", lossless))
    )
    return b"RIFF" + struct.pack("<I", len(parts) + 4) + b"WEBP" + parts


@pytest.mark.parametrize(
    ("raw", "media_type", "size"),
    [
        (png(more=chunk(b"tEXt", b"Comment\0" + SCRIPT)), "image/png", (3, 2)),
        (jpeg(segment(0xE1, b"Exif\0\0" + SCRIPT), segment(0xFE, SCRIPT)), "image/jpeg", (30, 20)),
        (webp((b"EXIF", SCRIPT), (b"XMP ", SCRIPT)), "image/webp", (40, 25)),
    ],
    ids=["png", "jpeg", "webp"],
)
def test_a_picture_is_kept_with_its_pixels_alone(raw: bytes, media_type: str, size: tuple[int, int]) -> None:
    assert SCRIPT in raw
    image = clean_image(raw)
    assert (image.media_type, (image.width, image.height)) == (media_type, size)
    assert SCRIPT not in image.content and len(image.content) < len(raw)
    assert clean_image(image.content) == image


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"GIF89a" + SCRIPT,
        png(tail=SCRIPT),
        png(pixels=b"\0" * 5_000_000),
        png(pixels=b"\0"),
        png()[:-20],
        png().replace(b"IDAT", b"IDAX"),
        png(more=chunk(b"AAAA", SCRIPT)),
        png(MAX_IMAGE_SIDE + 1, 1),
        png(more=chunk(b"tEXt", b"x" * MAX_IMAGE_BYTES)),
        jpeg(tail=SCRIPT),
        jpeg()[:-2],
        jpeg(segment(0x01, SCRIPT)),
        b"\xff\xd8\xff\xd9",
        webp((b"ANIM", b"\0" * 6)),
        webp()[:-4],
        b"RIFF\x04\0\0\0WEBP",
    ],
    ids=lambda raw: repr(raw[:12]),
)
def test_what_is_no_whole_picture_is_refused_in_words(raw: bytes) -> None:
    with pytest.raises(BadImage) as refused:
        clean_image(raw)
    assert str(refused.value).endswith(".")
