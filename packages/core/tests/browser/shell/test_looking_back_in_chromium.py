"""The screens that look back in a real browser, on a phone and at a desk, light and dark."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from playwright.async_api import expect
from tests.support.chromium import closed
from tests.support.effort import PROVE
from tests.support.review.browser import served
from tests.support.review.hostile import CORPUS
from tests.support.review.kit import Server, post
from tests.support.shell import stories
from tests.support.shell.fixtures import OpenScreen

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.workflows import store
from assent.engine.workflows.store import SessionNote
from assent.ports import Draft

pytestmark = pytest.mark.slow


class Past(msgspec.Struct):
    """What has happened, and where to look at it."""

    review: stories.Review
    second: str
    launch_id: str

    @property
    def session(self) -> str:
        return f"/sessions/{self.review.run_id}"

    def screens(self) -> list[str]:
        return [
            "/runs",
            "/runs?q=nothing+like+it",
            f"/runs/{self.launch_id}/story",
            "/sessions",
            "/sessions?q=nothing+like+it",
            f"{self.session}?node=2",
            f"{self.session}?node=3",
            f"{self.session}?node=0",
            f"{self.session}/compare",
            f"{self.session}/timeline",
            f"{self.session}/review",
            f"{self.session}/print",
            "/sessions/import",
            "/results",
            "/memory",
            "/connectors",
            "/audit",
            "/audit?group=access&scope=server",
        ]


@pytest.fixture(scope="module")
async def past(server: Server) -> Past:
    review = await stories.review(server)
    second = await stories.second_run(server, review.session_id)
    note = SessionNote(
        server.services.new_id(1), "Ada", "Agreed: **merge** on Monday.", server.clock.now_ms()
    )
    await server.app.store.write(lambda: store.add_note(LOCAL_WORKSPACE, review.session_id, note))
    await stories.measured_launch(server, "Launch Assent to developers", 1200, 14)
    launch = await stories.measured_launch(server, "Tell people about 1.1", 1840, 31)
    await stories.remember(server, "We never use exclamation marks.", state="proposed")
    return Past(review, second, launch.run_id)


@pytest.mark.parametrize(("width", "least"), ((320, 44), (1280, 28)) if PROVE else ((320, 44),))
async def test_everything_to_press_is_large_enough_for_what_presses_it(
    screen: OpenScreen, past: Past, width: int, least: int
) -> None:
    at = await screen("/runs", width=width)
    for path in past.screens():
        await at.goto(path)
        low = await at.page.locator(
            "main button, main .button, main input:not([type=hidden]), main select"
        ).evaluate_all(
            """(all, least) => all.filter(each => each.getBoundingClientRect().height > 0)
                .filter(each => each.getBoundingClientRect().height < least)
                .map(each => each.outerHTML.slice(0, 160))""",
            least,
        )
        assert low == [], path
        assert await at.page.evaluate("document.documentElement.scrollWidth") <= width, path


async def test_an_empty_server_teaches(browser_screen: OpenScreen) -> None:
    at = await browser_screen("/runs")
    for path, text in (
        ("/runs", "No runs yet"),
        ("/sessions", "No workflows yet"),
        ("/results", "No results yet"),
        ("/memory", "No rules yet"),
        ("/audit?group=sending", "Nothing found"),
    ):
        await at.goto(path)
        await expect(at.page.locator("main")).to_contain_text(text)


@pytest.fixture
async def browser_screen(browser: object, tmp_path: Path) -> AsyncIterator[OpenScreen]:
    """The same as `screen`, at a server of its own on which nothing has happened."""
    from tests.support.shell.screen import Screen, sign_in

    async with served(tmp_path) as empty:
        await empty.app.prepare()
        made: list[Screen] = []

        async def open_screen(path: str, *, width: int = 1280) -> Screen:
            context = await browser.new_context(viewport={"width": width, "height": 900})  # type: ignore[attr-defined]
            await sign_in(context, empty)
            found = await Screen.open(context, empty, path)
            made.append(found)
            return found

        yield open_screen
        alarms = [alarm for each in made for alarm in each.unexpected()]
        for each in made:
            await closed(each.page.context)
    assert alarms == []


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
async def test_the_graph_shows_the_fork_and_leads_to_every_step(
    screen: OpenScreen, past: Past, script: bool
) -> None:
    at = await screen(past.session, script=script)
    rows = at.page.locator(".session-graph .graph li")
    await expect(rows).to_have_count(9)
    await expect(rows.nth(2)).to_contain_text("Changed files")
    await expect(rows.nth(2)).to_contain_text("2 branches")
    await expect(rows.nth(2)).to_contain_text("1 refused")
    await expect(rows.nth(3)).to_contain_text("1 checkpoint")
    svg = at.page.locator("svg.lanes")
    assert await svg.locator("circle.fork").count() == 1
    assert await svg.locator("path.refused").count() == 1
    assert await svg.locator("path.kept").count() == 1
    assert await svg.locator("rect.end").count() == 1
    drawn, listed = await svg.bounding_box(), await at.page.locator(".session-graph .graph ol").bounding_box()
    assert drawn is not None
    assert listed is not None
    assert abs(drawn["height"] - listed["height"]) < 1

    await rows.nth(3).get_by_role("link").first.click()
    await expect(at.page.locator("#step-title")).to_have_text("Findings (pass 1)")
    await expect(at.page.locator("#step")).to_contain_text("The description names a field that is gone")
    await expect(at.page.locator("#step")).to_contain_text("Halfway")
    await at.page.go_back()
    await expect(at.page.locator("#step-title")).to_have_text("Findings (pass 2)")
    await at.page.reload()
    await expect(at.page.locator("#step-title")).to_have_text("Findings (pass 2)")


async def test_a_comment_is_copied_with_one_press(screen: OpenScreen, past: Past) -> None:
    at = await screen(f"{past.session}?node=3")
    await at.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = at.page.get_by_role("button", name="Copy: Fix the description of workflow_next")
    await button.click()
    await expect(button).to_have_text("Copied")
    copied = await at.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("`src/mcp/tool-descriptions.ts:79` **Fix the description of workflow_next**")


async def test_two_branches_are_compared_in_two_clicks(screen: OpenScreen, past: Past) -> None:
    at = await screen(past.session)
    # One: a step of the abandoned branch. Two: compare it with the end of the current one.
    await at.page.get_by_role("link", name="Verdict", exact=True).click()
    await at.page.get_by_role("link", name="Compare Findings (pass 2) (step 8) with Verdict").click()
    await expect(at.page.locator("main")).to_contain_text("Branches split after “Changed files”")
    await expect(at.page.get_by_label("Older")).to_have_value("5")
    await expect(at.page.get_by_label("Newer")).to_have_value("8")
    first = at.page.locator(".compared").first
    await expect(first).to_contain_text("Different")
    await expect(first.locator(".finding-card.gone")).to_contain_text("Two bindings for one name")
    await expect(at.page.locator("#context-title + dl")).to_contain_text("complexity")


async def test_a_step_appears_on_an_open_page_by_itself(
    screen: OpenScreen, server: Server, past: Past
) -> None:
    agent = stories.Agent(server)
    begun = await agent.start(sessionId="Live")
    at = await screen(f"/sessions/{begun['session']['runId']}")
    await at.ready()
    await expect(at.page.locator(".session-graph .graph li")).to_have_count(1)
    await agent.advance(begun, "First step.", output=stories.TRIAGE)
    await expect(at.page.locator(".session-graph .graph li")).to_have_count(2)


async def test_rows_are_walked_with_the_keyboard(screen: OpenScreen, past: Past) -> None:
    at = await screen("/runs")
    await at.page.keyboard.press("j")
    await at.page.keyboard.press("j")
    await expect(at.page.locator("[data-row]").nth(1)).to_have_attribute("aria-current", "true")
    await at.page.keyboard.press("Enter")
    await expect(at.page).to_have_url(re.compile(r"/story$"))


async def test_paper_has_the_session_and_nothing_else(screen: OpenScreen, past: Past) -> None:
    at = await screen(f"{past.session}/print")
    await at.page.emulate_media(media="print")
    await expect(at.page.locator(".bar")).to_be_hidden()
    await expect(at.page.locator(".callout")).to_be_hidden()
    await expect(at.page.locator(".sheet")).to_contain_text("A second pass found nothing new.")


@pytest.fixture(scope="module")
async def hostile_past(server: Server) -> list[str]:
    """The corpus wherever agents and people can write, and the pages that show it."""
    every = "\n\n".join(CORPUS)
    agent = stories.Agent(server)
    begun = await agent.start(sessionId=CORPUS[0] + CORPUS[5], context={"a": every, CORPUS[1]: CORPUS[2]})
    rows = [{"path": text, "summary": text, "risk": text} for text in CORPUS]
    found = [
        {**row, "severity": row["risk"], "title": row["path"], "location": {"file": row["path"]}}
        for row in rows
    ]
    found = [{**each, "rationale": each["title"], "suggestion": each["title"]} for each in found]
    comments = [{"title": text, "body": text} for text in CORPUS]
    files = {"kind": "mr_review.changed_files", "changedFiles": rows}
    findings = {"kind": "mr_review.findings", "findings": found, "mrComments": comments}
    extra = {"artifacts": [stories.TRIAGE, {"kind": CORPUS[0], "x": every}, files, findings]}
    at = await agent.advance(begun, every, output=extra)
    await agent.keep(at, every)
    await agent.advance(at, every, output={"kind": CORPUS[3]})
    other = await agent.advance(begun, every[::-1], output={**stories.TRIAGE, "revisionLogEntry": CORPUS[4]})
    assert other["kind"] == "step"
    run_id = begun["session"]["runId"]
    note = SessionNote(server.services.new_id(1), CORPUS[0], every, server.clock.now_ms())
    await server.app.store.write(lambda: store.add_note(LOCAL_WORKSPACE, begun["session"]["sessionId"], note))
    launch = await stories.launch(
        server, CORPUS[0], post(), drafts=(Draft(type=CORPUS[1], title=CORPUS[2], body=every),)
    )
    for number, text in enumerate(CORPUS):
        await stories.remember(server, f"{number} {text}", channel=text)
    paths = [f"/sessions/{run_id}?node={node}" for node in (0, 1, 2)]
    paths += [f"/sessions/{run_id}{each}" for each in ("/compare", "/timeline", "/print")]
    return [
        *paths,
        "/sessions",
        "/runs",
        f"/runs/{launch.run_id}/story",
        "/memory",
        "/audit",
        f"/audit?run={run_id}",
    ]


FORBIDDEN = (
    "script",
    "iframe",
    "object",
    "embed",
    "style",
    "base",
    "img",
    "form[action*=evil]",
    "a[href^='javascript']",
)
HANDLERS = ("[onclick]", "[onerror]", "[onload]", "[onfocus]", "[onmouseover]", "[ontoggle]")


@pytest.mark.parametrize("width", [390, 1280])
async def test_no_payload_of_the_corpus_does_anything(
    screen: OpenScreen, hostile_past: list[str], width: int
) -> None:
    at = await screen("/runs", width=width)
    for path in hostile_past:
        await at.goto(path)
        await at.page.evaluate(
            "document.querySelectorAll('main details').forEach(each => { each.open = true })"
        )
        for selector in (*FORBIDDEN, *HANDLERS):
            assert await at.page.locator(f"main {selector}").count() == 0, (path, selector)
        assert await at.page.evaluate("document.documentElement.scrollWidth") <= width, path
