"""Decides whether a text that a human is asked to approve is the text itself (E18, E19, E48).

The approval-theater rule: a person who approves a drafting brief, a prompt, a frame around a draft, a card of metadata
or a template with open places has approved nothing that anybody will read. `theater_in` says so when an action is
staged. It is as wrong to refuse a good text as to let such a one pass, so a sign counts by where it stands and by what
stands beside it: a brief opens with its task, its fields or its role, while a post about briefs opens with a sentence
of its author. Code and quotations count only when there is nothing else.

Deliberately unaware of channels and their limits, of whether the text is good or true, and of who wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from assent.lifecycle.theater import briefs, cards, frames, prompts, slots
from assent.lifecycle.theater.page import Page, plain, says_something

Kind = Literal["empty", "brief", "prompt", "frame", "metadata_card", "placeholder"]

WHY: Final[dict[Kind, str]] = {
    "empty": "The body has no text that a human could read; stage the finished text.",
    "brief": "The body describes a text that is still to be written; write it and stage the finished text.",
    "prompt": "The body is an instruction to a writer or a model, not the text; follow it and stage what comes out.",
    "frame": "The body has a wrapper around the text that would be published with it; stage the text alone.",
    "metadata_card": "The body lists facts about a text instead of the text; stage the text itself.",
    "placeholder": "The body has a place that was left open; fill it in or take it out, then stage it again.",
}
EXCERPT_CHARS: Final = 120
SHORT_CHARS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a body cannot be staged, in a sentence for the agent, and the passage that shows it."""

    kind: Kind
    why: str
    excerpt: str


def theater_in(body: str) -> Finding | None:
    """What is wrong with asking a human to approve this; None for a text. Linear in the length of the body. A long one
    is judged once: a transaction finds what was judged before it."""
    return _judge(body) if len(body) <= SHORT_CHARS else _judge_once(body)


def _judge(body: str) -> Finding | None:
    if not says_something(plain(body)):
        return _finding("empty", body)
    page = Page(body)
    for kind, look in LOOKS:
        if (passage := look(page)) is not None:
            return _finding(kind, passage)
    return None


_judge_once: Final = lru_cache(maxsize=64)(_judge)

LOOKS: Final[tuple[tuple[Kind, Callable[[Page], str | None]], ...]] = (
    ("prompt", cards.messages),
    ("metadata_card", cards.data),
    ("prompt", prompts.chat),
    ("prompt", prompts.sections),
    ("metadata_card", cards.front_matter),
    ("metadata_card", cards.card),
    ("metadata_card", cards.line_card),
    ("metadata_card", cards.pointer),
    ("frame", frames.wrapper),
    ("placeholder", slots.nothing_yet),
    ("placeholder", slots.open_place),
    ("prompt", prompts.labelled),
    ("prompt", prompts.orders),
    ("brief", briefs.heading),
    ("brief", briefs.form),
    ("brief", briefs.notes),
    ("brief", briefs.described),
    ("frame", frames.leading_fields),
    ("frame", frames.label),
)
"""What is looked for, the surer sign first and labels last, since a brief may have one. Each gives its passage."""


def _finding(kind: Kind, passage: str) -> Finding:
    printable = "".join(char if char.isprintable() else " " for char in passage[: EXCERPT_CHARS * 4])
    excerpt = " ".join(printable.split())
    if len(excerpt) > EXCERPT_CHARS:
        excerpt = excerpt[: EXCERPT_CHARS - 1] + "…"
    return Finding(kind, WHY[kind], excerpt)


_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def is_one_line(text: str) -> bool:
    """Whether a text can be a header or a headline."""
    return _CONTROL.search(text) is None


_ENCODED_WORD: Final = re.compile(r"=\?[^?]*\?[bq]\?", re.IGNORECASE)


def has_encoded_word(text: str) -> bool:
    """Whether mail programs would show something else than these characters (RFC 2047)."""
    return _ENCODED_WORD.search(text) is not None
