"""A person in front of a chat: reads, answers, says yes, and opens the pages that an answer asks to open."""

from __future__ import annotations

import os
import re
from typing import Any

from tests.support.keyed_browser import KeyedBrowser
from tests.support.review.kit import BROWSER, forms
from tests.support.surfaces import BASE_URL, Surface

from assent.engine.people import people
from assent.engine.people.people import OWNER

LINK = re.compile(r"https?://[^\s)>“”]+")


class Person:
    """`wish` is what they want to go out; `owns` is whether they can sign in at this server."""

    def __init__(self, surface: Surface, wish: dict[str, Any], *, provider_key: str = "") -> None:
        self.surface = surface
        self.wish = wish
        self.provider_key = provider_key
        self.by_hand = False
        self.opened: list[str] = []
        self.browser = KeyedBrowser(
            transport=surface.wire,
            base_url=BASE_URL,
            headers={**BROWSER, "Origin": BASE_URL},
            follow_redirects=True,
        )

    async def close(self) -> None:
        await self.browser.aclose()

    # What the agent asks

    def say(self, words: list[str]) -> str | None:
        wanted = ("approve and send", "approve", "send")
        return next((said for start in wanted for said in words if said.startswith(f"{start} ")), None)

    def answer(self, wanted: dict[str, str]) -> dict[str, Any] | None:
        known = {**self.wish, "email": "ada@example.org", "url": "https://example.com/posts/1"}
        if any(name not in known for name in wanted):
            return None
        return {name: known[name] for name in wanted}

    async def read(self, shown: str) -> bool:
        """Open what the text asks to open, each link once."""
        acted = False
        for link in dict.fromkeys(LINK.findall(shown)):
            path = link.removeprefix(BASE_URL).rstrip(".")
            if path == link or path in self.opened:
                continue
            for start, act in (
                ("/claim/", self._claim),
                ("/runs/", self._decide),
                ("/connect/", self._connect),
            ):
                if path.startswith(start):
                    self.opened.append(path)
                    acted = await act(path) or acted
        return acted

    # What they do on pages

    async def _claim(self, path: str) -> bool:
        page = await self.browser.get(path)
        (claim,) = [each for each in forms(page.text) if each.attributes.get("method") == "post"]
        page = await self.browser.post(claim.address or path, data=claim.fields)
        found = re.search(r"clp_live_[\w-]+", page.text)
        assert found is not None, page.text
        self.surface.key = found.group()
        return True

    async def sign_in(self) -> None:
        entropy, now_ms = os.urandom(people.ENTROPY_BYTES), self.surface.clock.now_ms()
        token = await self.surface.app.store.write(
            lambda: people.issue_link(entropy, now_ms, shown_to="terminal", person_id=OWNER)
        )
        page = await self.browser.post(f"/sign-in/{token}", data={"name": "Ada Owner"})
        assert page.status_code == 200, page.text

    async def _decide(self, path: str) -> bool:
        """Approve and send on the review page, signed in."""
        await self.sign_in()
        page = await self.browser.get(path)
        assert page.status_code == 200, page.text
        found = [each for each in forms(page.text) if each.decision == "approve"]
        for each in found:
            page = await self.browser.post(each.address, data={**each.fields, "then": "send"})
            assert page.status_code == 200, page.text
        return bool(found)

    async def _connect(self, path: str) -> bool:
        if not self.provider_key:
            return False
        await self.sign_in()
        page = await self.browser.get(path)
        assert page.status_code == 200, page.text
        found = [each for each in forms(page.text) if "key" in each.fields]
        assert found, page.text
        page = await self.browser.post(
            found[0].address or path, data={**found[0].fields, "key": self.provider_key}
        )
        assert page.status_code == 200, page.text
        return True
