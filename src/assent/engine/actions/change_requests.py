"""Change requests: a reviewer asks for changes instead of deciding.

The request is stored in the action's `metadata.changesAsked`, oldest first, where the agent reads
it. The status and an approval stay as they are.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.actions.decisions import describe_decider
from assent.gate import gate
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Action
from assent.gate.transitions import Move
from assent.kernel.ids import ActionId
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.present.refusals import Links, wording

CHANGES_ASKED: Final = "changesAsked"

MOST_KEPT: Final = 20
"""Requests stored with an action; the journal has all of them."""


def ask_for_changes(
    decider: Decider, action_id: ActionId, text: str, seen: SeenVersion, links: Links, now_ms: int
) -> Transaction[Action]:
    """Store a change request about exactly the content that the reviewer saw. Raises STALE_REVISION
    for other content."""
    action, *_ = yield from actions.lock(decider.workspace_id, action_id)
    with wording(links):
        gate.judge_decision(action, Move.REJECT, seen, now_ms)
    wish = {
        "text": text,
        "by": decider.by,
        "assurance": decider.assurance,
        "revision": action.revision,
        "at": iso_time(now_ms),
    }
    kept = [*list_requests(action), wish][-MOST_KEPT:]
    changed = msgspec.structs.replace(action, metadata={**action.metadata, CHANGES_ASKED: kept})
    stored = yield from actions.put_without_event(changed)
    yield from actions.note(action, "changes_asked", describe_decider(decider, text=text), now_ms)
    return stored


def list_requests(action: Action) -> list[dict[str, Any]]:
    """Return the change requests of an action, oldest first."""
    kept = action.metadata.get(CHANGES_ASKED)
    return [each for each in kept if isinstance(each, dict)] if isinstance(kept, list) else []
