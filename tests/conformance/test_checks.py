"""The checks pass on this server over both stores, and each one fails where the contract is broken."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conformance.spoiled import SPOILS, Spoil, SpoiledTransport
from tests.surfaces import BASE_URL, ManualClock, Surface, settings_for

from assent.app import App
from assent.conformance import ALL_CHECKS
from assent.conformance.checking import (
    ConformanceCheck,
    ConformanceReport,
    Need,
    Scene,
    check,
    expect,
    run_checks,
)
from assent.conformance.wire import ENDPOINT, Server, Unreachable
from assent.processes.serve import Surfaces

pytestmark = pytest.mark.own_database

EVERYTHING: tuple[Need, ...] = ("key", "other_key", "effects")


@dataclass
class Site:
    """A whole server and two of its workspaces."""

    surface: Surface
    keys: tuple[str, str]

    async def run(
        self,
        *checks: ConformanceCheck,
        spoil: Spoil | None = None,
        has: Collection[Need] = EVERYTHING,
        **options: Any,
    ) -> ConformanceReport:
        transport: httpx.AsyncBaseTransport = httpx.ASGITransport(
            app=self.surface.surfaces.site(), client=("203.0.113.7", 50_000)
        )
        if spoil is not None:
            transport = SpoiledTransport(transport, spoil)
        nobody = Server(BASE_URL, transport=transport, sleep=self._pass_time)
        callers = [nobody.as_caller(key) for key in self.keys]
        return await run_checks(checks, Scene(nobody, *callers), has=has, **options)

    async def _pass_time(self, seconds: float) -> None:
        self.surface.clock.advance(seconds=seconds)


@pytest.fixture
def changed_settings() -> dict[str, Any]:
    return {}


@pytest.fixture
async def site(database_url: str, tmp_path: Path, changed_settings: dict[str, Any]) -> AsyncIterator[Site]:
    clock = ManualClock()
    app = App(settings_for(database_url, tmp_path, **changed_settings), clock=clock)
    surface = Surface(app, Surfaces(app), clock, "http")
    keys = [(await surface.new_workspace(name)).api_key for name in ("acme", "other")]
    yield Site(surface, (keys[0], keys[1]))
    await surface.close()


def each_check() -> list[Any]:
    return [pytest.param(each, marks=pytest.mark.rule(*each.rules), id=each.name) for each in ALL_CHECKS]


@pytest.mark.slow
@pytest.mark.parametrize("each", each_check())
async def test_this_server_conforms(site: Site, each: ConformanceCheck) -> None:
    report = await site.run(each)
    assert [(outcome.status, outcome.detail) for outcome in report.outcomes] == [("passed", None)]
    assert report.ok


@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize("name", [each.name for each in ALL_CHECKS])
async def test_a_check_fails_where_the_contract_is_broken(site: Site, name: str) -> None:
    each = next(each for each in ALL_CHECKS if each.name == name)
    report = await site.run(each, spoil=SPOILS[name])
    assert [outcome.status for outcome in report.outcomes] == ["failed"]
    assert report.outcomes[0].detail
    assert not report.ok


def test_every_check_has_its_broken_server() -> None:
    assert set(SPOILS) == {each.name for each in ALL_CHECKS}


def test_no_two_checks_have_one_name() -> None:
    assert len({each.name for each in ALL_CHECKS}) == len(ALL_CHECKS)


@pytest.mark.parametrize("database", ["sqlite"])
async def test_without_keys_only_what_needs_none_is_run_and_the_rest_says_why(site: Site) -> None:
    report = await site.run(*ALL_CHECKS, has=())
    assert report.ok
    assert report.failed == 0
    assert {outcome.detail for outcome in report.outcomes if outcome.status == "not_run"} == {
        "needs a workspace's key"
    }
    assert report.passed == sum(each.needs == () for each in ALL_CHECKS)


@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize("changed_settings", [{"rate_limit_per_minute": 60}])
async def test_the_whole_run_keeps_to_a_servers_rate(site: Site) -> None:
    report = await site.run(*ALL_CHECKS)
    assert [(outcome.name, outcome.detail) for outcome in report.outcomes if outcome.status != "passed"] == []


@pytest.mark.parametrize("database", ["sqlite"])
async def test_only_checks_of_a_named_rule_are_run(site: Site) -> None:
    report = await site.run(*ALL_CHECKS, only=("W12",))
    assert [outcome.name for outcome in report.outcomes] == ["branch"]


@pytest.mark.parametrize("database", ["sqlite"])
async def test_a_server_that_answers_anything_at_all_fails_and_the_checker_does_not_fall(site: Site) -> None:
    for text in ("", "[]", "null", '{"result": []}', '{"result": {"content": [1, {"text": 3}]}}', "<html>"):
        report = await site.run(*ALL_CHECKS, spoil=lambda told, text=text: told.but(text=text))  # type: ignore[misc]
        assert not report.ok
        assert report.failed > len(ALL_CHECKS) / 2


async def test_a_server_that_is_not_there_is_said_to_be_unreachable() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody listens")

    server = Server("http://127.0.0.1:9", transport=httpx.MockTransport(refuse))
    with pytest.raises(Unreachable, match="nobody listens"):
        await server.call("chieflab_help")


@pytest.mark.parametrize("address", [BASE_URL, f"{BASE_URL}/", BASE_URL + ENDPOINT, f"{BASE_URL}{ENDPOINT}/"])
def test_the_address_may_be_the_servers_or_its_endpoints(address: str) -> None:
    assert Server(address).url == BASE_URL


async def test_an_answer_that_comes_as_an_event_stream_is_read() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": '{"ok": true}'}]}}
    stream = f"event: message\ndata: {json.dumps(message)}\n\n"
    transport = httpx.MockTransport(
        lambda request: httpx.Response(200, text=stream, headers={"Content-Type": "text/event-stream"})
    )
    assert (await Server(BASE_URL, transport=transport).call("any")).payload == {"ok": True}


@pytest.mark.parametrize("words", [("E25",), ("a title alone",), ("E25", "E26"), ("rule", "a title")])
def test_a_check_without_rules_or_title_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="names its rules"):
        check(*words)


def test_what_fails_says_what_was_found_and_not_all_of_it() -> None:
    with pytest.raises(AssertionError, match=r"it holds \(found x{200}…\)"):
        expect(False, "it holds", "x" * 1_000)
