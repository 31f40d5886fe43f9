"""Runs, assets and actions in the store.

A change locks the action's row, judges it, writes the next version and appends to the run's stream
in one transaction. Only this module changes the state of an action; `engine.erasure` replaces contents.
"""

from __future__ import annotations

import contextlib
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from assent.engine.actions import search
from assent.engine.core import freezes, journal, tenancy
from assent.engine.core.journal import Head
from assent.gate.policy import DEFAULT, Policy
from assent.gate.preflight import weigh_crowd
from assent.gate.records import (
    OPEN,
    Action,
    Approval,
    Asset,
    Attempt,
    Effect,
    ExecutionState,
    Freeze,
    Preflight,
    Run,
    Status,
    is_with_agent,
    reached_addresses,
)
from assent.gate.seals import Seals
from assent.gate.transitions import Move, Step
from assent.gate.views import Severity, View
from assent.kernel.ids import ActionId, AssetId, RunId, WorkspaceId, first_uuid7
from assent.kernel.limits import DAY_MS, MANY_RECIPIENTS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Row, Rows, Transaction
from assent.sql.loader import statements

MOST_NAMES: Final = 100
MOST_RECENT_NAMES: Final = 20
"""Names that are not given again soon. Every proposal reads them."""
RISKS: Final[dict[Severity, int]] = {Severity.HIGH: 0, Severity.MEDIUM: 1, Severity.LOW: 2}
"""Sort order in the store."""

_JSON: Final = msgspec.json.Encoder()
_EFFECT: Final = msgspec.json.Decoder(Effect)
_PREFLIGHT: Final = msgspec.json.Decoder(Preflight)
_APPROVAL: Final = msgspec.json.Decoder(Approval)
_ATTEMPT: Final = msgspec.json.Decoder(Attempt)
_POLICY: Final = msgspec.json.Decoder(Policy)
_VIEW: Final = msgspec.json.Decoder(View)
_NO_VIEW: Final = View()
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_FIELDS: Final = len(Action.__struct_fields__) - 1
"""All fields but the view, whose column was added later."""


class Locked(NamedTuple):
    """A locked action with what a change of it needs."""

    action: Action
    policy: Policy
    head: Head | None
    """The head of its run's stream, locked with it; None for a damaged action without a stream."""
    heard: bool
    """Whether anybody may listen to what changes."""


def lock(workspace_id: WorkspaceId, action_id: ActionId) -> Transaction[Locked]:
    """Lock an action. An action of another workspace and an unknown one run the same statement and raise
    the same 401 (C1, E26, E96)."""
    rows = yield statements.lock_action(workspace_id=workspace_id, action_id=action_id)
    action, policy = _read_found(rows)
    seen = rows[0]["seq"] is not None
    head = journal.head_of(action.workspace_id, action.run_id, rows) if seen else None
    return Locked(action, policy, head, bool(rows[0]["heard"]))


def find(workspace_id: WorkspaceId, action_id: ActionId) -> Transaction[tuple[Action, Policy]]:
    """Return an action and its policy without a lock. Raises like `lock`."""
    rows = yield statements.find_action(workspace_id=workspace_id, action_id=action_id)
    return _read_found(rows)


def find_with_freeze(
    workspace_id: WorkspaceId, action_id: ActionId
) -> Transaction[tuple[Action, Policy, Freeze | None]]:
    """As `find`, with what stops the workspace."""
    rows = yield statements.find_action(workspace_id=workspace_id, action_id=action_id)
    return *_read_found(rows), freezes.read_joined(rows[0]) if rows[0]["frozen_in"] else None


def lock_known(workspace_id: WorkspaceId, action_id: ActionId) -> Transaction[Action | None]:
    """As `lock`, but returns None for an unknown action."""
    rows = yield statements.lock_action(workspace_id=workspace_id, action_id=action_id)
    return action_of(rows[0]) if rows else None


def _read_found(rows: Any) -> tuple[Action, Policy]:
    if not rows:
        raise Refusal(Reason.WRONG_WORKSPACE)
    return action_of(rows[0]), policy_of(rows[0])


def policy_of(row: Row) -> Policy:
    """Return the policy in a row; the default one if the workspace has none."""
    return _decode_policy(row["policy"]) if row["policy"] is not None else DEFAULT


