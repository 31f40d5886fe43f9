"""Taps in Slack at a real server that is killed with SIGKILL between any two steps, on both stores: none has a wrong
effect, and each message is right within five seconds after the server is back.

Beside it `packages/notify/tests/wire/test_slack.py` plays many more taps at a server in the test's process.
"""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx
import pytest
from packages.notify.tests.wire.test_slack import ADA, BEN, EVE, invite, link, shown
from tests.support.effort import PROVE, rounds
from tests.support.proof.deployment import Deployment
from tests.support.proof.parts import JumpingClock
from tests.support.reliability import Prove
from tests.support.review.kit import Server

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, targets
from assent.engine.people.targets import TargetOwner
from assent.gate.policy import DEFAULT
from assent.gate.records import Action, Assurance, Status
from assent.present.notes import make_note_card
from assent_conform.emulators.slack_app import ADDRESS, SignedTap, SlackApp
from assent_conform.testing.ledger import Ledger
from assent_notify.slack import KIND

pytestmark = [pytest.mark.slow, pytest.mark.prove]

CLEO = "U0CLEO"
STEPS = (
    "approve.committed",
    "execute.claimed",
    "execute.calling",
    "execute.performed",
    "execute.recorded",
    "",
)
"""Where the server is killed; at any moment, where nothing is named."""
FATES = ("tap", "double", "two", "again", "stale", "forged", "late", "unlinked", "removed")
MAY = FATES[:4]
CONNECTORS = ("post", "page", "look", "email")
KILLS = rounds(len(STEPS) // 2, 60)
"""On each store. The first half of the steps on one, the second on the other, where there are few."""
RIGHT_SECONDS = 5.0
"""After the server is back. It answers at once; its jobs run when its pages are loaded, which takes as long again as
the start. So a busy machine gets the time of its own start in addition."""
STRIDE_MS = 250
"""By which the clock is moved while leases and pauses before another try are waited for; not where it is measured how
long it takes until everything is resolved that a kill interrupted."""
DEADLINE_SECONDS = 90.0


class Tapped(Deployment):
    """A server that Slack reaches, and that can be told at which step it dies."""

    slack_url = ""

    @property
    def dies(self) -> Path:
        return self.folder / "dies"

    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "ASSENT_SLACK_URL": f"{self.slack_url}/api",
            "ASSENT_SLACK_ANSWERS_URL": self.slack_url,
            "ASSENT_ALLOW_HOSTS": "127.0.0.1",
            "ASSENT_UNDO_SECONDS": "0",
            "ASSENT_HELD_AFTER": "1000000",
            "PROOF_DIES": str(self.dies),
        }

    async def deliver(self, tap: SignedTap) -> httpx.Response:
        return await self.http.post(f"/slack/{LOCAL_WORKSPACE}", content=tap.body, headers=tap.headers)


@dataclass
class Place:
    name: str
    served: Tapped
    world: Server
    """The same store, for what a person does elsewhere and for what is read at the end."""
    slack: SlackApp
    ledger: Ledger
    chance: random.Random
    seen: Counter[str] = field(default_factory=Counter)
    to_effect: list[float] = field(default_factory=list)
    to_right: list[float] = field(default_factory=list)
    to_resolved: list[float] = field(default_factory=list)

    def now_ms(self) -> int:
        return self.world.clock.now_ms()

    def done(self, body: str) -> list[int]:
        """When the provider did what has this text."""
        return [each.at_ms for each in self.ledger.effects() if each.content["body"] == body]


@pytest.fixture
async def place(
    database: str, own_database_url: str, tmp_path: Path, provider: tuple[str, Path]
) -> AsyncIterator[Place]:
    slack, served = SlackApp(Ledger(tmp_path / "slack")), Tapped(own_database_url, tmp_path, provider, "taps")
    async with slack.serving():
        served.slack_url = slack.url
        own: dict[str, Any] = {"slack_url": f"{slack.url}/api", "slack_answers_url": slack.url}
        clock: Any = JumpingClock(served.clock)
        world = Server(own_database_url, tmp_path, clock=clock, **own, allow_hosts=("127.0.0.1",))
        await world.owner(name="Ada")
        notifier = world.services.notifiers[KIND]
        await targets.add(world.services, TargetOwner(LOCAL_WORKSPACE), notifier, ADDRESS, by="Ada")
        await link(world, slack, ADA)
        await link(world, slack, CLEO, await invite(world, "Cleo"))
        removed, now_ms = await invite(world, "Ben"), clock.now_ms()
        await link(world, slack, BEN, removed)
        await world.app.store.write(lambda: members.remove(removed, now_ms, by="Ada"))
        await served.open(stdio=False)
        yield Place(database, served, world, slack, Ledger(provider[1]), random.Random(41))  # noqa: S311 - a test's
        await served.close()
        await world.close()


