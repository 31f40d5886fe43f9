"""kill -9 at every failpoint and at any moment, on both stores: nothing is lost, nothing happens twice.

A worker repeats what the one before it did, with the same keys, then lives a life of its own until it is killed. The
run is judged at its end: histories of the dead and the living, the provider's ledger, every record, the journal.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress

import pytest
from tests.support.effort import rounds, share
from tests.support.proof.ground import Ground
from tests.support.proof.parts import CONNECTORS, LEASE_SECONDS
from tests.support.proof.worker import Turn
from tests.support.proof.workload import WORKFLOW, Life
from tests.support.reliability import Prove

from assent.engine.core import failpoints
from assent.kernel.limits import DAY_MS, HOUR_MS

pytestmark = [pytest.mark.slow, pytest.mark.prove, pytest.mark.rule("E29", "E61", "E72")]

RUNS = range(share(1, 10))
MATRIX = [(place, connector) for connector in ("post", "page", "look", "hook") for place in failpoints.NAMES]
KILLS = rounds(2 * len(failpoints.NAMES), 110)
"""At failpoints, in each run on each store."""
STRIDE = 5
"""Through the matrix, so that a short run meets every failpoint twice, and every connector."""
SUDDEN = rounds(2, 20)
"""At any moment, in each run on each store."""
LIVES = 8
NEXT_MS = LEASE_SECONDS * 1_000 + 31_000
"""Past the lease of an attempt and of a job whose worker died."""
LOOKING = "reconcile."
FATES = ("plain", "plain", "edited", "crowd")
LATER_MS = DAY_MS + HOUR_MS
"""When what was sent is measured: in the middle of a run, so that workers are killed while they measure, and at its
end."""


def turn(chance: random.Random, number: int, run: int, dies_at: str, connector: str = "") -> Turn:
    connector = connector or chance.choice(CONNECTORS)
    if dies_at == "reconcile.recorded" and connector == "hook":
        connector = "post"  # only a person can tell, so no job records it
    fate = chance.choice(FATES if dies_at else (*FATES, WORKFLOW))
    life = Life(f"{run}.{number} until {dies_at or 'any moment'}", connector, fate)
    if dies_at.startswith(LOOKING):
        return Turn(life, [chance.choice(("error_after", "reset_after"))], dies_at, LEASE_SECONDS * 1_000)
    return Turn(life, dies_at=dies_at)


@pytest.mark.parametrize("run", RUNS)
def test_no_kill_loses_or_repeats_anything(ground: Ground, prove: Prove, run: int, database: str) -> None:
    chance = random.Random(f"{run} {database}")  # noqa: S311 - a choice of tests
    kills, killed = KILLS, Counter[str]()
    last: list[Turn] = []
    everything: list[Turn] = []
    for number in range(kills):
        place, connector = MATRIX[number * STRIDE % len(MATRIX)]
        own = turn(chance, number, run, place, connector)
        assert ground.run(ground.task([*last, own])) == -signal.SIGKILL, own
        killed[place] += 1
        last = [Turn(own.life)]
        everything += last
        ground.now_ms += NEXT_MS
    ground.now_ms += LATER_MS
    longest = 0.25
    for number in range(SUDDEN):
        lives = [turn(chance, kills + number * LIVES + n, run, "") for n in range(LIVES)]
        worker = ground.workers.start(ground.task([*last, *lives]))
        time.sleep(chance.uniform(0.01, longest))
        with suppress(ProcessLookupError):  # it may have ended before
            os.kill(worker, signal.SIGKILL)
        if ground.workers.end() == -signal.SIGKILL:
            killed["any moment"] += 1
        else:  # it had done its lives; how long that takes depends on the machine
            longest /= 2
        last = lives
        everything += lives
        ground.now_ms += NEXT_MS
    later_ms = [NEXT_MS, LATER_MS, LATER_MS + NEXT_MS]
    assert ground.run(ground.task(everything[-2 * LIVES :], later_ms=later_ms, evidence=True)) == 0
    verdict = ground.judge(measured=True)
    prove.row(f"kill -9 of a worker, {database}", "kills", killed.total(), verdict, places=killed)
    assert verdict.clean, verdict.describe()
    assert set(killed) >= set(failpoints.NAMES)
    assert killed["any moment"] >= SUDDEN // 2
    assert verdict.unresolved == 0
    assert verdict.effects >= kills // 2, "a run in which little is sent proves little"
