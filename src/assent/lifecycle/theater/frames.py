"""Wrappers that a generator puts around a text and that would be published with it: headers, markers, tags, chat."""

from __future__ import annotations

import re
from typing import Final

from assent.lifecycle.theater.cards import only_pairs
from assent.lifecycle.theater.fields import is_label, of_a_brief, of_a_record
from assent.lifecycle.theater.page import HEAD_CHARS, Page
from assent.lifecycle.theater.words import AUTHOR, CHANNEL, PIECE, listed, sign

# `## Generated (mode=context, route=linkedin)`
_HEADER: Final = re.compile(
    r"^[#*=\- \t]{0,10}([A-Za-z][A-Za-z ]{0,40})[(\[{]([^()\[\]{}\n]{3,200})[)\]}][*=\- \t:]{0,8}$",
    re.MULTILINE,
)
_HEADER_WORDS: Final = listed(
    "generated, output, draft, response, result, asset, content, context, brief, completion, rendered, body, frame",
    "post, copy, text, linkedin, x, email, message, section, final, launch, card",
)
_PAIR: Final = sign(
    r"\b(?:mode|route|channel|variant|model|source|operator|tokens|temperature|run|run_?id|template|prompt|"
    r"provider|"
    r"tenant|version|lang|kind|status) ?[=:] ?\S"
)
# The same without a head: `[mode=brief route=linkedin]`
_BARE_PAIRS: Final = sign(
    r"[\[({<#*= -]{1,6}(?:mode|route|channel|variant|model|operator|run_?id|"
    r"template)\s?=\s?[^\n]{1,120}[\])}>*= -]"
)
_GENERATED: Final = sign(
    r"[>#*_\[( -]{0,6}generated (?:by|with|in|for|from|via) [^\n]{0,80}\b(?:brief|context|draft) mode\b",
    r"[>#*_\[( -]{0,6}generated (?:by|with|for|from|via) [^\n(\[]{1,60}[(\[][^\n()\[\]]{0,40}"
    r"\b(?:mode|route|channel|model)\s?[=:]",
    r"[^\n]{0,60}\bmode\s?=\s?(?:context|brief)\b[^\n]{0,60}$",
)
_EDGE: Final = sign(
    r"^[ \t]*[-=*#<\[(~_]{2,10}[ \t]*(?:begin|start|end)(?: of)?(?: \w{1,20})? ?(?:draft|post|output|content|"
    r"copy|"
    r"response|generation|body|text|asset|message|e-?mail)[ \t]*[-=*#>\])~_]{2,10}[ \t]*$",
    flags=re.MULTILINE,
)
_TAG: Final = re.compile(r"<([a-zA-Z][\w-]{1,30})(?:\s[^<>]{0,200})?>")
_TAGS: Final = listed(
    "draft, output, post, response, answer, result, final, content, copy, tweet, email, asset, reply, generated",
    "completion, message, text, assistant",
)
_TAG_ENDS: Final = ("_post", "_draft", "-post", "-draft", "_text")
_HERE_IS: Final = r"(?:here(?:['’]s| is| are)|below (?:is|are))"
_PREAMBLE: Final = sign(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|no problem|got it)[!,.:–— -]{1,4}"
    rf"(?:{_HERE_IS}|i(?:['’]ve| have) (?:written|drafted|created|put together))\b"
    rf"(?![^\n]{{0,120}}\b(?:i|we|our)\b)[^\n]{{0,80}}\b{PIECE}\b[^\n]{{0,80}}:\W{{0,4}}$",
    rf"{_HERE_IS} (?:your|the|a|my) (?:[\w-]+ ){{0,4}}?(?:draft|{CHANNEL} post|(?:revised|updated|rewritten|"
    rf"polished) \w+)"
    r"(?: (?:for|announcing|about|of)\b(?!.{0,80}\b(?:i|we)\b)[^\n]{0,80})?:\W{0,4}$",
    rf"here(?:['’]s| is| are) your (?:[\w-]+ ){{0,4}}?{PIECE}:\W{{0,4}}$",
    r"(?:klar|gerne|natürlich|sicher)[!,.]? hier (?:ist|sind|kommt) [^\n]{2,100}:\W{0,4}$",
    r"¡?(?:claro|por supuesto|aquí tienes)\b[^\n]{0,30}\b(?:aquí tienes|un|una|tu|el|la)\b[^\n]{2,80}:\W{0,4}$",
    r"(?:bien sûr|voici votre|voici ton|avec plaisir)\b[^\n]{2,100}:\W{0,4}$",
)
"""What a chat says before it hands over: a text begins with its own words."""
_BANNER: Final = re.compile(r"[=#*\-~_]{2,10}[ \t]*([^=#*~_\n]{2,60}?)[ \t]*[=#*\-~_]{2,10}")
_CHANNEL_LINE: Final = sign(
    rf"[#*_ ]{{0,4}}(?:{CHANNEL}|e-?mail|draft|final (?:draft|version|output|copy|post|text|"
    rf"answer))[*_ ]{{0,3}}:[*_ ]{{0,3}}"
)


def wrapper(page: Page) -> str | None:
    """A line or a pair of tags that a generator put around its text."""
    head = page.unquoted[:HEAD_CHARS]
    for header in _HEADER.finditer(head):
        if _HEADER_WORDS.issuperset(header[1].casefold().split()) and _PAIR.search(header[2]):
            return header[0]
    edge = _EDGE.search(head)
    return edge[0] if edge else _first_line(page) or _tags(page)


def _first_line(page: Page) -> str | None:
    first = page.lines[0]
    comment = first.startswith("<!--") and _PAIR.search(first)
    if comment or _GENERATED.match(first) or _BARE_PAIRS.fullmatch(first):
        return first
    return first if len(page.lines) > 1 and (only_pairs(first) or _PREAMBLE.match(first)) else None


def _tags(page: Page) -> str | None:
    tag = _TAG.match(page.text)
    if tag is None or not page.text.endswith(f"</{tag[1]}>"):
        return None
    name = tag[1].casefold()
    return tag[0] if name in _TAGS or name.endswith(_TAG_ENDS) else None


def label(page: Page) -> str | None:
    """The text's name on a line of its own above it."""
    first = page.lines[0]
    if len(page.lines) == 1:
        return None
    banner = _BANNER.fullmatch(first)
    named = _CHANNEL_LINE.fullmatch(first) is not None or is_label(banner[1] if banner else first)
    return first if named else None


def leading_fields(page: Page) -> str | None:
    """A block of fields that are not for readers, then the text."""
    if AUTHOR.search(page.lines[0]):
        return None
    sure = 0
    for field in page.fields:
        if field is None:
            return page.lines[0] if sure >= 2 else None
        sure += (of_a_record(field) and not field.machine) or of_a_brief(field) == 2
    return None
