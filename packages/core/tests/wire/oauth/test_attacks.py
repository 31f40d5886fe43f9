"""What may be tried between a client, a person and their server, and that it leads nowhere.

Each attack is a function of a scene: a server, its owner at a browser, a client that the owner could let in. Those that
only differ in what they ask for are rows of a table.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from tests.support.keyed_browser import ConfirmPage
from tests.support.keys import make_key
from tests.support.oauth.kit import DOCUMENT, LEAVING, Person, document, make_client, publishing
from tests.support.oauth.plain_client import PlainClient, make_pkce, read_challenge
from tests.support.own_sql import bind_marks
from tests.support.review.kit import Server, forms, post
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import START_MS

from assent.engine.core import tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people
from assent.engine.people.people import Person as Member
from assent.engine.people.people import Role
from assent.gate.records import Assurance
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import REGISTRATIONS_PER_HOUR

KEYED = "chieflab_status"
OTHER = "https://other.example/cb"


class Scene:
    """A client that knows the server and was not let in yet."""

    def __init__(self, server: Server, person: Person, client: PlainClient) -> None:
        self.server = server
        self.person = person
        self.client = client

    async def let_in(self, **changes: str) -> tuple[str, str]:
        """A code with its verifier."""
        return await self.client.ask(lambda url: self.person.let_in(url, **changes))

    async def sign_out(self, shown: httpx.Response) -> None:
        """Press the button of a page."""
        (form,) = [each for each in forms(shown.text) if each.address == "/sign-out"]
        await self.person.browser.post(form.address, data=form.fields)

    async def sign_in(self) -> None:
        self.client.keep(await self.client.exchange(*await self.let_in()))

    async def works(self) -> bool:
        called = await self.client.call(KEYED)
        assert called.status_code in (200, 401)
        return called.status_code == 200

    async def count_keys(self) -> int:
        """The keys that clients have."""
        found = await self.server.app.store.read(lambda: tenancy.list_keys(LOCAL_WORKSPACE))
        return sum(1 for key in found if key.client is not None and key.revoked_ms is None)

    async def open(self, **changed: str) -> httpx.Response:
        """The page of a request with some parameters changed."""
        changes = dict(changed)
        _, challenge = make_pkce()
        state = changes.pop("state", "state")
        return await self.person.look(self.client.authorization_url(challenge, state, **changes))

    async def other_client(self, **given: Any) -> PlainClient:
        client = make_client(self.server, **given)
        await client.discover(await client.greet())
        await client.register()
        return client

    async def add_member(self) -> tuple[Person, str]:
        """A member of the workspace, signed in, and their id."""
        app, now_ms = self.server.app, self.server.clock.now_ms()
        member = Member("grace", "Grace", Role.MEMBER, "grace@example.org")
        entropy = os.urandom(people.ENTROPY_BYTES)
        token = await app.store.write(
            lambda: members.invite(member, (LOCAL_WORKSPACE,), entropy, now_ms, by="owner")
        )
        browser = self.server.browser()
        await browser.post(f"/sign-in/{token}")
        return Person(browser), member.person_id


@pytest.fixture
async def scene(server: Server) -> AsyncIterator[Scene]:
    person = Person(await server.owner())
    client = make_client(server)
    await client.discover(await client.greet())
    await client.register()
    yield Scene(server, person, client)


# ── requests that are shown and sent nowhere ─────────────────────────────────────────────────────

REQUESTS: dict[str, dict[str, str]] = {
    "plain PKCE": {"code_challenge_method": "plain"},
    "no PKCE method, which means plain": {"code_challenge_method": ""},
    "no challenge": {"code_challenge": ""},
    "a short challenge": {"code_challenge": "abc"},
    "a token at once": {"response_type": "token"},
    "an answer by a form": {"response_mode": "form_post"},
    "an answer in the fragment": {"response_mode": "fragment"},
    "another redirect": {"redirect_uri": OTHER},
    "no redirect": {"redirect_uri": ""},
    "a redirect that begins like the right one": {"redirect_uri": "http://127.0.0.1:53117/callback2"},
    "a redirect with a query": {"redirect_uri": "http://127.0.0.1:53117/callback?next=x"},
    "a redirect with another path": {"redirect_uri": "http://127.0.0.1:53117/callback/../evil"},
    "a redirect with a user": {"redirect_uri": "http://127.0.0.1:53117@evil.example/callback"},
    "a redirect with a backslash": {"redirect_uri": "http://127.0.0.1:53117\\@evil.example/callback"},
    "a redirect to another name of the machine": {"redirect_uri": "http://localhost:53117/callback"},
    "a redirect over https to the machine": {"redirect_uri": "https://127.0.0.1:53117/callback"},
    "a redirect to a script": {"redirect_uri": "javascript:alert(1)"},
    "a redirect with a fragment": {"redirect_uri": "http://127.0.0.1:53117/callback#x"},
    "a redirect with a line break": {"redirect_uri": "http://127.0.0.1:53117/callback\r\nX: y"},
    "the audience of another server": {"resource": "https://other.example/api/mcp"},
    "the audience of another port of this host": {"resource": "http://127.0.0.1:8081/api/mcp"},
    "the audience of another path": {"resource": "http://127.0.0.1:8080/api/other"},
    "an audience with a fragment": {"resource": "http://127.0.0.1:8080/api/mcp#x"},
    "the right to change the policy alone": {"scope": "policy:write"},
    "an unknown right": {"scope": "admin"},
    "a redirect in capitals": {"redirect_uri": "HTTP://127.0.0.1:53117/callback"},
    "a redirect with a port that is written otherwise": {"redirect_uri": "http://127.0.0.1%3A53117/callback"},
    "a challenge with padding": {"code_challenge": "x" * 43 + "="},
    "a PKCE method in small letters": {"code_challenge_method": "s256"},
    "a code and a token": {"response_type": "code token"},
    "an audience with a user": {"resource": "http://x@127.0.0.1:8080/api/mcp"},
    "an audience with a query": {"resource": "http://127.0.0.1:8080/api/mcp?x"},
    "a long state": {"state": "x" * 1_001},
    "an unknown client": {"client_id": "nobody"},
    "a document without TLS": {"client_id": "http://client.example/oauth/client.json"},
}


@pytest.mark.parametrize("changes", REQUESTS.values(), ids=REQUESTS.keys())
async def test_a_request_that_does_not_fit_is_shown_and_sent_nowhere(
    scene: Scene, changes: dict[str, str]
) -> None:
    shown = await scene.open(**changes)

    assert shown.status_code == 400
    assert "location" not in shown.headers
    assert LEAVING.search(shown.text) is None
    assert "/oauth/authorize" not in shown.text.partition("<main")[2]
    links = [link for link in shown.text.split('href="')[1:] if link.startswith(("http:", "javascript:"))]
    assert all(link.startswith(scene.client.redirect_uri + "?error=") for link in links)


# ── everything else ──────────────────────────────────────────────────────────────────────────────

Attack = Callable[[Scene], Awaitable[None]]
ATTACKS: dict[str, Attack] = {}


def attack(tried: Attack) -> Attack:
    ATTACKS[tried.__name__.replace("_", " ")] = tried
    return tried


@attack
async def a_parameter_that_comes_twice(scene: Scene) -> None:
    _, challenge = make_pkce()
    url = scene.client.authorization_url(challenge, "state") + f"&redirect_uri={OTHER}"
    assert (await scene.person.look(url)).status_code == 400


@attack
async def an_id_of_a_client_with_a_changed_letter(scene: Scene) -> None:
    signed = scene.client.client_id
    assert (await scene.open(client_id=("A" if signed[0] != "A" else "B") + signed[1:])).status_code == 400


@attack
async def a_browser_that_is_not_signed_in(scene: Scene) -> None:
    _, challenge = make_pkce()
    shown = await scene.server.browser().get(scene.client.authorization_url(challenge, "s"))
    assert shown.status_code == 401
    assert "/sign-in?then=" in shown.text


@attack
async def a_form_of_another_site(scene: Scene) -> None:
    shown = await scene.open()
    scene.person.browser.headers["Sec-Fetch-Site"] = "cross-site"
    assert (await scene.person.answer(shown)).status_code == 403
    assert await scene.count_keys() == 0


@attack
async def a_form_with_the_nonce_of_another_browser(scene: Scene) -> None:
    shown = await scene.open()
    other = Person(await scene.server.owner())
    assert (await other.answer(shown)).status_code == 403
    assert await scene.count_keys() == 0


@attack
async def a_form_without_a_nonce(scene: Scene) -> None:
    shown = await scene.open()
    assert (await scene.person.answer(shown, nonce="")).status_code == 403
    assert await scene.count_keys() == 0


@attack
async def a_form_for_another_request_than_was_shown(scene: Scene) -> None:
    shown = await scene.open()
    other = scene.client.authorization_url(make_pkce()[1], "other")
    (form,) = [each for each in forms(shown.text) if "/oauth/authorize" in each.address]
    nonce = form.fields["nonce"]
    sent = await scene.person.browser.post(other, data={"nonce": nonce, "runs:write": "on"})
    assert sent.status_code == 403
    assert await scene.count_keys() == 0


@attack
async def a_form_that_is_sent_after_signing_out(scene: Scene) -> None:
    shown = await scene.open()
    await scene.sign_out(shown)
    assert (await scene.person.answer(shown)).status_code == 401
    assert await scene.count_keys() == 0


@attack
async def a_signature_that_is_sent_after_signing_out(scene: Scene) -> None:
    scene.person.browser.confirms = False
    shown = await scene.open()
    asked = await scene.person.answer(shown)
    fields = scene.person.browser.sign(asked)
    await scene.sign_out(shown)
    sent = await scene.person.browser.post(asked.url.join(ConfirmPage(asked.text).path), data=fields)
    assert sent.status_code == 401
    assert await scene.count_keys() == 0


@attack
async def a_workspace_that_another_tab_chose_meanwhile(scene: Scene) -> None:
    shown = await scene.open()
    app, now_ms = scene.server.app, scene.server.clock.now_ms()
    elsewhere = WorkspaceId(scene.server.services.new_id(now_ms))
    await app.store.write(lambda: tenancy.create_workspace(elsewhere, "Elsewhere", now_ms, by="test"))
    scene.person.browser.cookies.set("assent-workspace", elsewhere)
    assert (await scene.person.answer(shown)).status_code == 403
    assert await scene.count_keys() == 0


@attack
async def a_kept_answer(scene: Scene) -> None:
    left = await scene.person.answer(await scene.open())
    assert LEAVING.search(left.text) is not None
    assert "no-store" in left.headers["cache-control"]
    assert left.headers["referrer-policy"] in ("no-referrer", "same-origin", "strict-origin")


@attack
async def a_cookie_without_a_signature(scene: Scene) -> None:
    scene.person.browser.confirms = False
    answered = await scene.person.answer(await scene.open())
    assert "data-confirms" in answered.text
    assert await scene.count_keys() == 0


@attack
async def a_signature_for_less_than_is_sent(scene: Scene) -> None:
    scene.person.browser.confirms = False
    asked = await scene.person.answer(await scene.open(), without=("actions:execute",))
    fields = scene.person.browser.sign(asked)
    assert fields is not None
    url = asked.url.join(ConfirmPage(asked.text).path)
    sent = await scene.person.browser.post(url, data={**fields, "actions:execute": "on"})
    assert sent.status_code in (403, 400)
    assert await scene.count_keys() == 0


@attack
async def a_signed_form_that_is_sent_again(scene: Scene) -> None:
    scene.person.browser.confirms = False
    asked = await scene.person.answer(await scene.open())
    fields = scene.person.browser.sign(asked)
    url = asked.url.join(ConfirmPage(asked.text).path)
    first = await scene.person.browser.post(url, data=fields)
    again = await scene.person.browser.post(url, data=fields)
    assert (LEAVING.search(first.text) is not None, again.status_code) == (True, 409)
    assert await scene.count_keys() == 1


@attack
async def a_framed_page(scene: Scene) -> None:
    scene.person.browser.confirms = False
    shown = await scene.open()
    confirm = await scene.person.answer(shown)
    for each in (shown, confirm):
        assert each.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in each.headers["content-security-policy"]
    assert "script-src 'none'" in shown.headers["content-security-policy"]


@attack
async def an_agent_with_the_link_of_a_sign_up(scene: Scene) -> None:
    app, now_ms = scene.server.app, scene.server.clock.now_ms()
    owner = await app.store.read(lambda: members.find(people.OWNER))
    assert owner is not None
    session = await app.store.write(
        lambda: people.open_session(
            owner, os.urandom(people.ENTROPY_BYTES), now_ms, device="", facts={}, assurance=Assurance.LINK
        )
    )
    browser = scene.server.browser()
    browser.cookies.set("assent-session", session.secret)
    agent = Person(browser)
    shown = await agent.look(scene.client.authorization_url(make_pkce()[1], "s"))
    assert (await agent.answer(shown)).status_code == 403
    assert await scene.count_keys() == 0


@attack
async def rights_that_nobody_asked_for_in_the_form(scene: Scene) -> None:
    scene.client.scope = "runs:write"
    code, verifier = await scene.let_in(**{"actions:execute": "on", "policy:write": "on"})
    scene.client.keep(await scene.client.exchange(code, verifier))
    assert scene.client.tokens["scope"] == "runs:write"


@attack
async def a_name_with_markup_and_unseen_characters(scene: Scene) -> None:
    client = await scene.other_client(name='<script>alert(1)</script>\u202eok"')
    shown = await scene.person.look(client.authorization_url(make_pkce()[1], "s"))
    assert shown.status_code == 200
    assert "<script>alert" not in shown.text
    assert "\u202e" not in shown.text


@attack
async def a_code_that_comes_twice(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    scene.client.keep(await scene.client.exchange(code, verifier))
    assert await scene.works()
    again = await scene.client.exchange(code, verifier)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert not await scene.works()
    assert (await scene.client.refresh()).json()["error"] == "invalid_grant"


@attack
async def a_code_that_comes_many_times_at_once(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    answers = await asyncio.gather(*(scene.client.exchange(code, verifier) for _ in range(10)))
    assert sum(each.status_code == 200 for each in answers) == 1


@attack
async def a_code_in_the_hands_of_another_client(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    thief = await scene.other_client(name="Thief")
    assert (await thief.exchange(code, make_pkce()[0])).json()["error"] == "invalid_grant"
    # It is used up: whose it was gets nothing either, and asks again.
    assert (await scene.client.exchange(code, verifier)).json()["error"] == "invalid_grant"


@attack
async def a_code_put_into_another_session_of_the_same_client(scene: Scene) -> None:
    code, _ = await scene.let_in()
    _, other_verifier = await scene.let_in()
    assert (await scene.client.exchange(code, other_verifier)).json()["error"] == "invalid_grant"


@attack
async def a_wrong_verifier(scene: Scene) -> None:
    code, _ = await scene.let_in()
    assert (await scene.client.exchange(code, make_pkce()[0])).json()["error"] == "invalid_grant"


@attack
async def no_verifier(scene: Scene) -> None:
    code, _ = await scene.let_in()
    assert (await scene.client.exchange(code, "")).json()["error"] == "invalid_request"


@attack
async def the_challenge_as_the_verifier(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    challenge = parse_qs(urlsplit(scene.client.asked[-1]).query)["code_challenge"][0]
    assert challenge != verifier
    assert (await scene.client.exchange(code, challenge)).json()["error"] == "invalid_grant"


@attack
async def another_redirect_at_the_exchange(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    got = await scene.client.exchange(code, verifier, redirect_uri="http://127.0.0.1:53118/callback")
    assert got.json()["error"] == "invalid_grant"


@attack
async def another_audience_at_the_exchange(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    got = await scene.client.exchange(code, verifier, resource="https://other.example/api/mcp")
    assert got.json()["error"] == "invalid_target"


@attack
async def a_code_that_waited(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    scene.server.clock.advance(seconds=121)
    assert (await scene.client.exchange(code, verifier)).json()["error"] == "invalid_grant"


@attack
async def an_old_code_and_a_clock_set_back(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    scene.server.clock.advance(hours=-2)
    assert (await scene.client.exchange(code, verifier)).json()["error"] == "invalid_grant"


@attack
async def a_used_code_and_a_clock_set_back(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    scene.client.keep(await scene.client.exchange(code, verifier))
    scene.server.clock.advance(seconds=-30)
    assert (await scene.client.exchange(code, verifier)).json()["error"] == "invalid_grant"


@attack
async def a_refresh_token_that_was_used(scene: Scene) -> None:
    await scene.sign_in()
    stolen = scene.client.tokens["refresh_token"]
    scene.client.keep(await scene.client.refresh())
    assert await scene.works()
    assert (await scene.client.refresh(stolen)).json()["error"] == "invalid_grant"
    # The family dies: neither of the two who had it goes on.
    assert not await scene.works()
    assert (await scene.client.refresh()).json()["error"] == "invalid_grant"


@attack
async def a_thief_who_renews_first(scene: Scene) -> None:
    await scene.sign_in()
    stolen = scene.client.tokens["refresh_token"]
    thief = make_client(scene.server, client_id=scene.client.client_id)
    thief.server, thief.resource = scene.client.server, scene.client.resource
    thief.keep(await thief.refresh(stolen))
    assert (await thief.call(KEYED)).status_code == 200
    assert (await scene.client.refresh()).json()["error"] == "invalid_grant"
    assert (await thief.call(KEYED)).status_code == 401
    assert (await thief.refresh()).json()["error"] == "invalid_grant"


@attack
async def a_thief_who_renews_first_and_lies_low(scene: Scene) -> None:
    """A copy that is renewed and not used would otherwise get the tokens that the client gets, time and again."""
    await scene.sign_in()
    stolen = scene.client.tokens["refresh_token"]
    thief = make_client(scene.server, client_id=scene.client.client_id)
    thief.server, thief.resource = scene.client.server, scene.client.resource
    thief.keep(await thief.refresh(stolen))
    assert not await scene.works()
    scene.client.keep(await scene.client.refresh())
    assert await scene.works()
    assert (await thief.call(KEYED)).status_code == 401
    assert (await thief.refresh()).json()["error"] == "invalid_grant"
    assert not await scene.works()


@attack
async def a_refresh_token_in_the_hands_of_another_client(scene: Scene) -> None:
    await scene.sign_in()
    thief = await scene.other_client()
    assert (await thief.refresh(scene.client.tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert not await scene.works()


@attack
async def more_rights_by_a_refresh(scene: Scene) -> None:
    scene.client.scope = "runs:write"
    await scene.sign_in()
    got = await scene.client.refresh(scope="runs:write actions:execute")
    assert got.json()["error"] == "invalid_scope"
    assert await scene.works()


@attack
async def fewer_rights_and_then_more_than_were_given(scene: Scene) -> None:
    await scene.sign_in()
    scene.client.keep(await scene.client.refresh(scope="runs:write"))
    assert scene.client.tokens["scope"] == "runs:write"
    refused = await scene.client.call("chieflab_approve_action", actionId=f"{0:08}-0000-7000-8000-{0:012}")
    assert refused.json()["result"]["structuredContent"]["reason"] == "insufficient_scope"


@attack
async def a_refresh_token_that_was_forgotten(scene: Scene) -> None:
    await scene.sign_in()
    scene.server.clock.advance(days=31)
    assert (await scene.client.refresh()).json()["error"] == "invalid_grant"


@attack
async def an_access_token_that_has_ended(scene: Scene) -> None:
    await scene.sign_in()
    scene.server.clock.advance(hours=1)
    refused = await scene.client.call(KEYED)
    assert refused.status_code == 401
    assert read_challenge(refused)["error"] == "invalid_token"


@attack
async def an_access_token_that_has_ended_and_a_clock_set_back(scene: Scene) -> None:
    await scene.sign_in()
    scene.server.clock.advance(hours=2)
    assert not await scene.works()
    scene.server.clock.advance(hours=-4)
    assert not await scene.works()
    # Its client is not locked out.
    scene.client.keep(await scene.client.refresh())
    assert await scene.works()


@attack
async def the_access_token_from_before_a_refresh(scene: Scene) -> None:
    await scene.sign_in()
    before = dict(scene.client.tokens)
    scene.client.keep(await scene.client.refresh())
    scene.client.tokens = before
    assert not await scene.works()


@attack
async def a_made_up_refresh_token_for_a_known_key(scene: Scene) -> None:
    await scene.sign_in()
    payload, _, mac = scene.client.tokens["refresh_token"].partition(".")
    made_up = f"{payload}.{mac[:-2]}AA"
    assert (await scene.client.refresh(made_up)).json()["error"] == "invalid_grant"
    # Who made it up ends nothing.
    assert await scene.works()


@attack
async def a_code_as_a_refresh_token_and_the_other_way_round(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    assert (await scene.client.refresh(code)).json()["error"] == "invalid_grant"
    scene.client.keep(await scene.client.exchange(code, verifier))
    swapped = await scene.client.exchange(scene.client.tokens["refresh_token"], verifier)
    assert swapped.json()["error"] == "invalid_grant"
    assert await scene.works()


@attack
async def a_refresh_token_as_a_key(scene: Scene) -> None:
    await scene.sign_in()
    scene.client.tokens["access_token"] = scene.client.tokens["refresh_token"]
    assert not await scene.works()


@attack
async def a_token_in_the_address(scene: Scene) -> None:
    await scene.sign_in()
    scene.client.endpoint += f"?access_token={scene.client.tokens.pop('access_token')}"
    scene.client.tokens = {}
    assert not await scene.works()


@attack
async def a_form_with_a_field_twice(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    body = f"grant_type=authorization_code&code={code}&code={code}&code_verifier={verifier}"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    got = await scene.client.http.post("/oauth/token", content=body, headers=headers)
    assert got.json()["error"] == "invalid_request"


@attack
async def another_grant_type(scene: Scene) -> None:
    for kind in ("password", "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer", "code"):
        got = await scene.client.http.post("/oauth/token", data={"grant_type": kind, "client_id": "x"})
        assert got.json()["error"] == "unsupported_grant_type"


@attack
async def a_person_who_was_removed(scene: Scene) -> None:
    member, person_id = await scene.add_member()
    scene.client.keep(await scene.client.exchange(*await scene.client.ask(member.let_in)))
    assert await scene.works()
    now_ms = scene.server.clock.now_ms()
    await scene.server.app.store.write(lambda: members.remove(person_id, now_ms, by="owner"))
    assert not await scene.works()
    assert (await scene.client.refresh()).json()["error"] == "invalid_grant"


@attack
async def a_person_who_left_the_workspace(scene: Scene) -> None:
    member, person_id = await scene.add_member()
    scene.client.keep(await scene.client.exchange(*await scene.client.ask(member.let_in)))
    now_ms = scene.server.clock.now_ms()
    found = await scene.server.app.store.read(lambda: members.find(person_id))
    assert found is not None
    await scene.server.app.store.write(lambda: members.change(found, (), now_ms, by="owner"))
    assert not await scene.works()
    assert (await scene.client.refresh()).json()["error"] == "invalid_grant"


@attack
async def a_person_who_was_removed_before_the_exchange(scene: Scene) -> None:
    member, person_id = await scene.add_member()
    code, verifier = await scene.client.ask(member.let_in)
    now_ms = scene.server.clock.now_ms()
    await scene.server.app.store.write(lambda: members.remove(person_id, now_ms, by="owner"))
    assert (await scene.client.exchange(code, verifier)).json()["error"] == "invalid_grant"


@attack
async def a_client_that_was_revoked_among_the_keys(scene: Scene) -> None:
    await scene.sign_in()
    page = (await scene.person.look("/settings/keys")).text
    (form,) = [each for each in forms(page) if any(name == "revoke" for name, _, _ in each.buttons)]
    revoke = {name: value for name, value, _ in form.buttons}
    await scene.person.browser.post(form.address, data={**form.fields, **revoke})
    assert not await scene.works()
    assert (await scene.client.refresh()).json()["error"] == "invalid_grant"


@attack
async def a_member_who_revokes_the_client_of_someone_else(scene: Scene) -> None:
    member, _ = await scene.add_member()
    await scene.sign_in()
    own = await scene.other_client()
    own.keep(await own.exchange(*await own.ask(member.let_in)))

    page = (await member.look("/settings/keys")).text
    (form,) = [each for each in forms(page) if any(name == "revoke" for name, _, _ in each.buttons)]
    answers = {}
    for key in await scene.server.app.store.read(lambda: tenancy.list_keys(LOCAL_WORKSPACE)):
        sent = await member.browser.post(form.address, data={**form.fields, "revoke": key.key_id})
        answers[key.person_id] = sent.status_code

    assert answers == {"owner": 403, "grace": 303}
    assert [(await each.call(KEYED)).status_code for each in (scene.client, own)] == [200, 401]


@attack
async def a_workspace_that_is_gone(scene: Scene) -> None:
    await scene.sign_in()

    def remove() -> Any:
        yield bind_marks("DELETE FROM workspaces WHERE workspace_id = ?", LOCAL_WORKSPACE)

    await scene.server.app.store.write(remove)
    called = await scene.client.call(KEYED)
    assert called.json()["result"]["isError"] is True


@attack
async def an_action_of_another_workspace(scene: Scene) -> None:
    run = await scene.server.stage(post())
    app, now_ms = scene.server.app, scene.server.clock.now_ms()
    elsewhere = WorkspaceId(scene.server.services.new_id(now_ms))
    await app.store.write(lambda: tenancy.create_workspace(elsewhere, "Elsewhere", now_ms, by="test"))
    scene.person.browser.cookies.set("assent-workspace", elsewhere)
    await scene.sign_in()
    refused = await scene.client.call("chieflab_get_action", actionId=run.actions[0].id)
    said = refused.json()["result"]["structuredContent"]
    assert (said["reason"], said["statusCode"]) == ("wrong_workspace", 401)
    # Nothing tells a client to sign in again: it would, for ever.
    assert (refused.status_code, "www-authenticate" in refused.headers) == (200, False)
    headers = {"Authorization": f"Bearer {scene.client.tokens['access_token']}"}
    rest = await scene.client.http.post(
        "/api/tools/chieflab_get_action", json={"actionId": run.actions[0].id}, headers=headers
    )
    assert (rest.status_code, "www-authenticate" in rest.headers) == (401, False)


@attack
async def a_right_that_the_person_took_away(scene: Scene) -> None:
    code, verifier = await scene.client.ask(lambda url: scene.person.let_in(url, without=("actions:decide",)))
    scene.client.keep(await scene.client.exchange(code, verifier))
    refused = await scene.client.call("chieflab_approve_action", actionId=f"{0:08}-0000-7000-8000-{0:012}")
    # The agent is told to stop. A challenge would open the page again with each call.
    assert (refused.status_code, "www-authenticate" in refused.headers) == (200, False)
    assert refused.json()["result"]["structuredContent"]["reason"] == "insufficient_scope"


@attack
async def a_revocation_by_another_client(scene: Scene) -> None:
    await scene.sign_in()
    thief = await scene.other_client()
    for token in (scene.client.tokens["refresh_token"], scene.client.tokens["access_token"]):
        assert (await thief.revoke(token)).status_code == 200
    assert await scene.works()


@attack
async def a_revocation_of_a_key_that_was_pasted(scene: Scene) -> None:
    key = await make_key(scene.server.app)
    assert (await scene.client.revoke(key)).status_code == 200
    scene.client.tokens = {"access_token": key}
    assert await scene.works()


@attack
async def a_flood_of_registrations(scene: Scene) -> None:
    before = await scene.server.everything()
    flood = scene.server.elsewhere("203.0.113.99")
    metadata = {"redirect_uris": ["https://evil.example/cb"], "client_name": "Flood"}
    answers = [
        (await flood.post("/oauth/register", json=metadata)).status_code
        for _ in range(REGISTRATIONS_PER_HOUR + 1)
    ]
    assert answers == [201] * REGISTRATIONS_PER_HOUR + [429]
    assert await scene.server.everything() == before
    await scene.other_client()  # and another address still can


@attack
async def registrations_that_do_not_fit(scene: Scene) -> None:
    for metadata, error in (
        ({"redirect_uris": ["http://evil.example/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["app://ok/cb", "data:text/html,x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/" + "x" * 2_000]}, "invalid_redirect_uri"),
        (
            {"redirect_uris": [f"https://{n}.example/{'x' * 300}" for n in range(9)]},
            "invalid_client_metadata",
        ),
        ({"redirect_uris": ["https://a.example/"], "response_types": ["token"]}, "invalid_client_metadata"),
        ({"redirect_uris": "https://a.example/"}, "invalid_client_metadata"),
        ([1], "invalid_client_metadata"),
    ):
        got = await scene.client.http.post("/oauth/register", json=metadata)
        assert (got.status_code, got.json()["error"]) == (400, error), metadata
    huge = await scene.client.http.post("/oauth/register", content=b"[" * 1_000_000)
    assert huge.status_code == 413


@attack
async def a_secret_that_a_client_wants_to_have(scene: Scene) -> None:
    metadata = {
        "redirect_uris": ["https://a.example/"],
        "token_endpoint_auth_method": "client_secret_post",
    }
    got = (await scene.client.http.post("/oauth/register", json=metadata)).json()
    assert (got["token_endpoint_auth_method"], "client_secret" in got) == ("none", False)


# ── tokens and codes in places where they do not belong ──────────────────────────────────────────


@attack
async def a_redirect_with_another_port_in_its_query(scene: Scene) -> None:
    """Any port counts for an address of this machine alone, and not for one in a query."""
    there = "https://app.example/cb?then=http://localhost/done"
    client = await scene.other_client(redirect_uri=there)
    url = client.authorization_url(make_pkce()[1], "state", redirect_uri=there.replace("/done", ":1/done"))
    assert (await scene.person.look(url)).status_code == 400


@attack
async def a_code_with_something_after_it(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    for changed in (f"{code} ", f"{code}.", f"{code}=", f"{code}\n", code[:-1], code.swapcase()):
        assert (await scene.client.exchange(changed, verifier)).json()["error"] == "invalid_grant", changed
    scene.client.keep(await scene.client.exchange(code, verifier))
    assert await scene.works()


@attack
async def verifiers_of_a_wrong_form(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    for odd in (verifier[:42], verifier + "x" * 128, f"{verifier}=", f"{verifier}\n", f" {verifier}"):
        assert (await scene.client.exchange(code, odd)).json()["error"] == "invalid_grant"


@attack
async def a_client_id_as_a_code_and_a_code_as_a_client_id(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    assert (await scene.client.exchange(scene.client.client_id, verifier)).json()["error"] == "invalid_grant"
    assert (await scene.client.refresh(scene.client.client_id)).json()["error"] == "invalid_grant"
    assert (await scene.open(client_id=code)).status_code == 400


@attack
async def a_review_link_as_a_code(scene: Scene) -> None:
    run = await scene.server.stage(post())
    token = parse_qs(urlsplit(run.review_url).query)["token"][0]
    assert (await scene.client.exchange(token, make_pkce()[0])).json()["error"] == "invalid_grant"
    assert (await scene.client.refresh(token)).json()["error"] == "invalid_grant"


@attack
async def an_access_token_as_a_session(scene: Scene) -> None:
    await scene.sign_in()
    browser, token = scene.server.browser(), scene.client.tokens["access_token"]
    for path in ("/inbox", "/settings/keys", "/search?q=key", "/oauth/authorize"):
        answer = await browser.get(path, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code in (303, 401, 403) and token not in answer.text, path


@attack
async def a_session_as_an_access_token(scene: Scene) -> None:
    """The cookie of a person is nothing to the endpoint of the tools."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": KEYED, "arguments": {}}}
    answer = await scene.person.browser.post("/api/mcp", json=message)
    assert answer.status_code in (401, 403)


