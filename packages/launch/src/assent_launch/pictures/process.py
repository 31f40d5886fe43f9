"""`python -m assent_launch.pictures.process`: reads an order, draws its pictures, writes the result
and ends.

A separate process: drawing blocks the interpreter for a tenth of a second per picture, and a crash
in font or picture code must not stop the server.
"""

from __future__ import annotations

import sys
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec
import resvg_py
import uharfbuzz as hb

from assent_launch.content import counting
from assent_launch.pictures import graphics
from assent_launch.pictures.graphics import (
    Glyph,
    MadePicture,
    Order,
    OverflowingChannel,
    PictureJob,
    PictureResult,
    Shaped,
    TooLong,
)

BUNDLED: Final = Path(__file__).parent / "fonts"
FONT_FILES: Final = (".ttf", ".otf", ".ttc", ".otc")

MAX_FONT_FILES: Final = 300
"""The most system font files that are searched; a desktop has a few hundred."""

MAX_FONT_BYTES: Final = 64 * 1_048_576
"""The largest font file that is read; the largest known one has about 30 MB."""


class NoGlyph(Exception):  # noqa: N818 - what was found
    """No font has a character of the text."""


class Face:
    def __init__(self, path: Path) -> None:
        face = hb.Face(hb.Blob.from_file_path(str(path)))
        self._font = hb.Font(face)
        self._scale = 1 / face.upem
        self._points: Any = face.unicodes
        self._outlines: dict[int, str] = {}
        self._pen = hb.DrawFuncs()
        self._pen.set_move_to_func(lambda x, y, to: to.append(f"M{x:g} {y:g}"))
        self._pen.set_line_to_func(lambda x, y, to: to.append(f"L{x:g} {y:g}"))
        self._pen.set_quadratic_to_func(lambda a, b, x, y, to: to.append(f"Q{a:g} {b:g} {x:g} {y:g}"))
        self._pen.set_cubic_to_func(
            lambda a, b, c, d, x, y, to: to.append(f"C{a:g} {b:g} {c:g} {d:g} {x:g} {y:g}")
        )
        self._pen.set_close_path_func(lambda to: to.append("Z"))

    def has(self, text: str) -> bool:
        return all(ignorable(char) or ord(char) in self._points for char in text)

    def shape(self, text: str, rtl: bool) -> Shaped:
        buffer = hb.Buffer()
        buffer.add_str(text)
        buffer.guess_segment_properties()
        buffer.direction = "rtl" if rtl else "ltr"
        hb.shape(self._font, buffer)
        glyphs, at = [], 0.0
        for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
            if info.codepoint == 0 and not ignorable(text[info.cluster]):
                raise NoGlyph(text)
            x, y = at + position.x_offset * self._scale, position.y_offset * self._scale
            glyphs.append(Glyph(self._outline(info.codepoint), self._scale, x, y))
            at += position.x_advance * self._scale
        return Shaped(at, tuple(glyphs))

    def _outline(self, glyph: int) -> str:
        if glyph not in self._outlines:
            parts: list[str] = []
            self._font.draw_glyph(glyph, self._pen, parts)
            self._outlines[glyph] = "".join(parts)
        return self._outlines[glyph]


