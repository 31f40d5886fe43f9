"""Compiles prompts: text, blocks, guidance, functions, features and conditional fragments become
pieces of text.

Blocks have a fixed order, so the same definition always gives the same prompt. A prompt also describes
the required output (W34, W38): by an example in the author's text if it passes the contract, else one
sentence says which form counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.kernel.shapes import Shape
from assent.workflow.contracts.checks import join_artifacts, make_assessment
from assent.workflow.contracts.criteria import Criteria, requirements
from assent.workflow.contracts.registry import name_kind
from assent.workflow.definition.lowering import Lowering, Within
from assent.workflow.definition.source import Delegation, Function, Step
from assent.workflow.issues import mismatches
from assent.workflow.machine.content import parse_output
from assent.workflow.machine.values import format_value
from assent.workflow.program import PLAN, PLAN_RUN, Assessment, Confirm, Consequence, Contract, Text

MAX_FIELDS: Final = 24
MAX_DEPTH: Final = 4
_BLOCK: Final = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)
_TYPES: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def form_texts(
    contract: Contract | None,
    assessments: tuple[Assessment, ...] = (),
    consequences: tuple[Consequence, ...] = (),
    written: str = "",
) -> tuple[Text, ...]:
    """Return the prompt texts about the output. `written` is the author's prompt."""
    if contract is None and not assessments:
        return ()
    parts = [*_fields(contract), *_scales(assessments)]
    examples = [contract.example] if contract is not None and contract.example is not None else []
    examples += [made for each in assessments if (made := make_assessment(each, consequences)) is not None]
    if (form := join_artifacts(examples)) is not None:
        own = list(_objects(written))
        if not assessments and any(_passes(each, contract) for each in own):
            parts.append("Send the JSON above as `output`, with your own values.")
        else:
            json = msgspec.json.format(msgspec.json.encode(form, order="deterministic"), indent=2).decode()
            counts = (
                " This form counts, also where the text above shows another."
                if _BLOCK.search(written)
                else ""
            )
            parts.append(
                f"Send `output` in this form, with your own values.{counts}\n\n```json\n{escape_braces(json)}\n```"
            )
    return (Text(text="\n\n".join(parts)),)


