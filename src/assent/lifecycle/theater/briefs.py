"""Briefs: descriptions of a text that is still to be written, as a form, as notes or in sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from assent.lifecycle.theater.fields import BRIEF_KEYS, is_title, of_a_brief
from assent.lifecycle.theater.limits import FRAGMENT, SHOULD, WHOLE_SENTENCE, After, weight_of
from assent.lifecycle.theater.page import Field, Page, as_field, field_of, without_lead
from assent.lifecycle.theater.tasks import SUBJECT, TASK
from assent.lifecycle.theater.words import AUTHOR, CHANNEL, ONE, PIECE, PITCH, READER, SOME, sign

_HEAD: Final = sign(
    r"(?:#{1,6} ?|\*\*)?(?:(?:[\w&-]{1,20} ){0,4}?brief(?:ing)?|(?:drafting|writing|copy|content|post) notes|"
    r"(?:post |copy |content )?outline)(?: mode)?(?: for [^:.\n]{1,40})?(?:\*\*)?\s*(?:[:–—(-]|$)"
)
_MODE: Final = sign(r"[\[(*#_ ]{0,4}(?:brief|context|draft) mode\b ?[:\])–—-]")
_PART: Final = sign(
    r"(?:hook|cta|call to action|proof points?|opening|closing|intro|key message|headline|subhead|body)\b"
)
_NEED: Final = sign(
    rf"(?:we|i)(?:['’]d| would)? (?:also )?(?:need|want|like|require)(?: to have)? {ONE} {SOME}{{0,6}}?{PIECE}\b"
)
_FOR_AN_AGENT: Final = sign(r"\b(?:calling|host|client) (?:agent|llm|model|assistant)\b")
_DESCRIBED: Final = sign(
    rf"(?:an? |one |three |\d{{1,2}} )?{SOME}{{0,5}}?{PIECE} (?:\w+ ){{0,3}}?(?:announcing|introducing|promoting|"
    r"highlighting|aimed at|targeted at|targeting|in an? [\w ,-]{2,40} (?:tone|voice)|that (?:announces|"
    r"introduces|"
    r"highlights|promotes|explains|tells|invites|informs|thanks|reminds))\b"
)
_ANNOUNCE: Final = sign(
    rf"(?:announce|promote|tease|pitch|introduce|advertise|publici[sz]e) [^.!?]{{3,160}}?\b(?:on|for) {CHANNEL}\b"
)
_TO_WHOM: Final = sign(
    rf"(?:an? )?{SOME}{{0,3}}?{PIECE} (?:to|for) [^:.!?]{{2,60}}: ?(?:acknowledge|explain|mention|announce|"
    rf"offer|highlight|"
    r"invite|ask|remind|tell|introduce|share|lead|start|open|focus|keep|thank (?!you|u))\b"
)
_IDEA: Final = sign(
    rf"(?:{CHANNEL} )?(?:post|tweet|thread|e-?mail|content|copy) (?:idea|concept|suggestion|plan|"
    rf"direction)s? ?: ?"
    r"(?:share|ask|tie|lead|open|start|keep|tell|announce|show|explain|highlight)\b"
)
_NAMED: Final = sign(rf"(?:an? )?{SOME}{{0,3}}?{PIECE} (?:for|to|on) [^.!?:]{{2,60}}[.:]?$")
_WANTED: Final = sign(r"[^:.!?]{0,40}\b(?:wanted|needed|requested|required) ?: ")
_HAS_PIECE: Final = sign(rf"\b{PIECE}\b")
_DASHED: Final = re.compile(r"([^\W\d_][\w ]{1,30}) [-–—] (\S.{0,200})")
_CLAUSE: Final = re.compile(r"[:;,] ")
_BULLET: Final = re.compile(r"[-*•–+] ")


def heading(page: Page) -> str | None:
    """Called a brief, and it reads like one."""
    first = page.lines[0]
    mode = _MODE.match(first) is not None
    if not mode and not _HEAD.match(first):
        return None
    sentences = page.sentences[:12]
    clauses = [clause.strip() for sentence in sentences for clause in _CLAUSE.split(sentence)]
    asked = sum(any(each.search(sentence) for each in (TASK, _NEED, _FOR_AN_AGENT)) for sentence in sentences)
    halves = sum(map(of_a_brief, page.fields)) + sum(_PART.match(clause) is not None for clause in clauses)
    limits = max(weight_of(page.sentences), weight_of(clauses))
    return first if asked + halves / 2 + limits >= (1 if mode else 1.5) else None


def form(page: Page) -> str | None:
    """Fields of a brief from the first line on, or under a heading, and little else."""
    if len(page.lines) > 2 or len(page.sentences) < 3:
        return _form(page.lines, lambda line: field_of(line) or _dashed(line))
    return _form(page.sentences, field_of)


def _dashed(line: str) -> Field | None:
    """`Tone - playful`: a dash makes a field of a line only where the key is a brief's own."""
    match = _DASHED.fullmatch(without_lead(line))
    return as_field(match[1], match[2]) if match and match[1].casefold() in BRIEF_KEYS else None


