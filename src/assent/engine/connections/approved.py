"""The parts that connectors share: unpacking the gate's seal, a missing connection, no look-up."""

from __future__ import annotations

from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect
from assent.kernel.refusals import Reason
from assent.ports import Context, Delivered, OutcomeUnknown


def action_of(ctx: Context, effect: Effect) -> Action:
    """Return the claimed action. Raises TypeError for any object that the gate did not make, and
    for an effect that is not the approved one (E47)."""
    if type(ctx) is not Context:
        raise TypeError(f"a connector takes a Context, not {type(ctx).__name__}")
    if effect != ctx.action.effect:
        raise TypeError("this effect is not the approved one")
    return ctx.action


def not_ready(fix_hint: str, summary: str | None = None, *, nameable: bool = False) -> Readiness:
    """Return the readiness of a connector that a person must connect first."""
    return Readiness(False, Reason.MISSING_CONNECTOR.value, fix_hint, summary, nameable)


class NoLookUp:
    """A connector whose provider cannot be asked for an effect. `no_look_up` says why."""

    no_look_up: str

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        raise OutcomeUnknown(self.no_look_up)
