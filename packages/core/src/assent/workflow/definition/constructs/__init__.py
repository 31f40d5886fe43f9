"""The constructs an author can write, and the table that finds them.

A construct is a function `(step, lowering, within) -> node indexes`. To add a step type, write its
function, add its shape to `format.STEP_SHAPES` and its row here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from assent.workflow.definition.constructs import routines, steps
from assent.workflow.definition.lowering import Lowering, Within
from assent.workflow.definition.source import Step

BY_TYPE: Final[dict[str, Callable[[Step, Lowering, Within], tuple[int, ...]]]] = {
    "step": steps.lower_step,
    "loop": steps.lower_loop,
    "parallel": steps.lower_parallel,
}


def lower(step: Step, lowering: Lowering, within: Within) -> tuple[int, ...]:
    """Compile a step with the construct of its type."""
    if step.template_call is not None:
        return routines.lower(step, lowering, within)
    return BY_TYPE[step.type](step, lowering, within)
