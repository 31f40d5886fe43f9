"""What the brain gives to a prepare: entries as evidence, and what earlier decisions and numbers taught (E33)."""

from __future__ import annotations

from assent.drafting.evidence import MemoryEntry
from assent.drafting.lessons import Edit, Lessons, Performance, RefusedClaim, Rejection
from assent.engine import brain
from assent.engine.brain import Entry
from assent.kernel.ids import WorkspaceId
from assent.lifecycle.measurement import ATTENTION, RESPONSE
from assent.ports import Transaction

MOST = 50
AS_EVIDENCE = ("brand_voice", "voice_sample", "repo_fact", "proof", "lesson")


def recollect(
    workspace_id: WorkspaceId, tenant_id: str
) -> Transaction[tuple[tuple[MemoryEntry, ...], Lessons, dict[str, str]]]:
    """A tenant's memory, oldest first within each sort; and of what sort each entry is."""
    found: dict[str, list[Entry]] = {}
    for kind in (*AS_EVIDENCE, "rejection", "edit", "channel_performance", "claim_risk"):
        newest_first = yield from brain.read(workspace_id, tenant_id, kind=kind, most=MOST)
        found[kind] = newest_first[::-1]
    entries = tuple(
        MemoryEntry(entry_id=entry.entry_id, kind=kind, text=entry.body)
        for kind in AS_EVIDENCE
        for entry in found[kind]
    )
    kinds = {entry.entry_id: kind for kind, kept in found.items() for entry in kept}
    lessons = Lessons(
        rejections=tuple(
            Rejection(
                entry_id=entry.entry_id,
                text=entry.facts.get("text", ""),
                reason=entry.facts.get("reason", ""),
                channel=entry.channel or "",
            )
            for entry in found["rejection"]
        ),
        edits=tuple(
            Edit(
                entry_id=entry.entry_id,
                before=entry.facts.get("before", ""),
                after=entry.facts.get("text", ""),
                channel=entry.channel or "",
            )
            for entry in found["edit"]
        ),
        performance=tuple(
            Performance(
                entry_id=entry.entry_id,
                channel=entry.channel or "",
                angle=entry.facts.get("angle", ""),
                metric=metric,
                value=value,
            )
            for entry in found["channel_performance"]
            for metric, value in entry.facts.get("metrics", {}).items()
            if metric in (*ATTENTION, *RESPONSE)
        ),
        refused_claims=tuple(
            RefusedClaim(entry_id=entry.entry_id, text=entry.body)
            for entry in found["claim_risk"]
            if not entry.facts.get("logged")  # the log of what was found risky; nobody has refused it
        ),
    )
    return entries, lessons, kinds
