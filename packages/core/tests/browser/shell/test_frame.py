"""The frame of the console in a real browser: navigation, live updates, keys, colours."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from typing import Any

import httpx
import pytest
from playwright.async_api import expect
from tests.support.review.kit import Server, post
from tests.support.shell.fixtures import OpenScreen

from assent.serving.web.shell.rendering import MEDIA_TYPES, STYLE_SHEET, asset_path, find_asset, pack_asset

pytestmark = pytest.mark.slow


def test_vendored_files_are_what_their_record_says() -> None:
    vendor = files("assent.serving.web.shell").joinpath("static", "vendor")
    record: list[dict[str, Any]] = json.loads(vendor.joinpath("vendored.json").read_text())
    taken = {each.name for each in vendor.iterdir() if each.name.endswith((".js", ".woff2"))}

    assert {row["file"] for row in record} == taken
    for row in record:
        content = vendor.joinpath(row["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == row["sha256"], row["file"]
        assert row["version"] and row["package"]
        said = vendor.joinpath(row["licenseFile"]).read_text()
        assert {"0BSD": "BSD", "OFL-1.1": "SIL Open Font License"}[row["license"]] in said


def test_styles_and_scripts_together_stay_small() -> None:
    scripts = [name for name, media_type in MEDIA_TYPES.items() if media_type == "text/javascript"]
    served = [pack_asset(asset_path(name)) or b"" for name in (STYLE_SHEET, *scripts)]

    assert all(served) and sum(map(len, served)) < 45_000


def test_no_two_screens_style_the_same_class() -> None:
    """The files of all screens are one style sheet: a name that two of them take changes both screens."""
    owners: dict[str, set[str]] = {}
    for file in (files("assent.serving.web.shell") / "static" / "css" / "screens").iterdir():
        for name in re.findall(r"^\s*\.([a-z][a-z0-9-]*) \{", file.read_text(encoding="utf-8"), re.MULTILINE):
            owners.setdefault(name, set()).add(file.name)
    shared = {"tile"}  # of the charts, wider on one screen
    assert {name: found for name, found in owners.items() if len(found) > 1 and name not in shared} == {}


async def test_the_style_sheet_names_fonts_that_are_served(server: Server) -> None:
    sheet = find_asset(asset_path(STYLE_SHEET))
    assert sheet is not None
    fonts = re.findall(r"url\((/static/[^)]+)\)", sheet.content.decode())
    assert len(fonts) == 4
    async with httpx.AsyncClient(base_url=server.base_url) as client:
        for font in fonts:
            answer = await client.get(font)
            assert (answer.status_code, answer.headers["content-type"]) == (200, "font/woff2"), font


async def test_a_change_reaches_an_open_page_and_its_title(screen: OpenScreen, server: Server) -> None:
    at = await screen("/inbox")
    await at.ready()
    before = await at.page.locator("[data-row]").count()

    await server.stage(post(body="Something new that somebody should read before it goes out."))

    await expect(at.page.locator("[data-row]")).to_have_count(before + 1)
    await expect(at.page).to_have_title(f"({before + 1}) Inbox · Assent")


async def test_what_happened_while_the_connection_was_lost_is_there_when_it_is_back(
    screen: OpenScreen, server: Server
) -> None:
    at = await screen("/inbox", allow=("ERR_", "sseError", "Failed to load"))
    await at.ready()
    before = await at.page.locator("[data-row]").count()
    await server.doors.close()
    await expect(at.page.locator("body")).to_have_attribute("data-live", "lost")
    await server.stage(post(body="Prepared while nobody could hear of it, and shown all the same."))
    server.doors.open(server)

    await expect(at.page.locator("[data-row]")).to_have_count(before + 1, timeout=15_000)


async def test_a_paused_page_stays_as_it_is_until_it_is_resumed(screen: OpenScreen, server: Server) -> None:
    at = await screen("/inbox")
    other = await screen("/inbox", context=at.page.context)
    for each in (at, other):
        await each.ready()
    before = await at.page.locator("[data-row]").count()
    await at.page.locator(".user-menu summary").click()
    await at.page.get_by_role("button", name="Pause live updates").click()
    await expect(at.page.get_by_text("Paused.")).to_be_visible()
    await server.stage(post(body="Prepared while the page was paused by whoever looks at it."))
    await expect(other.page.locator("[data-row]")).to_have_count(before + 1)
    assert await at.page.locator("[data-row]").count() == before

    await at.page.get_by_role("button", name="Resume live updates").click()

    await expect(at.page.locator("[data-row]")).to_have_count(before + 1)
