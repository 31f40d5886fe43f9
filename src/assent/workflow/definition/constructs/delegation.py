"""Parallel delegation: give work to helpers, then join their results."""

from __future__ import annotations

from assent.workflow.definition.constructs.forms import form_texts
from assent.workflow.definition.constructs.prompts import confirmation_text, guidance_text, work_text
from assent.workflow.definition.constructs.steps import lower_confirm, lower_contract
from assent.workflow.definition.lowering import Lowering, Within
from assent.workflow.definition.source import Step
from assent.workflow.program import Ask, Text


def lower(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
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
