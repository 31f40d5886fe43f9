"""Setting up in a real browser, each task with the clicks it takes; and every screen of it in every size and colour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.chromium import closed
from tests.serving.web.review.browser import served
from tests.serving.web.review.kit import House, mail
from tests.serving.web.shell.screen import Screen, sign_in
from tests.suite.connectors.mail_server import PASSWORD, USER, Inbox, mail_server

from assent.engine.actions import policies
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.gate.records import Status

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture(scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A server as it is started, with the connectors that come along."""
    allowed: Any = ("127.0.0.1",)
    folder: Path = tmp_path_factory.mktemp("office")
    async with served(folder, host="localhost", built_in=True, allow_hosts=allowed) as made:
        await made.app.prepare()
        yield made


OpenPage = Callable[..., Awaitable[Screen]]


@pytest.fixture
async def at_desk(browser: Browser, office: House) -> AsyncIterator[OpenPage]:
    """A watched page of a signed-in owner. Nothing unexpected may happen on it."""
    async with AsyncExitStack() as opened:
        made: list[Screen] = []

        async def open_page(path: str, *, signed_in: bool = True) -> Screen:
            context = await browser.new_context(
                viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
            )
            opened.push_async_callback(closed, context)
            if signed_in:
                await sign_in(context, office)
            found = await Screen.open(context, office, path, ("404 (Not Found)",))
            made.append(found)
            return found

        yield open_page
        assert [alarm for each in made for alarm in each.unexpected()] == []


async def test_two_approvers_for_mail_are_set_in_the_page(at_desk: OpenPage, office: House) -> None:
    at = await at_desk("/settings/policy")
    await at.page.get_by_label("E-mail: How many").select_option("2")
    at.clicks += 2  # a browser opens the list and takes one
    await at.click(at.page.get_by_role("button", name="Save the policy"))
    await expect(at.page.get_by_role("status").first).to_contain_text("Saved.")
    await expect(at.page.locator("main")).to_contain_text("needs 2 different signed-in people")
    assert at.clicks == 4  # with the page that asks once more
    run = await office.stage(mail(1))
    owner = await office.owner()
    await office.decide(owner, run.run_id, run.actions[0].id, "approve")
    assert (await office.action(run.actions[0].id)).status is Status.AWAITING_APPROVAL
    await office.app.store.write(
        lambda: policies.choose(LOCAL_WORKSPACE, "relay", office.clock.now_ms(), by="test")
    )


async def test_a_mail_server_is_connected_in_the_page(at_desk: OpenPage, office: House) -> None:
    at = await at_desk("/connectors")
    async with mail_server(Inbox(), auth=True) as port:
        await at.click(at.page.get_by_role("link", name="Connect Your mail server"))
        for label, text in (
            ("Mail comes from", "Harbor <post@harbor.example>"),
            ("Server", "127.0.0.1"),
            ("Port", str(port)),
            ("User", USER),
            ("Password", PASSWORD),
        ):
            await at.page.get_by_label(label).fill(text)
        await at.page.get_by_label("Encryption").select_option("none")
        at.clicks += 2
        await at.click(at.page.get_by_role("button", name="Test and connect"))
        await expect(at.page.get_by_role("status")).to_contain_text("Connected.")
    assert at.clicks == 5  # with the page that asks once more
    found = await office.app.connections.find(LOCAL_WORKSPACE, "smtp")
    assert found is not None and found.live
    await at.page.get_by_role("link", name="Connections").first.click()
    await expect(at.page.locator("#connector-smtp")).to_contain_text("Connected")
    await expect(at.page.locator("#connector-smtp")).to_contain_text("Manage")


async def test_the_first_call_of_a_client_ticks_its_step_on_the_open_page(
    at_desk: OpenPage, office: House
) -> None:
    at = await at_desk("/start")
    await expect(at.page.locator("#client-step")).to_contain_text("Waiting for your client")
    office.app.callers.note(LOCAL_PRINCIPAL, office.clock.now_ms())
    await office.app.callers.flush()
    await expect(at.page.locator("#client-step")).to_contain_text("Connected", timeout=10_000)
