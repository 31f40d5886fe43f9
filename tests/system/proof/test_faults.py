"""Real servers over HTTP and stdio under faults: kills, a database that crashes or loses the answer to a commit, a full
disk, a clock that jumps, a provider that fails. Clients go on all the time; the judge reads what they were told.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from packages.core.tests.system.processes.test_disk import limit_files, sizes
from tests.support.effort import PROVE, rounds, share
from tests.support.fault_proxy import FaultProxy
from tests.support.postgres_server import MISSING, Cluster, binaries
from tests.support.proof.deployment import Deployment
from tests.support.proof.worker import plan
from tests.support.reliability import Prove
from tests.support.sqlite_files import new_sqlite

from assent_conform.testing.provider_server import Outcome

pytestmark = [pytest.mark.slow, pytest.mark.prove, pytest.mark.rule("E29", "E61", "E72")]

CALLERS = rounds(3, 6)
DEADLINE_SECONDS = 30
FILL_SECONDS = 10
BETWEEN = rounds(12, 60)
"""Successful calls before each fault: about one life of every caller."""
HOUR_MS = 3_600_000
JUMPS_MS = (2 * HOUR_MS, -2 * HOUR_MS, 26 * HOUR_MS, -HOUR_MS, 60_000, -30_000)

Strike = Callable[[Deployment, "Place"], Awaitable[str]]
"""Does harm and undoes it; returns its name."""


@dataclass
class Place:
    """What a fault may reach beside the servers."""

    url: str
    cluster: Cluster | None = None
    proxy: FaultProxy | None = None
    jumps: Iterator[int] = field(default_factory=lambda: cycle(JUMPS_MS))


async def kill(deployment: Deployment, place: Place) -> str:
    await deployment.kill()
    await deployment.serve()
    return "kill -9 of assent serve"


async def kill_stdio(deployment: Deployment, place: Place) -> str:
    piping = deployment.piping
    assert piping is not None
    piping.process.kill()
    await asyncio.to_thread(piping.__exit__)
    await asyncio.to_thread(deployment.pipe)
    return "kill -9 of assent stdio"


async def kill_either(deployment: Deployment, place: Place) -> str:
    return await deployment.chance.choice((kill, kill_stdio))(deployment, place)


async def crash_database(deployment: Deployment, place: Place) -> str:
    cluster = place.cluster
    assert cluster is not None
    sudden = deployment.chance.random() < 0.5
    await asyncio.to_thread(cluster.kill if sudden else partial(cluster.stop, "immediate"))
    await asyncio.to_thread(cluster.start)
    return "kill -9 of PostgreSQL" if sudden else "immediate stop of PostgreSQL"


async def cut_commit(deployment: Deployment, place: Place) -> str:
    proxy = place.proxy
    assert proxy is not None
    cuts = proxy.cuts
    proxy.cut_commits(3)
    await wait_until(lambda: proxy.cuts >= cuts + 3)
    return "connection cut after COMMIT was sent"


async def fill_disk(deployment: Deployment, place: Place) -> str:
    assert deployment.serving is not None
    pid = deployment.serving.process.pid
    refused = count(deployment, "temporarily_unavailable")
    for size in (
        sizes(deployment.folder),
        0,
    ):  # the log may have much room left inside the size of the largest file
        limit_files(pid, size)
        with suppress(TimeoutError):
            await wait_until(
                lambda: count(deployment, "temporarily_unavailable") >= refused + 3, FILL_SECONDS
            )
            break
    else:
        raise AssertionError("no call was refused although nothing can be written")
    limit_files(pid, None)
    return "disk full"


async def jump(deployment: Deployment, place: Place) -> str:
    """The clock jumps, and half of the time the server is killed meanwhile."""
    by_ms = next(place.jumps)
    deployment.move_clock(by_ms)
    if deployment.chance.random() < 0.5:
        await kill(deployment, place)
    await deployment.wait_for_successes(3)
    return f"clock {'forward' if by_ms > 0 else 'back'}"


async def fail_provider(deployment: Deployment, place: Place) -> str:
    outcome = deployment.chance.choice([each for each in Outcome if each is not Outcome.DELIVER])
    await plan(deployment.provider_url, [outcome] * 2)
    return f"provider: {outcome}"


async def wait_until(condition: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)


def count(deployment: Deployment, reason: str) -> int:
    return sum(call.reason == reason for call in deployment.recorder.calls)


@dataclass(frozen=True)
class Fault:
    """A kind of fault: its unit in the report, how often it strikes in a run, and how many runs a proof has."""

    name: str
    database: str
    unit: str
    strike: Strike
    times: tuple[int, int]
    runs: int = 1
    stdio: bool = False


FAULTS = (
    Fault(
        "kill -9 of a server over HTTP and stdio, sqlite", "sqlite", "kills", kill_either, (2, 25), 2, True
    ),
    Fault("kill -9 of a server over HTTP, postgres", "postgres", "kills", kill, (0, 25), 2),
    Fault("PostgreSQL crashes", "postgres", "database crashes", crash_database, (1, 26), 4),
    Fault("answers to COMMIT lost, postgres", "postgres", "cuts", cut_commit, (1, 40), 2),
    Fault("disk full, sqlite", "sqlite", "disks full", fill_disk, (1, 10), 1),
    Fault("clock jumps, sqlite", "sqlite", "jumps", jump, (2, 30), 1),
    Fault("provider fails, sqlite", "sqlite", "provider faults", fail_provider, (4, 120), 2),
)
CASES = [(fault, run) for fault in FAULTS if fault.times[PROVE] for run in range(share(1, fault.runs))]


@pytest.fixture
def place(fault: Fault, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A database for the fault, of its own if it is to crash."""
    if fault.database == "sqlite":
        yield Place(new_sqlite(tmp_path / "assent.db"))
    elif fault.strike is not crash_database:
        yield Place(request.getfixturevalue("postgres_url"))
    elif binaries() is None:
        pytest.skip(MISSING)
    else:
        cluster = Cluster({"fsync": "off"})
        yield Place(cluster.url, cluster)
        cluster.delete()


