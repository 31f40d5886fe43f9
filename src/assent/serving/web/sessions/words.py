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
COMPARE_TITLE: Final = "Compare, {name}"
OLDER: Final = "Older"
NEWER: Final = "Newer"
COMPARE: Final = "Compare"
NOTHING_TO_COMPARE: Final = "Nothing to compare"
BOTH_ARE_THE_SAME_STEP: Final = "Both are the same step. Choose two steps of different branches."
WHERE_THEY_SPLIT: Final = "Where they split"
REMOVED: Final = "Removed: only on the older branch."
ADDED: Final = "Added: only on the newer branch."
EARLIER_STEPS_AFTER_THE_SPLIT: Final = "{left_out} earlier steps after the split are not compared here."
ONLY_ON_THE_NEWER: Final = "Only on the newer"
ONLY_ON_THE_OLDER: Final = "Only on the older"
DIFFERENT: Final = "Different"
THE_SAME: Final = "The same"
NOTES: Final = "Notes"
FINDINGS: Final = "Findings"
CHANGE: Final = "Change"
OUTPUT: Final = "Output {title}"
NEITHER_NOTES_NOR_OUTPUTS: Final = "Neither notes nor outputs."
CONTEXT_AT_THE_END: Final = "Context at the end"
NO_DIFFERENCES: Final = "No differences."
THE_SAME_ON_BOTH: Final = "{same_context} the same on both."
BRANCHES_SPLIT: Final = "Branches split after {step}"
QUOTED: Final = "“{title}”"
OLDER_STEP: Final = "Older: {step}, {took}"
NEWER_STEP: Final = "Newer: {step}, {took}"
STEP_NUMBER: Final = "step {number}"

# session_frame.html
WORKFLOWS: Final = "Workflows"
EXPORT: Final = "Export"
BUNDLE_FOR_ANOTHER_SERVER: Final = "Bundle for another server"
MARKDOWN: Final = "Markdown"
PRINT_OR_PDF: Final = "Print or PDF"
STARTED_AT: Final = "started {started}"
GRAPH: Final = "Graph"
REVIEW: Final = "Review"
TIMELINE: Final = "Timeline"

# session_import.html
IMPORT_A_SESSION: Final = "Import a session"
IMPORT: Final = "Import"
NOTHING_WAS_IMPORTED: Final = "Nothing was imported"
EXPORT_THE_SESSION_AGAIN: Final = "Export the session again where it came from, and choose that file."
A_BUNDLE_FROM_ANOTHER_SERVER: Final = (
    "A bundle from another server, with every branch, note and result. Agents can continue it here."
)
FILE: Final = "File"
ENDS_WITH_ASSENT_JSON: Final = (
    "Ends with .assent.json, at most {most_mb} MB. It is checked as a whole before anything is stored."
)
IMPORT_INTO: Final = "Import into {name}"
A_SESSION_THAT_EXISTS_HERE: Final = "A session that exists here already is imported under another name."
APPROVALS_ARE_NOT_IMPORTED_STEPS: Final = "Approvals are not imported: steps that need one ask again here."
A_FILE_THAT_WAS_CHANGED: Final = "A file that was changed after its export is refused."

# session_print.html
SESSION: Final = "Session {session_id}"
PRINT: Final = "Print"
PRINT_THIS_PAGE: Final = (
    "Print this page to put it on paper or keep it as a PDF. Only the text below is printed."
)

# session_review.html
REVIEW_NAME: Final = "Review, {name}"
BRANCH: Final = "Branch"
NO_OUTPUTS_ON_THIS_BRANCH: Final = "No outputs on this branch"
THE_STEPS_OF_THIS_BRANCH: Final = "The steps of this branch sent notes only. The graph shows them."
OPEN_THE_GRAPH: Final = "Open the graph"

