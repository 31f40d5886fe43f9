"""Explains names in an author's text that belong to another runner.

The public library refers to its own runner, and to routines by short names; an agent knows neither.
"""

from __future__ import annotations

import re
from typing import Final

from assent.workflow.definition.constructs.forms import plain
from assent.workflow.definition.lowering import Lowering
from assent.workflow.program import Text

EXECUTOR: Final = "WorkRail Executor"
EXECUTOR_MEANS: Final = (
    f"A {EXECUTOR} is a helper agent of yours; where you can run none, do its work yourself."
)
_ROUTINE: Final = re.compile(r"`((?:wr\.)?routine-[a-z0-9-]+)`")


def name_texts(written: str, lowering: Lowering) -> tuple[Text, ...]:
    """Return a prompt section that explains such names in a step's text."""
    lines = []
    for name in dict.fromkeys(_ROUTINE.findall(written)):
        kept = next((each for each in (name, f"wr.{name}") if each in lowering.library), None)
        if kept is None:
            lines.append(f"- `{name}` is not installed here: do what it is named for yourself.")
        elif kept != name:
            lines.append(f"- `{name}` is the workflow `{kept}`.")
    if EXECUTOR in written:
        lines.append(f"- {EXECUTOR_MEANS}")
    return (Text(text=plain("\n".join(["## Names used here", *lines]))),) if lines else ()
