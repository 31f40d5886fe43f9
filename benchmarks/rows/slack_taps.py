"""From a tap on *Approve* in Slack to its effect, and from a kill in between until the outcome is known.

`assent serve` as it is installed, with an effect of its settings file. The emulator of Slack and the service that the
effect calls are in this process, so that one clock reads both ends of a time. The undo window is 0, so no figure has
it. The taps are held against the loop of `user_loop` in another workspace of the same server, the kills against the
start of the server: a neighbour on the machine moves both sides.

A kill (SIGKILL) comes from the service, after the effect and before the answer: the server has sent and cannot know
what came of it. It is resolved when the store says so, and counts from when the server answers again, or from the end
of the lease if that is later. The lease is a second here, a minute without a setting.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, closing, suppress
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final, NamedTuple, TypeVar
from urllib.request import urlopen

import uvloop
from tests.support.keys import make_key

from assent.app import App
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import chat, targets
from assent.engine.people.people import ENTROPY_BYTES, OWNER, issue_link
from assent.engine.people.targets import TargetOwner
from assent.settings.load import load_settings
from assent_conform.emulators.slack_app import ADDRESS, SignedTap, SlackApp
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import ProviderAnswer, ProviderRequest, Route, json_answer
from assent_notify.slack import KIND
from benchmarks.figures import Figure, Limit, TooFewSuccesses, compared, in_turns, require
from benchmarks.machine import assent, free_port, serving
from benchmarks.rows.gate_http import Line
from benchmarks.rows.gate_world import BODY, database
from benchmarks.rows.tool_call import new_key
from benchmarks.rows.user_loop import User

ADA: Final = "U0ADA"
STAGE: Final = "note_request"
EFFECT: Final = """
[effect.note]
url = "{}/notes"
description = "Send a note. USE WHEN the user asks for one."
risk = "low"
idempotency_header = "Idempotency-Key"
idempotency_hours = 24
arguments = {{ type = "object", required = ["text"], properties = {{ text = {{ type = "string" }} }} }}
"""
TAPS: Final = 30
ROUNDS: Final = 7
WARM_UP: Final = 20
KILLS: Final = 9
LEASE_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.002
WANTED_MS: Final = 250
"""For the p99 on a quiet machine. It is in the note, because another machine has another time."""
LIMIT: Final = Limit(times=5)
"""Eight runs had 1.6 to 2.9 (p50) and 1.4 to 2.8 (p99). The room is for a neighbour that takes a core now and then."""
LIMIT_OF_KILLS: Final = Limit(times=1)
"""For the median: four runs had 0.02 to 0.18. After a slow start the lease is over, and then the loading of the jobs
counts, too, which may take as long as the start. The p99 of so few is the worst one and has no limit: on a busy machine
the repetition may take longer than its lease, too, and is tried again ten seconds later."""

T = TypeVar("T")
_numbers: Final = count(2)


class World(SlackApp):
    """Slack, and beside it the service that the effect calls."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.calls: dict[str, list[tuple[float, str]]] = defaultdict(list)
        """When and under which key each text came."""
        self.kills: int | None = None
        """The process that the next effect ends."""

    def routes(self) -> tuple[Route, ...]:
        return (Route("POST", "/notes", self.take, is_open=True), *super().routes())

    def take(self, asked: ProviderRequest) -> ProviderAnswer:
        self.calls[asked.json["text"]].append((time.perf_counter(), asked.headers["idempotency-key"]))
        if self.kills is not None:
            os.kill(self.kills, signal.SIGKILL)
            self.kills = None
        return json_answer(201, {})

    def find_button(self, run_id: str) -> dict[str, Any] | None:
        """The button under the message of a run; None before there is a message, and once it is decided."""
        with suppress(IndexError):
            return self.button(self.message_of(run_id), "approve")
        return None


