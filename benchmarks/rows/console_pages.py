"""Pages where there is much to show: the lists, a run of 10,000 actions, a workflow's run of 2,000 steps.

Time inside the server, and the bytes received, each against its budget.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import uvloop

from benchmarks.figures import Figure, Limit, compared
from benchmarks.rows.console_world import ACTIONS, NODES, Look, Places, filled, looking

LOOKS: Final = 25
BUDGET_MS: Final = 50.0
BUDGET_KB: Final = 60.0
LIMIT: Final = Limit(times=1)


def pages(places: Places) -> dict[str, str]:
    """What is looked at, and where it is."""
    return {
        f"inbox, {2 * ACTIONS:,} waiting actions": "/inbox",
        f"a search among {2 * ACTIONS:,} waiting actions": "/inbox?q=nothing+like+it",
        f"a search that finds all {2 * ACTIONS:,} waiting actions": "/inbox?q=of+much",
        f"runs, {2 * ACTIONS:,} of them": "/runs",
        f"one run of {ACTIONS:,} actions": f"/runs/{places.run_id}/story",
        f"a workflow's run of {NODES:,} steps": f"/sessions/{places.session_run_id}",
        f"audit, {3 * ACTIONS:,} actions": "/audit",
        "a search among the runs": "/runs?q=nothing+like+it",
        "a search that finds all runs": "/runs?q=much",
        "a search in the audit log": "/audit?q=nothing+like+it",
        "results": "/results?period=all",
        "decisions in memory": "/memory?group=decisions",
        "operations": "/operations?period=91",
    }


def measure(scratch: Path) -> list[Figure]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        places = runner.run(filled(scratch / "much"))
        looks = runner.run(_looks(scratch / "much", places))
    figures = []
    for name, seen in looks.items():
        times, sizes = [look.ms for look in seen], [look.kilobytes for look in seen]
        for work, unit, ours, budget in (
            (f"{name}: server time", "ms", times, BUDGET_MS),
            (f"{name}: compressed", "KB", sizes, BUDGET_KB),
        ):
            theirs = [budget] * len(ours)
            figures.append(compared(work, "the budget", unit, ours, theirs, successes=len(ours), limit=LIMIT))
    return figures


async def _looks(data_dir: Path, places: Places) -> dict[str, list[Look]]:
    async with looking(data_dir) as looker:
        wanted = pages(places)
        for path in wanted.values():
            await looker.look(path)
        return {name: [await looker.look(path) for _ in range(LOOKS)] for name, path in wanted.items()}
