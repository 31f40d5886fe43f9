"""A checkpoint that stays on the machine proves nothing against its owner: after a day, people are told."""

from __future__ import annotations

import logging

import msgspec
import pytest
from packages.core.tests.wire.review.test_notifications import Posts, told_at
from tests.support.review.kit import Server, post

from assent.engine.audit import copies
from assent.engine.core import jobs
from assent.jobs.kinds import job_kinds
from assent.jobs.worker import Runner

NOTE = "The audit log has no fresh copy"


async def write_checkpoint(server: Server) -> None:
    """Run the job of every hour."""
    name, now_ms = "write_audit_checkpoint", server.clock.now_ms()
    kinds = {name: msgspec.structs.replace(job_kinds(server.app)[name], every_ms=None)}
    await server.app.store.write(lambda: jobs.enqueue_next(name, 1, now_ms - 1))
    assert await Runner(server.app.store, server.clock, kinds, worker="test").run_due_once() == 1


@pytest.mark.own_database
async def test_checkpoints_without_a_copy_are_told_once_a_day_until_a_copy_is_shown(
    server_on_any_store: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server = server_on_any_store
    clock = server.clock
    posts = Posts(server)
    await told_at(server, "email", "ada@example.org")
    owner = await server.owner()

    async def pass_hours(hours: int) -> tuple[int, int, bool, bool]:
        """Let the hourly job run meanwhile. Returns the warnings, the mails, the line of the page, the metric."""
        caplog.clear()
        posts.sent.clear()
        for _ in range(hours):
            clock.advance(hours=1)
            await write_checkpoint(server)
        await server.run_jobs()
        warned = [
            each
            for each in caplog.records
            if each.name == "assent.jobs" and "another machine" in each.message
        ]
        mails = [said for _, said in posts.sent if said["subject"] == NOTE]
        page = (await owner.get("/audit")).text
        metrics = (await owner.get("/metrics")).text
        return len(warned), len(mails), NOTE in page, "assent_audit_uncopied_seconds 0\n" not in metrics

    caplog.set_level(logging.WARNING)
    await server.stage(post())
    assert await pass_hours(24) == (0, 0, False, False)
    assert await pass_hours(2) == (1, 1, True, True)
    assert await pass_hours(22) == (0, 0, True, True)
    assert await pass_hours(2) == (1, 1, True, True)

    await server.app.store.write(lambda: copies.record_copy(1_000))
    assert await pass_hours(26) == (0, 0, False, False)


@pytest.mark.own_database
async def test_an_idle_server_needs_no_new_copy(server_on_any_store: Server) -> None:
    store, clock = server_on_any_store.app.store, server_on_any_store.clock
    await server_on_any_store.app.prepare()
    clock.advance(hours=1)
    await write_checkpoint(server_on_any_store)
    await store.write(lambda: copies.record_copy(1))
    clock.advance(days=30)
    assert await store.read(lambda: copies.find_overdue(clock.now_ms())) is None
