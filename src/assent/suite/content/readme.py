"""Reads a README: the product's title, its description and its features.

Reads Markdown, reStructuredText and embedded HTML line by line. Skips badges, pictures, code,
tables, notices, link lists, and the sections about installing, contributing and licences.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from assent.platform.content import TEXT_CHARS, one_line
from assent.platform.values import Record
from assent.suite.content.language import word_set

MAX_FEATURES: Final = 12
MAX_PARAGRAPHS: Final = 8
MAX_LINES: Final = 3_000

_ASIDE: Final = re.compile(
    r"^(?:install\w*|set ?up|getting started|get started|quick ?start|usage|how to (?:use|install|run|build|"
    r"contribute)|"
    r"develop\w*|compil\w*|reporting|technolog\w*|contribut\w*|licen[cs]\w*|credits|acknowledg\w*|thanks|"
    r"tests?|why|for enterprise|testing|build\w*|requirements|"
    r"prerequisites|dependencies|deploy\w*|config\w*|change ?log|what['’]?s new|news|releases?|road ?map|support\w*|"
    r"sponsor\w*|backers|donat\w*|table of contents|contents|toc|authors?|maintainers?|team|community|contact|links|"
    r"api|faq|frequently asked|todo|status|project status|structure|architecture|internals|how it works|examples?|demo|"
    r"screenshots?|gallery|documentation|docs|resources|references?|related|alternatives|similar|comparison|"
    r"benchmarks?|"
    r"limitations|caveats|disclaimer|warning|notice|known issues|troubleshooting|security|privacy|upgrad\w*|"
    r"migrat\w*|download\w*|"
    r"(?:supported )?platforms|compatibility|citation|citing|translations?|languages|star history|who uses|used by|"
    r"users|testimonials|press|pricing|non-goals|entwicklung|einrichtung|installation|lizenz|mitwirken|mitmachen|"
    r"beitragen|voraussetzungen|nutzung|verwendung|benutzung|bedienung|bezug|danksagung|inhalt\w*|kontakt|fehler|"
    r"haftung\w*|feedback|help|live demo|translat\w*|version\w*|ecosystem|discussions?|motivation|telemetry|"
    r"menu|what['’]?s next|在线体验|生态|環境構築|実行|ビルド|"
    r"インストール|使い方|開発|ライセンス|貢献|必要|目次|ドキュメント|动手|安装|使用|许可\w*|贡献|文档|快速开始|"
    r"التثبيت|الترخيص|المساهمة)(?!\w)",
    re.IGNORECASE,
)
"""Headings of sections that do not describe the product."""
_FEATURES: Final = re.compile(
    r"^(?:(?:key|main|core|current|top|notable|some|major) )?(?:features?|highlights|capabilities|functionality|"
    r"functions)"
    r"\b|^what (?:it|you|does|can|is in)\b|"
    r"^benefits|^pros\b|^goals|^at a glance|^overview|^funktion\w*|^merkmale|"
    r"^was (?:es )?kann|"
    r"^eigenschaften|^überblick|^特徴|^機能|^主な機能|^できること|^功能|^特性|^特点|^المميزات|^fonctionnalités|"
    r"^características"
    r"|^funcionalidades",
    re.IGNORECASE,
)
_GENERAL_TITLE: Final = re.compile(
    r"^(?:readme(?:\.\w+)?|about|introduction|overview|welcome|(?:\w+ )?description)$", re.IGNORECASE
)
_NO_NAME: Final = word_set("our my your the this about what how")
_TARGET: Final = r"(?:\((?:[^()\n]|\([^()\n]{0,100}\)){0,600}\)|\[[^\]\n]{0,100}\])"
_PICTURE: Final = re.compile(r"!\[[^\]\n]{0,300}\]" + _TARGET)
_LINK: Final = re.compile(r"\[([^\]\n]{1,300})\]" + _TARGET)
ONLY_LINK: Final = re.compile(r"^\W*\[[^\]\n]{1,300}\]" + _TARGET + r"\W*$")
_DEFINED: Final = re.compile(r"^ {0,3}\[([^\]\n]{1,80})\]:\s", re.MULTILINE)
"""Matches the definition of a reference link."""
_EMPHASIS: Final = re.compile(r"(\*\*|__|\*|(?<!\w)_|~~|`+)(?=\S)(.{1,400}?)(?<=\S)\1(?!\w)")
_BULLET: Final = re.compile(r"^(\s{0,12})(?:[-*+•・]|\d{1,2}[.)])\s+(?:\[[xX]\]\s+)?(.+)")
_HEADING: Final = re.compile(r"^\s{0,3}(#{1,6})\s+(.+?)\s*#*$")
_UNDERLINE: Final = re.compile(r"^\s{0,3}([=~^\"-])\1{2,}\s*$")
_RULE: Final = re.compile(r"^\s*\|?[\s|:-]*-[\s|:-]*$")
_IS_A: Final = re.compile(
    r"^(?!(?:this|it|that|there|here|das|dies|es)\b)[A-Z`]?[\w.+-]+(?: [\w.+-]+){0,3} (?:is|ist) (?:an?|eine?) \w",
    re.IGNORECASE,
)
"""Matches the beginning of a sentence that defines the product; it is used under any heading."""
_BOLD_LEAD: Final = re.compile(r"^\s*\*\*[^*\n]{2,80}\*\*\s+(?=[A-Z])")
"""Matches bold words before a list item that is a full sentence."""
_FENCE: Final = re.compile(r"^\s{0,3}(```|~~~)")
_NOTICE: Final = re.compile(
    r"^\s*>\s*(?:\[!\w+\]|\W*(?:note|warning|important|tip|caution|hinweis|achtung)\b)", re.I
)
_DIRECTIVE: Final = re.compile(r"^\s*\.\. |^\s*:[\w-]+:|^\s*\[[^\]]{1,80}\]:\s|^\s*<!|^\s*\|")


def _heading(level: int, inside: str) -> str:
    """Turn an HTML heading into a Markdown heading; its further lines become text."""
    lines = [line for part in re.split(r"<br[ /]*>", inside) if (line := one_line(part))]
    return "\n\n".join(["", *(f"{'#' * level} {line}" for line in lines[:1]), *lines[1:], ""])


_MARKUP: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(r"<!--.*?-->|<(pre|table|script|style|svg|details|picture)\b.*?</\1\s*>", re.I | re.S), "\n"),
    (re.compile(r"`([^`<\n]{1,200}) <[^<>\n]{1,500}>`_{1,2}"), r"\1"),
    (re.compile(r"<(https?://[^<>\s]{1,500})>", re.I), r"\1"),
    (re.compile(r"<(?:img|source|hr|input)\b[^>]{0,2000}>", re.I), " "),
    (
        re.compile(r"<h([1-6])\b[^>]{0,300}>(.{0,2000}?)</h\1\s*>", re.I | re.S),
        lambda match: _heading(int(match.group(1)), match.group(2)),
    ),
    (re.compile(r"<li\b[^>]{0,300}>\s*", re.I), "\n- "),
    (
        re.compile(
            r"</?(?:p|div|center|ul|ol|section|blockquote|br|tr|td|th|dl|dt|dd)\b[^>]{0,500}>\s*", re.I
        ),
        "\n\n",
    ),
    (re.compile(r"(?<=\n)[ \t]+(?=<)|</?[a-zA-Z][^<>\n]{0,500}>"), ""),
)
"""Patterns that replace HTML by equivalent Markdown."""


class Readme(Record, kw_only=True):
    """The parts of a README that describe the product, each one cleaned line."""

    title: str = ""
    paragraphs: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


def read_readme(markdown: str) -> Readme:
    """Parse the text of a README. Never raises."""
    if not markdown:
        return Readme()
    text = markdown[:TEXT_CHARS].replace("\r", "\n" if "\n" not in markdown else "")
    text = re.sub(r"\A---\n.{0,4000}?\n---\n", "", text, flags=re.DOTALL)
    kept, fenced = [], False
    for line in text.splitlines()[:MAX_LINES]:
        if _FENCE.match(line):
            fenced = not fenced
            kept.append("")
        elif not fenced:
            kept.append(line)
    text = "\n".join(kept)
    defined = {label.casefold() for label in _DEFINED.findall(text)}
    text = re.sub(
        r"(?<![\]!])\[([^\[\]\n]{1,80})\](?![\[(:])",
        lambda match: match[1] if match[1].casefold() in defined else match[0],
        text,
    )
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    reader = _ReadmeReader()
    lines = text.splitlines()
    for place, line in enumerate(lines):
        reader.read(line, lines[place + 1] if place + 1 < len(lines) else "")
    reader.close()
    features = reader.features or reader.first_bullets
    return Readme(
        title=reader.title or reader.below_title(),
        paragraphs=tuple(reader.paragraphs[:MAX_PARAGRAPHS]),
        features=tuple(features[:MAX_FEATURES]),
    )


class _ReadmeReader:
    """Reads line by line; a paragraph or list item ends where the next one begins."""

    def __init__(self) -> None:
        self.title = self.heading = ""
        self.paragraphs: list[str] = []
        self.features: list[str] = []
        self.first_bullets: list[str] = []
        """List items before the first section. They are the features if no section lists any."""
        self.held: list[str] = []
        self.kind = ""
        self.section, self.level = "first", 0
        self.notice = self.indented = False
        self.depth = 0

    def read(self, line: str, following: str) -> None:
        bare = line.strip()
        bullet = _BULLET.match(line)
        if self.section == "features" and bare.startswith("|"):
            self._row(bare, following)
        elif not bare or _DIRECTIVE.match(line):
            self.close()
            self.notice = False
            # Indented text belongs to the directive above it.
            self.indented = bool(bare)
        elif heading := _HEADING.match(line):
            self._head(heading.group(2), len(heading.group(1)))
        elif _UNDERLINE.match(following) and not bullet and not self.held and len(bare) <= 120:
            self._head(line, 1 if following.lstrip()[0] in "=#" else 2)
        elif _UNDERLINE.match(line) or re.fullmatch(r"[=\-*_~\s|:#.]+", line):
            self.close()
        elif self.notice or _NOTICE.match(line):
            self.close()
            self.notice = True
        elif bullet:
            self._item(len(bullet.group(1).expandtabs(4)), bullet.group(2))
        elif self.kind == "" and line.startswith(("    ", "\t")):
            # Code, or details of a list item.
            return
        else:
            self.kind = self.kind or "paragraph"
            self.held.append(re.sub(r"^\s*(?:>\s?)*|\\$", "", line))
            if line.endswith("\\"):
                self.close()

    def close(self) -> None:
        """Store the current paragraph or item, if it is useful to a reader."""
        raw, kind = " ".join(self.held), self.kind
        self.held, self.kind = [], ""
        if lead := _BOLD_LEAD.match(raw) if kind == "item" else None:
            raw = raw[lead.end() :]
        text = plain(raw)
        says_what = not self.paragraphs and _IS_A.match(text) is not None
        if (
            not text
            or (self.section == "aside" and not says_what)
            or _is_links(raw, text)
            or re.match(r"\s*(?:⚠|:warning:)", raw)
        ):
            return
        if kind == "paragraph" and self.section == "other" and text[-1] not in ".!。！":
            return
        if len(text) > 20 and (kind == "paragraph" or (kind == "item" and says_what)):
            self.paragraphs.append(text)
        elif kind == "item" and (re.search(r"https?://|\?|\(see ", text) or raw.startswith("[ ]")):
            return
        elif kind == "item" and self.section == "features":
            self.features.append(text)
        elif kind == "item" and self.section == "first":
            self.first_bullets.append(text)

    def _head(self, raw: str, level: int) -> None:
        self.close()
        text = plain(raw)
        bare = re.sub(r"^[\W\d_]+", "", text)
        if not bare or (_is_links(raw, text) and (level > 1 or self.title)):
            return
        found = (_GENERAL_TITLE.match(bare), _ASIDE.match(bare), _FEATURES.match(bare))
        general = any(match is not None and match.end() == len(bare) for match in found)
        first = not (self.heading or self.paragraphs or self.first_bullets or general)
        if first and not self.title and level == 1:
            self.title = text
            return
        if not self.title and not self.heading and level > 2 and text.endswith((".", "!")):
            # A notice above the title.
            return
        aside = level > 1 and _ASIDE.match(bare) is not None
        if not (self.title or self.heading or general or aside) and (first or level == 1):
            self.heading = text
            if first:
                return
        below = self.section == "first" and not (self.paragraphs or self.first_bullets or general or aside)
        if (
            below
            and (self.title or level > 2)
            and (text.endswith(".") or (level > 2 and len(text.split()) > 3))
        ):
            # A heading directly below the title is a tagline.
            self.paragraphs.append(text)
            return
        if level > self.level and self.section in ("features", "aside"):
            return
        self.level = level
        if _FEATURES.match(bare):
            self.section = "features"
        elif _ASIDE.match(bare):
            self.section = "aside"
        else:
            self.section = "first" if _GENERAL_TITLE.match(bare) else "other"

    def below_title(self) -> str:
        """Return the first heading as the title if there is no `h1` and the heading is a name: a
        paragraph begins with it, or a dash follows."""
        first = re.split(r"[\s:|–—-]", self.heading, maxsplit=1)[0].casefold()
        names = any(paragraph.casefold().startswith(first) for paragraph in self.paragraphs[:3])
        if _ASIDE.match(self.heading) or first in _NO_NAME:
            return ""
        return self.heading if first and (names or re.match(r"\S+ [-–—] \S", self.heading)) else ""

    def _row(self, row: str, following: str) -> None:
        """Take the first cell of a table row as a feature."""
        self.close()
        first = plain(row.strip("|").partition("|")[0])
        if first and not _RULE.match(row) and not _RULE.match(following):
            self.features.append(first)

    def _item(self, depth: int, text: str) -> None:
        if self.kind == "item" or self.held:
            self.close()
        if not self.kind:
            self.kind = "item" if depth <= 3 else "detail"
        self.held.append(text)


def _is_links(raw: str, text: str) -> bool:
    if ONLY_LINK.match(raw) or re.match(r"^\W*(?:https?://\S+|www\.\S+)\W*$", text):
        return True
    without = _LINK.sub(" ", _PICTURE.sub(" ", raw))
    links = len(_LINK.findall(raw))
    words = len(re.findall(r"\w{2,}", re.sub(r"<[^>]{0,300}>", " ", without)))
    return (links >= 2 and words <= links) or len(re.findall(r"\s[|·•](?=\s)", raw)) >= 2


def plain(markdown: str) -> str:
    text = _PICTURE.sub(" ", markdown[:4_000])
    # A badge is a picture inside a link; without the picture the link is empty.
    text = re.sub(r"\[\s*\](?:\([^)\n]{0,600}\)|\[[^\]\n]{0,100}\])", " ", text)
    # A link alone in parentheses is not part of the sentence.
    text = re.sub(r"\s*\(\s*" + _LINK.pattern + r"\s*\)", "", text)
    text = _LINK.sub(r"\1", text)
    text = re.sub(
        r"`([^`<\n]{1,200}) <[^>\n]{1,300}>`_{1,2}|``([^`\n]{1,200})``|(?<!\S)\|[\w-]{1,40}\|", r"\1\2", text
    )
    text = re.sub(r"\s*\((?::\w+:`[^`\n]{1,80}`[,;\s]*)+\)", "", text)
    text = re.sub(r"(?<!\w):[a-z0-9_+-]{2,40}:(?!\w)", " ", text)
    text = re.sub(r"(`+)([^`\n]{1,400})\1", r"\2", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    text = re.sub(r"(?<=[a-zA-Z])_{1,2}(?=[\s.,;:)]|$)", "", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!-])", r"\1", text)
    return re.sub(r"\s+([,.;:!?])(?=\s|$)", r"\1", one_line(text))
