"""Derives the colours of a picture from the brand's colours or name, with readable contrast (WCAG
2.2 AA).

Lightness is changed in OKLCH, where a step looks the same in every hue. Every text has at least
`TEXT_CONTRAST`.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import Final

from assent.sdk import Record

TEXT_CONTRAST: Final = 4.5
"""WCAG AA for text of any size: a picture is small on a phone."""

SHAPE_CONTRAST: Final = 3.0
"""WCAG AA for shapes with a meaning; also used for thin lines."""

DECORATION: Final = 1.3
"""A decorative shape keeps the brand's colour if it has at least this contrast."""

GREY: Final = 0.03
"""A colour with less chroma counts as grey and gets a grey accent."""

_HEX: Final = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")

Rgb = tuple[float, float, float]


class Palette(Record):
    """The colours of one layout: ground, text, secondary text, accent."""

    ground: str
    text: str
    quiet: str
    accent: str
    on_accent: str
    shape: str


def parse(text: str) -> str | None:
    """Parse a colour as `#rrggbb`; None if it is invalid."""
    found = _HEX.fullmatch(text.strip())
    if found is None:
        return None
    digits = found.group(1).lower()
    return "#" + (digits if len(digits) == 6 else "".join(char * 2 for char in digits))


def derive_colour(name: str) -> str:
    """Return a main colour for a brand without colours; the same name gives the same colour."""
    hue = int.from_bytes(hashlib.sha256(name.casefold().encode()).digest()[:2], "big") / 65536 * 360
    return _hex(*_fit(0.52, 0.16, hue))


def palettes(main: str, accent: str | None) -> dict[str, Palette]:
    _, chroma, hue = _oklch(main)
    vivid = max(0.10, min(chroma, 0.16)) if chroma >= GREY else 0.0
    second = accent or _hex(*_fit(0.80, vivid, hue + 75))
    night = _hex(*_fit(0.21, min(chroma, 0.06), hue))
    paper = _hex(*_fit(0.975, min(chroma, 0.012), hue))
    return {
        "dark": _palette(night, "#ffffff", readable(second, night, SHAPE_CONTRAST), main),
        "light": _palette(
            paper, _hex(*_fit(0.24, min(chroma, 0.07), hue)), readable(main, paper, DECORATION), second
        ),
        "solid": _palette(main, _ink(main), readable(second, main, SHAPE_CONTRAST), main),
    }


def _palette(ground: str, text: str, accent: str, shape: str) -> Palette:
    text = readable(text, ground, TEXT_CONTRAST)
    return Palette(
        ground=ground,
        text=text,
        quiet=readable(blend(text, ground, 0.72), ground, TEXT_CONTRAST),
        accent=accent,
        on_accent=readable(_ink(accent), accent, TEXT_CONTRAST),
        shape=shape,
    )


def _ink(ground: str) -> str:
    return max(("#ffffff", "#14161a"), key=lambda each: contrast(each, ground))


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def readable(colour: str, ground: str, ratio: float) -> str:
    """Return the colour with the nearest lightness that has enough contrast."""
    if contrast(colour, ground) >= ratio:
        return colour
    lightness, chroma, hue = _oklch(colour)
    for step in range(1, 101):
        for moved in (lightness + step / 100, lightness - step / 100):
            if 0 <= moved <= 1:
                candidate = _hex(*_fit(moved, chroma, hue))
                if contrast(candidate, ground) >= ratio:
                    return candidate
    return max(("#ffffff", "#000000"), key=lambda each: contrast(each, ground))


def blend(top: str, under: str, opacity: float) -> str:
    """Return the opaque colour that a translucent one over another looks like."""
    return _hex(*(opacity * a + (1 - opacity) * b for a, b in zip(_rgb(top), _rgb(under), strict=True)))


def _rgb(colour: str) -> Rgb:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _hex(red: float, green: float, blue: float) -> str:
    return "#" + "".join(f"{round(max(0.0, min(1.0, part)) * 255):02x}" for part in (red, green, blue))


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _compand(part: float) -> float:
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part) for part in _rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _oklch(colour: str) -> tuple[float, float, float]:
    red, green, blue = (_linear(part) for part in _rgb(colour))
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    return lightness, math.hypot(a, b), math.degrees(math.atan2(b, a))


def _fit(lightness: float, chroma: float, hue: float) -> Rgb:
    """Convert to sRGB; a colour outside loses chroma, never lightness or hue."""
    for step in range(40, -1, -1):
        red, green, blue = _from_oklch(lightness, chroma * step / 40, hue)
        if all(-0.001 <= part <= 1.001 for part in (red, green, blue)):
            return red, green, blue
    return lightness, lightness, lightness


def _from_oklch(lightness: float, chroma: float, hue: float) -> Rgb:
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    red, green, blue = (_compand(part) if part >= 0 else part for part in linear)
    return red, green, blue
