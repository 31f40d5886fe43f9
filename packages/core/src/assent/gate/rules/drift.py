"""Drift: what a person relied on at the approval, compared with what holds before the execution.

The content of an action is fixed by its digest. Account, recipients, price and the state of the target
are not: they are observed when an action is staged or edited, recorded with its approval and observed
again before it is claimed. A difference is refused as `stale_revision`. Pure; the engine observes
(`assent.engine.actions.drift_probe`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from assent.gate.records import OBSERVED, Action, Effect, Observation, Status
from assent.kernel.structs import Record
from assent.kernel.texts import truncate

DRIFTED: Final = "drifted"
"""Metadata key: what has changed since the last approval, until the next one."""
VALUE_CHARS: Final = 120
MISSING: Final = "not there"
REPLACED: Final = "target.before"
"""A whole text, which the content shows beside its replacement. It is no part of a sentence."""

_NOUNS: Final = {
    "account.id": "the account",
    "account.name": "the name of the account",
    "account.connection": "the connection",
    "recipients": "the number of recipients",
    "credits": "the price in credits",
    "amount": "the amount",
}


class DriftChange(Record):
    """One fact that has changed: its name, its value at the approval and now, as texts."""

    path: str
    was: str
    now: str


def find_changes(before: Observation | None, now: Observation) -> tuple[DriftChange, ...]:
    """Return the facts of `before` that have another value now. A fact that was not observed, then or
    now, is not compared."""
    if before is None:
        return ()
    found: list[DriftChange] = []
    if before.account and now.account:
        found += _compare("account.", before.account, now.account)
    if before.recipients is not None:
        found += _compare("", {"recipients": before.recipients}, {"recipients": now.recipients or 0})
        if before.recipients == now.recipients and before.recipients_digest != now.recipients_digest:
            found.append(
                DriftChange("recipients", f"{before.recipients} people", "as many, but other people")
            )
    if before.credits is not None and now.credits is not None:
        found += _compare("", {"credits": before.credits}, {"credits": now.credits})
    found += _compare("", {"amount": before.amount}, {"amount": now.amount})
    if before.target is not None and now.target is not None:
        found += _compare("target.", before.target, now.target)
    return tuple(found)


def compare_shown(before: Effect, now: Effect) -> tuple[DriftChange, ...]:
    """Return what an effect shows of its target that has changed."""
    one, other = ({**each.details, **(each.target or {})} for each in (before, now))
    return tuple(_compare("target.", one, other))


def _compare(prefix: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[DriftChange]:
    for name in dict.fromkeys((*before, *now)):
        was, present = before.get(name), now.get(name)
        if was != present or type(was) is not type(present):
            yield DriftChange(f"{prefix}{name}", _write(was), _write(present))


def _write(value: Any) -> str:
    if value is None or value == "":
        return MISSING
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return truncate(" ".join(text.split()), VALUE_CHARS)


def describe_change(change: DriftChange) -> str:
    """Return a change as a clause: “the sender was A and is now B”."""
    if change.path == REPLACED:
        return "the text that would be replaced is another one"
    noun = _NOUNS.get(change.path) or f"“{change.path.removeprefix('target.')}”"
    return f"{noun} was {change.was} and is now {change.now}"


def describe_changes(changes: tuple[DriftChange, ...]) -> str:
    return "; ".join(map(describe_change, changes))


def read_changes(action: Action) -> tuple[DriftChange, ...]:
    """Return what has changed since the last approval, while the action waits for a new one."""
    if action.status is not Status.AWAITING_APPROVAL:
        return ()
    return msgspec.convert(action.metadata.get(DRIFTED, ()), tuple[DriftChange, ...])


def with_observation(action: Action, now: Observation, changes: tuple[DriftChange, ...] = ()) -> Action:
    """Return the action with another observation and its price, and with the changes to show."""
    kept = {name: value for name, value in action.metadata.items() if name not in (OBSERVED, DRIFTED)}
    if now != Observation():
        kept[OBSERVED] = msgspec.to_builtins(now)
    if changes:
        kept[DRIFTED] = msgspec.to_builtins(changes)
    found = action.preflight
    if now.credits is not None:
        found = msgspec.structs.replace(found, estimated_cost_credits=now.credits)
    return msgspec.structs.replace(action, metadata=kept, preflight=found)