@attack
async def a_token_with_something_around_it(scene: Scene) -> None:
    await scene.sign_in()
    token = scene.client.tokens["access_token"]
    for odd in (f"{token}.", f"{token}=", token.upper(), token[:-1], f"{token},{token}"):
        scene.client.tokens["access_token"] = odd
        assert not await scene.works(), odd


@attack
async def an_exchange_by_other_methods_and_forms(scene: Scene) -> None:
    code, verifier = await scene.let_in()
    form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
    form |= {"client_id": scene.client.client_id}
    at, http = scene.client.server["token_endpoint"], scene.client.http
    assert (await http.get(at, params=form)).status_code == 405
    assert (await http.post(at, params=form)).json()["error"] == "invalid_request"
    assert (await http.post(at, json=form)).json()["error"] == "invalid_request"
    scene.client.keep(await scene.client.exchange(code, verifier))


@attack
async def a_look_that_decides(scene: Scene) -> None:
    """No parameter of the client's lets it in without a person, and neither does any other method."""
    for more in ({"prompt": "none"}, {"deny": ""}, {"execute": "on"}, {"nonce": "x"}):
        shown = await scene.open(**more)
        assert shown.status_code == 200 and LEAVING.search(shown.text) is None
    url = scene.client.authorization_url(make_pkce()[1], "state")
    assert (await scene.person.browser.head(url)).status_code in (200, 405)
    assert await scene.count_keys() == 0


