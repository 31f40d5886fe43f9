"""Warns the reviewer about texts that may not be the finished text (E18, E48).

Each sign is a guess from the wording and may be wrong, so it adds a warning and refuses nothing.
The certain cases are refused by `assent.gate.content.check`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, takewhile
from typing import Final

from assent.gate.content import check
from assent.gate.content.check import (
    AUTHOR,
    CHANNEL,
    GENRE,
    OWNER,
    SHORT_CHARS,
    asks_for_text,
    cut_excerpt,
    find_flaw,
    is_about_text,
)
from assent.gate.content.text_parts import Parts, parse, sign

MOST: Final = 3
"""The most warnings about one text."""
BRIEF_CHARS: Final = 1_500
"""The longest text that can count as a brief."""

# An edit removes stored warnings by their words, which must not change.
NOTE: Final = "It reads like a note about a text that is still to be written: “{}”."
BRIEF: Final = "It reads like a brief for a writer: “{}”."
CHAT: Final = "It reads like the words of an assistant around the text: “{}”."
LABEL: Final = "It has a label that would be published with the text: “{}”."
LEFT: Final = "It has a place that may have been left open: “{}”."

_THING: Final = rf"(?:{GENRE}|draft|text|body|image|screenshot)"
_MADE: Final = r"(?:drafted|written|created|prepared|kept|put together|rewritten|adjusted|shortened)"

# Openings of a text about a text, if it has no first person.
_IS_NOTE: Final = sign(
    rf"(?:this|it|the (?:[\w-]+ )?{_THING}) (?:should|must|needs to|has to|would|will) (?:be (?:about|short|"
    rf"written|an? (?:[\w-]+,? ){{0,4}}{_THING})|announce|explain|mention|highlight|cover|introduce|talk|describe|"
    rf"focus|feel|include|thank|tell)\b",
    r"(?:this|the) (?:[\w-]+ )?(?:post|tweet|e-?mail|announcement|caption|update|text|draft) "
    r"(?:announces|thanks|invites|highlights|explains|covers|introduces|describes|"
    r"tells|talks|mentions|focuses|targets|celebrates|emphasi[sz]es)\b",
    rf"(?:an? |the )?(?:[\w-]+,? ){{0,4}}{GENRE} (?:for (?:[\w-]+ ){{1,3}})?(?:announcing|introducing|aimed at|"
    r"(?:that|which) (?:announces|introduces|tells|explains|highlights|covers))\b(?![^.!?]*(?:\b(?:is|was|are|got|"
    r"went)\b|\?))",
    r"(?:an? )?(?:[\w-]+,? ){0,3}(?:post|tweet|e-?mail|announcement|caption|update) (?:about|for|on) "
    r"[^.!?\n]{2,60}\W*$",
    r"(?:ein|un|une|een|en)(?:e|er|en|a)? (?:\w+,? ){0,3}(?:[\w-]*beitrag|post|artikel|publicación|article|"
    r"bericht) (?:über|zu|zur|zum|sobre|sur|over|om)\b",
    rf"this is where the [^.!?\n]{{0,40}}\b{_THING} goes",
)
_IS_WISH: Final = sign(
    r"(?:(?:i|we)(?: would|['’]d)? (?:need|want|like)|(?:can|could) you (?:write|draft|create)) "
    rf"(?:[\w-]+ ){{1,4}}?{CHANNEL} {GENRE}\b"
)
_IS_PREAMBLE: Final = sign(
    rf"(?:sure(?: thing)?|certainly|of course|absolutely|great|okay)[!,.:–— -]{{1,4}}(?:here|below|i(?:['’]ve|"
    rf" have))\b[^\n]{{0,80}}\b{_THING}\b[^\n]{{0,80}}:\W{{0,4}}",
    rf"(?:here(?:['’]s| is| are)|below (?:is|are)) [^\n]{{0,40}}(?:\byour (?:[\w-]+ ){{0,4}}?{_THING}|\bdraft\b|"
    rf"\b(?:revised|updated|polished|final) \w+|{CHANNEL} {GENRE}|{_THING} for you)\b[^\n]{{0,60}}:\W{{0,4}}",
    r"(?:[\w ]{1,15}[!,.] )?(?:hier (?:ist|sind|kommt) (?:dein|ihr|euer|der|ein)|aquí tienes|voici (?:votre|ton|le|un))"
    r"\w{0,3} [^\n]{0,40}(?:beitrag|post|text|entwurf|tweet|artikel|mail|publicación|borrador|correo|article|"
    r"brouillon)\w?\b[^\n]{0,40}:\W{0,4}",
)
_IS_LABEL: Final = sign(
    rf"(?:{CHANNEL}|draft(?: \d{{1,2}})?|output|final (?:version|output|copy|answer))(?: (?:post|draft|update|"
    r"version|copy))?(?: ?\([^()\n]{1,30}\))?\s?:",
    r"(?:begin|start)(?: of)? (?:\w{1,20} )?(?:draft|post|output|content|copy|text|message)\b.{0,12}",
)
_IS_HEADING: Final = sign(
    rf"(?:#{{1,6}}|[=*~_-]{{2,10}})\s?{CHANNEL} (?:post|draft|update|copy|caption)\b.{{0,20}}"
)
_TAG: Final = sign(
    r"<(?:draft|output|post|response|answer|result|copy|tweet|\w{1,20}_(?:post|draft))(?:\s[^<>\n]{0,80})?>"
)

# With each pattern, parts of which every match has one, in any case: most texts have none, and a search
# costs up to 80 µs. None has an i, which also matches letters that `str.lower` leaves as they are.
_ANYWHERE: Final[tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]] = (
    (
        NOTE,
        (
            *("here", "follow", "to come", "ss", "not yet", "folgt", "kommt", "steht", "geh"),
            *("be wr", "be gen", "be supp", "be add", "be draft"),
        ),
        sign(
            rf"\b{_THING}\b[^.!?\n]{{0,120}}?\b(?:would go|will go|goes|would be|will be|belongs) (?:in )?here\b",
            r"\(?\b(?:draft|copy|text|body|caption|wording)\b(?: [\w-]+){0,3}? (?:to follow|to come|will follow|is "
            r"missing|not yet written)\b",
            r"\b(?:text|entwurf|beitrag) folgt(?=\W*$|,| (?:noch|sobald|in kürze|später))",
            r"\bhier (?:kommt|steht|gehört) (?:der|die|dein|das) [^.!?\n]{0,40}\bhin\b",
            rf"\b{_THING} (?:will|(?:still )?(?:needs |has )?to) be (?:written|generated|supplied|added|drafted)\b",
        ),
    ),
    (
        CHAT,
        ("model", "tant", "cannot", "can't", "can’t", "could", "ve ", "'d ", "’d ", "would ", "kept", "made"),
        sign(
            r"\bas an? (?:ai|large language|language)(?: language)? (?:model|assistant)\b,? i\b",
            r"\bi(?:['’]m sorry,? but i)? (?:cannot|can['’]t) (?:assist|help|comply) with (?:that|this)(?: request)?\b",
            r"\bi (?:cannot|can['’]t|could not|couldn['’]t) (?:access|open|read|write|draft) (?:the|this|that|your|a) "
            r"(?:[\w-]+ )?(?:repositor\w+|repo|file|link|page|post|draft|text|announcement)\b",
            rf"\bi(?:['’]ve| have) {_MADE} (?:an?|the|your|this|three|two) (?:[\w-]+ ){{0,3}}?{_THING} (?:that|which|"
            r"for (?:you|the)|based|as|below)\b",
            r"\bi(?:['’]d| would) (?:write|draft|open|start) (?:something|with|an?|the) [^.!?\n]{0,60}"
            r"\b(?:here|that)\b",
            r"\bi(?:['’]ve)? (?:kept|made) (?:it|this|the (?:tone|text|post|copy)) [^.!?\n]{0,40}"
            r"(?:\d+ (?:char|word)\w+|\btone\b|\bfriendly|\bprofessional|\bconcise)",
        ),
    ),
    (
        LEFT,
        ("[", "(", "todo", "xme"),
        sign(
            r"\[(?:image|photo|picture|screenshot|video|gif|graphic|logo|chart|bild|"
            r"imagen)s?\s?[:–-][^\]\n]{2,120}\]",
            r"\((?:insert|attach|paste|add) [^()\n]{2,60}\)",
            r"(?:^|\n)\W{0,4}(?:todo|fixme)\b ?[:–(-] ?(?:add|insert|fill|replace|attach|confirm|"
            r"verify)\b[^\n]{0,80}",
        ),
    ),
)
_OFFER: Final = sign(
    r"\blet me know if you(?:['’]d| would)? (?:like|want|need)\b[^.!?\n]{0,60}\b(?:chang\w+|adjust\w*|tweak\w*|"
    r"revis\w+|edits?|it (?:shorter|longer)|(?:shorter|longer|different) (?:version|one)|another version|tone|"
    r"variations?)\b",
    r"\bwould you like me to (?:adjust|make|write|change|shorten|add|create)\b",
    r"\bfeel free to (?:adjust|edit|tweak|modify) (?:it|this|the (?:tone|text|post|draft))\b",
)
_OFFERS: Final = ("let me know", "would you", "feel free")
"""Every match of `_OFFER` begins with one of these, in any case."""
_GREETING: Final = sign(r"\W{0,3}(?:hi|hello|dear|hey|hallo|liebe|hola|bonjour|ciao|good morning)\b")
_SPEAKER: Final = re.compile(
    r"\b(?:us|[Yy]ours?|[Yy]ou|[Ww]ir|[Mm]ein\w{0,2}|[Ii]ch|[Dd]ein\w{0,2}|[Ee]uer|[Ee]ure\w?|[Nn]ous|[Jj]e|vo(?:tre|s)|"
    r"tus?|[Мм]ы)\b"
)

# Instructions to a writer: two of them in a short text without a first person are a brief.
_SIGNS: Final = (
    sign(r"\b(?:hook|cta|call to action|subject line|headline|tagline)\b", r"\b(?:brief|outline)\s?:"),
    sign(
        r"\b(?:punchy|catchy|engaging|friendly|freundlich\w*|professional|playful|upbeat|celebratory|warm|dry|locker|conversational)\b"
    ),
    sign(
        r"\b(?:key points?|key message|angle|audience|target(?:ing| audience)|zielgruppe|público)\b",
        r"\bpublic ?:",
    ),
    sign(r"\b(?:end|close|open|start|lead|finish|clos|open|end)(?:ing)? with\b", r"\bthen (?:the|an?) "),
    sign(
        r"(?:^|[.!?;,:\n] ?)(?:and )?(?:focus on|mention|highlight|emphasi[sz]e|include|avoid|stress|keep it|"
        r"no emojis?|no hashtags?|use)\b"
    ),
    sign(
        r"(?:\d|\b(?:one|two|three|four|five) )\s?(?:words?|characters|chars|sentences|paragraphs|bullets?|hashtags|"
        r"wörter\w*|zeichen|palabras|caracteres|mots|caractères|parole|palavras|woorden|ord|słów|znaków|слов\w*|знаков|"
        r"символов|kelime|字|文字|자|كلمة|शब्द\w*)",
    ),
    sign(r"\b(?:tone|tono|tonfall|tonalität|тон|toon|ton)\b(?! of the)"),
    sign(
        r"(?:^|[.!?。:\n] ?)(?:bitte |por favor,? |please )?(?:(?:write|draft|compose)(?= (?:an?|the|about)\b)|"
        r"schreib(?:e|en sie)?|verfasse|"
        r"erstelle|escrib[ae]|redacta|crea|rédigez?|écris|écrivez|scrivi|escreva|crie|schrijf|skriv|napisz|"
        r"напиши(?:те)?|اكتب)\b",
    ),
    sign(
        r"\b(?:linked ?in|instagram|facebook|twitter|tweet|cta)\b[ -]?(?:\w+)?",
        r"(?:^|[^\w])(?:post|beitrag|artikel|publicación|articolo|postagem|bericht|inlägg|wpis|пост|article|"
        r"announcement)\b",
        r"投稿|帖子|推文|게시물|منشور|पोस्ट|لينكد",
    ),
)
BRIEF_SIGNS: Final = 3
SHORT_BRIEF_CHARS: Final = 200


def reads_finished(text: str) -> bool:
    """Whether nothing in a text's form or content makes it unfit or suspicious."""
    return find_flaw(text) is None and not suspicions_in(text)


