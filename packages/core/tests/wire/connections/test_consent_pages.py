"""Consent through the pages: who asked gets it, once, and everything else is a page that says what to do."""

from __future__ import annotations

import io
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from tests.support.connections.console import WHERE, Console, open_console, way_out
from tests.support.connections.kit import connect, consent
from tests.support.keys import make_key
from tests.support.review.kit import forms, send_form
from tests.support.sqlite_files import new_sqlite

from assent.engine.connections.oauth import STATE_TTL_MS
from assent.engine.core import tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people
from assent.engine.people.people import Person, Role
from assent.kernel.ids import WorkspaceId
from assent.ports import Transaction
from assent_conform.testing.provider_server import Outcome


@pytest.mark.parametrize("provider", ["ga4", "search_console", "hubspot"])
async def test_a_consent_becomes_a_connection(console_on_any_store: Console, provider: str) -> None:
    console = console_on_any_store
    await console.connect(provider)

    found = await console.connection(provider)
    assert found is not None
    assert (found.live, found.connected_by) == (True, "owner")
    access = await console.server.app.connections.access(LOCAL_WORKSPACE, provider)
    assert access is not None
    assert console.far.granting(provider).valid(access.secrets["accessToken"])


async def test_the_question_carries_a_challenge_and_the_least_scope(console: Console) -> None:
    asked = dict(parse_qsl(urlsplit(await console.ask("ga4")).query))

    assert asked["code_challenge_method"] == "S256"
    assert asked["access_type"] == "offline"
    assert asked["scope"] == "https://www.googleapis.com/auth/analytics.readonly"
    assert asked["redirect_uri"] == f"{console.server.base_url}/connect/ga4/callback"
    assert "secret" not in urlencode(asked)


async def test_a_replayed_state_connects_nothing_a_second_time(console_on_any_store: Console) -> None:
    console = console_on_any_store
    brought = await consent(await console.ask("hubspot"))
    assert (await console.back("hubspot", brought)).status_code == 303
    first = await console.connection("hubspot")

    again = await console.back("hubspot", brought)

    assert again.status_code == 400
    assert "Nothing was connected" in again.text
    assert await console.connection("hubspot") == first
    assert len(console.far.hubspot.happened("token_issued")) == 1


async def test_a_wrong_state_never_reaches_the_provider(console: Console) -> None:
    brought = await consent(await console.ask("ga4"))
    for changed in ({**brought, "state": "x" * 43}, {"code": brought["code"]}, {}):
        assert (await console.back("ga4", changed)).status_code == 400
    assert (await console.back("search_console", brought)).status_code == 400
    assert not console.far.google.happened("token_issued")
    assert await console.connection("ga4") is None


async def test_a_state_of_another_browser_connects_nothing_and_is_not_used_up(console: Console) -> None:
    brought = await consent(await console.ask("ga4"))
    elsewhere = await console.server.owner(console.server.browser())
    assert (await console.back("ga4", brought, elsewhere)).status_code == 400
    assert (await console.back("ga4", brought, console.server.browser())).status_code == 401

    assert (await console.back("ga4", brought)).status_code == 303


async def test_a_state_expires(console: Console) -> None:
    brought = await consent(await console.ask("hubspot"))
    console.server.clock.advance(seconds=STATE_TTL_MS / 1000)
    answer = await console.back("hubspot", brought)
    assert answer.status_code == 400
    assert not console.far.hubspot.happened("token_issued")


async def test_a_no_changes_nothing_and_says_how_to_go_on(console: Console) -> None:
    answer = await console.back("hubspot", await consent(await console.ask("hubspot"), "deny"))
    assert answer.status_code == 403
    assert "HubSpot was not connected" in answer.text
    assert "/connect/hubspot" in answer.text
    assert await console.connection("hubspot") is None


async def test_without_a_refresh_token_nothing_is_kept(console: Console) -> None:
    console.far.google.withhold_refresh_token = True
    answer = await console.back("ga4", await consent(await console.ask("ga4")))
    assert answer.status_code == 502
    assert "myaccount.google.com" in answer.text
    assert await console.connection("ga4") is None


async def test_a_consent_to_less_than_is_needed_is_not_kept(console: Console) -> None:
    url = (await console.ask("hubspot")).replace("crm.objects.contacts.write", "")
    answer = await console.back("hubspot", await consent(url))
    assert answer.status_code == 403
    assert "every box" in answer.text
    assert await console.connection("hubspot") is None


