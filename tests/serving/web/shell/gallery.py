"""`make screenshots`: every screen of the console as a picture, of a real server with data made by the real functions.

    python -m tests.serving.web.shell.gallery docs/screens [name …]

A screen is a row of `SHOTS`. What it shows is seeded in `tests.serving.web.shell.company`.
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
from tests.serving.web.shell.company import OWNER_NAME, list_connectors, list_effects, seed
from tests.serving.web.shell.screen import sign_in

MOST_BYTES: Final = 220_000
"""A picture in a repository is looked at once and cloned for ever."""


class Shot(msgspec.Struct, frozen=True):
    """One picture. `path` may name a place of the seed: `{run}`, `{action}`, `{refund}`, `{unknown}`, `{session}`."""

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
    Shot("refund", "/runs/{refund}"),
    Shot("unknown", "/runs/{unknown}"),
    Shot("runs", "/runs"),
    Shot("run", "/runs/{measured}/story", height=800),
    Shot("sessions", "/sessions"),
    Shot("session", "/sessions/{session}", height=720),
    Shot("session-phone", "/sessions/{session}?node=2", 390, 844),
    Shot("compare", "/sessions/{session}/compare", height=760),
    Shot("timeline", "/sessions/{session}/timeline", height=760),
    Shot("import", "/sessions/import", height=760),
    Shot("measure", "/results"),
    Shot("memory", "/memory"),
    Shot("connectors", "/connectors", fresh=True),
    Shot("audit", "/audit"),
    Shot("settings", "/settings"),
    Shot("people", "/settings/people"),
    Shot("policy", "/settings/policy"),
    Shot("notifications", "/settings/notifications"),
    Shot("first-run", "/start"),
)


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
        if not shots:
            continue
        with tempfile.TemporaryDirectory() as directory, running_chromium() as chromium:
            given = (
                {"built_in": True} if fresh else {"effects": list_effects(), "connectors": list_connectors()}
            )
            async with served(Path(directory), **given) as house, connected(chromium) as browser:
                places = {} if fresh else await seed(house)
                first = await browser.new_context()
                await sign_in(first, house, name=OWNER_NAME)
                signed_in = await first.storage_state()
                paths = {
                    str(Path(sys.executable).parent): "/home/ingrid/assent/.venv/bin",
                    directory: "/home/ingrid/.local/share/assent",
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