# session_run.html
RUNS_OF: Final = "Runs of {session_id}"
THE_FRESHEST_OF_RUNS: Final = "The latest {siblings} of {run_count} runs."
EARLIER_STEPS: Final = "Earlier steps"
STARTS_BRANCH: Final = "Branch:"
COMPARE_WITH: Final = "Compare with “{title}”"
COMPARE_STEP_WITH: Final = "Compare {title} (step {node}) with {other}"
LATER_STEPS: Final = "Later steps"
TO_COMPARE_TWO_STEPS_OPEN: Final = "To compare two steps, open one, then press ⇄ (Compare) beside the other."
STARTED: Final = "Started"
COMPLETED: Final = "Completed"
THE_WORKFLOW_IS_COMPLETE: Final = "The workflow is complete"
CURRENT_STEP: Final = "Current step"
STEPS_AROUND_THIS_ONE: Final = "Steps around this one"
STEP_IN_BRACKETS: Final = "(step {node})"
AND_MORE_BRANCHES: Final = "and {after} more branches"
NO_NOTES_WERE_SENT: Final = "No notes were sent with this step."
CHECKPOINTS: Final = "Checkpoints"
WHAT_THE_AGENT_WAS_ASKED: Final = "What the agent was asked"
WHAT_CAME_NEXT: Final = "What came next"
WHAT_COMES_NEXT: Final = "What comes next"
QUESTION_LINK: Final = "see the question"
A_PERSON_WAS_ASKED: Final = "A person was asked: {see}"
ONE_ATTEMPT_WAS_REFUSED: Final = "One attempt was refused"
ATTEMPTS_WERE_REFUSED: Final = "{count} attempts were refused"
WHAT_THE_AGENT_WAS_ASKED_THEN: Final = "What the agent was asked then"
WHAT_THE_AGENT_IS_ASKED: Final = "What the agent is asked now"
CONTEXT_HERE: Final = "Context here"
SESSION_NOTES: Final = "Session notes"
NOTES_ABOUT_THE_WHOLE_SESSION: Final = (
    "Notes about the whole session: why it was started, what was decided between its runs. People write "
    "here, agents do not."
)
ADD_A_NOTE: Final = "Add a note"
ADD_THE_NOTE: Final = "Add the note"
EARLIER_NOTES: Final = "{count} earlier notes are in the {markdown} of this session."
KEY_LATEST: Final = "latest"
KEY_FORK: Final = "fork"
KEY_ABANDONED: Final = "abandoned"
KEY_REFUSED: Final = "refused attempts"
KEY_CHECKPOINT: Final = "checkpoint"

# session_timeline.html
TIMELINE_SESSION_ID: Final = "Timeline, {session_id}"
EARLIER: Final = "Earlier"
WROTE_A_NOTE: Final = "{note} wrote a note"
WAITING_FOR_A_PERSON: Final = "Waiting for a person"
WAITING_FOR_THE_AGENT: Final = "Waiting for the agent"
ABANDONED: Final = "(abandoned)"
COUNT_REFUSED: Final = "{refused} refused"
LATER: Final = "Later"
TRIED_MORE_THAN_ONCE: Final = "Tried more than once"
STEP: Final = "Step"
TRIES: Final = "Tries"
REFUSED: Final = "Refused"
TIME: Final = "Time"
KEY_ABANDONED_BRANCH: Final = "abandoned branch"
KEY_PAUSE: Final = "long pause, cut short"

# sessions.html
SEARCH_WORKFLOWS: Final = "Search workflows"
SESSION_WORKFLOW_OR_TITLE: Final = "Session, workflow or title"
BRANCHES: Final = "{branches} branches"
AND_MORE: Final = "and {runs} more"
NO_WORKFLOW_AND_NO_SESSION: Final = (
    "No workflow and no session is called that. Agents name a session after a ticket, a pull request or "
    "a chat."
)
NO_WORKFLOWS_YET: Final = "No workflows yet"
WHEN_AN_AGENT_FOLLOWS: Final = (
    "When an agent follows a workflow, every step it takes is kept here with its notes: what it did, "
    "where it turned back, and what came out."
)
SAY_TO_YOUR_AGENT: Final = "Say to your agent: “Which workflows can you follow here? Use one for this task.”"

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
