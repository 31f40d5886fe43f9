"""Read model of the review page: a run with everything known about it.

It writes only to revoke a run's links and to record a look-up without a result.
`assent.engine.actions.decisions` decides. The caller checks access.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions, hooks, policies, send_jobs
from assent.engine.actions import approvals as quorum
from assent.engine.actions.approvals import GivenApproval
from assent.engine.actions.hooks import Origin
from assent.engine.actions.send_jobs import SendJob
from assent.engine.core import freezes, journal
from assent.gate.effects import EffectTypes
from assent.gate.gate import Decider
from assent.gate.policy import Policy
from assent.gate.records import PROPOSAL, UNDONE, Action, Asset, Effect, ExecutionState, Freeze, Run, Status
from assent.gate.views import Facets, View
from assent.kernel.ids import ActionId, RunId, WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.present.refusals import mark_missing_type
from assent.sql.loader import statements

HISTORY_EVENTS: Final = 300
"""Bound on the events of a run that a page shows."""

_EFFECT: Final = msgspec.json.Decoder(Effect)
_VIEW: Final = msgspec.json.Decoder(View)


MOST_COMPARED: Final = 200
"""How many executed actions are read, of whatever type, so that the work is the same in any workspace."""


class Earlier(Record):
    """An action that was executed before, as far as a similar one is compared with it."""

    action_id: ActionId
    run_id: RunId
    title: str
    type: str
    tenant_id: str | None
    concerns: str
    facets: Facets
    executed_ms: int


class RunReview(Record):
    run: Run
    workspace_name: str
    actions: tuple[Action, ...]
    assets: tuple[Asset, ...]
    policy: Policy
    events: tuple[journal.Event, ...]
    approvals: dict[ActionId, tuple[GivenApproval, ...]]
    """The approvals so far, if the policy requires several."""
    approved: dict[ActionId, dict[str, int]]
    """The newest revision that each of several approvers approved."""
    revisions: dict[ActionId, dict[int, Effect]]
    """The earlier contents of edited actions."""
    origins: dict[str, tuple[Origin, ...]]
    """What changed the run's drafts, by the ids of the drafts."""
    send_jobs: dict[ActionId, SendJob]
    frozen: tuple[Freeze, ...]
    earlier: tuple[Earlier, ...] = ()
    """The newest actions that the workspace executed, for a member alone: a link covers one run (E71)."""


def list_earlier(workspace_id: WorkspaceId) -> Transaction[tuple[Earlier, ...]]:
    """Return the newest executed actions of a workspace. What was a test or was taken back does not count."""
    rows = yield statements.list_executed(workspace_id=workspace_id, most=MOST_COMPARED)
    found = []
    for row in rows:
        about = msgspec.json.decode(row["metadata"])
        if UNDONE in about or about.get(PROPOSAL, {}).get("test"):
            continue
        effect, view = _EFFECT.decode(row["effect"]), _VIEW.decode(row["view"])
        found.append(
            Earlier(
                ActionId(row["action_id"]),
                RunId(row["run_id"]),
                view.heading,
                effect.type,
                row["tenant_id"],
                effect.concerns,
                view.facets,
                row["executed_ms"],
            )
        )
    return tuple(found)


def find_anywhere(run_id: RunId) -> Transaction[Run | None]:
    """Return a run of any workspace, for the owner of the server."""
    rows = yield statements.find_run_anywhere(run_id=run_id)
    if not rows:
        return None
    return (yield from actions.find_run(WorkspaceId(rows[0]["workspace_id"]), run_id))


def read_review(
    run: Run, effects: EffectTypes, now_ms: int, *, for_member: bool = False
) -> Transaction[RunReview]:
    """Read everything about a run in one snapshot; for a member also what the workspace did before."""
    workspace_id = run.workspace_id
    named = yield statements.find_workspace(workspace_id=workspace_id)
    policy = yield from policies.find(workspace_id)
    found = yield from actions.run_actions(workspace_id, run.run_id)
    found = yield from actions.weigh(workspace_id, found, now_ms)
    staged = tuple(mark_missing_type(effects, action) for action in found)
    assets = yield from actions.run_assets(workspace_id, run.run_id)
    head = yield from journal.read_head(workspace_id, run.run_id)
    events = yield from journal.read_latest(head, HISTORY_EVENTS)
    approvals: dict[ActionId, tuple[GivenApproval, ...]] = {}
    approved: dict[ActionId, dict[str, int]] = {}
    revisions: dict[ActionId, dict[int, Effect]] = {}
    sending: dict[ActionId, SendJob] = {}
    for action in staged:
        needed = policy.require(action)
        if needed.approvers > 1 or needed.groups:
            given = yield from quorum.list_given(action)
            approvals[action.action_id] = tuple(each for each in given if quorum.counts(each, action, needed))
            approved[action.action_id] = {each.approver: each.revision for each in given}
        if action.revision > 1:
            before = yield statements.list_revisions(workspace_id=workspace_id, action_id=action.action_id)
            revisions[action.action_id] = {row["revision"]: _EFFECT.decode(row["effect"]) for row in before}
        if action.status is Status.APPROVED and action.execution_state is ExecutionState.NONE:
            job = yield from send_jobs.find(action)
            if job is not None:
                sending[action.action_id] = job
    return RunReview(
        run=run,
        workspace_name=named[0]["name"] if named else workspace_id,
        actions=staged,
        assets=assets,
        policy=policy,
        events=tuple(events),
        approvals=approvals,
        approved=approved,
        revisions=revisions,
        origins=(yield from hooks.read_origins(assets)),
        send_jobs=sending,
        frozen=(yield from freezes.list_in(workspace_id)),
        earlier=(yield from list_earlier(workspace_id)) if for_member else (),
    )


def end_links(run: Run, by: Decider, now_ms: int) -> Transaction[bool]:
    """Revoke the review links of a run, and the access they gave."""
    # A link has its time in whole seconds, so one made in this second is revoked too.
    moved = yield statements.end_review_links(
        workspace_id=run.workspace_id, run_id=run.run_id, links_from_ms=now_ms + 1
    )
    if not moved:
        return False
    facts = {"by": by.by, "assurance": by.assurance, "via": by.via}
    yield from journal.note(run.workspace_id, "review_links_ended", facts, now_ms, stream_id=run.run_id)
    return True


def record_unknown(
    workspace_id: WorkspaceId, action_id: ActionId, facts: dict[str, Any], now_ms: int
) -> Transaction[Action]:
    """Record that a person looked and cannot tell yet."""
    action, *_ = yield from actions.lock(workspace_id, action_id)
    if action.execution_state is ExecutionState.OUTCOME_UNKNOWN:
        yield from actions.note(action, "outcome_still_unknown", facts, now_ms)
    return action
