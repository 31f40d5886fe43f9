"""Splits a text into numbered posts within a limit: between paragraphs, else lines, sentences,
words.

A text that its author numbered keeps its division.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import msgspec

from assent import Effect
from assent.platform import Problem, sentences
from assent.sdk import Reason, Refusal
from assent_launch.channels.channel import Channel, check, title_problems
from assent_launch.content.counting import Count, addresses, clusters

MARKER: Final = "\n\n{number}/{total}"
MARKER_ROOM: Final = 7
"""Room for a blank line and two two-digit numbers."""
MOST_PARTS: Final = 25
UNSPACED_FROM: Final = 0x2E7F
"""The first code point of the scripts without spaces between sentences."""

_NUMBERED: Final = re.compile(
    r"^\s*\(?(\d{1,2})\s?[/.)](?:\s?\d{1,2}\)?|\s|$)|(?:^|\s)\(?(\d{1,2})/(?:\d{1,2}|n)?\)?\s*$"
)

_WORD: Final = re.compile(r"[^\s、，。]+[、，。]?\s*|[、，。\s]+")


def split(text: str, most: int, count: Count) -> tuple[str, ...]:
    """Return the posts of a thread; one post if it fits, or is too long for any thread."""
    text = text.strip()
    length = count(text)
    if length <= most or length > most * MOST_PARTS:
        return (text,)
    if own := _as_numbered(text, most, count):
        return own
    room = most - MARKER_ROOM
    parts: list[str] = []
    held = ""
    for joint, piece in _pieces(text, room, count):
        if joint == " " and ord(piece[0]) > UNSPACED_FROM:
            joint = ""
        longer = f"{held}{joint}{piece}" if held else piece
        if count(longer) <= room:
            held = longer
        else:
            if held:
                parts.append(held)
            held = piece
    parts.append(held)
    total = len(parts)
    return tuple(part + MARKER.format(number=number, total=total) for number, part in enumerate(parts, 1))


def _as_numbered(text: str, most: int, count: Count) -> tuple[str, ...]:
    blocks = [block.strip() for block in re.split(r"\n\s*\n|\n-{3,}\n", text) if block.strip()]
    if len(blocks) < 2 or any(count(block) > most for block in blocks):
        return ()
    for place, block in enumerate(blocks, 1):
        lines = block.splitlines()
        numbers = [
            int(found.group(1) or found.group(2))
            for line in (lines[0], lines[-1])
            if (found := _NUMBERED.search(line))
        ]
        if place not in numbers:
            return ()
    return tuple(blocks)


def _pieces(text: str, room: int, count: Count) -> Iterator[tuple[str, str]]:
    """Yield pieces that fit into a post, each with the separator before it."""
    for paragraph in re.split(r"\n\s*\n", text):
        joint = "\n\n"
        if count(paragraph) <= room:
            yield joint, paragraph.strip()
            continue
        for line in paragraph.splitlines():
            if count(line) <= room:
                yield joint, line.strip()
                joint = "\n"
                continue
            for sentence in sentences(line):
                for inner, piece in _split_sentence(sentence, room, count):
                    yield inner or joint, piece
                joint = " "
            joint = "\n"


def _split_sentence(sentence: str, room: int, count: Count) -> Iterator[tuple[str, str]]:
    """Split a sentence into pieces that fit: between words, or inside a word that is too long. URLs
    that fit stay whole."""
    if count(sentence) <= room:
        yield "", sentence
        return
    joint = held = ""
    for word in _words(sentence):
        longer = held + word
        if count(longer.strip()) <= room:
            held = longer
            continue
        if held.strip():
            yield joint, held.strip()
            joint, held = " ", ""
        if count(word.strip()) <= room:
            held = word
            continue
        *full, held = _slices(word, room, count)
        for piece in full:
            yield joint, piece
            joint = " "
    if held.strip():
        yield joint, held.strip()


def _slices(word: str, room: int, count: Count) -> list[str]:
    left, found = list(clusters(word)), []
    while left:
        # Every character counts at least one, so at most `room` of them fit.
        low, high = 1, min(room, len(left))
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if count("".join(left[:middle])) <= room else (low, middle - 1)
        found.append("".join(left[:low]))
        left = left[low:]
    return found


def _words(sentence: str) -> list[str]:
    """Split into words with trailing space, after punctuation in scripts without spaces."""
    found, at = [], 0
    for start, end in addresses(sentence):
        found += _WORD.findall(sentence[at:start])
        found.append(sentence[start:end])
        at = end
    return found + _WORD.findall(sentence[at:])


# Edits: an edited text keeps the limits of its channel, and a thread is divided again.

_MARKERS: Final = re.compile(r"\n\n\d{1,2}/\d{1,2}(?=\n\n|\Z)")
"""The numbering of the posts of a thread."""


def fit_edit(row: Channel | None, before: Effect, effect: Effect) -> Effect:
    """Return the edited effect as its channel takes it. Raises `Refusal` if it does not fit."""
    texts = ("body", "title", "subject")
    changed = any(getattr(before, name) != getattr(effect, name) for name in texts)
    return fit_to_channel(row, effect) if changed and row is not None else effect


def fit_to_channel(row: Channel, effect: Effect) -> Effect:
    """Enforce the channel's limits on an edited text. A thread is divided again."""
    body = _MARKERS.sub("", effect.body) if "thread" in effect.details else effect.body
    parts, wrong = _divide(row, body, effect.subject or effect.title, effect.preheader)
    if wrong:
        headline = "subject" if row.shape == "email" else "title"
        of_headline = title_problems(row, effect.subject or effect.title)
        raise Refusal(
            Reason.VALIDATION_ERROR,
            problems=[
                Problem(headline if problem in of_headline else "body", problem, "the text as it is")
                for problem in wrong
            ],
        )
    details = {name: value for name, value in effect.details.items() if name != "thread"}
    if len(parts) > 1:
        body, details = "\n\n".join(parts), {**details, "thread": list(parts)}
    return msgspec.structs.replace(effect, body=body, details=details)


@lru_cache(maxsize=64)
def _divide(row: Channel, body: str, title: str, preheader: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the posts of a thread, if the channel has threads, and the problems of the text."""
    parts = split(body, row.body.most, row.body.count) if row.splits else ()
    return parts, check(row, body, title=title, preheader=preheader, parts=parts).problems
