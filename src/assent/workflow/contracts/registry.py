"""The registry of output contracts: schema and example by name. Every example passes its own
contract.

A workflow names a contract, or writes its own into the step. A contract is copied into the program,
so a run keeps the one it started with. An unknown name is no error: any object with a `kind` passes
then.
"""

from __future__ import annotations

from typing import Final

from assent.workflow.contracts.handoff import HANDOFFS, Entry, open_ended, require_kind
from assent.workflow.definition.format import listing, record, text
from assent.workflow.program import Contract

_LOCATION: Final = record("file", file=text(1, 1_024), line={"type": "integer", "minimum": 1})
_FINDING: Final = open_ended(
    record(
        "severity title",
        severity={"enum": ["Critical", "Major", "Minor", "Nit"]},
        location=_LOCATION,
        title=text(1, 500),
        rationale=text(0, 8_000),
        suggestion=text(0, 8_000),
    )
)
_COMMENT: Final = open_ended(record("body", location=_LOCATION, title=text(0, 500), body=text(1, 16_000)))

_ENTRIES: Final[dict[str, Entry]] = {
    "mr_review.phase_0_triage": (
        "mr_review.phase_0_triage",
        open_ended(
            record(
                "kind review",
                kind=require_kind("mr_review.phase_0_triage"),
                review=open_ended(
                    record(
                        "mrTitle classification",
                        mrTitle=text(1, 500),
                        classification=text(1, 100),
                        focusAreas=listing(text(1, 200), maxItems=50),
                    )
                ),
                revisionLogEntry=text(0, 2_000),
            )
        ),
        {
            "review": {
                "mrTitle": "fix(cache): expire entries by write time",
                "classification": "Standard",
                "focusAreas": ["correctness under concurrency", "migration of stored entries"],
            },
            "revisionLogEntry": "Triage done: standard review with two focus areas.",
        },
    ),
    "mr_review.changed_files": (
        "mr_review.changed_files",
        open_ended(
            record(
                "kind changedFiles",
                kind=require_kind("mr_review.changed_files"),
                changedFiles=listing(
                    open_ended(
                        record(
                            "path summary",
                            path=text(1, 1_024),
                            summary=text(0, 2_000),
                            risk={
                                "enum": ["L", "M", "H"],
                                "hint": "L, M or H for low, medium and high risk.",
                            },
                        )
                    ),
                    maxItems=2_000,
                ),
                revisionLogEntry=text(0, 2_000),
            )
        ),
        {"changedFiles": [{"path": "src/cache.py", "summary": "Expiry counts from the write", "risk": "M"}]},
    ),
    "mr_review.findings": (
        "mr_review.findings",
        open_ended(
            record(
                "kind findings",
                kind=require_kind("mr_review.findings"),
                findings=listing(_FINDING, maxItems=500),
                mrComments=listing(_COMMENT, maxItems=500),
                revisionLogEntry=text(0, 2_000),
            )
        ),
        {
            "findings": [
                {
                    "severity": "Major",
                    "location": {"file": "src/cache.py", "line": 42},
                    "title": "A read refreshes the expiry",
                    "rationale": "Entries that are read often never expire, so stale prices stay visible.",
                    "suggestion": "Set the expiry only where the entry is written.",
                }
            ],
            "mrComments": [
                {
                    "location": {"file": "src/cache.py", "line": 42},
                    "title": "Expiry moves on every read",
                    "body": "get() extends the expiry, so a hot key never expires. Please set it in put() only.",
                }
            ],
        },
    ),
    "wr.contracts.loop_control": (
        "wr.loop_control",
        open_ended(
            record(
                "kind decision",
                kind=require_kind("wr.loop_control"),
                loopId=text(1, 200, pattern="^[A-Za-z0-9_.-]+$"),
                decision={
                    "enum": ["continue", "stop"],
                    "hint": "Say continue for one more pass, stop to leave the loop.",
                },
                metadata={"type": "object"},
            )
        ),
        {"decision": "stop", "metadata": {"reason": "Nothing is left to do in this loop."}},
    ),
    "wr.contracts.assessment": (
        "wr.assessment",
        open_ended(
            record(
                "kind dimensions",
                kind=require_kind("wr.assessment"),
                assessmentId=text(1, 128),
                dimensions={"type": "object", "minProperties": 1},
                summary=text(0, 4_000),
            )
        ),
        {"dimensions": {"confidence": {"level": "high", "rationale": "Every claim was checked."}}},
    ),
    **HANDOFFS,
}


def name_kind(ref: str) -> str:
    """Return the kind of an unknown contract: `wr.contracts.report` requires a `wr.report`."""
    return ref.replace(".contracts.", ".", 1)


def _contract(ref: str) -> Contract:
    kind, schema, body = _ENTRIES[ref]
    return Contract(ref=ref, kind=kind, schema=schema, example={"kind": kind, **body})


REGISTRY: Final[dict[str, Contract]] = {ref: _contract(ref) for ref in _ENTRIES}
