"""Sign-up gives an empty workspace, and its key to the right person: at once on the server's own machine, elsewhere to
the reader of the mailbox or to a stranger whom an owner let in (E93, C26)."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest
from tests.support.connectors.mail_server import Inbox, mail_server
from tests.support.keyed_browser import is_confirm_page
from tests.support.keys import make_key
from tests.support.opened import on_any_store, on_embedded_store
from tests.support.review.kit import Server, forms
from tests.support.sqlite_files import new_sqlite

from assent.engine.actions import policies
from assent.engine.core import journal, tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people
from assent.gate.policy import PRESETS, Policy
from assent.gate.records import Assurance
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import OPEN_SIGNUPS, OPEN_SIGNUPS_PER_CLIENT, OPEN_SIGNUPS_PER_EMAIL
from assent.ports import Transaction
from assent.serving.web.people.signup import SIGNUP_REJECTED
from assent.serving.web.shell.console import OWNERS_ONLY

KEY = re.compile(r"clp_live_[A-Za-z0-9_-]{64}")
CLAIM = re.compile(r"/claim/[A-Za-z0-9_-]{40,}")
EMAIL = "eve@example.org"
EVERY = "0.0.0.0"  # noqa: S104 - read, not bound
LAN = "http://192.168.1.5:8080"
FORWARDED = {"X-Forwarded-For": "203.0.113.9"}

COMING: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "here": ({}, {}, "127.0.0.1"),
    "behind a proxy on loopback": ({}, FORWARDED, "127.0.0.1"),
    "by the name of a proxy": ({"allowed_hosts": ("assent.lan",)}, {"Host": "assent.lan"}, "127.0.0.1"),
    "behind a trusted proxy": ({"trust_proxy_headers": True}, FORWARDED, "127.0.0.1"),
    "to all addresses, from here": ({"host": EVERY}, {}, "127.0.0.1"),
    "to all addresses, from elsewhere": ({"host": EVERY, "base_url": LAN}, {}, "192.168.1.9"),
}
"""How a stranger comes: the settings of the server, the headers of the requests, and the address of the peer."""


class Strangers(Server):
    """A server, and strangers without a key who come to it."""

    peer = "127.0.0.1"
    headers: dict[str, str] = {}

    def stranger(self, **headers: str) -> httpx.AsyncClient:
        wire = httpx.ASGITransport(app=self.site, client=(self.peer, 50_000))
        made = httpx.AsyncClient(
            transport=wire, base_url=self.base_url, headers={**self.headers, **headers, "Accept": "text/html"}
        )
        self.browsers.append(made)
        return made

    async def ask(
        self, stranger: httpx.AsyncClient, email: str = EMAIL, name: str = "Eve's shop"
    ) -> httpx.Response:
        await self.app.prepare()
        return await stranger.post(
            "/api/tools/chieflab_signup_workspace", json={"email": email, "name": name}
        )

    async def request(self, stranger: httpx.AsyncClient, **given: str) -> str:
        """The path of the delivery page of a new request."""
        answer = await self.ask(stranger, **given)
        assert answer.status_code == 200, answer.text
        path: str = urlsplit(answer.json()["deliveryUrl"]).path
        return path

    async def press(self, stranger: httpx.AsyncClient, path: str) -> set[str]:
        """The keys that the page shows after its button was pressed."""
        answer = await stranger.post(path)
        if answer.status_code == 303:
            answer = await stranger.get(answer.headers["location"])
        return set(KEY.findall(answer.text))

    async def items(self, owner: httpx.AsyncClient) -> list[tuple[str, dict[str, str]]]:
        """The requests in the inbox: the path of each, and the fields of its form."""
        found = [
            each for each in forms((await owner.get("/inbox")).text) if each.buttons == [("", "", "")] * 2
        ]
        paths = re.findall(r"(/inbox/signups/[0-9a-f-]{36})/admit", (await owner.get("/inbox")).text)
        return list(zip(paths, (each.fields for each in found), strict=True))

    async def decide(self, owner: httpx.AsyncClient, decision: str) -> httpx.Response:  # type: ignore[override]
        """What comes of pressing a button of the one request in the inbox."""
        [(item, fields)] = await self.items(owner)
        return await owner.post(f"{item}/{decision}", data=fields)

    async def waits(self, owner: httpx.AsyncClient) -> bool:
        return "/inbox/signups/" in (await owner.get("/inbox")).text

    async def count(self) -> int:
        return len(await self.app.store.read(tenancy.list_workspaces))

    async def workspace_of(self, key: str) -> WorkspaceId:
        now_ms = self.clock.now_ms()
        return (await self.app.store.read(lambda: tenancy.authenticate(key, now_ms))).workspace_id

    async def events(self) -> list[tuple[str, dict[str, Any]]]:  # type: ignore[override]
        def read() -> Transaction[list[tuple[str, dict[str, Any]]]]:
            events = yield from journal.read_stream(SYSTEM_WORKSPACE, SYSTEM_WORKSPACE)
            return [(event.kind, msgspec.json.decode(event.body)) for event in events]

        return await self.app.store.read(read)


AFAR = "behind a proxy on loopback"


def make(url: str, folder: Path, coming: str = AFAR, **more: Any) -> Strangers:
    settings, headers, peer = COMING[coming]
    made = Strangers(url, folder, **{**settings, **more})
    made.headers, made.peer = headers, peer
    return made


afar = on_embedded_store(make)
"""A server without mail, whose strangers come through a proxy."""
afar_on_any_store = on_any_store(make)


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
async def mailing_on_any_store(database_url: str, tmp_path: Path, inbox: Inbox) -> AsyncIterator[Strangers]:
    """The same with a mail server."""
    async with mail_server(inbox) as port:
        smtp = {"smtp_url": f"smtp://127.0.0.1:{port}", "smtp_from": "assent@example.org"}
        made = make(database_url, tmp_path, **smtp)
        yield made
        await made.close()


def read_mails(inbox: Inbox) -> list[tuple[list[str], str]]:
    """The receivers and the text of every mail."""
    from email import message_from_bytes
    from email.policy import default

    mails = []
    for envelope in inbox.taken:
        body = message_from_bytes(envelope.original_content or b"", policy=default).get_body(("plain",))
        assert body is not None
        mails.append((envelope.rcpt_tos, body.get_content()))
    return mails


@pytest.mark.rule("E93")
@pytest.mark.parametrize("mail", [False, True], ids=["no mail", "mail"])
@pytest.mark.parametrize("coming", COMING)
async def test_a_key_appears_at_once_on_this_machine_alone(
    tmp_path: Path, inbox: Inbox, coming: str, mail: bool
) -> None:
    async with mail_server(inbox) as port:
        smtp = {"smtp_url": f"smtp://127.0.0.1:{port}", "smtp_from": "assent@example.org"} if mail else {}
        server = make(new_sqlite(tmp_path / "assent.db"), tmp_path, coming, **smtp)
        try:
            stranger = server.stranger()
            path = await server.request(stranger)
            shown = await stranger.get(path)
            found = await server.press(stranger, path)
            form = await stranger.post("/get-key", data={"email": "mallory@example.org"})
        finally:
            made = await server.count()
            await server.close()
    assert shown.status_code == 200 and not KEY.search(shown.text)
    here = coming == "here"
    assert (len(found), form.status_code, made) == ((1, 200, 3) if here else (0, 303, 1))
    # Nothing goes out but the mail that confirms an address, and none where it is not needed.
    wanted = [] if here or not mail else [["eve@example.org"], ["mallory@example.org"]]
    assert [to for to, _ in read_mails(inbox)] == wanted


@pytest.mark.rule("E93")
async def test_a_stranger_whom_the_owner_lets_in_gets_the_key_on_the_page_that_waited(
    afar_on_any_store: Strangers,
) -> None:
    server, stranger = afar_on_any_store, afar_on_any_store.stranger()
    path = await server.request(stranger)
    waiting = await stranger.get(path)
    assert waiting.headers["refresh"] and "e***@example.org" in waiting.text and EMAIL not in waiting.text
    assert await server.press(stranger, path) == set()

    owner = await server.owner(name="Ada")
    assert (await server.decide(owner, "admit")).status_code == 303
    assert not await server.waits(owner)
    shown = await stranger.get(path)
    assert "refresh" not in shown.headers and not KEY.search(shown.text)
    [key] = await server.press(stranger, path)
    assert (await stranger.post(path)).status_code == 404

    assert await server.workspace_of(key) != LOCAL_WORKSPACE
    kinds = {kind: facts for kind, facts in await server.events() if kind.startswith("signup_")}
    assert (kinds["signup_admitted"]["by"], set(kinds)) == ("Ada", {"signup_requested", "signup_admitted"})


@pytest.mark.rule("E93")
async def test_a_stranger_whom_the_owner_declines_gets_no_key(afar_on_any_store: Strangers) -> None:
    server, stranger = afar_on_any_store, afar_on_any_store.stranger()
    path = await server.request(stranger)
    owner = await server.owner()

    assert (await server.decide(owner, "reject")).status_code == 303
    for answer in (await stranger.get(path), await stranger.post(path)):
        assert (answer.status_code, SIGNUP_REJECTED.title in answer.text) == (403, True)
    assert not await server.waits(owner) and await server.count() == 1
    # On the server's own machine neither: the decision is about the request.
    assert (await server.browser().post(path)).status_code == 403


async def test_a_request_ends_after_a_day_and_cannot_be_admitted_any_more(afar: Strangers) -> None:
    stranger, owner = afar.stranger(), await afar.owner()
    path = await afar.request(stranger)
    [(item, fields)] = await afar.items(owner)

    afar.clock.advance(hours=24)
    assert (await stranger.get(path)).status_code == 404
    assert not await afar.waits(owner)
    late = await owner.post(f"{item}/admit", data=fields)
    assert late.status_code in (403, 404)
    assert (await stranger.post(path)).status_code == 404 and await afar.count() == 1


@pytest.mark.rule("E93")
async def test_only_an_owner_who_signs_lets_a_stranger_in(afar: Strangers) -> None:
    stranger, owner = afar.stranger(), await afar.owner()
    path = await afar.request(stranger)
    [(item, fields)] = await afar.items(owner)

    # A cookie alone, and a key of the owner's own workspace with every scope.
    thief = afar.browser()
    thief.confirms = False
    thief.cookies.update(owner.cookies)
    assert is_confirm_page(await thief.post(f"{item}/admit", data=fields))
    agent = afar.browser(Authorization=f"Bearer {await make_key(afar.app, scopes=tenancy.ALL_SCOPES)}")
    assert (await agent.post(f"{item}/admit", data=fields)).status_code == 401
    listed = await agent.post("/api/tools/chieflab_list_pending_actions", json={})
    assert urlsplit(path).path not in listed.text and EMAIL not in listed.text
    # A member of the default workspace.
    entropy_of_link, now_ms = os.urandom(people.ENTROPY_BYTES), afar.clock.now_ms()
    bob = people.Person(afar.services.new_id(now_ms), "Bob", people.Role.MEMBER)
    token = await afar.app.store.write(
        lambda: members.invite(bob, (LOCAL_WORKSPACE,), entropy_of_link, now_ms, by="test")
    )
    member = afar.browser()
    assert (await member.post(f"/sign-in/{token}")).status_code == 303
    assert not await afar.waits(member)
    for answer in (await member.post(f"{item}/admit"), await member.post(f"{item}/reject")):
        assert (answer.status_code, OWNERS_ONLY.title in answer.text) == (403, True)

    assert await afar.press(stranger, path) == set()
    assert await afar.waits(owner)


async def test_the_words_of_a_stranger_are_text_on_the_pages_of_the_owner(afar: Strangers) -> None:
    await afar.request(afar.stranger(), name="<script>alert(1)</script>\u202egnp")
    owner = await afar.owner()
    owner.confirms = False
    for page in (await owner.get("/inbox"), await afar.decide(owner, "admit")):
        assert "<script>alert" not in page.text and "\u202e" not in page.text
        assert EMAIL in page.text


@pytest.mark.rule("E93")
async def test_the_reader_of_the_mailbox_gets_the_key_and_the_one_who_asked_does_not(
    mailing_on_any_store: Strangers, inbox: Inbox
) -> None:
    server, eve = mailing_on_any_store, mailing_on_any_store.stranger()
    path = await server.request(eve, email="victim@example.org", name="Buy my pills")
    assert inbox.taken == []
    for _ in range(3):
        assert await server.press(eve, path) == set()
    [(to, text)] = read_mails(inbox)
    assert to == ["victim@example.org"] and "pills" not in text
    [mailed] = CLAIM.findall(text)
    assert mailed != path
    assert await server.waits(await server.owner())

    victim = server.stranger()
    before = await server.everything()
    for _ in range(2):
        assert (await victim.get(mailed)).status_code == 200
    assert await server.everything() == before
    [key] = await server.press(victim, mailed)
    for holder, address in ((eve, path), (eve, mailed), (victim, mailed)):
        assert (await holder.post(address)).status_code == 404
    assert await server.workspace_of(key) != LOCAL_WORKSPACE


async def test_a_mail_that_is_refused_leaves_the_request_to_the_owner(
    mailing_on_any_store: Strangers, inbox: Inbox
) -> None:
    server, stranger = mailing_on_any_store, mailing_on_any_store.stranger()
    inbox.refused[EMAIL] = "550 no such mailbox"
    path = await server.request(stranger)

    failed = await stranger.post(path)
    assert (failed.status_code, failed.headers["location"]) == (303, f"{path}?mail=failed")
    owner = await server.owner()
    assert (await server.decide(owner, "admit")).status_code == 303
    assert len(await server.press(stranger, path)) == 1
    assert inbox.taken == []


async def test_one_mailbox_gets_at_most_five_confirmations_in_an_hour(
    mailing_on_any_store: Strangers, inbox: Inbox
) -> None:
    server = mailing_on_any_store
    answers = []
    for number in range(6):
        server.peer = f"203.0.113.{number}"
        stranger = server.stranger()
        email = EMAIL.upper() if number % 2 else EMAIL
        path = await server.request(stranger, email=email, name=f"Shop {number}")
        answers.append((await stranger.post(path)).status_code)
        # The reader takes it, so that few requests wait.
        await server.press(server.stranger(), CLAIM.findall(read_mails(inbox)[-1][1])[0])
    assert answers == [303] * 5 + [429]
    assert len(inbox.taken) == 5


@pytest.mark.rule("E93")
async def test_few_requests_wait_at_once_and_one_that_is_decided_makes_room(
    afar_on_any_store: Strangers,
) -> None:
    server = afar_on_any_store

    async def ask(email: str, peer: int) -> httpx.Response:
        server.peer = f"203.0.113.{peer}"
        return await server.ask(server.stranger(), email=email)

    for number in range(OPEN_SIGNUPS_PER_EMAIL):
        assert (await ask(EMAIL, number)).status_code == 200
    same = await ask(EMAIL.upper(), 99)
    assert (same.json()["reason"], same.json()["retryAfterSeconds"]) == ("rate_limited", 86_400)

    for number in range(OPEN_SIGNUPS - OPEN_SIGNUPS_PER_EMAIL):
        assert (await ask(f"{number}@example.org", 100 + number % 4)).status_code == 200
    full = await ask("another@example.org", 200)
    assert (full.json()["reason"], full.json()["retry"]) == ("rate_limited", "same")

    owner = await server.owner()
    item, fields = (await server.items(owner))[0]
    assert (await owner.post(f"{item}/reject", data=fields)).status_code == 303
    assert (await owner.post(f"{item}/reject", data=fields)).status_code == 404
    assert (await ask("another@example.org", 200)).status_code == 200


async def test_one_client_has_few_requests_that_wait(tmp_path: Path) -> None:
    server = make(new_sqlite(tmp_path / "assent.db"), tmp_path, signups_per_hour=100)
    try:
        stranger = server.stranger()
        for number in range(OPEN_SIGNUPS_PER_CLIENT):
            assert (await server.ask(stranger, email=f"{number}@example.org")).status_code == 200
        refused = await server.ask(stranger, email="another@example.org")
        assert refused.json()["reason"] == "rate_limited"
    finally:
        await server.close()


OWN_RULE = {"rule": [{"name": "all", "ask": {"assurance": "passkey"}}]}


@pytest.mark.parametrize(
    ("setting", "source", "preset"),
    [
        (None, None, "relay"),
        (None, {"preset": "people"}, "people"),
        (None, {"preset": "people", **OWN_RULE}, "people"),
        (None, {"preset": "two_people"}, "people"),
        (None, {"preset": "none", **OWN_RULE}, "people"),
        ("people", {"preset": "relay"}, "people"),
        ("relay", {"preset": "people"}, "relay"),
        ("two_people", {"preset": "relay"}, "people"),
    ],
    ids=str,
)
async def test_a_new_workspace_gets_the_preset_of_the_server_without_its_rules(
    tmp_path: Path, setting: str | None, source: dict[str, Any] | None, preset: str
) -> None:
    server = make(new_sqlite(tmp_path / "assent.db"), tmp_path, "here", policy=setting)
    try:
        await server.app.prepare()
        if source is not None:
            await server.app.store.write(lambda: policies.save(LOCAL_WORKSPACE, source, 1, by="test"))
        stranger = server.stranger()
        shown = await stranger.post(await server.request(stranger))
        [key] = set(KEY.findall(shown.text))
        workspace_id = await server.workspace_of(key)
        found: Policy = await server.app.store.read(lambda: policies.find(workspace_id))
    finally:
        await server.close()
    assert found == PRESETS[preset]
    asked_for_two = (setting or (source or {}).get("preset")) == "two_people"
    assert ("two people" in shown.text) is asked_for_two


@pytest.mark.rule("E93")
async def test_the_one_who_claims_is_a_member_of_that_workspace_alone_with_the_assurance_of_a_link(
    mailing_on_any_store: Strangers, inbox: Inbox
) -> None:
    server, eve = mailing_on_any_store, mailing_on_any_store.stranger()
    await server.press(eve, await server.request(eve))
    [(_, text)] = read_mails(inbox)
    [key] = await server.press(eve, CLAIM.findall(text)[0])
    own = await server.workspace_of(key)

    async def look() -> tuple[Assurance, list[WorkspaceId]]:
        secret, now_ms = eve.cookies["assent-session"], server.clock.now_ms()

        def read() -> Transaction[tuple[Assurance, list[WorkspaceId]]]:
            session = yield from people.authenticate(secret, now_ms)
            assert session is not None and not session.person.is_owner
            places = yield from members.list_member_workspaces(session.person)
            return session.assurance, [each.workspace_id for each in places]

        return await server.app.store.read(read)

    assert await look() == (Assurance.LINK, [own])
    # A mailed sign-in link makes a person of them, and a member of nothing more.
    assert (await eve.post("/sign-in", data={"email": EMAIL})).status_code == 200
    await server.run_jobs()
    link = re.findall(r"/sign-in/[A-Za-z0-9_-]{40,}", read_mails(inbox)[-1][1])[0]
    assert (await eve.post(link)).status_code == 303
    assert await look() == (Assurance.PERSON, [own])


async def test_where_sign_up_is_closed_no_page_gives_a_key_not_even_one_that_waits(tmp_path: Path) -> None:
    url = new_sqlite(tmp_path / "assent.db")
    server = make(url, tmp_path, "here")
    path = await server.request(server.stranger())
    await server.close()

    closed = make(url, tmp_path, "here", signups_per_hour=0)
    try:
        await closed.app.prepare()
        stranger = closed.stranger()
        for answer in (
            await stranger.get("/get-key"),
            await stranger.post("/get-key", data={"email": EMAIL}),
            await stranger.get(path),
            await stranger.post(path),
        ):
            assert answer.status_code == 401 and not KEY.search(answer.text)
        assert "/get-key" not in (await stranger.get("/")).text
        assert await closed.count() == 1
    finally:
        await closed.close()