class Fonts:
    """The bundled fonts in order, and the system's fonts, which are loaded when needed."""

    def __init__(self, directories: Iterable[str] = ()) -> None:
        self._directories = tuple(directories)
        self._found: list[Face] = []
        self._hopeless: set[str] = set()

    @cached_property
    def _bundled(self) -> list[Face]:
        table = tomllib.loads((BUNDLED / "fonts.toml").read_text(encoding="utf-8"))
        return [Face(BUNDLED / font["file"]) for font in table["font"]]

    def missing(self, text: str) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                cluster
                for cluster in counting.clusters(text)
                if not cluster.isspace() and self._face(cluster) is None
            )
        )

    def shape(self, text: str, rtl: bool) -> Shaped:
        """Shape a run of one direction from left to right, with as many fonts as needed."""
        parts = list(self._by_face(text))
        if rtl:
            parts.reverse()
        glyphs: list[Glyph] = []
        at = 0.0
        for face, part in parts:
            shaped = face.shape(part, rtl)
            glyphs += [Glyph(each.outline, each.scale, at + each.x, each.y) for each in shaped.glyphs]
            at += shaped.width
        return Shaped(at, tuple(glyphs))

    def _by_face(self, text: str) -> Iterator[tuple[Face, str]]:
        """Split a text into parts by font. A blank stays with the part before it."""
        held, current = "", None
        for cluster in counting.clusters(text):
            face = current if cluster.isspace() and current is not None else self._face(cluster)
            if face is None:
                raise NoGlyph(cluster)
            if current is not None and face is not current:
                yield current, held
                held = ""
            current, held = face, held + cluster
        if current is not None:
            yield current, held

    def _face(self, cluster: str) -> Face | None:
        shown = " " if cluster.isspace() else cluster
        for face in (*self._bundled, *self._found):
            if face.has(shown):
                return face
        if cluster in self._hopeless or counting.is_emoji(cluster):
            return None
        for face in self._of_the_system:
            if face.has(shown):
                self._found.append(face)
                return face
        self._hopeless.add(cluster)
        return None

    @cached_property
    def _of_the_system(self) -> list[Face]:
        """Return the configured directories' fonts, bold first; skips other files."""
        files = [
            path
            for directory in self._directories
            for path in sorted(Path(directory).rglob("*"))
            if path.suffix.lower() in FONT_FILES
        ]
        files.sort(key=lambda path: ("bold" not in path.stem.lower(), "sans" not in path.stem.lower()))
        faces = []
        for path in files[:MAX_FONT_FILES]:
            try:
                if path.stat().st_size <= MAX_FONT_BYTES:
                    faces.append(Face(path))
            except (OSError, ValueError, hb.HarfBuzzError):
                continue
        return faces


def ignorable(char: str) -> bool:
    """Whether a character is invisible and shapes others: joiners and variation selectors."""
    return unicodedata.category(char) == "Cf" or 0xFE00 <= ord(char) <= 0xFE0F


def make(work: PictureJob) -> PictureResult:
    fonts = Fonts(work.font_dirs)
    missing = fonts.missing(f"{work.order.headline} {work.order.name}")
    emoji = tuple(each for each in missing if counting.is_emoji(each))
    if len(emoji) < len(missing):
        return PictureResult(no_glyph=tuple(each for each in missing if each not in emoji))
    order = msgspec.structs.replace(
        work.order,
        headline=remove_clusters(work.order.headline, emoji),
        name=remove_clusters(work.order.name, emoji),
    )
    if not order.headline:
        return PictureResult(no_glyph=emoji)
    drawn, short = _draw_all(order, work, fonts)
    if short:
        return PictureResult(too_long=tuple(short.values()), left_out=emoji, order=order)
    made = tuple(
        MadePicture(
            each.channel,
            each.layout,
            each.width,
            each.height,
            bytes(resvg_py.svg_to_bytes(svg_string=each.svg, skip_system_fonts=True)),
        )
        for each in drawn
    )
    return PictureResult(made=made, left_out=emoji, order=order)


def _draw_all(
    order: Order, work: PictureJob, fonts: Fonts
) -> tuple[list[graphics.Drawn], dict[str, OverflowingChannel]]:
    @lru_cache(maxsize=4_096)
    def shape(text: str, rtl: bool) -> Shaped:
        return fonts.shape(text, rtl)

    drawn: list[graphics.Drawn] = []
    short: dict[str, OverflowingChannel] = {}
    for channel in work.channels:
        for layout in work.layouts:
            each = graphics.draw(order, channel, layout, shape)
            if not isinstance(each, TooLong):
                drawn.append(each)
            elif channel not in short or each.most < short[channel].most:
                short[channel] = OverflowingChannel(channel, each.most, each.word, each.is_name)
    return drawn, short


def remove_clusters(text: str, clusters: tuple[str, ...]) -> str:
    """Remove some characters from a text, and the blanks beside them."""
    kept = "".join(each for each in counting.clusters(text) if each not in clusters)
    return " ".join(kept.split())


def main() -> None:
    work = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=PictureJob)
    sys.stdout.buffer.write(msgspec.msgpack.encode(make(work)))


if __name__ == "__main__":
    main()
