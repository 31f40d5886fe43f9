"""The ledger of credits: append-only entries and their sum, changed together (`missing_credits`, S0
§7).

An account is the fold of its entries. A new one is unlimited; its spending is counted all the same.

An action is paid for in the transactions that execute it: reserved with the claim, settled with the
delivery, released if it was certainly not sent, and kept reserved while the outcome is unknown.
Each action has one charge that moves reserved → settled, or reserved → released → reserved, so
repeated attempts are paid for once.

Lock order: action, stream of its run, charge, account. An action without a price writes nothing
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from assent.platform import note_event
from assent.sdk import (
    Action,
    ExecutionState,
    Reason,
    Refusal,
    Row,
    Status,
    Transaction,
    WireRecord,
    WorkspaceId,
    from_row,
)
from assent_launch.component import statements

if TYPE_CHECKING:  # a command, which loads no more than it needs, imports this module
    from assent.platform import Settled

Kind = Literal["grant", "limit", "unlimit", "reserve", "release", "settle", "charge"]


class CreditEntry(WireRecord, kw_only=True):
    """A line of the ledger. `charge` settles a refunded action that happened after all."""

    seq: int
    kind: Kind
    amount: int
    action_id: str | None
    attempt_id: str | None
    by: str
    at_ms: int


class CreditAccount(WireRecord):
    """A workspace's balance. `reserved` covers unfinished and unknown actions."""

    unlimited: bool = True
    granted: int = 0
    spent: int = 0
    reserved: int = 0
    seq: int = 0

    @property
    def available(self) -> int | None:
        """The credits left; None without a limit. Negative if more happened than was covered."""
        return None if self.unlimited else self.granted - self.spent - self.reserved


MAX_CREDITS: Final = 1_000_000_000_000
"""Largest amount of an entry, far below the range of the integers that hold the sums."""


def account(workspace_id: WorkspaceId) -> Transaction[CreditAccount]:
    rows = yield statements.find_credits(workspace_id=workspace_id)
    return _account(rows[0]) if rows else CreditAccount()


def recent(workspace_id: WorkspaceId, most: int) -> Transaction[tuple[CreditEntry, ...]]:
    """List the latest entries of the ledger, newest first."""
    rows = yield statements.list_recent_credit_entries(workspace_id=workspace_id, most=most)
    return tuple(from_row(CreditEntry, row, by=row["by_whom"]) for row in rows)


def grant(workspace_id: WorkspaceId, amount: int, now_ms: int, *, by: str) -> Transaction[CreditAccount]:
    """Add credits. A workspace that had no limit is limited to the granted credits from then on."""
    yield from note_event(workspace_id, "credits_granted", {"amount": amount, "by": by}, now_ms)
    rows = yield statements.grant_credits(workspace_id=workspace_id, amount=amount)
    return (yield from _write(workspace_id, rows, "grant", amount, by, now_ms))


def limit(
    workspace_id: WorkspaceId, amount: int | None, now_ms: int, *, by: str
) -> Transaction[CreditAccount]:
    """Set how much a workspace may spend from now on; None removes the limit."""
    if amount is None:
        yield from note_event(workspace_id, "credits_unlimited", {"amount": 0, "by": by}, now_ms)
        rows = yield statements.unlimit_credits(workspace_id=workspace_id)
        return (yield from _write(workspace_id, rows, "unlimit", 0, by, now_ms))
    yield from note_event(workspace_id, "credits_limited", {"amount": amount, "by": by}, now_ms)
    rows = yield statements.limit_credits(workspace_id=workspace_id, amount=amount)
    return (yield from _write(workspace_id, rows, "limit", amount, by, now_ms))


def weigh_costs(workspace_id: WorkspaceId, staged: tuple[Action, ...]) -> Transaction[tuple[Action, ...]]:
    """Subtract the costs from the balance, in order, and add a gate to each action that it no
    longer covers. The reviewer sees the gate before approving."""
    if not any(action.may_lack_credits for action in staged):
        return staged
    left = (yield from account(workspace_id)).available
    weighed = []
    for action in staged:
        judged = action.preflight.with_balance(left)
        if left is not None and judged.estimated_cost_credits <= left:
            left -= judged.estimated_cost_credits
        weighed.append(msgspec.structs.replace(action, preflight=judged))
    return tuple(weighed)


def reserve(action: Action, by: str, at_ms: int) -> Transaction[None]:
    """Reserve the price of a claimed action. Raises `Refusal` if the credits do not cover it, which
    rolls the claim back."""
    cost = action.preflight.estimated_cost_credits
    if cost <= 0:
        return
    workspace_id = action.workspace_id
    opened = yield statements.open_credit_charge(
        workspace_id=workspace_id, action_id=action.action_id, amount=cost
    )
    if not opened:
        return
    rows = yield statements.reserve_credits(workspace_id=workspace_id, amount=cost)
    if not rows:
        had = yield from account(workspace_id)
        raise Refusal(
            Reason.MISSING_CREDITS,
            facts={"cost": str(cost), "balance": str(max(0, had.available or 0))},
            status=action.status,
            action_id=action.action_id,
        )
    yield from _write(workspace_id, rows, "reserve", cost, by, at_ms, action)


def settle_outcome(settled: Settled) -> Transaction[None]:
    """Settle the charge of a delivered action, also if it was released before. Release that of an action that was
    certainly not sent, also if it was rejected or edited since. What a person did by hand costs nothing."""
    action, now_ms = settled.action, settled.at_ms
    if action.status is Status.EXECUTED and not action.is_by_hand:
        if not (yield from _move(action, "reserved", "settled", "settle", now_ms)):
            yield from _move(action, "released", "settled", "charge", now_ms)
    elif action.execution_state not in (ExecutionState.EXECUTING, ExecutionState.OUTCOME_UNKNOWN):
        yield from _move(action, "reserved", "released", "release", now_ms)


EXECUTION: Final = "execution"
"""The name in the ledger for entries without a caller."""


def _move(action: Action, before: str, state: str, kind: Kind, now_ms: int) -> Transaction[bool]:
    """Move the charge to another state, in the account and the ledger, too. Returns False if it was
    not in `before`."""
    if action.preflight.estimated_cost_credits <= 0:
        return False
    workspace_id = action.workspace_id
    charge = yield statements.move_credit_charge(
        workspace_id=workspace_id, action_id=action.action_id, before=before, state=state
    )
    amount = charge[0]["amount"] if charge else 0
    if amount:
        rows = yield statements.move_credits(
            workspace_id=workspace_id,
            spent=amount if state == "settled" else 0,
            reserved=amount if before == "reserved" else 0,
        )
        yield from _write(workspace_id, rows, kind, amount, EXECUTION, now_ms, action)
    return bool(amount)


def _write(
    workspace_id: WorkspaceId,
    rows: Sequence[Row],
    kind: Kind,
    amount: int,
    by: str,
    now_ms: int,
    action: Action | None = None,
) -> Transaction[CreditAccount]:
    """Append the ledger entry of a change to the account, whose row is locked."""
    found = _account(rows[0])
    attempt = action.attempt if action is not None else None
    yield statements.insert_credit_entry(
        workspace_id=workspace_id,
        seq=found.seq,
        kind=kind,
        amount=amount,
        action_id=action.action_id if action is not None else None,
        attempt_id=attempt.attempt_id if attempt is not None else None,
        by_whom=by,
        at_ms=now_ms,
    )
    return found


def _account(row: Row) -> CreditAccount:
    return from_row(CreditAccount, row, unlimited=bool(row["unlimited"]))
