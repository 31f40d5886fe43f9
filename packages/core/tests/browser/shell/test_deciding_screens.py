"""Inbox, review, edit, batch, unknown outcome and the action in a real browser, on a phone and at a desk."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, expect
from tests.support.review.hostile import CORPUS
from tests.support.review.kit import Server, mail, post
from tests.support.shell.fixtures import OpenScreen
from tests.support.shell.screen import every_look

from assent.engine.actions import decisions
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Assurance
from assent.kernel.ids import ActionId
from assent.ports import Delivered, OutcomeUnknown

pytestmark = pytest.mark.slow

LONG = "We built a gate for agents. " * 14
HTML = '<h1 style="color:#0b6a4f">Hello</h1><p>Read <a href="https://example.org">more</a>.</p>'


def silence(action: object) -> Any:
    raise OutcomeUnknown("the connection broke")


Box = tuple[float, float, float, float]


async def box(on: Locator) -> Box:
    """Left, top, right and bottom of an element in the window."""
    found = await on.bounding_box()
    assert found is not None
    return found["x"], found["y"], found["x"] + found["width"], found["y"] + found["height"]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def works(action: object) -> Delivered:
    return Delivered("post-1", "https://social.example/posts/1")


@every_look
async def test_review_edit_approve_and_look_at_the_action(
    screen: OpenScreen, server: Server, width: int, dark: bool
) -> None:
    server.provider.then = works
    thread = ["First of the thread. 1/2", "And the second. 2/2"]
    run = await server.stage(
        post(body=LONG),
        post("x", body="\n\n".join(thread), details={"thread": thread}),
        mail(html=HTML),
        post("site", connector="site", title="Note", body="# Hello\n\nIt **works**."),
    )
    first = run.actions[0].id
    at = await screen(f"/runs/{run.run_id}", width=width, dark=dark)
    await expect(at.page.locator(".as-post .fold").first).to_be_visible()
    await expect(at.page.locator(".thread > li")).to_have_count(2)
    await expect(at.page.locator(".as-page strong")).to_have_text("works")
    frame = at.page.frame_locator("iframe.mail-frame")
    await expect(frame.locator("h1")).to_have_text("Hello")
    await at.fits()

    await at.goto(f"/runs/{run.run_id}/actions/{first}/edit")
    await at.page.locator("#body").fill("A shorter text that says what we built.")
    await expect(at.page.locator("#body-count")).to_contain_text("39 of 3,000")
    await at.page.get_by_role("button", name="See what changes").click()
    await expect(at.page.locator(".diff ins").first).to_be_visible()
    await at.check()
    await at.page.get_by_role("button", name="Save the changes").click()
    await expect(at.page.get_by_role("status")).to_contain_text("Saved.")

    await at.goto(f"/runs/{run.run_id}?action={first}&open=approve")
    await at.page.get_by_role("button", name="Approve and send now").click()
    await expect(at.page.locator(f"#action-{first}")).to_contain_text("in the queue")
    await server.run_jobs()
    await at.goto(f"/actions/{first}")
    await expect(at.page.locator(f"#action-{first} .timeline")).to_contain_text("Viewed by Ada Lovelace")
    await expect(at.page.locator("main")).to_contain_text("https://social.example/posts/1")
    await at.fits()


@every_look
async def test_select_several_decide_together_and_answer_an_unknown_outcome(
    screen: OpenScreen, server: Server, width: int, dark: bool
) -> None:
    run = await server.stage(
        *(post("site", connector="site", title=f"Note {n}", body=f"Note {n}: it works.") for n in (1, 2)),
        post(body="Something whose outcome nobody knows, because the line broke."),
    )
    server.provider.then = silence
    at = await screen(f"/runs/{run.run_id}?action={run.actions[2].id}&open=approve", width=width, dark=dark)
    await at.page.get_by_role("button", name="Approve and send now").click()
    await expect(at.page.locator(f"#action-{run.actions[2].id}")).to_contain_text("in the queue")
    await server.run_jobs()

    await at.goto("/inbox")
    await at.ready()
    await expect(at.page.get_by_role("heading", name="Did this go out?")).to_be_visible()
    for action in run.actions[:2]:
        await at.page.locator(f"#pick-{action.id}").check()
    await expect(at.page.locator("#batch-said")).to_have_text("2 selected")
    await at.check()
    await at.page.get_by_role("button", name="Approve together").click()
    await expect(at.page.get_by_role("heading", level=1)).to_have_text("Approve 2 together?")
    await at.page.get_by_text("More", exact=True).last.click()
    await at.page.get_by_role("button", name="Approve all 2 only").click()
    await expect(at.page.get_by_text("2 approved.")).to_be_visible()
    assert (await server.action(run.actions[1].id)).status == "approved"

    await at.goto(f"/runs/{run.run_id}#action-{run.actions[2].id}")
    await expect(at.page.locator("main")).to_contain_text("linkedin.com/in/me/recent-activity")
    card = at.page.locator(f"#action-{run.actions[2].id}")
    await card.get_by_text("Yes, it is there.").click()
    await card.locator("[name=evidence]").fill("https://social.example/posts/7")
    await card.get_by_role("button", name="Record this answer").click()
    await expect(at.page.get_by_role("status")).to_contain_text("Your answer is on record")
    assert (await server.action(run.actions[2].id)).status == "executed"


async def test_the_inbox_is_worked_with_keys_and_they_can_be_switched_off(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(mail(60, subject="A key to this one"), post(body="Another one for the keys."))
    at = await screen("/inbox?q=key")
    await at.ready()
    await at.page.keyboard.press("j")
    await expect(at.page.locator("[data-row][aria-current]")).to_have_count(1)
    await at.page.keyboard.press("j")
    await at.page.keyboard.press("k")
    await at.page.keyboard.press("a")
    await expect(at.page.locator("#pane form[data-decision=approve] button")).to_be_focused()
    assert (await server.action(run.actions[0].id)).status == "awaiting_approval"
    await at.page.keyboard.press("?")
    await expect(at.page.locator("#keys-help")).to_be_visible()
    await at.page.keyboard.press("Escape")
    await at.page.keyboard.press("/")
    await expect(at.page.locator("#q")).to_be_focused()

    await at.goto("/settings")
    await at.page.get_by_text("Single-key shortcuts").click()
    await at.page.get_by_text("Dark", exact=True).click()
    await at.page.get_by_role("button", name="Save", exact=True).click()
    await expect(at.page.get_by_role("status").first).to_contain_text("Saved for this browser.")
    await expect(at.page.locator("html")).to_have_attribute("data-theme", "dark")
    await at.goto("/inbox")
    await at.page.keyboard.press("j")
    await expect(at.page.locator("[data-row][aria-current]")).to_have_count(0)


async def test_the_decision_of_somebody_else_appears_in_an_open_inbox(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(post(body="Somebody else is faster with this one."))
    at = await screen("/inbox")
    await at.ready()
    row, needed = at.page.locator(f"#row-{run.actions[0].id}"), at.page.locator("#chips a .number").first
    await expect(row).to_be_visible()
    before = int(await needed.inner_text())
    await at.page.locator("#chips a").first.focus()
    decider = Decider(LOCAL_WORKSPACE, "Grace", Assurance.PERSON, "test", "grace")
    await server.app.store.write(
        lambda: decisions.reject(
            decider,
            ActionId(run.actions[0].id),
            "No.",
            SeenVersion(),
            server.clock.now_ms(),
        )
    )

    await expect(row).to_have_count(0)
    await expect(needed).to_have_text(f"{before - 1}")
    await expect(at.page.locator("#chips a").first).to_be_focused()


async def test_no_payload_does_anything_in_the_inbox_or_its_pane(screen: OpenScreen, server: Server) -> None:
    ids = [(await server.store_as_is(mail(subject=text, body=text, html=text)))[1] for text in CORPUS[:12]]
    at = await screen("/inbox")
    await at.ready()
    for action_id in ids[:4]:
        await at.goto(f"/inbox/pane/{action_id}")
    action = await server.action(ids[0])
    await at.goto(f"/runs/{action.run_id}/actions/{ids[0]}/html")
    assert await at.page.locator("script, form, a[href]").count() == 0
    for action_id in ids:
        decider = Decider(LOCAL_WORKSPACE, "Ada", Assurance.PERSON, "test", "ada")
        await server.app.store.write(
            lambda action_id=action_id, decider=decider: decisions.reject(  # type: ignore[misc]
                decider, ActionId(action_id), "No.", SeenVersion(), server.clock.now_ms()
            )
        )


@every_look
async def test_after_a_decision_the_message_is_in_sight_and_the_focus_is_on_its_card(
    screen: OpenScreen, server: Server, width: int, dark: bool
) -> None:
    server.provider.then = works
    run = await server.stage(post(body=LONG), mail(), post("x", body="A short one."))
    decided = run.actions[2].id
    at = await screen(f"/runs/{run.run_id}?action={decided}&open=ask", width=width, dark=dark)
    card = at.page.locator(f"#action-{decided}")
    await card.locator("form[data-decision=ask] textarea").fill("Shorter, please.")
    await card.get_by_role("button", name="Ask for changes").click()

    await expect(card.get_by_role("status")).to_be_in_viewport()
    await expect(card).to_be_focused()
    await at.check()

    await at.goto(f"/runs/{run.run_id}?action={decided}&open=approve")
    await card.get_by_role("button", name="Approve only").click()
    toast, following = at.page.locator(".toast"), at.page.locator(f"#action-{run.actions[0].id}")
    await expect(toast.get_by_role("button", name="Undo")).to_be_in_viewport()
    await expect(following.locator("h2").first).to_be_in_viewport(ratio=1)
    # What was said hides neither the title of the next card nor a button that decides.
    said = await box(toast)
    for each in (following.locator("h2").first, *await at.page.locator(".decide summary:visible").all()):
        assert not overlap(said, await box(each)), await each.inner_text()
    await at.goto("/inbox")
    await at.ready()
    await expect(at.page.get_by_role("heading", name="With your agent")).to_be_visible()
    await expect(at.page.locator(f"#row-{decided}")).to_contain_text("Approved, not sent yet")


async def test_an_open_sheet_stands_above_one_row_of_the_other_decisions(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(post(body=LONG))
    at = await screen(f"/runs/{run.run_id}")
    bar = at.page.locator(".decide")
    for decision in ("approve", "reject", "ask"):
        await at.goto(f"/runs/{run.run_id}")
        await bar.locator(f"details.{decision} > summary").click()
        sheet = await box(bar.locator(".decision[open]"))
        rest = [await box(each) for each in await bar.locator(".decision:not([open]) > summary").all()]
        assert len(rest) == 3
        assert {top for _, top, _, _ in rest} == {rest[0][1]} and rest[0][1] >= sheet[3]


async def test_on_a_phone_the_places_hide_no_button_that_decides_about_a_plan(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(post(body=LONG), post("x", body="A short one."))
    at = await screen(f"/runs/{run.run_id}/plan", width=390)
    places = await box(at.page.locator(".dock"))
    for name in ("Approve the plan", "Approve and send"):
        button = at.page.get_by_role("button", name=name, exact=True)
        await expect(button).to_be_in_viewport(ratio=1)
        assert not overlap(places, await box(button)), name


async def test_on_a_phone_one_bar_decides_after_a_decision(screen: OpenScreen, server: Server) -> None:
    server.provider.then = works
    run = await server.stage(post(body=LONG), mail(), post("x", body="A short one."))
    at = await screen(f"/runs/{run.run_id}?action={run.actions[0].id}&open=approve", width=390)
    await at.page.get_by_role("button", name="Approve only").first.click()
    await expect(at.page.locator(".toast")).to_be_in_viewport()
    seen = [
        each
        for each in await at.page.locator(".decide-main:visible").all()
        if overlap((0, 0, 390, 844), await box(each))
    ]
    assert len(seen) == 1


async def test_an_empty_inbox_fits_into_the_window(screen: OpenScreen, server: Server) -> None:
    at = await screen("/inbox?q=nothing+like+it")
    heights = await at.page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
    assert heights[0] <= heights[1]
    for width in (1280, 390):
        await at.page.set_viewport_size({"width": width, "height": 844})
        await expect(at.page.get_by_role("link", name="Clear", exact=True)).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("width", "most"), [(390, 450), (1280, 280), (1920, 280)])
async def test_a_mail_to_many_begins_in_the_upper_half_of_the_window(
    screen: OpenScreen, server: Server, width: int, most: int
) -> None:
    run = await server.stage(mail(214, html=HTML, subject="To many"))
    at = await screen(f"/runs/{run.run_id}", width=width)
    await at.check()
    letter = await box(at.page.locator(".mail-frame"))
    assert letter[1] < most
    note = await box(at.page.locator(".about"))
    assert note[0] > letter[2] if width > 600 else note[1] > letter[3]


async def test_the_pane_of_a_wide_window_has_the_text_and_what_it_means_side_by_side(
    screen: OpenScreen, server: Server
) -> None:
    await server.stage(mail(214, subject="To many, in the pane"))
    at = await screen("/inbox?q=in+the+pane", width=1920)
    await at.ready()
    pane, text = at.page.locator("#pane"), at.page.locator("#pane [data-panel=seen]")
    await expect(text).to_be_visible()
    left, right, whole = await box(text), await box(pane.locator(".about")), await box(pane)
    assert left[2] < right[0] and left[1] < 360 and right[1] < 280
    assert whole[2] - right[2] < 50
    await at.check()


@pytest.mark.parametrize(("path", "row", "most"), [("/inbox", ".group-head", 130), ("/runs", "#run-1", 450)])
async def test_on_a_phone_a_list_begins_in_its_first_half(
    screen: OpenScreen, server: Server, path: str, row: str, most: int
) -> None:
    await server.stage(post(body="Low on the page."))
    at = await screen(path, width=390)
    await at.ready()
    assert (await box(at.page.locator(row).first))[1] < most
    await at.check()
