"""What people come to do, in a real browser, every click counted, those of confirm pages too.

In `../processes`, `test_phone.py` has the phone and `test_first_sign_in.py` the first sign-in after `make run`; here,
`test_looking_back_in_chromium.py` has the comparison of two branches. The tests of wrap choose what a tool does.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from packages.core.tests.wire.review.test_functions import BANK, pay_back, readme_refund
from packages.core.tests.wire.review.test_people_and_approvers import invite, two_people
from playwright.async_api import Browser, expect
from tests.support.chromium import closed
from tests.support.review.browser import served
from tests.support.review.kit import Provider, Server, mail, post
from tests.support.shell import stories
from tests.support.shell.fixtures import OpenScreen
from tests.support.shell.screen import Screen, sign_in

from assent.extensions.effect_types import make_effect_type
from assent.gate.effects import EffectTypes
from assent.gate.views import Severity
from assent.ports import NotSent
from assent_launch.effect_types import effect_types

pytestmark = pytest.mark.slow


async def test_twenty_low_risk_items_of_twenty_runs_and_two_kinds_are_cleared_in_two_clicks(
    screen: OpenScreen, server: Server
) -> None:
    low: Any = {"severity": Severity.LOW}
    runs = [
        await server.stage(
            post("site", connector="site", title=f"Note {n}", body=f"Note {n}: a line.", **low)
            if n % 2
            else post("hn", connector="manual", title=f"Show HN: {n}", body=f"Show {n}: a line.", **low)
        )
        for n in range(20)
    ]
    at = await screen("/inbox")
    await at.ready()
    await at.click(at.page.get_by_role("button", name="Approve all 20"))
    await expect(at.page.get_by_role("heading", level=2)).to_have_count(20)
    await at.click(at.page.get_by_role("button", name="Approve 20, send 10"))
    await expect(at.page.get_by_text("20 approved, 10 on their way out.")).to_be_visible()

    assert at.clicks == 2
    assert {(await server.action(run.actions[0].id)).status for run in runs} == {"approved"}


async def test_low_risk_items_of_one_run_are_selected_at_once_and_keep_their_filter(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(
        *(
            post(
                "site", connector="site", title=f"Kept {n}", body=f"Kept {n}: a line.", severity=Severity.LOW
            )
            for n in range(20)
        )
    )
    at = await screen("/inbox?q=kept")
    await at.ready()
    group = at.page.locator(".group", has=at.page.locator(f"#row-{run.actions[0].id}"))
    await at.click(group.get_by_role("button", name="Select 20"))
    await expect(at.page.locator("#batch-said")).to_have_text("20 selected")
    await at.click(at.page.get_by_role("button", name="Approve together"))
    await at.click(at.page.get_by_role("button", name="Approve and send 20"))
    await expect(at.page.get_by_text("20 approved and on their way out.")).to_be_visible()

    assert at.clicks <= 5
    assert "q=kept" in at.page.url


@pytest.mark.parametrize("width", [390, 1280])
async def test_why_something_did_not_go_out_is_found_in_two_clicks(
    screen: OpenScreen, server: Server, width: int
) -> None:
    def refuse(action: object) -> Any:
        raise NotSent("The espresso account is suspended.")

    works, server.provider.then = server.provider.then, refuse
    run = await server.stage(post(body="Espresso on Saturday, for all who ask."))
    await server.decide(await server.owner(), run.run_id, run.actions[0].id, "approve", then="send")
    for _ in range(5):
        await server.run_jobs()
    server.provider.then = works

    at = await screen("/inbox", width=width)
    await at.ready()
    await at.click(at.page.locator(f"#row-{run.actions[0].id} .inbox-line"))
    # In the pane, or on its page: the first row is in the pane already, so a click on it opens the page.
    answer = at.page.locator("#pane, main article").filter(has_text="The espresso account is suspended.")
    await expect(answer).to_be_visible()
    assert at.clicks <= 2

    # Its words find it, too.
    await at.goto("/inbox?q=espresso+on+saturday")
    await expect(at.page.locator(f"#row-{run.actions[0].id}")).to_contain_text("Failed")


async def test_a_low_risk_post_is_approved_and_sent_in_one_click_and_the_next_item_opens(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(*(post(body=f"Pane {n}: a line.", severity=Severity.LOW) for n in (1, 2)))
    at = await screen("/inbox?q=Pane")
    await at.ready()
    pane = at.page.locator("#pane")
    ids = {f"Pane {n}": action.id for n, action in enumerate(run.actions, 1)}
    shown = await pane.locator("h2").inner_text()
    first = next(name for name in ids if name in shown)
    other = next(name for name in ids if name != first)
    await at.click(pane.get_by_role("button", name="Approve and post"))
    await expect(pane.locator("h2")).not_to_contain_text(first)
    assert at.clicks == 1
    await expect(pane.locator("h2")).to_be_focused()
    await expect(pane.get_by_role("status")).to_contain_text(first)
    assert (await server.action(ids[first])).status == "approved"
    # A key that is held down, or comes as soon as the new item, decides nothing about it; a later one does.
    await expect(pane.locator("h2")).to_contain_text(other)
    button = pane.locator("form[data-decision=approve] button")
    await button.focus()
    # The clock of the page stands still, so that a busy machine makes no later key of an early one.
    await at.page.evaluate(
        """() => {
          const now = performance.now();
          performance.now = () => now;
          document.dispatchEvent(new CustomEvent("assent:pane", { detail: "" }));
        }"""
    )
    await at.page.keyboard.press("Enter")
    await at.page.keyboard.press("Control+Enter")
    await at.page.evaluate(
        "now => { performance.now = () => now + 750 }", await at.page.evaluate("performance.now()")
    )
    held = "new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true, repeat: true, bubbles: true})"
    await button.evaluate(f"button => button.dispatchEvent({held})")
    assert (await server.action(ids[other])).status == "awaiting_approval"
    await at.page.keyboard.press("Control+Enter")
    # The note on the first decision says "Approved" as well, until the answer to the second replaces it.
    await expect(pane.get_by_role("status")).not_to_contain_text(first)
    await expect(pane.get_by_role("status")).to_contain_text("Approved")
    assert (await server.action(ids[other])).status == "approved"
    await at.check()


@pytest.mark.parametrize("width", [390, 1280])
async def test_a_high_risk_item_is_approved_in_two_clicks_after_it_was_opened(
    screen: OpenScreen, server: Server, width: int
) -> None:
    run = await server.stage(mail(60, subject="A letter to many"))
    action = run.actions[0].id
    at = await screen("/inbox?q=letter+to+many" if width > 600 else f"/runs/{run.run_id}", width=width)
    if width > 600:
        await at.ready()
        await at.click(at.page.locator("#pane").get_by_role("button", name="Approve and send to 60"))
        assert (await server.action(action)).status == "awaiting_approval"
        dialog = at.page.get_by_role("dialog")
        await expect(dialog).to_contain_text("60 people")
        await at.check()
        await at.click(dialog.get_by_role("button", name="Approve and send"))
        await expect(at.page.locator("#pane").get_by_role("status")).to_contain_text("Approved")
    else:
        await at.click(at.page.locator("details.approve > summary"))
        await at.click(at.page.locator("details.approve button.primary"))
        await expect(at.page.get_by_role("status").first).to_contain_text("Approved")
    assert at.clicks == 2
    assert (await server.action(action)).status == "approved"


async def test_a_post_is_approved_from_a_review_link_on_a_phone_in_two_taps_and_a_name(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(post(body="The tasting room opens at ten."))
    at = await screen(run.review_url, width=390, signed_in=False)
    await expect(at.page.locator(".as-post .text")).to_be_in_viewport()
    await at.click(at.page.locator("details.approve > summary"))
    await at.page.locator("details.approve").get_by_label("Your name").fill("Tomasz")
    await at.click(at.page.get_by_role("button", name="Approve and send now"))
    await expect(at.page.locator("main")).to_contain_text("calling themselves “Tomasz”")
    assert at.clicks == 2
    assert (await server.action(run.actions[0].id)).status == "approved"


@pytest.mark.parametrize("width", [390, 1280])
async def test_the_refund_of_the_readme_is_understood_without_a_click_and_approved_in_two(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    kind, bank = make_effect_type(readme_refund()), Provider("bank")
    types = EffectTypes((*effect_types(), kind), (BANK,))
    async with served(tmp_path, effects=types, connectors=dict.fromkeys(kind.via, bank)) as own:
        await own.app.prepare()
        await stories.sent(own, await own.stage(pay_back("Kari Nordmann", "90 NOK")))
        run = await own.stage(pay_back("Kari Nordmann", "1248 NOK"))
        context = await browser.new_context(viewport={"width": width, "height": 900})
        await sign_in(context, own)
        at = await Screen.open(context, own, f"/runs/{run.run_id}")
        for fact in (
            "Refund 1,248 NOK to Kari Nordmann",
            "It cannot be undone.",
            "Refund 90 NOK",
            "90 NOK in 1",
        ):
            await expect(at.page.get_by_text(fact).first).to_be_visible()
        await at.check()
        await at.click(at.page.locator("details.approve > summary"))
        await at.click(at.page.get_by_role("button", name="Approve and run now"))
        await expect(at.page.get_by_role("status").first).to_contain_text("Approved")
        assert at.clicks == 2
        assert (await own.action(run.actions[0].id)).status == "approved"
        assert at.unexpected() == []
        await closed(context)


async def test_the_second_of_two_people_approves_on_their_phone_in_two_taps(
    browser: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path) as own:
        await two_people(own)
        run = await own.stage(mail(60))
        action = run.actions[0].id
        await own.decide(await own.owner(), run.run_id, action, "approve")
        context = await browser.new_context(viewport={"width": 390, "height": 844})
        await sign_in(context, own, await invite(own, "Tomasz"), "Tomasz")
        at = await Screen.open(context, own, f"/runs/{run.run_id}")
        await expect(at.page.get_by_text("1 of 2").first).to_be_visible()
        await at.click(at.page.locator("details.approve > summary"))
        await at.click(at.page.locator("details.approve button.primary"))
        await expect(at.page.get_by_role("status").first).to_contain_text("Approved")
        assert at.clicks == 2
        approved = await own.action(action)
        assert approved.approval is not None and approved.status == "approved"
        await closed(context)


async def test_an_approval_is_taken_back_in_one_click(screen: OpenScreen, server: Server) -> None:
    run = await server.stage(post(body="Undone: a line.", severity=Severity.LOW))
    at = await screen("/inbox?q=undone")
    await at.ready()
    pane = at.page.locator("#pane")
    await pane.get_by_role("button", name="Approve and post").click()
    await at.click(pane.get_by_role("button", name="Undo"))
    await expect(pane.locator("h2")).to_contain_text("Undone")
    await expect(pane.get_by_role("button", name="Approve and post")).to_be_visible()
    assert at.clicks == 1
    assert (await server.action(run.actions[0].id)).status == "awaiting_approval"


async def test_the_last_approval_of_an_inbox_can_still_be_taken_back_when_its_list_is_empty(
    browser: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path, undo_seconds=10) as own:
        run = await own.stage(post(body="The only one: a line.", severity=Severity.LOW))
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        await sign_in(context, own)
        at = await Screen.open(context, own, "/inbox")
        await at.ready()
        pane = at.page.locator("#pane")
        await pane.get_by_role("button", name="Approve and post").click()
        await expect(at.page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        await at.check()
        await pane.get_by_role("button", name="Undo").click()
        await expect(at.page.locator(f"#row-{run.actions[0].id}")).to_be_visible()
        assert (await own.action(run.actions[0].id)).status == "awaiting_approval"
        assert at.unexpected() == []
        await closed(context)


async def test_what_a_decision_says_hides_no_title_of_the_page_that_it_leads_to(
    browser: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path, undo_seconds=10) as own:
        first, other = [await own.stage(post(body=f"The {name} one: a line.")) for name in ("first", "other")]
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        await sign_in(context, own)
        at = await Screen.open(context, own, f"/runs/{first.run_id}")
        await at.page.locator("details.approve > summary").click()
        await at.page.get_by_role("button", name="Approve and send now").click()
        await expect(at.page).to_have_url(re.compile(other.run_id))
        title = await at.page.locator("h1").bounding_box()
        said = await at.page.locator(".toast").bounding_box()
        assert title is not None and said is not None
        assert said["y"] + said["height"] <= title["y"]
        await closed(context)


async def test_who_approved_what_this_week_is_read_after_four_clicks_from_anywhere(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(post(body="Approved by a person this week."))
    await server.decide(await server.owner(name="Ada Lovelace"), run.run_id, run.actions[0].id, "approve")
    at = await screen("/settings")
    await at.click(at.page.get_by_role("link", name="Activity", exact=True).first)
    for name in ("Audit log", "7 days", "Decisions"):
        await at.click(at.page.get_by_role("link", name=name, exact=True))
    row = at.page.locator("main li", has_text="Approved by a person this week.").first
    await expect(row).to_contain_text("Approved by Ada Lovelace")
    assert at.clicks == 4


@pytest.mark.parametrize("width", [390, 1280])
async def test_everything_is_stopped_in_two_clicks_and_allowed_again_in_one(
    screen: OpenScreen, server: Server, width: int
) -> None:
    at = await screen("/inbox", width=width)
    await at.ready()
    menu = at.page.locator(".dock details" if width < 600 else ".user-menu")
    await at.click(menu.locator("summary"))
    await at.check()
    await menu.get_by_label("Why do you stop it?").fill("a loop")
    await at.click(menu.get_by_role("button", name="Stop all sending"))
    note = at.page.locator("#frozen")
    await expect(note).to_contain_text("Nothing is sent on this server now.")
    await expect(note).to_contain_text("a loop.")
    assert at.clicks == 2
    await at.check()
    await at.page.mouse.wheel(0, 4_000)
    await expect(note).to_be_in_viewport()
    await at.click(note.get_by_role("button", name="Allow sending again"))
    await expect(note).to_have_count(0)
    assert at.clicks == 3


async def test_two_people_for_mail_to_more_than_50_are_asked_for_in_six_clicks_without_any_toml(
    screen: OpenScreen, server: Server
) -> None:
    at = await screen("/inbox")
    await at.ready()
    await at.click(at.page.get_by_role("link", name="Settings", exact=True).first)
    await at.click(at.page.get_by_role("link", name="Policy", exact=True))
    await at.page.get_by_label("What it is about").select_option(label="E-mail")
    at.count()
    await at.page.get_by_label("How many people").fill("50")
    at.count()
    await at.click(at.page.get_by_role("button", name="Add the rule…"))
    rule = at.page.get_by_text("When E-mail goes to more than 50 people, ask 2 signed-in people.")
    await expect(at.page.get_by_text("Saved.")).to_be_visible()
    await expect(rule.first).to_be_visible()
    assert at.clicks <= 6


async def test_a_card_always_asks_two_in_three_clicks_by_the_rule_that_the_sentence_writes(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(post("bluesky", body="Open on Sunday."))
    at = await screen(f"/runs/{run.run_id}")
    await at.click(at.page.get_by_role("link", name="Always ask two…"))
    await at.click(at.page.get_by_role("button", name="Add the rule…"))
    await expect(at.page.get_by_text("Saved.")).to_be_visible()
    rule = at.page.get_by_text("When Bluesky goes out, ask 2 signed-in people.")
    await expect(rule.first).to_be_visible()
    assert at.clicks == 3
    await at.goto(f"/runs/{run.run_id}")
    await expect(at.page.get_by_text("0 of 2", exact=False).first).to_be_visible()
    await expect(at.page.get_by_role("link", name="Always ask two…")).to_have_count(0)


async def test_a_memory_is_deleted_in_two_clicks(screen: OpenScreen, server: Server) -> None:
    await stories.remember(server, "Say the price in the first line.")
    at = await screen("/memory?group=lessons")
    row = at.page.locator(".memory > li", has_text="Say the price")
    await at.click(row.get_by_role("button", name="Delete"))
    await expect(at.page.get_by_text("Deleted.")).to_be_visible()
    await expect(row).to_have_count(0)
    assert at.clicks <= 2


async def test_what_is_typed_after_ctrl_k_opens_a_run_a_page_and_the_form_that_stops_everything(
    screen: OpenScreen, server: Server
) -> None:
    run = await server.stage(post(body="Zanzibar opens on Monday."))
    at = await screen("/runs")
    await at.ready()
    field = at.page.locator("dialog[open] #search-q")

    async def search(words: str, answer: str) -> None:
        await at.page.keyboard.press("Control+k")
        await field.fill(words)
        await expect(at.page.locator("#found")).to_have_attribute("data-asked", words)
        await expect(at.page.locator("#search-found")).to_contain_text(answer)

    await search("zanzibar mon", "Zanzibar opens")
    await at.check()
    await at.page.keyboard.press("Enter")
    await expect(at.page).to_have_url(re.compile(f"/runs/{run.run_id}"))
    await at.goto("/inbox")
    await at.ready()
    await search("invite", "Invite a person")
    await at.page.keyboard.press("ArrowDown")
    await at.page.keyboard.press("Enter")
    await expect(at.page).to_have_url(re.compile("/settings/people"))
    await at.ready()
    await search("stop", "Stop all sending")
    await at.page.locator("#search-found").get_by_role("button", name="Stop all sending").click()
    await expect(at.page.locator("#frozen")).to_contain_text("Nothing is sent on this server now.")
    await at.page.locator("#frozen").get_by_role("button", name="Allow sending again").click()
    await expect(at.page.locator("#frozen")).to_have_count(0)
