"""The owner signs in by a one-time link, stays signed in for a month, and can end it (C8's `person`)."""

from __future__ import annotations

import asyncio
import html
import os
import re
from http.cookies import SimpleCookie
from pathlib import Path

import msgspec
import pytest
from tests.support.review.kit import Server, form, mail, post

from assent.engine.core import journal
from assent.engine.people import people
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId


async def server_events(server: Server) -> list[str]:
    events = await server.app.store.read(lambda: journal.read_stream(SYSTEM_WORKSPACE, SYSTEM_WORKSPACE))
    return [event.kind for event in events]


def nonce_in(page: str) -> str:
    return page.split('name="nonce" value="')[1].split('"')[0]


async def test_the_link_shows_a_button_and_the_button_signs_in(server_on_any_store: Server) -> None:
    server = server_on_any_store
    path, browser = await server.sign_in_path(), server.browser()

    for _ in range(3):
        shown = await browser.get(path)
        assert shown.status_code == 200
        assert 'name="name" type="text" value=""' in shown.text
        assert "set-cookie" not in shown.headers
    answer = await browser.post(path, data={"name": "Ada Lovelace"})

    assert (answer.status_code, answer.headers["location"]) == (303, "/start")
    jar = SimpleCookie(answer.headers["set-cookie"])
    [(name, cookie)] = jar.items()
    assert name == "assent-session"
    assert (cookie["httponly"], cookie["samesite"].lower(), cookie["path"]) == (True, "lax", "/")
    assert int(cookie["max-age"]) == 30 * 24 * 3600
    assert "Ada Lovelace" in (await browser.get("/inbox")).text
    assert await server_events(server) == ["sign_in_link_issued", "person_renamed", "signed_in"]


async def test_a_link_that_is_used_expired_or_unknown_gets_one_answer(server_on_any_store: Server) -> None:
    server = server_on_any_store
    used, old = await server.sign_in_path(), await server.sign_in_path()
    await server.browser().post(used)
    server.clock.advance(seconds=15 * 60)
    fresh = await server.sign_in_path()
    altered = fresh[:-1] + ("A" if fresh[-1] != "A" else "B")

    for method in ("GET", "POST"):
        answers = [
            await server.browser().request(method, path)
            for path in (used, old, altered, "/sign-in/x", "/sign-in/" + "A" * 54, "/sign-in/%00")
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.content for answer in answers}) == 1
        assert all("set-cookie" not in answer.headers for answer in answers)
    assert (await server.browser().post(fresh)).status_code == 303


async def test_many_presses_of_one_button_make_one_session(server_on_any_store: Server) -> None:
    server = server_on_any_store
    path = await server.sign_in_path()

    answers = await asyncio.gather(*(server.browser().post(path) for _ in range(8)))

    assert sorted(answer.status_code for answer in answers) == [303] + [404] * 7
    assert len((await server.everything())["sessions"]) == 1


async def test_a_link_and_a_session_are_stored_as_hashes_only(server: Server) -> None:
    path = await server.sign_in_path()
    browser = await server.owner()
    secret = browser.cookies["assent-session"]

    stored = repr(await server.everything())

    assert path.rpartition("/")[2] not in stored
    assert path.rpartition("/")[2][22:] not in stored
    assert secret not in stored
    assert secret[22:] not in stored


async def test_a_session_ends_after_thirty_days(server_on_any_store: Server) -> None:
    server = server_on_any_store
    browser = await server.owner()
    server.clock.advance(days=30, seconds=-1)
    assert (await browser.get("/inbox")).status_code == 200

    server.clock.advance(seconds=1)

    assert (await browser.get("/inbox")).status_code == 401


async def test_signing_out_ends_this_session_alone(server_on_any_store: Server) -> None:
    server = server_on_any_store
    here, there = await server.owner(), await server.owner()
    secret = here.cookies["assent-session"]
    nonce = nonce_in((await here.get("/sign-in")).text)

    answer = await here.post("/sign-out", data={"nonce": nonce, "where": "here"})

    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert "assent-session" not in here.cookies
    carried = server.browser()
    carried.cookies.set("assent-session", secret)
    assert (await carried.get("/inbox")).status_code == 401
    assert (await there.get("/inbox")).status_code == 200