def _form(lines: Sequence[str], as_a_field: Callable[[str], Field | None]) -> str | None:
    first, body = as_a_field(lines[0]), lines
    if first is None and is_title(lines[0].rstrip(".")) and not AUTHOR.search(lines[0]):
        body = lines[1:]
        first = as_a_field(body[0]) if body else None
    if first is None:
        return None
    fields = [first, *map(as_a_field, body[1:])]
    kinds = {field.key: of_a_brief(field) for field in fields if field is not None}
    if len([field for field in fields if field]) * 2 < len(fields):
        return None
    sure, known = list(kinds.values()).count(2), sum(map(bool, kinds.values()))
    enough = sure >= (1 if None not in fields else 2) and known >= 3
    return lines[0] if enough and known * 2 >= len(kinds) else None


def notes(page: Page) -> str | None:
    """A list of wishes and nothing else."""
    if len(page.lines) < 3 or not all(map(_BULLET.match, page.lines)):
        return None
    wishes = weight_of(page.sentences) + sum(of_a_brief(field) == 2 for field in page.fields)
    return page.lines[0] if wishes >= 2 and wishes * 5 >= len(page.lines) * 2 else None


def described(page: Page) -> str | None:
    """Sentences about the text that is wanted."""
    if not page.sentences:
        return None
    opening, rest = page.sentences[0], page.sentences[1:]
    after = After(rest)
    nameless, named = not AUTHOR.search(opening), ":" in opening
    wanted = (
        (SHOULD.match(opening) and after.limits >= 1)
        or (_NEED.match(opening) and SUBJECT.search(opening) and (after.limits or not after.tells))
        or (nameless and _DESCRIBED.match(opening) and not after.tells)
        or (nameless and _NAMED.match(opening) and after.limits >= 1 and not after.tells)
        or (
            _ANNOUNCE.match(opening)
            and not after.tells
            and not READER.search(opening)
            and not PITCH.search(opening)
        )
        or (named and _TO_WHOM.match(opening) and after.tells <= 1)
        or (named and _IDEA.match(opening) and after.tells <= 1 and not READER.search(opening))
        or (of_a_brief(page.fields[0]) == 2 and after.limits >= 1.5 and after.tells <= 1)
        or (not rest and _in_fragments(opening))
    )
    return opening if wanted else None


def _in_fragments(sentence: str) -> bool:
    """`LinkedIn post, ~120 words, friendly tone, CTA to the docs`."""
    if _HAS_PIECE.search(sentence) is None:
        return False
    fragments = len(FRAGMENT.findall(sentence))
    enough = fragments >= 2 and not WHOLE_SENTENCE.search(sentence)
    return enough or (fragments > 0 and bool(_WANTED.match(sentence)))
