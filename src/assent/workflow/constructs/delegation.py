"""Parallel delegation: instructions to hand work to helpers, then a step that brings their results together."""

from __future__ import annotations

import msgspec

from assent.workflow.constructs.prompts import contract_text
from assent.workflow.constructs.steps import lower_confirm, lower_contract
from assent.workflow.lowering import Lowering, Within
from assent.workflow.program import Ask, Text
from assent.workflow.source import Delegation, Step


def lower(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """One step that lists the work, and one for the synthesis if there is one."""
    path = f"{within.path}.{step.id}"
    when = within.condition(step.run_condition)
    intro = (
        "Hand out the work below. If you can run helpers, run them side by side and give each everything it needs; "
        "if not, do each piece yourself, one after the other. Wait until all are done."
    )
    outro = "Put what each piece of work returned into the notes. If none is listed above, say so and go on."
    asks = [
        Ask(
            id=within.prefix + step.id,
            title=step.title,
            prompt=(
                Text(text=intro),
                *(
                    Text(text=lowering.bind(_work(n, part), path), when=part.run_condition)
                    for n, part in enumerate(step.parallel_delegations, 1)
                ),
                Text(text=outro),
            ),
            when=when,
            confirm=lower_confirm(step.require_confirmation),
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
                    *((contract_text(contract),) if contract else ()),
                ),
                when=when,
                contract=contract,
            )
        )
    return tuple(lowering.add(ask, path) for ask in asks)


def _work(number: int, part: Delegation) -> str:
    lines = [f"### Work {number}: follow workflow `{part.workflow_id}`"]
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
