"""Nine weeks of the company of the gallery: what it sent on five channels, when, who decided, and what came of it."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec
from tests.support.review.kit import Server, mail, post
from tests.support.shell import stories, weeks

from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.kernel.ids import RunId
from assent.ports import Draft
from assent_launch.learning import measurement, measuring

Numbers = dict[str, float]


class Launch(msgspec.Struct, frozen=True):
    """One run of the past. `at` is the hour at which it goes out, `numbers` what came of each channel."""

    goal: str
    text: str
    numbers: dict[str, Numbers]
    at: int = 9
    waited_minutes: int = 40
    by: int = 0
    """Who decided, by their place in `weeks.PEOPLE`."""


LAUNCHES: Final = (
    Launch(
        "Bring back the tasting room",
        "On Saturday the tasting room opens again, after a year behind boxes.\n\nThree coffees, one long table, and "
        "no booking: come between ten and two, stay for a cup or for the morning. We roast on the other side of the "
        "glass, so you see what you taste.",
        {
            "linkedin": {"impressions": 1_240, "comments": 9, "clicks": 31},
            "bluesky": {"impressions": 310, "comments": 4},
        },
        at=8,
        waited_minutes=190,
    ),
    Launch(
        "Autumn subscription: 50 new members",
        "Four coffees, four farms, one box: the autumn subscription begins on Monday.\n\nEvery bag says who grew it, "
        "what we paid for it, and when it was roasted. You can pause it in one click, because nobody should keep "
        "coffee they do not drink.",
        {
            "linkedin": {"impressions": 1_840, "comments": 27, "clicks": 96},
            "x": {"impressions": 920, "comments": 6, "clicks": 12},
            "email": {"sent": 1_912, "delivered": 1_894, "opened": 1_020, "clicked": 241, "bounced": 18},
        },
        at=10,
        waited_minutes=64,
    ),
    Launch(
        "Tell how we chose a second roaster",
        "We bought a second roaster. It is smaller than the first, and that is the point: ten kilos at a time let us "
        "roast a lot that we could never sell by the sack.\n\nThe first coffee from it is Gathaithi, forty bags.",
        {
            "linkedin": {"impressions": 3_110, "comments": 58, "clicks": 140},
            "bluesky": {"impressions": 540, "comments": 11},
        },
        at=9,
        by=1,
        waited_minutes=22,
    ),
    Launch(
        "Explain the new price of the house espresso",
        "From October a bag of the house espresso costs 149 kroner instead of 139.\n\nGreen coffee went up by a "
        "fifth this year. We took half of it and ask you for the rest; the farm gets all of it.",
        {
            "linkedin": {"impressions": 2_480, "comments": 44, "clicks": 88},
            "email": {"sent": 1_980, "delivered": 1_969, "opened": 1_214, "clicked": 166, "bounced": 11},
        },
        at=16,
        waited_minutes=310,
    ),
    Launch(
        "Find a home for the old roaster",
        "Our first roaster looks for a new home: a Probat L12 of 1987, with every part that it ever had and two it "
        "did not. It goes to a person who wants to learn on it, for the price of the transport.",
        {
            "linkedin": {"impressions": 860, "comments": 5, "clicks": 12},
            "x": {"impressions": 1_310, "comments": 19, "clicks": 40},
        },
        at=17,
        by=1,
        waited_minutes=15,
    ),
    Launch(
        "Cupping on Saturdays, all winter",
        "Every Saturday at ten until Easter: cupping, eight seats, free for members. We taste what arrived that "
        "week, the good and the not so good, and you tell us which is which.",
        {
            "linkedin": {"impressions": 1_620, "comments": 21, "clicks": 64},
            "bluesky": {"impressions": 480, "comments": 9},
            "email": {"sent": 2_041, "delivered": 2_032, "opened": 1_188, "clicked": 304, "bounced": 9},
        },
        at=9,
        waited_minutes=48,
    ),
    Launch(
        "Show what a bag of La Loma costs",
        "What is in a bag of La Loma, cent by cent: 87 kroner a kilo to the farm, 9 for the ship, 22 for roasting "
        "and the people who do it, 11 for the shop. What is left pays for the next lot.",
        {
            "linkedin": {"impressions": 3_940, "comments": 71, "clicks": 212},
            "x": {"impressions": 2_260, "comments": 33, "clicks": 85},
            "bluesky": {"impressions": 910, "comments": 24},
        },
        at=8,
        waited_minutes=35,
    ),
    Launch(
        "Thank the 214 who answered",
        "In August we asked what you would rather see: a certificate or a number. 214 of you answered, and 201 "
        "wanted the number. So we are going to publish it. All of it, next week.",
        {
            "linkedin": {"impressions": 2_870, "comments": 39, "clicks": 104},
            "email": {"sent": 214, "delivered": 213, "opened": 181, "clicked": 92, "bounced": 1},
        },
        at=10,
        by=1,
        waited_minutes=27,
    ),
)

WEEKLY: Final = (
    ("Ethiopia Worka Sakaro", "Jasmine, lime and black tea. Washed, 1,950 metres, picked in December."),
    ("Colombia La Loma", "Red apple, panela and cocoa. Our espresso since 2021, from one family."),
    ("Kenya Gathaithi", "Blackcurrant and grapefruit, loud and clean. Best as a filter coffee."),
    ("Guatemala Finca Isabel", "Almond and orange peel, quiet, for the whole day."),
)
"""What is published on the site every Friday."""

REJECTED: Final = (
    "The best coffee in Bergen, and everybody knows it. Come and see why the others close at four."
)


async def send(server: Server, each: Launch, rule: str) -> PreparedRun:
    """Prepare a launch, decide about it, send it, and measure it after two days."""
    used = {"memoryUsed": [{"entryId": rule, "kind": "brand_voice", "how": "put the number first"}]}
    draft = Draft(type="post", title="LinkedIn", body=each.text, channel="linkedin", metadata=used)
    measured = weeks.MEASURED
    effects = []
    for channel in each.numbers:
        if channel == "email":
            subject = each.goal.partition(":")[0]
            effects.append(mail(6, body=each.text, subject=subject, sender=SENDER, metadata=measured))
        else:
            effects.append(
                post(
                    channel,
                    body=each.text,
                    metadata=measured,
                    **({"draft": 0} if channel == "linkedin" else {}),
                )
            )
    _wait_until(server, each.at)
    run = await stories.launch(server, each.goal, *effects, drafts=(draft,))
    await weeks.decide(server, run, weeks.PEOPLE[each.by], waited_ms=each.waited_minutes * 60_000)
    server.clock.advance(days=2)
    for channel, numbers in each.numbers.items():
        now_ms = server.clock.now_ms()
        record: Any = partial(
            measurement.record_reported, LOCAL_WORKSPACE, RunId(run.run_id), channel, numbers, "page", now_ms
        )
        await server.app.store.write(record)
    await measuring.measure(server.services, LOCAL_WORKSPACE, RunId(run.run_id), by="schedule")
    return run


SENDER: Final = "Ingrid <ingrid@harborpine.example>"


def _wait_until(server: Server, hour: int) -> None:
    """Let time pass until this hour of a day, UTC."""
    now_s = server.clock.now_ms() / 1000
    server.clock.advance(seconds=(hour * 3600 - now_s) % 86_400)


async def live_through(server: Server, rule: str) -> PreparedRun:
    """All of it. Returns the launch that did best."""
    runs = []
    for number, each in enumerate(LAUNCHES):
        runs.append(await send(server, each, rule))
        server.clock.advance(days=2)
        _wait_until(server, 7)
        title, body = WEEKLY[number % len(WEEKLY)]
        hours = f"We open from 8 to {16 + number % 3}, and roast on Monday and Thursday."
        for heading, text in (
            (f"Opening hours, week {39 + number}", hours),
            (f"Tasting notes: {title}", body),
        ):
            note = post("site", connector="site", title=heading, body=text)
            await weeks.decide(
                server, await server.stage(note), weeks.PEOPLE[number % 2], waited_ms=240_000, looked_ms=9_000
            )
        if number == 4:
            boast = await server.stage(post(body=REJECTED))
            await weeks.decide(
                server, boast, weeks.PEOPLE[1], waited_ms=3_600_000, reject="Never claim to be the best."
            )
        server.clock.advance(days=(2, 3, 1, 2, 4, 1, 2, 2)[number])
    return runs[6]
