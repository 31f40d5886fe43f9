"""Keys through the page: checked with the provider before they are kept, and never seen again."""

from __future__ import annotations

import pytest
from tests.support.connections.console import WHERE, Console
from tests.support.review.kit import forms

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import API_KEY, ConnectorInfo
from assent.serving.web.connections.provider import find_words
from assent_conform.emulators import bluesky, zernio
from assent_conform.emulators import email as resend
from assent_conform.testing.provider_server import Outcome
from assent_launch.channels.registry import CONNECTORS

KEYS = {"zernio": zernio.KEY, "resend": resend.KEY, "bluesky": bluesky.KEY}


@pytest.mark.parametrize("provider", [*KEYS])
async def test_a_key_is_checked_kept_and_usable(console_on_any_store: Console, provider: str) -> None:
    console = console_on_any_store
    answer = await console.press(provider, "key", key=f"  {KEYS[provider]} ")

    assert (answer.status_code, answer.headers["location"]) == (
        303,
        f"/connect/{provider}{WHERE}&did=connected",
    )
    held = await console.server.app.connections.access(LOCAL_WORKSPACE, provider)
    assert held is not None
    assert held.secrets[API_KEY] == KEYS[provider]
    assert held.connection.accounts
    readiness = await console.server.services.connectors[provider].readiness(LOCAL_WORKSPACE)
    assert readiness.ready


@pytest.mark.parametrize("provider", [*KEYS])
async def test_a_key_that_the_provider_does_not_accept_is_not_kept_and_not_shown(
    console: Console, provider: str
) -> None:
    wrong = KEYS[provider][:-4] + "beef"
    answer = await console.press(provider, "key", key=wrong)

    assert answer.status_code == 400
    assert "does not accept this key" in answer.text
    assert wrong not in answer.text
    assert await console.connection(provider) is None


@pytest.mark.parametrize("key", ["", "x" * 600, "schlüssel"])
async def test_what_cannot_be_a_key_is_not_sent_anywhere(console: Console, key: str) -> None:
    answer = await console.press("zernio", "key", key=key)
    assert answer.status_code == 400
    assert not console.far.zernio.ledger.entries()


@pytest.mark.parametrize("fault", [Outcome.ERROR_BEFORE, Outcome.RESET_BEFORE, Outcome.REFUSE_429])
async def test_a_provider_that_cannot_be_asked_is_no_wrong_key(console: Console, fault: Outcome) -> None:
    console.far.zernio.plan(fault)
    answer = await console.press("zernio", "key", key=KEYS["zernio"])
    assert answer.status_code == 400
    assert "does not accept this key" not in answer.text
    assert await console.connection("zernio") is None


async def test_where_posts_go_is_chosen_per_platform(console: Console) -> None:
    await console.press("zernio", "key", key=KEYS["zernio"])
    chosen = {"platform-linkedin": "acc_linkedin_ada", "platform-twitter": ""}

    answer = await console.press("zernio", "choose", **chosen)

    assert answer.status_code == 303
    connection = await console.connection("zernio")
    assert connection is not None
    assert [account.id for account in connection.accounts if account.chosen] == ["acc_linkedin_ada"]
    forged = await console.press("zernio", "choose", **{"platform-linkedin": "somebody_elses"})
    assert forged.status_code == 400
    assert await console.connection("zernio") == connection


async def test_a_key_that_ended_asks_for_another(console: Console) -> None:
    await console.press("zernio", "key", key=KEYS["zernio"])
    connection = await console.connection("zernio")
    assert connection is not None
    await console.server.app.connections.mark_expired(connection, "Zernio does not accept its key any more")
    page = await console.browser.get(f"/connect/zernio{WHERE}")
    assert "does not accept its key any more" in page.text

    assert (await console.press("zernio", "key", key=KEYS["zernio"])).status_code == 303
    found = await console.connection("zernio")
    assert found is not None and found.live


async def test_disconnecting_destroys_the_key(console: Console) -> None:
    await console.press("resend", "key", key=KEYS["resend"])
    assert (await console.press("resend", "disconnect")).status_code == 303
    assert await console.server.app.connections.access(LOCAL_WORKSPACE, "resend") is None
    assert not [row for row in (await console.server.everything())["vault_secrets"] if "resend" in row]


async def test_every_provider_that_a_workspace_can_connect_has_its_page(console: Console) -> None:
    listed = await console.browser.get("/connect")
    for info in CONNECTORS:
        page = await console.browser.get(f"/connect/{info.id}{WHERE}")
        connectable = info.auth_mode != "none"
        assert page.status_code == (200 if connectable else 404), info.id
        assert (f"/connect/{info.id}?" in listed.text) is connectable, info.id
        if info.auth_mode == "api_key":
            assert 'type="password"' in page.text, info.id


def test_a_provider_without_words_of_its_own_says_what_it_says_about_itself() -> None:
    info = ConnectorInfo("new", "New", "Does new things.", "api_key", (), ("publish",))
    words = find_words(info)
    assert words is not None and words.key is not None
    assert words.gives == "Does new things."


async def test_consent_is_not_for_keys_and_keys_are_not_for_consent(console: Console) -> None:
    page = await console.browser.get(f"/connect/hubspot{WHERE}")
    form = next(each for each in forms(page.text) if "/consent" in each.address)
    crossed = await console.browser.post(
        form.address.replace("/consent", "/key"), data={**form.fields, "key": KEYS["zernio"]}
    )
    assert crossed.status_code == 404
    page = await console.browser.get(f"/connect/zernio{WHERE}")
    form = next(each for each in forms(page.text) if "/key" in each.address)
    assert (
        await console.browser.post(form.address.replace("/key", "/consent"), data=form.fields)
    ).status_code == 404
    assert (await console.browser.get("/connect/site")).status_code == 404