async def test_a_token_endpoint_that_fails_is_a_page_that_says_so(console: Console) -> None:
    brought = await consent(await console.ask("hubspot"))
    console.far.hubspot.plan(Outcome.ERROR_BEFORE)
    answer = await console.back("hubspot", brought)
    assert answer.status_code == 502
    assert "HTTP 503" in answer.text
    assert await console.connection("hubspot") is None


async def test_looking_ahead_at_the_callback_uses_nothing_up(console: Console) -> None:
    brought = await consent(await console.ask("hubspot"))
    looked = await console.browser.head(f"/connect/hubspot/callback?{urlencode(brought)}")
    assert looked.status_code == 405
    assert (await console.back("hubspot", brought)).status_code == 303


async def test_a_form_of_another_site_or_for_another_workspace_asks_for_nothing(console: Console) -> None:
    page = await console.browser.get(f"/connect/ga4{WHERE}")
    form = next(each for each in forms(page.text) if "/consent" in each.address)
    foreign = await console.browser.post(
        form.address, data=form.fields, headers={"Sec-Fetch-Site": "cross-site"}
    )
    stale = await console.browser.post(form.address, data={"nonce": "x"})
    other = await console.browser.post(form.address.replace("/ga4/", "/search_console/"), data=form.fields)
    assert (foreign.status_code, stale.status_code, other.status_code) == (403, 403, 403)
    nowhere = await console.browser.get("/connect/ga4?workspace=0197c3a0-0000-7000-8000-000000000000")
    assert nowhere.status_code == 404
    assert (await console.server.browser().get("/connect/ga4")).status_code == 401


async def test_a_member_connects_in_their_own_workspace_and_in_no_other(console: Console) -> None:
    services, now_ms = console.server.services, console.server.clock.now_ms()
    theirs = WorkspaceId(services.new_id(now_ms))
    entropy = services.entropy(people.ENTROPY_BYTES)
    grace = Person("grace", "Grace", Role.MEMBER)

    def invite() -> Transaction[str]:
        yield from tenancy.create_workspace(theirs, "theirs", now_ms, by="test")
        return (yield from members.invite(grace, (theirs,), entropy, now_ms, by="test"))

    token = await console.server.app.store.write(invite)
    browser = console.server.browser()
    assert (await browser.post(f"/sign-in/{token}", data={})).status_code == 303

    assert (await browser.get(f"/connect/hubspot{WHERE}")).status_code == 404
    page = await browser.get(f"/connect/hubspot?workspace={theirs}")
    form = next(each for each in forms(page.text) if "/consent" in each.address)
    crossed = form.address.replace(theirs, LOCAL_WORKSPACE)
    assert (await browser.post(crossed, data=form.fields)).status_code == 404
    leaving = await browser.post(form.address, data=form.fields)
    answer = await console.back("hubspot", await consent(way_out(leaving.text)), browser)
    assert answer.status_code == 303
    assert await console.connection("hubspot") is None
    found = await console.server.app.connections.find(theirs, "hubspot")
    assert found is not None and (found.live, found.connected_by) == (True, "Grace")


async def test_from_another_address_of_the_server_the_page_leads_to_its_own(console: Console) -> None:
    page = await console.browser.get(f"/connect/ga4{WHERE}")
    form = next(each for each in forms(page.text) if "/consent" in each.address)
    elsewhere = {"Origin": "http://localhost:8080"}
    answer = await console.browser.post(form.address, data=form.fields, headers=elsewhere)
    assert answer.status_code == 400
    assert f"{console.server.base_url}/connect/ga4" in answer.text


async def test_a_page_that_finds_the_access_ended_says_so_at_once(console: Console) -> None:
    await console.connect("ga4")
    console.far.google.revoke_all()
    page = await console.browser.get(f"/connect/ga4{WHERE}")
    assert page.status_code == 200
    assert "The connection has ended" in page.text
    assert [each for each in forms(page.text) if "/consent" in each.address]


async def test_the_property_is_picked_from_a_list_or_typed(console: Console) -> None:
    await console.connect("ga4")
    page = await console.browser.get(f"/connect/ga4{WHERE}")
    assert "Assent" in page.text and 'value="1234"' in page.text
    assert (await console.press("ga4", "choose", choice="not a number")).status_code == 400

    assert (await console.press("ga4", "choose", choice="properties/1234")).status_code == 303
    found = await console.connection("ga4")
    assert found is not None and found.settings == {"propertyId": "1234"}

    console.far.search.offers_list = False
    await console.connect("search_console")
    assert (await console.press("search_console", "choose", typed="example.org")).status_code == 400
    assert (await console.press("search_console", "choose", typed="https://example.org")).status_code == 303
    found = await console.connection("search_console")
    assert found is not None and found.settings == {"siteUrl": "https://example.org/"}
    where = f"/connect/search_console{WHERE}&choose=1"
    chosen = await send_form(console.browser, where, "/choose", typed="sc-domain:example.org")
    assert chosen.status_code == 303
    found = await console.connection("search_console")
    assert found is not None and found.settings == {"siteUrl": "sc-domain:example.org"}


