"""Runs, the audit log, results, memory and operations of several weeks, over both stores."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.support.keyed_browser import KeyedBrowser
from tests.support.review.kit import Server, forms, path_of, post
from tests.support.shell import stories, weeks
from tests.support.shell.weeks import Weeks

from assent.engine.audit import views as audit_views
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people
from assent.engine.people.people import Person, Role
from assent.kernel.ids import RunId
from assent_launch.learning import measurement

pytestmark = pytest.mark.own_database


class Past:
    """A server with several weeks behind it, and its owner."""

    def __init__(self, server: Server, owner: KeyedBrowser, found: Weeks) -> None:
        self.server = server
        self.owner = owner
        self.found = found

    async def page(self, path: str) -> str:
        answer = await self.owner.get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"
        return answer.text

    async def send(self, path: str, ending: str, **fields: str) -> str:
        """Fill in the form of a page; returns where that leads."""
        form = next(each for each in forms(await self.page(path)) if each.address.endswith(ending))
        answer = await self.owner.post(form.address, data={**form.fields, **fields})
        assert answer.status_code == 303, answer.text[:2000]
        return str(answer.headers["location"])


@pytest.fixture
async def past(database_url: str, tmp_path: Path) -> AsyncIterator[Past]:
    server = Server(database_url, tmp_path)
    found = await weeks.live_through(server)
    owner = await server.owner(name="Ingrid Solberg")
    ingrid = Person(people.OWNER, "Ingrid Solberg", Role.OWNER, "ingrid@example.org")
    now_ms = server.clock.now_ms()
    await server.app.store.write(lambda: members.change(ingrid, (), now_ms, by="test"))
    yield Past(server, owner, found)
    await server.close()


def rows(page: str) -> list[str]:
    return re.findall(r'class="row-title" data-key="Enter" href="[^"]+"><bdi>([^<]+)</bdi>', page)


async def test_weeks_are_searched_measured_learned_from_and_summed_up(past: Past) -> None:
    """One house for the pages that only look, because several weeks take a while to live through."""
    await runs_are_named_and_found_by_their_content(past)
    await the_audit_log_names_its_objects_and_is_searched_by_their_content(past)
    await a_run_shows_its_pipeline_its_result_and_one_timeline(past)
    await results_have_one_metric_per_chart_and_say_how_to_mend_a_gap(past)
    await operations_say_how_people_decide_and_what_would_ask_less(past)
    await memory_says_how_often_it_was_used_and_is_written_by_hand(past)
    await numbers_are_added_by_hand_and_measured(past)
    await times_are_in_the_zone_of_the_reader(past)
    assert (await past.server.services.verify_journal(LOCAL_WORKSPACE)).ok


async def runs_are_named_and_found_by_their_content(past: Past) -> None:
    everything = await past.page("/runs")
    assert rows(everything)[:3] == [
        "La Loma is back: 240 bags, one farm.",
        "Espresso week",
        "Tell the readers first",
    ]
    assert "Price of green coffee" in rows(everything)
    assert "2,940 impressions, 31 comments on LinkedIn" in everything
    counts = re.findall(r"<span>(\d+) drafts</span>", everything)
    assert "3" in counts and "1" not in counts
    found = await past.page("/runs?q=ONE+SHOT")
    assert rows(found) == ["Espresso week"]
    assert "A week of espresso" in found.partition("run-matches")[2]
    assert rows(await past.page("/runs?q=for+two+weeks&state=failed")) == [
        "La Loma is back, for two weeks only."
    ]
    assert "Nothing found" in await past.page("/runs?to=2001-01-01")
    histogram = everything.partition('class="histogram"')[2].partition("</figure>")[0]
    day = re.findall(r'href="([^"]+)" tabindex="-1"><title>[^<]+: [1-9]', histogram)[-1].replace("&amp;", "&")
    assert "Espresso week" in rows(await past.page(unquote(day)))


async def the_audit_log_names_its_objects_and_is_searched_by_their_content(past: Past) -> None:
    found = await past.page("/audit?q=espresso")
    assert set(re.findall(r'class="audit-object"[^>]*><bdi>([^<]+)<', found)) == {"Espresso week"}
    found = await past.page("/audit?q=never+claim+to+be&group=decisions")
    assert "Rejected by Tomasz Nowak (signed in)" in found
    assert "The best coffee in Oslo" in found
    assert "Nothing found" in await past.page("/audit?q=no+such+words+anywhere")


async def a_run_shows_its_pipeline_its_result_and_one_timeline(past: Past) -> None:
    page = await past.page(f"/runs/{past.found.measured.run_id}/story")
    stages = re.findall(r'<li class="(\w+)"[^>]*><strong>(\w+)</strong> <span>([^<]+)</span>', page)
    assert stages == [
        ("done", "Prepared", "3 drafts"),
        ("done", "Approved", "3 approved"),
        ("done", "Sent", "3 sent"),
        ("done", "Measured", "Numbers are in"),
    ]
    assert "2,940 impressions, 31 comments on LinkedIn" in page.partition('class="run-number"')[2]
    timeline = page.partition('<ol class="timeline">')[2].partition("</ol>")[0]
    assert timeline.index("Prepared by") < timeline.index("Approved by") < timeline.index("Measured:")
    assert timeline.count("Approved by") == timeline.count("Sent; the provider") == 1
    waiting = await past.page(f"/runs/{past.found.waiting.run_id}/story")
    assert "0 of 2 decided" in waiting
    assert "Review and decide" in waiting
    failed = await past.page(f"/runs/{past.found.failed.run_id}/story")
    assert ("failed", "Send", "1 failed") in re.findall(
        r'<li class="(\w+)"[^>]*><strong>(\w+)</strong> <span>([^<]+)</span>', failed
    )


async def results_have_one_metric_per_chart_and_say_how_to_mend_a_gap(past: Past) -> None:
    page = await past.page("/results?period=all")
    values = re.findall(r'class="label">([^<]+)</span><span class="value">([^<]+)<', page)
    assert values[0] == ("Impressions", "10,730")
    assert ("Sent", "13") in values
    chart = page.partition('class="chart"')[2].partition("</section>")[0]
    assert re.findall(r"<span>([\d,]+)</span>", chart) == ["4,000", "3,000", "2,000", "1,000", "0"]
    comments = await past.page("/results?period=all&metric=comments")
    assert "Comments per run" in comments
    assert "Average of 2 earlier runs: 1,230" in await past.page("/results")
    gap = page.partition('class="gap"')[2].partition("</li>")[0]
    assert "no data, because <bdi>the channel gives the server none</bdi>" in gap
    assert "Add numbers" in gap
    funnel = page.partition('id="funnel-title"')[2].partition("</section>")[0]
    assert re.findall(r'<strong class="number">([^<]+)<', funnel) == ["444", "439", "291", "105"]


async def operations_say_how_people_decide_and_what_would_ask_less(past: Past) -> None:
    page = await past.page("/operations?period=91")
    tiles = dict(re.findall(r'class="label">([^<]+)</span><span class="value">([^<]+)<', page))
    assert tiles == {"Waiting now": "3", "Time to decision": "10 min", "Hasty approvals": "1", "Failed": "1"}
    assert "approved unchanged 12 of 12 times" in page
    assert "We opened our books" in page.partition('id="hasty-title"')[2].partition("</section>")[0]
    assert "the connection has expired" in page.partition('id="failures-title"')[2].partition("</section>")[0]
    ages = page.partition('id="ages-title"')[2].partition("</section>")[0]
    assert re.findall(r'<strong class="number">(\d+)<', ages) == ["2", "1", "0", "0", "0", "0"]
    assert re.search(r"96 %", page.partition('id="agents-title"')[2])


async def memory_says_how_often_it_was_used_and_is_written_by_hand(past: Past) -> None:
    assert "Used in 5 drafts: 5 approved unchanged" in await past.page("/memory")
    where = await past.send("/memory/new", "/memory/new", kind="claim_risk", body="the best coffee in Oslo")
    assert where == "/memory?group=rules"
    assert "the best coffee in Oslo" in await past.page("/memory?kind=claim_risk&state=confirmed")
    again = next(each for each in forms(await past.page("/memory/new")) if each.address == "/memory/new")
    fields = {**again.fields, "kind": "claim_risk", "body": "the best coffee in Oslo"}
    refused = await past.owner.post(again.address, data=fields)
    assert (refused.status_code, "This is remembered already" in refused.text) == (400, True)
    empty = await past.owner.post(again.address, data={**again.fields, "body": " "})
    assert empty.status_code == 400

    await past.send(f"/memory/{past.found.rule}/edit", "/edit", body="Short sentences, and no jargon.")
    used = await past.page("/memory?state=confirmed")
    assert "Short sentences, and no jargon." in used
    assert "before who it is for" not in used
    assert "before who it is for" in await past.page("/memory?state=retired")
    assert (await past.owner.get(f"/memory/{past.found.rule}/edit")).status_code == 404
    noted = await past.page("/audit?group=runs")
    assert "Ingrid Solberg &lt;ingrid@example.org&gt; rewrote a memory" in noted
    assert "Approved" in await past.page("/memory?group=decisions")


async def numbers_are_added_by_hand_and_measured(past: Past) -> None:
    run_id = past.found.measured.run_id
    path = f"/results/numbers?run={run_id}&channel=x"
    form = next(each for each in forms(await past.page(path)) if "/results/numbers" in each.address)
    for fields in (
        {"source": "X"},
        {"impressions": "12", "source": ""},
        {"impressions": "-1", "source": "X"},
    ):
        answer = await past.owner.post(form.address, data={**form.fields, **fields})
        assert answer.status_code == 400, fields
    await past.send(path, "channel=x", impressions="1,450", source="X, post analytics")
    stored = await past.server.app.store.read(
        lambda: measurement.list_reported(LOCAL_WORKSPACE, RunId(run_id))
    )
    noted = {row["channel"]: row["source"] for row in stored}
    assert noted["x"] == "X, post analytics, by Ingrid Solberg <ingrid@example.org>"
    assert await past.server.run_jobs() > 0
    page = await past.page("/results?period=all")
    assert "12,180" in page
    assert 'class="gap"' not in page
    unsent = await past.owner.get(f"/results/numbers?run={past.found.waiting.run_id}")
    assert unsent.status_code == 404


async def times_are_in_the_zone_of_the_reader(past: Past) -> None:
    assert "Times in UTC" in await past.page("/audit")
    assert await past.send("/settings", "/settings/zone", zone="Asia/Kolkata") == "/settings?did=zone"
    assert "Times in Asia/Kolkata" in await past.page("/audit")
    assert re.search(r"2026, \d\d:\d\d IST", await past.page(f"/runs/{past.found.measured.run_id}/story"))
    review, visitor = f"/runs/{past.found.waiting.run_id}", past.server.browser()
    link = path_of(past.found.waiting.review_url)

    assert re.search(r"\d\d:\d\d IST", await past.page(review))
    by_link = (await visitor.get(link, follow_redirects=True)).text
    assert re.search(r"\d\d:\d\d UTC", by_link)
    assert "IST" not in by_link
    assert await past.send("/settings", "/settings/zone", zone="Mars/Olympus") == "/settings?did=zone"
    assert "Times in UTC" in await past.page("/audit")


async def test_a_search_in_the_journal_reads_a_window_at_a_time_and_goes_on_to_the_end(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_views, "SEARCHED", 10)
    searches = {"/audit?q=four+farms": "<bdi>Four coffees"}
    assert "<bdi>Autumn subscription" in await past.page("/runs?q=SUB+autumn")
    for path, wanted in searches.items():
        page, looked = await past.page(path), 1
        while wanted not in page and looked < 30:
            assert "Search further back" in page
            further = re.findall(r'href="([^"]+)">Search further back', page)[0]
            page, looked = await past.page(further.replace("&amp;", "&")), looked + 1
        assert wanted in page
        assert looked > 3


async def test_a_first_sign_in_takes_the_zone_of_the_browser_and_a_later_one_keeps_it(
    database_url: str, tmp_path: Path
) -> None:
    server = Server(database_url, tmp_path)
    for zone, kept in (("not/a zone", "UTC"), ("Europe/Oslo", "Europe/Oslo"), ("Asia/Tokyo", "Europe/Oslo")):
        browser = server.browser()
        answer = await browser.post(await server.sign_in_path(), data={"name": "Ada", "zone": zone})
        assert answer.status_code == 303
        await server.stage(post(body="Something to look at."))
        assert f"Times in {kept}" in (await browser.get("/audit")).text
    await server.close()


@pytest.mark.parametrize(
    ("inputs", "title"),
    [
        ({"goal": "Find users", "brand": {"name": "Harbor & Pine"}}, "Harbor &amp; Pine: Find users"),
        ({"brand": {"name": "Harbor & Pine"}}, "Harbor &amp; Pine: What is in it."),
        ({"channel": "linkedin", "body": "First line.\nSecond."}, "First line."),
        ({"headline": "The headline"}, "The headline"),
        ({}, "What is in it."),
    ],
)
async def test_a_run_is_named_by_its_goal_or_its_content(
    tmp_path: Path, inputs: dict[str, object], title: str
) -> None:
    from tests.support.sqlite_files import new_sqlite

    from assent.engine.actions.staging import PreparedRun, Request
    from assent.engine.core.tenancy import LOCAL_PRINCIPAL
    from assent.ports import Preparation
    from assent.use_cases import runs

    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path)
    owner = await server.owner()
    request = Request(principal=LOCAL_PRINCIPAL, operator="chieflab-launch", tool="t", inputs=inputs)
    await runs.prepare(
        server.services, request, Preparation(effects=(post(body="What is in it."),)), PreparedRun
    )
    await stories.launch(server, "Another", post())
    assert title in rows((await owner.get("/runs")).text)
    await server.close()
