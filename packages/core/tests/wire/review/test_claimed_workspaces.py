"""Whoever claims a sign-up gets in as far as holding an address goes, and becomes a person by mail (C26)."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.review.kit import Server, forms, mail, path_of, post
from tests.support.sqlite_files import new_sqlite

from assent.engine.actions import actions
from assent.engine.actions.staging import PreparedRun, Request
from assent.engine.core import tenancy
from assent.engine.people import signup
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Assurance, Status
from assent.kernel.ids import ActionId, WorkspaceId
from assent.ports import Preparation, StagedEffect
from assent.serving.edge import Credentials, RequestContext
from assent.serving.web.people.people import CONFIRM_FIRST
from assent.use_cases import runs

KEY = re.compile(r"clp_live_[A-Za-z0-9_-]{64}")
MAIL: dict[str, Any] = {"smtp_url": "smtp://127.0.0.1:2525", "smtp_from": "assent@example.org"}
LINK = re.compile(r"/sign-in/[A-Za-z0-9_-]{40,}")
EMAIL = "zoe@example.org"


class Town:
    """A server with a mail server, and what it mailed."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.mailed: list[tuple[str, str]] = []
        server.app.owner_services = dataclasses.replace(
            server.services, outgoing=dataclasses.replace(server.services.outgoing, send_note=self._send)
        )

    async def _send(self, to: str, subject: str, text: str, key: str) -> None:
        self.mailed.append((to, text))

    async def claimed(
        self, browser: httpx.AsyncClient | None = None, email: str = EMAIL
    ) -> tuple[httpx.AsyncClient, httpx.Response, WorkspaceId]:
        """A browser that pressed the button behind a sign-up's link, what it was shown, and the workspace."""
        server, browser = self.server, browser or self.server.browser()
        await server.app.prepare()
        now_ms, secret = server.clock.now_ms(), os.urandom(signup.LINK_SECRET_BYTES)
        workspace_id = WorkspaceId(server.services.new_id(now_ms))
        token = await server.app.store.write(
            lambda: signup.request_signup(workspace_id, secret, email, f"Zoe's shop {secret.hex()}", now_ms)
        )
        page = await browser.post(f"/claim/{token}")
        assert page.status_code == 200, page.text
        return browser, page, workspace_id

    async def staged(self, page: httpx.Response, effect: StagedEffect) -> PreparedRun:
        """A run in the claimed workspace, as its agent prepares it."""
        [key] = set(KEY.findall(page.text))
        now_ms = self.server.clock.now_ms()
        caller = await self.server.app.store.read(lambda: tenancy.authenticate(key, now_ms))
        request = Request(principal=caller, operator="launch", tool="chieflab_launch_product", inputs={})
        return await runs.prepare(
            self.server.services, request, Preparation(drafts=(), effects=(effect,)), PreparedRun
        )

    async def action(self, workspace_id: WorkspaceId, run: PreparedRun) -> Action:
        action_id = ActionId(run.actions[0].id)
        action, _ = await self.server.app.store.read(lambda: actions.find(workspace_id, action_id))
        return action

    async def ask_for_link(self, browser: httpx.AsyncClient, email: str = EMAIL) -> httpx.Response:
        answer = await browser.post("/sign-in", data={"email": email})
        await self.server.run_jobs()
        return answer


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, **MAIL)
    yield Town(server)
    await server.close()


@pytest.fixture
async def town_on_any_store(database_url: str, tmp_path: Path) -> AsyncIterator[Town]:
    server = Server(database_url, tmp_path, **MAIL)
    yield Town(server)
    await server.close()


@pytest.mark.rule("E93")
async def test_the_claimer_sees_the_inbox_and_can_connect_providers(town_on_any_store: Town) -> None:
    town = town_on_any_store
    browser, page, workspace_id = await town.claimed()
    run = await town.staged(page, post())

    inbox = await browser.get("/inbox")
    assert (inbox.status_code, run.actions[0].id in inbox.text) == (200, True)
    # The link that the agent is given for its human opens for the one who took the key.
    town.server.provider.ready = Readiness(False, "missing_connector")
    [key] = set(KEY.findall(page.text))
    context = RequestContext(Credentials(api_key=key), "203.0.113.7", "test")
    asked = await town.server.surfaces.edge.answer(
        "chieflab_connect_provider", {"provider": "zernio"}, context
    )
    assert asked.reason is None, asked.text
    for path in (f"/connect?workspace={workspace_id}", path_of(asked.value["connectUrl"])):
        assert (await browser.get(path)).status_code == 200
    assert f"/connect?workspace={workspace_id}" in page.text
    assert f"<bdi>{EMAIL}</bdi>" in page.text
    # Nothing of other workspaces.
    other = await town.server.stage(post())
    assert (await browser.get(f"/runs/{other.run_id}")).status_code == 404


