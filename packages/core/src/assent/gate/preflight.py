"""The preflight of an action: severity, gates and warnings for the reviewer (C8), its scheduled
time and its expiry.

It is computed when the action is staged or changed. A past time is refused; a time after the usual
expiry extends it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.gate.records import Action, Effect, Preflight
from assent.gate.views import Severity, View
from assent.kernel.limits import DAY_MS, MANY_RECIPIENTS, MAX_SCHEDULE_AHEAD_MS
from assent.kernel.refusals import Reason, bad_argument
from assent.kernel.structs import Record
from assent.kernel.times import full_time, iso_time

NOT_READY: Final = "connector_not_ready"

LEEWAY_MS: Final = DAY_MS
"""How long an action stays open after its time, in case sending is delayed."""


class Readiness(Record):
    """Whether a connector can perform now, else the obstacle and its fix. `fix_hint` and `summary`
    (a few words) are for people. `nameable`: it is connected, and a new check would bind the
    account."""

    ready: bool
    blocker: str | None = None
    fix_hint: str | None = None
    summary: str | None = None
    nameable: bool = False

    @property
    def connectable(self) -> bool:
        """Whether connecting would help: not if it is connected or the server must be configured."""
        return not (self.ready or self.nameable or self.blocker == Reason.PROVIDER_NOT_LIVE)

    @classmethod
    def unconnected(cls, fix_hint: str, summary: str | None = None, *, nameable: bool = False) -> Readiness:
        """Return the readiness of a connector that a person must connect first."""
        return cls(False, Reason.MISSING_CONNECTOR.value, fix_hint, summary, nameable)

    @classmethod
    def of_another_account(cls, label: str, effect: Effect) -> Readiness:
        """Return that of an effect prepared before connecting, or for another account."""
        if effect.target:
            said = f"{label} is connected to another account than the one this was prepared for."
        else:
            said = f"{label} was connected after this was prepared."
        hint = f"{said} Ask for it to be sent: you then see where it goes, and approve that."
        return cls.unconnected(hint, said, nameable=True)


class Remarks(Record, kw_only=True):
    """Remarks about edited content. `outdated` are those about the earlier text."""

    outdated: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()


class Checked(Remarks, kw_only=True):
    """Remarks about edited content, and the readiness of its connector."""

    readiness: Readiness


def grade_severity(effect: Effect, view: View, declared: Severity | None, warned: bool) -> Severity:
    """Return the severity on C8's scale. Warnings raise low to medium; operators only raise."""
    people = max(len(view.facets.recipients), len(effect.everyone))
    if view.risk is Severity.HIGH or people > MANY_RECIPIENTS or declared is Severity.HIGH:
        return Severity.HIGH
    if view.risk is Severity.LOW and not warned and declared is not Severity.MEDIUM:
        return Severity.LOW
    return Severity.MEDIUM


def preflight(
    effect: Effect,
    view: View,
    readiness: Readiness,
    *,
    declared: Severity | None = None,
    warnings: tuple[str, ...] = (),
    recommendations: tuple[str, ...] = (),
    gates: tuple[str, ...] = (),
    cost_credits: int = 0,
) -> Preflight:
    """Compute the preflight. `human_approval` is always a gate; defects add more (E44)."""
    found = ["human_approval", *gates]
    if view.unfit is not None:
        found.append(view.unfit.gate)
    if not readiness.ready:
        found.append(NOT_READY)
    return Preflight(
        severity=grade_severity(effect, view, declared, bool(warnings)),
        warnings=warnings,
        recommendations=recommendations,
        gates=tuple(dict.fromkeys(found)),
        connector_ready=readiness.ready,
        connector_blocker=readiness.blocker,
        connector_fix_hint=readiness.fix_hint,
        # Publishing by hand costs nothing.
        estimated_cost_credits=0 if view.executes == "person" else cost_credits,
    )


def with_readiness(found: Preflight, readiness: Readiness) -> Preflight:
    """Return the preflight with the present readiness instead of that at staging."""
    gates = tuple(each for each in found.gates if each != NOT_READY)
    return msgspec.structs.replace(
        found,
        gates=gates if readiness.ready else (*gates, NOT_READY),
        connector_ready=readiness.ready,
        connector_blocker=readiness.blocker,
        connector_fix_hint=readiness.fix_hint,
    )


