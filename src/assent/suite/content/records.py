"""The results of drafting: a draft with its claims, or a request for a draft. Values only."""

from __future__ import annotations

from typing import Final

from assent.platform.values import WireRecord
from assent.suite.content.claims import Claim

COMPOSER: Final = "composer"
SUPPLIED: Final = "supplied"
"""Who wrote a draft. Any other value names a model."""


class MemoryUse(WireRecord):
    """A brain entry that shaped a draft, and a sentence that says how."""

    entry_id: str
    how: str


class Composed(WireRecord, kw_only=True):
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
    """What the channel would refuse; also in the warnings. Empty for the composer."""
    memory_used: tuple[MemoryUse, ...] = ()
    language: str = "und"
    source: str = COMPOSER


class NeedsDraft(WireRecord):
    """The composer cannot write this draft: the reason, and the required form of a draft."""

    channel: str
    reason: str
    wanted: str


class Statement(WireRecord):
    """A line of the launch pack with the facts behind it."""

    text: str
    claims: tuple[Claim, ...] = ()
