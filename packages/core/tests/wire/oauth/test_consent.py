"""What a person sees of a client, what they can take away, and where they find it again."""

from __future__ import annotations

import os
from typing import Any

import pytest
from tests.support.oauth.kit import DOCUMENT, Person, document, find_way_back, make_client, publishing
from tests.support.oauth.plain_client import PlainClient, make_pkce, read_challenge
from tests.support.review.kit import Server

from assent.engine.actions import policies
from assent.engine.core import tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import client_grants
from assent.gate.rules.source import preset_source

KEYED = "chieflab_status"
RIGHTS = ("runs:write", "actions:decide", "actions:execute")


async def asking(server: Server, **given: Any) -> PlainClient:
    client = make_client(server, **given)
    await client.discover(await client.greet())
    await client.register()
    return client


async def test_a_person_sees_the_client_its_host_the_workspace_and_its_rights_in_words(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(await server.owner())
    client = await asking(server, client_id=DOCUMENT)
    client.redirect_uri = "http://localhost:61234/callback"  # any port of the machine
    with publishing(monkeypatch) as web:
        web.publish(DOCUMENT, document(client_name="Claude Code"))
        shown = (await person.look(client.authorization_url(make_pkce()[1], "s"))).text

    for words in (
        "“Claude Code”",
        "what it calls itself",
        "client.example",
        "localhost:61234, on this computer",
        "Any program on your computer",
        "Prepare drafts",
        "Pass on your yes",
        "Send what is approved",
    ):
        assert words in shown, words
    assert all(f'name="{right}" value="on" checked' in shown for right in RIGHTS)


async def test_a_client_that_registered_itself_is_said_to_be_published_by_no_one(server: Server) -> None:
    person = Person(await server.owner())
    client = await asking(server, redirect_uri="https://client.example/callback")
    shown = (await person.look(client.authorization_url(make_pkce()[1], "s"))).text

    assert "its name proves nothing" in shown
    assert "client.example" in shown


async def test_of_the_ways_back_that_cursor_registers_those_are_kept_that_mcp_allows(server: Server) -> None:
    app, web, local = (
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    )
    client, person = make_client(server), Person(await server.owner())
    await client.discover(await client.greet())
    answer = await client.http.post("/oauth/register", json={"redirect_uris": [app, web, local]})
    assert (answer.status_code, answer.json()["redirect_uris"]) == (201, [web, local])
    client.client_id = answer.json()["client_id"]

    for way in (web, local):
        client.redirect_uri = way
        client.keep(await client.exchange(*await client.ask(person.let_in)))
        assert (await client.call(KEYED)).json()["result"]["structuredContent"]["ok"] is True
    client.redirect_uri = app
    refused = await person.look(client.authorization_url(make_pkce()[1], "s"))
    assert refused.status_code == 400 and app not in refused.headers.get("location", "")


@pytest.mark.parametrize("preset", ["people", "two_people"])
async def test_no_right_is_ticked_that_the_policy_gives_no_agent(server: Server, preset: str) -> None:
    person, now_ms = Person(await server.owner()), server.clock.now_ms()
    await server.app.store.write(
        lambda: policies.save(LOCAL_WORKSPACE, preset_source(preset), now_ms, by="test")
    )
    client = await asking(server)
    client.keep(await client.exchange(*await client.ask(person.let_in)))

    assert client.tokens["scope"] == "runs:write actions:execute"


async def test_a_person_takes_rights_away_and_the_rest_is_the_key(server: Server) -> None:
    person = Person(await server.owner())
    client = await asking(server, name="Small")
    client.keep(await client.exchange(*await client.ask(lambda url: person.let_in(url, without=RIGHTS))))

    assert client.tokens["scope"] == ""
    assert (await client.call(KEYED)).json()["result"]["structuredContent"]["ok"] is True
    keys = await server.app.store.read(lambda: tenancy.list_keys(LOCAL_WORKSPACE))
    assert [(key.label, key.scopes, key.client) for key in keys] == [("Small", (), "127.0.0.1")]


@pytest.mark.rule("E82")
async def test_a_client_for_tests_gets_a_key_for_tests(server: Server) -> None:
    person = Person(await server.owner())
    client = await asking(server)
    client.keep(await client.exchange(*await client.ask(lambda url: person.let_in(url, test="on"))))
    assert client.tokens["access_token"].startswith("clp_dev_")
    client.keep(await client.refresh())
    assert client.tokens["access_token"].startswith("clp_dev_")

    other = await asking(server)
    other.keep(await other.exchange(*await other.ask(person.let_in)))
    assert other.tokens["access_token"].startswith("clp_live_")


async def test_who_is_not_signed_in_comes_back_to_the_request_afterwards(server: Server) -> None:
    client = await asking(server)
    browser = server.browser()
    person, url = Person(browser), client.authorization_url(make_pkce()[1], "s" * 900)
    asked = await person.look(url)
    way = asked.text.partition('href="/sign-in?then=')[2].partition('"')[0]
    await browser.get(f"/sign-in?then={way}")
    signed_in = await browser.post(await server.sign_in_path())

    assert signed_in.status_code == 303
    back = await browser.get(signed_in.headers["location"])
    assert "Let a client in?" in back.text
    find_way_back(await person.answer(back))


async def test_a_client_is_listed_among_the_keys_and_ended_by_itself(server_on_any_store: Server) -> None:
    server = server_on_any_store
    person = Person(await server.owner())
    for name in ("access_token", "refresh_token"):
        client = await asking(server, name=f"By {name}")
        client.keep(await client.exchange(*await client.ask(person.let_in)))
        assert f"By {name}" in (await person.look("/settings/keys")).text

        assert (await client.revoke(client.tokens[name])).status_code == 200
        assert (await client.call(KEYED)).status_code == 401
        assert (await client.refresh()).status_code == 400
    keys = await server.app.store.read(lambda: tenancy.list_keys(LOCAL_WORKSPACE))
    assert all(key.revoked_ms is not None for key in keys)
    assert (await client.revoke("no token at all")).status_code == 200


async def test_a_client_is_told_which_right_it_lacks_if_it_did_not_ask_for_it(server: Server) -> None:
    person = Person(await server.owner())
    client = await asking(server, scope="runs:write")
    client.keep(await client.exchange(*await client.ask(person.let_in)))

    refused = await client.call("chieflab_approve_action", actionId=f"{0:08}-0000-7000-8000-{0:012}")

    said = read_challenge(refused)
    assert (refused.status_code, said["error"], said["scope"]) == (
        403,
        "insufficient_scope",
        "actions:decide",
    )
    assert said["resource_metadata"].endswith("/.well-known/oauth-protected-resource/api/mcp")


async def test_codes_and_grants_that_ended_are_forgotten_with_their_keys(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    person = Person(await server.owner())
    client = await asking(server)
    await client.ask(person.let_in)
    client.keep(await client.exchange(*await client.ask(person.let_in)))

    server.clock.advance(days=31)
    now_ms = server.clock.now_ms()
    assert await server.app.store.write(lambda: client_grants.forget_ended(now_ms, 100)) == 2

    keys = await server.app.store.read(lambda: tenancy.list_keys(LOCAL_WORKSPACE))
    assert [key.revoked_ms is not None for key in keys] == [True, True]
    assert (await server.everything())["client_grants"] == []


async def test_a_key_of_a_client_is_not_rotated_by_hand(server: Server) -> None:
    person = Person(await server.owner())
    client = await asking(server)
    client.keep(await client.exchange(*await client.ask(person.let_in)))
    (key,) = await server.app.store.read(lambda: tenancy.list_keys(LOCAL_WORKSPACE))
    entropy, now_ms = tenancy.KeyEntropy(os.urandom(8), os.urandom(24)), server.clock.now_ms()

    rotated = await server.app.store.write(
        lambda: tenancy.rotate_key(LOCAL_WORKSPACE, key.key_id, entropy, now_ms, by="test")
    )

    assert rotated is None
    assert (await client.call(KEYED)).status_code == 200


async def test_a_person_answers_in_two_tabs(server: Server) -> None:
    person = Person(await server.owner())
    first, second = await asking(server, name="One"), await asking(server, name="Two")
    tabs = [(each, *make_pkce()) for each in (first, second)]
    shown = [await person.look(each.authorization_url(challenge, "s")) for each, _, challenge in tabs]
    for (client, verifier, _), page in reversed(list(zip(tabs, shown, strict=True))):
        code = find_way_back(await person.answer(page)).partition("code=")[2].partition("&")[0]
        client.keep(await client.exchange(code, verifier))
    assert {(await client.call(KEYED)).status_code for client in (first, second)} == {200}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_a_program_on_this_machine_is_answered_at_any_port(server: Server, host: str) -> None:
    person = Person(await server.owner())
    client = await asking(server, redirect_uri=f"http://{host}/callback")
    for port in ("", ":1", ":65535"):
        client.redirect_uri = f"http://{host}{port}/callback"
        client.keep(await client.exchange(*await client.ask(person.let_in)))
