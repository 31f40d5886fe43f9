"""The store's loop: a transaction that appends to the journal and writes one record, by 1, 16 and 64 callers at once.

This module is the work itself, once as the engine writes it and once as the bare statements and values that a
hand-written floor sends to the driver. The floor hashes nothing, hands nothing over and handles no failure.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import astuple

from assent.engine.actions import idempotency as once
from assent.engine.actions.idempotency import pack
from assent.engine.core import journal
from assent.engine.core.journal import NewEvent
from assent.ports import Store
from assent.sql.loader import statements
from benchmarks.figures import Figure, Limit, compared

CALLERS: Final = (1, 16, 64)
ROUNDS: Final = 11
ROUND_SECONDS: Final = 0.2
"""About how long one side of one round takes; the number of transactions follows from the first try."""

WORKSPACE: Final = "0190f5a0-0000-7000-8000-000000000001"
TOOL: Final = "chieflab_approve_action"
NOW_MS: Final = 1_790_000_000_000
DIGEST: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
EVENT: Final = NewEvent(
    "action.approved",
    {"actionId": "0190f5a0-0000-7000-8000-000000000002", "approvedVia": "review_page", "digest": DIGEST},
)
BODY: Final = msgspec.json.encode(EVENT.body).decode()
ANSWER: Final = (
    f'{{"status":"approved","actionId":"0190f5a0-0000-7000-8000-000000000002","digest":"{DIGEST}"}}'
)
PACKED: Final = pack(ANSWER)


class Cost(NamedTuple):
    """Microseconds per transaction: by the clock on the wall, and of this process's CPU time."""

    wall: float
    cpu: float


class Stopwatch:
    """Runs from its making."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def cost(self, transactions: int) -> Cost:
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return Cost(wall / transactions * 1e6, cpu / transactions * 1e6)


class Plan(NamedTuple):
    """One side of one round: so many transactions on each of so many fresh streams."""

    name: str
    callers: int
    each: int

    @property
    def transactions(self) -> int:
        return self.callers * self.each

    def stream(self, caller: int) -> str:
        return f"{self.name}-{caller}"


def planned(prefix: str, callers: int, each: int) -> Callable[[], Plan]:
    """Plans with streams that no round has used before."""
    rounds = iter(range(1_000))
    return lambda: Plan(f"{prefix}-{next(rounds)}", callers, each)


async def through(store: Store, plan: Plan) -> Cost:
    """What the plan costs through a store."""

    async def caller(stream: str) -> None:
        for number in range(plan.each):
            await store.write(lambda key=f"{stream}-{number}": _transaction(stream, key))  # type: ignore[misc]

    watch = Stopwatch()
    await asyncio.gather(*(caller(plan.stream(index)) for index in range(plan.callers)))
    return watch.cost(plan.transactions)


def _transaction(stream: str, key: str) -> Any:
    yield from journal.append(WORKSPACE, stream, [EVENT], NOW_MS)
    yield from once.remember(WORKSPACE, TOOL, key, DIGEST, ANSWER, NOW_MS, holder=None)


async def calibrated(store: Store, callers: int) -> int:
    """How many transactions of each caller fill a round."""
    trial = Plan(f"trial-{callers}", callers, 20)
    cost = await through(store, trial)
    return max(20, round(ROUND_SECONDS * 1e6 / cost.wall / callers))


def figures(
    work: str,
    against: str,
    ours: Sequence[Cost],
    theirs: Sequence[Cost],
    *,
    successes: int,
    limit: Limit | None,
    note: str = "",
) -> list[Figure]:
    """The time per transaction, which has a limit and the note, and the CPU time, which a busy disk does not blur."""
    return [
        compared(
            f"{work}, {kind}",
            against,
            "µs",
            [cost[index] for cost in ours],
            [cost[index] for cost in theirs],
            successes=successes,
            limit=limit if kind == "time" else None,
            note=note if kind == "time" else "",
        )
        for index, kind in enumerate(("time", "CPU"))
    ]


FLOOR: Final = (
    statements.lock_head,
    statements.append_event,
    statements.write_event,
    statements.keep_answer,
)
"""The statements of one transaction, in order. A store skips one that is empty in its dialect."""

NEW_HEAD: Final = (
    "INSERT INTO streams (workspace_id, stream_id, seq, hash, updated_at)"
    f" VALUES ('{WORKSPACE}', '{{stream}}', 0, '{journal.GENESIS}', {NOW_MS}) ON CONFLICT DO NOTHING"
)
"""A stream that a floor appends to, made before the clock runs."""

FloorTransaction = tuple[tuple[Any, ...], ...]


def floor_transactions(stream: str, count: int) -> list[FloorTransaction]:
    """The values of `count` transactions on a fresh stream, bound before the clock runs."""
    return [_floor_values(stream, seq) for seq in range(1, count + 1)]


def _floor_values(stream: str, seq: int) -> FloorTransaction:
    place: dict[str, Any] = {"workspace_id": WORKSPACE, "stream_id": stream}
    before, after = (f"{number:064d}" for number in (seq - 1, seq))
    moved = {**place, "seq": seq, "hash": after}
    lock, append, write, keep = FLOOR
    bound = (
        lock(**place),
        append(**moved, previous_hash=before, dated_ms=NOW_MS),
        write(**moved, kind=EVENT.kind, now_ms=NOW_MS, body=BODY),
        keep(
            workspace_id=WORKSPACE,
            tool=TOOL,
            key=f"{stream}-{seq}",
            request_digest=DIGEST,
            response=PACKED,
            now_ms=NOW_MS,
            expires_at=NOW_MS + 1,
            holder=None,
        ),
    )
    return tuple(map(astuple, bound))
