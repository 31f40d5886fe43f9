"""Reads a tenant's memory for a prepare: entries as evidence, and the lessons of earlier decisions (E33).

An entry that an agent recorded is proposed until a person confirms it. Proposed facts and proofs are no evidence: a
draft that quoted them would prove itself. Voice and lessons state nothing about the product and hold at once.
"""

from __future__ import annotations

from assent.drafting.evidence import MemoryEntry
from assent.drafting.lessons import Asked, Lessons, RefusedClaim, Rejection, teaches
from assent.engine import brain
from assent.engine.brain import Entry
from assent.kernel.ids import WorkspaceId
from assent.ports import Transaction

MOST = 50
FACTS = ("repo_fact", "proof")
AS_EVIDENCE = ("brand_voice", "voice_sample", *FACTS)
READ = (*AS_EVIDENCE, "lesson", "rejection", "claim_risk")


def recollect(
    workspace_id: WorkspaceId, tenant_id: str
) -> Transaction[tuple[tuple[MemoryEntry, ...], Lessons, dict[str, str]]]:
    """A tenant's memory, oldest first within each kind, and the kind of each entry."""
    found: dict[str, list[Entry]] = {}
    for kind in READ:
        newest_first = yield from brain.read(workspace_id, tenant_id, kind=kind, most=MOST)
        found[kind] = newest_first[::-1]
    entries = tuple(
        MemoryEntry(entry_id=entry.entry_id, kind=kind, text=entry.body)
        for kind in AS_EVIDENCE
        for entry in found[kind]
        if kind not in FACTS or entry.state == "confirmed"
    )
    kinds = {entry.entry_id: kind for kind, kept in found.items() for entry in kept}
    lessons = Lessons(
        rejections=tuple(
            Rejection(entry_id=entry.entry_id, reason=entry.facts.get("reason", ""))
            for entry in found["rejection"]
        ),
        asked=tuple(
            Asked(entry_id=entry.entry_id, text=entry.body)
            for entry in found["lesson"]
            if entry.facts.get(brain.ASKED) or teaches(entry.body)
        ),
        refused_claims=tuple(
            RefusedClaim(entry_id=entry.entry_id, text=entry.body)
            for entry in found["claim_risk"]
            if not entry.facts.get(brain.LOGGED)
        ),
    )
    return entries, lessons, kinds