async def until(condition: Any, what: str, seconds: float = DEADLINE_SECONDS) -> float:
    """Wait for a condition; returns for how long."""
    begun = time.monotonic()
    while not await condition():
        assert time.monotonic() < begun + seconds, f"not within {seconds} s: {what}"
        await asyncio.sleep(0.01)
    return time.monotonic() - begun


async def stage(place: Place, body: str) -> tuple[str, str]:
    """Stage an action and wait for its message. Returns its run and its id."""
    wanted = {"body": body, "channel": "linkedin", "connector": place.chance.choice(CONNECTORS)}
    answer = await place.served._ask_by_rest("testing_stage", {**wanted, "idempotencyKey": body})
    assert answer is not None and answer.get("ok"), answer
    run_id = answer["runId"]

    async def asked() -> bool:
        return find_button(place, run_id) is not None

    await until(asked, f"a message about {body}")
    return run_id, answer["actions"][0]["id"]


def find_button(place: Place, run_id: str) -> dict[str, Any] | None:
    messages = [
        each
        for each in place.slack.messages.values()
        if each.get("metadata", {}).get("event_payload", {}).get("run") == run_id
    ]
    return place.slack.button(messages[-1], "approve") if messages else None


def make_taps(place: Place, fate: str, button: dict[str, Any], action_id: str, good: list[SignedTap]) -> None:
    """Add the deliveries of a fate to the list."""
    at, slack = place.now_ms(), place.slack
    tap = slack.tap(button, ADA, at)
    match fate:
        case "tap" | "again":
            good.append(tap)
        case "double":
            good += [tap, tap]
        case "two":
            good += [tap, slack.tap(button, CLEO, at)]
        case "stale":
            value = f"{action_id} sha256:{'0' * 64}"
            good.append(slack.tap({**button, "value": value}, ADA, at))
        case "forged":
            good += [slack.tap(button, ADA, at, secret="1" * 32), SignedTap(tap.body + b"&", tap.headers)]
        case "late":
            good.append(slack.tap(button, ADA, at, late_seconds=301))
        case _:
            good.append(slack.tap(button, EVE if fate == "unlinked" else BEN, at))


def is_right(place: Place, run_id: str, action: Action) -> bool:
    """Whether the message shows the present state of the action, who decided, and buttons only where it waits."""
    message = place.slack.message_of(run_id)
    text, now_ms = shown(message), place.now_ms()
    card = make_note_card(action, DEFAULT, None, "", now_ms)
    waits = action.status is Status.AWAITING_APPROVAL
    return (
        (place.slack.button(message, "approve") is not None) == waits
        and ("approved by" in text) == (action.approval is not None)
        and card.state in text
    )


