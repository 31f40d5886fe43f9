"""Consent through the pages: who asked gets it, once, and everything else is a page that says what to do."""

from __future__ import annotations

import io
import os
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from tests.support.connections.desk import WHERE, Desk, at_desk, way_out
from tests.support.connections.kit import connect, consent
from tests.support.review.kit import forms
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
async def test_a_consent_becomes_a_connection(desk_on_any_store: Desk, provider: str) -> None:
    desk = desk_on_any_store
    await desk.connect(provider)

    found = await desk.connection(provider)
    assert found is not None
    assert (found.live, found.connected_by) == (True, "owner")
    access = await desk.house.app.connections.access(LOCAL_WORKSPACE, provider)
    assert access is not None
    assert desk.far.granting(provider).valid(access.secrets["accessToken"])


async def test_the_question_carries_a_challenge_and_the_least_scope(desk: Desk) -> None:
    asked = dict(parse_qsl(urlsplit(await desk.ask("ga4")).query))

    assert asked["code_challenge_method"] == "S256"
    assert asked["access_type"] == "offline"
    assert asked["scope"] == "https://www.googleapis.com/auth/analytics.readonly"
    assert asked["redirect_uri"] == f"{desk.house.base_url}/connect/ga4/callback"
    assert "secret" not in urlencode(asked)


async def test_a_replayed_state_connects_nothing_a_second_time(desk_on_any_store: Desk) -> None:
    desk = desk_on_any_store
    brought = await consent(await desk.ask("hubspot"))
    assert (await desk.back("hubspot", brought)).status_code == 303
    first = await desk.connection("hubspot")

    again = await desk.back("hubspot", brought)

    assert again.status_code == 400
    assert "Nothing was connected" in again.text
    assert await desk.connection("hubspot") == first
    assert len(desk.far.hubspot.happened("token_issued")) == 1


async def test_a_wrong_state_never_reaches_the_provider(desk: Desk) -> None:
    brought = await consent(await desk.ask("ga4"))
    for changed in ({**brought, "state": "x" * 43}, {"code": brought["code"]}, {}):
        assert (await desk.back("ga4", changed)).status_code == 400
    assert (await desk.back("search_console", brought)).status_code == 400
    assert not desk.far.google.happened("token_issued")
    assert await desk.connection("ga4") is None


async def test_a_state_of_another_browser_connects_nothing_and_is_not_used_up(desk: Desk) -> None:
    brought = await consent(await desk.ask("ga4"))
    elsewhere = await desk.house.owner(desk.house.browser())
    assert (await desk.back("ga4", brought, elsewhere)).status_code == 400
    assert (await desk.back("ga4", brought, desk.house.browser())).status_code == 401

    assert (await desk.back("ga4", brought)).status_code == 303


async def test_a_state_expires(desk: Desk) -> None:
    brought = await consent(await desk.ask("hubspot"))
    desk.house.clock.advance(seconds=STATE_TTL_MS / 1000)
    answer = await desk.back("hubspot", brought)
    assert answer.status_code == 400
    assert not desk.far.hubspot.happened("token_issued")


async def test_a_no_changes_nothing_and_says_how_to_go_on(desk: Desk) -> None:
    answer = await desk.back("hubspot", await consent(await desk.ask("hubspot"), "deny"))
    assert answer.status_code == 403
    assert "HubSpot was not connected" in answer.text
    assert "/connect/hubspot" in answer.text
    assert await desk.connection("hubspot") is None


async def test_without_a_refresh_token_nothing_is_kept(desk: Desk) -> None:
    desk.far.google.withhold_refresh_token = True
    answer = await desk.back("ga4", await consent(await desk.ask("ga4")))
    assert answer.status_code == 502
    assert "myaccount.google.com" in answer.text
    assert await desk.connection("ga4") is None


async def test_a_consent_to_less_than_is_needed_is_not_kept(desk: Desk) -> None:
    url = (await desk.ask("hubspot")).replace("crm.objects.contacts.write", "")
    answer = await desk.back("hubspot", await consent(url))
    assert answer.status_code == 403
    assert "every box" in answer.text
    assert await desk.connection("hubspot") is None


async def test_a_token_endpoint_that_fails_is_a_page_that_says_so(desk: Desk) -> None:
    brought = await consent(await desk.ask("hubspot"))
    desk.far.hubspot.plan(Outcome.ERROR_BEFORE)
    answer = await desk.back("hubspot", brought)
    assert answer.status_code == 502
    assert "HTTP 503" in answer.text
    assert await desk.connection("hubspot") is None


