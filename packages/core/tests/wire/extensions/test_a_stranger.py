"""The address of the server and nothing else: a stranger without a key, and what she can get from it.

The server has everything that an owner's settings can bring. She comes from this machine, through a proxy on it, and
from the network, with a mailbox of her own and without one, to each preset.
"""

from __future__ import annotations

import json
import re
from email import message_from_bytes
from email.policy import default
from itertools import product
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from tests.support.actions.kit import APPROVE, EXECUTE
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.effort import PROVE
from tests.support.extensions.owner_kit import DOCUMENTS, MARKS, bring_everything, wrote
from tests.support.keyed_browser import KeyedBrowser
from tests.support.keys import make_key, make_workspace
from tests.support.net.stub_server import StubServer
from tests.support.review.kit import forms
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.engine.core import tenancy
from assent.engine.people import members, notifications, targets
from assent.engine.people.people import Person, Role
from assent.engine.people.targets import TargetOwner
from assent.jobs.kinds import job_kinds
from assent.jobs.worker import Runner
from assent.processes.serve import Surfaces

pytestmark = pytest.mark.own_database

EVE: Final = "eve@elsewhere.example"
KEY: Final = re.compile(r"clp_(?:live|dev)_[A-Za-z0-9_-]{64}")
LINK: Final = re.compile(r"https?://[^/\s]+(/(?:claim|sign-in)/[A-Za-z0-9_-]{20,})")
HERE: Final = "http://127.0.0.1:8080"
PLACES: Final[dict[str, tuple[dict[str, Any], str, dict[str, str], str]]] = {
    "loopback": ({}, HERE, {}, "127.0.0.1"),
    "proxy": ({}, HERE, {"X-Forwarded-For": "203.0.113.9"}, "127.0.0.1"),
    "trusted proxy": (
        {"trust_proxy_headers": True, "base_url": "https://assent.corp.internal"},
        "https://assent.corp.internal",
        {"X-Forwarded-For": "203.0.113.9"},
        "127.0.0.1",
    ),
    "all addresses": (
        {"host": "0.0.0.0", "base_url": "http://192.168.1.5:8080"},  # noqa: S104 - read, not bound
        "http://192.168.1.5:8080",
        {},
        "192.168.1.77",
    ),
}
"""Settings of the server, its address, the headers that reach it, the address of the peer."""

OWNERS: Final[dict[str, dict[str, Any]]] = {
    "acme_billing_stamp": {"text": "low"},
    "acme_billing_note": {"text": "medium"},
    "acme_billing_refund": {"customer": "eve", "amount": "400 EUR", "reason": "high"},
    "restart_request": {"what": "prod"},
}
"""Effects of the owner, of each risk."""


