"""How much the sentences of a text limit another text that somebody is still to write, and how many tell something.

A limit alone is advice, and advice is published every day; it counts beside a task, a role or the form of a brief.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from assent.lifecycle.theater.page import word_count
from assent.lifecycle.theater.tasks import ROLE, TASK
from assent.lifecycle.theater.words import PIECE, SOME, sign

NEAR: Final = 40
"""How many sentences from where one looks are counted."""
FRAGMENT_WORDS: Final = 16

_NUMBER: Final = r"\d[\d,.]{0,6}"
_UNIT: Final = r"(?:words?|characters?|chars?|sentences?|paragraphs?|tweets)\b"

SHOULD: Final = sign(
    rf"(?:the|this|our|each|every) {SOME}{{0,4}}?{PIECE} (?:should|must|needs? to|has to|ought to|is meant to|"
    rf"will) "
    r"(?:also |be written|announce|highlight|introduce|explain|mention|focus|emphasi[sz]e|include|target|appeal|"
    r"convey|sound|feel|feature|lead|open|end|close|position|promote|speak|show|tell|address|link|"
    r"be (?:short|under|about|\d))"
)
"""Says of a text that is not there what it should do."""
_LIMIT: Final = sign(
    # How it should sound and look.
    r"(?:keep|limit) (?:it|this|the \w+|them|each \w+|sentences|paragraphs|everything|your \w+) (?:\w+ ){0,2}?"
    r"(?:short|under|below|within|brief|concise|to|friendly|casual|professional|conversational|simple|crisp|"
    r"tight|"
    r"punchy|upbeat|light|human|humble|factual|warm|at|around|clear|\d+)\b",
    r"make (?:it|them|sure)(?: to)? (?:sound|feel|short|punchy|friendly|concise|professional|engaging|casual|"
    r"warm|"
    r"bold|catchy|viral|exciting|personal|include|mention|conversational|the (?:post|copy|text|tone))\b",
    r"(?:the )?(?:tone|voice)\b(?: of voice)?(?: (?:should|must|is|needs)\b| ?:)",
    r"(?:use|write|adopt|maintain|in|keep)\b[^.!?]{0,50}\b(?:tone|voice|style|person)\b",
    r"write (?:warmly|in|like|as|for|from|clearly|concisely)\b",
    r"(?:[\w'’-]{2,20},? (?:(?:and|but|yet) )?){1,5}tone\b",
    r"be (?:earnest|authentic|concise|specific) (?:rather|and|but)\b",
    r"(?:the )?(?:subject line|headline|caption|first line|opening|title|cta|hook|copy) should be\b",
    r"(?:the )?(?:audience|tone|style) (?:is|are|should)\b",
    r"should (?:link|mention|include|sound|feel|be)\b",
    # What has to be in it, and what must not.
    r"(?:no|avoid|skip|omit|use|include|add|max(?:imum)?|at most|limit|up to|without|(?:do not|don['’]t|never) "
    r"(?:use|include|add))\b[^.!?]{0,50}\b(?:hashtags?|emojis?|jargon|buzzwords?|exclamation (?:marks?|points?)|"
    r"clich[eé]s?|superlatives|marketing speak|hype|markdown|bullet points?|short (?:paragraphs|sentences)|"
    r"line breaks|adverbs|placeholders|cta|call[- ]to[- ]action|statistics?|keywords?)\b",
    r"(?:include|add|insert|end|finish|close|start|open|begin|lead)(?: (?:with|on|by))?"
    r"(?: (?:asking|using|including))? (?:an?|the|our|one|two|three|\d+|some|relevant|up to)\b[^.!?]{0,40}"
    r"\b(?:cta|call[- ]to[- ]action|hook|question|hashtags?|links?|emojis?|url|story)\b",
    r"(?:do not|don['’]t|never|must not|you may not)(?: \w+)? (?:mention|invent|exceed|reveal|fabricate|"
    r"hallucinate|"
    r"output|oversell|make up|use more than|write more than|go over)\b",
    r"always (?:write|use|include|mention|answer|respond|keep|start|end|refer)\b",
    r"(?:one|a) (?:question|cta|call to action|link|emoji|hashtag) at the (?:end|start|top)\b",
    r"(?:one|two|three|\d) (?:versions?|variants?|options?|posts?|tweets?|emails?) for\b",
    # How long it may be.
    r"(?:max(?:imum)?\.?|at most|under|up to|about|around|approximately|roughly|no more than|no longer than|"
    r"between|"
    r"exactly|length ?:|each|in|aim for|target|limit ?:)?[^.!?\w]{0,3}(?:under |below |max(?:imum)? |about |"
    r"at most )?"
    rf"{_NUMBER}(?: ?(?:-|–|to|and) ?{_NUMBER})? ?{_UNIT}(?: (?:max(?:imum)?|at most|or (?:less|fewer)|"
    rf"each))?\W{{0,3}}$",
    rf"(?:max(?:imum)?\.?|at most|under|each under|no more than|no longer than|length ?:) {_NUMBER} {_UNIT}",
    r"(?:title|headline|subject(?: line)?|body|caption|each \w+|length)(?: (?:is|must be|should be))? ?:? ?"
    r"(?:below|under|max(?:imum)?|at most|up to|<) ?\d+",
    # Fields inside a sentence.
    r"(?:style|subject|topic|audience|length|format|language|cta|hashtags?|keywords?) ?: ?\S",
    # What to go by, and what to hand back.
    r"use the (?:following|context|evidence|information|facts|notes|details|positioning|repo|brand|product)\b",
    r"based on the (?:following|context|evidence|information|above|notes)\b",
    r"ground (?:it|them|the \w+|everything|claims) in\b",
    r"(?:return|output|respond|reply|answer|provide|print)(?: with)? (?:only|just|nothing|the (?:post|text|"
    r"copy) only|"
    r"in (?:json|markdown|plain|english|german|french|spanish)|as (?:json|markdown|plain))\b",
    r"only (?:return|output|respond|reply|the (?:post|text|tweet|email|copy))\b",
    r"i will (?:give|provide|send) you\b",
    r"wait for (?:my|their|the user['’]s) (?:approval|input|reply)\b",
)
FRAGMENT: Final = sign(
    r"(?:^|[,;(] ?|\b(?:and|but) )(?:no|without|max\.?|maximum|below|under|at most|up to|~|about|approx\.?|"
    r"not more than)? ?"
    r"(?:[\w-]+ ){0,2}?(?:superlatives|hashtags?|emojis?|jargon|buzzwords?|clich[eé]s|hype|guilt-tripping|fluff|"
    rf"(?<!\w)~?{_NUMBER}(?:[-–]{_NUMBER})? ?(?:words?|characters?|chars|sentences?|tweets))\b",
    r"\bin an? [\w ,-]{2,40} (?:tone|voice|style)\b",
    r"(?:^|, ?)(?:first|third) person\b",
    r"(?:^|, ?)(?:one|two|three|\d|a|an)? ?(?:(?:short|clear|strong|single|soft) )?(?:cta|"
    r"call[- ]to[- ]action|paragraphs?)\b"
    r"(?: to [\w ]{2,30})?(?=\W{0,2}$|,)",
    r"(?:^|, ?)(?:friendly|casual|formal|professional|playful|warm|calm|confident|witty|upbeat|serious|neutral)"
    r"(?:,? (?:and|but|yet) \w+)? tone\b",
)
"""A limit as a fragment: `~120 words, friendly tone, no hashtags`."""
WHOLE_SENTENCE: Final = sign(r"\b(?:i|we|my|our|us|you|your|was|were|is|are|had|has|have)\b")
_HINT: Final = sign(
    r"(?:please )?(?:mention|highlight|emphasi[sz]e|focus on|reference|stress|target|address|cite|link to|tag|"
    r"announce|"
    r"explain|position|speak to|appeal to|thank|promote|it should|it must|they should|readers should|audience|"
    r"cta|"
    r"tease|be (?:concise|friendly|specific|bold|humble|witty|brief|honest|warm|factual)|"
    r"use (?:one|short|simple|plain|active)|lead with|open with|close with|end with|start with)\b"
)
# Half a limit after a task; anywhere else a changelog begins its lines so.
_ORDER: Final = sign(
    r"(?:please )?(?:include|introduce|avoid|do not|don['’]t|never|always|add|return|use|say|show|tell|put)\b"
)


def weight(sentence: str, *, after_task: bool = False) -> float:
    """1 for a limit, one half for what may be one, else 0."""
    if _LIMIT.match(sentence) or SHOULD.match(sentence):
        return 1
    if (
        not WHOLE_SENTENCE.search(sentence)
        and word_count(sentence) <= FRAGMENT_WORDS
        and FRAGMENT.search(sentence)
    ):
        return 1
    return 0.5 if _HINT.match(sentence) or (after_task and _ORDER.match(sentence)) else 0


def weight_of(sentences: Sequence[str], *, after_task: bool = False) -> float:
    return sum(weight(sentence, after_task=after_task) for sentence in sentences[:NEAR])


_INPUT: Final = sign(
    r"(?:features?|context|facts|product|input|details|notes|background|evidence|what changed|source)s? ?: ?\S"
)


def told(sentences: Sequence[str]) -> int:
    """How many sentences tell something instead of asking for it."""
    return sum(
        word_count(sentence) >= 3
        and not weight(sentence, after_task=True)
        and not _INPUT.match(sentence)
        and not TASK.match(sentence)
        and not ROLE.match(sentence)
        for sentence in sentences[:NEAR]
    )


class After:
    """The sentences after an opening, weighed once somebody asks: most openings ask for nothing."""

    def __init__(self, sentences: Sequence[str], *, after_task: bool = False) -> None:
        self._sentences = sentences
        self._after_task = after_task

    @cached_property
    def limits(self) -> float:
        return weight_of(self._sentences, after_task=self._after_task)

    @cached_property
    def tells(self) -> int:
        return told(self._sentences)
