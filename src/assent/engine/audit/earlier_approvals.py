"""Seal approvals that are older than seals (docs/decisions/0008).

The first start of a version with seals seals them once, if the journal records them and its chain
is valid, and appends an event. An approval found without a seal after that event executes nothing.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.core import journal
from assent.gate.records import Action
from assent.gate.seals import Seals
from assent.gate.transitions import Move
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import Transaction
from assent.sql.loader import statements

STREAM: Final = "approval seals"
PAGE: Final = 500
_TAKEN_BACK: Final = frozenset(f"action_{move}" for move in (Move.EDIT, Move.WITHDRAW, Move.REJECT))
_GIVEN: Final = f"action_{Move.APPROVE}"


def has_sealed() -> Transaction[bool]:
    """Whether the earlier approvals have been sealed. Judged by the event: its head may have been set back."""
    return bool((yield from journal.read_stream(SYSTEM_WORKSPACE, STREAM, limit=1)))


def seal_all(seals: Seals, now_ms: int) -> Transaction[int]:
    """Seal every open approval that the journal proves, and append one event for all of them. Does
    nothing if that event exists. Returns how many were sealed."""
    head = yield from journal.lock_head(SYSTEM_WORKSPACE, STREAM, now_ms)
    if head.seq:
        return 0
    sealed: list[str] = []
    for action in (yield from _open()):
        if action.approval is None or seals.hold(action):
            continue
        if (yield from _is_vouched(action)):
            yield from actions.put_without_event(seals.seal(action, action.approval))
            sealed.append(action.action_id)
    event = journal.NewEvent("approvals_sealed", {"sealed": sealed})
    yield from journal.append_to(head, [event], now_ms)
    return len(sealed)


def reseal_open(seals: Seals, now_ms: int) -> Transaction[int]:
    """Seal with the newest master secret, so that earlier ones can go. Other servers go on meanwhile, so
    each action is locked and judged again."""
    count = 0
    for found in (yield from _open()):
        if found.approval is None or not seals.hold(found) or seals.is_newest(found):
            continue
        action, _ = yield from actions.lock(found.workspace_id, found.action_id)
        if action.status is found.status and action.approval == found.approval:
            yield from actions.put_without_event(seals.seal(action, found.approval))
            count += 1
    return count


def _open() -> Transaction[tuple[Action, ...]]:
    rows = yield statements.list_approved_actions()
    return actions.read_decodable(rows)


def _is_vouched(action: Action) -> Transaction[bool]:
    """Whether the chain is valid and the last decision about the action is this approval."""
    approval = action.approval
    head = yield from journal.read_head(action.workspace_id, action.run_id)
    at = journal.new_head(action.workspace_id, action.run_id)
    erased = yield from journal.read_erased(action.workspace_id, action.run_id)
    given = False
    while page := (
        yield from journal.read_stream(action.workspace_id, action.run_id, after_seq=at.seq, limit=PAGE)
    ):
        end = journal.Head(head.workspace_id, head.stream_id, page[-1].seq, page[-1].hash)
        if journal.verify_chain(page, end, start=at, erased=erased) is not None:
            return False
        at = end
        for event in page:
            body: dict[str, Any] = msgspec.json.decode(event.body)
            if body.get("actionId") != action.action_id:
                continue
            if event.kind in _TAKEN_BACK:
                given = False
            elif event.kind == _GIVEN and approval is not None:
                said = (body.get("revision"), body.get("digest"), body.get("by"), body.get("assurance"))
                given = given or said == (action.revision, approval.digest, approval.by, approval.assurance)
    return given and (at.seq, at.hash) == (head.seq, head.hash)
