"""Idempotency records: the same key and arguments give the same answer (E7, C11, C12). The field
`replay` marks a repeated answer and describes the present state.

`recall` claims the key inside the transaction that has the effect. A second caller with the same
key waits there until the first commits, then gets its answer. A refusal rolls back the transaction
and the claim, so a caller can retry after an approval. A transaction that commits without
`remember` has bound the key to its arguments: an executor does this before it calls a provider and
remembers the answer once the outcome is known.

A key is unique in its workspace, so no effect happens twice. The answer belongs to the API key that
got it, because its links carry that key's rights; another API key is refused.

Of an answer, this module reads only the run and the actions that it names.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from assent.engine.core.tenancy import Principal
from assent.gate.records import Action
from assent.kernel import canonical
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import IDEMPOTENCY_TTL_MS
from assent.kernel.refusals import Reason, Refusal, Replay
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.sql.loader import statements

T = TypeVar("T")


def recall(
    workspace_id: str, tool: str, key: str, request_digest: str, now_ms: int, *, holder: str | None
) -> Transaction[str | None]:
    """Claim the key. Returns the stored answer marked as a replay, or None for a new key (E7, E91).
    Raises `Refusal` for other arguments or another holder."""
    rows = yield statements.claim_key(
        workspace_id=workspace_id,
        tool=tool,
        key=key,
        request_digest=request_digest,
        now_ms=now_ms,
        expires_at=now_ms + IDEMPOTENCY_TTL_MS,
        holder=holder,
    )
    if rows[0]["request_digest"] != request_digest:
        raise Refusal(Reason.IDEMPOTENCY_CONFLICT)
    if rows[0]["holder"] is not None and rows[0]["holder"] != holder:
        from assent.present.refusals import refuse_foreign_key  # a handshake needs no words about actions

        raise refuse_foreign_key()
    stored: bytes | None = rows[0]["response"]
    if stored is None:
        return None
    return (yield from _mark_replay(workspace_id, unpack(stored), rows[0]["created_at"], now_ms))


def pack(text: str) -> bytes:
    """Compress a stored answer: a replay needs every byte, and the file would be half answers otherwise."""
    return zlib.compress(text.encode())


def unpack(packed: bytes) -> str:
    """Return the text, exactly. Raises `zlib.error` for other bytes."""
    return zlib.decompress(packed).decode()


def _mark_replay(workspace_id: str, text: str, at_ms: int, now_ms: int) -> Transaction[str]:
    """Add `replay` to a stored answer: its time, and the present state of its actions."""
    if not text.startswith('{"ok":'):
        return text
    from assent.present.status_report import describe_present  # as above

    answer = msgspec.json.decode(text)
    named = yield from _find_named(WorkspaceId(workspace_id), answer)
    replay = Replay(iso_time(at_ms), describe_present(named, now_ms))
    return msgspec.json.encode({**answer, "replay": replay}).decode()


def _find_named(workspace_id: WorkspaceId, answer: dict[str, Any]) -> Transaction[tuple[Action, ...]]:
    """Return the actions that an answer names: those of its run, or one."""
    from assent.engine.actions import actions  # as above

    if staged := {each["id"] for each in answer.get("actions", ())}:
        found = yield from actions.run_actions(workspace_id, answer["runId"])
        return tuple(action for action in found if action.action_id in staged)
    action_id = answer.get("actionId") or answer.get("id")
    if not isinstance(action_id, str):
        return ()
    try:
        action, _ = yield from actions.find(workspace_id, ActionId(action_id))
    except Refusal:
        return ()
    return (action,)


def remember(
    workspace_id: str,
    tool: str,
    key: str,
    request_digest: str,
    response: str,
    now_ms: int,
    *,
    holder: str | None,
) -> Transaction[None]:
    """Store the answer, in the transaction that has the effect. A stored answer is not replaced."""
    yield statements.keep_answer(
        workspace_id=workspace_id,
        tool=tool,
        key=key,
        request_digest=request_digest,
        response=pack(response),
        now_ms=now_ms,
        expires_at=now_ms + IDEMPOTENCY_TTL_MS,
        holder=holder,
    )


def forget_expired(now_ms: int, limit: int) -> Transaction[int]:
    """Delete at most `limit` expired records. Returns the number deleted."""
    rows = yield statements.forget_answers(now_ms=now_ms, limit=limit)
    return len(rows)


def run_once(
    caller: Principal,
    tool: str,
    key: str | None,
    arguments: Any,
    now_ms: int,
    reply: type[T],
    inner: Callable[[], Transaction[T]],
) -> Transaction[T]:
    """Run a transaction once per idempotency key. A repeated call gets the first answer (E7)."""
    if key is None:
        return (yield from inner())
    digest = canonical.digest(arguments)
    workspace_id, holder = caller.workspace_id, caller.holder
    stored = yield from recall(workspace_id, tool, key, digest, now_ms, holder=holder)
    if stored is not None:
        return msgspec.json.decode(stored, type=reply)
    answer = yield from inner()
    text = msgspec.json.encode(answer).decode()
    yield from remember(workspace_id, tool, key, digest, text, now_ms, holder=holder)
    return answer