class Served:
    """A server whose workspace has Slack. It can be started again."""

    def __init__(self, scratch: Path, world: World) -> None:
        self.data_dir, self.world, self.port, self.pid = scratch / "data", world, free_port(), 0
        self.settings = {
            "ASSENT_DATA_DIR": str(self.data_dir),
            "ASSENT_PORT": str(self.port),
            "ASSENT_SLACK_URL": f"{world.url}/api",
            "ASSENT_SLACK_ANSWERS_URL": world.url,
            "ASSENT_ALLOW_HOSTS": "127.0.0.1",
            "ASSENT_UNDO_SECONDS": "0",
            "ASSENT_HELD_AFTER": "1000000",
            "ASSENT_RATE_LIMIT_PER_MINUTE": "100000000",
            "ASSENT_STORAGE_QUOTA_MB": "100000000",
        }
        self._log = scratch / "server.log"
        self._running = ExitStack()
        self.close = self._running.close

    async def prepare(self) -> tuple[Line, SignedTap]:
        """What Ada does on the pages. Returns an agent, and the command that links her account."""
        self.data_dir.mkdir()
        (self.data_dir / "assent.toml").write_text(EFFECT.format(self.world.url))
        app = App(load_settings({}, self.settings).settings)
        await app.prepare()
        entropy, now_ms = os.urandom(ENTROPY_BYTES), app.clock.now_ms()
        await app.store.write(lambda: issue_link(entropy, now_ms, shown_to="terminal", name="Ada"))
        notifier = app.services.notifiers[KIND]
        await targets.add(app.services, TargetOwner(LOCAL_WORKSPACE), notifier, ADDRESS, by="Ada")
        code, key = chat.make_code(app.services, OWNER), await make_key(app)
        await app.close()
        return Line(self.port, key), self.world.type_command(code, ADA, now_ms)

    def start(self) -> float:
        """Returns the seconds until it answers."""
        self.close()
        began = time.perf_counter()
        self.pid = self._running.enter_context(serving(assent("serve"), self.port, self.settings, self._log))
        urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=PATIENCE_SECONDS).close()
        return time.perf_counter() - began


class Asked(NamedTuple):
    """An action that waits, and the button under its message."""

    text: str
    run_id: str
    action_id: str
    button: dict[str, Any]


