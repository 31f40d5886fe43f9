"""Several weeks of a small company: launches on five channels, what became of them, and what went wrong."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec
from tests.support.review.kit import Server, mail, post
from tests.support.shell import stories

from assent.engine.actions import decisions
from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import MEASURE_AFTER, Assurance
from assent.kernel.ids import ActionId, RunId
from assent.ports import Draft, NotSent, OutcomeUnknown
from assent_launch.learning import measurement, measuring

DAY_MS: Final = 86_400_000
MEASURED: Final = {MEASURE_AFTER: DAY_MS}
PEOPLE: Final = ("Ingrid Solberg", "Tomasz Nowak")

LAUNCHES: Final[tuple[tuple[str, str, dict[str, dict[str, float]]], ...]] = (
    (
        "Autumn subscription",
        "Four coffees, four farms, one box.",
        {"linkedin": {"impressions": 1_840, "comments": 12}},
    ),
    ("Tasting room opens", "Come and taste on Saturday.", {"linkedin": {"impressions": 620, "comments": 3}}),
    (
        "Publish our open books",
        "What your coffee costs, cent by cent.",
        {
            "linkedin": {"impressions": 3_120, "comments": 58},
            "email": {"sent": 214, "delivered": 210, "opened": 131, "clicked": 44, "bounced": 4},
        },
    ),
    (
        "Second roaster",
        "A second roaster, and the same hands.",
        {"linkedin": {"impressions": 2_210, "comments": 19}},
    ),
    (
        "Price of green coffee",
        "Why the price went up, and what we did.",
        {
            "linkedin": {"impressions": 2_940, "comments": 31},
            "email": {"sent": 230, "delivered": 229, "opened": 160, "clicked": 61, "bounced": 1},
        },
    ),
)
"""Goal, text, and the numbers that people read at each channel."""


class Weeks(msgspec.Struct):
    """What happened, and where to look at it."""

    measured: PreparedRun
    failed: PreparedRun
    unknown: PreparedRun
    waiting: PreparedRun
    rule: str


async def decide(
    server: Server,
    run: PreparedRun,
    by: str,
    *,
    waited_ms: int = 0,
    looked_ms: int = 40_000,
    reject: str = "",
) -> None:
    """Decide about every action of a run, as a person does on its page, and send what was approved."""
    server.clock.advance(seconds=waited_ms // 1000)
    for action in run.actions:
        now_ms = server.clock.now_ms()
        stored = await server.action(action.id)
        decider = Decider(
            LOCAL_WORKSPACE, by, Assurance.PASSKEY, "review page", by.lower(), now_ms - looked_ms, "owner"
        )
        seen = SeenVersion(digest=stored.digest)
        if reject:
            decided: Any = partial(decisions.reject, decider, ActionId(action.id), reject, seen, now_ms)
        else:
            seals = server.app.keys.seals
            decided = partial(
                decisions.approve,
                decider,
                ActionId(action.id),
                seen,
                now_ms,
                seals=seals,
                send_now=True,
            )
        await server.app.store.write(decided)
    await server.run_jobs()


async def launch(
    server: Server, goal: str, text: str, found: dict[str, dict[str, float]], used: str
) -> PreparedRun:
    """A launch that went out and was measured with numbers that people read."""
    memory = {"memoryUsed": [{"entryId": used, "kind": "brand_voice", "how": "shortened the sentences"}]}
    draft = Draft(type="post", title="LinkedIn", body=text, channel="linkedin", metadata=memory)
    effects = [post(body=text, draft=0, metadata=MEASURED)]
    effects += [mail(4, body=text, subject=goal, metadata=MEASURED)] if "email" in found else []
    effects += [post("x", body=text, metadata=MEASURED)]
    run = await stories.launch(server, goal, *effects, drafts=(draft,))
    await decide(server, run, PEOPLE[0], waited_ms=42 * 60_000)
    server.clock.advance(days=1, seconds=60)
    for channel, metrics in found.items():
        now_ms = server.clock.now_ms()
        await server.app.store.write(
            partial(
                measurement.record_reported,
                LOCAL_WORKSPACE,
                RunId(run.run_id),
                channel,
                metrics,
                "page",
                now_ms,
            )
        )
    await measuring.measure(server.services, LOCAL_WORKSPACE, RunId(run.run_id), by="schedule")
    return run


async def live_through(server: Server) -> Weeks:
    """Seven weeks."""
    rule = await stories.remember(
        server, "Say what it does before who it is for; short sentences.", "brand_voice"
    )
    await stories.remember(server, "1,400 people joined the list in a month.", "proof", state="proposed")
    await stories.remember(server, "Say the price in the first line.", "lesson")
    runs = []
    for goal, text, found in LAUNCHES:
        runs.append(await launch(server, goal, text, found, rule))
        server.clock.advance(days=6)
    for number in range(1, 13):
        note = post(
            "site",
            connector="site",
            title=f"Tasting notes {number}",
            body=f"Notes of the week, number {number}.",
        )
        await decide(
            server, await server.stage(note), PEOPLE[number % 2], waited_ms=5 * 60_000, looked_ms=9_000
        )
        server.clock.advance(hours=7)
    rejected = await server.stage(post(body="The best coffee in Oslo, and everybody knows it."))
    await decide(server, rejected, PEOPLE[1], waited_ms=3_600_000, reject="Never claim to be the best.")
    failed = await break_off(server, NotSent("the connection has expired"))
    server.clock.advance(hours=20)
    unknown = await break_off(server, OutcomeUnknown("the connection broke after the text was handed over"))
    letter = await stories.launch(server, "Tell the readers first", mail(60, subject="We opened our books"))
    await decide(server, letter, PEOPLE[0], waited_ms=120_000, looked_ms=1_200)
    server.clock.advance(hours=6)
    await stories.launch(server, "Espresso week", post(body="A week of espresso, one shot at a time."))
    server.clock.advance(hours=3)
    waiting = await server.stage(
        post(body="La Loma is back: 240 bags, one farm."), mail(3, subject="La Loma is back")
    )
    server.clock.advance(seconds=900)
    return Weeks(runs[-1], failed, unknown, waiting, rule)


async def break_off(server: Server, outcome: Exception) -> PreparedRun:
    """Send a post whose provider answers like this."""
    run = await server.stage(post(body="La Loma is back, for two weeks only.", metadata=MEASURED))
    works = server.provider.then

    def answer(action: object) -> Any:
        raise outcome

    server.provider.then = answer
    await decide(server, run, PEOPLE[0], waited_ms=600_000)
    server.provider.then = works
    return run