def suspicions_in(text: str) -> tuple[str, ...]:
    """Return warnings for the reviewer, each with its passage. Cached for long texts."""
    return _suspect(text) if len(text) <= SHORT_CHARS else _suspect_once(text)


def _suspect(text: str) -> tuple[str, ...]:
    parts = parse(text)
    if not parts.text.strip():
        return ()
    speaks = _speaks(parts)
    found = [*_suspect_opening(parts, speaks), *_suspect_body(parts)]
    if not speaks and len(parts.text) <= BRIEF_CHARS and _is_brief(parts):
        found.append((BRIEF, parts.text))
    return tuple(dict.fromkeys(warning.format(cut_excerpt(passage)) for warning, passage in found))[:MOST]


_suspect_once: Final = lru_cache(maxsize=64)(_suspect)


def _suspect_opening(parts: Parts, speaks: bool) -> list[tuple[str, str]]:
    first, opening = parts.lines[0], parts.unquoted[:400].lstrip("#*_>- \n\t(")
    if not speaks:
        if _IS_NOTE.match(opening):
            return [(NOTE, first)]
        if asks_for_text(opening.split("\n")[0]):
            return [(BRIEF, first)]
    if _IS_WISH.match(opening):
        return [(BRIEF, first)]
    if len(parts.lines) > 1 and _IS_PREAMBLE.fullmatch(parts.first):
        return [(CHAT, first)]
    labelled = _IS_LABEL.fullmatch(parts.first) or _IS_HEADING.fullmatch(first) or _leads_with_fields(parts)
    if _TAG.match(parts.text) or (len(parts.lines) > 1 and labelled):
        return [(LABEL, parts.text if _TAG.match(parts.text) else first)]
    return []


