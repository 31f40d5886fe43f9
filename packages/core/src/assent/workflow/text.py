"""Workflow answers as text, which an agent reads first (W33, W76). Deterministic, with the tokens
for the next call.

A refusal is worded as it is sent, so that text and payload agree. All facts are arguments. Tokens are in the
text because a model copies what it reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from assent.kernel.texts import indent_json, to_text, truncate
from assent.workflow.bundle import Bundle, ExportedNode, ExportedRun
from assent.workflow.dashboard import Dashboard, add_titles, copy_ready, locate, reduce
from assent.workflow.issues import Warning
from assent.workflow.machine.history import Lineage, Recap, cut
from assent.workflow.machine.interpreter import Blocked, Pending
from assent.workflow.program import Program
from assent.workflow.tokens import Tokens

_MAX_EXAMPLE_BYTES: Final = 8_192
KEPT_SECTIONS: Final = ("## Rules for the whole run", "## Documents")
"""Sections of a program's preamble that apply after the start."""
SHORT_RULES_CHARS: Final = 600
MAX_RULE_CHARS: Final = 120
MAX_CONTEXT_LINES: Final = 20
MAX_VALUE_CHARS: Final = 100
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s")


def write_start(
    program: Program, pending: Pending | None, tokens: Tokens, warnings: Sequence[Warning] = ()
) -> str:
    """Write the answer to a start: the workflow, its rules, and the first step."""
    head = [f"# {program.name}", program.description, *program.preamble]
    body = (
        [_step(pending), _next_call(tokens)]
        if pending
        else ["Nothing needs doing: the workflow is complete."]
    )
    return _join(*head, _warnings(warnings), *body)


def write_advance(pending: Pending, tokens: Tokens, warnings: Sequence[Warning] = ()) -> str:
    """Write the answer to an advance that leads to another step."""
    return _join(_warnings(warnings), _step(pending), _next_call(tokens))


def write_completion(program: Program, warnings: Sequence[Warning] = ()) -> str:
    """Write the answer to the advance past the last step."""
    return _join(
        _warnings(warnings),
        f"# {program.name}: complete",
        "Every step is done. There is no next call for this run; tell the user the result.",
    )


def write_blocked(outcome: Blocked, tokens: Tokens) -> str:
    """Write the answer to a blocked advance: the issues, an example that passes, and the token for
    the retry (W33)."""
    lines = [f"- `{issue.path}` ({issue.code}): {issue.message}" for issue in outcome.issues]
    parts = [
        f"# Not advanced: {outcome.pending.title}",
        "The step stays pending. To pass it, correct:\n" + "\n".join(lines),
    ]
    if outcome.example is not None:
        parts.append("As `output` this passes; put your own values in:\n" + _json(outcome.example))
    if outcome.notes_example is not None:
        parts.append(f"Notes of this form pass:\n```\n{cut(outcome.notes_example, 1_000)}\n```")
    retry = "Retry with the same stateToken and this new ackToken:"
    return _join(*parts, f"{retry}\n{_call(tokens)}")


def write_rehydration(
    program: Program,
    pending: Pending | None,
    tokens: Tokens,
    recap: Recap,
    branches: str = "",
    warnings: Sequence[Warning] = (),
    context: Mapping[str, Any] | None = None,
    *,
    rules: bool = True,
) -> str:
    """Write the state of a run: notes, context, other branches, and the pending step. `rules` adds
    the rules for a chat that may have lost them."""
    omitted = f"({recap.omitted} older notes are left out.)\n\n" if recap.omitted else ""
    notes = f"## What was noted so far\n{omitted}{recap.text}" if recap.shown or recap.omitted else ""
    body = [_step(pending), _next_call(tokens)] if pending else [f"# {program.name}: complete"]
    return _join(
        f"# Resumed: {program.name}",
        _reminder(program) if rules else "",
        notes,
        _context(context or {}),
        branches,
        _warnings(warnings),
        *body,
    )


def _reminder(program: Program) -> str:
    """Write the first sentence of each rule of a run. Preconditions of the start are not
    repeated."""
    kept = [section for section in program.preamble if section.startswith(KEPT_SECTIONS)]
    whole = "\n\n".join(kept)
    if len(whole) <= SHORT_RULES_CHARS:
        return whole
    lines = [line if line.startswith("## ") else _first_sentence(line) for line in whole.splitlines() if line]
    call = msgspec.json.encode({"workflowId": program.id, "mode": "metadata"}).decode()
    return "\n".join([*lines, f"(In short; workflow_inspect {call} has them in full.)"])


def _first_sentence(line: str) -> str:
    return truncate(_SENTENCE_END.split(line, maxsplit=1)[0], MAX_RULE_CHARS)


