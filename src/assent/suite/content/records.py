"""What drafting gives out: a draft with its claims, or what to ask for instead. Values only."""

from __future__ import annotations

from typing import Final

import msgspec

from assent.suite.content.claims import Claim

COMPOSER: Final = "composer"
SUPPLIED: Final = "supplied"
"""Who wrote a draft; else a model."""


class MemoryUse(msgspec.Struct, frozen=True, rename="camel"):
    """A brain entry that shaped a draft, and how, in a sentence."""

    entry_id: str
    how: str


class Composed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A draft, what it claims and what to say about it."""

    channel: str
    body: str
    title: str = ""
    subject: str = ""
    preheader: str = ""
    html: str = ""
    parts: tuple[str, ...] = ()
    """The posts of a thread; empty when it is one post. The body has them all."""
    claims: tuple[Claim, ...] = ()
    warnings: tuple[str, ...] = ()
    """For the preflight: what the channel would refuse, risky claims, what memory speaks against."""
    recommendations: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What the channel would refuse; also among the warnings. Empty for everything the composer wrote."""
    memory_used: tuple[MemoryUse, ...] = ()
    language: str = "und"
    source: str = COMPOSER


class NeedsDraft(msgspec.Struct, frozen=True, rename="camel"):
    """The composer does not write this: why, and what a draft has to look like."""

    channel: str
    reason: str
    wanted: str


class Statement(msgspec.Struct, frozen=True, rename="camel"):
    """A line of the launch pack with what it rests on."""

    text: str
    claims: tuple[Claim, ...] = ()