def _speaks(parts: Parts) -> bool:
    """Whether the text uses the first person or addresses a reader."""
    return any(each.search(parts.unquoted) for each in (AUTHOR, OWNER, _SPEAKER))


def _leads_with_fields(parts: Parts) -> bool:
    leading = [field for field in takewhile(bool, parts.fields) if field is not None]
    return 1 < len(leading) < len(parts.lines) and all(map(is_about_text, leading[:2]))


def _suspect_body(parts: Parts) -> list[tuple[str, str]]:
    head = parts.unquoted[: len(parts.head)]
    folded = head.lower()
    found = [
        (warning, match[0])
        for warning, parts_of, sign in _ANYWHERE
        if any(map(folded.__contains__, parts_of)) and (match := sign.search(head)) is not None
    ]
    found += [(LEFT, slot) for slot in islice(check.find_open(head, explained=True), 1)]
    # People end their e-mails in the same way.
    end = parts.unquoted[-600:]
    if any(map(end.lower().__contains__, _OFFERS)) and not _GREETING.match(parts.text):
        found += [(CHAT, offer[0]) for offer in islice(_OFFER.finditer(end), 1)]
    return found


def _is_brief(parts: Parts) -> bool:
    """Whether a text without a first person has several signs of a brief."""
    signs = sum(sign.search(parts.unquoted) is not None for sign in _SIGNS)
    return signs >= BRIEF_SIGNS - (len(parts.text) <= SHORT_BRIEF_CHARS)
