"""Compiles the steps of each type: plain ones with what `audit` and `verification` add after them, loops
with a body in place or named, and work that is given to helpers, whose results are joined."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.kernel.structs import from_row
from assent.workflow.contracts.registry import REGISTRY
from assent.workflow.definition.constructs.prompts import (
    confirmation_text,
    criteria_text,
    form_texts,
    guidance_text,
    lower_prompt,
    name_texts,
    work_text,
)
from assent.workflow.definition.lowering import Lowering, Within
from assent.workflow.definition.source import Delegation, Loop, Step
from assent.workflow.program import (
    Ask,
    Assessment,
    Confirm,
    Consequence,
    Contract,
    Dimension,
    Repeat,
    StepAction,
    Text,
)


def lower_step(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """Compile the step, then the steps that check it."""
    path = f"{within.path}.{step.id}"
    contract = lower_contract(step.output_contract, lowering, path)
    assessments = tuple(_assessment(within.assessments[ref]) for ref in step.assessment_refs)
    prompt = lower_prompt(step, lowering, within)
    consequences = tuple(_consequence(entry) for entry in step.assessment_consequences)
    written = "\n\n".join(part.text for part in prompt)
    prompt += name_texts(written, lowering)
    prompt += form_texts(contract, assessments, consequences, written)
    if step.validation_criteria is not None:
        prompt += criteria_text(step.validation_criteria)
    action = StepAction(tool=step.action["tool"], args=step.action.get("args", {})) if step.action else None
    # An action always waits for a person, whatever else the step says (W40).
    confirm = Confirm() if action is not None else lower_confirm(step.require_confirmation)
    prompt += confirmation_text(step, confirm)
    if confirm is not None and step.confirmation_prompt is not None:
        confirm = msgspec.structs.replace(confirm, question=step.confirmation_prompt)
    node = Ask(
        id=within.prefix + step.id,
        title=step.title,
        prompt=prompt,
        when=within.condition(step.run_condition),
        confirm=confirm,
        on_reject=step.on_reject,
        contract=contract,
        criteria=step.validation_criteria,
        assessments=assessments,
        consequences=consequences,
        notes_required=step.notes_optional is False,
        action=action,
        model_tier=step.model_tier,
        ask_for_files=step.ask_for_files,
    )
    return (lowering.add(node, path), *_checks(step, lowering, within, path))


_AUDIT: Final = "Audit the result of the step before as if somebody else had made it."
_VERIFY: Final = "Verify the result of the step before."
_FIND_CHECKS: Final = (
    "Find out how this project checks such work (tests, builds, linters). Run what is there, write what is missing, "
    "and report the results truthfully."
)


def _checks(step: Step, lowering: Lowering, within: Within, path: str) -> list[int]:
    added: list[tuple[str, str, list[Text]]] = []
    if (wanted := step.verification) is not None:
        parts = [wanted.get("prompt", _VERIFY)]
        if wanted.get("cognitive"):
            parts.append(_FIND_CHECKS)
        if "command" in wanted:
            parts.append(f"Run this and report its result truthfully:\n\n```\n{wanted['command']}\n```")
        added.append(("verify", f"Verify: {step.title}", _check_texts(parts, wanted)))
    if (wanted := step.audit) is not None:
        parts = [wanted.get("prompt", _AUDIT)]
        if "rubric" in wanted:
            parts.append("Judge each of:\n" + "\n".join(f"- {line}" for line in wanted["rubric"]))
        added.append(("audit", f"Audit: {step.title}", _check_texts(parts, wanted)))
    return [
        lowering.add(
            Ask(
                id=f"{within.prefix}{step.id}.{suffix}",
                title=title[:200],
                prompt=tuple(Text(text=lowering.bind(part.text, path), when=part.when) for part in texts),
                when=within.condition(step.run_condition),
            ),
            path,
        )
        for suffix, title, texts in added
    ]


def _check_texts(parts: list[str], wanted: dict[str, Any]) -> list[Text]:
    texts = [Text(text="\n\n".join(parts))]
    if "delegate" in wanted:
        helper = msgspec.convert(wanted["delegate"], Delegation)
        text = work_text(
            helper, "Hand this to a helper if you can run one, and weigh what comes back yourself"
        )
        texts.append(Text(text=text, when=helper.run_condition))
    return texts


def lower_confirm(rule: bool | dict[str, Any]) -> Confirm | None:
    """Parse the three notations of `requireConfirmation`."""
    if isinstance(rule, bool):
        return Confirm() if rule else None
    if "kind" in rule:
        return Confirm(kind=rule["kind"], when=rule.get("condition"))
    return Confirm(when=rule)


def lower_contract(written: dict[str, Any] | None, lowering: Lowering, path: str) -> Contract | None:
    """Return the contract that a step names or contains, copied into the program."""
    if written is None:
        return None
    required = written.get("required", True)
    if "schema" in written:
        return from_row(Contract, written, ref=written.get("contractRef", written["kind"]), required=required)
    ref = written["contractRef"]
    if ref not in REGISTRY:
        lowering.warn(
            "unknown_contract",
            path,
            f'The contract "{ref}" is not known here; any object with a kind passes.',
        )
        return Contract(ref=ref, required=required)
    known = REGISTRY[ref]
    return Contract(ref=ref, required=required, kind=known.kind, schema=known.schema, example=known.example)


def _assessment(entry: dict[str, Any]) -> Assessment:
    return Assessment(
        id=entry["id"],
        purpose=entry["purpose"],
        dimensions=tuple(
            Dimension(
                id=dimension["id"],
                purpose=dimension["purpose"],
                levels=tuple(dimension["levels"]),
                required=dimension.get("required", True),
            )
            for dimension in entry["dimensions"]
        ),
    )


def _consequence(entry: dict[str, Any]) -> Consequence:
    return Consequence(
        level=entry["when"]["anyEqualsLevel"],
        guidance=entry["effect"]["guidance"],
        assessment=entry["when"].get("forAssessment"),
    )


def lower_parallel(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """Compile to one step that lists the work, and one for the synthesis if there is one."""
    path = f"{within.path}.{step.id}"
    when = within.condition(step.run_condition)
    intro = (
        "Hand out the work below. If you can run helpers, run them side by side and give each everything it needs; "
        "if not, do each piece yourself, one after the other. Wait until all are done."
    )
    outro = "Put what each piece of work returned into the notes. If none is listed above, say so and go on."
    confirm = lower_confirm(step.require_confirmation)
    asks = [
        Ask(
            id=within.prefix + step.id,
            title=step.title,
            prompt=(
                Text(text=intro),
                *(
                    Text(text=lowering.bind(work_text(part, f"Work {n}"), path), when=part.run_condition)
                    for n, part in enumerate(step.parallel_delegations, 1)
                ),
                Text(text=outro),
                *(Text(text=lowering.bind(piece, path)) for piece in guidance_text(step, within)),
                *confirmation_text(step, confirm),
            ),
            when=when,
            confirm=confirm,
            on_reject=step.on_reject,
            notes_required=step.notes_optional is False,
        )
    ]
    if step.synthesis is not None:
        contract = lower_contract(step.synthesis.get("outputContract"), lowering, path)
        text = step.synthesis.get(
            "prompt", "Bring the results of the delegated work together: agreements, conflicts, gaps."
        )
        asks.append(
            Ask(
                id=f"{within.prefix}{step.id}.synthesis",
                title=f"Synthesis: {step.title}"[:200],
                prompt=(
                    Text(text=lowering.bind(text, path)),
                    *form_texts(contract, written=text),
                ),
                when=when,
                contract=contract,
            )
        )
    return tuple(lowering.add(ask, path) for ask in asks)


LOOP_DECISION: Final = "wr.contracts.loop_control"


def lower_loop(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """Compile a loop; if a person confirms its start, a step before it asks for that."""
    loop = step.loop
    if loop is None or step.body is None:
        raise ValueError("a loop step without its loop passed the checks")
    path = f"{within.path}.{step.id}"
    when = within.condition(step.run_condition)
    before: tuple[int, ...] = ()
    if (confirm := lower_confirm(step.require_confirmation)) is not None:
        ask = Ask(
            id=f"{within.prefix}{step.id}.confirm",
            title=f"Confirm: {step.title}"[:200],
            prompt=(
                Text(
                    text=f"{step.title} begins once a person has confirmed it. Say in the notes what will be done."
                ),
                *confirmation_text(step, confirm),
            ),
            when=when,
            confirm=confirm,
            on_reject=step.on_reject,
        )
        before = (lowering.add(ask, path),)
    at = lowering.reserve(path)
    inner = msgspec.structs.replace(
        within,
        when=None,
        path=path,
        functions={**within.functions, **{function.name: function for function in step.function_definitions}},
        guidance=(*within.guidance, *step.guidance),
    )
    body = (within.steps[step.body],) if isinstance(step.body, str) else step.body
    nodes = tuple(index for part in body for index in lowering.lower(part, inner))
    source = _find_decision(loop, body)
    lowering.nodes[at] = _repeat(step, loop, source, within.prefix, nodes, when)
    if (decider := source.get("contractRef")) and decider not in REGISTRY:
        lowering.warn(
            "unknown_contract", path, f'The contract "{decider}" is not known here; wr.loop_control decides.'
        )
    if isinstance(loop.count, int) and loop.count > loop.max_iterations:
        lowering.warn(
            "loop_exceeds_limit",
            path,
            f"count is {loop.count}, maxIterations {loop.max_iterations}: raise it.",
        )
    return (*before, at)


def _find_decision(loop: Loop, body: tuple[Step, ...]) -> dict[str, Any]:
    """Return the condition for another round: the author's, or a loop decision that a step of the
    body must send.

    The second applies to definitions older than `conditionSource`, whose condition names a variable
    that no step sets.
    """
    if loop.condition_source is not None:
        return loop.condition_source
    contracts = [part.output_contract or {} for part in body]
    asked = any(each.get("contractRef") == LOOP_DECISION and each.get("required", True) for each in contracts)
    return {"kind": "artifact_contract", "contractRef": LOOP_DECISION} if asked else {}


def _repeat(
    step: Step,
    loop: Loop,
    source: dict[str, Any],
    prefix: str,
    body: tuple[int, ...],
    when: dict[str, object] | None,
) -> Repeat:
    by_artifact = source.get("kind") == "artifact_contract"
    names = {
        name: value
        for name, value in (
            ("iteration_var", loop.iteration_var),
            ("item_var", loop.item_var),
            ("index_var", loop.index_var),
        )
        if value is not None
    }
    decided = loop.type in ("while", "until")
    return Repeat(
        id=prefix + step.id,
        title=step.title,
        mode=loop.type,
        most=loop.max_iterations,
        body=body,
        when=when,
        condition=source.get("condition", loop.condition) if decided and not by_artifact else None,
        artifact=source["contractRef"] if decided and by_artifact else None,
        loop_id=source.get("loopId") if decided and by_artifact else None,
        items=loop.items if loop.type == "forEach" else None,
        count=loop.count if loop.type == "for" else None,
        **names,
    )
