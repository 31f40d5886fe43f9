"""Recognises lines of a page or repository that state something about the product, and shortens
them.

Menus, prices, quotes, notices, calls to sign up and notes to developers are no such statements.
"""

from __future__ import annotations

import re
from typing import Final

from assent.platform.content import cut
from assent.suite.content.language import sentences, strip_full_stop, word_set

_CALLS: Final = re.compile(
    r"^(?:sign (?:up|in)|log ?in|get started|start (?:your|for|now|free|using)|try (?:it|now|for|free|"
    r"\w+ (?:for )?free|"
    r"our)|join (?:us|the|our|\d)|book a (?:demo|call)|contact (?:us|me|sales)|learn (?:more|how)|read (?:more|about|"
    r"the (?:docs|"
    r"documentation)|our)|subscribe|download (?:now|for|the|it|on)|buy (?:now|it)|order now|request a|"
    r"schedule a (?:demo|call)|"
    r"click (?:here|on|the|below)|watch (?:the (?:video|demo)|a demo)|wishlist|check out|visit (?:us|our|the)|"
    r"follow (?:us|me|@)|"
    r"star (?:us|this|the)|"
    r"please|see (?:pricing|more|our|the|also|below|docs)|ready to|to (?:get|install|run|use|build|start|learn)|"
    r"for (?:more|details|installation|a (?:full|complete))|if you|feel free|want to|looking for|thanks|thank you|"
    r"jetzt |"
    r"mehr erfahren|kostenlos|kontakt|anmelden|registrieren|siehe |bitte |今すぐ|無料で|お問い合わせ|ログイン|詳しく|"
    r"ابدأ|سجل|"
    r"اشترك|تواصل|جرب)",
    re.IGNORECASE,
)
_MENU: Final = re.compile(
    r"^(?:home|welcome(?: to .{0,40})?|pricing|prices|plans|features?|faqs?|frequently asked.*|about(?: us)?|blog|docs|"
    r"documentation|testimonials|customers|how it works|what (?:our|people|customers|others).*|why (?:us|\w+)\??|"
    r"(?:loved|trusted|used|built|powered|backed) by .*|everything you need.*|(?:simple|fair|transparent) pricing|"
    r"all (?:the )?features|powerful features|get .{0,24}|meet .{0,24}|join .{0,24}|(?:built|made) for .*|solutions?|"
    r"products?|resources|company|careers|legal|privacy.*|terms.*|"
    r"newsletter|"
    r"get in touch|follow us|latest.*|our .{0,20}|and (?:much )?more.*|many more.*|more to come.*|"
    r"preise|funktionen|über uns|impressum|datenschutz|kontakt|startseite|so funktioniert.*|häufige fragen|"
    r"das sagen .*|"
    r"ホーム|料金|機能|会社概要|よくある質問|お知らせ|特徴|الرئيسية|الأسعار|المميزات|من نحن|الأسئلة الشائعة)[.…]*$",
    re.IGNORECASE,
)
_NOTES: Final = re.compile(
    r"\b(?:the following|these docs|translations? of|"
    r"this (?:repo|repository|readme|document|section|fork|branch)|npm (?:i|install|run)|npx|yarn add|"
    r"pipx? install|"
    r"cargo (?:install|add)|brew install|apt(?:-get)? install|go (?:get|install)|docker (?:run|pull)|git clone|"
    r"(?:prs?|pull requests?) (?:are )?welcome|build status|copyright|all rights reserved|(?:use|uses) cookies|"
    r"cookie (?:policy|settings|consent)|javascript (?:is|must)|licen[cs]ed? under|under the (?:terms|mit|apache)|"
    r"(?:mit|apache|gpl|bsd|agpl)(?:[ -][\d.]+)? licen[cs]e|(?:open|file) an issue|report (?:bugs|issues)|"
    r"contributions|contributing|maintainers? wanted|sponsored by|our sponsors|semantic versioning|work in progress|"
    r"under (?:\w+ )?(?:heavy|active) development|not (?:yet )?(?:production|stable)|(?:alpha|beta|"
    r"pre-?release)(?: software|"
    r" quality|"
    r" stage| version)|is deprecated|no longer maintained|formerly|previously known|(?:documentation|docs) (?:is|are|"
    r"can)|"
    r"available (?:on|at|from|via) (?:npm|pypi|crates\.io|github))\b"
    r"|\((?:planned|soon|coming soon|todo|wip)\)|©|^\W*v?\d+(?:\.\d+)+\W*$|dieses repository|lizenziert|\b[al]?gpl\b|"
    r"协议开源|クッキー|"
    r"このリポジトリ|ライセンス",
    re.IGNORECASE,
)
_ASIDES: Final = re.compile(
    r"^(?:note|warning|todo|important|disclaimer|tip|attention|n\.b\.|update|clone|usage|example|requires?|"
    r"documentation|"
    r"source code|prerequisites?|hinweis|achtung|by default|in this|the following|the key features|here(?:['’]s| is|"
    r" are)|"
    r"below|above|currently|as of)\b",
    re.IGNORECASE,
)
_PRICE: Final = re.compile(
    r"[$€£¥₹]\s?\d|\d[\d.,]*\s?(?:€|usd|eur|euro|dollars?|円|ドル)|\bfree (?:for|plan|tier|trial|forever|up to|"
    r"during)\b|"
    r"\d[^.]{0,12} (?:per|a|pro|im) (?:user|seat|month|year|monat|jahr)\b|/ ?(?:mo|month|yr|year|user)\b|\bcredit card|"
    r"\bmoney[- ]back|\bpricing\b|\b(?:kostenlos|gratis) (?:für|bis|testen|starten)|^(?:free|kostenlos|gratis)\W*$|"
    r"無料(?:で|プラン|体験|トライアル)",
    re.IGNORECASE,
)
_QUOTE: Final = re.compile(r"^[\"“”„«»「『‘]|\s[—–-]\s*[A-Z][\w.]+(?: [A-Z][\w.]*){0,2}(?:,.{0,60})?$")
_SAYS: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|does|do|did|now|no longer|lets|supports|works|shows|runs|"
    r"helps|makes|"
    r"keeps|gives|takes|uses|returns|accepts|appears|opens|loads|starts|comes|gets|remembers|sends|"
    r"reads|writes|"
    r"exports|imports|allows|provides|ist|sind|hat|haben|kann|können|wird|werden|lässt|lassen|zeigt|gibt|jetzt|"
    r"läuft|"
    r"unterstützt|erinnert|bietet)\b"
)
"""Verbs that make the words before them a sentence."""
_PARTICIPLE: Final = re.compile(
    r"^(?:\w+ed|new|more|better|faster|rewrote|rewritten|made|built|sped)\b", re.IGNORECASE
)


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


