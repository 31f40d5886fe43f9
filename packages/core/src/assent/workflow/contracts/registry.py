"""The registry of output contracts: schema and example by name. Every example passes its own
contract.

A workflow names a contract, or writes its own into the step. A contract is copied into the program,
so a run keeps the one it started with. An unknown name is no error: any object with a `kind` passes
then.
"""

from __future__ import annotations

from typing import Any, Final

from assent.kernel.shapes import Shape
from assent.workflow.definition.format import listing, record, text
from assent.workflow.program import Contract

# Contracts by which a workflow hands its result to the next one, or reports to its caller.

Entry = tuple[str, Shape, dict[str, Any]]
"""The kind of a contract, its shape, and an example without the kind."""

LINE: Final = text(1, 2_000)
LINES: Final = listing(LINE, maxItems=200)
BAND: Final[Shape] = {"enum": ["high", "medium", "low"]}
VERSION: Final[Shape] = {"const": 1}


def open_ended(shape: Shape) -> Shape:
    """Return the shape with additional fields allowed."""
    return {**shape, "additionalProperties": True}


def require_kind(kind: str) -> Shape:
    return {"const": kind, "hint": f'The kind is "{kind}".'}


_PATHS: Final = listing(open_ended(record("path", path=LINE, relevance=text(0, 2_000))))

HANDOFFS: Final[dict[str, Entry]] = {
    "wr.contracts.review_verdict": (
        "wr.review_verdict",
        open_ended(
            record(
                "kind verdict confidence findings summary",
                kind=require_kind("wr.review_verdict"),
                verdict={"enum": ["clean", "minor", "blocking"]},
                confidence=BAND,
                findings=listing(
                    open_ended(
                        record(
                            "severity summary",
                            severity={"enum": ["critical", "major", "minor", "nit"]},
                            summary=LINE,
                            findingCategory=text(1, 100),
                            file=text(0, 1_024),
                            startLine={"type": "integer", "minimum": 0},
                            endLine={"type": "integer", "minimum": 0},
                            causalLink=text(0, 4_000),
                            remediation=text(0, 4_000),
                        )
                    ),
                    maxItems=500,
                ),
                summary=LINE,
            )
        ),
        {"verdict": "clean", "confidence": "high", "findings": [], "summary": "No blocking issue was found."},
    ),
    "wr.contracts.discovery_handoff": (
        "wr.discovery_handoff",
        open_ended(
            record(
                "kind selectedDirection confidenceBand",
                kind=require_kind("wr.discovery_handoff"),
                version=VERSION,
                selectedDirection=LINE,
                designDocPath=text(0, 1_024),
                confidenceBand=BAND,
                selectionTier={
                    "enum": ["strong_recommendation", "provisional_recommendation", "insufficient_signal"]
                },
                keyInvariants=LINES,
                rejectedDirections=listing(
                    open_ended(record("direction", direction=LINE, reason=text(0, 2_000)))
                ),
                implementationConstraints=LINES,
                keyCodebaseLocations=_PATHS,
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
        open_ended(
            record(
                "kind selectedShape appetite",
                kind=require_kind("wr.shaping_handoff"),
                version=VERSION,
                pitchPath=text(0, 1_024),
                selectedShape=LINE,
                appetite=text(1, 200),
                keyConstraints=LINES,
                rabbitHoles=LINES,
                outOfScope=LINES,
                validationChecklist=LINES,
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
        open_ended(
            record(
                "kind",
                kind=require_kind("wr.coding_handoff"),
                version=VERSION,
                branchName=text(1, 300),
                keyDecisions=LINES,
                knownLimitations=LINES,
                testsAdded=LINES,
                filesChanged=LINES,
                correctedAssumptions=listing(open_ended(record("assumed actual", assumed=LINE, actual=LINE))),
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
        open_ended(
            record(
                "kind verdict",
                kind=require_kind("wr.gate_verdict"),
                version=VERSION,
                verdict={"enum": ["approved", "rejected", "uncertain"]},
                confidence=BAND,
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
    "wr.contracts.differentiation_handoff": (
        "wr.differentiation_handoff",
        open_ended(
            record(
                "kind shapingHandoff",
                kind=require_kind("wr.differentiation_handoff"),
                version=VERSION,
                schemaVersion=text(1, 20),
                generatedAt=text(1, 64),
                evidenceFreshness=open_ended(
                    record("", oldestCapturedAt=text(1, 64), newestCapturedAt=text(1, 64))
                ),
                validationChecklist=LINES,
                shapingHandoff=open_ended(
                    record(
                        "rawIdea problem baseline appetiteHint",
                        rawIdea=LINE,
                        problem=text(1, 8_000),
                        baseline=text(1, 8_000),
                        appetiteHint={"enum": ["small_batch", "big_batch"]},
                        noGosHints=LINES,
                        constraints={"type": "object"},
                        evidenceTopK=listing(text(1, 200), maxItems=200),
                        defensibilityClaim=open_ended(
                            record("power", power=text(1, 200), cannibalization=text(0, 2_000))
                        ),
                    )
                ),
            )
        ),
        {
            "version": 1,
            "schemaVersion": "1.0.0",
            "generatedAt": "2026-01-31T09:00:00Z",
            "evidenceFreshness": {
                "oldestCapturedAt": "2025-09-01T00:00:00Z",
                "newestCapturedAt": "2026-01-30T00:00:00Z",
            },
            "validationChecklist": ["A file imported twice changes nothing the second time."],
            "shapingHandoff": {
                "rawIdea": "Imports that show what they would change before they change it.",
                "problem": "A bookkeeper imported one bank file twice and spent a day removing the doubled rows.",
                "baseline": "They copy the sheet first and compare both by eye.",
                "appetiteHint": "small_batch",
                "noGosHints": ["Scheduled imports"],
                "constraints": {"teamSize": 2, "technicalCapabilities": ["web"], "exclusions": []},
                "evidenceTopK": [],
                "defensibilityClaim": {
                    "power": "Counter-Positioning",
                    "cannibalization": "The market leader sells the clean-up as a service.",
                },
            },
        },
    ),
    "wr.contracts.coordinator_signal": (
        "wr.coordinator_signal",
        open_ended(
            record(
                "kind signalKind payload",
                kind=require_kind("wr.coordinator_signal"),
                signalKind={"enum": ["progress", "finding", "data_needed", "approval_needed", "blocked"]},
                payload={"type": "object", "hint": "Send {} where there is nothing to add."},
                sessionId=text(1, 200),
            )
        ),
        {"signalKind": "progress", "payload": {"summary": "Half of the files are read."}},
    ),
}


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