async def play(place: Place, number: int, step: str) -> None:
    """Stage a few actions, tap, kill the server meanwhile, and look at everything once it is back."""
    served = place.served
    fates = ("tap", *place.chance.sample(FATES, 5))
    staged = {f"Tap {place.name} {number}.{n} {fate}.": fate for n, fate in enumerate(fates)}
    known = {body: await stage(place, body) for body in staged}
    taps: list[SignedTap] = []
    again: list[tuple[dict[str, Any], str]] = []
    for body, fate in staged.items():
        button = find_button(place, known[body][0])
        assert button is not None
        make_taps(place, fate, button, known[body][1], taps)
        if fate in MAY:
            again.append((button, known[body][1]))
    if step:
        served.dies.write_text(step)
    begun = [asyncio.create_task(served.deliver(each)) for each in taps]
    assert served.serving is not None
    if step:
        assert await asyncio.to_thread(served.serving.wait) == -signal.SIGKILL
    else:
        await asyncio.sleep(place.chance.uniform(0, 0.4))
        await served.kill()
    killed = time.monotonic()
    await asyncio.gather(*begun, return_exceptions=True)
    place.seen[step or "any moment"] += 1
    place.seen["taps"] += len(taps)
    await served.serve()
    limit = RIGHT_SECONDS + time.monotonic() - killed
    # Who may decide taps once more, and what was delivered before comes again.
    later = [place.slack.tap(button, ADA, place.now_ms()) for button, _ in again]
    for each in (*later, *place.chance.sample(taps, 2)):
        await served.deliver(each)
        place.seen["taps"] += 1
    back = time.monotonic()
    for body in staged:
        run_id, action_id = known[body]

        async def right(run_id: str = run_id, action_id: str = action_id) -> bool:
            return is_right(place, run_id, await place.world.action(action_id))

        await until(right, f"the message about {body}", max(0.01, back + limit - time.monotonic()))
    place.to_right.append(time.monotonic() - back)
    waits = PROVE and number % len(STEPS) == 0
    for body, fate in staged.items():
        if fate in MAY:

            async def executed(action_id: str = known[body][1]) -> bool:
                done = (await place.world.action(action_id)).status is Status.EXECUTED
                if not (done or waits):
                    served.move_clock(STRIDE_MS)
                return done

            await until(executed, f"sent: {body}")
    if waits:
        place.to_resolved.append(time.monotonic() - killed)
    for body, fate in staged.items():
        run_id, action_id = known[body]
        action = await place.world.action(action_id)
        assert len(place.done(body)) == (1 if fate in MAY else 0), (body, step)
        assert (action.approval is not None) == (fate in MAY), (body, step)
        if action.approval is not None:
            assert action.approval.digest == action.effect.digest() == action.digest
            assert (action.approval.assurance, action.approval.by in ("Ada", "Cleo")) == (
                Assurance.CHAT_APP,
                True,
            )

        async def finally_right(run_id: str = run_id, action_id: str = action_id) -> bool:
            return is_right(place, run_id, await place.world.action(action_id))

        await until(finally_right, f"the last state of {body}", limit)


async def tap_once(place: Place, number: int) -> None:
    """Measure from a tap to its effect, at a server that nobody kills."""
    body = f"Plain tap {place.name} {number}."
    run_id, _ = await stage(place, body)
    button = find_button(place, run_id)
    assert button is not None
    tap, begun_ms = place.slack.tap(button, ADA, place.now_ms()), time.time_ns() // 1_000_000
    await place.served.deliver(tap)
    place.seen["taps"] += 1

    async def done() -> bool:
        return bool(place.done(body))

    await until(done, f"sent: {body}")
    place.to_effect.append((place.done(body)[0] - begun_ms) / 1000)


async def test_no_kill_makes_a_tap_count_twice_or_for_nothing(
    place: Place, prove: Prove, database: str
) -> None:
    first = 0 if database == "sqlite" else len(STEPS) // 2
    for number in range(KILLS):
        await tap_once(place, number)
        await play(place, number, STEPS[(first + number) % len(STEPS)])
    killed = {name: count for name, count in place.seen.items() if name != "taps"}
    measured = {
        "tap to effect": place.to_effect,
        "kill to everything resolved, of which a lease is 30 s": place.to_resolved,
        "server back to every message right": place.to_right,
    }
    name = f"taps in Slack, kill -9 of the server, {database}"
    prove.row(name, "taps", place.seen["taps"])
    prove.row(
        name,
        "kills",
        sum(killed.values()),
        calls=place.seen["taps"],
        actions=KILLS * 7,
        effects=sum(1 for each in place.ledger.effects() if f"ap {place.name} " in each.content["body"]),
        places=killed,
        notes={name: describe_times(each) for name, each in measured.items() if len(each) > 1},
    )
    assert len(killed) == min(KILLS, len(STEPS))


def describe_times(seconds: list[float]) -> str:
    cut = quantiles(seconds, n=100, method="inclusive")
    return f"p50 {cut[49]:.3f} s, p99 {cut[98]:.3f} s of {len(seconds)}"
