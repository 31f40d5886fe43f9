"""A server with its public feed, as a browser sees it."""

from __future__ import annotations

import re
from functools import partial
from html.parser import HTMLParser
from xml.etree import ElementTree as Xml

import httpx
import msgspec
from tests.support.connectors.kit import Engine
from tests.support.surfaces import BASE_URL

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.records import Action, Effect
from assent.ports import Delivered
from assent.processes.serve import Surfaces
from assent_conform.testing.connector_contract import claim_action, perform_claimed
from assent_launch import NAME
from assent_launch.process import Suite
from assent_launch.site import feed as site_feed
from assent_launch.site.feed import Counts, Visits

FEED = f"/feed/{LOCAL_WORKSPACE}/"
PERSON = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Sec-Fetch-Dest": "document",
}
BODY = "Dark mode is **here**.\n\nRead [the story](https://blog.example/dark?a=1&b=2) or https://docs.example/dark."


class Site:
    """A server with its feed, as a browser sees it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        suite = engine.app.processes[NAME]
        assert isinstance(suite, Suite)
        self.visits: Visits = suite.visits
        self._number = 0
        transport = httpx.ASGITransport(app=Surfaces(engine.app).site(), client=("203.0.113.7", 50_000))
        self.browser = httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers=PERSON)

    async def publish(
        self, body: str = BODY, title: str = "Dark mode", link: str = "", again: Action | None = None
    ) -> Delivered:
        """What the connector does with an approved action."""
        effect = Effect(channel="site", verb="post", connector="site", body=body, title=title, link=link)
        action = again or self.action(effect)
        return await perform_claimed(self.engine.services.connectors["site"], action)

    def action(self, effect: Effect) -> Action:
        self._number += 1
        return msgspec.structs.replace(
            claim_action(effect, number=self._number), workspace_id=LOCAL_WORKSPACE
        )

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.browser.get(path, headers=headers)

    async def counts(self, post: Delivered) -> Counts:
        await self.visits.flush()
        return await self.engine.app.store.read(partial(site_feed.counts, LOCAL_WORKSPACE, post.external_id))


def path_of(post: Delivered) -> str:
    assert post.external_url is not None
    return post.external_url.removeprefix(BASE_URL)


def parsed(answer: httpx.Response) -> Xml.Element:
    return Xml.fromstring(answer.content)  # noqa: S314 - our own document


class Audit(HTMLParser):
    """Everything in a page that could run, load or send something."""

    HARMLESS = frozenset(
        {
            "html",
            "head",
            "meta",
            "title",
            "link",
            "body",
            "a",
            "header",
            "div",
            "img",
            "nav",
            "main",
            "article",
        }
        | {"h1", "h2", "h3", "p", "time", "br", "strong", "em", "s", "code", "pre", "ul", "ol", "li", "hr"}
        | {"blockquote", "table", "thead", "tbody", "tr", "th", "td", "footer", "span"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.findings: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in self.HARMLESS:
            self.findings.append(f"<{tag}>")
        self.findings += [
            name for name in given if name.startswith("on") or name in ("style", "srcset", "action")
        ]
        if "http-equiv" in given:
            self.findings.append("http-equiv")
        loads = given.get("src", "") + (given.get("href", "") if tag == "link" else "")
        if loads and not loads.startswith(("/", f"{BASE_URL}/")):
            self.findings.append(f"{tag} loads {loads}")
        if tag == "a" and (leads_to := given.get("href", "")):
            self.links.append(leads_to)
            if not re.match(r"/(?!/)|#|https://", leads_to):
                self.findings.append(f"a link leads to {leads_to}")
