"""What the tests of the review page share: a whole server over a store, browsers, forms as a browser sends them, and a
provider that writes down what it was asked to do."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Self

import httpx
import msgspec
from tests.support.keyed_browser import KeyedBrowser
from tests.support.own_sql import bind
from tests.support.surfaces import BASE_URL, ManualClock, settings_for

from assent.app import App
from assent.engine.actions import actions
from assent.engine.actions.content import describe
from assent.engine.actions.staging import PreparedRun, Request
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.engine.people import people
from assent.engine.people.people import OWNER
from assent.gate.effects import EffectTypes
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect, Media
from assent.jobs.kinds import job_kinds
from assent.jobs.worker import Runner
from assent.kernel.ids import ActionId, TenantId, WorkspaceId
from assent.ports import (
    Connector,
    Context,
    Delivered,
    Delivery,
    Draft,
    Preparation,
    StagedEffect,
    Transaction,
)
from assent.processes.serve import Surfaces
from assent.use_cases import runs

BROWSER = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html,*/*;q=0.8"}

TEXT = """We built Assent: agents do the work, and you say yes first.

  What you approve is what is sent,
  to the character.

Read more: https://example.org/assent"""


class Provider:
    """Does what it is told, once per call, and remembers it. `then` may raise instead."""

    delivery = Delivery("none")

    def __init__(self, connector_id: str = "zernio") -> None:
        self.id = connector_id
        self.done: list[Action] = []
        self.ready = Readiness(ready=True)
        self.then: Callable[[Action], Delivered] = lambda action: Delivered(
            f"post-{len(self.done)}", f"https://social.example/posts/{len(self.done)}"
        )

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return self.ready

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        self.done.append(ctx.action)
        return self.then(ctx.action)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        raise NotImplementedError


class Form(msgspec.Struct):
    """A form as it stands on a page."""

    address: str
    attributes: dict[str, str | None]
    fields: dict[str, str]
    buttons: list[tuple[str, str, str]]

    @property
    def decision(self) -> str | None:
        return self.attributes.get("data-decision")

    @property
    def action_id(self) -> str | None:
        return self.attributes.get("data-action-id")


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._area: str | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.forms.append(Form(given.get("action") or "", given, {}, []))
        elif not self.forms:
            return
        elif tag == "input" and given.get("type") not in ("radio", "checkbox"):
            self.forms[-1].fields[given["name"] or ""] = given.get("value") or ""
        elif tag == "textarea":
            self._area, self._text = given["name"], ""
        elif tag == "button":
            self.forms[-1].buttons.append((given.get("name") or "", given.get("value") or "", ""))

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area is not None:
            # A browser leaves out the line break that follows the tag.
            self.forms[-1].fields[self._area] = self._text.removeprefix("\n")
            self._area = None


def _any_effects() -> EffectTypes:
    # Imported late: tests of the core alone read forms, too.
    from assent_launch.testing import any_effects

    return any_effects()


def forms(page: str) -> list[Form]:
    parser = _Forms()
    parser.feed(page)
    return parser.forms


def form(page: str, action_id: str, decision: str) -> Form:
    found = [each for each in forms(page) if (each.action_id, each.decision) == (action_id, decision)]
    assert len(found) == 1, f"{decision}: {[(each.action_id, each.decision) for each in forms(page)]}"
    return found[0]


async def send_form(browser: httpx.AsyncClient, path: str, ending: str, **fields: str) -> httpx.Response:
    """Fill in the first form of a page whose address ends so, and press its button."""
    page = await browser.get(path)
    assert page.status_code == 200, f"{path}: {page.text[:300]}"
    found = next(each for each in forms(page.text) if each.address.partition("?")[0].endswith(ending))
    return await browser.post(found.address, data={**found.fields, **fields})


def post(channel: str = "linkedin", body: str = TEXT, **more: Any) -> StagedEffect:
    given = {"channel": channel, "verb": "post", "connector": "zernio", "body": body}
    staged = {name: more.pop(name) for name in [*more] if name in StagedEffect.__struct_fields__}
    return StagedEffect(
        effect=Effect(**{**given, **more}), executor_tool="chieflab_publish_approved_post", **staged
    )