async def test_a_claimer_decides_as_somebody_with_a_link_and_never_about_high_risk(town: Town) -> None:
    browser, page, workspace_id = await town.claimed()
    low, high = await town.staged(page, post()), await town.staged(page, mail(recipients=500))

    answer = await town.server.decide(browser, low.run_id, low.actions[0].id, "approve")
    assert answer.status_code == 303, answer.text
    approval = (await town.action(workspace_id, low)).approval
    assert approval is not None
    assert approval.assurance is Assurance.LINK
    assert approval.person_id == ""

    refused = await town.server.decide(browser, high.run_id, high.actions[0].id, "approve")
    assert refused.status_code == 409
    assert (await town.action(workspace_id, high)).status is Status.AWAITING_APPROVAL


async def test_what_an_agent_must_not_do_asks_the_claimer_to_confirm_first(town: Town) -> None:
    browser, _, _ = await town.claimed()

    for path in ("/settings/notifications", "/inbox/batch", "/inbox/batch/approve", "/settings/outgoing"):
        answer = await browser.post(path, data={})
        assert (answer.status_code, CONFIRM_FIRST.title in answer.text) == (403, True)
    assert (await browser.post("/settings/keys", data={})).status_code == 403


@pytest.mark.rule("E93")
async def test_a_mailed_link_makes_the_claimer_a_person(town_on_any_store: Town) -> None:
    town = town_on_any_store
    browser, page, workspace_id = await town.claimed()
    run = await town.staged(page, mail(recipients=500))
    [asking] = [each for each in forms(page.text) if each.address == "/sign-in"]
    assert asking.fields == {"email": EMAIL}

    assert (await town.ask_for_link(browser)).status_code == 200
    [(to, text)] = town.mailed
    assert to == EMAIL
    [path] = LINK.findall(text)
    assert (await browser.get(path)).status_code == 200
    assert (await browser.post(path)).status_code == 303

    assert CONFIRM_FIRST.title not in (await browser.post("/settings/notifications", data={})).text
    answer = await town.server.decide(browser, run.run_id, run.actions[0].id, "approve")
    assert answer.status_code == 303, answer.text
    approval = (await town.action(workspace_id, run)).approval
    assert approval is not None
    assert approval.assurance is Assurance.PERSON


@pytest.mark.rule("E93")
async def test_without_mail_a_new_link_of_the_owner_makes_the_claimer_a_person(tmp_path: Path) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path)
    try:
        browser, page, workspace_id = await Town(server).claimed()
        refused = await browser.post("/settings/notifications", data={})
        how = (await browser.get("/sign-in")).text
        assert CONFIRM_FIRST.title in refused.text and "Mail a sign-in link" not in page.text + how
        assert "Ask them for a new link" in page.text and "Ask them for a new link" in how

        owner = await server.owner()
        listed = (await owner.get("/settings/people")).text
        [again] = [
            each
            for each in forms(listed)
            if each.address.endswith("/again") and "/owner/" not in each.address
        ]
        [path] = set(LINK.findall((await owner.post(again.address, data=again.fields)).text))
        assert (await browser.post(path)).status_code == 303
        assert CONFIRM_FIRST.title not in (await browser.post("/settings/notifications", data={})).text
        assert (await browser.get(f"/connect/zernio?workspace={workspace_id}")).status_code == 200
    finally:
        await server.close()


async def test_mail_is_offered_only_where_it_can_be_sent(tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = [MAIL, {"smtp_url": MAIL["smtp_url"]}, {}]
    for number, given in enumerate(cases):
        server = Server(new_sqlite(tmp_path / f"{number}.db"), tmp_path, **given)
        try:
            shown = (await server.browser().get("/sign-in")).text
            assert ("Mail me a link" in shown) is (given is MAIL)
        finally:
            await server.close()


async def test_an_unknown_address_is_answered_like_a_known_one_and_mailed_nothing(town: Town) -> None:
    await town.claimed()
    stranger = town.server.browser()

    known = await town.ask_for_link(stranger)
    unknown = await town.ask_for_link(stranger, "nobody@example.org")

    assert [to for to, _ in town.mailed] == [EMAIL]
    assert known.text.replace(EMAIL, "") == unknown.text.replace("nobody@example.org", "")
    assert (await stranger.post("/sign-in", data={"email": "no address"})).status_code == 400


async def test_links_are_mailed_a_few_times_an_hour_and_not_more(town: Town) -> None:
    browser, _, _ = await town.claimed()

    answers = [(await town.ask_for_link(browser)).status_code for _ in range(6)]

    assert answers == [200] * 5 + [429]
    assert len(town.mailed) == 5


async def test_a_person_who_claims_stays_who_they_are(town: Town) -> None:
    browser = await town.server.owner(name="Ada")
    kept: Any = browser.cookies.get("assent-session")

    _, page, _ = await town.claimed(browser)

    assert browser.cookies.get("assent-session") == kept
    assert "set-cookie" not in page.headers
    assert "Zoe&#39;s shop" in (await browser.get("/inbox")).text
