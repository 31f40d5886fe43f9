"""`python -m assent.suite.pictures.process`: makes pictures for a server and ends. Work comes in, a result goes out.

A process of its own, because drawing holds the interpreter for a tenth of a second per picture, and because fonts and
pictures are other people's formats: what breaks here breaks no server.
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
from assent.suite.pictures.orders import Made, PictureResult, Short, Work


def make(work: Work) -> PictureResult:
    """Every picture, or why there is none."""
    fonts = Fonts(work.font_dirs)
    missing = fonts.missing(f"{work.order.headline} {work.order.name}")
    emoji = tuple(each for each in missing if counting.is_emoji(each))
    if len(emoji) < len(missing):
        return PictureResult(no_glyph=tuple(each for each in missing if each not in emoji))
    order = msgspec.structs.replace(
        work.order,
        headline=without(work.order.headline, emoji),
        name=without(work.order.name, emoji),
    )
    if not order.headline:
        return PictureResult(no_glyph=emoji)
    drawn, short = _draw_all(order, work, fonts)
    if short:
        return PictureResult(too_long=tuple(short.values()), left_out=emoji, order=order)
    made = tuple(
        Made(
            each.channel,
            each.layout,
            each.width,
            each.height,
            bytes(resvg_py.svg_to_bytes(svg_string=each.svg, skip_system_fonts=True)),
        )
        for each in drawn
    )
    return PictureResult(made=made, left_out=emoji, order=order)


def _draw_all(order: Order, work: Work, fonts: Fonts) -> tuple[list[graphics.Drawn], dict[str, Short]]:
    @lru_cache(maxsize=4_096)
    def shape(text: str, rtl: bool) -> Shaped:
        return fonts.shape(text, rtl)

    drawn: list[graphics.Drawn] = []
    short: dict[str, Short] = {}
    for channel in work.channels:
        for layout in work.layouts:
            each = graphics.draw(order, channel, layout, shape)
            if not isinstance(each, TooLong):
                drawn.append(each)
            elif channel not in short or each.most < short[channel].most:
                short[channel] = Short(channel, each.most, each.word, each.is_name)
    return drawn, short


def without(text: str, clusters: tuple[str, ...]) -> str:
    """A text without some of its characters, and without the blanks that they leave."""
    kept = "".join(each for each in counting.clusters(text) if each not in clusters)
    return " ".join(kept.split())


def main() -> None:
    work = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Work)
    sys.stdout.buffer.write(msgspec.msgpack.encode(make(work)))


if __name__ == "__main__":
    main()