def _context(context: Mapping[str, Any]) -> str:
    """Write the context, one value per line."""
    lines = [f"- {name}: {_short(value)}" for name, value in list(context.items())[:MAX_CONTEXT_LINES]]
    if len(context) > MAX_CONTEXT_LINES:
        lines.append(f"- and {len(context) - MAX_CONTEXT_LINES} more")
    return "\n".join(["## Context", *lines]) if lines else ""


def _short(value: Any) -> str:
    return truncate(" ".join(to_text(value)[: 4 * MAX_VALUE_CHARS].split()), MAX_VALUE_CHARS)


def write_checkpoint(pending: Pending | None, tokens: Tokens, *, again: bool = False) -> str:
    """Write the answer to a checkpoint: the notes are stored and the step is unchanged."""
    head = (
        "These notes were already stored; nothing was added."
        if again
        else "Your notes are stored with this step."
    )
    if pending is None:
        return _join(head, "The run is complete.")
    return _join(head, f'The pending step is unchanged: "{pending.title}".', _next_call(tokens))


def _step(pending: Pending) -> str:
    parts = [f"# {pending.title}", f"Step: `{pending.step_key}`", pending.prompt]
    if pending.model_tier is not None:
        parts.append(f"Recommended for this step: a {pending.model_tier} model.")
    if pending.action is not None:
        parts.append(f"This step is about calling a tool. Its call:\n{_json(pending.action)}")
    if pending.require_confirmation:
        parts.append(
            "A person must confirm this step. Do the work and advance as usual: the answer then has the text to show "
            "them and the calls for their decision."
        )
    return "\n\n".join(parts)


def _next_call(tokens: Tokens) -> str:
    return (
        "## When the step is done\nCall workflow_advance with these tokens, copied exactly, `notesMarkdown` (what you "
        "did and found) and `context` (values for later steps):\n" + _call(tokens)
    )


def _call(tokens: Tokens) -> str:
    """Write the call like `_json`; tokens need no escaping."""
    return (
        f'```json\n{{\n  "stateToken": "{tokens.state_token}",\n  "ackToken": "{tokens.ack_token}"\n}}\n```'
    )


def _warnings(warnings: Sequence[Warning]) -> str:
    return "\n".join(f"Warning ({warning.code}): {warning.message}" for warning in warnings)


def _json(value: Any) -> str:
    return f"```json\n{cut(indent_json(value), _MAX_EXAMPLE_BYTES)}\n```"


