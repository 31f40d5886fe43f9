"""How a draft begins: by the angle that worked before, in a fitting tone, and unlike a beginning that was rejected."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from assent.drafting.blocks import Block, Claimed, Opened, joined
from assent.drafting.lessons import first_sentence
from assent.drafting.lines import ALIKE, Lines, places
from assent.drafting.phrases import Opening
from assent.drafting.voice import forbids


def opening(lines: Lines, fits: Callable[[str], bool]) -> Opened | None:
    """The first paragraphs, or None when there is nothing to begin with."""
    found = [(row, blocks) for row in _ranked(lines) if (blocks := _rendered(lines, row)) is not None]
    if not found:
        return None
    fitting = [each for each in found if fits(joined(each[1]))] or found
    avoided: list[str] = []
    best, least, alike = fitting[0], 2.0, True
    for each in fitting:
        likeness, entry = lines.likeness(first_sentence(joined(each[1])))
        if likeness < ALIKE:
            best, alike = each, False
            break
        avoided.append(entry)
        if likeness < least:
            best, least = each, likeness
    row, blocks = best
    return Opened(tuple(blocks), row.id, row.angle, tuple(dict.fromkeys(avoided)), alike)


def named_in(lines: Lines, opened: Opened) -> list[str]:
    """The statements that a beginning has made."""
    row = next(each for each in lines.phrases.openings if each.id == opened.opening)
    sayings = [lines.saying(name) for name in _names(row)]
    return [saying.text for saying in sayings if saying is not None]


def _ranked(lines: Lines) -> list[Opening]:
    """Every beginning that may be tried: the preferred angle, then the usual ones, then any."""
    voice = lines.voice
    preferred = next((rule.value for rule in lines.rules if rule.kind == "angle"), None)
    usual = ("change",) if lines.material.changes else ("value", "audience")
    toned = "formal" if voice.formal else "playful" if voice.playful else "any"
    rows = [row for row in lines.phrases.openings if row.tone in ("any", toned)]

    added = bool(lines.value("object"))

    def rank(row: Opening) -> tuple[int, bool, bool, bool, bytes]:
        order = 3
        if row.angle == preferred:
            order = 0
        elif row.angle in usual:
            order = 1
        elif row.angle in ("value", "change"):
            order = 2
        plain, other_tone = row.id.startswith("plain-"), toned != "any" and row.tone == "any"
        # What was added reads better as a thing than as a sentence about adding it.
        clumsy = added and row.angle == "change" and "object" not in _names(row)
        return (
            order,
            plain,
            clumsy,
            other_tone,
            blake2b(row.id.encode(), key=lines.seed, digest_size=8).digest(),
        )

    return sorted(rows, key=rank)


def _rendered(lines: Lines, row: Opening) -> list[Block] | None:
    names = _names(row)
    if any(not lines.value(name) for name in names):
        return None
    if "object" in names and len(lines.value("object").split()) > row.most_words:
        return None
    if "name" in names and "value" in names and lines.value("value").startswith(lines.value("name")):
        return None
    blocks = []
    for number, paragraph in enumerate(row.paragraphs):
        claims, texts = [], []
        for sentence in paragraph:
            inside = places(sentence)
            text = lines.say(sentence, **{name: lines.value(name) for name in inside})
            texts.append(text)
            if any(name not in ("name", "We") for name in inside) and (facts := lines.facts(inside)):
                claims.append(Claimed(text, facts))
        kind = "opening-more" if number else "opening"
        blocks.append(Block(kind, lines.joint.join(texts), tuple(claims)))
    return None if any(forbids(lines.voice, block.text) for block in blocks) else blocks


def _names(row: Opening) -> list[str]:
    return [name for paragraph in row.paragraphs for sentence in paragraph for name in places(sentence)]
