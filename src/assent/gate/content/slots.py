"""Finds template slots that were not filled in: `{{name}}`, `[INSERT LINK]`, `<product name>`,
filler Latin.

A bracket alone is no slot: links, forum tags and command arguments look the same, so the words
inside decide. A line that explains templates may name a slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NAMES: Final = (
    r"(?:(?:first|last|full|your|user|company|product|brand|customer|client|recipient|sender|contact|event|"
    r"city|winner['’]s|insert|project|author|speaker|prospect)[ _-]?)?(?:name|surname|link|url|date|time|title|"
    r"company|product|website|price|amount|location|cta|headline|hashtag|handle|discount|email|signature|fname|"
    r"lname|firma|vorname|nachname|nombre|apellido|empresa|enlace|prénom|nom|entreprise|lien|nome|имя|ссылка|"
    r"名前|お名前|会社名|商品名|リンク|姓名|公司名称|产品名称|链接|이름|회사명|링크|الاسم)"
)
_NAMED: Final = re.compile(rf"(?:customer\.|user\.|product\.)?{_NAMES}(?:, {_NAMES})?", re.IGNORECASE)
_ORDERED: Final = re.compile(
    r"(?:insert|enter|fill in|placeholder|todo|tbd|your|einfügen|insertar|insérer)\b[ :_-]?.{0,60}|(?:add|"
    r"attach|include)(?: an?| the)? (?:\w+ )?(?:link|screenshot|image|photo|video|logo|quote|url|name|date)s?|"
    r"(?:\w+ )?(?:draft|post|e-?mail|message|body) (?:body|text|copy|content)|.{1,60} (?:goes |go )?here|"
    r"(?:customer )?quote|one-line .{1,40}|[\w’' -]{3,40} name|x{2,4}%?|x%",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"name|link|title|time|date|url|email|price|amount", re.IGNORECASE)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

_OPEN: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<!\$)\{\{\{?\s{0,3}(?P<any>[^\W\d][\w.\- ]{0,60}(?:\|[\w \"':,|()-]{0,60})?)\s{0,3}\}\}",
        r"(?P<any>\{%[^{}\n]{1,200}%\}|<%[^<>\n]{1,200}%>|\*\|[A-Z0-9_:]{2,30}\|\*)",
        r"(?<![\w{/\\=.#\-])\$?\{(?P<named>[^\W\d][\w. -]{1,40})\}(?![}/\\=\w-])",
        r"(?<![\w%#@])(?:%|__|#|@@)(?P<named>[A-Za-z][A-Za-z_]{1,30}?)(?:%|__|#|@@)(?![\w%])",
        r"(?<![\w\]])\[{1,2}(?P<square>[^\W_][^\[\]\n<>=@|{}$;]{0,100})\]{1,2}(?!\(|\[|: ?\S{0,8}//)",
        r"(?<![\w=/\\])<{1,2}(?P<angle>[^\W\d_][^<>\n=\"/@]{2,60})>{1,2}",
        r"(?i:\]\((?P<any>url|link|insert[^()\n]{0,40}|your[ _-](?:url|link)|todo|tbd)\))",
        r"(?i:(?::|\bat|\bhere|→|👉) ?(?P<any><(?:link|url)>))",
        r"(?<![\w$])(?P<any>X{2,4} ?%|\[X\] ?%)",
        r"(?i:(?:^|[\n.!?>:]\s{0,3})\W{0,4}(?P<any>lorem ipsum dolor sit amet(?=,? consec|\W{0,4}(?:\n|$))))",
    )
)
_MARKS: Final = ("{", "%", "#", "[", "]", "<", "__", "@@", "*|", "lorem")
"""Every pattern of `_OPEN` needs one of these. Most texts have none, and looking costs 2 µs of 40."""
_GREETED: Final = re.compile(
    r"\b(?i:dear|hi|hello|hey|hallo|liebe[rs]?|hola|bonjour|ciao|regards|cheers),?\s{1,3}\W{0,3}$"
)
_EXPLAINS: Final = re.compile(
    r"\b(?:templat\w{1,8}|placeholders?|merge (?:tags?|fields?)|variables?|syntax|braces|brackets|jinja2?|"
    r"mustache|handlebars|liquid|vue|helm|angular|unresolved|literal(?:ly)?)\b",
    re.IGNORECASE,
)
_MENTIONS: Final = re.compile(
    r"\b(?:type|enter|replace|says?|saying|called|press|prints?|shows?)\s{1,3}$", re.IGNORECASE
)
_REPORTS: Final = re.compile(r"[,.!]?\s(?:says?|said|wrote|reads|(?:is|was) how)\b", re.IGNORECASE)
_INVITES: Final = re.compile(r"[\[<{]{1,2}your .{1,40} here[\]>}]{1,2}", re.IGNORECASE)
NEAR_CHARS: Final = 200
"""How many characters around a slot are searched for an explanation."""

_STAND_IN: Final = re.compile(
    r"\W{0,4}(?:null|undefined|none|nan|n/a|object object|tbd|tba|todo|fixme|placeholder(?: text)?|"
    r"lorem ipsum)\W{0,4}|\W{0,4}(?:todo|fixme|tbd)\W{1,4}(?:write|add|insert|fill|replace|draft|finish|copy|"
    r"text|body|post|content)\b.{0,200}",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(
    r"\b(?:post|draft|copy|body|content|caption|tweet|thread|e-?mail|text|message|asset|image|hook|story|"
    r"call to action)\b",
    re.IGNORECASE,
)
_BRACKET: Final = re.compile(r"[\[<{]{1,3}([^<>\[\]{}\n]{2,160})[\]>}]{1,3}[.!]?")


def find_stand_in(text: str) -> str | None:
    """Return the text if it is only a placeholder: `TODO: write this`, `[LinkedIn post]`."""
    text = text.strip()
    if len(text) > 400:
        return None
    if _STAND_IN.fullmatch(text):
        return text
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    inside = [found[1] for line in lines if (found := _BRACKET.fullmatch(line))]
    whole = len(inside) == len(lines) and any(_PIECE.search(each.replace("_", " ")) for each in inside)
    return text if whole else None


def find_open(text: str, *, explained: bool) -> Iterator[str]:
    """Yield the unfilled slots: the explained ones if `explained`, else the others."""
    folded = text.lower()
    if not any(map(folded.__contains__, _MARKS)):
        return
    for pattern in _OPEN:
        for match in pattern.finditer(text):
            if _is_open(match) and _is_explained(text, match) == explained:
                yield match[0].strip()


def _is_open(match: re.Match[str]) -> bool:
    kind, inside = next((name, text) for name, text in match.groupdict().items() if text is not None)
    if kind == "any":
        return True
    inside = _CAMEL.sub(" ", inside).strip()
    greeted = _GREETED.search(match.string, max(0, match.start() - 20), match.start() + 1) is not None
    named = _NAMED.fullmatch(inside.replace("_", " ")) is not None
    if kind == "angle":
        if _is_mentioned(match):  # a key to press, an argument of a command
            return False
        return (named and _TAG.fullmatch(inside) is None) or (greeted and named) or match[0].startswith("<<")
    return named or (kind == "square" and _ORDERED.fullmatch(inside) is not None)


def _is_mentioned(match: re.Match[str]) -> bool:
    before = max(0, match.start() - 20), match.start()
    return bool(_REPORTS.match(match.string, match.end()) or _MENTIONS.search(match.string, *before))


def _is_explained(text: str, match: re.Match[str]) -> bool:
    start, end = match.start(), match.end()
    if _INVITES.fullmatch(match[0].strip()) or _is_mentioned(match):
        return True
    if _GREETED.search(text, max(0, start - 20), start) is not None:
        return False
    before = max(text.rfind("\n", max(0, start - NEAR_CHARS), start) + 1, start - NEAR_CHARS, 0)
    after = text.find("\n", end, end + NEAR_CHARS)
    after = after if after >= 0 else end + NEAR_CHARS
    return any(_EXPLAINS.search(text, *span) is not None for span in ((before, start), (end, after)))
