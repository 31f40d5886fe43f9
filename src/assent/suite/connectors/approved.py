"""The parts that connectors share: unpacking the gate's seal, a missing connection, no look-up."""

from __future__ import annotations

from assent.gate.gate import ApprovedAction
from assent.gate.preflight import Readiness
from assent.gate.records import Action
from assent.kernel.refusals import Reason
from assent.ports import Delivered, OutcomeUnknown


def action_of(approved: ApprovedAction) -> Action:
    """Return the claimed action. Refuses any object that the gate did not make."""
    if type(approved) is not ApprovedAction:
        raise TypeError(f"a connector takes an ApprovedAction, not {type(approved).__name__}")
    return approved.action


def not_ready(fix_hint: str, summary: str | None = None, *, nameable: bool = False) -> Readiness:
    """Return the readiness of a connector that a person must connect first."""
    return Readiness(False, Reason.MISSING_CONNECTOR.value, fix_hint, summary, nameable)


class NoLookUp:
    """A connector whose provider cannot be asked for an effect. `no_look_up` says why."""

    no_look_up: str

    async def look_up(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered | None:
        raise OutcomeUnknown(self.no_look_up)
