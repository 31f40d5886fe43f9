"""What a template left open: `{{name}}`, `[INSERT LINK]`, `<product name>`, filler Latin, reminders to oneself.

A bracket alone is no open place: links, footnotes, tags of a forum and arguments of a command are written the same way,
so what stands inside decides. Whoever writes about templates is let be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from assent.lifecycle.theater.page import Page
from assent.lifecycle.theater.words import listed, sign

NEAR_CHARS: Final = 400
"""How far from an open place on its line talk about templates excuses it."""
WHOLE_CHARS: Final = 120

# What a program prints, or a person types, when there is no text.
NO_VALUE: Final = listed(
    "null, undefined, None, NaN, N/A, [object Object], TBD, TBA, TODO, FIXME, placeholder, Placeholder",
    "placeholder text, Placeholder text, lorem ipsum, Lorem ipsum, Lorem ipsum.",
)
ONE_WORD: Final = listed(
    "name, firstname, fname, lname, lastname, surname, username, company, product, productname, brand, companyname",
    "brandname, link, url, date, time, day, month, number, amount, price, percentage, metric, cta, headline, tagline",
    "recipient, customer, client, feature, benefit, city, website, title, industry, competitor, audience, discount",
    "signature, testimonial, placeholder, tbd, todo, handle, location, hashtag, vorname, nachname, firma, firmenname",
    "produkt, produktname, datum, nombre, apellido, empresa, producto, enlace, fecha, prénom, nom, entreprise, produit",
    "lien, nome, sobrenome, produto, azienda, prodotto, cognome, naam, voornaam, bedrijf, имя, компания, ссылка",
    "продукт, дата, 名前, お名前, 会社名, 商品名, 製品名, リンク, 姓名, 公司名称, 产品名称, 链接, 이름, 회사명, 제품명",
    "링크, الاسم",
)
CAPITALS: Final = listed("CODE, EVENT, TOPIC, VENUE, SPEAKER, INVESTOR, PERCENT, X%, XX%, STAT, QUOTE")
NAMED: Final = listed(
    "first, last, full, product, company, brand, customer, client, recipient, business, event, contact, sender",
    "feature, app, founder, speaker, your, prospect, competitor, campaign, city, user",
)
"""Before `name`, `link`, `url` or `title`."""
COMMANDS: Final = listed("insert, enter, fill, placeholder, todo, tbd, fixme, einfügen, insertar, insérer")
DESCRIBED: Final = listed(
    "name, link, url, title, proposition, benefit, benefits, audience, industry, metric, handle, location, date, venue",
    "cta, headline, testimonial, quote",
)
"""What the description of a missing piece ends with, as in `[winner's name]`."""
OF_PROGRAMS: Final = listed(
    "file, package, target, platform, project, method, module, field, key, branch, class, function, host, domain",
    "table, column, user, variable, tag, repo, pull, up, to, release, due, external, direct, error",
)
READERS_OWN: Final = listed(
    "token, key, api, apikey, repo, repository, domain, host, server, username, user, org, project, path, file, id",
    "workspace, database, db, password, secret, bucket, cluster, port, branch, tag",
)
"""In `<your-token>` the reader puts in a value of their own: that is how a command is explained."""
TAGS: Final = listed("name, link, title, time, date, url, day, number, price, todo, username")
TYPES: Final = listed("number, date, time, title, url, day, month")
PIECES: Final = listed(
    "post, draft, text, body, copy, content, caption, tweet, thread, email, message, asset, linkedin, linked, in, x",
    "the, here, final, your, launch, announcement, instagram, facebook, twitter, reddit, bluesky, threads, pending",
)

TEMPLATE_TALK: Final = sign(
    r"\b(?:jinja2?|mustache|handlebars|liquid|vue|angular|svelte|twig|helm|ansible|django|nunjucks|dbt|blade|"
    r"templat\w{0,8}|placeholders?|merge (?:tags?|fields?)|variables?|syntax|braces|brackets|curly|"
    r"interpolat\w{0,8}|"
    r"render(?:s|ed|ing)?|literal(?:ly)?|unresolved|mail merge|bugs?|escap\w{0,6}|usage)\b"
)
"""On the same line, these excuse what looks open."""
OPEN_TALK: Final = sign(
    r"(?:^|[\s“(-])(?:placeholders?|merge (?:tags?|fields?)|mail merge|unresolved|"
    r"template (?:literals?|syntax|engines?)|curly braces)(?=[\s.,;:!?)’'”-])(?! ?[\]}>])"
)
"""Whoever speaks of these anywhere in a text has not forgotten one in it."""
OPEN_WORDS: Final = ("placeholder", "merge", "unresolved", "template", "braces")

_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD: Final = re.compile(r"[^\W_]+")
_REMINDED: Final = sign(
    r"(?:add|attach|include|describe) (?:an? |the |our |link to )?(?:\w+ )?"
    r"(?:link|screenshot|image|photo|video|logo|quote|cta|url|name|date|stat)s?$"
)
_APART: Final = re.compile(r"[ _-]")
_YOUR: Final = sign(r"your(?!s\b|self)[\w -]")
_NAME: Final = re.compile(r"[#/^&>~-]?\s*[^\W\d][\w.\- ]{0,60}(?:\|[\w \"':,|()-]{0,60})?-?\s*")
_PIECE_HERE: Final = sign(
    r"\b(?:post|draft|copy|body|content|caption|tweet|e-?mail|text|image) (?:\w+ ){0,6}?here\b"
)
_BRACKET: Final = re.compile(r"[<\[({]{1,2}([^<>\[\](){}\n]{2,80})[>\])}]{1,2}")
_AGENT_WILL: Final = sign(
    r"\W{0,3}(?:the |your )?(?:calling |host )?(?:agent|llm|model|ai|assistant) (?:will|should|must|"
    r"is going to) (?:now )?"
    r"(?:write|draft|generate|fill in|compose|complete) this (?:\w+ ){0,2}?"
    r"(?:post|text|draft|e-?mail|copy|part|section|tweet|body)(?: \w{1,15}){0,4}\W{0,3}"
)
_STILL_OPEN: Final = sign(
    r"\W{0,4}(?:(?:your|the|final|actual|linkedin|full|post)\s){0,3}(?:draft|content|body|text|copy|post|message|"
    r"caption|e-?mail|tweet|asset)(?: \w{1,20}){0,4}? (?:is |are |has )?(?:to be|not yet|will be|pending|"
    r"coming|missing|"
    r"placeholder)(?: \w{1,20}){0,6}\W{0,4}"
)
_REMINDER: Final = sign(
    r"\b(?:todo|fixme)\b ?[:–(-] ?(?:add|insert|fill|replace|link|image|attach|include|screenshot|cta|"
    r"headline|copy|quote|"
    r"date|name|number|confirm|verify|write (?:the |an? )?(?:intro|hook|body|copy|post|this|rest|ending))\b"
)
# A public list of what is done and what is not has reminders too.
_BOARD: Final = sign(r"^\W{0,4}(?:done|doing|shipped|in progress)\b ?:", flags=re.MULTILINE)


def _words_of(inside: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", inside))]


def _is_slot(inside: str) -> bool:
    words = _words_of(inside)
    if not words or len(words) > 8 or "..." in inside or "…" in inside:
        return False
    if len(words) == 1:
        return words[0] in ONE_WORD
    apart = _APART.search(inside) is not None
    if apart and words[0] in COMMANDS:
        return True
    if not READERS_OWN.isdisjoint(words[1:]):
        return False
    if apart and (words[0] == "your" or (words[-1] == "here" and len(words) <= 6)):
        return True
    named = words[-1] in ("name", "link", "url", "title") and words[-2] in NAMED
    return len(words) <= 3 and (named or "".join(words) in ONE_WORD)


def _is_description(inside: str) -> bool:
    words = _words_of(inside)
    phrase = 2 <= len(words) <= 5 and " " in inside and ":" not in inside
    return phrase and words[-1] in DESCRIBED and OF_PROGRAMS.isdisjoint(words)


def _in_double(inside: str) -> bool:
    return _NAME.fullmatch(inside.strip()) is not None and inside.strip() != "citation needed"


def _in_single(inside: str) -> bool:
    return inside.casefold() not in TYPES and _is_slot(inside)


def _in_square(inside: str) -> bool:
    if _is_slot(inside) or _is_description(inside) or inside in CAPITALS:
        return True
    return any(map(bool, (_YOUR.match(inside), _PIECE_HERE.search(inside), _REMINDED.match(inside))))


def _in_angle(inside: str) -> bool:
    return inside.casefold() not in TAGS and _is_slot(inside)


def _always(_inside: str) -> bool:
    return True


class Look(NamedTuple):
    """What looks open, whether its inside makes it so, and whether talk about templates on the same line excuses it.

    `needle` is what a text must hold in small letters for the pattern to be worth a try.
    """

    needle: str
    pattern: re.Pattern[str]
    is_open: Callable[[str], bool] = _always
    excusable: bool = False


_MARK: Final = re.compile(r"^[ \t]*[*_\[(<]{0,4}(?:TODO|FIXME)[.!\])> \t]{0,4}$", re.MULTILINE)
_GREETED: Final = re.compile(
    r"\b(?i:dear|hi|hello|hey|liebe[rs]?|hallo|hola|bonjour|ciao|regards|cheers),?\s{1,3}"
    r"(?:[\[{]{1,3}[\w .'’-]{2,30}[\]}]{1,3}|<{1,2}[A-Z][\w .'’-]{1,30}>{1,2})"
)
LOOKS: Final[tuple[Look, ...]] = (
    Look("{{", re.compile(r"(?<!\$)\{\{\{?([^{}\n]{1,80})\}\}"), _in_double, True),
    Look("{%", re.compile(r"\{%[^{}\n]{1,200}%\}"), excusable=True),
    Look("<%", re.compile(r"<%[^<>\n]{1,200}%>"), excusable=True),
    Look("|*", re.compile(r"\*\|[A-Z0-9_:]{2,30}\|\*"), excusable=True),
    Look("{", re.compile(r"(?<![\w{/\\=.#\-])\$?\{([^\W\d][\w. -]{1,40})\}(?![}/\\=\w-])"), _in_single, True),
    Look("%", re.compile(r"(?<![\w%])%([A-Za-z][A-Za-z_]{2,30})%(?![\w%])"), _is_slot, True),
    Look("$", re.compile(r"(?<![\w\\])\$([A-Z][A-Z_]{3,30})\b"), _is_slot, True),
    Look("_", re.compile(r"\b(?:INSERT|YOUR|ADD)_([A-Z][A-Z_]{1,30})\b"), _is_slot, True),
    Look(
        "[",
        re.compile(r"(?<![\w\]])\[([^\W_][^\[\]\n<>=@|{}$;]{1,100})\](?!\(|\[|: ?\S{0,8}//)"),
        _in_square,
        True,
    ),
    Look("<", re.compile(r"(?<![\w=/\\])<([^\W\d_][^<>\n=\"/]{2,60})>"), _in_angle, True),
    Look("<", sign(r"(?::|\bat|\bhere|\bon|→|👉) ?<(?:link|url)>[ \t.!]{0,3}$", flags=re.MULTILINE)),
    Look("](", sign(r"\]\((?:url|link|insert[^()\n]{0,40}|your[ _-](?:url|link)|link[ _-]here|todo|tbd)\)")),
    Look(" [", _GREETED, excusable=True),
    Look(" {", _GREETED, excusable=True),
    Look(" <", _GREETED, excusable=True),
    Look("lorem", sign(r"(?:^|[\n.!?>:]\s{0,3})\W{0,4}lorem ipsum dolor sit")),
    Look("x", re.compile(r"(?<![\w$])X{2,4} ?%|\[X{2,4}\]|\[X\] ?%|[$€£]\[X{1,4}\]")),
    Look(" here", re.compile(r"\b(?:INSERT|ADD|PASTE|ENTER)(?: [A-Z]{2,15}){1,4} HERE\b")),
    Look(
        " here",
        sign(
            r"^\W{0,4}(?:(?:your|the|final|actual|linkedin|full|main)\s){0,3}(?:draft|content|body|text|copy|"
            r"post|headline|"
            r"message|caption|e-?mail|tweet|tagline|title|cta)(?: \w{1,20}){0,6}? (?:goes|go|comes|will (?:go|"
            r"be|appear)) "
            r"(?:in )?here\W{0,4}$",
            flags=re.MULTILINE,
        ),
    ),
    Look(
        "(",
        sign(
            r"\((?:(?:insert|add|put|paste|attach) [^()\n]{0,30}\b(?:link|screenshot|image|url|logo|gif|video|"
            r"photo|quote|"
            r"testimonial)s?\b|insert [^()\n]{0,30}\b(?:name|date|number|metric|stat|price|example|"
            r"here)s?\b)[^()\n]{0,40}\)"
        ),
    ),
    Look("todo", _MARK),
    Look("fixme", _MARK),
)


def nothing_yet(page: Page) -> str | None:
    """The whole of it only stands in for a text."""
    text = page.text.strip()
    if text in NO_VALUE:
        return text
    return text if len(text) <= WHOLE_CHARS and _stands_in(text) else None


def _stands_in(text: str) -> bool:
    if _STILL_OPEN.fullmatch(text) or _AGENT_WILL.fullmatch(text):
        return True
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) > 1:
        return all(line.startswith("[") and _BRACKET.fullmatch(line) for line in lines)
    bracket = _BRACKET.fullmatch(text)
    return bracket is not None and PIECES.issuperset(_words_of(bracket[1]))


def open_place(page: Page) -> str | None:
    """The first place that a template left open, as it stands in the text."""
    return next(_open_places(page.unquoted), None)


def _open_places(text: str) -> Iterator[str]:
    small = text.lower()
    about_templates = any(word in small for word in OPEN_WORDS) and OPEN_TALK.search(text) is not None
    for look in LOOKS:
        if look.needle in small and not (look.excusable and about_templates):
            yield from _found(text, look)
    if ("todo" in small or "fixme" in small) and not _BOARD.search(text):
        yield from (match[0] for match in _REMINDER.finditer(text))


def _found(text: str, look: Look) -> Iterator[str]:
    excused_to = -1
    for match in look.pattern.finditer(text):
        if match.start() < excused_to or not look.is_open(match[1] if look.pattern.groups else match[0]):
            continue
        start, end = _line_around(text, match.start(), match.end())
        around = (start, match.start()), (match.end(), end)
        if look.excusable and any(TEMPLATE_TALK.search(text, *part) for part in around):
            excused_to = end
        else:
            yield match[0].strip()


def _line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The match's line, or as much of it as is near."""
    near = max(0, start - NEAR_CHARS)
    last = text.find("\n", end, end + NEAR_CHARS)
    return max(text.rfind("\n", near, start) + 1, near), last if last >= 0 else min(
        len(text), end + NEAR_CHARS
    )
