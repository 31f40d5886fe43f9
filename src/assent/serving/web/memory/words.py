"""The words of the memory screens. Pure."""

from __future__ import annotations

from typing import Final

from assent.engine.learning import memory as brain
from assent.engine.learning.memory import Entry
from assent.engine.views.memory_views import USES_COUNTED, Uses
from assent.serving.web.review.words import Badge
from assent.serving.web.shell.problems import Link, PageProblem

GROUPS: Final = {
    "rules": ("Rules", "How your drafts sound, and the facts they may use."),
    "lessons": ("Lessons", "What you asked for with an edit, and what worked."),
    "decisions": ("Decisions", "What you approved, changed and rejected."),
}
KIND_NAMES: Final = {
    "brand_voice": "Voice",
    "voice_sample": "Voice sample",
    "repo_fact": "Fact",
    "proof": "Proof",
    "channel_performance": "Result",
    "claim_risk": "Never claim",
    "lesson": "Lesson",
    "approval": "Approved",
    "rejection": "Rejected",
    "edit": "Edited",
}
STATE_BADGES: Final = {
    "confirmed": Badge("In use", "ok"),
    "proposed": Badge("Not confirmed", "warn"),
    "retired": Badge("Not used"),
}
WRITTEN_HINTS: Final = {
    "brand_voice": "Every draft follows it: “Short sentences, no exclamation marks.”",
    "repo_fact": "Drafts may quote it: “The roastery opened in 2014.”",
    "proof": "Drafts may use it as evidence: “1,400 people joined in a month.”",
    "claim_risk": "Drafts leave it out: “the best coffee in Oslo”.",
    "lesson": "Later drafts are reminded of it: “Say the price in the first line.”",
}
"""The kinds that a person writes, with an example."""

UNCONFIRMED_FACT: Final = "Your agent recorded this. Drafts use it once you confirm it."
FOUND_CLAIM: Final = "A check of a draft found this claim, and nothing supported it. It changes no draft."

TEXT_ADVICE: Final = "Write a sentence of at most 2,000 characters."
KNOWN_ADVICE: Final = "This is remembered already, in the same words."

NO_SUCH_ENTRY: Final = PageProblem(
    404,
    "There is no such memory",
    "It is not in the workspace you look at, or it cannot be changed.",
    "Look for it in the list.",
    Link("/memory", "All memories"),
)


def note_about(entry: Entry) -> str:
    if entry.facts.get(brain.LOGGED):
        return FOUND_CLAIM
    if entry.state == "proposed" and entry.kind in brain.FACTS:
        return UNCONFIRMED_FACT
    return ""


def describe_source(entry: Entry) -> str:
    """Where a memory comes from, in words."""
    source = entry.source
    if source.startswith("asked with an edit"):
        by = entry.facts.get("by")
        return f"learned when {by} edited a draft" if by else "learned from an edit"
    if source.startswith("decision via"):
        by = entry.facts.get("by")
        return f"decided by {by}" if by else "a decision"
    return source if source.startswith(("written", "rewritten", "recorded")) else f"from {source}"


def describe_uses(uses: Uses | None) -> str:
    """How often a memory changed a draft, and what became of those drafts."""
    if uses is None:
        return ""
    if not uses.drafts:
        return "Not used in a draft yet"
    number = f"{uses.drafts:,} or more" if uses.drafts >= USES_COUNTED else f"{uses.drafts:,}"
    said = f"Used in {number} {'draft' if uses.drafts == 1 else 'drafts'}"
    parts = (
        (uses.unchanged, "approved unchanged"),
        (uses.changed, "approved after a change"),
        (uses.rejected, "rejected"),
    )
    outcome = ", ".join(f"{count:,} {word}" for count, word in parts if count)
    return f"{said}: {outcome}" if outcome else said


# screens.py
LATER_DRAFTS_USE: Final = "Later drafts use it from then on."
CONFIRM_THIS: Final = "Confirm this?"
CONFIRM_IT: Final = "Confirm it"
UNTIL_NOW: Final = "Until now"
FROM_NOW_ON: Final = "From now on"
REMEMBER_THIS: Final = "Remember this?"
REPLACE_THESE_WORDS: Final = "Replace these words?"
LATER_DRAFTS_FOLLOW: Final = "Later drafts follow it from then on."
REMEMBER_IT: Final = "Remember it"