async def test_connecting_again_keeps_what_was_chosen(console: Console) -> None:
    await console.connect("ga4")
    await console.press("ga4", "choose", choice="1234")
    connection = await console.connection("ga4")
    assert connection is not None
    await console.server.app.connections.mark_expired(connection, "Google says invalid_grant")
    page = await console.browser.get(f"/connect/ga4{WHERE}")
    assert "The connection has ended" in page.text
    assert "Google says invalid_grant" in page.text

    await console.connect("ga4")
    found = await console.connection("ga4")
    assert found is not None and (found.live, found.settings) == (True, {"propertyId": "1234"})


async def test_disconnecting_destroys_the_tokens_and_tells_google(console: Console) -> None:
    await console.connect("ga4")
    answer = await console.press("ga4", "disconnect")
    assert answer.status_code == 303
    found = await console.connection("ga4")
    assert found is not None and found.state == "revoked"
    assert len(console.far.google.happened("revoked")) == 1
    assert await console.server.app.connections.access(LOCAL_WORKSPACE, "ga4") is None


async def test_disconnecting_in_the_chat_tells_google_too(console: Console) -> None:
    await console.connect("ga4")
    agent = console.server.browser(Authorization=f"Bearer {await make_key(console.server.app)}")
    answer = await agent.post("/api/tools/chieflab_disconnect_provider", json={"provider": "ga4"})
    assert answer.json()["disconnected"] is True
    assert len(console.far.google.happened("revoked")) == 1


async def test_disconnecting_one_of_googles_sources_leaves_the_other_alone(console: Console) -> None:
    await console.connect("ga4")
    await console.connect("search_console")
    await console.press("ga4", "disconnect")
    assert not console.far.google.happened("revoked")
    other = await console.connection("search_console")
    assert other is not None and other.live


async def test_disconnecting_leaves_the_connection_of_another_workspace_alone(console: Console) -> None:
    services, now_ms = console.server.services, console.server.clock.now_ms()
    elsewhere = WorkspaceId(services.new_id(now_ms))
    await console.server.app.store.write(
        lambda: tenancy.create_workspace(elsewhere, "elsewhere", now_ms, by="test")
    )
    await connect(console.server.app, "ga4", elsewhere)
    await console.connect("ga4")
    await console.press("ga4", "disconnect")
    assert not console.far.google.happened("revoked")


@pytest.mark.parametrize("provider", ["ga4", "hubspot"])
async def test_without_a_registered_app_the_page_says_what_to_set(tmp_path: Path, provider: str) -> None:
    nothing = {"google_client_id": None, "hubspot_client_secret": None}
    async with open_console(new_sqlite(tmp_path / "assent.db"), tmp_path, **nothing) as console:
        page = await console.browser.get(f"/connect/{provider}{WHERE}")
        assert page.status_code == 200
        assert "_CLIENT_ID</code>" in page.text and "_CLIENT_SECRET</code>" in page.text
        assert not [each for each in forms(page.text) if "/consent" in each.address]


@pytest.mark.rule("E8")
async def test_no_secret_is_in_any_page_header_journal_or_row(
    console_on_any_store: Console, whole_log: io.StringIO
) -> None:
    console = console_on_any_store
    seen = console.keep_answers()
    for provider in ("ga4", "search_console", "hubspot"):
        brought = await consent(await console.ask(provider))
        await console.back(provider, brought)
        await console.back(provider, brought)
        await console.browser.get(f"/connect/{provider}{WHERE}")
    await console.browser.get("/connect")
    console.server.clock.advance(hours=2)
    await console.browser.get(f"/connect/ga4{WHERE}&choose=1")

    secrets = [*console.far.secrets, *console.far.google.refresh, *console.far.hubspot.refresh]
    rows = repr(await console.server.everything())
    assert len(secrets) >= 12
    logged = whole_log.getvalue()
    assert "/connect/ga4/callback" in logged
    for name, text in (("pages", "".join(seen)), ("rows", rows), ("log", logged)):
        assert [secret for secret in secrets if secret in text] == [], name
