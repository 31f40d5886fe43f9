"""A session in words: runs, graph rows, a step with its results, two branches compared. Pure.

Short texts of agents and people are rendered as Markdown; long ones are shown as plain text. A
prompt is always shown as it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from assent.engine.views.session_views import (
    Confirmation,
    Passage,
    RunView,
    SessionRunLine,
    StepView,
    TreeNode,
)
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS
from assent.kernel.structs import Record
from assent.kernel.texts import indent_json
from assent.serving.web.review.words import Badge
from assent.serving.web.sessions.graph import LaidOutRow
from assent.serving.web.shell.markdown import render
from assent.serving.web.shell.times import when
from assent.workflow.dashboard import SEVERITIES, Dashboard, add_titles, copy_ready, reduce
from assent.workflow.machine.history import cut

RENDERED_CHARS: Final = 20_000
"""Longer text is not rendered as Markdown."""

SHOWN_BYTES: Final = 48_000
"""Limit of one text on a page. The export has the whole text."""

START_TITLE: Final = "Start"


class RenderedText(Record):
    html: Markup | None
    text: str


def render_text(text: str) -> RenderedText | None:
    if not text.strip():
        return None
    if len(text) <= RENDERED_CHARS:
        return RenderedText(Markup(render(text).html), "")  # noqa: S704 - cleaned by the renderer
    return RenderedText(None, cut(text, SHOWN_BYTES))


AT_WORK_MS: Final = 5 * MINUTE_MS
"""An agent that finished a step so recently is taken to be at work on the next one."""


def run_badge(line: SessionRunLine, now_ms: int) -> Badge:
    """What a run waits for, and since when."""
    if line.is_complete:
        return Badge("Complete", "ok")
    waited_ms = now_ms - line.updated_ms
    if line.asks_person:
        return Badge(f"Waiting for a person, {span(waited_ms)}", "warn")
    if waited_ms < AT_WORK_MS:
        return Badge("The agent is at work", "info")
    return Badge(f"Waiting for the agent, {span(waited_ms)}", "info")


def span(ms: int) -> str:
    """`40 s`, `3 min`, `2 h 5 min`, `2 days`."""
    if ms < MINUTE_MS:
        return f"{max(0, ms) // 1000} s"
    if ms < HOUR_MS:
        return f"{ms // MINUTE_MS} min"
    if ms < DAY_MS:
        minutes = ms % HOUR_MS // MINUTE_MS
        return f"{ms // HOUR_MS} h {minutes} min" if minutes else f"{ms // HOUR_MS} h"
    days = ms // DAY_MS
    return f"{days} day{'s' if days > 1 else ''}"


def count(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def node_title(node: TreeNode | Passage) -> str:
    return node.title or node.step_key or START_TITLE


def graph_row(row: LaidOutRow, view: RunView, selected: int, now_ms: int) -> dict[str, Any]:
    node = row.node
    title = START_TITLE if node.parent is None else node_title(node)
    if row.folded:
        title = f"{row.folded:,} steps without a fork"
    before = next((each for each in view.nodes if each.node == node.parent), None)
    return {
        "row": row,
        "title": title,
        "at": when(node.created_ms, now_ms),
        "took": span(node.created_ms - before.created_ms) if before is not None and not row.folded else "",
        "branch": name_branch(row) if row.branch and not row.folded else "",
        "badges": () if row.folded else _badges(row, waiting_at(view, node.node)),
        "is_selected": node.node == selected and not row.folded,
    }


def name_branch(row: LaidOutRow) -> str:
    """The label of a branch where it begins and where it ends."""
    if row.is_tip:
        return f"Branch {row.branch} · current"
    if not row.goes_on:
        return f"Branch {row.branch} · abandoned"
    return f"Branch {row.branch}" if row.starts_branch else ""


def _badges(row: LaidOutRow, asked: tuple[Confirmation, ...]) -> tuple[Badge, ...]:
    node = row.node
    found = []
    if node.is_complete:
        found.append(Badge("Complete", "ok"))
    elif row.is_tip and not row.branch:
        found.append(Badge("Current step", "info"))
    if row.forks:
        found.append(Badge(f"{row.forks} branches", "warn"))
    if any(each.status == "awaiting_approval" for each in asked):
        found.append(Badge("Waiting for a person", "warn"))
    if node.refused:
        found.append(Badge(f"{node.refused} refused", "danger"))
    if node.checkpoints:
        found.append(Badge(count(node.checkpoints, "checkpoint")))
    return tuple(found)


def waiting_at(view: RunView, node: int) -> tuple[Confirmation, ...]:
    return tuple(each for each in view.confirmations if each.node == node)


SEVERITY_TONES: Final = {"critical": "danger", "major": "danger", "minor": "warn", "nit": ""}


def results(outputs: tuple[tuple[str, dict[str, Any]], ...]) -> dict[str, Any] | None:
    if not outputs:
        return None
    board = reduce(outputs)
    if board == Dashboard():
        return None
    return {
        "facts": tuple(
            (label_key(name), render_value(board.header[name]))
            for name in sorted(board.header, key=lambda name: name not in KEY_LABELS)
        ),
        "tables": tuple(
            {
                "title": table.title,
                "columns": tuple(label_key(column) for column in table.columns),
                "rows": tuple(
                    tuple(render_cell(column, row.get(column, "")) for column in table.columns)
                    for row in table.rows
                ),
            }
            for table in board.tables.values()
        ),
        "findings": tuple(describe_finding(each) for each in board.findings),
        "comments": tuple(
            {"title": str(each.get("title", "")), "place": _place(each), "text": copy_ready(each)}
            for each in board.comments
        ),
        "log": tuple(line["entry"] for line in board.revision_log),
        "documents": _documents(board),
    }


def _documents(board: Dashboard) -> tuple[tuple[str, str], ...]:
    return tuple(
        (title, cut(indent_json(each.body), SHOWN_BYTES)) for title, each in add_titles(board.documents)
    )


def describe_finding(each: dict[str, Any]) -> dict[str, Any]:
    severity = str(each.get("severity", "")).casefold()
    known = severity if severity in SEVERITIES else ""
    return {
        "severity": Badge(str(each.get("severity") or "Finding").capitalize(), SEVERITY_TONES.get(known, "")),
        "title": str(each.get("title", "")),
        "place": _place(each),
        "rationale": render_text(str(each.get("rationale", ""))),
        "suggestion": render_text(str(each.get("suggestion", ""))),
    }


def _place(entry: dict[str, Any]) -> str:
    location = entry.get("location")
    location = location if isinstance(location, dict) else entry
    file, line = location.get("file"), location.get("line", location.get("startLine"))
    if not isinstance(file, str) or not file:
        return ""
    return f"{file}:{line}" if isinstance(line, int) else file


KEY_LABELS: Final = {"mrTitle": "Merge request"}
"""Labels of keys whose words are short forms. They come first."""

RISKS: Final = {"L": "Low", "M": "Medium", "H": "High"}


def render_cell(column: str, value: Any) -> str:
    """A cell of a table; a risk in words."""
    text = render_value(value)
    return RISKS.get(text, text) if column == "risk" else text


def label_key(name: str) -> str:
    """A label from an author's key: `focusAreas` becomes `Focus areas`."""
    if name in KEY_LABELS:
        return KEY_LABELS[name]
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in name.replace("_", " ")).strip()
    return words[:1].upper() + words[1:]


