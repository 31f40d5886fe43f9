"""Erases the content of an action, because of a person or of its age.

The action keeps its id, status, decisions, digest and outcome. Its effect and view are replaced by a
notice, as are its draft and the memories of decisions about it. Earlier revisions, recipients and
pictures are deleted, and an event names the digests of the
notice, so that the audit can tell it from an altered action. An action that could still be sent is
rejected: it would send other content than a person approved.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from assent.engine.actions import actions, approvals, hooks
from assent.engine.actions.hooks import Decided, Erased
from assent.engine.audit.actions import CONTENT_ERASED, text_to_sign
from assent.engine.core.journal import Sign
from assent.engine.erasure.matching import collect_texts
from assent.gate.records import (
    BY_HAND,
    ERASED,
    OUTCOME_TOLD,
    PROPOSAL,
    TAKEN_DOWN,
    Action,
    Assurance,
    Effect,
    ExecutionState,
)
from assent.gate.transitions import EXECUTED, TABLE, TERMINAL, Move, path, state_of
from assent.gate.views import View
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.structs import Record
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.sql.loader import statements

_KEPT: Final = (PROPOSAL, BY_HAND, OUTCOME_TOLD, TAKEN_DOWN)
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
            (e.body, e.title, e.subject, e.preheader, e.html, e.recipients, e.details, e.arguments)
            for e in effects
        )
    )
