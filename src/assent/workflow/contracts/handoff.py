"""Contracts by which a workflow hands its result to the next one, or reports to its caller."""

from __future__ import annotations

from typing import Any, Final

from assent.workflow.contracts.shapes import Shape
from assent.workflow.definition.format import listing, record, text

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
