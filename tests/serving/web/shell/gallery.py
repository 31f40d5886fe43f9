"""`make screenshots`: every screen of the console as a picture, of a real server with data made by the real functions.

    python -m tests.serving.web.shell.gallery docs/screens [name …]

A screen is a row of `SHOTS`. What it shows is seeded in `seed`, through the functions that make it in life.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import msgspec
from playwright.async_api import Browser, BrowserContext
from tests.chromium import closed, connected, running_chromium
from tests.serving.web.review.browser import served
from tests.serving.web.review.kit import House, mail, post
from tests.serving.web.shell import stories
from tests.serving.web.shell.screen import sign_in

from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people, targets
from assent.engine.people.people import Person, Role
from assent.engine.people.targets import TargetOwner
from assent.gate.gate import Decider
from assent.gate.records import Assurance
from assent.kernel.ids import ActionId
from assent.kernel.limits import HOUR_MS
from assent.ports import Draft, OutcomeUnknown
from assent.testing.editing import edit

MOST_BYTES: Final = 150_000
"""A picture in a repository is looked at once and cloned for ever."""

ANNOUNCEMENT = """We gave our agents hands, and kept the yes for ourselves.

Assent lets an AI agent launch, publish and send. It prepares everything; you see exactly what would go out, edit it \
or say no. What you did not approve cannot be sent: the server keeps that promise, not the prompt.

Open source, one binary, works with every MCP client you already use.

Read how it works: https://example.org/assent"""

THREAD = (
    "Agents are good at the work and bad at knowing when to stop. So we built the part that says when. 1/3",
    "Assent sits between your agent and the world. It drafts, you decide, and only what you approved is sent. 2/3",
    "Open source and ready to try: https://example.org/assent 3/3",
)

LETTER = """Hello,

you asked us to tell you when Assent is ready. It is.

Your agent prepares posts and mails; you approve each one on a page that works on your phone.

Try it: https://example.org/assent

Ada"""

LETTER_HTML = (
    '<div style="max-width:560px"><h1 style="color:#0b6a4f;font-size:24px">Assent is ready</h1>'
    "<p>Hello,</p><p>you asked us to tell you when Assent is ready. It is.</p>"
    "<p>Your agent prepares posts and mails; you approve each one on a page that works on your phone.</p>"
    '<p><a href="https://example.org/assent">Try it</a></p><p>Ada</p></div>'
)


class Shot(msgspec.Struct, frozen=True):
    """One picture. `path` may name a place of the seed: `{run}`, `{action}`, `{unknown}`, `{session}`."""

    name: str
    path: str
    width: int = 1280
    height: int = 900
    dark: bool = False
    click: str = ""
    """What to press before the picture is taken."""
    at: str = ""
    """What to bring into view."""
    fresh: bool = False
    """Of a server that was just started, with the connectors that come along."""


SHOTS: Final[tuple[Shot, ...]] = (
    Shot("inbox", "/inbox"),
    Shot("inbox-phone", "/inbox", 390, 844),
    Shot("inbox-dark", "/inbox", dark=True),
    Shot("review", "/runs/{run}", height=1100),
    Shot("review-phone", "/runs/{run}", 390, 844, dark=True),
    Shot("edit", "/runs/{run}/actions/{action}/edit"),
    Shot("action", "/actions/{sent}", height=860),
    Shot("unknown", "/runs/{unknown}"),
    Shot("runs", "/runs"),
    Shot("run", "/runs/{measured}/story", height=800),
    Shot("sessions", "/sessions"),
    Shot("session", "/sessions/{session}", height=720),
    Shot("session-phone", "/sessions/{session}?node=2", 390, 844),
    Shot("compare", "/sessions/{session}/compare", height=760),
    Shot("timeline", "/sessions/{session}/timeline", height=760),
    Shot("import", "/sessions/import", height=760),
    Shot("measure", "/measure"),
    Shot("memory", "/memory"),
    Shot("connectors", "/connectors", fresh=True),
    Shot("audit", "/audit"),
    Shot("settings", "/settings"),
    Shot("people", "/settings/people"),
    Shot("policy", "/settings/policy"),
    Shot("notifications", "/settings/notifications"),
    Shot("first-run", "/start"),
)


async def seed(house: House) -> dict[str, str]:
    """A week of a small team: something measured, something sent today, something unknown, and much that waits."""
    await house.app.prepare()
    await house.owner(name="Ada Lovelace")
    measured = await stories.measured_launch(house, "Find the first hundred users", 1_840, 27)
    session = await stories.review(house)
    await stories.second_run(house, session.session_id)
    lesson = await stories.remember(
        house, "Say what it does before who it is for; short sentences.", "brand_voice"
    )
    await stories.remember(house, "1,400 developers joined the list in a month.", "proof")
    house.clock.advance(hours=20)
    await _people(house)
    unknown = await _unknown(house)
    today = await house.stage(post(body="Our build is green again, and faster than it was: 41 seconds."))
    await stories.sent(house, today)
    house.clock.advance(hours=1)
    await house.stage(
        post(
            "site", connector="site", title="Changelog of this week", body="Search, filters, and dark pages."
        ),
        post(
            "site",
            connector="site",
            title="A note on downtime",
            body="Twelve minutes on Tuesday; here is why.",
        ),
    )
    house.clock.advance(seconds=1_500)
    await house.stage(mail(60, subject="Assent is ready", body=LETTER, html=LETTER_HTML))
    house.clock.advance(seconds=720)
    run = await _launch(house, lesson)
    # Now that nothing more is prepared: nobody is to be told by a picture.
    ways = house.services.notifiers
    everyone = TargetOwner(LOCAL_WORKSPACE)
    mine = targets.of_person(people.OWNER)
    await targets.add(house.services, mine, ways["email"], "ada@example.org", by="Ada")
    await targets.add(house.services, everyone, ways["ntfy"], "https://ntfy.example/7f3a", by="Ada")
    house.clock.advance(seconds=180)
    return {
        "run": run.run_id,
        "action": run.actions[0].id,
        "sent": today.actions[0].id,
        "unknown": unknown.run_id,
        "measured": measured.run_id,
        "session": session.run_id,
    }