@attack
async def a_host_of_the_asker_in_the_metadata(scene: Scene) -> None:
    """What a client learns about the server names no host that someone else chose."""
    odd = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    for path in ("/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/api/mcp"):
        assert "evil.example" not in (await scene.client.http.get(path, headers=odd)).text
    refused = await scene.client.http.post("/api/mcp", json={}, headers=odd)
    assert "evil.example" not in refused.headers.get("WWW-Authenticate", "")


@attack
async def a_refresh_that_races_a_revocation(scene: Scene) -> None:
    await scene.sign_in()
    await asyncio.gather(
        scene.client.refresh(),
        scene.client.revoke(scene.client.tokens["refresh_token"]),
        scene.client.refresh(),
    )
    assert await scene.count_keys() == 0
    assert (await scene.client.refresh()).json()["error"] == "invalid_grant"


@attack
async def a_revocation_with_a_wrong_hint(scene: Scene) -> None:
    await scene.sign_in()
    token = scene.client.tokens["refresh_token"]
    assert (await scene.client.revoke(token, token_type_hint="access_token")).status_code == 200
    assert not await scene.works() and await scene.count_keys() == 0


@attack
async def a_refresh_without_rights(scene: Scene) -> None:
    await scene.sign_in()
    for scope in ("admin", "policy:write", " "):
        assert (await scene.client.refresh(scope=scope)).json()["error"] == "invalid_scope", scope
    assert await scene.works()