async def test_signing_out_everywhere_ends_every_session_and_open_link_and_what_they_were_about_to_decide(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(mail(60))
    here, there = await server.owner(), await server.owner()
    open_link = await server.sign_in_path()
    approve = form(await server.page(there, run.run_id), run.actions[0].id, "approve")
    nonce = nonce_in((await here.get("/sign-in")).text)

    await here.post("/sign-out", data={"nonce": nonce, "where": "everywhere"})

    assert (await there.get("/inbox")).status_code == 401
    assert (await server.browser().get(open_link)).status_code == 404
    assert (await there.post(approve.address, data=approve.fields)).status_code == 401
    assert (await server.action(run.actions[0].id)).status == "awaiting_approval"
    assert (await server.owner()).cookies["assent-session"]
    assert (await server_events(server)).count("signed_out_everywhere") == 1


async def test_signing_out_needs_the_form_of_this_session(server: Server) -> None:
    here, there = await server.owner(), await server.owner()
    nonce = nonce_in((await there.get("/sign-in")).text)

    assert (await here.post("/sign-out", data={"nonce": nonce})).status_code == 403
    assert (await here.post("/sign-out", data={})).status_code == 403
    assert (await server.browser().post("/sign-out", data={"nonce": nonce})).status_code == 401
    assert (await here.get("/inbox")).status_code == 200


@pytest.mark.parametrize("name", ["x" * 201, "\u202eevil", "a\u0007b"])
async def test_a_name_that_no_page_could_show_is_asked_for_again(server: Server, name: str) -> None:
    path = await server.sign_in_path()

    answer = await server.browser().post(path, data={"name": name})

    assert answer.status_code == 400
    assert (await server.browser().post(path, data={"name": "Ada"})).status_code == 303


async def test_the_name_stays_for_the_next_link(server: Server) -> None:
    await server.owner(name="Ada Lovelace")

    assert 'value="Ada Lovelace"' in (await server.browser().get(await server.sign_in_path())).text


async def test_a_signed_in_person_sees_a_run_of_every_workspace_and_an_unknown_one_is_not_there(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    owner = await server.owner()

    assert (await owner.get(f"/runs/{run.run_id}")).status_code == 200
    unknown = [await owner.get(f"/runs/{i}") for i in ("0190a000-0000-7000-8000-00000000000a", "no-id")]
    assert {answer.status_code for answer in unknown} == {404}
    assert len({answer.content for answer in unknown}) == 1


async def test_links_and_sessions_past_their_time_are_swept(server_on_any_store: Server) -> None:
    server = server_on_any_store
    await server.owner()
    await server.sign_in_path()
    server.clock.advance(days=30)
    now_ms = server.clock.now_ms()

    assert await server.app.store.write(lambda: people.forget_ended(now_ms, 500)) == 2

    rows = await server.everything()
    assert (rows["sign_in_links"], rows["sessions"]) == ([], [])


async def test_a_link_needs_all_of_its_entropy(server: Server) -> None:
    await server.app.prepare()
    with pytest.raises(ValueError, match="random bytes"):
        await server.app.store.write(lambda: people.issue_link(os.urandom(8), 1, shown_to="terminal"))


async def test_the_events_say_who_could_read_a_link(server: Server) -> None:
    await server.app.prepare()
    entropy = os.urandom(people.ENTROPY_BYTES)
    await server.app.store.write(lambda: people.issue_link(entropy, 1, shown_to="pipe"))

    [event] = await server.app.store.read(
        lambda: journal.read_stream(WorkspaceId(SYSTEM_WORKSPACE), SYSTEM_WORKSPACE)
    )

    assert event.kind == "sign_in_link_issued"
    assert msgspec.json.decode(event.body)["shownTo"] == "pipe"


async def test_pages_name_whole_commands_at_the_machine_and_no_folders_elsewhere(
    server: Server, tmp_path: Path
) -> None:
    owner = await server.owner()

    assert f"owner-link --data-dir {tmp_path}" in (await server.browser().get("/sign-in")).text
    start = html.unescape((await owner.get("/start")).text)
    assert str(tmp_path) in start
    [entry] = re.findall(r'"command": "(/[^"]+)"', start)
    assert Path(entry).is_absolute()
    assert '"--data-dir"' in start

    public = Server(f"sqlite:///{tmp_path}/assent.db", tmp_path, "https://assent.example.com")
    shown = (await public.browser().get("/sign-in")).text
    await public.close()
    assert "assent owner-link" in shown
    assert str(tmp_path) not in shown
