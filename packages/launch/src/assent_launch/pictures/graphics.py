"""Lays out a picture as SVG: a headline and a brand in a channel's size.

Text is drawn as glyph outlines, so a picture looks the same everywhere. There are three layouts;
right-to-left text mirrors them. The same order gives the same bytes.

Knows nothing of font files and PNG.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

from assent.sdk import Record
from assent_launch.channels.channel import Size
from assent_launch.channels.registry import SIZES
from assent_launch.content import counting
from assent_launch.pictures import bidi, palette
from assent_launch.pictures.palette import Palette

Measure = Callable[[str], float]
"""Returns the width of a text in units of the letter size."""

STEPS: Final = 40

GOOD, FAIR, POOR = 0, 1, 3
"""The cost of a line break: after a word, after a phrase, inside a phrase."""

_NO_START: Final = frozenset(
    "、。，．・：；？！ー」』）］｝〉》】〕…‥々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ%％°!?,.:;)]}”’"
)
"""Characters that begin no line (Japanese typesetting, also good elsewhere)."""
_NO_END: Final = frozenset("「『（［｛〈《【〔([{“‘¥$£€#＃")
_PARTICLES: Final = frozenset("のはがにでともへやを")
_AFTER_WORD: Final = frozenset("-‐–—/・、。，！？：；")


class Box(Record):
    width: float
    height: float
    largest: float
    smallest: float
    line_height: float
    most_lines: int = 6


class Fitted(Record):
    """Lines in logical order without trailing blanks, and the letter size."""

    lines: tuple[str, ...]
    size: float
    line_height: float

    @property
    def height(self) -> float:
        return self.size * self.line_height * len(self.lines)


class TooLong(Record):
    """A text too long for a legible size: how many characters fit, or the widest word."""

    most: int
    word: str = ""
    is_name: bool = False
    """Whether the text is the brand's name instead of the headline."""


class _Piece(Record):
    """Text without line breaks inside, its width with and without the blank after it, and the cost
    of a break after it."""

    text: str
    width: float
    bare: float
    cost: int


def fit(text: str, box: Box, measure: Measure) -> Fitted | TooLong:
    """Return the largest lines that fit; breaks inside a phrase are the last resort."""
    pieces = _pieces(text, measure)
    for worst in (FAIR, POOR):
        joined = _join_costly(pieces, worst, measure)
        smallest = max(box.smallest, box.largest * 0.6) if worst == FAIR else box.smallest
        for step in range(STEPS + 1):
            size = box.largest - (box.largest - smallest) * step / STEPS
            lines = _lines(joined, box, size)
            if lines is not None:
                return Fitted(lines, size, box.line_height)
    return _too_long(pieces, box)


def _pieces(text: str, measure: Measure) -> list[_Piece]:
    found: list[_Piece] = []
    clusters = list(counting.clusters(text))
    held: list[str] = []
    for index, cluster in enumerate(clusters):
        held.append(cluster)
        cost = _cost(clusters, index)
        if cost is not None:
            whole = "".join(held)
            found.append(_Piece(whole, measure(whole), measure(whole.rstrip()), cost))
            held = []
    return found


def _cost(clusters: Sequence[str], index: int) -> int | None:
    """Return the cost of a line break after a character; None if no break is allowed there."""
    if index + 1 == len(clusters):
        return GOOD
    before, after = clusters[index], clusters[index + 1]
    if before.isspace():
        return None if after.isspace() else GOOD
    if after.isspace() or after in _NO_START or before in _NO_END:
        return None
    if before in _AFTER_WORD and not after.isdigit():
        return GOOD
    one, two = _script(before), _script(after)
    if one == two == "katakana" or not {one, two} & {"kanji", "hiragana", "katakana"}:
        return None
    if before == "を":
        return FAIR
    if one != "hiragana" or two == "hiragana":
        return POOR
    # A Japanese phrase ends with hiragana, and the next begins with another script. But a compound
    # verb has a single hiragana inside, which is no particle.
    inside = index > 0 and _script(clusters[index - 1]) != "hiragana" and before not in _PARTICLES
    return POOR if inside else FAIR


def _script(cluster: str) -> str:
    point = ord(cluster[0])
    if 0x3041 <= point <= 0x309F:
        return "hiragana"
    if 0x30A0 <= point <= 0x30FF or 0xFF66 <= point <= 0xFF9F:
        return "katakana"
    return "kanji" if unicodedata.east_asian_width(cluster[0]) in ("W", "F") else "other"


