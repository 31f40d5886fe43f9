"""Keys in a real browser: the one that it makes when it signs in, passkeys of Chromium's virtual authenticator, and
pages on another port of the same host, which get the cookie and nothing more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect
from tests.support.chromium import closed
from tests.support.keyed_browser import is_confirm_page
from tests.support.net.stub_server import Answer, stub_server
from tests.support.review.browser import served, violations
from tests.support.review.kit import BROWSER, Server, form, forms, mail
from tests.support.shell.screen import sign_in

pytestmark = pytest.mark.slow


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with served(tmp_path, host="localhost") as made:
        await made.app.prepare()
        yield made


@pytest.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    made = await browser.new_context(viewport={"width": 390, "height": 844})
    try:
        yield made
    finally:
        await closed(made)


async def authenticator(page: Page, *, verified: bool = True) -> None:
    """Give the page's browser an authenticator with passkeys."""
    session = await page.context.new_cdp_session(page)
    await session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": verified,
        "automaticPresenceSimulation": True,
    }
    await session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


async def press_approve(server: Server, page: Page) -> str:
    """Press approve for something of high risk; the action. A browser that has its key signs at once."""
    run = await server.stage(mail(recipients=60))
    action_id: str = run.actions[0].id
    await page.goto(f"{server.base_url}/runs/{run.run_id}?action={action_id}&open=approve#action-{action_id}")
    approving = page.locator(f'form[data-decision="approve"][data-action-id="{action_id}"]')
    await approving.get_by_role("button", name="Approve only").click()
    return action_id


async def press_approve_without_key(server: Server, page: Page) -> str:
    """Press approve in a browser that has lost its key: the confirm page comes up."""
    await page.goto(f"{server.base_url}/sign-in")
    await page.evaluate("new Promise(done => { indexedDB.deleteDatabase('assent-keys').onsuccess = done })")
    action_id = await press_approve(server, page)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Approve this?")
    return action_id


async def approval(server: Server, action_id: str) -> str | None:
    action = await server.action(action_id)
    return action.approval.assurance.value if action.approval is not None else None


async def test_a_person_confirms_high_risk_with_the_key_of_their_browser(
    server: Server, context: BrowserContext
) -> None:
    await sign_in(context, server)
    page = await context.new_page()

    action_id = await press_approve(server, page)
    await page.wait_for_url("**did=approve**")

    assert await approval(server, action_id) == "person"
    second = await press_approve_without_key(server, page)
    assert await violations(page) == []
    await expect(page.get_by_role("heading", name="This browser has no key for this")).to_be_visible()
    await expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    assert await approval(server, second) is None


async def test_the_key_cannot_be_exported(server: Server, context: BrowserContext) -> None:
    await sign_in(context, server)
    page = await context.new_page()
    await page.goto(f"{server.base_url}/sign-in")
    said = await page.evaluate("""new Promise(done => {
      const opening = indexedDB.open("assent-keys", 1);
      opening.onsuccess = () => {
        const asked = opening.result.transaction("keys").objectStore("keys").getAll();
        asked.onsuccess = () => Promise.all(asked.result.map(key => Promise.all([key.extractable,
          crypto.subtle.exportKey("jwk", key).then(() => "exported", error => error.name)]))).then(done);
      };
    })""")
    assert said == [[False, "InvalidAccessError"]]


async def test_a_page_on_another_port_gets_the_cookie_and_can_confirm_nothing(
    server: Server, context: BrowserContext
) -> None:
    await sign_in(context, server)
    with stub_server() as far:
        far.answers["/"] = Answer(
            body=b"<!doctype html><title>x</title>", headers={"Content-Type": "text/html"}
        )
        page = await context.new_page()
        await page.goto(far.url(host="localhost"))
        cookies = dict(each.split("=", 1) for each in far.asked[0].headers["cookie"].split("; "))
        assert "assent-session" in cookies

        # The page of the attacker, in the browser of the person.
        assert await page.evaluate("indexedDB.databases().then(found => found.map(each => each.name))") == []
        refused = await page.evaluate(
            """async base => {
              const form = new URLSearchParams({preset: "people"});
              const answer = await fetch(base + "/settings/policy", {method: "POST", body: form, mode: "no-cors",
                credentials: "include"}).catch(error => error);
              return answer.type || String(answer);
            }""",
            server.base_url,
        )
        assert refused in ("opaque", "TypeError: Failed to fetch")

        # The server of the attacker, with every cookie and every form.
        async with httpx.AsyncClient(base_url=server.base_url, cookies=cookies, headers=BROWSER) as stolen:
            run = await server.stage(mail(recipients=60))
            action_id = run.actions[0].id
            shown = form((await stolen.get(f"/runs/{run.run_id}")).text, action_id, "approve")
            before = await server.everything()
            assert is_confirm_page(await stolen.post(shown.address, data=shown.fields))
            for path, fields in (
                ("/settings/policy", {"preset": "people"}),
                ("/settings/keys", {"label": "mine"}),
                ("/settings/people", {"name": "Eve", "role": "owner"}),
            ):
                told = [each for each in forms((await stolen.get(path)).text) if each.address == path]
                answer = await stolen.post(path, data={**told[-1].fields, **fields})
                assert is_confirm_page(answer), path
            assert await server.everything() == before


