"""On PostgreSQL all processes go by the database's clock, whatever their machines say; elsewhere by the machine's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.jobs.kit import claim
from tests.support.surfaces import settings_for

from assent.app import App
from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobKind
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import CLOCKS_AGREE_MS, HOUR_MS, SECOND_MS
from assent.processes.system_clock import SystemClock, read_machine_clock


class Machine:
    """A machine whose clock can be set."""

    def __init__(self, now_ms: int = 0) -> None:
        self.machine_ms = self.steady_ms = now_ms
        self.clock = SystemClock(lambda: self.machine_ms, lambda: self.steady_ms)

    def pass_time(self, by_ms: int) -> None:
        self.machine_ms += by_ms
        self.steady_ms += by_ms


def test_a_clock_that_was_not_compared_is_the_machines() -> None:
    machine = Machine()
    machine.machine_ms += HOUR_MS
    assert machine.clock.now_ms() == HOUR_MS


@pytest.mark.parametrize("apart_ms", [HOUR_MS, -HOUR_MS, CLOCKS_AGREE_MS + 101, -CLOCKS_AGREE_MS - 1])
def test_a_clock_that_is_apart_from_the_databases_follows_it(apart_ms: int) -> None:
    machine = Machine(10 * HOUR_MS)
    machine.clock.follow(machine.machine_ms - apart_ms, delay_ms=100)
    assert machine.clock.now_ms() == 10 * HOUR_MS - apart_ms + 50
    machine.pass_time(SECOND_MS)
    assert machine.clock.now_ms() == 10 * HOUR_MS - apart_ms + 50 + SECOND_MS


@pytest.mark.parametrize("apart_ms", [0, CLOCKS_AGREE_MS + 100, -CLOCKS_AGREE_MS])
def test_a_delay_is_no_difference(apart_ms: int) -> None:
    machine = Machine(10 * HOUR_MS)
    machine.clock.follow(machine.machine_ms - apart_ms, delay_ms=100)
    assert machine.clock.now_ms() == 10 * HOUR_MS


@pytest.mark.parametrize("jump_ms", [HOUR_MS, -HOUR_MS])
def test_setting_the_machines_clock_changes_nothing_afterwards(jump_ms: int) -> None:
    machine = Machine(10 * HOUR_MS)
    machine.clock.follow(machine.machine_ms, delay_ms=1)
    machine.machine_ms += jump_ms
    machine.pass_time(SECOND_MS)
    assert machine.clock.now_ms() == 10 * HOUR_MS + SECOND_MS


@pytest.mark.rule("E29")
async def test_a_process_whose_clock_is_ahead_takes_no_job_from_a_living_one(
    empty_postgres_url: str, tmp_path: Path
) -> None:
    ahead = SystemClock(lambda: read_machine_clock() + 2 * HOUR_MS)
    first = App(settings_for(empty_postgres_url, tmp_path / "first"))
    second = App(settings_for(empty_postgres_url, tmp_path / "second"), clock=ahead)
    kinds = {"a kind": JobKind(do_nothing)}
    try:
        now_ms = first.clock.now_ms()
        await first.store.write(
            lambda: jobs.enqueue(SYSTEM_WORKSPACE, "a kind", "a key", {}, due_ms=now_ms, now_ms=now_ms)
        )
        assert await claim(first.store, kinds, first.clock.now_ms())
        await second.store.open()
        assert not await claim(second.store, kinds, second.clock.now_ms())
    finally:
        await first.close()
        await second.close()


async def do_nothing(job: Job) -> None: ...
