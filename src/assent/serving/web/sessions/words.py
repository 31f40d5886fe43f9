"""The words of the workflow screens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assent.serving.web.review.words import Badge

START_TITLE: Final = "Start"
KEY_LABELS: Final = {"mrTitle": "Merge request"}
"""Labels of keys whose words are short forms. They come first."""
RISKS: Final = {"L": "Low", "M": "Medium", "H": "High"}
ASKED: Final = {
    "awaiting_approval": Badge("Waiting for a person", "warn"),
    "approved": Badge("Approved", "ok"),
    "executed": Badge("Confirmed", "ok"),
    "rejected": Badge("Rejected", "danger"),
    "failed": Badge("Failed", "danger"),
}


def count(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def say_split(summary: Mapping[str, int]) -> str:
    """How two branches differ: `2 steps different, 1 the same · 1 finding new`."""
    different = summary["different"]
    others = (("same", "the same"), ("only_left", "only on the older"), ("only_right", "only on the newer"))
    steps = (
        f"{count(different, 'step')} different" if different else "No shared step differs",
        *(f"{summary[name]} {words}" for name, words in others if summary[name]),
    )
    findings = tuple(f"{count(summary[name], 'finding')} {name}" for name in ("new", "gone") if summary[name])
    return " · ".join((", ".join(steps), *findings))


# session_compare.html
STEP_NUMBER: Final = "step {number}"


# session_print.html
SESSION: Final = "Session {session_id}"


# files.py
THIS_FILE_IS_TOO_LARGE: Final = "This file is too large"
A_SESSION_OF_AT_MOST: Final = "A session of at most {megabytes} MB can be imported here. Nothing was stored."
IMPORT_IT_ON_THE_COMPUTER: Final = "Import it on the computer of the server: assent session import FILE"
THIS_SESSION_CANNOT_BE_EXPORTED: Final = "This session cannot be exported"
THE_STORED_DATA: Final = (
    "The stored data of this session differs from its event log, so an export would be no proof."
)
WHERE_IT_WAS_CHANGED: Final = "Open the audit log to see where it was changed."
OPEN_THE_AUDIT_LOG: Final = "Open the audit log"
CHOOSE_A_FILE_FIRST: Final = "Choose a file first: a bundle that was exported from a session."

# screens.py
THERE_IS_NO_SUCH_RUN: Final = "There is no such run"
NO_SUCH_RUN_WHY: Final = "It is not in the workspace you look at, or it was removed after its time."
LOOK_FOR_IT_AMONG: Final = "Look for it among the workflows."
ALL_WORKFLOWS: Final = "All workflows"
THERE_IS_NO_SUCH_STEP: Final = "There is no such step"
THIS_RUN_HAS_NO_STEP: Final = "This run has no step of that number."
OPEN_THE_RUN_AND_CHOOSE: Final = "Open the run and choose a step there."
WRITE_SOMETHING_IN_AT_MOST: Final = "Write something, in at most {max_notes_bytes} KB."
STEP_OF_ABOUT: Final = "Step {done} of about {planned}"