async def test_looking_ahead_at_the_callback_uses_nothing_up(desk: Desk) -> None:
    brought = await consent(await desk.ask("hubspot"))
    looked = await desk.browser.head(f"/connect/hubspot/callback?{urlencode(brought)}")
    assert looked.status_code == 405
    assert (await desk.back("hubspot", brought)).status_code == 303


async def test_a_form_of_another_site_or_for_another_workspace_asks_for_nothing(desk: Desk) -> None:
    page = await desk.browser.get(f"/connect/ga4{WHERE}")
    form = next(each for each in forms(page.text) if "/consent" in each.address)
    foreign = await desk.browser.post(
        form.address, data=form.fields, headers={"Sec-Fetch-Site": "cross-site"}
    )
    stale = await desk.browser.post(form.address, data={"nonce": "x"})
    other = await desk.browser.post(form.address.replace("/ga4/", "/search_console/"), data=form.fields)
    assert (foreign.status_code, stale.status_code, other.status_code) == (403, 403, 403)
    nowhere = await desk.browser.get("/connect/ga4?workspace=0197c3a0-0000-7000-8000-000000000000")
    assert nowhere.status_code == 404
    assert (await desk.house.browser().get("/connect/ga4")).status_code == 401


async def test_a_member_connects_in_their_own_workspace_and_in_no_other(desk: Desk) -> None:
    services, now_ms = desk.house.services, desk.house.clock.now_ms()
    theirs = WorkspaceId(services.new_id(now_ms))
    entropy = services.entropy(people.ENTROPY_BYTES)
    grace = Person("grace", "Grace", Role.MEMBER)

    def invite() -> Transaction[str]:
        yield from tenancy.create_workspace(theirs, "theirs", now_ms, by="test")
        return (yield from members.invite(grace, (theirs,), entropy, now_ms, by="test"))

    token = await desk.house.app.store.write(invite)
    browser = desk.house.browser()
    assert (await browser.post(f"/sign-in/{token}", data={})).status_code == 303

    assert (await browser.get(f"/connect/hubspot{WHERE}")).status_code == 404
    page = await browser.get(f"/connect/hubspot?workspace={theirs}")
    form = next(each for each in forms(page.text) if "/consent" in each.address)
    crossed = form.address.replace(theirs, LOCAL_WORKSPACE)
    assert (await browser.post(crossed, data=form.fields)).status_code == 404
    leaving = await browser.post(form.address, data=form.fields)
    answer = await desk.back("hubspot", await consent(way_out(leaving.text)), browser)
    assert answer.status_code == 303
    assert await desk.connection("hubspot") is None
    found = await desk.house.app.connections.find(theirs, "hubspot")
    assert found is not None and (found.live, found.connected_by) == (True, "Grace")


async def test_from_another_address_of_the_server_the_page_leads_to_its_own(desk: Desk) -> None:
    page = await desk.browser.get(f"/connect/ga4{WHERE}")
    form = next(each for each in forms(page.text) if "/consent" in each.address)
    elsewhere = {"Origin": "http://localhost:8080"}
    answer = await desk.browser.post(form.address, data=form.fields, headers=elsewhere)
    assert answer.status_code == 400
    assert f"{desk.house.base_url}/connect/ga4" in answer.text


async def test_a_page_that_finds_the_access_ended_says_so_at_once(desk: Desk) -> None:
    await desk.connect("ga4")
    desk.far.google.revoke_all()
    page = await desk.browser.get(f"/connect/ga4{WHERE}")
    assert page.status_code == 200
    assert "The connection has ended" in page.text
    assert [each for each in forms(page.text) if "/consent" in each.address]


async def test_the_property_is_picked_from_a_list_or_typed(desk: Desk) -> None:
    await desk.connect("ga4")
    page = await desk.browser.get(f"/connect/ga4{WHERE}")
    assert "Assent" in page.text and 'value="1234"' in page.text
    assert (await desk.press("ga4", "choose", choice="not a number")).status_code == 400

    assert (await desk.press("ga4", "choose", choice="properties/1234")).status_code == 303
    found = await desk.connection("ga4")
    assert found is not None and found.settings == {"propertyId": "1234"}

    desk.far.search.offers_list = False
    await desk.connect("search_console")
    assert (await desk.press("search_console", "choose", typed="example.org")).status_code == 400
    assert (await desk.press("search_console", "choose", typed="https://example.org")).status_code == 303
    found = await desk.connection("search_console")
    assert found is not None and found.settings == {"siteUrl": "https://example.org/"}
    page = await desk.browser.get(f"/connect/search_console{WHERE}&choose=1")
    form = next(each for each in forms(page.text) if "/choose?" in each.address)
    domain = {**form.fields, "typed": "sc-domain:example.org"}
    assert (await desk.browser.post(form.address, data=domain)).status_code == 303
    found = await desk.connection("search_console")
    assert found is not None and found.settings == {"siteUrl": "sc-domain:example.org"}