def _objects(written: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON blocks of an author's text."""
    for block in _BLOCK.findall(written):
        try:
            found = msgspec.json.decode(block)
        except msgspec.DecodeError:
            continue
        if isinstance(found, dict):
            yield found


def _passes(output: dict[str, Any], contract: Contract | None) -> bool:
    if contract is None or contract.kind is None or contract.schema is None:
        return False
    taken, issues = parse_output(output)
    sent = taken.of_kind(contract.kind)
    return bool(sent) and not issues and not any(mismatches(each, contract.schema, at) for at, each in sent)


def _fields(contract: Contract | None) -> list[str]:
    if contract is None:
        return []
    need = "This step needs" if contract.required else "This step takes"
    if contract.example is None:
        return [
            f"{need} structured output ([unknown contract: {contract.ref}]): send any object with a `kind`, such as "
            f"`{name_kind(contract.ref)}`."
        ]
    lines = [line for line in _describe(contract.schema or {}, "", 0) if not line.startswith("- `kind`")]
    if len(lines) > MAX_FIELDS:
        lines = [*lines[:MAX_FIELDS], f"- and {len(lines) - MAX_FIELDS} more fields, as in the form"]
    return ["\n".join([f"## Structured output\n{need} structured output:", *map(escape_braces, lines)])]


def _describe(shape: Shape, prefix: str, depth: int) -> Iterator[str]:
    """Yield a line per field of an object: whether it is required, and its allowed values."""
    if depth >= MAX_DEPTH:
        return
    required = shape.get("required", ())
    for name, part in shape.get("properties", {}).items():
        path = f"{prefix}{name}"
        yield f"- `{path}`{' (required)' if name in required else ''}: {_describe_values(part)}"
        if part.get("type") == "array":
            yield from _describe(part.get("items") or {}, f"{path}[].", depth + 1)
        else:
            yield from _describe(part, f"{path}.", depth + 1)


def _describe_values(shape: Shape) -> str:
    values = shape.get("enum") or ([shape["const"]] if "const" in shape else [])
    what = " / ".join(each if isinstance(each, str) else str(each) for each in values)
    kind = shape.get("type")
    what = what or (_TYPES.get(kind, "any value") if isinstance(kind, str) else "any value")
    return f"{what}. {shape['hint']}" if values and "hint" in shape else what


def _scales(assessments: tuple[Assessment, ...]) -> list[str]:
    if not assessments:
        return []
    lines = ["## Assess your work", "Send one `wr.assessment` in `output` for each of:"]
    for entry in assessments:
        lines.append(f"- `{entry.id}`: {entry.purpose}")
        lines += [f"  - `{part.id}` ({' / '.join(part.levels)}): {part.purpose}" for part in entry.dimensions]
    return ["\n".join(lines)]


def escape_braces(text: str) -> str:
    """Escape a text for the renderer: doubled braces would be placeholders."""
    return text.replace("{{", "{ {").replace("}}", "} }")


_MARKED: Final = re.compile(r"(?:\d+[.)]|[-*•])\s")
_LAID_OUT: Final = re.compile(r"\s|```|$")
_NAMED: Final = re.compile(r"Step \d+\b")
EXECUTOR: Final = "WorkRail Executor"
EXECUTOR_MEANS: Final = (
    f"A {EXECUTOR} is a helper agent of yours; where you can run none, do its work yourself."
)
_ROUTINE: Final = re.compile(r"`((?:wr\.)?routine-[a-z0-9-]+)`")


def lower_prompt(step: Step, lowering: Lowering, within: Within) -> tuple[Text, ...]:
    """Return the pieces of a plain step's prompt."""
    path = f"{within.path}.{step.id}"
    pieces = [f"Role: {step.agent_role}"] if step.agent_role else []
    if step.prompt:
        pieces.append(step.prompt)
    if step.prompt_blocks:
        pieces += _blocks(step.prompt_blocks, lowering, path, contract=step.output_contract is not None)
    if not step.prompt and not step.prompt_blocks:
        pieces.append(step.title)
        if not step.prompt_fragments and step.action is None:
            lowering.warn(
                "step_without_prompt", path, f'Step "{step.id}" has no prompt; the agent sees only its title.'
            )
    pieces += guidance_text(step, within)
    pieces += _list("Throughout", _features(lowering, within))
    if step.ask_for_files:
        pieces.append("Ask the user for the files you need before you begin.")
    pieces += _functions(step, lowering, within, path)
    texts = [Text(text=lowering.bind("\n\n".join(pieces), path))]
    texts += [Text(text=lowering.bind(part.text, path), when=part.when) for part in step.prompt_fragments]
    return tuple(texts)


_ARGUMENTS: Final = ("notesMarkdown", "artifacts")
"""What an author names in `outputRequired` that is no value of the context."""


def _blocks(blocks: dict[str, Any], lowering: Lowering, path: str, *, contract: bool) -> list[str]:
    pieces: list[str] = []
    if "goal" in blocks:
        pieces.append(f"## Goal\n{_value(blocks['goal'], lowering, path)}")
    for key, title in (("constraints", "Constraints"), ("procedure", "Procedure")):
        pieces += _list(
            title, [_value(part, lowering, path) for part in blocks.get(key, ())], numbered=key == "procedure"
        )
    wanted = {name: f"`{name}`: {what}" for name, what in sorted(blocks.get("outputRequired", {}).items())}
    values = [] if contract else [each for name, each in wanted.items() if name not in _ARGUMENTS]
    pieces += _list("Output required", [each for each in wanted.values() if each not in values])
    pieces += _list("Output required, in `context`", values)
    pieces += _list("Verify", [_value(part, lowering, path) for part in blocks.get("verify", ())])
    return pieces


def _list(title: str, entries: tuple[str, ...] | list[str], *, numbered: bool = False) -> list[str]:
    """Write a titled list, unless it is empty."""
    return [f"## {title}\n{write_list(entries, numbered=numbered)}"] if entries else []


def write_list(entries: tuple[str, ...] | list[str], *, numbered: bool = False) -> str:
    """Write entries as a list. An entry with its own mark or layout keeps it."""
    if not numbered:
        return "\n".join(entry if _MARKED.match(entry) else f"- {entry}" for entry in entries)
    if any(_MARKED.match(entry) or _LAID_OUT.match(entry) for entry in entries):
        return "\n".join(entries)
    own = all(_NAMED.match(entry) for entry in entries)
    return "\n".join(f"- {entry}" if own else f"{n}. {entry}" for n, entry in enumerate(entries, 1))


def _value(value: str | list[dict[str, str]], lowering: Lowering, path: str) -> str:
    if isinstance(value, str):
        return value
    return "".join(
        part["text"] if part["kind"] == "text" else _reference(part["refId"], lowering, path)
        for part in value
    )


def _reference(name: str, lowering: Lowering, path: str) -> str:
    if name in REFERENCES:
        return REFERENCES[name]
    lowering.warn(
        "unknown_ref", path, f'The reference text "{name}" is not known here; write it out as text.'
    )
    return f"[unknown reference: {name}]"


def _features(lowering: Lowering, within: Within) -> list[str]:
    lines: list[str] = []
    for name in within.features:
        if name in FEATURES:
            lines += FEATURES[name]
        else:
            lowering.warn(
                "unknown_feature",
                "$.features",
                f'The feature "{name}" is not known here and changes nothing.',
            )
            lines.append(f"[unknown feature: {name}]")
    return lines


def _functions(step: Step, lowering: Lowering, within: Within, path: str) -> list[str]:
    known = {**within.functions, **{function.name: function for function in step.function_definitions}}
    named = [reference.removesuffix("()") for reference in step.function_references]
    calls = [f"Apply {call['name']}({_arguments(call['args'])})." for call in step.function_calls]
    named += [call["name"] for call in step.function_calls if call["name"] not in named]
    named += [function.name for function in step.function_definitions if function.name not in named]
    lines: list[str] = []
    for name in named:
        if name in known:
            lines.append(_function(known[name]))
        else:
            lowering.warn(
                "unknown_function", path, f'No function "{name}" is defined; define it or drop the reference.'
            )
            lines.append(f"[unknown function: {name}]")
    return _list("Functions used here", lines) + _list("Calls", calls)


def _function(function: Function) -> str:
    parameters = ", ".join(
        parameter["name"] + ("" if parameter.get("required", True) else "?") + f": {parameter['type']}"
        for parameter in function.parameters
    )
    more = [line for parameter in function.parameters if (line := _parameter(parameter))]
    return "\n".join([f"{function.name}({parameters}): {function.definition}", *more])


def _parameter(parameter: dict[str, Any]) -> str:
    """Describe a parameter beyond its name and type; empty if the definition says nothing more."""
    said = [parameter["description"]] if parameter.get("description") else []
    if "enum" in parameter:
        said.append("one of " + ", ".join(map(format_value, parameter["enum"])))
    if "default" in parameter:
        said.append(f"default {format_value(parameter['default'])}")
    return f"  - {parameter['name']}: {'; '.join(said)}" if said else ""


def _arguments(args: dict[str, Any]) -> str:
    return ", ".join(f"{name}={format_value(value)}" for name, value in sorted(args.items()))


def guidance_text(step: Step, within: Within) -> list[str]:
    """Return the guidance of the loops around a step, and its own."""
    return _list("Guidance", (*within.guidance, *step.guidance))


def work_text(part: Delegation, title: str) -> str:
    """Write a delegated piece of work for the helper who takes it."""
    lines = [f"### {title}: follow workflow `{part.workflow_id}`"]
    if part.goal:
        lines.append(f"Goal: {part.goal}")
    lines += [f"- {name}: {value}" for name, value in sorted(part.args.items())]
    lines += [f"- {to} = {{{{{name}}}}}" for name, to in sorted(part.context_mapping.items())]
    if part.model_tier:
        lines.append(f"A {part.model_tier} model is enough.")
    if part.allowed_tools:
        lines.append(f"Tools it needs: {', '.join(part.allowed_tools)}.")
    start = msgspec.json.encode({"workflowId": part.workflow_id}).decode()
    lines.append(
        f"Start it with workflow_start {start} if that workflow is listed; otherwise do what it is named for."
    )
    return "\n".join(lines)


_PLAN_FORM: Final = (
    f"Set `{PLAN_RUN}` in `context` to the runId of what was prepared. A person decides about its actions as one plan; "
    "the step passes once each of them is decided."
)


def confirmation_text(step: Step, confirm: Confirm | None) -> tuple[Text, ...]:
    """Return what a confirmation asks of the agent: the run of a plan, the author's question to the person."""
    if confirm is None:
        return ()
    said = [_PLAN_FORM] if confirm.kind == PLAN else []
    if step.confirmation_prompt is not None:
        said.append(f"Ask the person who confirms:\n{step.confirmation_prompt}")
    return tuple(Text(text=each, when=confirm.when) for each in said)


def criteria_text(criteria: Criteria) -> tuple[Text, ...]:
    """Return the rules for the notes, so that the agent knows them beforehand."""
    always, sometimes = [], []
    for line, when in requirements(criteria):
        if when is None:
            always.append(escape_braces(line))
        else:
            sometimes.append(Text(text=f"The notes must also {escape_braces(line)}", when=when))
    texts = [Text(text=piece) for piece in _list("The notes must", always)]
    return (*texts, *sometimes)


def name_texts(written: str, lowering: Lowering) -> tuple[Text, ...]:
    """Return a prompt section that explains names in a step's text that belong to another runner:
    the public library refers to its own runner, and to routines by short names."""
    lines = []
    for name in dict.fromkeys(_ROUTINE.findall(written)):
        kept = next((each for each in (name, f"wr.{name}") if each in lowering.library), None)
        if kept is None:
            lines.append(f"- `{name}` is not installed here: do what it is named for yourself.")
        elif kept != name:
            lines.append(f"- `{name}` is the workflow `{kept}`.")
    if EXECUTOR in written:
        lines.append(f"- {EXECUTOR_MEANS}")
    return (Text(text=escape_braces("\n".join(["## Names used here", *lines]))),) if lines else ()


# Shared instructions that definitions name: reference texts, features and metrics footers.
#
# An unknown name gives a warning and a visible marker in the prompt.

REFERENCES: Final[dict[str, str]] = {
    "wr.refs.notes_first_durability": "Write down what matters in the notes of this step: findings, decisions, what is "
    "uncertain, what comes next. Notes and context survive a rewound or lost chat; files and memory may not.",
    "wr.refs.parallelize_cognition_serialize_synthesis": "Independent looks at the same question may run side by side. "
    "Bringing them together is one person's work: yours. Read every result, weigh it, and decide once.",
    "wr.refs.adversarial_challenge_rules": "Try to break the current answer. Look for the strongest counter-example, "
    "the weakest evidence and the simplest other explanation, and report an attack that failed as plainly as one that "
    "succeeded.",
    "wr.refs.synthesis_under_disagreement": "Where results disagree, do not average them. State what each claims, "
    "which evidence decides, what you conclude, and what stays open.",
    "wr.refs.memory_usage": "If you have a memory tool, ask it for what is known about this work before you begin, and "
    "store what you decided and learned before you advance.",
    "wr.refs.memory_query": "If you have a memory tool, ask it for earlier decisions and facts about this work before "
    "you begin.",
    "wr.refs.memory_store": "If you have a memory tool, store the decisions and facts of this step before you advance.",
}

FEATURES: Final[dict[str, tuple[str, ...]]] = {
    "wr.features.capabilities": (
        "Find out which of your tools (delegation, web access, memory, running commands) really work before a step "
        "depends on one. If one is missing, do the work yourself and say so in the notes.",
    ),
    "wr.features.subagent_guidance": (
        "If you can hand work to helpers, give each one a bounded question and everything it needs to know; they do "
        "not see this chat. Check and combine what they return yourself; never pass it on unread.",
    ),
    "wr.features.memory_context": (REFERENCES["wr.refs.memory_usage"],),
    "wr.features.output_contracts": (
        "Where a step asks for structured output, send exactly the fields it names in `output`, and put prose in the "
        "notes.",
    ),
}

_OUTCOME: Final = "set `metrics_outcome` in `context` to success, partial, abandoned or error"
METRICS: Final[dict[str, str]] = {
    "coding": f"When you advance past this step, {_OUTCOME}, `metrics_commit_shas` to the list of commits made and "
    "`metrics_pr_numbers` to the pull requests opened.",
    "review": f"When you advance past this step, {_OUTCOME} and `metrics_pr_numbers` to the pull requests reviewed.",
    "research": f"When you advance past this step, {_OUTCOME}.",
    "design": f"When you advance past this step, {_OUTCOME}.",
    "ticket": f"When you advance past this step, {_OUTCOME}.",
}
