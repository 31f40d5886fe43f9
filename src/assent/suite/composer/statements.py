"""Recognises lines of a page or repository that state something about the product, and shortens them.

Menus, prices, quotes, notices, calls to sign up and notes to developers are no such statements.
"""

from __future__ import annotations

import re
from typing import Final

from assent.suite.content.cleaning import cut
from assent.suite.content.language import sentences, strip_full_stop, word_set

_CALLS: Final = re.compile(
    r"^(?:sign (?:up|in)|log ?in|get started|try (?:it|now)|join us|contact (?:us|sales)|learn (?:more|how)|"
    r"read (?:more|about|the docs)|subscribe|download (?:now|it)|click (?:here|the)|check out|follow (?:us|me|@)|"
    r"please|see (?:more|our|the|also)|ready to|to (?:get|install|run|use|build)|for more|if you|thanks|thank you|"
    r"jetzt |siehe |bitte )",
    re.IGNORECASE,
)
_MENU: Final = re.compile(
    r"^(?:home|pricing|plans|features?|faqs?|about(?: us)?|blog|docs|documentation|customers|how it works|"
    r"what (?:our|people|customers).*|(?:loved|trusted|used) by .*|meet .{0,24}|(?:built|made) for .*|"
    r"privacy.*|terms.*|and (?:much )?more.*|preise|funktionen|über uns|impressum|料金|機能)[.…]*$",
    re.IGNORECASE,
)
_NOTES: Final = re.compile(
    r"\b(?:translations? of|this (?:repo|repository|readme|document)|(?:npm|pipx?|cargo|brew|go) install|"
    r"docker (?:run|pull)|git clone|pull requests?|copyright|all rights reserved|uses? cookies|"
    r"licen[cs]ed? under|under the (?:terms|mit|apache)|(?:mit|apache|gpl|bsd|agpl)(?:[ -][\d.]+)? licen[cs]e|"
    r"[al]?gpl|(?:open|file) an issue|contributions|contributing|work in progress|"
    r"under (?:\w+ )?(?:heavy|active) development|(?:alpha|beta) (?:software|version)|is deprecated|"
    r"no longer maintained|formerly|(?:documentation|docs) (?:is|are|can))\b",
    re.IGNORECASE,
)
_ASIDES: Final = re.compile(
    r"^(?:note|warning|todo|important|tip|usage|example|requires?|the following|the key features|"
    r"here(?:['’]s| is| are)|below|above|currently|as of)\b",
    re.IGNORECASE,
)
_PRICE: Final = re.compile(
    r"[$€£¥₹]\s?\d|\d[\d.,]*\s?(?:€|usd|eur|euro|dollars?)|\bfree (?:for|plan|tier|trial|up to)\b|"
    r"\d[^.]{0,12} (?:per|a) (?:user|seat|month|year)\b|/ ?(?:month|year|user)\b|\bcredit card|\bpricing\b",
    re.IGNORECASE,
)
_QUOTE: Final = re.compile(r"^[\"“”„«»「『‘]|\s[—–-]\s*[A-Z][\w.]+(?: [A-Z][\w.]*){0,2}(?:,.{0,60})?$")
_SAYS: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|does|do|now|no longer|lets|supports|works|shows|runs|helps|makes|"
    r"keeps|gives|takes|uses|opens|starts|comes|sends|reads|writes|exports|imports|allows|ist|sind|hat|kann|können|"
    r"wird|werden|lässt|lassen|jetzt|erinnert)\b"
)
"""Verbs that make the words before them a sentence."""
_PARTICIPLE: Final = re.compile(r"^(?:\w+ed|new|more|rewrote|made|built)\b", re.IGNORECASE)


def is_price(text: str) -> bool:
    return _PRICE.search(text) is not None


def is_quote(text: str) -> bool:
    return _QUOTE.search(text) is not None


def is_personal(text: str) -> bool:
    return re.search(r"\b(?:I|[Mm]y|me|ich|[Mm]eine?)\b", text) is not None


def states_something(text: str, least_words: int = 3, *, named: bool = False) -> bool:
    """Whether a line states something about the product. `named`: it begins with the name."""
    if not named and any(pattern.match(text) for pattern in (_CALLS, _MENU, _ASIDES)):
        return False
    if _NOTES.search(text) or is_price(text) or is_quote(text):
        return False
    if (
        text.startswith(("(", "（"))
        or text.rstrip().endswith((":", "：", "?", "？", "؟", "…", "..."))
        or re.search(r"https?://|\w/\w+/|[{}<>=]|\$\w", text)
    ):
        return False
    return len(text.split()) >= least_words or sum(1 for char in text if ord(char) > 0x2E7F) >= 6


