"""The loop that users get: `chieflab_post` on the site, approve, execute, over HTTP with a key.

`assent serve` as it is installed: the post operator with its content checks, the built-in site as the provider, its
jobs, its access log. The approval schedules a notification and the execution schedules a measurement. The client is a
few lines over a socket, because its time is in every figure. One caller and eight are held against the floor, the
hand-written transactions of `gate_floor` by one caller: a neighbour on the machine moves both.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

import uvloop

from benchmarks.figures import Figure, Limit, compared, in_turns, require
from benchmarks.machine import assent, free_port, serving
from benchmarks.rows.gate_floor import Floor
from benchmarks.rows.gate_http import Line
from benchmarks.rows.gate_loop import AGAINST, bare, floor_beside
from benchmarks.rows.gate_world import APPROVE, BODY, database, in_status
from benchmarks.rows.store_loop import Cost, Stopwatch
from benchmarks.rows.tool_call import new_key

STAGE: Final = "chieflab_post"
EXECUTE: Final = "chieflab_execute_approved_action"
LOOPS: Final = 25
ROUNDS: Final = 11
WARM_UP: Final = 30
MANY: Final = 8
LOOPS_OF_EACH: Final = 20
ROUNDS_OF_MANY: Final = 7
LIMIT: Final = Limit(times=7)
LIMIT_OF_MANY: Final = Limit(times=5)

NOTIFY: Final = (
    "INSERT INTO notification_targets (workspace_id, target_id, kind, shown, created_ms, causes)"
    " SELECT workspace_id, 'benchmarks', 'ntfy', '', 0, 'problems' FROM api_keys"
)
"""Adds a target that hears of approved actions that stay unsent: each approval schedules a note in an hour. A note that
is due at once would go to a provider, whose time is not ours."""

_numbers: Final = count(2)


class User(Line):
    """A caller with a key, over one connection that stays open."""

    async def loop(self) -> None:
        """Post, approve, execute."""
        number = next(_numbers)
        post = {"channel": "site", "title": f"A faster importer, part {number}", "body": BODY.format(number)}
        staged = await self.call(STAGE, post)
        about = {"actionId": staged["actions"][0]["id"]}
        await self.call(APPROVE, about)
        await self.call(EXECUTE, about)


def measure(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        users, floor = serve_users(stack, runner, scratch)
        return [_one(runner, users[0], floor, scratch), _many(runner, users, floor, scratch)]


def serve_users(stack: ExitStack, runner: asyncio.Runner, data_dir: Path) -> tuple[list[User], Floor]:
    """A server with a workspace whose people are notified, its callers, and the floor that writes what they leave."""
    port = free_port()
    settings = {
        "ASSENT_DATA_DIR": str(data_dir),
        "ASSENT_PORT": str(port),
        "ASSENT_RATE_LIMIT_PER_MINUTE": "100000000",
        "ASSENT_STORAGE_QUOTA_MB": "100000000",
    }
    key = new_key(settings)
    _notify(database(data_dir))
    stack.enter_context(serving(assent("serve"), port, settings, data_dir / "server.log"))
    users = [User(port, key) for _ in range(MANY)]
    for user in users:
        stack.callback(user.close)
    runner.run(post_all(users[:1], WARM_UP))
    floor = floor_beside(runner, data_dir)
    stack.callback(floor.close)
    bare(floor, WARM_UP)
    return users, floor


def _notify(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(NOTIFY)


async def post_all(users: list[User], loops: int) -> Cost:
    """What a loop costs, all callers at work at once."""

    async def caller(user: User) -> None:
        for _ in range(loops):
            await user.loop()

    watch = Stopwatch()
    await asyncio.gather(*map(caller, users))
    return watch.cost(loops * len(users))


def _one(runner: asyncio.Runner, user: User, floor: Floor, data_dir: Path) -> Figure:
    work = "post on the site, approve, execute, 1 caller over HTTP, time"
    before = in_status(database(data_dir), "executed")
    costs = in_turns(
        {"ours": lambda: runner.run(post_all([user], LOOPS)), "theirs": lambda: bare(floor, LOOPS)}, ROUNDS
    )
    done = in_status(database(data_dir), "executed") - before
    require(done, LOOPS * ROUNDS, f"{work}: actions executed")
    return compared(
        work,
        AGAINST,
        "µs",
        [cost.wall for cost in costs["ours"]],
        [cost.wall for cost in costs["theirs"]],
        successes=done,
        limit=LIMIT,
    )


def _many(runner: asyncio.Runner, users: list[User], floor: Floor, data_dir: Path) -> Figure:
    work = f"post on the site, approve, execute, {MANY} callers over HTTP, time for each loop"
    each_round = MANY * LOOPS_OF_EACH
    runner.run(post_all(users, 1))
    before = in_status(database(data_dir), "executed")
    costs = in_turns(
        {
            "ours": lambda: runner.run(post_all(users, LOOPS_OF_EACH)),
            "floor": lambda: bare(floor, each_round),
        },
        ROUNDS_OF_MANY,
    )
    done = in_status(database(data_dir), "executed") - before
    require(done, each_round * ROUNDS_OF_MANY, f"{work}: actions executed")
    ours, floors = ([cost.wall for cost in costs[side]] for side in ("ours", "floor"))
    return compared(
        work,
        AGAINST,
        "µs",
        ours,
        floors,
        successes=done,
        limit=LIMIT_OF_MANY,
        note=f"{1e6 / median(ours):.0f} loops a second; the floor, 1 caller: {1e6 / median(floors):.0f}",
    )
