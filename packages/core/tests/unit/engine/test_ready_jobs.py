"""What a runner sees of the jobs that it could claim, on scripted rows."""

from __future__ import annotations

from typing import Final

from tests.support.jobs.kit import NOON
from tests.support.scripted import Script, ScriptedRow

from assent.engine.core import jobs


def _row(job_id: str, ready_ms: int) -> ScriptedRow:
    return ScriptedRow(workspace_id="w", job_id=job_id, kind="greet", fence=0, ready_ms=ready_ms)


LATER: Final = _row("later", NOON + 86_400_000)
DUE: Final = _row("due", NOON)


def test_a_due_job_is_found_behind_the_later_one_of_a_server_that_answered_first() -> None:
    script = Script(plan_by_size=[], list_ready_jobs=[LATER, DUE])

    found = script.run(jobs.list_ready({}, NOON, 32))

    assert [job.job_id for job in found] == ["due", "later"]


def test_where_nothing_is_due_only_the_next_job_is_read() -> None:
    script = Script(plan_by_size=[], list_ready_jobs=[LATER])

    found = script.run(jobs.list_ready({}, NOON, 32))

    assert [job.ready_ms for job in found] == [NOON + 86_400_000]
    assert script.find("list_ready_jobs")["most"] == 1