def _join_costly(pieces: Sequence[_Piece], worst: int, measure: Measure) -> list[_Piece]:
    """Join the pieces between which a break costs more than `worst`."""
    found: list[_Piece] = []
    held = ""
    for piece in pieces:
        held += piece.text
        if piece.cost <= worst:
            found.append(_Piece(held, measure(held), measure(held.rstrip()), piece.cost))
            held = ""
    return found


def _lines(pieces: Sequence[_Piece], box: Box, size: float) -> tuple[str, ...] | None:
    """Break the text into the fewest lines, with even ends; None if it does not fit."""
    width = box.width / size
    most = min(box.most_lines, int(box.height / (size * box.line_height) + 0.001))
    if most < 1 or any(piece.bare > width for piece in pieces):
        return None
    # best[i]: number of lines, raggedness and start of the last line for the text up to piece i.
    best: list[tuple[int, float, int]] = [(0, 0.0, 0)]
    for end in range(1, len(pieces) + 1):
        options = []
        length = pieces[end - 1].bare
        for start in range(end - 1, -1, -1):
            if start < end - 1:
                length += pieces[start].width
            if length > width:
                break
            lines, ragged, _ = best[start]
            rest = (width - length) / width
            cost = ragged + rest * rest + 0.25 * pieces[end - 1].cost * (end < len(pieces))
            options.append((lines + 1, cost, start))
        if not options:
            return None
        best.append(min(options))
    if best[-1][0] > most:
        return None
    found: list[str] = []
    end = len(pieces)
    while end:
        start = best[end][2]
        found.append("".join(piece.text for piece in pieces[start:end]).strip())
        end = start
    return tuple(reversed(found))


def _too_long(pieces: Sequence[_Piece], box: Box) -> TooLong:
    """Return how much of the text fits at the smallest size."""
    wide = next((piece for piece in pieces if piece.bare * box.smallest > box.width), None)
    for count in range(len(pieces) - 1, 0, -1):
        if _lines(pieces[:count], box, box.smallest) is not None:
            kept = "".join(piece.text for piece in pieces[:count]).strip()
            return TooLong(counting.graphemes(kept), wide.text.strip() if wide is not None else "")
    return TooLong(0, wide.text.strip() if wide is not None else "")


LAYOUTS: Final = ("dark", "light", "solid")
"""The variants of every picture, in display order."""

LEGIBLE: Final = 1 / 27
"""The smallest letter size as a share of the width: about 14 px on a phone that is 390 px wide."""

LEGIBLE_NAME: Final = 11 / 390
"""The smallest size of the brand's name: 11 px on a phone."""

_TALL: Final = (("ऀ", "෿", 1.42), ("฀", "๿", 1.42), ("؀", "ࣿ", 1.42), ("⺀", "\uffef", 1.3), ("가", "힣", 1.3))
"""Scripts that need more line height than Latin, with the height."""
LINE_HEIGHT: Final = 1.14
_ANCHORS: Final = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""The share of a text's width that is left of its anchor."""

_LARGEST: Final = ((12, 0.19), (28, 0.17), (10_000, 0.145))
"""The largest letter size as a share of the shorter side, by the number of characters."""


class Glyph(Record):
    """A glyph's outline in font units with y up, and its position in letter sizes."""

    outline: str
    scale: float
    x: float
    y: float


class Shaped(Record):
    width: float
    glyphs: tuple[Glyph, ...]


Shape = Callable[[str, bool], Shaped]
"""Shapes text of one direction (True: right to left), in units of the letter size."""


class Order(Record, kw_only=True):
    headline: str
    name: str = ""
    main: str
    accent: str | None = None


class Drawn(Record):
    channel: str
    layout: str
    width: int
    height: int
    svg: str


def alt_text(order: Order) -> str:
    return f"{order.headline} ({order.name})" if order.name else order.headline


def draw(order: Order, channel: str, layout: str, shape: Shape) -> Drawn | TooLong:
    """Draw a picture; return `TooLong` if the headline does not fit."""
    size = SIZES[channel]
    canvas = _Canvas(size, palette.palettes(order.main, order.accent)[layout], shape, order)
    if (most := canvas.most_of_name()) is not None:
        return TooLong(most, is_name=True)
    drawn = _DRAW[layout](canvas)
    if isinstance(drawn, TooLong):
        return drawn
    title = html.escape(alt_text(order), quote=False)
    ground = rect(0, 0, size.width, size.height, canvas.colours.ground)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size.width}" height="{size.height}" '
        f'viewBox="0 0 {size.width} {size.height}" role="img"><title>{title}</title>{"".join([ground, *drawn])}</svg>'
    )
    return Drawn(channel, layout, size.width, size.height, svg)