class Tapper:
    """An agent that asks, and a person who taps."""

    def __init__(self, served: Served, line: Line) -> None:
        self._served, self.world, self._line = served, served.world, line

    def start(self) -> float:
        """Start the server, again if there was one. Returns the seconds until it answers."""
        self._line.close()
        return self._served.start()

    async def ask(self, number: int = 1) -> list[Asked]:
        """So many actions that wait, once each has its message."""
        asked = []
        for _ in range(number):
            text = BODY.format(next(_numbers))
            staged = await self._line.call(STAGE, {"text": text})
            asked.append((text, staged["runId"], staged["actions"][0]["id"]))
        find = self.world.find_button
        return [Asked(*each, await until(partial(find, each[1]), "a message")) for each in asked]

    async def tap(self, asked: Asked) -> None:
        await self.deliver(self.world.tap(asked.button, ADA, time.time_ns() // 1_000_000))

    async def deliver(self, sent: SignedTap) -> bytes:
        return await self._line.post(f"/slack/{LOCAL_WORKSPACE}", sent.body, sent.headers)

    async def find_effect(self, text: str) -> tuple[float, str]:
        """When and under which key the only effect with this text came."""
        [only] = await until(lambda: self.world.calls.get(text), "the effect of a tap")
        return only

    async def taps(self, number: int) -> list[float]:
        """The milliseconds from each tap to its effect. The next tap is made when the message shows the last one."""
        taken = []
        for asked in await self.ask(number):
            began = time.perf_counter()
            await self.tap(asked)
            at, _ = await self.find_effect(asked.text)
            taken.append((at - began) * 1_000)
            await until(lambda: self.world.find_button(asked.run_id) is None, "a message without a button")  # noqa: B023
        return taken

    async def kill(self) -> tuple[float, float]:
        """The seconds for which a started server did not answer, and then until it knew the outcome."""
        [asked] = await self.ask()
        self.world.kills = self._served.pid
        with suppress(OSError, asyncio.IncompleteReadError):
            await self.tap(asked)
        sent, key = await self.find_effect(asked.text)
        started = await asyncio.to_thread(self.start)
        began = max(time.perf_counter(), sent + LEASE_SECONDS)
        with closing(sqlite3.connect(database(self._served.data_dir))) as connection:
            sql = "SELECT status = 'executed' FROM actions WHERE action_id = ?"
            await until(lambda: connection.execute(sql, (asked.action_id,)).fetchone()[0], "the outcome")
        repeated = [each for _, each in self.world.calls[asked.text][1:]]
        require(int(bool(repeated) and {*repeated} == {key}), 1, "effects repeated under their key")
        return started, time.perf_counter() - began


async def until(look: Callable[[], T | None], what: str) -> T:
    """The first that is something."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        if time.monotonic() > ends:
            raise TooFewSuccesses(f"{what}: not within {PATIENCE_SECONDS:g} s")
        await asyncio.sleep(LOOK_SECONDS)
    return found


def measure(scratch: Path) -> list[Figure]:
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        opened, world = AsyncExitStack(), World(Ledger(scratch / "ledger"))
        stack.callback(lambda: runner.run(opened.aclose()))
        runner.run(opened.enter_async_context(world.serving()))
        served = Served(scratch, world)
        line, command = runner.run(served.prepare())
        user = User(served.port, new_key(served.settings))
        stack.callback(served.close)
        tapper = Tapper(served, line)
        tapper.start()
        linked = runner.run(tapper.deliver(command))
        require(int(b"Linked" in linked), 1, "linking the account of a person")
        return [*_tapped(runner, tapper, user), *_killed(runner, served, tapper)]


def _tapped(runner: asyncio.Runner, tapper: Tapper, user: User) -> list[Figure]:
    runner.run(tapper.taps(WARM_UP))
    runner.run(_looped(user, WARM_UP))
    taken = in_turns(
        {"ours": lambda: runner.run(tapper.taps(TAPS)), "theirs": lambda: runner.run(_looped(user, TAPS))},
        ROUNDS,
    )
    user.close()
    calls = tapper.world.calls.values()
    require(sum(len(each) == 1 for each in calls), WARM_UP + TAPS * ROUNDS, "taps with one effect")
    ours, theirs = ([each for turn in taken[side] for each in turn] for side in ("ours", "theirs"))
    return _figures(
        "tap in Slack to its effect",
        "post on the site, approve, execute over HTTP",
        "ms",
        ours,
        theirs,
        (LIMIT, LIMIT),
        f"beyond an undo window of 0 s; wanted on a quiet machine: at most {WANTED_MS} ms",
    )


def _killed(runner: asyncio.Runner, served: Served, tapper: Tapper) -> list[Figure]:
    served.settings["ASSENT_EXECUTION_LEASE_SECONDS"] = f"{LEASE_SECONDS:g}"
    tapper.start()
    taken = [runner.run(tapper.kill()) for _ in range(KILLS)]
    return _figures(
        "kill -9 while it sends to resolved",
        "from its start until the server answers",
        "s",
        [resolved for _, resolved in taken],
        [started for started, _ in taken],
        (LIMIT_OF_KILLS, None),
        f"from when the server answers again, or from the end of a lease of {LEASE_SECONDS:g} s if that is later",
    )


def _figures(
    work: str,
    against: str,
    unit: str,
    ours: list[float],
    theirs: list[float],
    limits: tuple[Limit | None, Limit | None],
    note: str,
) -> list[Figure]:
    """The median, and the time that one of a hundred exceeds, against the same of the other side."""
    sides = {"p50": (median(ours), median(theirs)), "p99": (_p99(ours), _p99(theirs))}
    return [
        compared(
            f"{work}, {name}",
            f"{against}, {name}",
            unit,
            [mine],
            [other],
            successes=len(ours),
            limit=limit,
            note=f"{note}; of {len(ours)}" if name == "p99" else "",
        )
        for (name, (mine, other)), limit in zip(sides.items(), limits, strict=True)
    ]


def _p99(taken: Sequence[float]) -> float:
    return quantiles(taken, n=100, method="inclusive")[98]


async def _looped(user: User, loops: int) -> list[float]:
    """The milliseconds of each loop."""
    taken = []
    for _ in range(loops):
        began = time.perf_counter()
        await user.loop()
        taken.append((time.perf_counter() - began) * 1_000)
    return taken
