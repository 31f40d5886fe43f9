"""Where events go, on its page: a person adds, tests, changes and removes an address, and sees how it fares."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import httpx
import pytest
from packages.core.tests.wire.review.test_people_and_approvers import invited
from tests.support.review.kit import Server, forms, post

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.webhooks import subscriptions
from assent.engine.webhooks.subscriptions import Subscription
from assent.gate.webhooks import EVENTS, WebhookReply
from assent.serving.web.shell.console import OWNERS_ONLY

PAGE = "/settings/outgoing"
URL = "https://hooks.example.org/in?key=s3cret"
SHOWN = "https://hooks.example.org/in?…"


class Receiver:
    """What would have been posted, and what is answered."""

    def __init__(self) -> None:
        self.status = 200
        self.posted: list[str] = []

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookReply:
        self.posted.append(url)
        return WebhookReply(self.status)


@pytest.fixture
def receiver(server: Server) -> Receiver:
    made = Receiver()
    services = server.app.owner_services
    outgoing = dataclasses.replace(services.outgoing, post_webhook=made.post)
    server.app.owner_services = dataclasses.replace(services, outgoing=outgoing)
    return made


def tick(*events: str) -> dict[str, str]:
    return {f"event-{each}": "on" for each in events}


async def send(browser: httpx.AsyncClient, address: str, **fields: str) -> httpx.Response:
    """Send a form of the page, with these fields and ticked boxes."""
    page = await browser.get(PAGE)
    form = next(each for each in forms(page.text) if each.address == address and "nonce" in each.fields)
    return await browser.post(address, data={"nonce": form.fields["nonce"], **fields})


async def known(server: Server) -> tuple[Subscription, ...]:
    return await server.app.store.read(lambda: subscriptions.list_all(LOCAL_WORKSPACE))


@pytest.mark.own_database
async def test_a_person_adds_tests_changes_and_removes_an_address_and_sees_how_it_fares(
    server: Server, receiver: Receiver
) -> None:
    browser = await server.owner()
    assert (await send(browser, PAGE, url=URL, **tick("waiting", "failed"))).status_code == 303
    [made] = await known(server)
    assert (made.url, made.created_by, made.enabled) == (URL, "owner", True)
    assert made.events == ("waiting", "failed")
    here = f"{PAGE}/{made.subscription_id}"

    assert (await send(browser, f"{here}/test")).status_code == 303
    run = await server.stage(post())
    await server.run_jobs()
    assert receiver.posted == [URL, URL]
    page = (await browser.get(f"{PAGE}?subscription={made.subscription_id}&state=delivered")).text
    assert "webhook.test" in page and f"/actions/{run.actions[0].id}" in page
    assert "Works" in page and SHOWN in page and "s3cret" not in page
    assert "No delivery matches" in (await browser.get(f"{PAGE}?state=failed")).text

    receiver.status = 500
    server.clock.advance(seconds=1)
    await send(browser, f"{here}/test")
    await server.run_jobs()
    assert "Last try failed" in (await browser.get(PAGE)).text
    server.clock.advance(hours=25)
    assert ">Failing<" in (await browser.get(PAGE)).text

    answer = await send(browser, f"{here}/change", enabled="on", **tick("executed"))
    assert answer.status_code == 303
    [changed] = await known(server)
    assert (changed.enabled, changed.events) == (True, ("executed",))
    await send(browser, f"{here}/change", **tick("executed"))
    [changed] = await known(server)
    assert (changed.enabled, changed.failing_since_ms) == (False, None)
    assert f"{here}/test" not in (await browser.get(PAGE)).text
    assert (await send(browser, f"{here}/remove")).status_code == 303
    assert await known(server) == ()
    assert (await browser.post(f"{here}/remove", data={})).status_code == 403


@pytest.mark.own_database
async def test_a_wrong_address_is_explained_and_kept_in_the_form_and_members_cannot_add_one(
    server: Server,
) -> None:
    browser = await server.owner()
    for url, said in (("https://10.0.0.1/x", "not public"), ("http://example.org/", "only https")):
        answer = await send(browser, PAGE, url=url, **tick(*EVENTS))
        assert answer.status_code == 400
        assert said in answer.text and f'value="{url}"' in answer.text
    assert "Choose at least one" in (await send(browser, PAGE, url=URL)).text
    assert await known(server) == ()

    await send(browser, PAGE, url=URL, **tick(*EVENTS))
    [made] = await known(server)
    member = await invited(server, "Grace")
    page = await member.get(PAGE)
    assert SHOWN in page.text
    assert not [each for each in forms(page.text) if each.address.startswith(PAGE) and "url" in each.fields]
    refused = await member.post(f"{PAGE}/{made.subscription_id}/remove", data={})
    assert (refused.status_code, OWNERS_ONLY.title in refused.text) == (403, True)
    assert len(await known(server)) == 1
