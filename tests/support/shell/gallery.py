"""`make screenshots`: every screen of the console as a picture, of a real server with data made by the real functions.

    python -m tests.support.shell.gallery docs/screens [name …]

A picture is a row of `SHOTS` and shows a view of the atlas. The company is seeded in `tests.support.shell.company`.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Final

import msgspec
from playwright.async_api import Browser, BrowserContext
from tests.support.chromium import closed, connected, running_chromium
from tests.support.review.browser import served
from tests.support.review.kit import Server
from tests.support.shell.atlas import EMPTY, VIEW_NAMES, View, follow
from tests.support.shell.company import OWNER_NAME, opened_company
from tests.support.shell.screen import sign_in

MOST_BYTES: Final = 220_000
"""A picture in a repository is looked at once and cloned with every clone."""


class Shot(msgspec.Struct, frozen=True):
    """One picture: a view of the atlas, and how it is looked at."""

    view: str
    width: int = 1280
    height: int = 900
    dark: bool = False

    @property
    def name(self) -> str:
        """`inbox`, `inbox-phone`, `inbox-dark`."""
        phone = "-phone" if self.width < 600 else "-wide" if self.width > 1600 else ""
        return f"{self.view}{phone}{'-dark' if self.dark else ''}"


PHONE: Final = (390, 844)

SHOTS: Final[tuple[Shot, ...]] = (
    Shot("inbox"),
    Shot("inbox", *PHONE),
    Shot("inbox", dark=True),
    Shot("review", height=1100),
    Shot("review", *PHONE, dark=True),
    Shot("edit"),
    Shot("refund"),
    Shot("unknown"),
    Shot("runs"),
    Shot("runs", *PHONE),
    Shot("run", height=860),
    Shot("sessions", height=600),
    Shot("session", height=760),
    Shot("session-step", *PHONE),
    Shot("session-review", height=900),
    Shot("compare", height=900),
    Shot("timeline", height=1180),
    Shot("import", height=640),
    Shot("results", height=1100),
    Shot("results-month", dark=True),
    Shot("results-month", *PHONE),
    Shot("memory"),
    Shot("operations", height=1100),
    Shot("operations", dark=True),
    Shot("connections"),
    Shot("provider", height=760),
    Shot("smtp-new"),
    Shot("audit"),
    Shot("audit", *PHONE),
    Shot("settings"),
    Shot("people", height=640),
    Shot("policy", height=1180),
    Shot("keys", height=760),
    Shot("notifications"),
    Shot("workspace", height=700),
    Shot("empty-start"),
    Shot("landing", height=860),
    Shot("landing", *PHONE, dark=True),
    Shot("sign-in", height=700),
    Shot("sign-in-how", height=800),
    Shot("get-key", height=700),
    Shot("claim", height=800),
    Shot("let-in", height=960),
    Shot("let-in", *PHONE),
    Shot("mistyped", height=500),
    Shot("feed", height=760),
    Shot("post", *PHONE),
)


NEUTRAL: Final = """(paths) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    for (const [from, to] of Object.entries(paths))
      walker.currentNode.data = walker.currentNode.data.replaceAll(from, to);
}"""


async def take(context: BrowserContext, shot: Shot, view: View, address: str, paths: dict[str, str]) -> bytes:
    """One picture. `paths` of this machine are shown as those of anyone's."""
    page = await context.new_page()
    try:
        await page.set_viewport_size({"width": shot.width, "height": shot.height})
        await page.emulate_media(color_scheme="dark" if shot.dark else "light")
        await page.goto(address)
        await follow(page, view)
        await page.evaluate(NEUTRAL, paths)
        return await page.screenshot(scale="css", animations="disabled", caret="hide")
    finally:
        await closed(page)


async def take_all(
    shots: list[Shot],
    server: Server,
    places: dict[str, str],
    browser: Browser,
    to: Path,
    paths: dict[str, str],
) -> list[str]:
    """Take the pictures of one server. Returns those that are too large."""
    owner = await browser.new_context(reduced_motion="reduce")
    visitor = await browser.new_context(reduced_motion="reduce")
    await sign_in(owner, server, name=OWNER_NAME)
    too_large = []
    for shot in shots:
        view = VIEW_NAMES[shot.view]
        known = {**places, "sign_in": await server.sign_in_path()}
        address = server.base_url + view.path.format_map(known)
        picture = await take(visitor if view.visitor else owner, shot, view, address, paths)
        (to / f"{shot.name}.png").write_bytes(picture)
        sys.stdout.write(f"{shot.name}.png {len(picture) // 1000} KB\n")
        too_large += [shot.name] if len(picture) > MOST_BYTES else []
    await closed(owner)
    await closed(visitor)
    return too_large


async def main(to: Path, wanted: list[str]) -> int:
    fresh = {view.name for view in EMPTY}
    asked = [each for each in SHOTS if not wanted or each.name in wanted]
    too_large: list[str] = []
    with tempfile.TemporaryDirectory() as directory, running_chromium() as chromium:
        folder = Path(directory)
        paths = {
            str(Path(sys.executable).parent): "/home/ingrid/assent/.venv/bin",
            directory: "/home/ingrid/.local/share/assent",
            "http://127.0.0.1": "http://localhost",
        }
        async with connected(chromium) as browser:
            async with opened_company(folder) as (server, places):
                shots = [each for each in asked if each.view not in fresh]
                too_large += await take_all(shots, server, places, browser, to, paths)
            (folder / "fresh").mkdir()
            async with served(folder / "fresh", built_in=True) as server:
                await server.app.prepare()
                shots = [each for each in asked if each.view in fresh]
                too_large += await take_all(shots, server, {}, browser, to, paths)
    if too_large:
        sys.stderr.write(f"over {MOST_BYTES} bytes: {', '.join(too_large)}\n")
    return 1 if too_large else 0


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    raise SystemExit(asyncio.run(main(Path(sys.argv[1]), sys.argv[2:])))