@attack
async def a_client_that_rotates_its_own_key(scene: Scene) -> None:
    """A successor of the key would be no token of the grant: it would not end with it."""
    await scene.sign_in()
    ids = tenancy.parse_key(scene.client.tokens["access_token"])
    assert ids is not None
    entropy = tenancy.KeyEntropy(os.urandom(tenancy.KEY_ID_BYTES), os.urandom(tenancy.SECRET_BYTES))
    rotated = await scene.server.app.store.write(
        lambda: tenancy.rotate_key(
            ids.workspace_id, ids.key_id, entropy, scene.server.clock.now_ms(), by="test"
        )
    )
    assert rotated is None and await scene.works()


@attack
async def a_decision_of_a_client_that_may_only_prepare(scene: Scene) -> None:
    run = await scene.server.stage(post())
    code, verifier = await scene.client.ask(
        lambda url: scene.person.let_in(url, without=("actions:decide", "actions:execute"))
    )
    scene.client.keep(await scene.client.exchange(code, verifier))
    for tool in ("chieflab_approve_action", "chieflab_reject_action", "chieflab_execute_approved_action"):
        answer = await scene.client.call(tool, actionId=run.actions[0].id, reason="no")
        assert answer.status_code == 403 or "insufficient_scope" in answer.text, answer.text
    assert (await scene.server.action(run.actions[0].id)).approval is None