class _Canvas:
    """A picture while it is drawn: size, colours, text and direction."""

    def __init__(self, size: Size, colours: Palette, shape: Shape, order: Order) -> None:
        self.width, self.height = size.width, size.height
        self.short = min(size.width, size.height)
        self.margin = round(self.short * 0.095)
        self.colours = colours
        self.order = order
        self.rtl = bidi.is_rtl(order.headline)
        self._shape = shape
        self.small = max(self.short * 0.05, self.width * LEGIBLE * 0.82)

    def measure(self, text: str) -> float:
        return sum(run.width for run in self._runs(text))

    def _runs(self, line: str) -> list[Shaped]:
        """Shape a line from left to right, in the headline's direction."""
        base = int(bidi.is_rtl(line if line == self.order.name else self.order.headline))
        return [self._shape(run.text, run.rtl) for run in bidi.visual(line, bidi.levels(line, base), base)]

    def headline(self, box_width: float, box_height: float) -> Fitted | TooLong:
        """Fit the headline into its box, large but with several letters per line."""
        text = self.order.headline
        count = counting.graphemes(text)
        share = next(share for most, share in _LARGEST if count <= most)
        words = Box(
            width=box_width,
            height=box_height,
            largest=self.short * share,
            smallest=self.width * LEGIBLE,
            line_height=line_height(text),
            most_lines=max(6, round(8 * self.height / self.width)),
        )
        return fit(text, words, self.measure)

    def text(self, line: str, x: float, baseline: float, size: float, colour: str, anchor: str) -> str:
        """Draw a line of text. `anchor`: which end x is: start, middle or end."""
        runs = self._runs(line)
        total = sum(run.width for run in runs) * size
        at = x - total * _ANCHORS[anchor]
        parts = []
        for run in runs:
            for glyph in run.glyphs:
                if glyph.outline:
                    left, top = at + glyph.x * size, baseline - glyph.y * size
                    scale = glyph.scale * size
                    parts.append(
                        f'<path transform="matrix({scale:.6f} 0 0 {-scale:.6f} {left:.2f} {top:.2f})" '
                        f'd="{glyph.outline}"/>'
                    )
            at += run.width * size
        return f'<g fill="{colour}">{"".join(parts)}</g>'

    def block(self, fitted: Fitted, x: float, top: float, colour: str, anchor: str) -> str:
        """Draw the lines of a headline; `top` is the top of their box."""
        step = fitted.size * fitted.line_height
        first = top + step / 2 + fitted.size * 0.36
        return "".join(
            self.text(line, x, first + step * index, fitted.size, colour, anchor)
            for index, line in enumerate(fitted.lines)
        )

    def most_of_name(self) -> int | None:
        """Return how many characters of the name fit, or None if all do."""
        room, wanted = self._room_for_name / (self.width * LEGIBLE_NAME), self.measure(self.order.name)
        return int(counting.graphemes(self.order.name) * room / wanted) if wanted > room else None

    @property
    def _room_for_name(self) -> float:
        return self.width - 2 * self.margin - self.small * 2.1

    def brand(self, x: float, middle: float, colour: str, anchor: str) -> str:
        """Draw the brand's name with its mark, vertically centred on `middle`."""
        name, size = self.order.name, self.small
        if not name:
            return ""
        width = self.measure(name) * size
        if width > self._room_for_name:
            size, width = size * self._room_for_name / width, self._room_for_name
        side = size * 1.55
        whole = side + size * 0.55 + width
        left = x - whole * _ANCHORS[anchor]
        mark = left + whole - side if self.rtl else left
        words = left if self.rtl else left + side + size * 0.55
        initial = next(counting.clusters(name)).upper()
        return (
            rect(mark, middle - side / 2, side, side, self.colours.accent, side * 0.28)
            + self.text(
                initial,
                mark + side / 2,
                middle + size * 0.95 * 0.36,
                size * 0.95,
                self.colours.on_accent,
                "middle",
            )
            + self.text(name, words, middle + size * 0.36, size, colour, "start")
        )

    @property
    def start(self) -> tuple[float, str]:
        return (self.width - self.margin, "end") if self.rtl else (self.margin, "start")

    def mirrored(self, x: float, width: float) -> float:
        """Return the left edge of a shape, mirrored for right-to-left text."""
        return self.width - x - width if self.rtl else x


