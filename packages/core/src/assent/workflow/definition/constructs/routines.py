"""Template calls: replace one step by the steps of a routine, with its arguments filled in.

`wr.templates.routine.X` is the routine `wr.routine-X`. The injected steps have their own ids
(`caller.step`) and run under the caller's condition. A routine that calls itself, even indirectly,
is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from assent.kernel.limits import MAX_TEMPLATE_DEPTH
from assent.workflow.definition.constructs.prompts import confirmation_text
from assent.workflow.definition.constructs.steps import lower_confirm
from assent.workflow.definition.lowering import Lowering, Within
from assent.workflow.definition.source import Definition, Step, collect_functions
from assent.workflow.machine.values import format_value
from assent.workflow.program import Ask, Confirm, Text

ROUTINE_TEMPLATES: Final = "wr.templates.routine."
_ARGUMENT: Final = re.compile(r"(?<![{$])\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})")
_DECISIONS: Final = b"wr.decisions."
_DECISION: Final = re.compile(r"(\bwr\.decisions\.)([a-z0-9-]+)")
_KEPT: Final = frozenset(
    [
        "id",
        "type",
        "kind",
        "refId",
        "outputContract",
        "assessmentRefs",
        "functionDefinitions",
        "functionReferences",
        "pattern",
        "matches",
        "schema",
    ]
)
"""Fields of a routine's steps with names and patterns, in which braces are no arguments."""
_OF_A_CALL: Final = frozenset(
    [
        "id",
        "title",
        "type",
        "guidance",
        "template_call",
        "run_condition",
        "require_confirmation",
        "confirmation_prompt",
        "on_reject",
    ]
)