class Stranger:
    """Everything that someone with the address can try."""

    def __init__(self, app: App, place: str) -> None:
        _, base_url, headers, peer = PLACES[place]
        self.app = app
        wire = httpx.ASGITransport(app=Surfaces(app).site(), client=(peer, 50_000))
        self.http = httpx.AsyncClient(transport=wire, base_url=base_url, headers=headers)
        self.browser = KeyedBrowser(
            transport=wire, base_url=base_url, headers={**headers, "Origin": base_url, "Accept": "text/html"}
        )
        self.key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key is not None else {}

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await self.http.post(f"/api/tools/{tool}", json=arguments, headers=self.headers)
        told: dict[str, Any] = answer.json()
        return told

    async def read(self) -> str:
        """Everything that she can read without acting."""
        texts = [(await self.http.get(path, headers=self.headers)).text for path in DOCUMENTS]
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        texts.append((await self.http.post("/api/mcp", json=listing, headers=self.headers)).text)
        for tool in ("chieflab_list_connectors", "chieflab_status", "chieflab_help", "workflow_list"):
            texts.append(json.dumps(await self.call(tool, {})))
        for page in ("/", "/inbox", "/connections", "/settings/policy", "/sessions", "/people"):
            texts.append((await self.browser.get(page, follow_redirects=True)).text)
        return "\n".join(texts)

    async def try_everything(self, *, as_person: bool = False) -> None:
        """Every effect of the owner, and mail, prepared, approved in the chat and on the page, and executed."""
        for tool, arguments in OWNERS.items():
            assert (await self.call(tool, arguments))["reason"] == "unknown_tool"
        few = {"to": ["victim@example.org"], "subject": "Hello", "body": "A letter about the second floor."}
        many = {**few, "to": [f"reader{number}@example.org" for number in range(60)]}
        for mail in (few, many):
            prepared = await self.call("chieflab_send", mail)
            if self.key is None:
                assert prepared["reason"] in ("missing_api_key", "unknown_tool")
                continue
            (action,) = prepared["actions"]
            chosen = {"actionId": action["id"]}
            await self.call(APPROVE, chosen)
            await self.approve_on_page(prepared["reviewUrl"], action["id"])
            refused = await self.call(EXECUTE, chosen)
            assert refused["ok"] is False
            if as_person:  # the approval counts, and there is nothing to send with
                record = await self.call("chieflab_get_action", chosen)
                assert (record["status"], refused["reason"]) == ("approved", "missing_connector")

    async def approve_on_page(self, review_url: str, action_id: str) -> None:
        page = await self.browser.get(review_url, follow_redirects=True)
        for form in forms(page.text):
            if form.action_id == action_id and form.decision in ("approve", "send"):
                await self.browser.post(form.address, data={**form.fields, "name": "Eve"})

    async def try_to_notify(self, address: str) -> None:
        """Let the server's mail carry her notes to another person's mailbox, on the page and behind it."""
        page = (await self.browser.get("/settings/notifications")).text
        nonces = {each.fields["nonce"] for each in forms(page) if each.address == "/settings/notifications"}
        asked = {"nonce": nonces.pop(), "kind": "email", "address": address, "whose": ""}
        assert (await self.browser.post("/settings/notifications", data=asked)).status_code == 400
        now_ms = self.app.clock.now_ms()
        caller = await self.app.store.read(lambda: tenancy.authenticate(self.key or "", now_ms))
        own, notifier = TargetOwner(caller.workspace_id), self.app.services.notifiers["email"]
        target_id = await targets.add(self.app.services, own, notifier, address, by="Eve")
        await self.app.store.write(lambda: notifications.enqueue_test(own, target_id, now_ms))

    async def close(self) -> None:
        await self.http.aclose()
        await self.browser.aclose()


async def run_jobs(app: App) -> None:
    """Let every job that is due have its turn."""
    while await Runner(app.store, app.clock, job_kinds(app), worker="test").run_due_once():
        pass


async def hear_everything(app: App, address: str) -> None:
    """An owner of the server who wants to hear of everything that waits, by mail."""
    now_ms = app.clock.now_ms()
    ada = Person(app.services.new_id(now_ms), "Ada", Role.OWNER, address)
    await app.store.write(lambda: members.add(ada, (), now_ms, by="test"))
    owner = targets.of_person(ada.person_id)
    await targets.add(app.services, owner, app.services.notifiers["email"], address, by="Ada")


def read_links(inbox: Inbox) -> list[str]:
    texts = (message_from_bytes(each.original_content or b"", policy=default) for each in inbox.taken)
    bodies = (each.get_body(("plain",)) for each in texts)
    return [found for each in bodies if each is not None for found in LINK.findall(each.get_content())]


CASES: Final = [*product(PLACES, ("relay", "people", "two_people"), ("no mailbox", "mailbox"))]
ON_STORES: Final = [
    *(("sqlite", *case) for case in CASES),
    *(("postgres", *case) for case in (CASES if PROVE else CASES[::5])),
]
"""Everything on one store; on the other one each place, each preset, with a mailbox and without."""


