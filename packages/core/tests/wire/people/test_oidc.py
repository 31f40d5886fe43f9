"""Signing in with an issuer, against a real OpenID provider."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.people.oidc_kit import ANN, CLIENT, OidcServer, Provider, running_provider
from tests.support.sqlite_files import new_sqlite

from assent.engine.core import journal, tenancy
from assent.engine.people import members, people
from assent.engine.people.people import OWNER, Person, Role
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.ports import Single
from assent.processes.serve import resolve_workspaces
from assent.settings.load import SettingsError
from assent.sql.loader import statements

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def program() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(program: Provider) -> Provider:
    """A provider that tampers with nothing and knows Ann."""
    program.tampers()
    program.knows("ann", **ANN)
    return program


@pytest.fixture
async def server(tmp_path: Path, provider: Provider) -> AsyncIterator[OidcServer]:
    made = OidcServer(new_sqlite(tmp_path / "assent.db"), tmp_path, provider)
    yield made
    await made.close()


@pytest.fixture
async def server_on_any_store(
    database_url: str, tmp_path: Path, provider: Provider
) -> AsyncIterator[OidcServer]:
    made = OidcServer(database_url, tmp_path, provider)
    yield made
    await made.close()


async def known(server: OidcServer) -> dict[str, tuple[str, str | None, tuple[str, ...]]]:
    """Everybody who can sign in: role, address and workspaces."""
    listed = await server.app.store.read(lambda: members.list_people(server.clock.now_ms()))
    return {each.person.name: (each.person.role.value, each.person.email, each.places) for each in listed}


async def events(server: OidcServer) -> list[str]:
    found = await server.app.store.read(lambda: journal.read_stream(SYSTEM_WORKSPACE, SYSTEM_WORKSPACE))
    return [event.kind for event in found]


async def add_workspace(server: OidcServer, name: str) -> WorkspaceId:
    await server.app.prepare()
    now_ms = server.clock.now_ms()
    workspace_id = WorkspaceId(server.services.new_id(now_ms))
    await server.app.store.write(lambda: tenancy.create_workspace(workspace_id, name, now_ms, by="test"))
    return workspace_id


async def invite(server: OidcServer, name: str, email: str, role: Role = Role.MEMBER) -> str:
    await server.app.prepare()
    now_ms = server.clock.now_ms()
    person = Person(server.services.new_id(now_ms), name, role, email)
    entropy = os.urandom(people.ENTROPY_BYTES)
    places = (tenancy.LOCAL_WORKSPACE,)
    await server.app.store.write(lambda: members.invite(person, places, entropy, now_ms, by="test"))
    return person.person_id


def is_problem(answer: httpx.Response, status: int, *said: str) -> None:
    """A page that says what, why and what next, and signs nobody in."""
    assert answer.status_code == status, answer.text
    for text in said:
        assert text in answer.text, answer.text
    assert 'class="button' in answer.text
    assert "assent-session" not in answer.headers.get("set-cookie", "")


async def test_a_first_sign_in_creates_a_member_and_leads_to_a_one_time_link(
    server_on_any_store: OidcServer,
) -> None:
    server = server_on_any_store
    browser = server.browser()
    assert "Sign in with Example ID" in (await browser.get("/sign-in")).text

    answer = await server.walk("ann", browser)

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in/")
    assert "assent-session" not in browser.cookies
    assert "assent-oidc" not in browser.cookies
    shown = await browser.get(answer.headers["location"])
    assert "Ann Example &lt;ann@example.org&gt;" in shown.text and 'name="name"' not in shown.text
    server.clock.advance(seconds=121)
    assert (await browser.get(answer.headers["location"])).status_code == 404
    signed_in = await server.sign_in("ann")
    assert (await signed_in.get("/inbox")).status_code == 200
    assert await known(server) == {"Ann Example": ("member", "ann@example.org", ("local",))}
    issued = ["sign_in_link_issued", "sign_in_link_issued", "signed_in"]
    assert await events(server) == ["person_admitted", *issued]


async def test_the_role_follows_the_claim_at_every_sign_in(server_on_any_store: OidcServer) -> None:
    server = server_on_any_store
    await add_workspace(server, "Sales")
    wanted: list[tuple[Any, tuple[str, tuple[str, ...]]]] = [
        (["sales"], ("member", ("Sales", "local"))),
        (["admins", "sales"], ("owner", ())),
        ("admins", ("owner", ())),
        ([], ("member", ("local",))),
    ]
    for groups, (role, places) in wanted:
        server.issuer.knows("ann", **ANN, groups=groups)
        await server.sign_in("ann")
        assert await known(server) == {"Ann Example": (role, "ann@example.org", places)}
    assert (await events(server)).count("person_changed") == 2


async def test_a_claim_lets_in_without_an_address(server: OidcServer) -> None:
    server.issuer.knows("bob", name="Bob", groups=["admins"])
    await server.sign_in("bob")
    assert await known(server) == {"Bob": ("owner", None, ())}


async def test_claims_that_only_the_userinfo_endpoint_has_are_read_there(server: OidcServer) -> None:
    server.issuer.tampers(token={"without": ["email", "email_verified", "name"]})
    await server.sign_in("ann")
    assert await known(server) == {"Ann Example": ("member", "ann@example.org", ("local",))}


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"email": "ann@example.com", "email_verified": True}, "ann@example.com"),
        ({"email": "ann@evil.example.org", "email_verified": True}, "one at example.org is needed"),
        ({"email": "ann@example.org", "email_verified": False}, "not verified"),
        ({"email": "ann@example.org"}, "not verified"),
        ({"name": "Nobody"}, "no e-mail address"),
        ({"email": "ann@example.com", "groups": ["admin", "Admins"]}, "not verified"),
        ({"groups": ["sales"]}, "belongs to no workspace"),
    ],
)
async def test_whoever_has_no_right_to_come_in_is_told_why(
    server: OidcServer, claims: dict[str, Any], said: str
) -> None:
    server.issuer.knows("ann", **claims)
    is_problem(await server.walk("ann"), 403, "You cannot sign in here", said, "Ask an owner")
    assert await known(server) == {}


async def test_an_invited_person_is_found_by_the_verified_address_once(
    server_on_any_store: OidcServer,
) -> None:
    server = server_on_any_store
    invited = await invite(server, "Ann by invitation", "Ann@Example.org", Role.OWNER)

    await server.sign_in("ann")

    assert await known(server) == {"Ann Example": ("owner", "Ann@Example.org", ())}
    assert "person_linked" in await events(server)
    server.issuer.knows("other", **ANN)
    await server.sign_in("other")
    assert set(await known(server)) == {"Ann Example", "Ann Example (other)"}
    # The address may change at the issuer; the subject stays linked.
    server.issuer.knows("ann", **{**ANN, "email": "ann.new@example.org"})
    await server.sign_in("ann")
    rows = (await server.everything())["identities"]
    assert [row[3] for row in rows if row[2] == "ann"] == [invited]
    # The role that an owner gave stays.
    assert (await known(server))["Ann Example"] == ("owner", "Ann@Example.org", ())


async def test_the_issuer_gives_the_name_and_no_one_types_another(server_on_any_store: OidcServer) -> None:
    server = server_on_any_store
    await invite(server, "Ada Lovelace", "ada@example.org", Role.OWNER)
    server.issuer.knows("sal", name="Sal", email="sal@example.org", email_verified=True)
    answer = await server.walk("sal", browser := server.browser())

    pressed = await browser.post(answer.headers["location"], data={"name": "Ada Lovelace"})

    assert pressed.status_code == 303
    assert set(await known(server)) == {"Ada Lovelace", "Sal"}
    server.issuer.knows(
        "sal", name="Sal <ada@example.org> Sales", email="sal@example.org", email_verified=True
    )
    await server.sign_in("sal")
    assert set(await known(server)) == {"Ada Lovelace", "Sal ada@example.org Sales"}


async def test_people_of_one_name_sign_in_and_something_tells_them_apart(
    server_on_any_store: OidcServer,
) -> None:
    server = server_on_any_store
    for subject in ("ann", "ann-2"):
        email = f"{subject}@example.org"
        server.issuer.knows(subject, name="Ann Example", email=email, email_verified=True)
        await server.sign_in(subject)
    for subject in ("ann-3", "admin"):
        server.issuer.knows(subject, name="Ann Example", groups=["admins"])
        await server.sign_in(subject)
        await server.sign_in(subject)

    listed = await server.app.store.read(lambda: members.list_people(server.clock.now_ms()))

    assert sorted(each.person.label for each in listed) == [
        "Ann Example (admin)",
        "Ann Example (ann-3)",
        "Ann Example <ann-2@example.org>",
        "Ann Example <ann@example.org>",
    ]


async def test_whoever_only_typed_an_address_at_signup_is_not_linked_by_it(server: OidcServer) -> None:
    await server.app.prepare()
    now_ms = server.clock.now_ms()
    person = Person("stranger", "Not Ann", Role.MEMBER, "ann@example.org")
    entropy = os.urandom(people.ENTROPY_BYTES)
    place = tenancy.LOCAL_WORKSPACE
    await server.app.store.write(lambda: members.join_by_claim(place, person, entropy, now_ms, device=""))

    await server.sign_in("ann")

    rows = (await server.everything())["identities"]
    assert [row[3] for row in rows] != ["stranger"]
    assert set(await known(server)) == {"Not Ann", "Ann Example"}


async def test_several_invitations_of_one_address_are_not_guessed_between(server: OidcServer) -> None:
    await invite(server, "Ann", "ann@example.org")
    await invite(server, "Anna", "ann@example.org")
    is_problem(await server.walk("ann"), 403, "Several people were invited")


async def test_a_removed_person_stays_removed_until_invited_again(server_on_any_store: OidcServer) -> None:
    server = server_on_any_store
    browser = await server.sign_in("ann")
    [listed] = await server.app.store.read(lambda: members.list_people(server.clock.now_ms()))
    gone = listed.person.person_id
    await server.app.store.write(lambda: members.remove(gone, server.clock.now_ms(), by="test"))

    assert (await browser.get("/inbox")).status_code == 401
    is_problem(await server.walk("ann"), 403, "removed your access")
    server.issuer.knows("again", **ANN)
    is_problem(await server.walk("again"), 403, "removed your access")
    assert await known(server) == {}

    server.clock.advance(seconds=1)
    await invite(server, "Ann again", "ann@example.org")
    await server.sign_in("ann")
    assert set(await known(server)) == {"Ann Example"}


async def test_an_invitation_from_before_the_removal_lets_nobody_in_again(server: OidcServer) -> None:
    first = await invite(server, "Ann", "ann@example.org")
    await server.sign_in("ann")
    await invite(server, "Ann, too", "ann@example.org")
    server.clock.advance(seconds=1)
    await server.app.store.write(lambda: members.remove(first, server.clock.now_ms(), by="test"))
    is_problem(await server.walk("ann"), 403, "removed your access")


async def test_an_invited_person_who_was_removed_before_the_first_sign_in_stays_removed(
    server: OidcServer,
) -> None:
    gone = await invite(server, "Ann", "ann@example.org")
    await server.app.store.write(lambda: members.remove(gone, server.clock.now_ms(), by="test"))
    is_problem(await server.walk("ann"), 403, "removed your access")


async def test_a_callback_works_once(server_on_any_store: OidcServer) -> None:
    server = server_on_any_store
    browser = server.browser()
    back = await server.come_back("ann", browser)
    attempt = browser.cookies["assent-oidc"]
    assert (await browser.get(back)).status_code == 303

    is_problem(await browser.get(back), 400, "was not started here")
    browser.cookies.set("assent-oidc", attempt)
    is_problem(await browser.get(back), 400, "was used already")


async def test_an_answer_counts_only_in_the_browser_that_asked(server: OidcServer) -> None:
    victim, attacker = server.browser(), server.browser()
    back = await server.come_back("ann", attacker)

    is_problem(await victim.get(back), 400, "was not started here")
    mine = await server.come_back("ann", victim)
    is_problem(await victim.get(back), 400, "was not started here")
    own_state, foreign_code = httpx.URL(mine).params["state"], httpx.URL(back).params["code"]
    swapped = await victim.get("/sign-in/oidc/callback", params={"state": own_state, "code": foreign_code})
    is_problem(swapped, 403, "did not confirm the sign-in")


async def test_an_attempt_ends_after_ten_minutes_and_cannot_be_forged(server: OidcServer) -> None:
    browser = server.browser()
    back = await server.come_back("ann", browser)
    cookie = browser.cookies["assent-oidc"]
    browser.cookies.set("assent-oidc", cookie[:-1] + ("A" if cookie[-1] != "A" else "B"))
    is_problem(await browser.get(back), 400, "was not started here")
    browser.cookies.set("assent-oidc", cookie)
    server.clock.advance(seconds=600)
    is_problem(await browser.get(back), 400, "was not started here")


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ({"claims": {"nonce": "another"}}, "does not belong to this attempt"),
        ({"without": ["nonce"]}, "does not belong to this attempt"),
        ({"claims": {"aud": "another application"}}, "for another application"),
        ({"claims": {"aud": [CLIENT, "another"]}}, "for another application"),
        ({"claims": {"aud": [CLIENT, "another"], "azp": "another"}}, "for another application"),
        ({"claims": {"iss": "https://issuer.example"}}, "from another issuer"),
        ({"claims": {"sub": ""}}, "names no person"),
        ({"age": 120}, "no longer valid"),
        ({"claims": {"iat": 4_000_000_000}}, "not yet"),
        ({"claims": {"exp": "soon"}}, "cannot be read"),
        ({"without": ["exp"]}, "cannot be read"),
        ({"signed_by": "somebody"}, "not signed with a key of the issuer"),
        ({"signed_by": "nobody"}, "not signed with a key of the issuer"),
        ({"signed_by": "client id"}, "not signed with a key of the issuer"),
    ],
)
async def test_a_token_that_is_wrong_in_one_respect_signs_nobody_in(
    server: OidcServer, token: dict[str, Any], said: str
) -> None:
    server.issuer.tampers(token=token)
    is_problem(await server.walk("ann"), 403, said, "Start again")
    assert await known(server) == {}


async def test_a_second_application_in_the_token_is_allowed_if_it_was_made_for_this_one(
    server: OidcServer,
) -> None:
    server.issuer.tampers(token={"claims": {"aud": [CLIENT, "another"], "azp": CLIENT}})
    await server.sign_in("ann")


async def test_an_answer_of_another_issuer_is_refused(server: OidcServer) -> None:
    server.issuer.tampers(append="&iss=https://issuer.example")
    is_problem(await server.walk("ann"), 403, "comes from elsewhere")
    assert "/oauth2/token" not in server.issuer.asked


async def test_a_missing_issuer_is_refused_where_the_issuer_promises_it(server: OidcServer) -> None:
    server.issuer.tampers(metadata={"authorization_response_iss_parameter_supported": True})
    is_problem(await server.walk("ann"), 403, "comes from elsewhere")
    server.issuer.tampers(append=f"&iss={server.issuer.url}")
    await server.sign_in("ann")


async def test_metadata_of_another_issuer_is_refused(server: OidcServer) -> None:
    server.issuer.tampers(metadata={"issuer": "https://issuer.example"})
    is_problem(await server.browser().get("/sign-in/oidc"), 403, "another issuer than the one")


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/oauth2/token", "/jwks"])
async def test_an_issuer_that_fails_is_named_with_what_to_do(server: OidcServer, path: str) -> None:
    server.issuer.tampers(down=[path])
    browser = server.browser()
    answer = await browser.get("/sign-in/oidc")
    if answer.status_code == 303:
        answer = await server.walk("ann", browser)
    is_problem(answer, 503, "Example ID cannot be reached", "Try again in a moment")


async def test_an_issuer_that_is_down_is_named_and_the_other_ways_stay(
    tmp_path: Path, provider: Provider
) -> None:
    server = OidcServer(new_sqlite(tmp_path / "a.db"), tmp_path, provider, oidc_issuer="http://localhost:1")
    try:
        is_problem(await server.browser().get("/sign-in/oidc"), 503, "Example ID cannot be reached")
        assert (await server.owner()).cookies["assent-session"]
    finally:
        await server.close()


async def test_only_the_configured_issuer_may_be_on_a_private_address(server: OidcServer) -> None:
    server.issuer.tampers(metadata={"jwks_uri": "http://127.0.0.1:9/jwks"})
    is_problem(await server.walk("ann"), 503, "Only https addresses are allowed")


async def test_a_remote_issuer_needs_https(tmp_path: Path, provider: Provider) -> None:
    given = {"oidc_issuer": "http://issuer.internal"}
    server = OidcServer(new_sqlite(tmp_path / "a.db"), tmp_path, provider, **given)
    try:
        is_problem(await server.browser().get("/sign-in/oidc"), 502, "does not start with https")
    finally:
        await server.close()


async def test_a_declined_sign_in_is_not_an_error_of_the_server(server: OidcServer) -> None:
    browser = server.browser()
    back = httpx.URL(await server.come_back("ann", browser))
    declined = {"state": back.params["state"], "error": "access_denied"}
    answer = await browser.get("/sign-in/oidc/callback", params=declined)
    is_problem(answer, 403, "You did not sign in")


async def test_a_browser_at_another_name_starts_at_the_address_of_the_settings(server: OidcServer) -> None:
    browser = server.browser(Host="localhost:8080")
    answer = await browser.get("/sign-in/oidc")
    assert answer.headers["location"] == "http://127.0.0.1:8080/sign-in/oidc?here=1"
    assert "set-cookie" not in answer.headers


async def test_the_first_owner_is_nobodys_identity(server: OidcServer) -> None:
    await server.owner()
    server.issuer.knows(OWNER, name=OWNER, email="owner@example.org", email_verified=True)
    await server.sign_in(OWNER)
    rows = (await server.everything())["identities"]
    assert all(row[3] != OWNER for row in rows)


async def test_a_later_workspace_of_the_same_name_gets_no_one(server: OidcServer) -> None:
    sales = await add_workspace(server, "Sales")
    server.issuer.knows("ann", **ANN, groups=["sales"])
    await server.sign_in("ann")
    for name in ("Sales", "local", sales, tenancy.LOCAL_WORKSPACE):
        await add_workspace(server, name)

    server.issuer.knows("bob", name="Bob", email="bob@example.org", email_verified=True, groups=["sales"])
    for subject in ("ann", "bob"):
        await server.sign_in(subject)

    rows = await server.app.store.read(Single(statements.list_memberships()))
    assert {row["workspace_id"] for row in rows} == {sales, tenancy.LOCAL_WORKSPACE} and len(rows) == 4


async def test_a_name_of_several_workspaces_lets_no_one_in_and_ends_the_start(server: OidcServer) -> None:
    twins = [await add_workspace(server, "Sales") for _ in range(2)]
    server.issuer.knows("ann", **ANN, groups=["sales"])

    denied = await server.walk("ann")
    assert denied.status_code == 403 and not any(each in denied.text for each in twins)
    assert await known(server) == {}
    with pytest.raises(SettingsError, match="Sales"):
        await resolve_workspaces(server.surfaces.oidc, server.app.store)


async def test_no_sign_up_gets_the_name_of_a_workspace_in_the_settings(server: OidcServer) -> None:
    await server.app.prepare()
    for name in ("sales", "SALES ", "local"):
        answer = await server.browser().post("/get-key", data={"email": "eve@example.net", "name": name})
        assert answer.status_code == 409, name
    # The owner makes it, and then it is found without another start.
    server.issuer.knows("ann", name="Ann", groups=["sales"])
    assert (await server.walk("ann")).status_code == 403
    await add_workspace(server, "Sales")
    await server.sign_in("ann")
    assert await known(server) == {"Ann": ("member", None, ("Sales",))}
