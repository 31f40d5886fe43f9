"""Compiles plain steps, and the steps that `audit` and `verification` add after them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.workflow.contracts.registry import REGISTRY
from assent.workflow.definition.constructs.forms import form_texts
from assent.workflow.definition.constructs.prompts import (
    confirmation_text,
    criteria_text,
    lower_prompt,
    name_texts,
    work_text,
)
from assent.workflow.definition.lowering import Lowering, Within
from assent.workflow.definition.source import Delegation, Step
from assent.workflow.program import (
    Ask,
    Assessment,
    Confirm,
    Consequence,
    Contract,
    Dimension,
    StepAction,
    Text,
)


def lower(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
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
        return Contract(
            ref=written.get("contractRef", written["kind"]),
            required=required,
            kind=written["kind"],
            schema=written["schema"],
            example=written["example"],
        )
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