async def add_passkey(server: Server, page: Page) -> None:
    await page.goto(f"{server.base_url}/settings/passkeys")
    await page.get_by_label("What you call it").fill("Laptop")
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Add this passkey?")
    await page.get_by_role("button", name="Add it").click()
    await expect(page.get_by_role("button", name="Remove Laptop")).to_be_visible()


async def test_a_passkey_is_added_signs_in_confirms_and_is_removed(
    server: Server, context: BrowserContext
) -> None:
    await sign_in(context, server)
    page = await context.new_page()
    await authenticator(page)
    await add_passkey(server, page)
    assert await violations(page) == []

    action_id = await press_approve_without_key(server, page)
    await page.get_by_role("button", name="Approve with a passkey").click()
    await page.wait_for_url("**did=approve**")
    assert await approval(server, action_id) == "passkey"

    await context.clear_cookies()
    await page.goto(f"{server.base_url}/sign-in")
    assert await violations(page) == []
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await page.wait_for_url("**/inbox")
    action_id = await press_approve(server, page)
    await page.wait_for_url("**did=approve**")
    assert await approval(server, action_id) == "person"

    await page.goto(f"{server.base_url}/settings/passkeys")
    await page.get_by_role("button", name="Remove Laptop").click()
    await page.get_by_role("button", name="Remove it", exact=True).click()
    await expect(page.get_by_text("You have none here yet.")).to_be_visible()


async def test_a_passkey_without_a_verified_user_is_refused(server: Server, context: BrowserContext) -> None:
    await sign_in(context, server)
    page = await context.new_page()
    await authenticator(page, verified=False)
    await page.goto(f"{server.base_url}/settings/passkeys")
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    assert (await server.everything())["passkeys"] == []


async def test_a_passkey_used_on_another_port_is_refused(server: Server, context: BrowserContext) -> None:
    await sign_in(context, server)
    page = await context.new_page()
    await authenticator(page)
    await add_passkey(server, page)
    action_id = await press_approve_without_key(server, page)
    fields = await page.evaluate(
        "Object.fromEntries(new FormData(document.querySelector('[data-confirms]')))"
    )
    told = await page.locator("[data-confirms]").evaluate(
        "form => ({...form.dataset, action: form.getAttribute('action')})"
    )
    with stub_server() as far:
        far.answers["/"] = Answer(
            body=b"<!doctype html><title>x</title>", headers={"Content-Type": "text/html"}
        )
        await page.goto(far.url(host="localhost"))
        proof = await page.evaluate(ASSERT, [fields, told])
    assert proof.startswith("passkey:")
    cookies = {each["name"]: each["value"] for each in await context.cookies()}

    async with httpx.AsyncClient(base_url=server.base_url, cookies=cookies, headers=BROWSER) as stolen:
        answer = await stolen.post(told["action"], data={**fields, "proof": proof})

    assert answer.status_code == 403
    assert await approval(server, action_id) is None


ASSERT = """async ([fields, told]) => {
  const text = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const covered = Object.keys(fields).filter(name => !["confirm", "proof"].includes(name)).sort();
  const said = {fields: Object.fromEntries(covered.map(name => [name, fields[name]])), nonce: fields.confirm,
    origin: told.origin, path: told.action, session: told.session, version: "assent confirm 1"};
  const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(said)));
  const used = await navigator.credentials.get(
    {publicKey: {challenge, rpId: "localhost", userVerification: "required"}});
  const {clientDataJSON, authenticatorData, signature} = used.response;
  return "passkey:" + JSON.stringify({id: used.id, rawId: text(used.rawId), type: used.type, response: {
    clientDataJSON: text(clientDataJSON), authenticatorData: text(authenticatorData), signature: text(signature)}});
}"""
