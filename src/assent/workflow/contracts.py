"""The registry of output contracts: schema and example by name. Every example passes its own contract.

A workflow names a contract, or writes its own into the step. A contract is copied into the program, so a run keeps the
one it started with. An unknown name is no error: any object with a `kind` passes then.
"""

from __future__ import annotations

from typing import Any, Final

from assent.workflow.format import listing, record, text
from assent.workflow.program import Contract
from assent.workflow.shapes import Shape

_LINE: Final = text(1, 2_000)
_LINES: Final = listing(_LINE, unique=False, maxItems=200)
_BAND: Final[Shape] = {"enum": ["high", "medium", "low"]}
_VERSION: Final[Shape] = {"const": 1}


def _open(shape: Shape) -> Shape:
    """The same shape, with room for fields it does not name."""
    return {**shape, "additionalProperties": True}


def _kind(kind: str) -> Shape:
    return {"const": kind, "hint": f'The kind is "{kind}".'}


_LOCATION: Final = record("file", file=text(1, 1_024), line={"type": "integer", "minimum": 1})
_FINDING: Final = _open(
    record(
        "severity title",
        severity={"enum": ["Critical", "Major", "Minor", "Nit"]},
        location=_LOCATION,
        title=text(1, 500),
        rationale=text(0, 8_000),
        suggestion=text(0, 8_000),
    )
)
_COMMENT: Final = _open(record("body", location=_LOCATION, title=text(0, 500), body=text(1, 16_000)))
_HANDOFF_PATHS: Final = listing(_open(record("path", path=_LINE, relevance=text(0, 2_000))), unique=False)