def is_all_caps(heading: str) -> bool:
    return heading.isupper() and len(heading) > 4


def shorten(text: str, most: int) -> str:
    """Remove the full stop. Cut a longer statement than `most` characters before a clause; return
    an empty text if no cut leaves a sentence."""
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
_NEEDS_MORE: Final = re.compile(
    r"(?:\w+ed|runs|works|is|are|connects|belongs|easy|simple|able|ready|hard|possible| (?:that|which|who) \S+)$"
)
"""Words that need the words after them."""
_DANGLES: Final = re.compile(
    r"\s(?:in|of|to|for|with|and|or|an?|the|on|by|from|your|its|is|are|as|made|way|kind|set|means|lives?|runs?|works?|und|oder|mit|für|von|der|die|das|eine?)$"
)
_GOES_ON: Final = word_set("you them it see sees show shows know knows tell tells find fest zeigt")
_CLAUSE: Final = re.compile(
    r"(?P<clause>,? (?:that|which|who) )|,? (?:so that|so you|written in|built (?:with|on|in|for)|powered by|designed|"
    r"while|because|using|where|when|inspired by) |, (?:and (?:it|you)|with|so|but|der|die|das|mit|damit|um|ohne|"
    r"sodass) |(?P<manner> (?:with|without|for|in an?) )| [–—-] |[;:] | \(|[、，](?=.{4})|(?P<next>,? and \w+s "
    r"(?=(?:an?|the|your|you|it|them|where|which|who|what|when|how)\b)|, \w+[st] (?!and\b|or\b|und\b|oder\b))|"
    r"(?P<comma>,)(?= )|(?P<place> (?:in|into|over|to|from|via|through|among|across) )"
)
