"""The audit record of an action in the form of S0 §5, with fields that this server adds.

`status` has one of six values (C10). An approval always has its assurance. One that an agent
relayed is marked as not attested and is never shown as a person's. Also the sentences about the
proof that a record and an approval give.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.gate.next_try import NEXT_TRY
from assent.gate.policy import RANK
from assent.gate.records import CALL, Action, Approval, Assurance, Effect, Preflight
from assent.gate.views import Facets
from assent.kernel.refusals import Replay
from assent.kernel.structs import WireRecord, from_record
from assent.kernel.times import iso_time

WHAT_HASHES_PROVE: Final = (
    "Each event carries the hash of the one before it, and the server signs the ends of all chains from time to time: "
    "a change to an earlier event can be found by anyone who kept a later hash or signature. They prove that the "
    "record is unchanged, not who was at the keyboard; each approval shows how certain that is."
)


class ActionRecord(WireRecord, kw_only=True):
    """One action in the audit trail, complete in every status (E42)."""

    id: str
    run_id: str
    workspace_id: str
    tenant_id: str | None
    type: str
    channel: str
    connector: str
    asset_id: str | None
    executor_tool: str
    status: str
    execution_state: str
    revision: int
    digest: str
    preflight: Preflight
    approved_by: str | None
    approver_id: str | None
    approved_at: str | None
    assurance: str | None
    content_not_attested: bool
    rejection_reason: str | None
    executed_at: str | None
    external_id: str | None
    external_url: str | None
    created_at: str
    expires_at: str | None
    expired: bool
    schedule_for: str | None
    target: dict[str, str] | None
    facets: Facets | msgspec.UnsetType = msgspec.UNSET
    """Amount, currency, target and recipients that its type names, if any."""
    content: Effect
    metadata: dict[str, Any]
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


def build_record(action: Action, now_ms: int) -> ActionRecord:
    """Build the §5 record of an action."""
    approval = action.approval
    return from_record(
        ActionRecord,
        action,
        id=action.action_id,
        type=action.effect.type,
        channel=action.effect.channel,
        connector=action.effect.connector,
        approved_by=approval.by if approval is not None else None,
        approver_id=(approval.person_id or None) if approval is not None else None,
        approved_at=iso_time(approval.at_ms) if approval is not None else None,
        assurance=approval.claim if approval is not None else None,
        content_not_attested=approval is not None and RANK[approval.claim] < RANK[Assurance.CLIENT],
        rejection_reason=action.rejection,
        executed_at=iso_time(action.executed_ms),
        created_at=iso_time(action.created_ms),
        expires_at=iso_time(action.expires_ms),
        expired=action.is_expired(now_ms),
        schedule_for=iso_time(action.schedule_ms),
        target=action.effect.target,
        facets=facets if (facets := action.view.facets) != Facets() else msgspec.UNSET,
        content=action.effect,
        # The arguments of a repeated call and the server's plans are no facts about the action.
        metadata={name: value for name, value in action.metadata.items() if name not in (CALL, NEXT_TRY)},
        replay=msgspec.UNSET,
    )


CLIENT_PLACES: Final = {
    "chat": "in the chat program",
    "review page": "on the review page, in a signed-in browser",
}
"""Where a person approved with the assurance `client`."""


def describe_approval(approval: Approval, via: str = "") -> str:
    """Describe who approved and how the server knows; with its surface if that is known."""
    several = f", the last of {approval.approvers} approvers" if approval.approvers > 1 else ""
    if approval.claimed is not None:
        return f"{approval.by}, in a signed-in browser that an agent of this machine could also open{several}"
    said = {
        Assurance.AGENT: "passed on by your agent; the server did not see who said it",
        Assurance.LINK: f"on the review page by someone who had its link, as “{approval.by}”",
        Assurance.CHAT_APP: f"{approval.by}, in a chat app, with a linked account",
        Assurance.CLIENT: f"{approval.by}, "
        + CLIENT_PLACES.get(via, "in the chat program or in a signed-in browser"),
        Assurance.PERSON: f"{approval.by}, signed in",
        Assurance.PASSKEY: f"{approval.by}, with a passkey",
    }
    return said[approval.assurance] + several


# What a check of the whole journal found.


def name_state(since_ms: int) -> str:
    """Name the state to which a store was put back; 0 if it is not known when it was copied."""
    return f"its state of {iso_time(since_ms)}" if since_ms else "an earlier state"


class RestoreReport(WireRecord, kw_only=True):
    """A recorded restore."""

    epoch: int
    at_ms: int
    since_ms: int
    found: str
    unknown: int = 0
    """Actions that became unknown outcomes."""
    repeatable: int = 0
    """Approved actions that the provider would recognise."""
    waiting: int = 0
    """Actions that wait for approval and may have been sent."""
    checkpoint: int = 0
    """The last checkpoint of the restored store. Later ones were signed before the restore."""

    def __post_init__(self) -> None:
        self.describe()  # raises if a time is none

    def describe(self) -> str:
        """Return what happened, in two sentences."""
        return (
            f"The database was put back on {iso_time(self.at_ms)} to {name_state(self.since_ms)} ({self.found}). Of "
            f"what may have been sent after that, {self.unknown} approved actions have an unknown outcome, "
            f"{self.repeatable} are sent only with a key that their provider recognises, and {self.waiting} wait for "
            "approval and are checked before they are sent."
        )


class AuditFinding(WireRecord):
    what: str
    workspace_id: str | None = None
    stream_id: str | None = None
    seq: int | None = None


class Verdict(WireRecord):
    ok: bool
    streams: int
    events: int
    checkpoints: int
    findings: tuple[AuditFinding, ...]
    restores: tuple[RestoreReport, ...] = ()
    """Restores of the store, oldest first. What was written between a backup and its restore is gone."""