@asynccontextmanager
async def proxied(place: Place) -> AsyncIterator[str]:
    """The address of the database; of PostgreSQL through a proxy."""
    if not place.url.startswith("postgres"):
        yield place.url
        return
    parts = urlsplit(place.url)
    place.proxy = FaultProxy(parts.port or 5432)
    await place.proxy.mend()
    try:
        yield urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{place.proxy.port}"))
    finally:
        await place.proxy.cut()


@pytest.mark.parametrize(("fault", "run"), CASES, ids=[f"{fault.name} {run}" for fault, run in CASES])
async def test_no_fault_loses_or_repeats_anything(
    fault: Fault,
    run: int,
    tmp_path: Path,
    provider: tuple[str, Path],
    prove: Prove,
    place: Place,
) -> None:
    struck: Counter[str] = Counter()
    async with proxied(place) as url:
        deployment = Deployment(url, tmp_path, provider, f"{fault.name} {run}")
        try:
            await deployment.open(stdio=fault.stdio)
            stop = asyncio.Event()
            load = asyncio.create_task(deployment.load(stop, CALLERS))
            for _ in range(fault.times[PROVE]):
                await deployment.wait_for_successes(BETWEEN)
                struck[await fault.strike(deployment, place)] += 1
            await deployment.wait_for_successes(BETWEEN)
            stop.set()
            await load
            read = await deployment.settle()
        finally:
            await deployment.close()
    verdict = deployment.judge(read)
    prove.row(fault.name, fault.unit, struck.total(), verdict, places=struck)
    assert verdict.clean, verdict.describe()
    assert verdict.effects >= 1 + verdict.actions // 10, "a run in which little is sent proves little"
    assert verdict.succeeded >= verdict.calls // 10