def _dark(canvas: _Canvas) -> list[str] | TooLong:
    """Draw a dark ground, discs of the brand's colour, and large words at the bottom."""
    colours, margin, short = canvas.colours, canvas.margin, canvas.short
    foot = margin + canvas.small * 1.6 if canvas.order.name else margin
    bar = short * 0.014
    above = margin + bar + short * 0.05
    box_height = canvas.height - above - foot - short * 0.06
    box_width = canvas.width - 2 * margin
    fitted = canvas.headline(box_width, box_height)
    if isinstance(fitted, TooLong):
        return fitted
    top = canvas.height - foot - short * 0.06 - fitted.height
    top -= (top - above) * 0.38
    x, anchor = canvas.start
    corner = 0 if canvas.rtl else canvas.width
    # The headline may overlap a disc, so the disc is no brighter than white text allows.
    faint = palette.blend(colours.shape, colours.ground, 0.34)
    fainter = palette.blend(colours.shape, colours.ground, 0.16)
    if min(palette.contrast(colours.text, each) for each in (faint, fainter)) < palette.TEXT_CONTRAST:
        faint = fainter = palette.blend(colours.text, colours.ground, 0.06)
    return [
        disc(corner, 0, short * 0.62, fainter),
        disc(corner, 0, short * 0.36, faint),
        rect(
            canvas.mirrored(margin, short * 0.13), top - short * 0.05 - bar, short * 0.13, bar, colours.accent
        ),
        canvas.block(fitted, x, top, colours.text, anchor),
        canvas.brand(x, canvas.height - margin - canvas.small * 0.25, colours.quiet, anchor),
    ]


def _light(canvas: _Canvas) -> list[str] | TooLong:
    """Draw a light ground, a band of the brand's colour, and dark words beside it."""
    colours, margin, short = canvas.colours, canvas.margin, canvas.short
    band = round(canvas.width * 0.035)
    side = band + margin
    head = margin + canvas.small * 1.9 if canvas.order.name else margin
    box_height = canvas.height - head - margin - short * 0.06
    fitted = canvas.headline(canvas.width - side - margin, box_height)
    if isinstance(fitted, TooLong):
        return fitted
    top = head + (box_height - fitted.height) / 2
    x, anchor = (canvas.width - side, "end") if canvas.rtl else (side, "start")
    return [
        rect(canvas.mirrored(0, band), 0, band, canvas.height, colours.accent),
        rect(canvas.mirrored(0, band), canvas.height * 0.72, band, canvas.height * 0.28, colours.shape),
        canvas.block(fitted, x, top, colours.text, anchor),
        canvas.brand(x, margin + canvas.small * 0.4, colours.quiet, anchor),
        rect(
            canvas.mirrored(side, short * 0.13),
            canvas.height - margin,
            short * 0.13,
            short * 0.014,
            colours.accent,
        ),
    ]


def _solid(canvas: _Canvas) -> list[str] | TooLong:
    """Draw a ground of the brand's colour, a thin frame, and the words in the middle."""
    colours, short = canvas.colours, canvas.short
    inset = short * 0.045
    line = max(2.0, short * 0.005)
    side = canvas.margin + inset * 0.6
    foot = side + canvas.small * 2.3 if canvas.order.name else side
    box_height = canvas.height - side - foot
    fitted = canvas.headline(canvas.width - 2 * side, box_height)
    if isinstance(fitted, TooLong):
        return fitted
    top = side + (box_height - fitted.height) / 2
    return [
        f'<rect x="{inset:.2f}" y="{inset:.2f}" width="{canvas.width - 2 * inset:.2f}" '
        f'height="{canvas.height - 2 * inset:.2f}" rx="{short * 0.03:.2f}" fill="none" '
        f'stroke="{colours.accent}" stroke-width="{line:.2f}"/>',
        canvas.block(fitted, canvas.width / 2, top, colours.text, "middle"),
        canvas.brand(canvas.width / 2, canvas.height - side - canvas.small * 0.3, colours.text, "middle"),
    ]


_DRAW: Final[dict[str, Callable[[_Canvas], list[str] | TooLong]]] = {
    "dark": _dark,
    "light": _light,
    "solid": _solid,
}


def line_height(text: str) -> float:
    tall = (height for low, high, height in _TALL if any(low <= char <= high for char in text))
    return max(tall, default=LINE_HEIGHT)


def rect(x: float, y: float, width: float, height: float, colour: str, radius: float = 0.0) -> str:
    rounded = f' rx="{radius:.2f}"' if radius else ""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"{rounded} fill="{colour}"/>'
    )


def disc(x: float, y: float, radius: float, colour: str) -> str:
    return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:.2f}" fill="{colour}"/>'


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
