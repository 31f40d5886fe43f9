"""An approval under a policy with ten rules, against one under the preset alone.

The rules match on type, channel, caller, risk, recipients, amount and arguments. None of them matches, or each asks for
what the preset asks, so both sides do the same work apart from the policy.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import uvloop

from assent.app import App
from assent.engine.actions import policies
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from benchmarks.figures import Figure, Limit, compared, in_turns, require
from benchmarks.rows.gate_world import Insider, database, in_status, world
from benchmarks.rows.store_loop import Cost, Stopwatch

APPROVALS: Final = 30
ROUNDS: Final = 51
LIMIT: Final = Limit(times=1.05)
PERSON: Final = {"assurance": "person", "approvers": 2}
RULES: Final[list[dict[str, Any]]] = [
    {"name": "refunds", "when": {"effect": "acme_refund", "amount": {"at_least": 500}}, "ask": PERSON},
    {"name": "charges", "when": {"effect": ["acme_charge", "acme_delete"]}, "deny": "Not here."},
    {"name": "mail", "when": {"channel": "email", "recipients": {"at_least": 10}}, "ask": PERSON},
    {
        "name": "strangers",
        "when": {"recipients": {"at_least": 1, "outside": ["@example.org"]}},
        "ask": PERSON,
    },
    {"name": "robots", "when": {"caller": ["ci", "nightly"]}, "ask": PERSON},
    {"name": "high", "when": {"risk": "high"}, "ask": {"assurance": "passkey"}},
    {
        "name": "debug",
        "when": {"channel": "acme", "arguments": {"reason": ["test"]}},
        "deny": "Use the sandbox.",
    },
    {"name": "launches", "when": {"operator": "launch", "risk": ["medium", "high"]}, "ask": PERSON},
    {"name": "all", "ask": {"assurance": "agent"}},
    {"name": "later", "when": {"risk": ["low", "medium"]}, "ask": {"assurance": "agent", "within_hours": 48}},
]


def measure(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        sources: dict[str, dict[str, Any]] = {
            "rules": {"preset": "relay", "rule": RULES},
            "preset": {"preset": "relay"},
        }
        insiders: dict[str, Insider] = {}
        waiting: dict[str, list[str]] = {}
        for name, source in sources.items():
            app = world(scratch / name)
            stack.callback(_close, runner, app)
            runner.run(_prepare(app, source))
            insiders[name] = Insider(app)
            waiting[name] = runner.run(_stage(insiders[name], APPROVALS * (ROUNDS + 1)))
            runner.run(_approve(insiders[name], waiting[name]))
        costs = in_turns(
            {name: partial(_round, runner, insiders[name], waiting[name]) for name in sources}, ROUNDS
        )
        work = f"approve under {len(RULES)} rules, CPU"
        done = [in_status(database(scratch / name), "approved") for name in sources]
        for count in done:
            require(count, APPROVALS * (ROUNDS + 1), f"{work}: actions approved")
        return [
            compared(
                work,
                "the same under the preset alone",
                "µs",
                [cost.cpu for cost in costs["rules"]],
                [cost.cpu for cost in costs["preset"]],
                successes=done[0],
                limit=LIMIT,
            )
        ]


async def _prepare(app: App, source: dict[str, Any]) -> None:
    await app.prepare()
    await app.store.write(lambda: policies.save(LOCAL_WORKSPACE, source, app.clock.now_ms(), by="bench"))


async def _stage(insider: Insider, count: int) -> list[str]:
    return [await insider.stage() for _ in range(count)]


def _round(runner: asyncio.Runner, insider: Insider, waiting: list[str]) -> Cost:
    return runner.run(_approve(insider, waiting))


async def _approve(insider: Insider, waiting: list[str]) -> Cost:
    taken = [waiting.pop() for _ in range(APPROVALS)]
    watch = Stopwatch()
    for action_id in taken:
        await insider.approve(action_id)
    return watch.cost(len(taken))


def _close(runner: asyncio.Runner, app: App) -> None:
    runner.run(app.close())
