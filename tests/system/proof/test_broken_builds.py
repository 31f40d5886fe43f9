"""The judge finds the mistake of each broken build, and finds nothing in the real one, by the same programme."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from proof.checker import PROMISES, Verdict
from tests.support.proof.broken import BUILDS
from tests.support.proof.ground import Ground, Workers
from tests.support.proof.parts import LEASE_SECONDS
from tests.support.proof.worker import Turn
from tests.support.proof.workload import WORKFLOW, Life
from tests.support.reliability import Prove
from tests.support.sqlite_files import new_sqlite

from assent.kernel.limits import HOUR_MS

pytestmark = [pytest.mark.slow, pytest.mark.prove]


def play(ground: Ground, broken: str = "") -> Verdict:
    """Every fate on every connector, a lost answer, a kill after the provider was asked, a day, and all of it again."""
    turns = [
        Turn(Life("a conflict", "post", "conflict")),
        Turn(Life("a rejection", "hook", "rejected")),
        Turn(Life("an edit", "hook", "edited")),
        Turn(Life("a withdrawal", "email", "withdrawn")),
        Turn(Life("a crowd", "hook", "crowd")),
        Turn(Life("a workflow", "", WORKFLOW)),
        Turn(Life("a lost answer", "hook"), ["reset_after"]),
        Turn(Life("a lost post", "post"), ["reset_after"]),
        Turn(Life("a lost search", "look"), ["reset_before"]),
    ]
    killed = Turn(Life("a kill", "hook"), dies_at="execute.performed")
    assert ground.run(ground.task([*turns, killed], broken=broken)) == -signal.SIGKILL
    again = [Turn(turn.life) for turn in (*turns, killed)]
    ground.now_ms += LEASE_SECONDS * 2_000
    assert ground.run(ground.task(again, broken=broken)) == 0
    # A job whose worker did not complete it is taken up again when its lease is over.
    later = [26 * HOUR_MS, 27 * HOUR_MS]
    assert ground.run(ground.task(again, broken=broken, later_ms=later, evidence=True)) == 0
    return ground.judge(measured=True)


@pytest.fixture
def own_ground(tmp_path: Path, provider: tuple[str, Path], workers: Workers) -> Ground:
    return Ground(new_sqlite(tmp_path / "assent.db"), tmp_path, provider, workers)


def test_the_real_build_is_clean(ground: Ground, prove: Prove) -> None:
    verdict = play(ground)
    prove.row("the real build, judged by the same programme", "builds passed", int(verdict.clean), verdict)
    assert verdict.clean, verdict.describe()
    assert (verdict.actions, verdict.double_effects, verdict.lost) == (9, 0, 0)
    assert verdict.effects >= 6, "a run in which little is sent proves little"


def test_there_is_a_broken_build_for_every_promise() -> None:
    assert {promise for promise, _ in BUILDS.values()} == set(PROMISES)


@pytest.mark.parametrize("name", BUILDS)
def test_a_broken_build_is_caught(own_ground: Ground, prove: Prove, name: str) -> None:
    promise, verdict = BUILDS[name][0], play(own_ground, name)
    caught = promise in verdict.promises
    seen = {f"{name} (breaks {promise})": f"found {', '.join(sorted(verdict.promises)) or 'nothing'}"}
    prove.row(
        "builds with one mistake, judged",
        "broken builds caught",
        int(caught),
        calls=verdict.calls,
        notes=seen,
    )
    assert caught, verdict.describe()
