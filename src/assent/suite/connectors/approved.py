"""The parts that connectors share: unpacking the gate's seal, and refusing to look up an effect."""

from __future__ import annotations

from assent.gate.gate import ApprovedAction
from assent.gate.records import Action
from assent.ports import Delivered, OutcomeUnknown


def action_of(approved: ApprovedAction) -> Action:
    """Return the claimed action. Refuses any object that the gate did not make."""
    if type(approved) is not ApprovedAction:
        raise TypeError(f"a connector takes an ApprovedAction, not {type(approved).__name__}")
    return approved.action


class NoLookUp:
    """A connector whose provider cannot be asked for an effect. `no_look_up` says why."""

    no_look_up: str

    async def look_up(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered | None:
        raise OutcomeUnknown(self.no_look_up)
