"""What writers get and return, and a checked draft with its claims. Values only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from assent.sdk import Record, WireRecord
from assent_launch.channels.channel import Channel
from assent_launch.content.claims import Claim
from assent_launch.content.evidence import Evidence
from assent_launch.content.lessons import NOTHING_LEARNED, Lessons

NOTE: Final = "note"
MODEL: Final = "model"
SUPPLIED: Final = "supplied"
"""Who wrote a draft: this server, a model, or the calling agent."""


class MemoryUse(WireRecord):
    """A brain entry that shaped a draft, and a sentence that says how."""

    entry_id: str
    how: str


class ProductFacts(Record):
    """What a writer may say: the evidence, and what people asked for before."""

    evidence: Evidence
    lessons: Lessons = NOTHING_LEARNED


class Written(Record, kw_only=True):
    """A text as its writer returns it; `adapt` checks it like any other."""

    body: str
    title: str = ""
    preheader: str = ""
    source: str = NOTE
    left_out: tuple[MemoryUse, ...] = ()
    """The brain entries because of which something is not said."""
    warnings: tuple[str, ...] = ()


Write = Callable[[ProductFacts, Channel, str], Awaitable[Written | None]]
"""Writes a text from facts for a channel and a goal; None if the facts do not suffice."""


class CheckedText(WireRecord, kw_only=True):
    """A draft with its claims, warnings and recommendations."""

    channel: str
    body: str
    title: str = ""
    subject: str = ""
    preheader: str = ""
    html: str = ""
    parts: tuple[str, ...] = ()
    """The posts of a thread; empty for a single post. The body contains them all."""
    claims: tuple[Claim, ...] = ()
    warnings: tuple[str, ...] = ()
    """Preflight warnings: channel problems, risky claims, conflicts with memory."""
    recommendations: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What the channel would refuse; also in the warnings."""
    memory_used: tuple[MemoryUse, ...] = ()
    language: str = "und"
    source: str = SUPPLIED
