"""The review page in a real browser: on a phone and at a desk, with script and without."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import msgspec
import pytest
from playwright.async_api import Browser, Locator, Page, expect
from tests.support.chromium import closed
from tests.support.effort import PROVE, pairs
from tests.support.review.browser import SIZES, Watched, served, watched
from tests.support.review.hostile import CORPUS
from tests.support.review.kit import TEXT, Server, mail, post, put_everywhere
from tests.support.review.states import every_state

from assent.engine.actions import actions

pytestmark = [pytest.mark.slow, pytest.mark.prove]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with served(tmp_path) as made:
        yield made


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A phone and a desk, with script and without."""
    if "script" in metafunc.fixturenames:
        metafunc.parametrize(("device", "script"), pairs([*SIZES], ["no script", "script"]))
    elif "device" in metafunc.fixturenames:
        metafunc.parametrize("device", SIZES if PROVE else ["phone"])


@pytest.fixture
def size(device: str) -> dict[str, int]:
    return SIZES[device]


@pytest.fixture
async def at(browser: Browser, server: Server, size: dict[str, int], script: str) -> AsyncIterator[Watched]:
    """A page of this size, with or without script."""
    context = await browser.new_context(viewport=size, java_script_enabled=script == "script")  # type: ignore[arg-type]
    yield await watched(context, server.base_url)
    await closed(context)


def card(page: Page, action_id: str) -> Locator:
    return page.locator(f"#action-{action_id}")


async def open_form(page: Page, action_id: str, decision: str) -> Locator:
    """Open a decision's form as a person does, with one press that decides nothing."""
    form = page.locator(f'form[data-action-id="{action_id}"][data-decision="{decision}"]')
    await card(page, action_id).locator(f"details.{decision} > summary").click()
    await expect(form).to_be_visible()
    return form


@pytest.mark.rule("E21", "E34")
async def test_open_the_link_read_edit_approve_reject_and_send(server: Server, at: Watched) -> None:
    run = await server.stage(post(), mail(), post("x"))
    first, second, third = (action.id for action in run.actions)
    page = at.page

    await page.goto(run.review_url)

    assert page.url == f"{server.base_url}/runs/{run.run_id}"
    await expect(page.get_by_role("heading", level=1)).to_have_text("3 drafts wait for you")
    await expect(card(page, first).locator(".text")).to_have_text(TEXT, use_inner_text=True)
    await expect(card(page, second)).to_contain_text("reader3@example.org")

    form = await open_form(page, first, "edit")
    await form.locator("[name=body]").fill("A shorter text.\n\nIt says what we built, and nothing else.")
    await form.locator("[name=name]").fill("Ada Lovelace")
    await form.get_by_role("button", name="Save the changes").click()
    await expect(page.get_by_role("status")).to_contain_text("Saved. Read it once more")
    await expect(card(page, first).locator(".text")).to_have_text(
        "A shorter text.\n\nIt says what we built, and nothing else.", use_inner_text=True
    )

    form = await open_form(page, first, "approve")
    await expect(form.locator("[name=name]")).to_have_value("Ada Lovelace")
    await expect(form).to_contain_text("Posts this to LinkedIn through Zernio.")
    await form.get_by_role("button", name="Approve only").click()
    await expect(page.get_by_role("status")).to_contain_text("Approved")
    await expect(card(page, first)).to_contain_text(
        "Approval by someone with the review link, calling themselves “Ada Lovelace”"
    )

    form = await open_form(page, second, "reject")
    await form.locator("[name=reason]").fill("Not to these people.")
    await form.get_by_role("button", name="Reject for good").click()
    await expect(card(page, second)).to_contain_text("Not to these people.")

    form = await open_form(page, third, "approve")
    await form.get_by_role("button", name="Approve and send now").click()
    await expect(card(page, third)).to_contain_text("It is in the queue")
    await server.run_jobs()
    await card(page, third).get_by_role("link", name="Refresh").click()
    await expect(card(page, third)).to_contain_text("https://social.example/posts/1")

    assert [action.action_id for action in server.provider.done] == [third]
    assert (await server.action(first)).status == "approved"
    assert (await server.action(second)).rejection == "Not to these people."
    assert at.alarms == []


async def test_everything_to_press_is_thumb_sized_and_nothing_is_wider_than_the_window(
    server: Server, browser: Browser
) -> None:
    runs = [
        await server.stage(post(), mail(60, subject="A" * 200, body="W" * 5_000)),
        *await every_state(server),
    ]
    context = await browser.new_context()
    page = (await watched(context, server.base_url)).page
    for run in runs:
        await page.goto(run.review_url)
        await _open_everything(page)
        for width, least in ((320, 44), (390, 44), (1280, 36)):
            await page.set_viewport_size({"width": width, "height": 800})
            low = await page.locator(
                "main summary, main button, main .field input, main textarea"
            ).evaluate_all(
                """(all, least) => all.filter(each => each.type !== "radio" && each.getBoundingClientRect().height > 0)
                    .filter(each => each.getBoundingClientRect().height < least)
                    .map(each => each.outerHTML.slice(0, 200))""",
                least,
            )
            assert low == [], width
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await closed(context)


