"""`python -m assent.suite.pictures.process`: reads an order, draws its pictures, writes the result
and ends.

A separate process: drawing blocks the interpreter for a tenth of a second per picture, and a crash
in font or picture code must not stop the server.
"""

from __future__ import annotations

import sys
from functools import lru_cache

import msgspec
import resvg_py

from assent.suite.content import counting
from assent.suite.pictures import graphics
from assent.suite.pictures.font_files import Fonts
from assent.suite.pictures.graphics import Order, Shaped
from assent.suite.pictures.line_fitting import TooLong
from assent.suite.pictures.orders import MadePicture, OverflowingChannel, PictureJob, PictureResult


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
