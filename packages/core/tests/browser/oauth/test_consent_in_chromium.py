"""A person lets a client in with a real browser: from its address, over signing in, to the client's door."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Browser, expect
from tests.support.chromium import closed
from tests.support.net.stub_server import Answer, stub_server
from tests.support.oauth.kit import make_client
from tests.support.oauth.plain_client import make_pkce
from tests.support.review.browser import served
from tests.support.shell.screen import sign_in

pytestmark = pytest.mark.slow


async def test_a_person_signs_and_the_browser_takes_the_code_to_the_client(
    browser: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path, host="localhost") as server:
        await server.app.prepare()
        context = await browser.new_context(viewport={"width": 390, "height": 844})
        with stub_server() as door:
            door.answers["/"] = Answer()
            client = make_client(server, name="Laptop", redirect_uri=door.url("/callback"))
            await client.discover(await client.greet())
            await client.register()
            verifier, challenge = make_pkce()
            url = client.authorization_url(challenge, "state of the client")

            page = await context.new_page()
            await page.goto(url)
            await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in first")
            await sign_in(context, server)
            await page.goto(url)
            await page.get_by_label("Send what is approved").uncheck()
            await page.get_by_role("button", name="Let it in").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Let this client in?")
            await page.locator("#confirm-key:enabled").click()
            await page.wait_for_url("**/callback?**")

            (asked,) = [each for each in door.asked if each.path.startswith("/callback")]
            answer = {name: values[0] for name, values in parse_qs(urlsplit(asked.path).query).items()}
            assert (answer["state"], answer["iss"]) == ("state of the client", server.base_url)
            # The code stands in no address that another site is told.
            assert asked.headers.get("referer", "") in ("", f"{server.base_url}/")
            client.keep(await client.exchange(answer["code"], verifier))
            assert client.tokens["scope"] == "runs:write actions:decide"
            assert (await client.call("chieflab_status")).status_code == 200
        await closed(context)
