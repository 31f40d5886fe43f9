"""A run of checks: what it leaves out, how it waits, what it says of a server that fails or goes away."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.support.conformance.proxy import Asked, Forward, Handler, Told
from tests.support.conformance.site import EVERYTHING, Site

from assent.engine.actions import policies
from assent_conform.checks.catalog import ALL_CHECKS
from assent_conform.checks.checking import (
    CHANGES,
    LOST,
    MAX_DETAIL,
    MAX_LOSSES,
    MISSING,
    ConformanceReport,
    Scene,
    check,
    expect,
)
from assent_conform.checks.profiles import CORE
from assent_conform.checks.wire import MAX_WAIT_SECONDS, MAX_WAITED_SECONDS, Patience, Throttled, Unreachable
from assent_launch.extension import list_tools

pytestmark = [pytest.mark.own_database, pytest.mark.parametrize("database", ["sqlite"])]

READING_TOOLS = {"chieflab_get_action", "chieflab_list_connectors"}
SHOWN_WITHOUT_WRITING = {"workflow_advance"}
"""With a state token alone a step is shown, and the checks send what is no token."""


def by_status(report: ConformanceReport, status: str) -> dict[str, str | None]:
    return {outcome.name: outcome.detail for outcome in report.outcomes if outcome.status == status}


async def test_without_keys_only_what_needs_none_is_run_and_the_rest_says_why(site: Site) -> None:
    report = await site.run(*ALL_CHECKS, has=[*EVERYTHING[-1:]])
    assert report.ok
    left_out = by_status(report, "not_run")
    assert left_out.pop("rate_refusal") == "this run met no limit of the rate"
    assert left_out.pop("clean_output") == MISSING["stdio"]
    assert set(left_out.values()) == {MISSING["key"]}
    assert by_status(report, "passed").keys() == {
        each.name for each in ALL_CHECKS if set(each.needs) <= {"http"}
    } - {"rate_refusal"}


@pytest.mark.parametrize(
    "changed_settings", [{"operators": ("assent_conform.staging",), "owner_workspaces": ("all",)}]
)
async def test_the_profile_of_the_core_stages_by_its_own_operator_and_names_what_it_leaves_out(
    site: Site,
) -> None:
    called: set[str | None] = set()

    async def watch(asked: Asked, forward: Forward) -> Told:
        called.add(asked.tool)
        return await forward(asked)

    has = [each for each in EVERYTHING if each != "launch"]
    report = await site.run(*ALL_CHECKS, through=watch, has=has, profile=CORE)
    assert by_status(report, "failed") == {}
    left_out = by_status(report, "not_run")
    assert left_out.pop("clean_output") == MISSING["stdio"]
    left_out.pop("rate_refusal", None)
    assert left_out == {each.name: MISSING["launch"] for each in ALL_CHECKS if "launch" in each.needs}
    assert "conform_note" in called
    assert called.isdisjoint(tool.name for tool in list_tools())


async def test_only_checks_of_a_named_rule_are_run(site: Site) -> None:
    report = await site.run(*ALL_CHECKS, only=("W12",))
    assert [outcome.name for outcome in report.outcomes] == ["branch"]


def read_all_rows(file: Path) -> dict[str, list[Any]]:
    """Every row of every table."""
    with sqlite3.connect(file) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables}


async def test_a_safe_run_leaves_every_row_of_the_server_as_it_was(site: Site, tmp_path: Path) -> None:
    called: list[Asked] = []

    async def watch(asked: Asked, forward: Forward) -> Told:
        called.append(asked)
        return await forward(asked)

    before = read_all_rows(tmp_path / "assent.db")
    report = await site.run(*ALL_CHECKS, through=watch, safe=True)
    assert read_all_rows(tmp_path / "assent.db") == before
    assert report.ok
    passed = by_status(report, "passed")
    assert {"tool_list", "unknown_action", "no_tokens", "discovery", "wrong_key"} <= passed.keys()
    assert set(by_status(report, "not_run").values()) >= {CHANGES}
    assert {asked.tool for asked in called} - {None} == READING_TOOLS | SHOWN_WITHOUT_WRITING
    assert {"ackToken", "notesMarkdown"}.isdisjoint(name for asked in called for name in asked.arguments)
    await site.run(*ALL_CHECKS)
    assert read_all_rows(tmp_path / "assent.db") != before


@pytest.mark.parametrize("changed_settings", [{"rate_limit_per_minute": 60}])
async def test_the_whole_run_keeps_to_a_servers_rate_and_judges_its_refusal(site: Site) -> None:
    report = await site.run(*ALL_CHECKS)
    assert by_status(report, "failed") == {}
    assert by_status(report, "not_run") == {"clean_output": MISSING["stdio"]}


def limit_for_ever(reason: str = "rate_limited") -> Handler:
    async def handle(asked: Asked, forward: Forward) -> Told:
        told = await forward(asked)
        if asked.tool is None or told.refused:
            return told
        return told.edited(
            lambda payload: payload.update(reason=reason, retryAfterSeconds=9e9), is_error=True
        )

    return handle


async def test_a_server_that_never_lets_a_call_through_is_waited_for_within_bounds(site: Site) -> None:
    began = site.surface.clock.now_ms()
    report = await site.run(*ALL_CHECKS, through=limit_for_ever())
    waited = (site.surface.clock.now_ms() - began) / 1000
    assert MAX_WAITED_SECONDS <= waited < MAX_WAITED_SECONDS + MAX_WAIT_SECONDS
    assert "rate_limited after 30 minutes" in str(by_status(report, "not_run")["prepared_shape"])
    assert by_status(report, "failed").keys() == {"rate_refusal"}


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        (7, 7.0),
        ("12", 12.0),
        (None, 1.0),
        ("soon", 1.0),
        (-5, 1.0),
        (float("nan"), 1.0),
        (9e9, MAX_WAIT_SECONDS),
    ],
)
async def test_a_wait_is_as_long_as_told_and_bounded(database: str, said: object, waits: float) -> None:
    slept: list[float] = []
    announced: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    patience = Patience(sleep, announced.append)
    while sum(slept) < MAX_WAITED_SECONDS:
        await patience.wait(said)
    with pytest.raises(Throttled):
        await patience.wait(said)
    assert set(slept) == {waits}
    assert slept == announced


async def test_where_only_people_may_approve_nothing_that_needs_an_approval_is_judged(site: Site) -> None:
    issued = await site.surface.new_workspace("people")
    store, now_ms = site.surface.app.store, site.surface.clock.now_ms()
    await store.write(lambda: policies.choose(issued.workspace_id, "people", now_ms, by="test"))
    site.keys = (issued.api_key, site.keys[1])
    report = await site.run(*ALL_CHECKS)
    assert by_status(report, "failed") == {}
    left_out = [
        name for name, why in by_status(report, "not_run").items() if "lets no key approve" in str(why)
    ]
    assert left_out == ["approval_record", "stale_approval", "edited", "once", "race"]


async def test_a_page_that_is_limited_is_asked_for_again(site: Site) -> None:
    refused: list[Asked] = []

    async def refuse_once(asked: Asked, forward: Forward) -> Told:
        if asked.method == "GET" and len(refused) < 2:
            refused.append(asked)
            return Told(429, "", {"retry-after": "3"})
        return await forward(asked)

    began = site.surface.clock.now_ms()
    report = await site.run(*ALL_CHECKS, only=("E76",), through=refuse_once)
    assert report.ok
    assert site.surface.clock.now_ms() - began == 6_000


async def test_a_server_that_is_lost_fails_the_check_and_is_given_up_after_a_few(site: Site) -> None:
    async def vanish(asked: Asked, forward: Forward) -> Told:
        if asked.tool == "chieflab_post":
            raise Unreachable("it is gone")
        return await forward(asked)

    report = await site.run(*ALL_CHECKS, through=vanish)
    failed = by_status(report, "failed")
    assert set(failed.values()) == {"the server was lost: it is gone"}
    assert len(failed) == MAX_LOSSES
    assert LOST in by_status(report, "not_run").values()
    assert "tool_list" in by_status(report, "passed")


async def test_a_server_that_answers_anything_at_all_fails_and_the_checker_does_not_fall(site: Site) -> None:
    deep = '{"result":' + "[" * 2_000 + "]" * 2_000 + "}"
    texts = ("", "[]", "null", '{"result": []}', '{"result": {"content": [1, {"text": 3}]}}', "<html>", deep)
    for text in texts:

        async def say(asked: Asked, forward: Forward, text: str = text) -> Told:
            return Told(200, text)

        report = await site.run(*ALL_CHECKS, through=say)
        assert not report.ok
        assert report.failed > len(ALL_CHECKS) / 2


async def test_a_detail_is_printable_and_bounded_and_holds_neither_a_key_nor_a_link(site: Site) -> None:
    key, other = site.keys

    @check("E1", "it says too much", needs=())
    async def loud(scene: Scene) -> None:
        raise ValueError(f"{key} {other} \x1b[31mred\x00\n\ud800 http://x/runs/1?token=abc.def {'y' * 3_000}")

    @check("E1", "it is quoted", needs=())
    async def quoted(scene: Scene) -> None:
        expect(False, "no", f"\x1b]0;{key}")

    report = await site.run(loud, quoted, has=EVERYTHING)
    details = [str(outcome.detail) for outcome in report.outcomes]
    for detail in details:
        assert key not in detail
        assert other not in detail
        assert detail.isprintable()
        assert len(detail) <= MAX_DETAIL + 1
    assert "abc.def" not in details[0]
    assert details[1] == r"no (found \x1b]0;[hidden])"


async def test_each_outcome_has_its_time(site: Site) -> None:
    times = iter(range(100))
    report = await site.run(*ALL_CHECKS, only=("E76",), clock=lambda: float(next(times)))
    assert [outcome.seconds for outcome in report.outcomes] == [1.0]
