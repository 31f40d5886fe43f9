"""Reads a README: the product's title, its description and its features.

Reads Markdown, underlined headings and embedded HTML line by line. Skips badges, pictures, code, tables,
notices, link lists, and the sections about installing, contributing and licences.
"""

from __future__ import annotations

import re
from typing import Final

from assent.platform.content import TEXT_CHARS, one_line
from assent.platform.values import Record

LINE_CHARS: Final = 4_000
"""How much of one statement is read."""
MAX_FEATURES: Final = 12
MAX_PARAGRAPHS: Final = 8
MAX_LINES: Final = 3_000

_ASIDE: Final = re.compile(
    r"^(?:install\w*|set ?up|(?:getting|get) started|quick ?start|usage|how to|develop\w*|compil\w*|contribut\w*|"
    r"licen[cs]\w*|credits|acknowledg\w*|thanks|tests?|testing|build\w*|requirements|prerequisites|dependencies|"
    r"deploy\w*|config\w*|change ?log|what['’]?s new|news|releases?|road ?map|support\w*|sponsor\w*|backers|donat\w*|"
    r"(?:table of )?contents|toc|authors?|maintainers?|team|community|contact|links|api|faq|frequently asked|todo|"
    r"(?:project )?status|structure|architecture|internals|how it works|examples?|demo|screenshots?|documentation|docs|"
    r"resources|references?|related|alternatives|similar|comparison|benchmarks?|limitations|caveats|disclaimer|warning|"
    r"notice|known issues|troubleshooting|security|privacy|upgrad\w*|migrat\w*|download\w*|translations?|who uses|"
    r"used by|testimonials|press|pricing|why|feedback|help|installation|lizenz|mitwirken|mitmachen|nutzung|"
    r"voraussetzungen|entwicklung|danksagung|kontakt|インストール|使い方|開発|ライセンス|目次|安装|使用|许可|贡献|文档|"
    r"快速开始|التثبيت|الترخيص|المساهمة)(?!\w)",
    re.IGNORECASE,
)
"""Headings of sections that do not describe the product."""
_FEATURES: Final = re.compile(
    r"^(?:\w+ )?(?:features?|highlights|capabilities|functionality)\b|^what (?:it|you|does|can)\b|^at a glance|"
    r"^funktion\w*|^merkmale|^特徴|^機能|^主な機能|^功能|^特性|^特点|^المميزات|^fonctionnalités|^características",
    re.IGNORECASE,
)
_GENERAL: Final = re.compile(
    r"^(?:readme(?:\.\w+)?|about|introduction|overview|welcome|description)$", re.IGNORECASE
)
_TARGET: Final = r"(?:\((?:[^()\n]|\([^()\n]{0,100}\)){0,600}\)|\[[^\]\n]{0,100}\])"
_PICTURE: Final = re.compile(r"!\[[^\]\n]{0,300}\]" + _TARGET)
_LINK: Final = re.compile(r"\[([^\]\n]{1,300})\]" + _TARGET)
_EMPHASIS: Final = re.compile(r"(\*\*|__|\*|(?<!\w)_|~~|`{1,3})(?=\S)(.{1,400}?)(?<=\S)\1(?!\w)")
_BULLET: Final = re.compile(r"^(\s{0,12})(?:[-*+•・]|\d{1,2}[.)])\s+(?:\[[xX]\]\s+)?(.+)")
_HEADING: Final = re.compile(r"^\s{0,3}(#{1,6})\s+(.+?)\s*#*$")
_UNDERLINE: Final = re.compile(r"^\s{0,3}([=~^\"-])\1{2,}\s*$")
_SKIPPED: Final = re.compile(
    r"^\s*(?:\.\. |:[\w-]+:|\[[^\]]{1,80}\]:\s|<!|\||[=\-*_~\s|:#.]+$|⚠|"
    r">\s*(?:\[!\w+\]|\W*(?:note|warning|important)\b))",
    re.IGNORECASE,
)
"""Directives, definitions, tables, rules, and the first lines of notices."""
_MARKUP: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"<!--.*?-->|<(pre|table|script|style|svg|details|picture)\b.*?</\1\s*>", re.I | re.S), "\n"),
    (re.compile(r"^\s{0,3}(```|~~~).*?(?:^\s{0,3}\1.*?$|\Z)", re.M | re.S), "\n"),
    (re.compile(r"<(?:img|source|hr|input)\b[^>]{0,2000}>", re.I), " "),
    (re.compile(r"<h([1-6])\b[^>]{0,300}>\s*", re.I), "\n\n# "),
    (re.compile(r"<li\b[^>]{0,300}>\s*", re.I), "\n- "),
    (
        re.compile(r"</?(?:p|div|center|ul|ol|section|blockquote|br|tr|td|th|h[1-6])\b[^>]{0,500}>\s*", re.I),
        "\n\n",
    ),
    (re.compile(r"(?<=\n)[ \t]+(?=<)|</?[a-zA-Z][^<>\n]{0,500}>"), ""),
)
"""What replaces code and HTML."""


class Readme(Record, kw_only=True):
    """The parts of a README that describe the product, each one cleaned line."""

    title: str = ""
    paragraphs: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