_ENTRIES: Final[dict[str, tuple[str, Shape, dict[str, Any]]]] = {
    "mr_review.phase_0_triage": (
        "mr_review.phase_0_triage",
        _open(
            record(
                "kind review",
                kind=_kind("mr_review.phase_0_triage"),
                review=_open(
                    record(
                        "mrTitle classification",
                        mrTitle=text(1, 500),
                        classification=text(1, 100),
                        focusAreas=listing(text(1, 200), unique=False, maxItems=50),
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
        _open(
            record(
                "kind changedFiles",
                kind=_kind("mr_review.changed_files"),
                changedFiles=listing(
                    _open(
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
                    unique=False,
                    maxItems=2_000,
                ),
                revisionLogEntry=text(0, 2_000),
            )
        ),
        {"changedFiles": [{"path": "src/cache.py", "summary": "Expiry counts from the write", "risk": "M"}]},
    ),
    "mr_review.findings": (
        "mr_review.findings",
        _open(
            record(
                "kind findings",
                kind=_kind("mr_review.findings"),
                findings=listing(_FINDING, unique=False, maxItems=500),
                mrComments=listing(_COMMENT, unique=False, maxItems=500),
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
        _open(
            record(
                "kind decision",
                kind=_kind("wr.loop_control"),
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
        _open(
            record(
                "kind dimensions",
                kind=_kind("wr.assessment"),
                assessmentId=text(1, 128),
                dimensions={"type": "object", "minProperties": 1},
                summary=text(0, 4_000),
            )
        ),
        {"dimensions": {"confidence": {"level": "high", "rationale": "Every claim was checked."}}},
    ),
    "wr.contracts.review_verdict": (
        "wr.review_verdict",
        _open(
            record(
                "kind verdict confidence findings summary",
                kind=_kind("wr.review_verdict"),
                verdict={"enum": ["clean", "minor", "blocking"]},
                confidence=_BAND,
                findings=listing(
                    _open(
                        record(
                            "severity summary",
                            severity={"enum": ["critical", "major", "minor", "nit"]},
                            summary=_LINE,
                            findingCategory=text(1, 100),
                            file=text(0, 1_024),
                            startLine={"type": "integer", "minimum": 0},
                            endLine={"type": "integer", "minimum": 0},
                            causalLink=text(0, 4_000),
                            remediation=text(0, 4_000),
                        )
                    ),
                    unique=False,
                    maxItems=500,
                ),
                summary=_LINE,
            )
        ),
        {"verdict": "clean", "confidence": "high", "findings": [], "summary": "No blocking issue was found."},
    ),
    "wr.contracts.discovery_handoff": (
        "wr.discovery_handoff",
        _open(
            record(
                "kind selectedDirection confidenceBand",
                kind=_kind("wr.discovery_handoff"),
                version=_VERSION,
                selectedDirection=_LINE,
                designDocPath=text(0, 1_024),
                confidenceBand=_BAND,
                selectionTier={
                    "enum": ["strong_recommendation", "provisional_recommendation", "insufficient_signal"]
                },
                keyInvariants=_LINES,
                rejectedDirections=listing(
                    _open(record("direction", direction=_LINE, reason=text(0, 2_000))), unique=False
                ),
                implementationConstraints=_LINES,
                keyCodebaseLocations=_HANDOFF_PATHS,
            )
        ),
        {
            "version": 1,
            "selectedDirection": "Extend the existing importer instead of writing a second one.",
            "designDocPath": "",
            "confidenceBand": "medium",
            "keyInvariants": ["An import can be repeated without doubling rows."],
        },
    ),
    "wr.contracts.shaping_handoff": (
        "wr.shaping_handoff",
        _open(
            record(
                "kind selectedShape appetite",
                kind=_kind("wr.shaping_handoff"),
                version=_VERSION,
                pitchPath=text(0, 1_024),
                selectedShape=_LINE,
                appetite=text(1, 200),
                keyConstraints=_LINES,
                rabbitHoles=_LINES,
                outOfScope=_LINES,
                validationChecklist=_LINES,
            )
        ),
        {
            "version": 1,
            "pitchPath": "docs/pitch.md",
            "selectedShape": "One import page with a dry run before anything is stored.",
            "appetite": "Small batch (2 days)",
            "keyConstraints": ["No new table"],
            "rabbitHoles": ["Guessing column types"],
            "outOfScope": ["Scheduled imports"],
            "validationChecklist": ["A file imported twice changes nothing the second time."],
        },
    ),
    "wr.contracts.coding_handoff": (
        "wr.coding_handoff",
        _open(
            record(
                "kind",
                kind=_kind("wr.coding_handoff"),
                version=_VERSION,
                branchName=text(1, 300),
                keyDecisions=_LINES,
                knownLimitations=_LINES,
                testsAdded=_LINES,
                filesChanged=_LINES,
                correctedAssumptions=listing(
                    _open(record("assumed actual", assumed=_LINE, actual=_LINE)), unique=False
                ),
            )
        ),
        {
            "version": 1,
            "branchName": "fix/cache-expiry",
            "keyDecisions": ["Expiry is set on write, because readers must not keep stale prices alive."],
            "knownLimitations": [],
            "testsAdded": ["tests/test_cache.py::test_reading_does_not_extend_expiry"],
            "filesChanged": ["src/cache.py"],
        },
    ),
    "wr.contracts.gate_verdict": (
        "wr.gate_verdict",
        _open(
            record(
                "kind verdict",
                kind=_kind("wr.gate_verdict"),
                version=_VERSION,
                verdict={"enum": ["approved", "rejected", "uncertain"]},
                confidence=_BAND,
                rationale=text(0, 8_000),
            )
        ),
        {
            "version": 1,
            "verdict": "uncertain",
            "confidence": "low",
            "rationale": "The evidence is incomplete.",
        },
    ),
}


def _contract(ref: str) -> Contract:
    kind, schema, body = _ENTRIES[ref]
    return Contract(ref=ref, kind=kind, schema=schema, example={"kind": kind, **body})


REGISTRY: Final[dict[str, Contract]] = {ref: _contract(ref) for ref in _ENTRIES}