def _join(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


MOST_ARGUMENTS_CHARS: Final = 300
"""The longest call in the text; the payload has it whole."""


def render_refusal(refusal: Mapping[str, Any]) -> str:
    """Write what happened, what the person should see, and the calls that help."""
    guide = refusal.get("agentGuide", {})
    shown = "\n\n".join(each["body"] for each in guide.get("renderInChat", {}).values())
    problems = "\n".join(
        f"- `{each['path']}`: expected {each['expected']}; got {each['got']}"
        for each in refusal.get("problems", ())
    )
    following = guide.get("nextToolCalls", {})
    named = [following[place] for place in ("primary", "fallback") if place in following]
    calls = [_write_call(each) for each in (*named, *following.get("more", ()))]
    if not calls and (recovery := refusal.get("recoveryTool")) is not None:
        calls.append(_write_call(recovery))
    link = refusal.get("reviewUrl")
    parts = [
        f"# Not done: {refusal['summaryForUser']}",
        refusal["userMessage"],
        shown,
        problems,
        f"## What to do\n{refusal['fixActionForAgent']} {refusal['stopRule']}",
        "\n".join(f"{number}. {call}" for number, call in enumerate(calls, 1)),
        f"Review link, for a person who is not in this chat: {link}" if link else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _write_call(call: Mapping[str, Any]) -> str:
    """Write a call with its arguments, and those that the person has to supply."""
    arguments = msgspec.json.encode(call["args"]).decode()
    if len(arguments) > MOST_ARGUMENTS_CHARS:
        arguments = "with the arguments that `nextToolCalls` has for it"
    when = f" ({call['when']})" if call.get("when") else ""
    needs = "".join(f"; ask the person for `{name}`: {what}" for name, what in call.get("needs", {}).items())
    return f"`{call['name']}` {arguments}{when}{needs}"


# Writes a session as Markdown for people: each run with all its branches, notes and times.


def write_markdown(
    bundle: Bundle, fold_lineage: Callable[[ExportedRun], Lineage], when: Callable[[int], str]
) -> str:
    """Write the session. `when` formats a time."""
    counted = "1 run" if len(bundle.runs) == 1 else f"{len(bundle.runs)} runs"
    head = f"# Session {bundle.session_id}\n\nExported {when(bundle.exported_ms)}; {counted}."
    notes = [f"> {each.author}, {when(each.created_ms)}:\n\n{each.notes.strip()}" for each in bundle.notes]
    if notes:
        head = "\n\n".join([head, "## Session notes", *notes])
    return "\n\n".join([head, *(_run(run, fold_lineage(run), when) for run in bundle.runs)]) + "\n"


def _run(run: ExportedRun, lineage: Lineage, when: Callable[[int], str]) -> str:
    """Write a run: the branch with the latest event whole, then the own part of every other
    branch."""
    by_node = {node.node: node for node in run.nodes}
    latest = {step.node: (step.latest, step.node) for step in lineage.steps}
    inner = {step.parent for step in lineage.steps}
    leaves = sorted(
        (node for node in by_node if node not in inner), key=lambda node: latest[node], reverse=True
    )
    complete = {step.node for step in lineage.steps if step.is_complete}
    count = f", {len(leaves)} branches (the latest first)" if len(leaves) > 1 else ""
    status = "complete" if leaves and leaves[0] in complete else "running"
    parts = [
        f"## {run.name}",
        f"Workflow `{run.workflow_id}`, run `{run.run_id}`, started {when(run.created_ms)}: {status}{count}.",
    ]
    written: set[int] = set()
    for leaf in leaves:
        path = _path(by_node, leaf, written)
        if written:
            state = "complete" if leaf in complete else "abandoned"  # as the graph says
            parts.append(f"### Branch from “{path[0].title or path[0].step_key}”: {state}")
        parts += _steps(run, path, when, "####" if written else "###")
        written |= {node.node for node in path}
    return "\n\n".join(parts)


def _path(by_node: dict[int, ExportedNode], leaf: int, written: set[int]) -> list[ExportedNode]:
    """Return the nodes that lead to a leaf, without those already written."""
    path: list[ExportedNode] = []
    at: int | None = leaf
    while at is not None and at not in written:
        path.append(by_node[at])
        at = by_node[at].parent
    return path[::-1]


def _steps(run: ExportedRun, path: list[ExportedNode], when: Callable[[int], str], level: str) -> list[str]:
    parts = []
    for node in path:
        if node.parent is not None:
            parts.append(f"{level} {node.title or node.step_key}\n\nCompleted {when(node.created_ms)}.")
        if node.notes.strip():
            parts.append(node.notes.strip())
        parts += [
            f"Checkpoint, {when(each.created_ms)}:\n\n{each.notes.strip()}"
            for each in run.checkpoints
            if each.node == node.node
        ]
    outputs = [(node.step_key, artifact) for node in path for artifact in node.artifacts]
    return [*parts, *_results(reduce(outputs))]


def _results(dashboard: Dashboard) -> list[str]:
    parts = []
    if dashboard.header:
        facts = [f"- {name}: {_write(value)}" for name, value in dashboard.header.items()]
        parts.append("### Review\n\n" + "\n".join(facts))
    for table in dashboard.tables.values():
        rule = "|".join(" --- " for _ in table.columns)
        rows = [
            "| " + " | ".join(_cell(str(row.get(column, ""))) for column in table.columns) + " |"
            for row in table.rows
        ]
        parts.append(
            "\n".join([f"### {table.title}\n", "| " + " | ".join(table.columns) + " |", f"|{rule}|", *rows])
        )
    if dashboard.findings:
        parts.append("### Findings\n\n" + "\n".join(map(_finding, dashboard.findings)))
    if dashboard.comments:
        parts.append("### Suggested comments")
        parts += [_fence(copy_ready(each), "markdown") for each in dashboard.comments]
    for title, document in add_titles(dashboard.documents):
        text = msgspec.json.format(msgspec.json.encode(document.body, order="sorted"), indent=2).decode()
        parts.append(f"### Output `{title}`\n\n{_fence(text, 'json')}")
    if dashboard.revision_log:
        log = [f"- `{each['step']}`: {_write(each['entry'])}" for each in dashboard.revision_log]
        parts.append("### Revision log\n\n" + "\n".join(log))
    return parts


def _finding(entry: dict[str, Any]) -> str:
    head = (
        f"- **{_write(entry.get('severity', ''))}** {_write(entry.get('title', ''))} {locate(entry)}".rstrip()
    )
    more = [f"  {_write(entry[name])}" for name in ("rationale", "suggestion") if entry.get(name)]
    return "\n".join([head, *more])


def _write(value: Any) -> str:
    """Write a value on one line: a list as its parts, other values than text as JSON."""
    if isinstance(value, list):
        return ", ".join(map(_write, value))
    text = value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()
    return " ".join(text.split())


def _fence(text: str, language: str) -> str:
    """Write a code block whose fence does not occur in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