async def test_connecting_again_keeps_what_was_chosen(desk: Desk) -> None:
    await desk.connect("ga4")
    await desk.press("ga4", "choose", choice="1234")
    connection = await desk.connection("ga4")
    assert connection is not None
    await desk.house.app.connections.mark_expired(connection, "Google says invalid_grant")
    page = await desk.browser.get(f"/connect/ga4{WHERE}")
    assert "The connection has ended" in page.text
    assert "Google says invalid_grant" in page.text

    await desk.connect("ga4")
    found = await desk.connection("ga4")
    assert found is not None and (found.live, found.settings) == (True, {"propertyId": "1234"})


async def test_disconnecting_destroys_the_tokens_and_tells_google(desk: Desk) -> None:
    await desk.connect("ga4")
    answer = await desk.press("ga4", "disconnect")
    assert answer.status_code == 303
    found = await desk.connection("ga4")
    assert found is not None and found.state == "revoked"
    assert len(desk.far.google.happened("revoked")) == 1
    assert await desk.house.app.connections.access(LOCAL_WORKSPACE, "ga4") is None


async def test_disconnecting_in_the_chat_tells_google_too(desk: Desk) -> None:
    await desk.connect("ga4")
    entropy = tenancy.KeyEntropy(os.urandom(tenancy.KEY_ID_BYTES), os.urandom(tenancy.SECRET_BYTES))
    issued = await desk.house.app.store.write(
        lambda: tenancy.issue_key(LOCAL_WORKSPACE, entropy, desk.house.clock.now_ms(), by="test")
    )
    agent = desk.house.browser(Authorization=f"Bearer {issued.api_key}")
    answer = await agent.post("/api/tools/chieflab_disconnect_provider", json={"provider": "ga4"})
    assert answer.json()["disconnected"] is True
    assert len(desk.far.google.happened("revoked")) == 1


async def test_disconnecting_one_of_googles_sources_leaves_the_other_alone(desk: Desk) -> None:
    await desk.connect("ga4")
    await desk.connect("search_console")
    await desk.press("ga4", "disconnect")
    assert not desk.far.google.happened("revoked")
    other = await desk.connection("search_console")
    assert other is not None and other.live


async def test_disconnecting_leaves_the_connection_of_another_workspace_alone(desk: Desk) -> None:
    services, now_ms = desk.house.services, desk.house.clock.now_ms()
    elsewhere = WorkspaceId(services.new_id(now_ms))
    await desk.house.app.store.write(
        lambda: tenancy.create_workspace(elsewhere, "elsewhere", now_ms, by="test")
    )
    await connect(desk.house.app, "ga4", elsewhere)
    await desk.connect("ga4")
    await desk.press("ga4", "disconnect")
    assert not desk.far.google.happened("revoked")


@pytest.mark.parametrize("provider", ["ga4", "hubspot"])
async def test_without_a_registered_app_the_page_says_what_to_set(tmp_path: Path, provider: str) -> None:
    nothing = {"google_client_id": None, "hubspot_client_secret": None}
    async with at_desk(new_sqlite(tmp_path / "assent.db"), tmp_path, **nothing) as desk:
        page = await desk.browser.get(f"/connect/{provider}{WHERE}")
        assert page.status_code == 200
        assert "_CLIENT_ID</code>" in page.text and "_CLIENT_SECRET</code>" in page.text
        assert not [each for each in forms(page.text) if "/consent" in each.address]


@pytest.mark.rule("E8")
async def test_no_secret_is_in_any_page_header_journal_or_row(
    desk_on_any_store: Desk, whole_log: io.StringIO
) -> None:
    desk = desk_on_any_store
    seen = desk.keep_answers()
    for provider in ("ga4", "search_console", "hubspot"):
        brought = await consent(await desk.ask(provider))
        await desk.back(provider, brought)
        await desk.back(provider, brought)
        await desk.browser.get(f"/connect/{provider}{WHERE}")
    await desk.browser.get("/connect")
    desk.house.clock.advance(hours=2)
    await desk.browser.get(f"/connect/ga4{WHERE}&choose=1")

    secrets = [*desk.far.secrets, *desk.far.google.refresh, *desk.far.hubspot.refresh]
    rows = repr(await desk.house.everything())
    assert len(secrets) >= 12
    logged = whole_log.getvalue()
    assert "/connect/ga4/callback" in logged
    for name, text in (("pages", "".join(seen)), ("rows", rows), ("log", logged)):
        assert [secret for secret in secrets if secret in text] == [], name