@lru_cache(maxsize=64)
def _decode_policy(text: str) -> Policy:
    """Cached, since every call about an action reads its policy and workspaces share few."""
    return _POLICY.decode(text)


def put(
    action: Action,
    steps: tuple[Step, ...],
    facts: dict[str, Any],
    now_ms: int,
    head: Head | None = None,
    agent: str = "",
) -> Transaction[Action]:
    """Store the next version of a locked action after some moves, with one event for each (E70). `head` is that of
    `lock`, if nothing was appended since; `agent`, who claims."""
    last, state = steps[-1]
    changed = msgspec.structs.replace(action, status=state.status, execution_state=state.execution)
    if last is Move.CLAIM:
        stored = yield from put_claim(changed, agent)
    else:
        stored = yield from put_without_event(changed)
    edited = any(move is Move.EDIT for move, _ in steps)
    if edited or changed.effect.everyone or changed.view.facets.recipients:
        yield from follow(changed, now_ms, edited=edited)
    about = {"actionId": changed.action_id, "revision": changed.revision, "digest": changed.digest}
    events = [
        journal.NewEvent(f"action_{move}", {**about, **facts, "status": state.status})
        for move, state in steps
    ]
    if head is None:
        head = yield from journal.lock_head(changed.workspace_id, changed.run_id, now_ms)
    yield from journal.append_to(head, events, now_ms)
    return stored


def put_without_event(changed: Action) -> Transaction[Action]:
    """Store the next version of a locked action whose state stays the same."""
    stored = yield statements.store_action(
        **_describe_attempt(changed),
        effect=_text(changed.effect),
        digest=changed.digest,
        revision=changed.revision,
        status=changed.status.value,
        expires_ms=changed.expires_ms,
        schedule_ms=changed.schedule_ms,
        approval=_text(changed.approval) if changed.approval is not None else None,
        rejection=changed.rejection,
        executed_ms=changed.executed_ms,
        external_id=changed.external_id,
        external_url=changed.external_url,
        metadata=_text(changed.metadata),
    )
    return _follow(changed, stored)


def put_claim(changed: Action, agent: str = "") -> Transaction[Action]:
    """Store the attempt of a locked action whose effect is sent next. Raises `Refusal` during a freeze."""
    stored = yield statements.store_claim(**_describe_attempt(changed), agent=agent)
    if not stored:
        yield from freezes.refuse(changed, agent)
    return _follow(changed, stored)


def _describe_attempt(changed: Action) -> dict[str, Any]:
    """Return the columns that a claim changes, which are also part of every other change."""
    return {
        "workspace_id": changed.workspace_id,
        "action_id": changed.action_id,
        "version": changed.version,
        "execution_state": changed.execution_state.value,
        "preflight": _text(changed.preflight),
        "risk": RISKS[changed.preflight.severity],
        "attempt": _text(changed.attempt) if changed.attempt is not None else None,
    }


def _follow(changed: Action, stored: Rows) -> Action:
    if not stored:
        raise RuntimeError(f"action {changed.action_id} changed while it was locked")
    return msgspec.structs.replace(changed, version=changed.version + 1)


def note(action: Action, kind: str, facts: dict[str, Any], now_ms: int) -> Transaction[None]:
    """Append an event about an action without changing it, such as a late answer."""
    body = {"actionId": action.action_id, "revision": action.revision, **facts}
    yield from journal.note(action.workspace_id, kind, body, now_ms, stream_id=action.run_id)


def insert_run(run: Run) -> Transaction[None]:
    yield statements.insert_run(
        workspace_id=run.workspace_id,
        run_id=run.run_id,
        tenant_id=run.tenant_id,
        operator=run.operator,
        tool=run.tool,
        inputs=_text(run.inputs),
        outputs=_text(run.outputs),
        status=run.status,
        parent_run_id=run.parent_run_id,
        created_ms=run.created_ms,
        links_from_ms=run.links_from_ms,
    )


def finish_run(run: Run) -> Transaction[bool]:
    """Store the result of a run that was started earlier. Returns False if it has one."""
    rows = yield statements.finish_run(
        workspace_id=run.workspace_id, run_id=run.run_id, outputs=_text(run.outputs), status=run.status
    )
    return bool(rows)