def render_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return indent_json(value) if isinstance(value, (dict, list)) else "" if value is None else str(value)


ASKED: Final = {
    "awaiting_approval": Badge("Waiting for a person", "warn"),
    "approved": Badge("Approved", "ok"),
    "executed": Badge("Confirmed", "ok"),
    "rejected": Badge("Rejected", "danger"),
    "failed": Badge("Failed", "danger"),
}


def step_card(view: RunView, step: StepView, now_ms: int) -> dict[str, Any]:
    by_number = {each.node: each for each in view.nodes}
    return {
        "step": step,
        "title": START_TITLE if step.parent is None else step.title or step.step_key,
        "at": when(step.created_ms, now_ms),
        "prompt": cut(step.asked.prompt, SHOWN_BYTES) if step.asked is not None else "",
        "notes": render_text(step.notes),
        "results": results(tuple((step.step_key, artifact) for artifact in step.artifacts)),
        "checkpoints": tuple(
            (when(each.at_ms, now_ms), text)
            for each in step.checkpoints
            if (text := render_text(each.notes)) is not None
        ),
        "next_title": step.following.title if step.following is not None else "",
        "next_prompt": cut(step.following.prompt, SHOWN_BYTES) if step.following is not None else "",
        "refused": tuple((when(each.at_ms, now_ms), each) for each in step.refused),
        "asked": tuple(
            (each.action_id, ASKED.get(each.status, Badge(each.status)))
            for each in waiting_at(view, step.node)
        ),
        "before": by_number.get(step.parent) if step.parent is not None else None,
        "after": tuple(each for each in view.nodes if each.parent == step.node),
        "context": tuple(
            (name, cut(indent_json(value), 4_000)) for name, value in sorted(step.context.items())
        ),
    }


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
