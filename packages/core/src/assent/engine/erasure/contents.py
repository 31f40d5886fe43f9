"""Erases the content of an action, because of a person or of its age.

The action keeps its id, status, decisions, digest and outcome. Its effect and view are replaced by a
notice, as are its draft and the memories of decisions about it. Earlier revisions, recipients and
pictures are deleted, and an event names the digests of the notice, so that the audit can tell it from
an altered action. An action that could still be sent is rejected: it would send other content than a
person approved.

A job erases what is older than the settings keep it. Waiting, approved and unsent actions are never
erased, however old. Stored answers, sign-ins, sessions of workflows, deliveries and notifications have
retention times of their own (`assent.jobs.kinds`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

import msgspec

from assent.engine.actions import actions, approvals, hooks
from assent.engine.actions.hooks import Decided, Erased
from assent.engine.audit.actions import CONTENT_ERASED, PREFIX, text_to_sign
from assent.engine.core.journal import Sign
from assent.engine.erasure.matching import collect_texts
from assent.gate.records import (
    BY_HAND,
    ERASED,
    OUTCOME_TOLD,
    PASSED,
    PROPOSAL,
    UNDONE,
    Action,
    Assurance,
    Effect,
    ExecutionState,
    is_erased,
)
from assent.gate.transitions import EXECUTED, TABLE, TERMINAL, Move, path, state_of
from assent.gate.views import View
from assent.kernel.ids import SYSTEM_WORKSPACE, ActionId, WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.kernel.structs import Record
from assent.kernel.times import iso_time
from assent.ports import Single, Store, Transaction
from assent.sql.loader import statements

_KEPT: Final = (PROPOSAL, BY_HAND, OUTCOME_TOLD, UNDONE, PASSED)
_IN_FLIGHT: Final = frozenset({ExecutionState.EXECUTING, ExecutionState.OUTCOME_UNKNOWN})

VIA: Final = "command"
FOR_PERSON: Final = "at a person's request"
BY_AGE: Final = "because this server keeps content for a limited time"


class ErasedContent(Record):
    """What was erased of an action: the ids that copies of it may be stored with, and its texts."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    rejected: bool = False


def word_notice(why: str, now_ms: int) -> str:
    return f"Erased on {iso_time(now_ms)[:10]} {why}."


def is_in_flight(action: Action) -> bool:
    """Whether it is being sent, or its outcome is unknown."""
    return action.execution_state in _IN_FLIGHT


def withdraw_approval(action: Action, now_ms: int, *, by: str) -> Transaction[None]:
    """Withdraw the approval of a locked action before it is sent, because its approver is erased: without
    their name it has no valid seal. An approval that was used stays, without the name."""
    if is_in_flight(action) or (state_of(action), Move.WITHDRAW) not in TABLE:
        return
    steps = path(action, Move.WITHDRAW)
    facts = _describe(by, "The approver was erased.")
    yield from approvals.end_approval(action, action, steps, facts, now_ms, decided=False)


def erase_content(
    workspace_id: WorkspaceId, action_id: ActionId, why: str, now_ms: int, *, by: str, sign: Sign
) -> Transaction[ErasedContent | None]:
    """Erase the content of an action. Returns None if it is being sent or its outcome is unknown: its
    content is needed to find out. Erases it again if it was erased before."""
    action = yield from actions.lock_known(workspace_id, action_id)
    if action is None or is_in_flight(action):
        return None
    others = yield from actions.run_actions(workspace_id, action.run_id)
    revisions = yield statements.list_revisions(workspace_id=workspace_id, action_id=action_id)
    content = list_texts(action, (row["effect"] for row in revisions))
    earlier = [msgspec.json.decode(row["effect"], type=Effect) for row in revisions]
    notice = word_notice(why, now_ms)
    changed = _replace(action, notice, now_ms)
    is_open = state_of(action) not in TERMINAL
    if is_open:
        changed = msgspec.structs.replace(changed, rejection=notice)
        steps, said = path(action, Move.REJECT), _describe(by, notice)
        changed = yield from approvals.end_approval(action, changed, steps, said, now_ms, keep=True)
        rejected = Decided(before=action, action=changed, move=Move.REJECT, facts=said, at_ms=now_ms)
        yield from hooks.on_decided(rejected)
    else:
        changed = yield from actions.put_without_event(changed)
    yield from actions.store_view(changed)
    named = {"workspace_id": workspace_id, "action_id": action_id}
    yield statements.delete_revisions(**named)
    yield statements.forget_recipients(**named)
    elsewhere = {
        each.digest for other in others if other.action_id != action_id for each in other.effect.media
    }
    if why == BY_AGE and state_of(action) == EXECUTED:
        elsewhere |= {media.digest for media in action.effect.media}  # a page of the feed may show them
    own = {media.digest for effect in (action.effect, *earlier) for media in effect.media} - elsewhere
    if action.asset_id is not None and not any(
        each.asset_id == action.asset_id for each in others if each != action
    ):
        yield statements.erase_asset(workspace_id=workspace_id, asset_id=action.asset_id, notice=notice)
    digests_of_pictures = tuple(sorted(filter(None, own)))
    yield from hooks.on_erased(
        Erased(action=changed, notice=notice, pictures=digests_of_pictures, at_ms=now_ms)
    )
    digests = {"effect": changed.effect.digest(), "view": changed.view.digest()}
    signature, public_key = sign(text_to_sign(workspace_id, action_id, **digests))
    facts = {**digests, "by": by, "signature": signature, "publicKey": public_key}
    yield from actions.note(changed, CONTENT_ERASED, facts, now_ms)
    return msgspec.structs.replace(content, rejected=is_open)


