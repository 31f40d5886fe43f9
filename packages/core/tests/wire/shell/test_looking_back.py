"""The screens that look back, as a browser asks for them: what they show, to whom, and what they refuse."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import closing
from functools import partial
from pathlib import Path
from sqlite3 import connect
from typing import Any

import httpx
import msgspec
import pytest
from tests.support.keyed_browser import KeyedBrowser
from tests.support.review.kit import Server, forms, mail, post, send_form
from tests.support.shell import stories
from tests.support.sqlite_files import new_sqlite

from assent.engine.core import tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people
from assent.engine.people.people import Person, Role
from assent.engine.workflows import store
from assent.engine.workflows.store import SessionNote
from assent.gate.records import MEASURE_AFTER
from assent.kernel.ids import WorkspaceId
from assent.serving.web.audit.screens import escape_csv_cell

OTHER = WorkspaceId("01999999-0000-7000-8000-000000000002")
GET_PAGES = ("", "/compare", "/timeline", "/export", "/markdown", "/print")


@pytest.fixture(scope="module")
async def history(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[History]:
    directory = tmp_path_factory.mktemp("history")
    server = Server(new_sqlite(directory / "assent.db"), directory)
    made = History(server, directory / "assent.db")
    made.owner = await server.owner(name="Ada Lovelace")
    made.review = await stories.review(server)
    made.second = await stories.second_run(server, made.review.session_id)
    made.launch = await stories.measured_launch(server, "Launch Assent to developers", 1200, 14)
    await stories.remember(server, "We write British English everywhere.", state="proposed")
    yield made
    await server.close()


class History:
    """A server on which something has happened, and its owner."""

    owner: KeyedBrowser
    review: stories.Review
    second: str
    launch: Any

    def __init__(self, server: Server, database: Path) -> None:
        self.server = server
        self.database = database

    async def page(self, path: str, browser: httpx.AsyncClient | None = None) -> str:
        answer = await (browser or self.owner).get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"
        return answer.text

    async def member(self, name: str, place: WorkspaceId = OTHER) -> httpx.AsyncClient:
        """A member of one workspace, which is another one unless it is named."""
        store, now_ms = self.server.app.store, self.server.clock.now_ms()
        if place == OTHER:
            await store.write(lambda: tenancy.create_workspace(OTHER, "Other", now_ms, by="a test"))
        person = Person(f"person-{name}", name, Role.MEMBER)
        entropy = os.urandom(people.ENTROPY_BYTES)
        token = await store.write(partial(members.invite, person, (place,), entropy, now_ms, by="Ada"))
        browser = self.server.browser()
        answer = await browser.post(f"/sign-in/{token}", data={"name": name})
        assert answer.status_code == 303
        return browser


async def test_a_foreign_run_and_an_unknown_one_get_the_same_page(history: History) -> None:
    member = await history.member("Bob")
    unknown = "01999999-0000-7000-8000-00000000dead"
    for path in (*(f"/sessions/%s{each}" for each in GET_PAGES), "/runs/%s/story"):
        answers = [
            await member.get(path % run_id) for run_id in (history.review.run_id, unknown, "no-id-at-all")
        ]
        assert {answer.status_code for answer in answers} == {404}, path
        # A nonce is masked anew in each response.
        texts = [re.sub(r'name="nonce" value="[\w-]+"', "", answer.text) for answer in answers[:2]]
        assert texts[0].replace(history.review.run_id, unknown) == texts[1], path
    for path in ("/runs", "/sessions", "/results", "/memory", "/audit"):
        page = await history.page(path, member)
        assert "AUTH-1234" not in page
        assert "Launch Assent" not in page
        assert "British English everywhere" not in page
    exported = (await member.get("/audit/export")).text
    assert history.review.run_id not in exported
    foreign = await member.get(f"/audit?run={history.review.run_id}&scope=server")
    assert "No event matches" in foreign.text
    assert LOCAL_WORKSPACE not in exported


async def test_looking_changes_nothing(history: History) -> None:
    paths = [f"/sessions/{history.review.run_id}{each}" for each in GET_PAGES]
    paths += ["/runs?q=launch&state=executed", f"/runs/{history.launch.run_id}/story", "/sessions?q=auth"]
    paths += ["/results", "/memory?q=british", "/connectors", "/audit?group=decisions", "/audit/export"]
    paths += ["/audit/export?format=csv", "/sessions/import", "/audit/verify"]
    await history.owner.get("/search?q=launch")  # which indexes what was staged before
    before = await history.server.everything()
    for path in paths:
        await history.owner.get(path)
    assert await history.server.everything() == before


async def test_runs_are_found_by_goal_state_and_operator(history: History) -> None:
    assert "Launch Assent to developers" in await history.page("/runs?q=ASSENT+to")
    assert "Launch Assent to developers" in await history.page(
        "/runs?state=executed&operator=chieflab-launch"
    )
    assert "Launch Assent to developers" not in await history.page("/runs?state=rejected")
    assert "Nothing found" in await history.page("/runs?q=100%25_")


async def test_pages_of_runs_cover_all_of_them_once(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assent.serving.web import runs as runs_screens

    for number in range(5):
        await stories.launch(history.server, f"Run number {number}", post())
    monkeypatch.setattr(runs_screens, "RUNS", 2)
    path: str | None = "/runs?operator=chieflab-launch"
    seen: list[str] = []
    while path is not None:
        page = await history.page(path)
        seen += re.findall(r'data-key="Enter" href="([^"]+)"', page)
        after = page.split('rel="next" href="')
        path = after[1].split('"')[0].replace("&amp;", "&") if len(after) > 1 else None
    assert len(seen) == len(set(seen)) >= 6


async def test_the_story_of_a_run_says_what_happened_to_which_action(history: History) -> None:
    page = await history.page(f"/runs/{history.launch.run_id}/story")
    for text in (
        "LinkedIn post",
        "E-mail",
        "Sent; the provider confirmed it",
        "2 sent",
        "Post a follow-up on",
    ):
        assert text in page


async def test_a_run_with_many_actions_is_shown_a_page_at_a_time(history: History) -> None:
    run = await stories.launch(
        history.server, "Many", *(post(body=f"Text number {n} of it.") for n in range(60))
    )
    first = await history.page(f"/runs/{run.run_id}/story")
    assert first.count("data-row") == 50
    after = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    second = await history.page(after.partition("#")[0])
    assert second.count("data-row") == 10
    assert "Text number 59 of it." in second


async def test_a_step_shows_what_was_asked_noted_and_sent(history: History) -> None:
    run_id = history.review.run_id
    page = await history.page(f"/sessions/{run_id}?node=1")
    assert "<strong>small</strong>" in page
    assert "fix(di): wire the description provider explicitly" in page
    assert "What the agent was asked" in page
    files = await history.page(f"/sessions/{run_id}?node=2")
    assert "src/di/container.ts" in files
    assert "One attempt was refused" in files
    assert "output.findings" in files
    findings = await history.page(f"/sessions/{run_id}?node=3")
    assert "The description names a field that is gone" in findings
    assert "Fix the description of workflow_next" in findings
    assert "Halfway" in findings
    assert (await history.owner.get(f"/sessions/{run_id}?node=99")).status_code == 404


async def test_two_branches_are_compared_from_where_they_part(history: History) -> None:
    page = await history.page(f"/sessions/{history.review.run_id}/compare")
    assert "Changed files" in page
    assert "<del>" in page and "<ins>" in page
    assert "Only on the older" in page and "Only on the newer" in page
    assert "complexity" in page
    # Older left, whichever was named first: the abandoned verdict is what is gone.
    swapped = await history.page(f"/sessions/{history.review.run_id}/compare?a=8&b=5")
    for each in (page, swapped):
        assert each.index("Older: <a") < each.index("Newer: <a")
        assert "<del>Change one description, then merge.</del>" in each
        assert "<ins>A second pass found nothing new.</ins>" in each
    same = await history.page(f"/sessions/{history.review.run_id}/compare?a=5&b=5")
    assert "Both are the same step" in same
    assert (await history.owner.get(f"/sessions/{history.review.run_id}/compare?a=5&b=99")).status_code == 404


async def test_each_run_beside_the_graph_says_when_it_began(history: History) -> None:
    page = await history.page(f"/sessions/{history.second}")
    runs = page.split('id="runs-title"')[1].split("</nav>")[0]
    assert len(re.findall(r"<span>[^<]*\d\d[^<]*: \d+ steps?, \d+ branch", runs)) == runs.count("<li") == 2
    [beside] = re.findall(
        r": (\d+ steps?, \d+ branch)", runs.split('aria-current="true"')[1].split("</li>")[0]
    )
    assert f'Steps <span class="hint">{beside}' in page


async def test_the_timeline_has_every_run_of_the_session(history: History) -> None:
    page = await history.page(f"/sessions/{history.second}/timeline")
    for text in ("Review a merge request", "Fix a bug", "checkpoint", "Started", "1 refused"):
        assert text in page
    assert page.count('class="mark refused"') == 1
    assert "(abandoned)" in page and "Waiting for the agent" in page


async def test_the_review_of_a_run_has_its_header_files_findings_and_log(history: History) -> None:
    path = f"/sessions/{history.review.run_id}/review"
    page = await history.page(path)
    for text in ("Merge request", "Changed files", "Medium", "Two bindings for one name", "Second look."):
        assert text in page
    assert "minor" not in page.split("Context")[0].split("Findings")[0]
    abandoned = await history.page(f"{path}?node=5")
    assert "One description has to change; the wiring is right." in abandoned
    assert (await history.owner.get(f"{path}?node=99")).status_code == 404
    empty = await history.page(f"/sessions/{history.second}/review")
    assert "No outputs on this branch" in empty


async def test_people_write_notes_on_a_session(history: History) -> None:
    path = f"/sessions/{history.second}"
    form = next(each for each in forms(await history.page(path)) if each.address.endswith("/notes"))
    empty = await history.owner.post(form.address, data={**form.fields, "notes": "  "})
    assert empty.status_code == 400
    ada, now_ms = (
        Person(people.OWNER, "Ada Lovelace", Role.OWNER, "ada@example.org"),
        history.server.clock.now_ms(),
    )
    await history.server.app.store.write(lambda: members.change(ada, (), now_ms, by="test"))
    done = await history.owner.post(form.address, data={**form.fields, "notes": "Decided **today**: merge."})
    assert (done.status_code, done.headers["location"]) == (303, f"{path}#session-notes")
    page = await history.page(path)
    assert "Decided <strong>today</strong>" in page
    assert "Ada Lovelace &lt;ada@example.org&gt;" in page
    forged = await history.owner.post(form.address, data={"notes": "x", "nonce": "forged"})
    assert forged.status_code == 403


async def test_a_session_goes_out_and_comes_in_and_is_the_same(history: History) -> None:
    run_id = history.review.run_id
    out = await history.owner.get(f"/sessions/{run_id}/export")
    assert out.headers["content-disposition"] == 'attachment; filename="AUTH-1234.assent.json"'
    answer = await bring_in(history, out.content)
    assert answer.status_code == 303, answer.text
    there = answer.headers["location"].partition("?")[0]
    page = await history.page(there)
    assert "AUTH-1234 (2)" in page
    assert "2 branches" in page
    text = await history.owner.get(f"{there}/markdown")
    assert "# Session AUTH-1234 (2)" in text.text
    assert "Found one major issue" in text.text or "second pass" in text.text
    printed = await history.page(f"{there}/print")
    assert "Session AUTH-1234 (2)" in printed
    assert re.search(r"Completed \d+ \w+ \d{4}, \d\d:\d\d UTC", printed) and not re.search(r"T\d\d:", printed)


async def bring_in(history: History, content: bytes, name: str = "bundle") -> httpx.Response:
    form = next(
        each for each in forms(await history.page("/sessions/import")) if each.address.endswith("/import")
    )
    return await history.owner.post(
        form.address,
        data={"nonce": form.fields["nonce"]},
        files={name: ("s.json", content, "application/json")},
    )


async def test_a_file_that_was_changed_is_refused_with_the_reason_and_stores_nothing(
    history: History,
) -> None:
    whole = (await history.owner.get(f"/sessions/{history.second}/export")).content
    before = await history.server.everything()
    for content, said in (
        (whole.replace(b"3.2", b"4.2"), "digest does not fit"),
        (whole[:-40], "it is not JSON"),
        (b"{}", "no bundle of a session"),
        (b"\xff\xfe\x00", "it is not JSON"),
        (b"", "Choose a file first"),
    ):
        answer = await bring_in(history, content)
        assert answer.status_code == 400
        assert said in answer.text
    assert (await bring_in(history, whole, name="other")).status_code == 400
    assert await history.server.everything() == before


async def test_a_form_that_is_no_upload_of_ours_is_refused(history: History) -> None:
    for content, kind in (
        (b"x=1", "application/x-www-form-urlencoded"),
        (b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n", "multipart/form-data; boundary=b"),
        (b"no boundary anywhere", "multipart/form-data; boundary=b"),
        (b"x", "multipart/form-data"),
    ):
        answer = await history.owner.post("/sessions/import", content=content, headers={"Content-Type": kind})
        assert answer.status_code in (400, 415), (content, answer.status_code)
    foreign = history.server.browser()
    assert (await foreign.post("/sessions/import", files={"bundle": b"{}"})).status_code == 401


async def test_a_file_over_the_limit_is_refused_before_it_is_read(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assent.serving.web.sessions import screens as session_files

    monkeypatch.setattr(session_files, "MAX_BUNDLE_BYTES", 1_000)
    answer = await bring_in(history, b"x" * 2_000)
    assert answer.status_code == 413


async def test_memory_is_searched_confirmed_and_retired(history: History) -> None:
    path = "/memory?group=lessons&q=british"
    assert "Not confirmed" in await history.page(path)
    assert (await send_form(history.owner, path, "/confirm")).status_code == 303
    page = await history.page("/memory?group=lessons&state=confirmed&q=british")
    form = next(each for each in forms(page) if each.address.endswith("/retire"))
    assert (await history.owner.post(form.address, data=form.fields)).status_code == 303
    assert "British English" in await history.page("/memory?group=lessons&state=retired")
    assert "British English everywhere" not in await history.page("/memory?group=lessons&state=confirmed")
    assert "stopped the use of a memory" in await history.page("/audit?group=runs")
    member = await history.member("Eve")
    foreign = await member.post(form.address, data=form.fields)
    assert foreign.status_code in (403, 404)


async def test_a_safety_rule_is_ended_by_a_signature_taken_back_by_undo_and_a_deleted_memory_is_gone(
    history: History,
) -> None:
    await stories.remember(history.server, "Never say that the espresso heals.", "claim_risk")
    page = await history.page("/memory?q=espresso")
    retire = next(each for each in forms(page) if each.address.endswith("/retire"))
    history.owner.confirms = False
    asked = await history.owner.post(retire.address, data=retire.fields)
    assert "Stop using this rule?" in asked.text
    history.owner.confirms = True
    gone = await history.owner.confirm(asked)
    done = await history.page(gone.headers["location"].partition("#")[0])
    undo = next(each for each in forms(done) if each.address.endswith("/confirm") and "Undo" in done)
    assert (await history.owner.post(undo.address, data=undo.fields)).status_code == 303
    assert "espresso heals" in await history.page("/memory?state=confirmed")

    delete = next(
        each for each in forms(await history.page("/memory?q=espresso")) if each.address.endswith("/delete")
    )
    assert (await history.owner.post(delete.address, data=delete.fields)).status_code == 303
    for path in ("/memory?q=espresso", "/memory?state=retired", "/memory"):
        assert "espresso heals" not in await history.page(path), path
    assert "deleted a memory" in await history.page("/audit?group=runs")
    rows = [
        row
        for table, rows in (await history.server.everything()).items()
        for row in rows
        if table != "events"
    ]
    assert not [row for row in rows if "espresso heals" in repr(row)]
    assert (await history.owner.post(delete.address, data=delete.fields)).status_code == 404


async def test_a_decision_in_the_memory_names_its_channel_once_and_as_people_do(history: History) -> None:
    page = await history.page("/memory?group=decisions")
    rows = page[page.index('class="rows memory"') :].partition("</ul>")[0]
    assert '<span class="badge">Approved</span><span class="hint"><bdi>E-mail</bdi>' in rows
    assert "for email" not in rows and "Approved for" not in rows


async def test_a_memory_that_no_draft_uses_says_why_and_cannot_be_confirmed(history: History) -> None:
    await stories.remember(history.server, "Forty clubs use it.", "proof", state="proposed")
    await stories.remember(
        history.server, "The best timer.", "claim_risk", state="proposed", facts={"risk": [], "logged": True}
    )

    fact, claim = [await history.page(f"/memory?{query}") for query in ("q=clubs", "q=timer")]

    assert "it proves a claim once you confirm it." in fact
    assert "It changes no draft." in claim
    confirmable = [any(each.address.endswith("/confirm") for each in forms(page)) for page in (fact, claim)]
    assert confirmable == [True, False]


async def test_numbers_are_shown_with_where_they_come_from_and_gaps_with_their_reason(
    history: History,
) -> None:
    page = await history.page("/results")
    for text in ("1,200", "Added by a person", "no data, because", "No baseline yet", "Add numbers"):
        assert text in page


async def test_what_is_not_measured_yet_shows_no_number(history: History) -> None:
    run = await stories.launch(history.server, "Not due yet", mail(metadata={MEASURE_AFTER: 3_600_000}))
    await stories.sent(history.server, run)
    page = await history.page("/results")
    card = page.partition("Not due yet")[2].partition("</li>")[0]
    assert "Results come" in card
    assert "<svg" not in card


async def test_connectors_say_what_they_promise_and_where_they_are_connected(history: History) -> None:
    page = await history.page("/connectors")
    assert "never repeated on a guess" in page
    assert "0 hours" not in page
    assert f"/connect/zernio?workspace={LOCAL_WORKSPACE}" in page
    from assent.gate.preflight import Readiness

    history.server.mailer.ready = Readiness(ready=False, blocker="no_server", fix_hint="Set ASSENT_SMTP_URL.")
    try:
        page = await history.page("/connectors")
    finally:
        history.server.mailer.ready = Readiness(ready=True)
    assert "Set ASSENT_SMTP_URL." in page


async def test_the_audit_is_filtered_by_what_run_and_day(history: History) -> None:
    everything = await history.page("/audit")
    assert "Sent; the provider confirmed it" in everything or "Older events" in everything
    decisions = await history.page(f"/audit?group=decisions&run={history.launch.run_id}")
    assert "Approved by" in decisions
    assert "provider confirmed" not in decisions
    assert "Nothing found" in await history.page("/audit?to=2001-01-01")
    assert "signed in" in await history.page("/audit?scope=server&group=access")


async def test_pages_of_the_audit_cover_every_event_once(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assent.serving.web.audit import screens as audit_screens

    monkeypatch.setattr(audit_screens, "EVENTS", 17)
    seen: list[str] = []
    path: str | None = "/audit"
    while path is not None:
        page = await history.page(path)
        seen += [part.split("</code>")[0] for part in page.split("<dt>Hash</dt><dd><code>")[1:]]
        after = page.split('rel="next" href="')
        path = after[1].split('"')[0].replace("&amp;", "&") if len(after) > 1 else None
    exported = (await history.owner.get("/audit/export")).text.splitlines()
    assert sorted(seen) == sorted(json.loads(line)["hash"] for line in exported)


async def test_the_export_for_spreadsheets_has_every_event_and_no_formula(history: History) -> None:
    lines = (await history.owner.get("/audit/export")).text.splitlines()
    table = (await history.owner.get("/audit/export?format=csv")).text
    assert table.count("\r\n") == len(lines) + 1
    assert [escape_csv_cell(text) for text in ("=1+1", "@x", "-1", "plain")] == [
        "'=1+1",
        "'@x",
        "'-1",
        "plain",
    ]


async def verify(history: History, scope: str = "") -> str:
    answer = await send_form(history.owner, "/audit", "/audit/verify", scope=scope)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_checking_the_journal_says_that_it_holds_and_where_it_does_not(history: History) -> None:
    assert "Audit log verified" in await verify(history)
    assert "on the whole server" in await verify(history, "server")
    run_id = history.launch.run_id
    with closing(connect(history.database)) as database:
        kept = database.execute(
            "SELECT body FROM events WHERE stream_id = ? AND seq = 2", (run_id,)
        ).fetchone()[0]
        database.execute(
            "UPDATE events SET body = replace(body, '\"', ' \"') WHERE stream_id = ? AND seq = 2", (run_id,)
        )
        database.commit()
    page = await verify(history)
    assert "The audit log was changed after it was written" in page
    assert "An event was changed" in page
    assert "at event 2" in page
    member = await history.member("Mallory")
    form = next(each for each in forms((await member.get("/audit")).text) if each.address == "/audit/verify")
    elsewhere = await member.post(form.address, data=form.fields)
    assert "Audit log verified" in elsewhere.text
    whole = await member.post(form.address, data={**form.fields, "scope": "server"})
    assert whole.status_code == 403
    with closing(connect(history.database)) as database:
        database.execute("UPDATE events SET body = ? WHERE stream_id = ? AND seq = 2", (kept, run_id))
        database.commit()
    assert "Audit log verified" in await verify(history)


async def test_a_session_whose_steps_were_changed_is_not_taken_out(history: History) -> None:
    other = await stories.second_run(history.server, "To be damaged")
    with closing(connect(history.database)) as database:
        of_node = "WHERE run_id = ? AND node = 1"
        kept = database.execute(f"SELECT notes FROM workflow_nodes {of_node}", (other,)).fetchone()[0]
        database.execute(f"UPDATE workflow_nodes SET notes = 'x' {of_node}", (other,))
        database.commit()
        for path in ("/export", "/markdown", "/print"):
            answer = await history.owner.get(f"/sessions/{other}{path}")
            assert answer.status_code == 409
            assert "differs from its event log" in answer.text
        database.execute(f"UPDATE workflow_nodes SET notes = ? {of_node}", (kept, other))
        database.commit()


async def test_a_long_note_is_shown_whole_and_as_it_is(history: History) -> None:
    text = "word " * 9_000
    note = SessionNote(history.server.services.new_id(1), "Ada", text, history.server.clock.now_ms())
    await history.server.app.store.write(
        lambda: store.add_note(LOCAL_WORKSPACE, history.review.session_id, note)
    )
    page = await history.page(f"/sessions/{history.review.run_id}")
    assert page.count("word ") >= 9_000


@pytest.mark.own_database
async def test_every_screen_works_on_either_store(database_url: str, tmp_path: Path) -> None:
    server = Server(database_url, tmp_path)
    browser = await server.owner()
    review = await stories.review(server)
    await stories.second_run(server, review.session_id)
    launch = await stories.measured_launch(server, "Launch Assent to developers", 1200, 14)
    paths = [f"/sessions/{review.run_id}{each}" for each in GET_PAGES]
    paths += [
        "/runs",
        "/runs?q=launch&state=executed&operator=chieflab-launch",
        "/sessions",
        "/sessions?q=auth",
    ]
    paths += [f"/runs/{launch.run_id}/story", f"/runs/{launch.run_id}/story?state=executed", "/results"]
    paths += ["/memory?group=decisions&q=approved&kind=approval&state=confirmed", "/operations"]
    paths += ["/connectors", "/audit?group=decisions"]
    paths += [f"/audit?run={launch.run_id}&to=2099-01-01", "/audit/export", "/audit/export?format=csv"]
    for path in paths:
        answer = await browser.get(path)
        assert answer.status_code == 200, f"{path}: {answer.text[:300]}"
    found = await browser.get("/runs?q=launch&state=executed&operator=chieflab-launch")
    assert "Launch Assent to developers" in found.text
    assert "Sent and measured" in found.text
    assert (await server.services.verify_journal(LOCAL_WORKSPACE)).ok
    await server.close()


ODD = ("%00", "%ff%fe", "9" * 40, "-1", "%27%22%3E", "1:2:3", "%E2%80%AE", "a" * 3_000, "[]", "%25_!")


async def test_odd_addresses_find_nothing_and_break_nothing(history: History) -> None:
    run = f"/sessions/{history.review.run_id}"
    places = {
        "/runs": ("q", "operator", "state", "before", "from", "to"),
        f"/runs/{history.launch.run_id}/story": ("state", "after", "events"),
        "/sessions": ("q", "before"),
        run: ("node", "open", "row"),
        f"{run}/compare": ("a", "b"),
        f"{run}/timeline": ("row",),
        "/results": ("period", "metric"),
        "/results/numbers": ("run", "channel"),
        "/operations": ("period",),
        "/memory": ("q", "group", "kind", "state", "tenant", "before"),
        "/audit": ("q", "group", "run", "from", "to", "before", "scope"),
    }
    for path, names in places.items():
        for name in names:
            for odd in (*ODD, *(f"{odd}:{history.review.run_id}" for odd in ODD[:3])):
                answer = await history.owner.get(f"{path}?{name}={odd}")
                assert answer.status_code in (200, 404), (path, name, odd, answer.status_code)


async def test_an_address_that_is_no_web_address_is_no_link(history: History) -> None:
    from assent.engine.actions import actions
    from assent.kernel.ids import ActionId

    run = await stories.launch(history.server, "Odd address", post())
    action = await history.server.action(ActionId(run.actions[0].id))
    changed = msgspec.structs.replace(action, external_url="javascript:alert(1)")
    await history.server.app.store.write(lambda: actions.put_without_event(changed))
    assert "javascript:" not in await history.page(f"/runs/{run.run_id}/story")


async def test_results_are_a_place_once_something_was_remembered_or_measured(tmp_path: Path) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path)
    owner = await server.owner()
    run = await server.stage(post())

    async def places() -> list[list[str]]:
        paths = ("/inbox", f"/runs/{run.run_id}", f"/runs/{run.run_id}/actions/{run.actions[0].id}/edit")
        pages = [(await owner.get(path)).text for path in paths]
        bars = [page[page.index('class="side-nav"') :].partition("</nav>")[0] for page in pages]
        return [re.findall(r'href="([^"]+)"', bar) for bar in bars]

    assert await places() == [["/inbox", "/runs", "/settings/keys", "/settings"]] * 3
    await stories.remember(server, "We write British English everywhere.", state="proposed")
    assert await places() == [["/inbox", "/runs", "/results", "/settings/keys", "/settings"]] * 3
    await server.close()


async def test_the_pages_of_a_place_stand_in_one_row_and_the_place_is_marked(history: History) -> None:
    for path, place, others in (
        ("/runs", "/runs", ["/sessions", "/audit"]),
        ("/audit", "/runs", ["/runs", "/sessions"]),
        ("/operations", "/settings/keys", ["/settings/keys"]),
        ("/connectors", "/settings", ["/settings", "/settings/policy"]),
        ("/memory", "/results", ["/results"]),
    ):
        page = (await history.owner.get(path)).text
        row = page[page.index('<nav class="subnav"') :].partition("</nav>")[0]
        assert f'href="{place}" aria-current="page"' in page.partition("<main")[0], path
        assert row.count('aria-current="page"') == 1 and all(f'href="{each}"' in row for each in others), path


async def test_the_search_finds_runs_people_agents_pages_and_commands_as_far_as_they_may_be_used(
    history: History,
) -> None:
    issued = await history.owner.get("/settings/keys")
    form = next(each for each in forms(issued.text) if each.address == "/settings/keys")
    await history.owner.post(form.address, data={**form.fields, "label": "Nightly crawler", "rights": "all"})
    member = await history.member("Grace", LOCAL_WORKSPACE)

    async def found(browser: httpx.AsyncClient, words: str) -> str:
        page = (await browser.get("/search", params={"q": words})).text
        return page[page.index('<div id="found"') :].partition("</main>")[0]

    assert f"/runs/{history.launch.run_id}" in await found(history.owner, "developers laun")
    # Runs of one title differ by when they began.
    assert re.search(r"<bdi>\w[^<·]* · [^<]*ago</bdi>", await found(history.owner, "developers laun"))
    assert "Nightly crawler" in await found(history.owner, "crawl")
    assert "Ada Lovelace" in await found(history.owner, "lovelace")
    assert 'action="/stop"' in await found(history.owner, "stop")
    assert 'href="/memory"' in await found(history.owner, "memory")
    assert "Nothing found" in await found(history.owner, "xyzzy")
    for words in ("lovelace", "invite"):
        assert 'href="/settings/people"' in await found(history.owner, words)
        assert 'href="/settings/people"' not in await found(member, words)