async def test_it_can_be_used_with_the_keyboard_alone(server: Server, browser: Browser) -> None:
    run = await server.stage(post())
    context = await browser.new_context()
    page = (await watched(context, server.base_url)).page
    await page.goto(run.review_url)
    await page.locator("details.approve > summary").focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.get_by_text("Add a comment").and_(page.locator(":focus"))).to_be_visible()
    await page.keyboard.press("Tab")
    await page.keyboard.type("Ada")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("status")).to_contain_text("Approved")
    assert (await server.action(run.actions[0].id)).status == "approved"
    await closed(context)


async def test_high_risk_asks_to_sign_in_and_the_open_form_works_after_that(
    server: Server, at: Watched, script: str
) -> None:
    run = await server.stage(mail(60))
    page, action_id = at.page, run.actions[0].id
    await page.goto(run.review_url)
    form = await open_form(page, action_id, "approve")
    await expect(form).to_contain_text("Sign in to approve this")
    await form.locator("[name=name]").fill("Ada")
    await form.get_by_role("button", name="Approve only").click()
    await expect(page.get_by_role("alert")).to_contain_text("This needs a signed-in person")

    other_tab = await page.context.new_page()
    await other_tab.goto(server.base_url + await server.sign_in_path())
    await other_tab.get_by_label("Your name").fill("Grace Hopper")
    await other_tab.get_by_role("button", name="Sign in").click()
    await expect(other_tab.get_by_role("heading", name="One thing waits for you")).to_be_visible()
    form = page.locator(f'form[data-action-id="{action_id}"][data-decision="approve"]')
    await form.get_by_role("button", name="Approve only").click()

    await expect(page.get_by_role("heading", level=1)).to_have_text("Approve this?")
    if script == "no script":
        await expect(page.locator("main")).to_contain_text("This browser has no key for this")
        assert (await server.action(action_id)).approval is None
        return
    await page.get_by_role("button", name="Approve", exact=True).click()
    await expect(card(page, action_id)).to_contain_text("Approved by Grace Hopper")
    approval = (await server.action(action_id)).approval
    assert approval is not None
    assert approval.assurance == "person"


async def _open_everything(page: Page) -> None:
    await page.evaluate(
        "document.querySelectorAll('details').forEach(d => { d.removeAttribute('name'); d.open = true })"
    )


async def hostile_run(server: Server) -> str:
    """A run with every payload in every place that can hold one."""
    run = await server.stage(*(mail(warnings=(payload,), recommendations=(payload,)) for payload in CORPUS))
    for staged, payload in zip(run.actions, CORPUS, strict=True):
        action = await server.action(staged.id)
        effect = put_everywhere(action.effect, payload)
        changed = msgspec.structs.replace(action, effect=effect, digest=effect.digest())
        await server.app.store.write(partial(actions.put_without_event, changed))
    browser = await server.opened(run)
    for staged, payload in list(zip(run.actions, CORPUS, strict=True))[:20]:
        await server.decide(browser, run.run_id, staged.id, "reject", reason=payload, name=f"{payload} x")
    return run.review_url


async def test_whoever_watches_hears_what_a_payload_would_do(server: Server, browser: Browser) -> None:
    """The control of the test below: without our escaping and policy the same payloads do something."""
    context = await browser.new_context()
    seen = await watched(context, server.base_url)
    async with seen.page.expect_event("dialog"):
        await seen.page.set_content("<img src='data:,' onerror=alert(1)><script>undefined.x</script>")
    await closed(context)

    assert {alarm.partition(":")[0] for alarm in seen.alarms} == {"dialog", "error"}


async def test_no_payload_of_the_corpus_does_anything(
    server: Server, browser: Browser, size: dict[str, int]
) -> None:
    """No dialog, no console error, no request to elsewhere, and the page still says what it should."""
    url = await hostile_run(server)
    context = await browser.new_context(viewport=size)  # type: ignore[arg-type]
    seen = await watched(context, server.base_url)
    page = seen.page
    await page.goto(url)
    await _open_everything(page)
    await page.locator("textarea").first.focus()
    await page.mouse.move(100, 300)
    await page.keyboard.press("End")
    await page.locator("iframe").last.scroll_into_view_if_needed()
    await expect(page.frame_locator("iframe >> nth=-1").locator("body")).to_be_attached()

    shown = await page.locator("textarea[name=body]").evaluate_all("all => all.map(each => each.value)")
    assert set(shown) <= {payload.replace("\r\n", "\n") for payload in CORPUS}
    assert await page.locator("script, object, embed, svg:not(.sigil), style, base").count() == 0
    assert await page.locator('iframe:not([sandbox=""])').count() == 0
    await page.goto(server.base_url + await server.sign_in_path())
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.locator("body")).to_have_attribute("data-live", "on")
    assert re.match(r"\(\d+\) Inbox", await page.title())
    assert seen.alarms == []
    await closed(context)