def list_texts(action: Action, revisions: Iterable[str]) -> ErasedContent:
    """Return the texts of an action and of the effects of its earlier revisions."""
    ids = tuple(filter(None, (action.action_id, action.run_id, action.asset_id)))
    earlier = (msgspec.json.decode(each, type=Effect) for each in revisions)
    return ErasedContent(ids, _collect(action.effect, *earlier))


def _replace(action: Action, notice: str, now_ms: int) -> Action:
    before, shown = action.effect, action.view
    effect = Effect(channel=before.channel, verb=before.verb, connector=before.connector, body=notice)
    view = View(
        label=shown.label,
        noun=shown.noun,
        common_noun=shown.common_noun,
        done=shown.done,
        risk=shown.risk,
        via=shown.via,
        executes=shown.executes,
        title=notice,
        summary=notice,
        personal="always",
        teaches=False,
        measured=shown.measured,
    )
    kept = {name: value for name, value in action.metadata.items() if name in _KEPT}
    preflight = msgspec.structs.replace(
        action.preflight, warnings=(), recommendations=(), connector_blocker=None, connector_fix_hint=None
    )
    return msgspec.structs.replace(
        action,
        effect=effect,
        view=view,
        preflight=preflight,
        metadata={**kept, ERASED: {"atMs": now_ms}},
    )


def _describe(by: str, reason: str) -> dict[str, str]:
    """The facts of a decision that a command makes."""
    return {"by": by, "assurance": Assurance.PERSON.value, "via": VIA, "reason": reason}


def _collect(*effects: Effect) -> tuple[str, ...]:
    """Return the texts of an effect that are content: not where it goes and by which connector."""
    return collect_texts(
        *(
            (e.body, e.title, e.subject, e.preheader, e.html, e.everyone, e.reply_to, e.details, e.arguments)
            for e in effects
        )
    )


ERASE_JOB: Final = "erase_old_content"
BATCH: Final = 100
"""Actions of one transaction, because other writers wait for it."""
BY: Final = "server"
FACT: Final = "content kept until"
"""The fact with the time that the last run counted from."""
MOST_AHEAD_MS: Final = 7 * DAY_MS
"""How far that time moves in one run."""

Position = tuple[str, str]


async def erase_old_content(store: Store, sign: Sign, kept_ms: int, now_ms: int) -> int:
    """Erase what was decided or sent before the time that content is kept. Returns how many actions."""
    before_ms = await store.write(partial(_trust_clock, now_ms)) - kept_ms
    erased, after = 0, ("", "")
    while True:
        count, position = await store.write(partial(_erase_batch, after, before_ms, now_ms, sign))
        erased += count
        if position is None:
            if erased:
                await store.write(Single(statements.merge_search_words()))
            return erased
        after = position


def _trust_clock(now_ms: int) -> Transaction[int]:
    """Return the time to count from: now, or a week after that of the last run. So a clock that is a year
    ahead for a moment erases no year. The first run erases nothing: it has no time to compare with."""
    rows = yield statements.find_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT)
    trusted_ms = min(now_ms, int(rows[0]["value"]) + MOST_AHEAD_MS) if rows else now_ms
    yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT, value=str(trusted_ms))
    return trusted_ms if rows else 0


def _erase_batch(
    after: Position, before_ms: int, now_ms: int, sign: Sign
) -> Transaction[tuple[int, Position | None]]:
    """Erase the next actions. Returns how many, and where to go on."""
    rows = yield statements.list_old_actions(
        after_workspace=after[0], after_action=after[1], before_ms=before_ms, most=BATCH
    )
    count = 0
    for row in rows:
        workspace_id, action_id = WorkspaceId(row["workspace_id"]), ActionId(row["action_id"])
        action = yield from actions.lock_known(workspace_id, action_id)
        if action is None or is_erased(action) or state_of(action) not in TERMINAL:
            continue
        if (yield from _has_moved(action, before_ms)):
            continue
        yield from erase_content(workspace_id, action_id, BY_AGE, now_ms, by=BY, sign=sign)
        siblings = yield from actions.run_actions(workspace_id, action.run_id)
        if all(map(is_erased, siblings)):
            yield statements.erase_run(workspace_id=workspace_id, run_id=action.run_id)
            yield statements.forget_run_texts(workspace_id=workspace_id, run_id=action.run_id)
        count += 1
    last = (rows[-1]["workspace_id"], rows[-1]["action_id"]) if rows else None
    return count, last


def _has_moved(action: Action, since_ms: int) -> Transaction[bool]:
    """Whether the journal has a decision or an outcome of the action since then."""
    rows = yield statements.list_stream_since(
        workspace_id=action.workspace_id, stream_id=action.run_id, since_ms=since_ms
    )
    moves = [msgspec.json.decode(row["body"]) for row in rows if row["kind"].startswith(PREFIX)]
    return any(body.get("actionId") == action.action_id for body in moves)