def insert_asset(asset: Asset) -> Transaction[None]:
    yield statements.insert_asset(
        workspace_id=asset.workspace_id,
        asset_id=asset.asset_id,
        run_id=asset.run_id,
        tenant_id=asset.tenant_id,
        type=asset.type,
        title=asset.title,
        body=asset.body,
        channel=asset.channel,
        metadata=_text(asset.metadata),
        created_ms=asset.created_ms,
    )


def insert_action(action: Action, *, proposed_by: str = "", held: bool = False) -> Transaction[None]:
    """Store a staged action as a row (E61). `held`: see `assent.engine.actions.flood`."""
    yield statements.insert_action(
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        run_id=action.run_id,
        tenant_id=action.tenant_id,
        asset_id=action.asset_id,
        position=action.position,
        effect=_text(action.effect),
        digest=action.digest,
        executor_tool=action.executor_tool,
        preflight=_text(action.preflight),
        risk=RISKS[action.preflight.severity],
        created_ms=action.created_ms,
        expires_ms=action.expires_ms,
        schedule_ms=action.schedule_ms,
        metadata=_text(action.metadata),
        view=_text(action.view),
        proposed_by=proposed_by,
        held=int(held),
    )
    yield from follow(action, action.created_ms)


def find_run(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[Run | None]:
    rows = yield statements.find_run(workspace_id=workspace_id, run_id=run_id)
    if not rows:
        return None
    row = rows[0]
    return Run(
        workspace_id=workspace_id,
        run_id=RunId(row["run_id"]),
        tenant_id=row["tenant_id"],
        operator=row["operator"],
        tool=row["tool"],
        inputs=_OBJECT.decode(row["inputs"]),
        outputs=_OBJECT.decode(row["outputs"]),
        status=row["status"],
        parent_run_id=row["parent_run_id"],
        created_ms=row["created_ms"],
        links_from_ms=row["links_from_ms"],
    )


def run_actions(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[tuple[Action, ...]]:
    rows = yield statements.list_run_actions(workspace_id=workspace_id, run_id=run_id)
    return tuple(action_of(row) for row in rows)


def run_assets(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[tuple[Asset, ...]]:
    rows = yield statements.list_assets(workspace_id=workspace_id, run_id=run_id)
    return tuple(asset_of(workspace_id, row) for row in rows)


def asset_of(workspace_id: WorkspaceId, row: Row) -> Asset:
    return Asset(
        workspace_id=workspace_id,
        asset_id=AssetId(row["asset_id"]),
        run_id=RunId(row["run_id"]),
        tenant_id=row["tenant_id"],
        type=row["type"],
        title=row["title"],
        body=row["body"],
        channel=row["channel"],
        metadata=_OBJECT.decode(row["metadata"]),
        created_ms=row["created_ms"],
    )


def recent_assets(workspace_id: WorkspaceId, before: str, most: int) -> Transaction[tuple[Asset, ...]]:
    """Return the assets of a workspace, newest first."""
    rows = yield statements.list_recent_assets(workspace_id=workspace_id, before=before, most=most)
    return tuple(asset_of(workspace_id, row) for row in rows)


def find_asset(workspace_id: WorkspaceId, asset_id: str) -> Transaction[Asset | None]:
    rows = yield statements.find_asset(workspace_id=workspace_id, asset_id=asset_id)
    return asset_of(workspace_id, rows[0]) if rows else None


def waiting(
    workspace_id: WorkspaceId, after: str, most: int, now_ms: int, tenant_id: str | None = None
) -> Transaction[tuple[Action, ...]]:
    """List the actions that need a person, oldest first; of one tenant if it is named."""
    page = {"workspace_id": workspace_id, "after": after, "most": most, "now_ms": now_ms}
    if tenant_id is None:
        rows = yield statements.list_waiting_actions(**page)
    else:
        rows = yield statements.list_tenant_waiting(**page, tenant_id=tenancy.name_tenant(tenant_id))
    return (yield from weigh(workspace_id, tuple(action_of(row) for row in rows), now_ms))


def list_in_status(
    workspace_id: WorkspaceId, tenant_id: str, status: Status, since: str, most: int
) -> Transaction[tuple[Action, ...]]:
    """List a tenant's actions in a status whose ids follow `since`, newest first."""
    rows = yield statements.list_tenant_in_status(
        workspace_id=workspace_id,
        tenant_id=tenancy.name_tenant(tenant_id),
        status=status.value,
        since=since,
        most=most,
    )
    return tuple(action_of(row) for row in rows)


def list_sent(workspace_id: WorkspaceId, since_ms: int, most: int) -> Transaction[tuple[Action, ...]]:
    """List the actions that were executed since a time, newest first."""
    rows = yield statements.list_sent_actions(workspace_id=workspace_id, since_ms=since_ms, most=most)
    return tuple(action_of(row) for row in rows)


def list_of_tenant(
    workspace_id: WorkspaceId, tenant_id: str, since_ms: int, most: int
) -> Transaction[tuple[Action, ...]]:
    """List the actions of a tenant that were staged since a time, newest first."""
    since = first_uuid7(max(0, since_ms))
    rows = yield statements.list_tenant_actions(
        workspace_id=workspace_id, tenant_id=tenant_id, since=since, most=most
    )
    return tuple(action_of(row) for row in rows)


def trail(
    workspace_id: WorkspaceId, status: Status | None, after: str, most: int
) -> Transaction[tuple[Action, ...]]:
    """Return the audit trail of a workspace, oldest first."""
    if status is None:
        rows = yield statements.list_actions(workspace_id=workspace_id, after=after, most=most)
    else:
        rows = yield statements.list_actions_in_status(
            workspace_id=workspace_id, status=status.value, after=after, most=most
        )
    return tuple(action_of(row) for row in rows)


def action_of(row: Row) -> Action:
    """Build an action from its row, whose first columns are the fields of `Action` in order.

    By position, because look-ups by name are slow in a row with many columns.
    """
    (
        workspace_id,
        action_id,
        run_id,
        tenant_id,
        asset_id,
        position,
        version,
        effect,
        digest,
        revision,
        executor_tool,
        status,
        execution_state,
        preflight,
        created_ms,
        expires_ms,
        schedule_ms,
        approval,
        rejection,
        attempt,
        executed_ms,
        external_id,
        external_url,
        metadata,
    ) = row[:_FIELDS]
    return Action(
        workspace_id=workspace_id,
        action_id=action_id,
        run_id=run_id,
        tenant_id=tenant_id,
        asset_id=asset_id,
        position=position,
        version=version,
        effect=_EFFECT.decode(effect),
        digest=digest,
        revision=revision,
        executor_tool=executor_tool,
        status=Status(status),
        execution_state=ExecutionState(execution_state),
        preflight=_PREFLIGHT.decode(preflight),
        created_ms=created_ms,
        expires_ms=expires_ms,
        schedule_ms=schedule_ms,
        approval=_APPROVAL.decode(approval) if approval is not None else None,
        rejection=rejection,
        attempt=_ATTEMPT.decode(attempt) if attempt is not None else None,
        executed_ms=executed_ms,
        external_id=external_id,
        external_url=external_url,
        metadata=_OBJECT.decode(metadata),
        view=_VIEW.decode(view) if (view := row["view"]) else _NO_VIEW,
    )


def read_decodable(rows: Rows) -> tuple[Action, ...]:
    """Build the actions that a start looks through. One that was changed beyond decoding must not stop the start,
    and with it the audit that names it; no executor can read it either."""
    found = []
    for row in rows:
        with contextlib.suppress(Exception):
            found.append(action_of(row))
    return tuple(found)


def reseal_approvals(seals: Seals) -> Transaction[None]:
    """Seal every open approval with the newest master secret, so that earlier ones can go. Other servers go
    on meanwhile, so each action is locked and judged again."""
    for found in read_decodable((yield statements.list_approved_actions())):
        if found.approval is None or not seals.hold(found) or seals.is_newest(found):
            continue
        action, *_ = yield from lock(found.workspace_id, found.action_id)
        if action.status is found.status and action.approval == found.approval:
            yield from put_without_event(seals.seal(action, found.approval))


def revise(before: Action, changed: Action) -> Transaction[None]:
    """Keep the content of the revision that is replaced, and store the view of the next one. An action that waited for
    its agent waits for people again."""
    yield statements.keep_revision(
        workspace_id=before.workspace_id,
        action_id=before.action_id,
        revision=before.revision,
        effect=_text(before.effect),
        view=_text(before.view),
    )
    yield from store_view(changed)
    if is_with_agent(before):
        yield from hold(before, SHOWN)


SHOWN: Final = 0
WITH_AGENT: Final = 2
"""Values of the column `held`; 1 is part of a flood. The inbox asks people about what is 0 alone."""


def hold(action: Action, held: int) -> Transaction[None]:
    """Take an action that waits out of what people are asked about, or back into it."""
    yield statements.hold_action(workspace_id=action.workspace_id, action_id=action.action_id, held=held)


def store_view(action: Action) -> Transaction[None]:
    """Store how people see the present content, and the words that find it."""
    yield from search.index_again(action)
    yield statements.store_view(
        workspace_id=action.workspace_id, action_id=action.action_id, view=_text(action.view)
    )


def _text(value: Any) -> str:
    return _JSON.encode(value).decode()


# The number of people a workspace writes to within a day.
#
# Distinct addresses of approved and sent actions count, and of those that could be approved as they are; those of
# rejected, failed and expired actions do not. A mailing that is split into small ones therefore still counts as a
# large one.

WINDOW_MS: Final = DAY_MS
_COUNTED: Final = frozenset({Status.AWAITING_APPROVAL, Status.APPROVED, Status.EXECUTED})


def follow(action: Action, now_ms: int, *, edited: bool = False) -> Transaction[None]:
    """Store the present recipients of an action."""
    workspace_id, counted = action.workspace_id, is_counted(action)
    reached = reached_addresses(action)
    if edited or (reached and not counted):
        yield statements.forget_recipients(workspace_id=workspace_id, action_id=action.action_id)
    if not reached or not counted:
        return
    waits = action.execution_state in (ExecutionState.NONE, ExecutionState.RETRYABLE)
    yield statements.put_recipients(
        workspace_id=workspace_id,
        action_id=action.action_id,
        addresses=msgspec.json.encode(sorted(reached)).decode(),
        at_ms=now_ms,
        expires_ms=action.expires_ms if waits else None,
    )
    yield statements.forget_earlier_recipients(workspace_id=workspace_id, before_ms=now_ms - WINDOW_MS)


def is_counted(action: Action) -> bool:
    """Whether those whom an action reaches count: not if it cannot be approved as it is."""
    waits = action.status is Status.AWAITING_APPROVAL
    return action.status in _COUNTED and not (waits and action.view.unfit is not None)


def list_recent(workspace_id: WorkspaceId, but: str, now_ms: int) -> Transaction[frozenset[str]]:
    """Return recipients of other actions of the last day, at most as many as decide the
    severity."""
    rows = yield statements.list_recent_recipients(
        workspace_id=workspace_id,
        but=but,
        since_ms=now_ms - WINDOW_MS,
        now_ms=now_ms,
        most=MANY_RECIPIENTS + 1,
    )
    return frozenset(row["address"] for row in rows)


def list_names(workspace_id: WorkspaceId, now_ms: int) -> Transaction[frozenset[str]]:
    """Return the names in use: of open actions, and of those staged or sent within a day, whose cards people may still
    read. The newest of each count."""
    since_ms = max(0, now_ms - DAY_MS)
    rows = yield statements.list_names_in_use(
        workspace_id=workspace_id,
        since_ms=since_ms,
        since=first_uuid7(since_ms),
        most=MOST_NAMES,
        recent=MOST_RECENT_NAMES,
    )
    return frozenset(row["name"] for row in rows if row["name"])


def judge(action: Action, now_ms: int) -> Transaction[Action]:
    """Return the action with its severity by the recipients of the day."""
    if not reached_addresses(action):
        return action
    others = yield from list_recent(action.workspace_id, action.action_id, now_ms)
    return with_people(action, others)


def weigh(
    workspace_id: WorkspaceId, shown: tuple[Action, ...], now_ms: int
) -> Transaction[tuple[Action, ...]]:
    """Return actions that are shown with the severity that a decision about them would find now: other mails may have
    been staged since."""
    if not any(action.status in OPEN and reached_addresses(action) for action in shown):
        return shown
    others = yield from list_recent(workspace_id, "", now_ms)
    return tuple(with_people(action, others) if action.status in OPEN else action for action in shown)


def with_people(action: Action, others: frozenset[str]) -> Action:
    """Return the action with its severity, given the other recipients of the day."""
    if not (reached := reached_addresses(action)):
        return action
    people = len(others | reached)
    return msgspec.structs.replace(action, preflight=weigh_crowd(action.preflight, people))
