"""A browser subscribes on the settings page, and its worker shows a note that opens a page of this server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from packages.core.tests.unit.engine.test_webpush import Subscriber
from playwright.async_api import BrowserContext, Worker, expect
from tests.support.chromium import closed
from tests.support.review.kit import Server
from tests.support.shell.fixtures import OpenScreen
from tests.support.shell.screen import sign_in

from assent.engine.people import targets
from assent.engine.people.people import OWNER
from assent.net.webpush import read_subscription

pytestmark = pytest.mark.slow

SUBSCRIBES = """
const address = %s;
PushManager.prototype.getSubscription = async () => null;
PushManager.prototype.subscribe = async (options) => {
  const raw = String.fromCharCode(...new Uint8Array(options.applicationServerKey));
  address.endpoint += "&k=" + btoa(raw).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=/g, "");
  if (!options.userVisibleOnly) throw new Error("not visible");
  return { toJSON: () => address };
};
"""
"""No push service is within reach of a test: this stands in for the subscription that one would make."""


@pytest.fixture
async def context(browser: Any, server: Server) -> Any:
    made: BrowserContext = await browser.new_context(viewport={"width": 390, "height": 844})
    await made.grant_permissions(["notifications"], origin=server.base_url)
    await sign_in(made, server)
    yield made
    await closed(made)


async def test_a_browser_subscribes_with_the_key_of_the_server(
    screen: OpenScreen, server: Server, context: BrowserContext
) -> None:
    address = json.loads(Subscriber().address)
    del address["vapid"]
    await context.add_init_script(SUBSCRIBES % json.dumps(address))
    at = await screen("/settings/notifications", context=context)

    await at.page.get_by_role("button", name="Notify me on this device").click()
    await expect(at.page.get_by_text("Chrome on Linux (push.example)").first).to_be_visible()
    await expect(at.page.locator("form[data-confirms]")).to_have_count(0)  # the confirm page says it, too
    await at.check()

    [target] = await server.app.store.read(lambda: targets.list_targets(targets.of_person(OWNER)))
    stored = await server.app.store.read(lambda: targets.open_address(server.services, target))
    found = read_subscription(stored)
    assert found is not None
    assert found.endpoint.partition("&k=")[2] == await targets.find_push_key(server.services)
    assert found.vapid


async def test_a_refusal_of_the_browser_is_said_on_the_page(
    screen: OpenScreen, server: Server, context: BrowserContext
) -> None:
    await context.add_init_script(
        "PushManager.prototype.subscribe = async () => { throw new Error('no service'); };"
    )
    at = await screen("/settings/notifications", context=context)

    await at.page.get_by_role("button", name="Notify me on this device").click()

    await expect(at.page.get_by_text("It did not work: no service")).to_be_visible()


async def test_the_worker_shows_a_pushed_note_and_opens_pages_of_this_server_only(
    screen: OpenScreen, server: Server, context: BrowserContext
) -> None:
    at = await screen("/settings/notifications", context=context)
    session = await context.new_cdp_session(at.page)
    registered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def hear(event: dict[str, Any]) -> None:
        for each in event["registrations"]:
            if not registered.done() and not each["isDeleted"]:
                registered.set_result(each["registrationId"])

    session.on("ServiceWorker.workerRegistrationUpdated", hear)
    await session.send("ServiceWorker.enable")
    scope = await at.page.evaluate(
        """async () => {
          const made = await navigator.serviceWorker.register(document.getElementById("push").dataset.worker);
          while (!made.active) await new Promise((then) => setTimeout(then, 10));
          return made.scope;
        }"""
    )
    assert scope == f"{server.base_url}/static/"  # it controls no page
    registration = await asyncio.wait_for(registered, 10)

    [worker] = context.service_workers
    # The headless shell shows no notifications, so the worker keeps what it would show and open.
    await worker.evaluate(
        """() => {
          self.shown = [];
          ServiceWorkerRegistration.prototype.showNotification = async (title, options) =>
            self.shown.push([title, options]);
          Clients.prototype.openWindow = async (address) => self.shown.push(address);
        }"""
    )

    note = {"title": "Assent", "text": "One draft waits.", "path": "/runs/1", "tag": "run 1", "quiet": True}
    await session.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": server.base_url, "registrationId": registration, "data": json.dumps(note)},
    )

    shown = {"body": "One draft waits.", "tag": "run 1", "renotify": False, "silent": True}
    assert await until(worker, 1) == [["Assent", {**shown, "data": {"path": "/runs/1"}}]]
    for path in ("/runs/1", "//elsewhere.example/x", "https://elsewhere.example/"):
        await worker.evaluate(
            """(path) => {
              const event = new Event("notificationclick");
              event.notification = { close: () => {}, data: { path } };
              event.waitUntil = () => {};
              self.dispatchEvent(event);
            }""",
            path,
        )
    assert (await until(worker, 3))[1:] == [f"{server.base_url}/runs/1", f"{server.base_url}/inbox"]


async def until(worker: Worker, count: int) -> Any:
    """What the worker showed, once there is so much."""
    return await worker.evaluate(
        """async (count) => {
          for (let tries = 0; tries < 500 && self.shown.length < count; tries += 1)
            await new Promise((then) => setTimeout(then, 10));
          return self.shown;
        }""",
        count,
    )