async def _people(house: House) -> None:
    now_ms = house.clock.now_ms()
    for name, email in (("Grace Hopper", "grace@example.org"), ("Alan Turing", "alan@example.org")):
        person = Person(house.services.new_id(now_ms), name, Role.MEMBER, email)
        entropy = house.services.entropy(people.ENTROPY_BYTES)
        await house.app.store.write(
            lambda person=person, entropy=entropy: members.invite(  # type: ignore[misc]
                person, (LOCAL_WORKSPACE,), entropy, now_ms, by="Ada"
            )
        )


async def _unknown(house: House) -> PreparedRun:
    run = await house.stage(post(body="Assent 1.0 is out. It asks before it acts."))
    works = house.provider.then

    def silence(action: object) -> Any:
        raise OutcomeUnknown("the connection broke after the text was handed over")

    house.provider.then = silence
    await stories.sent(house, run)
    house.provider.then = works
    return run


async def _launch(house: House, lesson: str) -> PreparedRun:
    used = {"memoryUsed": [{"entryId": lesson, "kind": "brand_voice", "how": "shortened the sentences"}]}
    drafts = (
        Draft(type="post", title="LinkedIn", body=ANNOUNCEMENT, channel="linkedin", metadata=used),
        Draft(type="post", title="X", body="\n\n".join(THREAD), channel="x"),
    )
    soon = house.clock.now_ms() + 20 * HOUR_MS
    run = await stories.launch(
        house,
        "Launch Assent 1.0",
        post(
            body=ANNOUNCEMENT,
            draft=0,
            target={"name": "Ada Lovelace", "account": "ada"},
            warnings=("The claim “one binary” is not on your product page.",),
        ),
        post("x", body="\n\n".join(THREAD), draft=1, details={"thread": list(THREAD)}, expires_ms=soon),
        drafts=drafts,
    )
    agent = Decider(LOCAL_WORKSPACE, "Grace Hopper", Assurance.PERSON, "review page", "grace")
    text = ANNOUNCEMENT.replace("one binary", "one command")
    await edit(house.app.services, agent, ActionId(run.actions[0].id), {"body": text})
    return run


NEUTRAL: Final = """(paths) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    for (const [from, to] of Object.entries(paths))
      walker.currentNode.data = walker.currentNode.data.replaceAll(from, to);
}"""


async def take(
    browser: Browser, signed_in: Any, shot: Shot, address: str, to: Path, paths: dict[str, str]
) -> int:
    """One picture; returns its size. `paths` of this machine are shown as those of anyone's."""
    context: BrowserContext = await browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.dark else "light",
        reduced_motion="reduce",
        storage_state=signed_in,
    )
    try:
        page = await context.new_page()
        await page.goto(address)
        if shot.click:
            await page.locator(shot.click).first.click()
        if shot.at:
            await page.locator(shot.at).first.scroll_into_view_if_needed()
        await page.evaluate(NEUTRAL, paths)
        picture = await page.screenshot(scale="css", animations="disabled", caret="hide")
    finally:
        await closed(context)
    (to / f"{shot.name}.png").write_bytes(picture)
    return len(picture)


async def main(to: Path, wanted: list[str]) -> int:
    too_large: list[str] = []
    for fresh in (False, True):
        shots = [each for each in SHOTS if each.fresh == fresh and (not wanted or each.name in wanted)]
        with tempfile.TemporaryDirectory() as directory, running_chromium() as chromium:
            async with served(Path(directory), built_in=fresh) as house, connected(chromium) as browser:
                places = {} if fresh else await seed(house)
                first = await browser.new_context()
                await sign_in(first, house)
                signed_in = await first.storage_state()
                paths = {
                    str(Path(sys.executable).parent): "/home/ada/assent/.venv/bin",
                    directory: "/home/ada/.local/share/assent",
                }
                for shot in shots:
                    address = house.base_url + shot.path.format_map(places)
                    size = await take(browser, signed_in, shot, address, to, paths)
                    sys.stdout.write(f"{shot.name}.png {size // 1000} KB\n")
                    too_large += [shot.name] if size > MOST_BYTES else []
    if too_large:
        sys.stderr.write(f"over {MOST_BYTES} bytes: {', '.join(too_large)}\n")
    return 1 if too_large else 0


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    raise SystemExit(asyncio.run(main(Path(sys.argv[1]), sys.argv[2:])))
