"""What a README says about the product: its title, what it is, and what it can do.

Reads Markdown by its lines; badges, pictures, code and tables are not what a reader would be told. Sections about
installing, contributing and licences say nothing about the product.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from assent.drafting.cleaning import TEXT_CHARS, one_line

MAX_FEATURES: Final = 12
MAX_PARAGRAPHS: Final = 6
MAX_LINES: Final = 3_000

_ASIDE: Final = re.compile(
    r"^(?:install\w*|set ?up|getting started|quick ?start|usage|development|developing|contribut\w*|licen[cs]e|credits|"
    r"acknowledg\w*|tests?|testing|build\w*|requirements|prerequisites|deploy\w*|config\w*|changelog|roadmap|support|"
    r"table of contents|contents|authors?|api|faq|todo|status|structure|architecture|entwicklung|einrichtung|lizenz|"
    r"mitwirken|voraussetzungen|インストール|使い方|開発|ライセンス|貢献|التثبيت|الترخيص|المساهمة)\b",
    re.IGNORECASE,
)
_PICTURE: Final = re.compile(r"!\[[^\]\n]{0,300}\]\([^)\n]{0,600}\)")
_LINK: Final = re.compile(r"\[([^\]\n]{1,300})\](?:\([^)\n]{0,600}\)|\[[^\]\n]{0,100}\])")
_EMPHASIS: Final = re.compile(r"(\*\*|__|\*|(?<!\w)_|~~|`+)(?=\S)(.{1,400}?)(?<=\S)\1(?!\w)")
_BULLET: Final = re.compile(r"^\s{0,6}(?:[-*+•・]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?(.+)")
_HEADING: Final = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_FENCE: Final = re.compile(r"^\s{0,3}(```|~~~)")
_ADDRESS_LINE: Final = re.compile(r"^\W*(?:https?://\S+|www\.\S+)\W*$")


class Readme(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a README that speak about the product, each one cleaned line."""

    title: str = ""
    paragraphs: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


def read_readme(markdown: str) -> Readme:
    """The README, from its Markdown; never raises, whatever it is given."""
    title = ""
    paragraphs: list[str] = []
    features: list[str] = []
    block: list[str] = []
    fenced = aside = False

    def close() -> None:
        text = plain(" ".join(block))
        if (
            not aside
            and len(text) > 20
            and len(paragraphs) < MAX_PARAGRAPHS
            and not _ADDRESS_LINE.match(text)
        ):
            paragraphs.append(text)
        block.clear()

    lines = markdown[:TEXT_CHARS].splitlines()[:MAX_LINES]
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            close()
            fenced = not fenced
            continue
        if fenced or (line.startswith(("    ", "\t")) and not _BULLET.match(line)):
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        underlined = bool(block) and re.fullmatch(r"\s*(=+|-{3,})\s*", line) is not None
        heading = _HEADING.match(line)
        if heading or (line.strip() and re.fullmatch(r"=+\s*", following)):
            close()
            text = plain(heading.group(2) if heading else line)
            if not title and text:
                title = text
            aside = _ASIDE.match(re.sub(r"^[^\w]+", "", text)) is not None
        elif underlined or not line.strip() or re.fullmatch(r"[=\-*_\s|:]+", line):
            close()
        elif bullet := _BULLET.match(line):
            close()
            if not aside and len(features) < MAX_FEATURES and (text := plain(bullet.group(1))):
                features.append(text)
        elif (
            line.lstrip().startswith(("|", "[!", "[![", "<!--", "<img", "![")) and not plain(line)
        ) or line.lstrip().startswith("|"):
            continue
        else:
            block.append(line.lstrip("> "))
    close()
    return Readme(title=title, paragraphs=tuple(paragraphs), features=tuple(features))


def plain(markdown: str) -> str:
    """One line of Markdown as a reader sees it."""
    text = _PICTURE.sub(" ", markdown[:4_000])
    # A badge is a picture inside a link: without its picture the link is empty.
    text = re.sub(r"\[\s*\]\([^)\n]{0,600}\)", " ", text)
    text = _LINK.sub(r"\1", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!-])", r"\1", text)
    return one_line(text)
