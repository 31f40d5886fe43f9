"""Outputs add up to the same dashboard every time: keyed, deduplicated, sorted."""

from __future__ import annotations

from typing import Any

from assent.workflow import reduce
from assent.workflow.contracts.registry import REGISTRY
from assent.workflow.dashboard import add_titles, copy_ready


def finding(severity: str, line: int, title: str = "t", **more: Any) -> dict[str, Any]:
    return {"severity": severity, "location": {"file": "a.py", "line": line}, "title": title, **more}


def test_a_review_adds_up() -> None:
    board = reduce(
        [
            ("triage", {"kind": "mr_review.phase_0_triage", "review": {"mrTitle": "T", "classification": "Standard"},
                        "revisionLogEntry": "Triaged."}),
            ("files", {"kind": "mr_review.changed_files", "changedFiles": [{"path": "b.py", "summary": "old"},
                                                                           {"path": "a.py", "summary": "s"}]}),
            ("files", {"kind": "mr_review.changed_files", "changedFiles": [{"path": "b.py", "summary": "new"}]}),
            ("pass[1]", {"kind": "mr_review.findings", "findings": [finding("Minor", 3), finding("Critical", 9)],
                         "mrComments": [{"body": "first", "title": "t", "location": {"file": "a.py", "line": 3}}]}),
            ("pass[2]", {"kind": "mr_review.findings", "findings": [finding("Major", 3)],
                         "mrComments": [{"body": "second", "title": "t", "location": {"file": "a.py", "line": 3}}]}),
        ]
    )  # fmt: skip
    assert board.header == {"mrTitle": "T", "classification": "Standard"}
    assert board.revision_log == ({"step": "triage", "entry": "Triaged."},)
    assert [(row["path"], row["summary"]) for row in board.tables["changedFiles"].rows] == [
        ("a.py", "s"),
        ("b.py", "new"),
    ]
    assert [(row["severity"], row["location"]["line"]) for row in board.findings] == [
        ("Critical", 9),
        ("Major", 3),
    ]
    assert [copy_ready(comment) for comment in board.comments] == ["`a.py:3` **t**\n\nsecond"]


def test_folding_in_two_parts_is_folding_at_once() -> None:
    outputs = [(f"step-{n}", contract.example or {}) for n, contract in enumerate(REGISTRY.values())]
    assert reduce(outputs[3:], reduce(outputs[:3])) == reduce(outputs)
    assert reduce([*outputs, *outputs]).tables == reduce(outputs).tables


def test_of_a_kind_without_a_reducer_every_output_is_kept() -> None:
    """A loop sends one in each round, and none may push another out of the picture."""
    sent = [(f"each[{n}]/report", {"kind": "team.thing", "n": n}) for n in (1, 2, 3)]
    board = reduce([*sent, sent[0], ("end", {"kind": "team.other"})])
    assert [(each.step, each.body) for each in board.documents[:3]] == sent
    assert [title for title, _ in add_titles(board.documents)] == [
        *(f"each[{n}]/report: team.thing" for n in (1, 2, 3)),
        "team.other",
    ]


def test_a_verdict_shows_in_header_and_findings() -> None:
    verdict = {"kind": "wr.review_verdict", "verdict": "blocking", "confidence": "high", "summary": "No.",
               "findings": [{"severity": "major", "summary": "Leaks", "file": "a.py", "startLine": 2,
                             "remediation": "Close it."}]}  # fmt: skip
    board = reduce([("final", verdict)])
    assert board.header == {"verdict": "blocking", "confidence": "high", "summary": "No."}
    assert board.findings == (
        {
            "severity": "Major",
            "title": "Leaks",
            "location": {"file": "a.py", "line": 2},
            "suggestion": "Close it.",
        },
    )