def after_edit(
    before: Action, effect: Effect, view: View, checked: Checked | None, recommendations: tuple[str, ...] = ()
) -> Preflight:
    """Compute the preflight of an edit: remarks about the old text go, others stay."""
    old = before.preflight
    if checked is None:
        same = effect.connector == before.effect.connector
        was = Readiness(old.connector_ready, old.connector_blocker, old.connector_fix_hint)
        checked = Checked(readiness=was if same else Readiness(ready=True))
    gone = {*checked.outdated, TOO_MANY_TODAY}
    kept = tuple(each for each in old.warnings if each not in gone)
    advice = tuple(each for each in old.recommendations if each not in gone)
    unfit = before.view.unfit
    answered = {NOT_READY, *((unfit.gate,) if unfit is not None else ())}
    return preflight(
        effect,
        view,
        checked.readiness,
        declared=_find_declared(before),
        warnings=tuple(dict.fromkeys((*checked.warnings, *kept))),
        recommendations=tuple(dict.fromkeys((*checked.recommendations, *advice, *recommendations))),
        gates=tuple(each for each in old.gates if each not in answered),
        cost_credits=old.estimated_cost_credits,
    )


def _find_declared(before: Action) -> Severity | None:
    """Infer the severity that the operator declared: one that effect and warnings do not
    explain."""
    old = before.preflight
    if TOO_MANY_TODAY in old.warnings:
        return None
    explained = grade_severity(before.effect, before.view, None, bool(old.warnings))
    return old.severity if old.severity is not explained else None


TOO_MANY_TODAY: Final = (
    f"Together with what else waits or went out within a day it reaches more than {MANY_RECIPIENTS} people."
)
"""Stored with actions and found there by its words, which must not change."""


def weigh_crowd(found: Preflight, people: int) -> Preflight:
    """Return a mail's preflight, given how many people the workspace reaches in a day. A severity that was high for
    their number alone falls with it, not below medium: what its operator declared is not known any more."""
    if people <= MANY_RECIPIENTS and TOO_MANY_TODAY in found.warnings:
        kept = tuple(each for each in found.warnings if each != TOO_MANY_TODAY)
        return msgspec.structs.replace(found, severity=Severity.MEDIUM, warnings=kept)
    if people <= MANY_RECIPIENTS or found.severity is Severity.HIGH:
        return found
    warnings = tuple(dict.fromkeys((*found.warnings, TOO_MANY_TODAY)))
    return msgspec.structs.replace(found, severity=Severity.HIGH, warnings=warnings)


def is_overdue(action: Action, now_ms: int) -> bool:
    """Whether an action's time has passed. Actions published by hand are never overdue."""
    due_ms, by_hand = action.schedule_ms, action.view.executes == "person"
    return due_ms is not None and due_ms <= now_ms and not by_hand


def refuse_schedule(
    schedule_ms: int | None, now_ms: int, path: str = "scheduleFor", *, schedulable: bool = True
) -> None:
    """Raise `Refusal` for a time in the past or too far ahead, or for any time if its type takes none."""
    if schedule_ms is None:
        return
    if not schedulable:
        raise bad_argument(path, "no time: this is executed when a person decides", "a time")
    if schedule_ms <= now_ms:
        raise bad_argument(path, f"a time after now, which is {iso_time(now_ms)}", "a time that is over")
    if schedule_ms > now_ms + MAX_SCHEDULE_AHEAD_MS:
        latest = iso_time(now_ms + MAX_SCHEDULE_AHEAD_MS)
        raise bad_argument(path, f"a time until {latest}", "a later one")


def extend_expiry(expires_ms: int | None, schedule_ms: int | None) -> int | None:
    """Return when an action expires: not before its scheduled time plus `LEEWAY_MS`."""
    if expires_ms is None or schedule_ms is None or schedule_ms < expires_ms:
        return expires_ms
    return schedule_ms + LEEWAY_MS


def explain_expiry(usual_ms: int | None, expires_ms: int | None) -> tuple[str, ...]:
    """Tell the reviewer that the expiry was extended; empty if it was not."""
    if usual_ms == expires_ms or usual_ms is None or expires_ms is None:
        return ()
    return (
        f"Its time is after it would have expired ({full_time(usual_ms)}), so it stays open until "
        f"{full_time(expires_ms)}.",
    )
