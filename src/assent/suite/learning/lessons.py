"""Reads a tenant's memory for a prepare: entries as evidence, and the lessons of earlier decisions
(E33).

An entry that an agent recorded is proposed until a person confirms it. Proposed facts and proofs
are no evidence: a draft that quoted them would prove itself. A proposed lesson is a reminder and
leaves nothing out; a proposed claim does nothing. A voice states nothing about the product and
holds at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from assent.platform.memory import Entry
from assent.platform.memory import memory as brain
from assent.platform.storage import Transaction
from assent.platform.values import WorkspaceId
from assent.suite.content.evidence import MemoryEntry
from assent.suite.content.lessons import (
    Asked,
    Lessons,
    MeasuredResult,
    RefusedClaim,
    Rejection,
    is_about_writing,
)

MOST = 50
AS_EVIDENCE = ("brand_voice", "voice_sample", *brain.FACTS)
READ = (*AS_EVIDENCE, "lesson", "rejection", "claim_risk", "channel_performance")


def load_lessons(
    workspace_id: WorkspaceId, tenant_id: str
) -> Transaction[tuple[tuple[MemoryEntry, ...], Lessons, dict[str, str]]]:
    """Return a tenant's memory as evidence and as lessons, and the kind of each entry."""
    found = yield from brain.read_usable(workspace_id, tenant_id, READ, MOST)
    return as_evidence(found), as_lessons(found), {entry.entry_id: entry.kind for entry in found}


def as_evidence(found: Iterable[Entry]) -> tuple[MemoryEntry, ...]:
    """Return the entries that a draft may quote or follow as voice."""
    return tuple(
        MemoryEntry(entry_id=entry.entry_id, kind=entry.kind, text=entry.body)
        for entry in found
        if entry.kind in AS_EVIDENCE and (entry.kind not in brain.FACTS or entry.state == "confirmed")
    )


def as_lessons(found: Iterable[Entry]) -> Lessons:
    """Return the lessons of the entries, oldest first. Approvals and edits are no lessons."""
    of: dict[str, list[Entry]] = {}
    for entry in found:
        of.setdefault(entry.kind, []).append(entry)
    return Lessons(
        rejections=tuple(
            Rejection(entry_id=entry.entry_id, reason=entry.facts.get("reason", ""))
            for entry in of.get("rejection", ())
        ),
        asked=tuple(
            Asked(entry_id=entry.entry_id, text=entry.body, confirmed=entry.state == "confirmed")
            for entry in of.get("lesson", ())
            if entry.facts.get(brain.ASKED) or is_about_writing(entry.body)
        ),
        refused_claims=tuple(
            RefusedClaim(entry_id=entry.entry_id, text=entry.body)
            for entry in of.get("claim_risk", ())
            if entry.state == "confirmed" and not entry.facts.get(brain.LOGGED)
        ),
        results=tuple(
            MeasuredResult(entry_id=entry.entry_id, channel=entry.channel or "", text=entry.body)
            for entry in of.get("channel_performance", ())
            if entry.state == "confirmed"
        ),
    )