def lower(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """Compile the routine's steps, or one step that names the missing routine."""
    call = step.template_call
    if call is None:
        raise ValueError("a step without a template call has no routine")
    path = f"{within.path}.{step.id}"
    name = call.template_id
    routine_id = _routine_id(name, lowering)
    routine = lowering.library.get(routine_id)
    if routine is None:
        return _missing(step, name, lowering, within, path)
    if routine_id in within.routines or routine_id == lowering.definition.id:
        way = " → ".join([lowering.definition.id, *within.routines, routine_id])
        lowering.refuse(path, "cycle", f"The routine calls itself: {way}. Remove that call.")
    if len(within.routines) >= MAX_TEMPLATE_DEPTH:
        lowering.refuse(path, "too_deep", f"Routines inject routines at most {MAX_TEMPLATE_DEPTH} deep.")
    return _inject(step, routine, routine_id, lowering, within, path)


def _routine_id(name: str, lowering: Lowering) -> str:
    """`wr.templates.routine.X` is `wr.routine-X`, `routine-X` or `X`, whichever exists."""
    if not name.startswith(ROUTINE_TEMPLATES):
        return name
    plain = name.removeprefix(ROUTINE_TEMPLATES)
    known = (each for each in (f"wr.routine-{plain}", f"routine-{plain}", plain) if each in lowering.library)
    return next(known, f"wr.routine-{plain}")


def _missing(step: Step, name: str, lowering: Lowering, within: Within, path: str) -> tuple[int, ...]:
    lowering.warn(
        "unknown_template",
        path,
        f'The template "{name}" is not known here; add its routine or write the steps.',
    )
    own = f"\n\n{step.prompt}" if step.prompt else ""
    ask = Ask(
        id=within.prefix + step.id,
        title=step.title,
        prompt=(Text(text=f"[unknown template: {name}] Do what the title says as well as you can.{own}"),),
        when=within.condition(step.run_condition),
        confirm=lower_confirm(step.require_confirmation),
        on_reject=step.on_reject,
    )
    return (lowering.add(ask, path),)


def _inject(
    step: Step, routine: Definition, routine_id: str, lowering: Lowering, within: Within, path: str
) -> tuple[int, ...]:
    args = {
        key: format_value(value)
        for key, value in (step.template_call.args if step.template_call else {}).items()
    }
    missing: set[str] = set()
    prefix = f"{within.prefix}{step.id}."
    steps = [_place(_fill(part, args, missing), routine, prefix) for part in routine.steps]
    _warn(step, routine_id, missing, lowering, path)
    # The caller's confirmation covers the whole routine, so it is asked for at the end: with the
    # last step if that step is always asked, else by an extra step.
    confirm = lower_confirm(step.require_confirmation)
    named = find_bodies(tuple(steps))
    last = steps[-1]
    closes = last.id not in named and _is_unconditional(last)
    if confirm is not None and closes and not (last.require_confirmation or last.action):
        steps[-1] = msgspec.structs.replace(
            last,
            require_confirmation=step.require_confirmation,
            confirmation_prompt=step.confirmation_prompt,
            on_reject=step.on_reject,
        )
    inner = Within(
        prefix=prefix,
        when=within.condition(step.run_condition),
        functions=collect_functions(routine),
        features=routine.features,
        assessments={entry["id"]: entry for entry in routine.assessments},
        steps={part.id: part for part in steps},
        routines=(*within.routines, routine_id),
        # Each step repeats the rules of its routine, because a chat may begin at any of them.
        guidance=(*within.guidance, *step.guidance, *_fill_value(routine.meta_guidance, args, set())),
        path=path,
    )
    nodes = [index for part in steps if part.id not in named for index in lowering.lower(part, inner)]
    if confirm is not None and not closes:
        nodes.append(lowering.add(_closing(step, confirm, within), path))
    return tuple(nodes)


def _is_unconditional(step: Step) -> bool:
    """Whether a step is a plain last step without a condition on itself or on its confirmation."""
    plain = step.type != "loop" and step.verification is step.audit is step.synthesis is None
    return plain and step.run_condition is None and isinstance(step.require_confirmation, bool)


def _closing(step: Step, confirm: Confirm, within: Within) -> Ask:
    """Return the step that asks for the caller's confirmation after the routine."""
    text = f"{step.title} is done once a person has confirmed it. Say in the notes what came of it."
    return Ask(
        id=within.prefix + step.id,
        title=f"Confirm: {step.title}"[:200],
        prompt=(Text(text=text), *confirmation_text(step, confirm)),
        when=within.condition(step.run_condition),
        confirm=confirm,
        on_reject=step.on_reject,
    )


def _warn(step: Step, routine_id: str, missing: set[str], lowering: Lowering, path: str) -> None:
    for name in sorted(missing):
        lowering.warn(
            "missing_argument",
            path,
            f'The routine "{routine_id}" takes "{name}"; give it in templateCall.args, or it stays {{{name}}}.',
        )
    for field in msgspec.structs.fields(Step):
        if field.name not in _OF_A_CALL and getattr(step, field.name) != field.default:
            lowering.warn(
                "unused_field",
                path,
                f'The steps come from the routine "{routine_id}": "{field.encode_name}" is not used here.',
            )


def _all(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        if step.body is not None and not isinstance(step.body, str):
            yield from _all(step.body)


def _place(step: Step, routine: Definition, prefix: str) -> Step:
    """Rename references to decisions in a routine to the injected steps."""
    if _DECISIONS not in msgspec.json.encode(step):
        return step
    own = {part.id for part in _all(routine.steps)}

    def rename(match: re.Match[str]) -> str:
        return f"{match[1]}{prefix}{match[2]}" if match[2] in own else match[0]

    def rename_in(value: Any) -> Any:
        if isinstance(value, str):
            return _DECISION.sub(rename, value)
        if isinstance(value, dict):
            return {key: rename_in(part) for key, part in value.items()}
        return [rename_in(part) for part in value] if isinstance(value, (list, tuple)) else value

    return msgspec.convert(rename_in(msgspec.to_builtins(step)), Step)


def find_bodies(steps: tuple[Step, ...]) -> frozenset[str]:
    """Return the ids of steps that run only inside the loops that name them."""
    found: set[str] = set()
    stack = list(steps)
    while stack:
        step = stack.pop()
        if isinstance(step.body, str):
            found.add(step.body)
        elif step.body is not None:
            stack += step.body
    return frozenset(found)


def _fill(step: Step, args: dict[str, str], missing: set[str]) -> Step:
    return msgspec.convert(_fill_value(msgspec.to_builtins(step), args, missing), Step)


def _fill_value(value: Any, args: dict[str, str], missing: set[str]) -> Any:
    """Fill the arguments into a value; a missing one stays as written and is added to `missing`."""

    def argument(match: re.Match[str]) -> str:
        if match[1] not in args:
            missing.add(match[1])
        return args.get(match[1], match[0])

    if isinstance(value, str):
        return _ARGUMENT.sub(argument, value)
    if isinstance(value, dict):
        return {
            key: part if key in _KEPT else _fill_value(part, args, missing) for key, part in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_fill_value(part, args, missing) for part in value]
    return value