def read_readme(markdown: str) -> Readme:
    """Parse the text of a README. Never raises."""
    text = markdown[:TEXT_CHARS].replace("\r", "\n" if "\n" not in markdown else "")
    text = re.sub(r"\A---\n.{0,4000}?\n---\n", "", text, flags=re.DOTALL)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    reader = _ReadmeReader()
    lines = text.splitlines()[:MAX_LINES]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        reader.read(line, following)
    reader.close()
    return Readme(
        title=reader.title,
        paragraphs=tuple(reader.paragraphs[:MAX_PARAGRAPHS]),
        features=tuple((reader.features or reader.first_items)[:MAX_FEATURES]),
    )


class _ReadmeReader:
    """Reads line by line; a paragraph or list item ends where the next one begins."""

    def __init__(self) -> None:
        self.title = ""
        self.paragraphs: list[str] = []
        self.features: list[str] = []
        self.first_items: list[str] = []
        """List items before the first section. They are the features if no section lists any."""
        self.held: list[str] = []
        self.kind = ""
        self.section, self.level = "first", 0
        self.skips = False

    def read(self, line: str, following: str) -> None:
        bare, bullet = line.strip(), _BULLET.match(line)
        if not bare:
            self.close()
            self.skips = False
        elif self.skips or _SKIPPED.match(line):
            # What is below a notice or directive belongs to it.
            self.close()
            self.skips = not _UNDERLINE.match(line)
        elif heading := _HEADING.match(line):
            self._head(heading[2], len(heading[1]))
        elif _UNDERLINE.match(following) and not bullet and not self.held and len(bare) <= 120:
            self._head(line, 1 if following.lstrip()[0] == "=" else 2)
        elif bullet:
            self.close()
            self.kind = "item" if len(bullet[1].expandtabs(4)) <= 3 else "detail"
            self.held.append(bullet[2])
        elif self.kind or not line.startswith(("    ", "\t")):
            self.kind = self.kind or "paragraph"
            self.held.append(re.sub(r"^\s*(?:>\s?)*|\\$", "", line))

    def close(self) -> None:
        """Store the current paragraph or item, if it is useful to a reader."""
        raw, kind = " ".join(self.held), self.kind
        self.held, self.kind = [], ""
        text = plain(raw)
        if not text or self.section == "aside" or _is_links(raw, text):
            return
        if kind == "paragraph" and len(text) > 20 and (self.section != "other" or text[-1] in ".!。！"):
            self.paragraphs.append(text)
        elif kind == "item" and not re.search(r"https?://|\?|^\[ \]", text):
            listed = {"features": self.features, "first": self.first_items}.get(self.section, [])
            listed.append(text)

    def _head(self, raw: str, level: int) -> None:
        self.close()
        text = plain(raw)
        bare = re.sub(r"^[\W\d_]+", "", text)
        general = _GENERAL.match(bare) is not None
        kind = "features" if _FEATURES.match(bare) else "aside" if _ASIDE.match(bare) else ""
        if not bare or (level > self.level > 0 and self.section in ("features", "aside")):
            return
        if not (self.title or kind or general or self.paragraphs or self.first_items):
            self.title = text
            return
        if self.section == "first" and not kind and text.endswith(".") and not self.paragraphs:
            # A heading directly below the title is a tagline.
            self.paragraphs.append(text)
            return
        self.level = level
        self.section = kind or ("first" if general else "other")


def _is_links(raw: str, text: str) -> bool:
    """Whether a line is a list of links or a menu."""
    rest = _LINK.sub(" ", _PICTURE.sub(" ", raw))
    links, words = len(_LINK.findall(raw)), len(re.findall(r"\w{2,}", re.sub(r"<[^>]{0,300}>", " ", rest)))
    return (
        (links > 0 and words < links) or len(re.findall(r"\s[|·•](?=\s)", raw)) > 1 or text.startswith("http")
    )


def plain(markdown: str) -> str:
    """Return a line without the marks of Markdown and reStructuredText."""
    # On one line first: patterns that begin with a run of blanks would try it from each of them.
    text = _PICTURE.sub(" ", one_line(markdown[:LINE_CHARS]))
    # A badge is a picture inside a link; without the picture the link is empty.
    text = re.sub(r"\[\s*\](?:\([^)\n]{0,600}\)|\[[^\]\n]{0,100}\])", " ", text)
    # A link alone in parentheses is not part of the sentence.
    text = re.sub(r"\s*\(\s*" + _LINK.pattern + r"\s*\)", "", text)
    text = _LINK.sub(r"\1", text)
    text = re.sub(r"`([^`<\n]{1,200}) <[^>\n]{1,300}>`_{1,2}|(?<!\S)\|[\w-]{1,40}\|", r"\1", text)
    text = re.sub(r"\s*\((?::\w+:`[^`\n]{1,80}`[,;\s]*)+\)", "", text)
    text = re.sub(r"(?<!\w):[a-z0-9_+-]{2,40}:(?!\w)", " ", text)
    text = re.sub(r"(`+)([^`\n]{1,400})\1", r"\2", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!-])", r"\1", text)
    return re.sub(r"\s+([,.;:!?])(?=\s|$)", r"\1", one_line(text))
