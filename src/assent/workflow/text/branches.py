"""Describes the other branches of a run: how far each came, its notes, and the token to enter it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class BranchFacts(Protocol):
    """The facts of a branch in the text."""

    @property
    def title(self) -> str: ...
    @property
    def is_complete(self) -> bool: ...
    @property
    def notes(self) -> str: ...
    @property
    def reached(self) -> str: ...
    @property
    def found(self) -> str: ...
    @property
    def state_token(self) -> str: ...


def tell_branches(
    from_here: Sequence[BranchFacts], elsewhere: Sequence[BranchFacts], omitted: int = 0
) -> str:
    """Write the section about branches; empty if there are none."""
    if not (from_here or elsewhere):
        return ""
    lines = [f"- From this step: {_describe(each)}" for each in from_here]
    lines += [f"- From “{each.title}”: {_describe(each)}" for each in elsewhere]
    if omitted:
        lines.append(f"- {omitted} older ones are left out.")
    head = "## Other branches of this run"
    ask = "Tell the user what they found. To go on with one, call workflow_advance with its stateToken alone."
    return "\n".join([head, *lines, ask])


def _describe(branch: BranchFacts) -> str:
    came = (
        "is complete"
        if branch.is_complete
        else f"waits at “{branch.reached}”"
        if branch.reached
        else "goes on"
    )
    said = [f"“{line}”" for line in (branch.notes, branch.found) if line]
    noted = f", noted {', then '.join(said)}" if said else ""
    return f"{came}{noted}; stateToken {branch.state_token}"
