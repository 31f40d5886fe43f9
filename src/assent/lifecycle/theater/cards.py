"""Metadata in place of a text: data, cards of facts, front matter with nothing after it, pointers elsewhere."""

from __future__ import annotations

import re
from typing import Final

from assent.lifecycle.theater.fields import (
    MACHINE_VALUE,
    RECORD_KEYS,
    STATE,
    is_label,
    is_title,
    of_a_brief,
    of_a_record,
)
from assent.lifecycle.theater.page import Field, Page, field_of, word_count
from assent.lifecycle.theater.words import sign

POINTER_WORDS: Final = 40
"""A text of more words than these says something itself."""

_OBJECT: Final = re.compile(r"\{\s{0,40}[\"']?[\w $-]{1,60}[\"']?\s{0,5}:")
_LIST: Final = re.compile(r"\[\s{0,40}[\"{\[]")
_LIST_ENDS: Final = ('"]', "}]", "]]", '"\n]', "}\n]", "]\n]")
_MESSAGES: Final = re.compile(r"[\"']role[\"']\s{0,3}:\s{0,3}[\"'](?:system|user|developer)[\"']")
_PAIR: Final = re.compile(r"\w{1,30}=\S{1,80}")
_RECORD_PAIR: Final = sign(
    r"\b(?:mode|route|channel|variant|model|operator|run_?id|action_?id|asset_?id|status) ?= ?\S"
)
_COUNTED: Final = sign(
    r"\d[\d,.]{0,8} ?(?:words?|chars|characters|images?|links?|hashtags?|credits?|tokens?|recipients?)\b"
)
WAITING: Final = sign(r"\b(?:ready for (?:your )?(?:review|approval)|awaiting (?:your )?approval)\b")
ADDRESS: Final = sign(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|/runs/|\b(?:asset|action|run)[ _-]?id\b"
)
_POINTER: Final = sign(
    r"\b(?:draft|asset|action|run|staged|text|body|content)\b[^\n]{0,120}"
    r"\b(?:review|approval|stored|preview|ready|saved|created|staged)\b",
    r"\b(?:see|open|stored in|find) (?:it in )?(?:the )?(?:asset|run|action)\b",
)


_REFERENCE: Final = sign(
    r"\b(?:draft|post|e-?mail|text|copy)\b[^\n]{0,40}\bsee (?:the )?(?:asset|run|action|attachment)\b",
    r"^\W{0,3}see (?:the )?(?:asset|run|action) \S{1,60}$",
)
REFERENCE_WORDS: Final = 10
"""A reference of more words than these may be a sentence of a text."""


def data(page: Page) -> str | None:
    """JSON, or what a program prints in its place."""
    if _OBJECT.match(page.text):
        return page.text if page.text.endswith("}") else None
    return page.text if _LIST.match(page.text) and page.text.endswith(_LIST_ENDS) else None


def messages(page: Page) -> str | None:
    """A prompt as data: the messages of a chat with a model."""
    return page.text if data(page) and _MESSAGES.search(page.text, 0, 4_000) else None


def card(page: Page) -> str | None:
    """Nothing but fields, after a heading at most, and enough of them such as only a record has."""
    titled = len(page.lines) > 1 and page.fields[0] is None and is_title(page.lines[0])
    fields = page.fields[1:] if titled else page.fields
    if len(page.text) > len(page.head) or None in fields:
        return None
    sure = len({field.key for field in fields if field is not None and of_a_record(field)})
    if sure < 2 or sure < sum(of_a_brief(field) == 2 for field in fields):
        return None
    return page.text if sure * 3 >= len(fields) else None


def line_card(page: Page) -> str | None:
    """One line of facts, `LinkedIn post · 143 words · awaiting approval`, or a table with commas."""
    first = page.lines[0]
    if len(page.lines) > 1:
        columns = [column.strip().casefold() for column in first.split(",")]
        table = sum(column in RECORD_KEYS for column in columns) >= 2
        return first if table and all(line.count(",") == len(columns) - 1 for line in page.lines) else None
    if only_pairs(first) or _listed_fields(first):
        return first
    parts = [part.strip() for part in first.replace(" · ", " | ").split(" | ")]
    if len(parts) < 3:
        return None
    facts = sum(map(_is_fact, parts))
    return first if facts >= 2 and facts * 2 > len(parts) else None


def _listed_fields(line: str) -> bool:
    commas: list[Field] = []
    for part in line.split(", "):
        if (field := field_of(part)) is None:
            return False
        commas.append(field)
    return sum(map(of_a_record, commas)) >= 2


def _is_fact(part: str) -> bool:
    of_form = _COUNTED.fullmatch(part) or STATE.match(part) or MACHINE_VALUE.fullmatch(part)
    return of_form is not None or is_label(part)


def only_pairs(line: str) -> bool:
    """`channel=linkedin mode=context v3`: two pairs at least, and hardly anything else."""
    if line.count("=") < 2:
        return False
    words = line.replace("|", " ").split()
    pairs = sum(_PAIR.fullmatch(word) is not None for word in words)
    return pairs >= 2 and len(words) - pairs <= 2 and _RECORD_PAIR.search(line) is not None


def front_matter(page: Page) -> str | None:
    """Front matter with no sentence after it."""
    if not page.text.startswith("---\n"):
        return None
    inside, fence, rest = page.head[4:].partition("\n---")
    fields = Page(inside).fields
    if not fence or fields.count(None) * 3 > len(fields):
        return None
    after = Page(rest)
    return inside if not after.text or all(line.startswith("#") for line in after.lines) else None


def pointer(page: Page) -> str | None:
    """A note where the text can be found, in place of the text."""
    short = "see " in page.head.lower() and word_count(page.head) <= REFERENCE_WORDS
    if short and _REFERENCE.search(page.head):
        return page.text
    if not may_point(page.head) or word_count(page.head) > POINTER_WORDS:
        return None
    named = ADDRESS.search(page.head) and _POINTER.search(page.head)
    counted = _COUNTED.search(page.head) and WAITING.search(page.head)
    return page.text if named or counted else None


def may_point(text: str) -> bool:
    """Whether a text has what every address or every waiting has: quick to see, and most have not."""
    if not text.isascii():
        return True
    small = text.lower()
    named = "id" in small and any(noun in small for noun in ("asset", "action", "run"))
    addressed = named or "/runs/" in small or small.count("-") >= 4
    return addressed or "awaiting" in small or "ready for" in small