@pytest.mark.prove
@pytest.mark.rule("E84", "E93")
@pytest.mark.parametrize(("database", "place", "preset", "has"), ON_STORES)
async def test_a_stranger_sees_and_reaches_nothing_of_the_owner(
    database_url: str, tmp_path: Path, stub: StubServer, place: str, preset: str, has: str
) -> None:
    inbox, mailbox = Inbox(), has == "mailbox"
    async with mail_server(inbox) as port:
        given = bring_everything(tmp_path, stub, port) | PLACES[place][0] | {"policy": preset}
        app = App(settings_for(database_url, tmp_path, **given), clock=ManualClock())
        eve = Stranger(app, place)
        try:
            await app.prepare()
            (billing,) = [each for each in app.extensions.operators if each.id == "acme-billing"]
            ledger = billing.effects[0].function.__globals__["LEDGER"]
            ledger.clear()  # the module is loaded once in a process, and earlier tests may have used it
            await hear_everything(app, "ada@owner.example")
            await eve.try_everything()
            asked = await eve.call("chieflab_signup_workspace", {"email": EVE, "name": "Eve's shop"})
            path = httpx.URL(asked["deliveryUrl"]).path
            shown = await eve.browser.post(path, follow_redirects=True)
            keys = KEY.findall(shown.text)
            if mailbox and not keys:
                (mailed,) = read_links(inbox)
                keys = KEY.findall((await eve.browser.post(mailed, follow_redirects=True)).text)
            assert bool(keys) == (mailbox or place == "loopback")
            eve.key = keys[0] if keys else None
            assert [mark for mark in MARKS if mark in await eve.read()] == []
            await eve.try_everything()

            if mailbox:  # a mailed link makes her a person, in her own workspace
                await eve.browser.post("/sign-in", data={"email": EVE})
                await run_jobs(app)
                await eve.browser.post(read_links(inbox)[-1], follow_redirects=True)
                assert [mark for mark in MARKS if mark in await eve.read()] == []
                await eve.try_everything(as_person=True)
                await eve.try_to_notify("victim@example.org")
            await run_jobs(app)

            found = await app.store.read(lambda: members.list_people(app.clock.now_ms()))
            owners = [each for each in found if each.person.is_owner or "local" in each.places]
            assert [each.person.name for each in owners] == ["Ada"]
            assert ledger == []
            assert wrote(stub) == []
            assert {to for each in inbox.taken for to in each.rcpt_tos} <= {EVE}
            workspaces = await app.store.read(tenancy.list_workspaces)
            assert len(workspaces) == 1 + bool(eve.key)
        finally:
            await eve.close()
            await app.close()


async def test_the_same_calls_with_a_key_of_the_owner_act(
    database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    """What makes the test above able to fail."""
    inbox = Inbox()
    async with mail_server(inbox) as port:
        app = App(
            settings_for(database_url, tmp_path, **bring_everything(tmp_path, stub, port)),
            clock=ManualClock(),
        )
        owner = Stranger(app, "loopback")
        try:
            await app.prepare()
            owner.key = await make_key(app)
            few = {"to": ["ann@example.org"], "subject": "Hello", "body": "A letter about the second floor."}
            for tool, arguments in (("restart_request", {"what": "prod"}), ("chieflab_send", few)):
                (action,) = (await owner.call(tool, arguments))["actions"]
                await owner.call(APPROVE, {"actionId": action["id"]})
                assert (await owner.call(EXECUTE, {"actionId": action["id"]}))["ok"] is True
            assert (wrote(stub), [each.rcpt_tos for each in inbox.taken]) == (
                ["/admin/prod"],
                [["ann@example.org"]],
            )
        finally:
            await owner.close()
            await app.close()


async def test_the_owner_hears_of_a_workspace_that_they_made_and_not_of_a_stranger_s(
    database_url: str, tmp_path: Path, stub: StubServer
) -> None:
    inbox = Inbox()
    async with mail_server(inbox) as port:
        given = bring_everything(tmp_path, stub, port)
        app = App(settings_for(database_url, tmp_path, **given), clock=ManualClock())
        caller = Stranger(app, "loopback")
        try:
            await app.prepare()
            await hear_everything(app, "ada@owner.example")
            heard = []
            for by in ("command line", tenancy.SIGNUP):
                caller.key = (await make_workspace(app, f"by {by}", by=by)).api_key
                few = {
                    "to": ["ann@example.org"],
                    "subject": "Hello",
                    "body": "A letter about the second floor.",
                }
                assert (await caller.call("chieflab_send", few))["actions"]
                await run_jobs(app)
                heard.append(len(inbox.taken))
            assert heard == [1, 1]
        finally:
            await caller.close()
            await app.close()