def mail(recipients: int = 3, body: str = TEXT, **more: Any) -> StagedEffect:
    to = tuple(f"reader{number}@example.org" for number in range(1, recipients + 1))
    given: dict[str, Any] = {"subject": "Assent is here", "sender": "Ada <ada@example.com>", "recipients": to}
    staged = {name: more.pop(name) for name in [*more] if name in StagedEffect.__struct_fields__}
    return StagedEffect(
        effect=Effect(channel="email", verb="email", connector="smtp", body=body, **{**given, **more}),
        executor_tool="chieflab_send_email",
        **staged,
    )


def put_everywhere(effect: Effect, words: str, **changes: Any) -> Effect:
    """The effect with these words in every place that can hold any."""
    places: dict[str, Any] = {
        **dict.fromkeys(("body", "subject", "title", "html", "sender", "preheader", "link"), words),
        "recipients": (words,),
        "media": (Media(kind=words, url=words, alt=words),),
        "target": {words: words},
        "details": {words: words},
    }
    return msgspec.structs.replace(effect, **places | changes)


class Server:
    """A server, the people at it and the providers behind it."""

    def __init__(
        self,
        database_url: str,
        data_dir: Path,
        base_url: str = BASE_URL,
        *,
        clock: ManualClock | None = None,
        built_in: bool = False,
        connectors: dict[str, Connector] | None = None,
        effects: EffectTypes | None = None,
        **settings: Any,
    ) -> None:
        """`built_in`: with the connectors that come along, instead of providers that do what a test says.
        `connectors` may be filled before the first call, with connectors that need the services."""
        self.clock = clock or ManualClock()
        self.base_url = base_url
        self.provider = Provider("zernio")
        self.mailer = Provider("smtp")
        own: dict[str, Connector] = {"zernio": self.provider, "smtp": self.mailer}
        self.app = App(
            settings_for(database_url, data_dir, base_url=base_url, **settings),
            clock=self.clock,
            connectors=None if built_in else own if connectors is None else connectors,
            effects=effects or _any_effects(),
        )
        self.services = self.app.owner_services
        self.doors: Any = None
        self.surfaces = Surfaces(self.app)
        self.site = self.surfaces.site()
        self.browsers: list[httpx.AsyncClient] = []

    def browser(self, **headers: str) -> KeyedBrowser:
        """A browser with no cookies yet, which confirms what it is asked to confirm."""
        transport = httpx.ASGITransport(app=self.site, client=("127.0.0.1", 50_000))
        made = KeyedBrowser(
            transport=transport,
            base_url=self.base_url,
            headers={**BROWSER, "Origin": self.base_url, **headers},
        )
        self.browsers.append(made)
        return made

    def elsewhere(self, address: str = "203.0.113.7") -> httpx.AsyncClient:
        """A program on another machine."""
        transport = httpx.ASGITransport(app=self.site, client=(address, 40_000))
        made = httpx.AsyncClient(transport=transport, base_url=self.base_url)
        self.browsers.append(made)
        return made

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        for browser in self.browsers:
            await browser.aclose()
        await self.app.close()

    async def stage(
        self,
        *effects: StagedEffect,
        drafts: tuple[Draft, ...] = (),
        tenant: str | None = None,
        operator: str = "launch",
        **inputs: str,
    ) -> PreparedRun:
        """A run as an operator prepares it."""
        await self.app.prepare()
        request = Request(
            principal=LOCAL_PRINCIPAL,
            operator=operator,
            tool="chieflab_launch_product",
            inputs=inputs,
            tenant_id=TenantId(tenant) if tenant is not None else None,
        )
        preparation = Preparation(drafts=drafts, effects=effects)
        return await runs.prepare(self.services, request, preparation, PreparedRun)

    async def store_as_is(self, effect: StagedEffect) -> tuple[str, str]:
        """A run with content that staging would refuse: what an older release or a hand may have stored."""
        run = await self.stage(post())
        action = await self.action(run.actions[0].id)
        await self.overwrite(action, effect.effect)
        return run.run_id, action.action_id

    async def overwrite(self, action: Action, effect: Effect) -> None:
        """Replace the content of an action and its view, past every check."""
        changed = msgspec.structs.replace(action, effect=effect, digest=effect.digest())
        view = await describe(self.services, action.workspace_id, effect)
        viewed = msgspec.structs.replace(changed, view=view)
        await self.app.store.write(lambda: actions.put_without_event(viewed))
        await self.app.store.write(lambda: actions.store_view(viewed))

    async def action(self, action_id: str) -> Action:
        action, _ = await self.app.store.read(lambda: actions.find(LOCAL_WORKSPACE, ActionId(action_id)))
        return action

    async def events(self, run_id: str) -> list[tuple[str, dict[str, Any]]]:
        def read() -> Transaction[list[tuple[str, dict[str, Any]]]]:
            from assent.engine.core import journal

            events = yield from journal.read_stream(LOCAL_WORKSPACE, run_id)
            return [(event.kind, msgspec.json.decode(event.body)) for event in events]

        return await self.app.store.read(read)

    async def opened(self, run: PreparedRun, browser: KeyedBrowser | None = None) -> KeyedBrowser:
        """A browser that followed the review link."""
        browser = browser or self.browser()
        answer = await browser.get(path_of(run.review_url))
        assert answer.status_code == 303, answer.text
        assert answer.headers["location"] == f"/runs/{run.run_id}"
        return browser

    async def owner(self, browser: KeyedBrowser | None = None, name: str | None = None) -> KeyedBrowser:
        """A browser that is signed in."""
        browser = browser or self.browser()
        answer = await browser.post(await self.sign_in_path(), data={"name": name} if name else {})
        assert answer.status_code == 303 and answer.headers["location"] in ("/inbox", "/start"), answer.text
        return browser

    async def sign_in_path(self) -> str:
        await self.app.prepare()
        entropy, now_ms = os.urandom(people.ENTROPY_BYTES), self.clock.now_ms()
        token = await self.app.store.write(
            lambda: people.issue_link(entropy, now_ms, shown_to="terminal", person_id=OWNER)
        )
        return f"/sign-in/{token}"

    async def page(self, browser: httpx.AsyncClient, run_id: str) -> str:
        answer = await browser.get(f"/runs/{run_id}")
        assert answer.status_code == 200, answer.text
        return answer.text

    async def decide(
        self, browser: httpx.AsyncClient, run_id: str, action_id: str, decision: str, **fields: str
    ) -> httpx.Response:
        """Fill in a form of the page and press its button."""
        found = form(await self.page(browser, run_id), action_id, decision)
        if "name" in found.fields and "name" not in fields:
            fields["name"] = "Ada Reviewer"
        return await browser.post(found.address, data={**found.fields, **fields})

    async def run_jobs(self) -> int:
        """Run what is due to its end."""
        runner = Runner(self.app.store, self.clock, job_kinds(self.app), worker="test")
        return await runner.run_due_once()

    async def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """All rows of all tables, but for the two counters that the server writes in the background."""
        names = await self.app.store.read(partial(_tables, self.app.store.dialect))
        return {name: await self.app.store.read(partial(_dump, name)) for name in names}


def path_of(url: str) -> str:
    parts = httpx.URL(url)
    return parts.raw_path.decode()


def _tables(dialect: str) -> Transaction[list[str]]:
    sqlite = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
    postgres = (
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"
    )
    text = sqlite if dialect == "sqlite" else postgres
    rows: Any = yield bind(text, text)
    return [row["name"] for row in rows]


def _dump(table: str) -> Transaction[list[tuple[Any, ...]]]:
    text = f"SELECT * FROM {table}"
    rows: Any = yield bind(text, text)
    return sorted((tuple(row) for row in rows if not _is_background(row)), key=repr)


def _is_background(row: Any) -> bool:
    """Whether a row is the count of a data directory's writes, or the position that live pages follow."""
    return len(row) == 3 and str(tuple(row)[1]).startswith(("head ", "journal position"))