def is_sentence(text: str, language: str) -> bool:
    """Whether a statement has subject and verb; without a verb list, a full stop decides."""
    if language not in ("en", "de"):
        return text.rstrip()[-1:] in ".!。！؟?۔"
    found = _SAYS.search(text)
    return found is not None and found.start() > 0 and not _PARTICIPLE.match(text)


def is_shouted(heading: str) -> bool:
    return heading.isupper() and len(heading) > 4


def shorten(text: str, most: int) -> str:
    """Remove the full stop, and the last clause if the statement is too long. Returns an empty text if no clause can
    go."""
    bare = strip_full_stop(sentences(text)[0] if text else "")
    if len(bare) <= most:
        return bare
    for match in reversed(list(_CLAUSE.finditer(bare))):
        head = bare[: match.start()].rstrip(" ,;:–—-")
        if len(head) <= most and len(head.split()) >= 3 and not _DANGLES.search(head) and _parts(match, head):
            return head
    return ""


def cut_title(text: str, most: int) -> str:
    """Cut a title to `most` characters: before a preposition, else at a word."""
    clauses = [match.start() for match in _BEHIND.finditer(text[:most])]
    places = [match.start() for match in _BESIDE.finditer(text[:most])]
    for end in (*reversed(clauses), *places):
        head = re.sub(r"^(?:an?|the) ", "", text[:end], flags=re.IGNORECASE)
        if len(head.split()) >= 2 and not _DANGLES.search(head):
            return text[:end]
    return cut(text, most)


_BEHIND: Final = re.compile(r",? (?:with|for|that|which|using|providing|designed) ")
_BESIDE: Final = re.compile(r",? (?:to|in|on|from|of|based|written|modelled|built) ")


def _parts(match: re.Match[str], head: str) -> bool:
    """Whether the words before a clause keep their meaning without it."""
    kind, rest, said = match.lastgroup, match.string[match.end() :], re.split(r": | – ", head)[-1]
    # "tells you which" needs more words; "a tool which" can end before "which".
    if head.rpartition(" ")[2] in _GOES_ON or (said != head and len(said.split()) < 3):
        return False
    inside = re.search(r" (?:that|which|who) ", head) is not None
    if inside and match.group().strip(" ,") in ("when", "where", "while", "because", "using"):
        return False
    if kind == "next":
        return "," not in head and ": " not in head
    if kind == "comma":
        listed = re.match(r"\s*\S+(?: \S+){0,2} (?:and|or|und|oder) ", rest)
        open_head = re.search(r"(?:^|\b(?:is|are|ist|sind) )(?:an?|the|eine?) \S+$|\b(?:and|und) \S+$", head)
        long = len(rest.split()) >= 3 and len(head.split()) >= 4
        return long and not listed and not open_head and "," not in head
    # "for devices with little memory" is one phrase, and "that is safe for you" one clause.
    loose = re.search(r" (?:for|in|on|to) \S+$| (?:that|which|who) (?:\S+ ){0,2}\S+$", head)
    if kind == "manner" and (loose or len(head.split()) < 4 or _DENIES.search(head)):
        return False
    if kind == "place":
        measured = re.match(r"(?:under|less|about|up|\d)", rest)
        if inside or measured or len(head.split()) < 5 or _DENIES.search(head) or _NEEDS_MORE.search(head):
            return False
    # A list needs its last item.
    return not re.search(r",(?!.* (?:and|or|und|oder) )(?: \S+){1,6}$", head)


_DENIES: Final = re.compile(r"\b(?:not?|never|nicht|keine?\w*|nie)\b|n['’]t\b", re.IGNORECASE)
_NEEDS_MORE: Final = re.compile(r"(?:\w+ed|runs|works|is|are|easy|able| (?:that|which|who) \S+)$")
"""Words that need the words after them."""
_DANGLES: Final = re.compile(
    r"\s(?:in|of|to|for|with|and|or|an?|the|on|by|from|is|are|as|made|way|lives?|runs?|works?|und|oder|mit|für|eine?)$"
)
_GOES_ON: Final = word_set("you them it see sees show shows know knows tell tells find fest zeigt")
_CLAUSE: Final = re.compile(
    r"(?P<clause>,? (?:that|which|who) )|,? (?:so that|so you|written in|built (?:with|on|in|for)|while|because|where|"
    r"when) |, (?:and (?:it|you)|with|so|but|mit|damit) |(?P<manner> (?:with|without|for|in an?) )| [–—-] |[;:] | \(|"
    r"(?P<next>,? and \w+s (?=(?:an?|the|your|you|it|them)\b)|, \w+[st] (?!and\b|or\b|und\b|oder\b))|"
    r"(?P<comma>,)(?= )|(?P<place> (?:in|into|over|to|from|through|among) )"
)