@pytest.mark.parametrize("tried", ATTACKS.values(), ids=ATTACKS.keys())
async def test_an_attack_gets_nowhere(scene: Scene, tried: Attack) -> None:
    await tried(scene)


# ── documents of clients ─────────────────────────────────────────────────────────────────────────

PRIVATE = (
    "https://127.0.0.1/client.json",
    "https://localhost/client.json",
    "https://[::1]/client.json",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/client.json",
    "https://0x7f.1/client.json",
    "https://2130706433/client.json",
    "https://client.example:8443/client.json",
    "https://user:secret@client.example/client.json",
    "https://client.example/../client.json",
    "https://client.example/%2e%2e/client.json",
    "https://client.example/",
)


async def test_a_document_on_a_private_or_odd_address_is_not_fetched(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    with publishing(monkeypatch) as web:
        answers = {url: (await scene.open(client_id=url)).status_code for url in PRIVATE}

    assert answers == dict.fromkeys(PRIVATE, 400)
    assert web.asked == []


BAD_DOCUMENTS: dict[str, dict[str, Any]] = {
    "10 MB": {"body": document(padding="x" * 10_000_000)},
    "a redirect": {"body": b"", "status": 302},
    "an error": {"body": document(), "status": 500},
    "a page": {"body": document(), "kind": "text/html"},
    "no JSON": {"body": b"{"},
    "deep JSON": {"body": b"[" * 15_000},
    "about another client": {"body": document("https://other.example/client.json")},
    "without redirects": {"body": document(redirect_uris=[])},
    "with a script as its redirect": {"body": document(redirect_uris=["javascript:alert(1)"])},
    "with a shared secret": {"body": document(token_endpoint_auth_method="client_secret_post")},
    "with a secret": {"body": document(client_secret="s")},
    "with a secret that never ends": {"body": document(client_secret_expires_at=0)},
    "with a certificate": {"body": document(token_endpoint_auth_method="tls_client_auth")},
    "without a name": {"body": document(client_name="")},
    "without an id": {"body": document("")},
    "with a number for its name": {"body": document(client_name=1)},
    "for another flow": {"body": document(grant_types=["client_credentials"])},
}


async def test_a_document_that_does_not_fit_lets_no_client_in(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {}
    with publishing(monkeypatch) as web:
        for name, given in BAD_DOCUMENTS.items():
            web.publish(DOCUMENT, **given)
            answers[name] = (await scene.open(client_id=DOCUMENT)).status_code

    assert answers == dict.fromkeys(BAD_DOCUMENTS, 400)


async def test_a_document_is_fetched_for_signed_in_people_alone_and_kept_for_a_while(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = scene.client.authorization_url(make_pkce()[1], "s", client_id=DOCUMENT)
    with publishing(monkeypatch) as web:
        web.publish(DOCUMENT, document())
        await scene.server.browser().get(url)
        assert web.asked == []

        for _ in range(3):
            assert (await scene.person.look(url)).status_code == 200
        assert web.asked == [DOCUMENT]

        scene.server.clock.advance(seconds=301)
        await scene.person.look(url)
        assert len(web.asked) == 2


# ── clients that sign their requests ─────────────────────────────────────────────────────────────

JWKS = "https://client.example/oauth/keys.json"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@pytest.mark.parametrize("inline", [True, False], ids=["in its document", "beside it"])
async def test_a_client_that_publishes_keys_has_to_sign_and_each_signature_works_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, inline: bool
) -> None:
    key, wrong = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    public = {"keys": [jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)]}
    private = {"keys": [jwt.algorithms.ECAlgorithm.to_jwk(key, as_dict=True)]}
    now = START_MS // 1000

    def sign(by: Any = key, **changes: Any) -> dict[str, str]:
        claims = {
            "iss": DOCUMENT,
            "sub": DOCUMENT,
            "aud": scene.server.base_url,
            "exp": now + 60,
            "jti": os.urandom(8).hex(),
            **changes,
        }
        return {"client_assertion_type": ASSERTION, "client_assertion": jwt.encode(claims, by, "ES256")}

    client = make_client(scene.server, client_id=DOCUMENT)
    with publishing(monkeypatch) as web:

        def publish(keys: dict[str, Any]) -> None:
            where = {"jwks": keys} if inline else {"jwks_uri": JWKS}
            web.publish(DOCUMENT, document(token_endpoint_auth_method="private_key_jwt", **where))
            web.publish(JWKS, msgspec.json.encode(keys))

        publish(public)
        await client.discover(await client.greet())
        code, verifier = await client.ask(scene.person.let_in)
        publish(private)
        assert (await client.exchange(code, verifier, **sign())).json()["error"] == "invalid_client"
        publish(public)
        for bad in (
            {},
            sign(wrong),
            sign(aud="https://other.example"),
            sign(exp=now - 1),
            sign(exp=now + 10_000),
            sign(sub="https://other.example/client.json"),
        ):
            got = await client.exchange(code, verifier, **bad)
            assert (got.status_code, got.json()["error"]) == (401, "invalid_client")

        used = sign()
        client.keep(await client.exchange(code, verifier, **used))
        assert (await client.call(KEYED)).status_code == 200
        assert (await client.refresh(**used)).json()["error"] == "invalid_client"
        assert (await client.refresh()).json()["error"] == "invalid_client"
        client.keep(await client.refresh(**sign()))
        # What was allowed stays as it was shown, whatever the document says later.
        web.publish(DOCUMENT, document())
        assert (await client.refresh()).json()["error"] == "invalid_client"


# ── two servers ──────────────────────────────────────────────────────────────────────────────────


async def test_two_servers_on_one_host_share_nothing(scene: Scene, tmp_path: Path) -> None:
    """Another port is another server: its clients, codes and tokens mean nothing here."""
    secret = "the master secret of the other server, long enough"
    other = Server(
        new_sqlite(tmp_path / "other.db"), tmp_path / "other", "http://127.0.0.1:8081", secrets=(secret,)
    )
    try:
        there = Scene(other, Person(await other.owner()), make_client(other))
        await there.client.discover(await there.client.greet())
        await there.client.register()
        assert there.client.server["issuer"] == "http://127.0.0.1:8081"

        assert (await scene.open(client_id=there.client.client_id)).status_code == 400
        code, verifier = await there.let_in()
        swapped = await scene.client.exchange(code, verifier, client_id=there.client.client_id)
        assert swapped.json()["error"] == "invalid_grant"
        there.client.keep(await there.client.exchange(code, verifier))
        scene.client.tokens = there.client.tokens
        assert not await scene.works()
        assert (await scene.client.refresh()).json()["error"] == "invalid_grant"
    finally:
        await other.close()


async def test_an_answer_names_its_issuer_also_when_it_is_a_no(scene: Scene) -> None:
    """A client that talks to several servers tells by `iss` which of them answered (RFC 9207)."""
    said = parse_qs(urlsplit(await scene.person.decline(scene.client.authorization_url("A" * 43, "s"))).query)

    assert said == {"error": ["access_denied"], "state": ["s"], "iss": [scene.server.base_url]}
    assert scene.client.server["authorization_response_iss_parameter_supported"] is True
    assert await scene.count_keys() == 0
