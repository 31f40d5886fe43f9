"""Doubt about an action after a restore: it may have been sent after the backup was taken.

The mark is in the action's metadata. An executor may claim such an action only if the provider would
recognise a repetition: by the same natural key, or by the same native key within half its window since
the backup. The key names the revision, so an edited action is not recognised. Any other action is looked
up first, or a person answers (`assent.engine.recovery.holding`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.gate.audit import name_state
from assent.gate.records import Action
from assent.kernel.structs import WireRecord
from assent.ports import Connector

DOUBT: Final = "restored"
"""Metadata key of the doubt."""


class Doubt(WireRecord):
    """Since when the action may have been sent, and the revision that the restored store had."""

    since_ms: int
    revision: int


def find_doubt(action: Action) -> Doubt | None:
    found = action.metadata.get(DOUBT)
    return msgspec.convert(found, Doubt) if found is not None else None


def add_doubt(action: Action, since_ms: int) -> Action:
    """Return the action with a doubt. An earlier one stays, because a send since then counts, too."""
    if DOUBT in action.metadata:
        return action
    doubt = msgspec.to_builtins(Doubt(since_ms, action.revision))
    return msgspec.structs.replace(action, metadata={**action.metadata, DOUBT: doubt})


def drop_doubt(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata without the doubt: the action is known not to have been sent."""
    return {name: value for name, value in metadata.items() if name != DOUBT}


def recognises(connector: Connector | None, since_ms: int, now_ms: int) -> bool:
    """Whether the provider would recognise a repetition of what was sent at `since_ms` or later."""
    if connector is None:
        return False
    delivery, age_ms = connector.delivery, now_ms - since_ms
    # Half the window: the two clocks may differ, and the call takes time.
    return delivery.kind == "natural_key" or (
        delivery.kind == "native_key"
        and delivery.window_ms is not None
        and 0 <= age_ms < delivery.window_ms // 2
    )


def may_claim(connector: Connector | None, action: Action, now_ms: int) -> bool:
    """Whether an executor may claim an action without asking first: no doubt, or the provider would
    recognise the repetition."""
    doubt = find_doubt(action)
    if doubt is None:
        return True
    return doubt.revision == action.revision and recognises(connector, doubt.since_ms, now_ms)


def explain(since_ms: int) -> str:
    """Say why the outcome of an action is not known after a restore."""
    return f"the database was put back to {name_state(since_ms)}, and it may have been sent after that"
