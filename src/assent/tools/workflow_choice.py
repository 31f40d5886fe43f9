"""Tools to choose a workflow: the list, and a look at one. They start nothing."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from pathlib import PurePath
from typing import Annotated, Any, Final, Literal

import msgspec

from assent.engine.workflows.answers import IssueView, WarningView
from assent.engine.workflows.library import Invalid
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.kernel.structs import Arguments, Record, WireRecord
from assent.tools.arguments import PageSize
from assent.tools.definition import READS, Call, Tool
from assent.workflow import Compiled, Definition
from assent.workflow.definition import preview
from assent.workflow.machine.history import first_line

WorkflowId = Annotated[str, msgspec.Meta(max_length=200, description="From workflow_list.")]
Category = Literal["workflow", "routine", "example"]

DESCRIPTION_CHARS: Final = 140
SUGGESTIONS: Final = 3
_PARTS: Final = re.compile(r"[^a-z0-9]+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s")
_EXAMPLES: Final = frozenset({"example", "examples", "sample", "demo"})
_OF_TESTS: Final = ("test workflow", "for testing")


class WorkflowList(Arguments, kw_only=True):
    query: Annotated[str, msgspec.Meta(max_length=200, description="What the user wants done.")] | None = None
    category: Annotated[
        Literal["workflow", "routine", "example", "all"],
        msgspec.Meta(description="routine: parts of workflows. example: examples and tests."),
    ] = "workflow"
    limit: PageSize = 30


class WorkflowSummary(WireRecord, kw_only=True):
    workflow_id: str
    name: str
    description: str


class InvalidFile(Record):
    file: str
    issues: tuple[IssueView, ...]


class WorkflowListing(WireRecord, kw_only=True, omit_defaults=True):
    ok: bool
    workflows: tuple[WorkflowSummary, ...]
    invalid: tuple[InvalidFile, ...]
    left_out: dict[str, int] = {}
    """How many more there are, by category; `more` counts those beyond the limit."""
    note: str = ""


class WorkflowInspect(Arguments, kw_only=True):
    workflow_id: WorkflowId
    mode: Annotated[
        Literal["metadata", "preview"], msgspec.Meta(description="The facts, or the facts with a diagram.")
    ] = "preview"


class WorkflowDetails(WireRecord, kw_only=True):
    ok: bool
    workflow_id: str
    workflow_hash: str
    metadata: dict[str, Any]
    diagram: str | None
    warnings: tuple[WarningView, ...]


async def list_workflows(call: Call, request: WorkflowList) -> WorkflowListing:
    catalogue, refused = call.services.workflows().list_definitions()
    broken = {each.file for each in refused}
    served = [
        each
        for each in sorted(catalogue.definitions.values(), key=lambda each: each.id)
        if catalogue.files[each.id] not in broken
    ]
    wanted = [each for each in served if request.category in ("all", categorize(each))]
    left_out: Counter[str] = Counter(categorize(each) for each in served if each not in wanted)
    note = ""
    if request.query is not None and request.query.strip():
        # A query searches all usable workflows; examples only on request.
        asked = (
            wanted if request.category != "workflow" else [e for e in served if categorize(e) != "example"]
        )
        if fitting := rank(asked, request.query):
            wanted, left_out = fitting, Counter()
        else:
            note = "Nothing fits the query; these are all."
    if more := len(wanted[request.limit :]):
        left_out["more"] = more
    return WorkflowListing(
        ok=True,
        workflows=tuple(
            WorkflowSummary(workflow_id=each.id, name=each.name, description=_short(each.description))
            for each in wanted[: request.limit]
        ),
        # The answer to a query does not mention broken files.
        invalid=() if request.query else tuple(_invalid(each) for each in (*catalogue.invalid, *refused)),
        left_out=dict(left_out),
        note=note,
    )


def categorize(definition: Definition) -> Category:
    """Return whether it is a workflow to follow, a part of others, or an example or test."""
    parts = _PARTS.split(definition.id.lower())
    about = definition.description.lower()
    if _EXAMPLES & set(parts) or (parts[0] == "test" and any(words in about for words in _OF_TESTS)):
        return "example"
    return "routine" if "routine" in parts else "workflow"


def rank(definitions: list[Definition], query: str) -> list[Definition]:
    """Return the workflows that match a query, best first. Name and id count double."""
    words = {word for word in _PARTS.split(query.casefold()) if len(word) > 2} or {query.casefold().strip()}

    def fit(definition: Definition) -> int:
        named, about = f"{definition.id} {definition.name}".casefold(), definition.description.casefold()
        return sum(2 * (word in named) + (word in about) for word in words)

    ranked = sorted(
        ((fit(each), each.id, each) for each in definitions), key=lambda each: (-each[0], each[1])
    )
    least = ranked[0][0] / 3 if ranked else 0
    return [each for score, _, each in ranked if score and score >= least]


def _short(description: str) -> str:
    return first_line(_SENTENCE_END.split(description.strip(), maxsplit=1)[0], DESCRIPTION_CHARS)


def _invalid(invalid: Invalid) -> InvalidFile:
    issues = tuple(IssueView(i.path, i.code, i.message) for i in invalid.issues)
    return InvalidFile(PurePath(invalid.file).name, issues)


async def inspect_workflow(call: Call, request: WorkflowInspect) -> WorkflowDetails:
    compiled = find_definition(call, request.workflow_id)
    if isinstance(compiled, Refusal):
        raise compiled
    return WorkflowDetails(
        ok=True,
        workflow_id=compiled.program.id,
        workflow_hash=compiled.workflow_hash,
        metadata=preview.metadata(compiled.program, compiled.workflow_hash),
        diagram=preview.diagram(compiled.program) if request.mode == "preview" else None,
        warnings=tuple(WarningView(w.code, w.message, w.path) for w in compiled.warnings),
    )


def find_definition(call: Call, workflow_id: str) -> Compiled | Refusal:
    """Return a workflow by id or alias; else the refusal, with similar names."""
    found = call.services.workflows().find(workflow_id)
    if isinstance(found, Compiled):
        return found
    if found is None:
        near = _near(workflow_id, list(call.services.workflows().catalogue().definitions.values()))
        suggestion = f" (did you mean {' or '.join(near)}?)" if near else ""
        return Refusal(
            Reason.WORKFLOW_NOT_FOUND,
            facts={"workflow": repr(workflow_id[:80]), "suggestion": suggestion},
            recovery_tool="workflow_list",
            recovery_args={"query": " ".join(_PARTS.split(workflow_id[:200].lower())).strip()},
        )
    issues = "; ".join(f"{issue.path}: {issue.message}" for issue in found.issues[:5])
    file = PurePath(found.file).name
    return bad_argument("workflowId", f"a workflow without mistakes ({file}: {issues})", workflow_id)


def _near(workflow_id: str, definitions: list[Definition]) -> list[str]:
    """Return ids with a similar spelling, whole or after their last dot."""
    tails = {each.id.rpartition(".")[2]: each.id for each in definitions}
    known = tails | {each.id: each.id for each in definitions}
    close = difflib.get_close_matches(workflow_id, known, n=2 * SUGGESTIONS)
    return list(dict.fromkeys(known[name] for name in close))[:SUGGESTIONS]


TOOLS = (
    Tool(
        name="workflow_list",
        title="List workflows",
        description="Lists the workflows that can be followed here, the best fitting first where query says what is "
        "wanted. USE WHEN the user wants a task done step by step, or asks which workflows there are.",
        category="workflow",
        behaviour=READS,
        request=WorkflowList,
        reply=WorkflowListing,
        handler=list_workflows,
    ),
    Tool(
        name="workflow_inspect",
        title="Look at a workflow",
        description="Shows what a workflow is for and, as a preview, its steps as a diagram. Starts nothing. USE "
        "WHEN you choose between workflows, or the user wants to see the steps before a start.",
        category="workflow",
        behaviour=READS,
        request=WorkflowInspect,
        reply=WorkflowDetails,
        handler=inspect_workflow,
    ),
)
