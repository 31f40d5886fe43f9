"""A definition as its author wrote it: parsed from a decoded document, checked, and frozen (W59).

Reports every error with file, JSON path and advice. Knows nothing of files, other definitions or
execution. The compiler resolves references to routines, texts and contracts, because an unknown
name is only a warning there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.kernel.canonical import NotCanonical, canonical
from assent.kernel.limits import MAX_PROBLEMS, MAX_WORKFLOW_BYTES
from assent.kernel.structs import WireRecord
from assent.kernel.texts import quote
from assent.workflow.definition.format import WORKFLOW
from assent.workflow.definition.source_steps import check_steps
from assent.workflow.issues import Issue, find_duplicates, list_entries, mismatches, shorten, walk_values

_FUNCTION: Final = re.compile(
    r"(?:\*\*[^*]+\*\*\s*)?(?:fun\s+(?P<fun>[A-Za-z_]\w*)\((?P<arguments>[^()]*)\)\s*=\s*"
    r"|(?P<name>[A-Za-z_]\w*)\(\)(?P<part>[^:=]{0,40}):\s*)(?P<text>\S.*)",
    re.DOTALL,
)
_NAMED: Final = (
    ("assessments", "id"),
    ("references", "id"),
    ("extensionPoints", "slotId"),
    ("functionDefinitions", "name"),
)


class Part(WireRecord, kw_only=True):
    """Base of all parts of a definition: camel case on disk, fields may be absent."""


class Loop(Part, frozen=True):
    """The repetition of a loop step. Only the fields of its `type` are set."""

    type: str
    max_iterations: int
    condition: dict[str, Any] | None = None
    condition_source: dict[str, Any] | None = None
    items: str | None = None
    count: int | str | None = None
    iteration_var: str | None = None
    item_var: str | None = None
    index_var: str | None = None


class Delegation(Part, frozen=True):
    """A piece of work that a parallel step gives to a helper."""

    workflow_id: str
    goal: str | None = None
    run_condition: dict[str, Any] | None = None
    context_mapping: dict[str, str] = {}
    args: dict[str, str] = {}
    model_tier: str | None = None
    allowed_tools: tuple[str, ...] = ()


class Fragment(Part, frozen=True):
    """Text that is added to a prompt while its condition holds."""

    id: str
    text: str
    when: dict[str, Any] | None = None


class Function(Part, frozen=True):
    """A named instruction that steps refer to."""

    name: str
    definition: str
    parameters: tuple[dict[str, Any], ...] = ()
    scope: str | None = None


class TemplateCall(Part, frozen=True):
    """A call of a routine, whose steps replace this step."""

    template_id: str
    args: dict[str, Any] = {}


class Step(Part, frozen=True):
    """One entry of `steps`: plain, loop or parallel, by its `type`."""

    id: str
    title: str
    type: str = "step"
    prompt: str | None = None
    prompt_blocks: dict[str, Any] | None = None
    prompt_fragments: tuple[Fragment, ...] = ()
    agent_role: str | None = None
    model_tier: str | None = None
    guidance: tuple[str, ...] = ()
    ask_for_files: bool = False
    has_validation: bool = False
    require_confirmation: bool | dict[str, Any] = False
    confirmation_prompt: str | None = None
    run_condition: dict[str, Any] | None = None
    validation_criteria: list[Any] | dict[str, Any] | None = None
    output_contract: dict[str, Any] | None = None
    assessment_refs: tuple[str, ...] = ()
    assessment_consequences: tuple[dict[str, Any], ...] = ()
    notes_optional: bool | None = None
    function_definitions: tuple[Function, ...] = ()
    function_calls: tuple[dict[str, Any], ...] = ()
    function_references: tuple[str, ...] = ()
    template_call: TemplateCall | None = None
    audit: dict[str, Any] | None = None
    verification: dict[str, Any] | None = None
    action: dict[str, Any] | None = None
    on_reject: str = "stay"
    loop: Loop | None = None
    body: str | tuple[Step, ...] | None = None
    parallel_delegations: tuple[Delegation, ...] = ()
    synthesis: dict[str, Any] | None = None


class Definition(Part, frozen=True):
    """A whole definition file that passed every check."""

    id: str
    name: str
    description: str
    version: str
    steps: tuple[Step, ...]
    model_tier: str | None = None
    about: str | None = None
    examples: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    clarification_prompts: tuple[str, ...] = ()
    meta_guidance: tuple[str, ...] = ()
    function_definitions: tuple[Function, ...] = ()
    recommended_preferences: dict[str, str] = {}
    features: tuple[str, ...] = ()
    assessments: tuple[dict[str, Any], ...] = ()
    extension_points: tuple[dict[str, Any], ...] = ()
    references: tuple[dict[str, Any], ...] = ()
    metrics_profile: str = "none"


class DefinitionRefused(Exception):  # noqa: N818 - an answer to the author
    """The file is no valid workflow; `issues` has all its errors, `file` its name."""

    def __init__(self, file: str, issues: tuple[Issue, ...]) -> None:
        super().__init__(f"{file}: " + "; ".join(f"{issue.path}: {issue.message}" for issue in issues[:3]))
        self.file = file
        self.issues = issues


def parse(document: Any, file: str) -> Definition:
    """Parse a decoded JSON or YAML document. Raises `DefinitionRefused` with every issue (W59)."""
    try:
        plain = canonical(document)
    except (NotCanonical, TypeError):
        raise DefinitionRefused(file, (shorten(_without_form(document)),))
    if (size := len(plain)) > MAX_WORKFLOW_BYTES:
        message = f"The definition has {size} bytes; at most {MAX_WORKFLOW_BYTES} are taken. Split it into routines."
        raise DefinitionRefused(file, (Issue("$", "too_large", message),))
    issues = list(_issues(document))
    if issues:
        raise DefinitionRefused(file, tuple(map(shorten, issues[:MAX_PROBLEMS])))
    # Read back from the canonical form, so that nothing depends on the order of keys, and 5.0 is 5.
    return msgspec.convert(msgspec.json.decode(plain), Definition)


def _without_form(document: Any) -> Issue:
    """Return the issue of a value or key that JSON cannot express."""
    path, odd = "$", document
    for path, odd in walk_values(document):
        try:
            canonical({path: None} if isinstance(odd, (dict, list)) else {path: odd})
        except (NotCanonical, TypeError):
            break
    path = path.encode("utf-8", "replace").decode()
    message = f"JSON has no form for {quote(odd)}: write a number up to 2^53, or a text of plain characters."
    return Issue(path, "not_json", message)


def _issues(document: Any) -> Iterator[Issue]:
    yield from mismatches(document, WORKFLOW, "$")
    if isinstance(document, dict):
        for field, key in _NAMED:
            yield from find_duplicates(document, field, key, "$")
        for n, entry in enumerate(list_entries(document, "assessments")):
            if isinstance(entry, dict):
                yield from find_duplicates(entry, "dimensions", "id", f"$.assessments[{n}]")
        if isinstance(document.get("steps"), list):
            yield from check_steps(document)


def collect_functions(definition: Definition) -> dict[str, Function]:
    """Return the functions by name: declared ones, and those that older libraries write as lines of
    the guidance (`name(): what it does`, `fun name(arguments) = 'what it does'`). Lines of one name
    are one function."""
    found: dict[str, list[str]] = {}
    for line in definition.meta_guidance:
        if (match := _FUNCTION.match(line)) is None:
            continue
        given, part = match["arguments"], (match["part"] or "").strip()
        head = f"({given}) = " if given else f"{part}: " if part else ""
        found.setdefault(match["fun"] or match["name"], []).append(head + match["text"].strip())
    written = {name: Function(name=name, definition=" ".join(texts)) for name, texts in found.items()}
    return written | {function.name: function for function in definition.function_definitions}
