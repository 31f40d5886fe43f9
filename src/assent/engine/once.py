"""Idempotency records: the same key and arguments give the same answer, byte for byte (E7, C11, C12).

`recall` takes the key inside the transaction that will have the effect: a second caller with the same key
waits there until the first has committed, then finds its answer. A refusal rolls the transaction back and
with it the key, so that approve-then-retry is not stuck. A transaction that commits without `remember` has
pinned the key to its arguments: that is what an executor does before it calls a provider, and it remembers
once the outcome is known.

A key counts once in its workspace, whoever uses it, so that no effect happens twice. The answer is its holder's, the
API key that got it: it has links with that key's rights, and another key is refused.

Deliberately unaware of what a tool answers.
"""

from __future__ import annotations

from assent.kernel.limits import IDEMPOTENCY_TTL_MS
from assent.kernel.refusals import Reason, Refusal, Retry
from assent.ports import Transaction
from assent.stores.loader import statements


def recall(
    workspace_id: str, tool: str, key: str, request_digest: str, now_ms: int, *, holder: str | None
) -> Transaction[str | None]:
    """The answer given before, or None where the caller is to go on. Refuses the key with other arguments, and to
    everybody but its holder."""
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
        raise Refusal(
            Reason.IDEMPOTENCY_CONFLICT,
            user_message="Another API key of this workspace made this request already; nothing was done again.",
            fix="The answer belongs to the key that made the request. Look at what it did (chieflab_list_runs, "
            "chieflab_list_pending_actions); for a request of your own use a new idempotencyKey.",
            retry=Retry.NEVER,
        )
    answer: str | None = rows[0]["response"]
    return answer


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
    """Keep the answer, in the transaction that has the effect. The first answer stays."""
    yield statements.keep_answer(
        workspace_id=workspace_id,
        tool=tool,
        key=key,
        request_digest=request_digest,
        response=response,
        now_ms=now_ms,
        expires_at=now_ms + IDEMPOTENCY_TTL_MS,
        holder=holder,
    )


def forget_expired(now_ms: int, limit: int) -> Transaction[int]:
    """Remove at most `limit` records past their time; returns how many went."""
    rows = yield statements.forget_answers(now_ms=now_ms, limit=limit)
    return len(rows)
