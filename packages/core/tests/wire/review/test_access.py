"""Who gets in (S0 §4, C3, C24, C25): a good link, once swapped for a cookie, and nothing else."""

from __future__ import annotations

import re
from functools import partial
from http.cookies import SimpleCookie

import httpx
import msgspec
import pytest
from tests.support.opened import on_embedded_store
from tests.support.review.kit import Server, form, mail, path_of, post
from tests.support.surfaces import SECRET, START_MS

from assent.engine.actions.staging import PreparedRun
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate import review_link
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.tokens import KeyRing, derive_key

RING = KeyRing((SECRET.encode(),))
NOW_S = START_MS // 1000


def token_of(run: PreparedRun) -> str:
    return httpx.URL(run.review_url).params["token"]


def signed(run: PreparedRun, **changes: object) -> str:
    """A token of ours with other claims."""
    claims = {
        "runId": run.run_id,
        "workspaceId": run.workspace_id,
        "iat": NOW_S,
        "exp": NOW_S + 60,
        "scope": "review",
        **changes,
    }
    return RING.sign(msgspec.json.encode(claims))


async def refused(server: Server, run_id: str, token: str) -> httpx.Response:
    return await server.browser().get(f"/runs/{run_id}", params={"token": token})


@pytest.mark.rule("E34")
async def test_the_link_leads_to_a_clean_address_and_the_page_lists_every_action(server: Server) -> None:
    run = await server.stage(post(), mail())
    browser = await server.opened(run)

    page = await browser.get(f"/runs/{run.run_id}")

    assert page.status_code == 200
    assert token_of(run) not in page.text
    for action in run.actions:
        assert f'id="action-{action.id}"' in page.text


async def test_no_link_and_no_session_is_401_and_the_same_for_every_run_there_is_or_is_not(
    server: Server,
) -> None:
    run = await server.stage(post())
    browser = server.browser()

    answers = [
        await browser.get(f"/runs/{run_id}")
        for run_id in (run.run_id, "0190a000-0000-7000-8000-00000000000a", "no-id", "%00")
    ]

    assert {answer.status_code for answer in answers} == {401}
    # Each leads back to its own address after a sign-in; nothing else differs.
    assert len({re.sub(r'then=[^"]*"', "", answer.text) for answer in answers}) == 1
    assert "/sign-in" in answers[0].text


@pytest.mark.rule("E38", "E39", "E41", "E71")
async def test_every_bad_token_is_403_with_the_same_body(server: Server) -> None:
    run, other = await server.stage(post()), await server.stage(post())
    token = token_of(run)
    payload, _, mac = token.partition(".")
    foreign_key = KeyRing((derive_key(SECRET.encode(), "review-cookie"),))
    bad = {
        "of another run": token_of(other),
        "of another scope": signed(run, scope="admin"),
        "expired": signed(run, iat=NOW_S - 100, exp=NOW_S),
        "of another workspace": signed(run, workspaceId="0190a000-0000-7000-8000-00000000000a"),
        "with a key more": signed(run, approved=True),
        "with a time that is no number": signed(run, exp="2099"),
        "ends before it begins": signed(run, iat=NOW_S + 90),
        "signed with another key": foreign_key.sign(msgspec.json.encode({"runId": run.run_id})),
        "empty": "",
        "without signature": payload,
        "with an empty signature": f"{payload}.",
        "padded": f"{payload}=.{mac}",
        "with white space": f"{payload} .{mac}",
        "twice signed": f"{token}.{mac}",
        "upper case": token.upper(),
        "not ascii": "é.é",
        "very long": "A" * 20_000,
        "NUL": "\x00",
    }
    answers = {name: await refused(server, run.run_id, text) for name, text in bad.items()}
    answers["two tokens"] = await server.browser().get(f"/runs/{run.run_id}?token={token}&token={token}")
    answers["unknown run"] = await refused(server, "0190a000-0000-7000-8000-00000000000a", token)
    answers["malformed run"] = await refused(server, "no-id", token)

    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(answers, 403)
    assert len({answer.content for answer in answers.values()}) == 1
    assert all("set-cookie" not in answer.headers for answer in answers.values())


async def test_an_unknown_run_with_a_good_signature_looks_like_any_bad_link(server: Server) -> None:
    run = await server.stage(post())
    nowhere = RunId("0190a000-0000-7000-8000-00000000000a")
    good = review_link.make_token(RING, nowhere, LOCAL_WORKSPACE, START_MS, 60)
    foreign = review_link.make_token(
        RING, RunId(run.run_id), WorkspaceId("0190a000-0000-7000-8000-00000000000a"), START_MS, 60
    )

    unknown = await refused(server, nowhere, good)
    elsewhere = await refused(server, run.run_id, foreign)
    altered = await refused(server, run.run_id, good)

    assert unknown.status_code == elsewhere.status_code == altered.status_code == 403
    assert unknown.content == elsewhere.content == altered.content


def altered(token: str) -> str:
    """A token whose last character is another one."""
    return token[:-1] + ("A" if token[-1] != "A" else "E")


async def test_a_bad_link_is_refused_without_asking_the_store(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await server.stage(post())

    async def asked(begin: object) -> None:
        raise AssertionError("the store was asked")

    monkeypatch.setattr(server.app.store, "read", asked)
    monkeypatch.setattr(server.app.store, "write", asked)

    assert (await refused(server, run.run_id, altered(token_of(run)))).status_code == 403
    assert (await refused(server, run.run_id, signed(run, exp=NOW_S))).status_code == 403


@pytest.mark.rule("E39")
async def test_the_link_and_its_cookie_end_with_the_token(server: Server) -> None:
    run = await server.stage(post())
    browser = await server.opened(run)
    server.clock.advance(days=7, seconds=-1)
    assert (await browser.get(f"/runs/{run.run_id}")).status_code == 200

    server.clock.advance(seconds=1)

    late = await browser.get(f"/runs/{run.run_id}")
    link = await server.browser().get(path_of(run.review_url))
    assert late.status_code == link.status_code == 403
    assert late.content == link.content


@pytest.mark.rule("E71")
async def test_a_cookie_opens_its_own_run_only(server: Server) -> None:
    run, other = await server.stage(post()), await server.stage(post())
    browser = await server.opened(run)
    name, value = next((c.name, c.value) for c in browser.cookies.jar if c.name.startswith("assent-run-"))

    assert (await browser.get(f"/runs/{other.run_id}")).status_code == 401
    carried = server.browser()
    carried.cookies.set(f"assent-run-{other.run_id.replace('-', '')}", value or "")
    assert (await carried.get(f"/runs/{other.run_id}")).status_code == 403
    assert name == f"assent-run-{run.run_id.replace('-', '')}"


async def test_a_cookie_is_no_link_and_a_link_is_no_cookie(server: Server) -> None:
    run = await server.stage(post())
    browser = await server.opened(run)
    cookie = next(c for c in browser.cookies.jar if c.name.startswith("assent-run-"))

    as_link = await refused(server, run.run_id, cookie.value or "")
    pretender = server.browser()
    pretender.cookies.set(cookie.name, token_of(run))

    assert as_link.status_code == 403
    assert (await pretender.get(f"/runs/{run.run_id}")).status_code == 403


def cookies_in(answer: httpx.Response) -> SimpleCookie:
    jar = SimpleCookie()
    for line in answer.headers.get_list("set-cookie"):
        jar.load(line)
    return jar


async def test_on_http_the_cookie_is_out_of_scripts_reach_and_for_the_run_alone(server: Server) -> None:
    run = await server.stage(post())
    answer = await server.browser().get(path_of(run.review_url))

    [(name, cookie)] = cookies_in(answer).items()
    assert name == f"assent-run-{run.run_id.replace('-', '')}"
    assert cookie["httponly"] is True
    assert cookie["samesite"].lower() == "lax"
    assert cookie["path"] == f"/runs/{run.run_id}"
    assert 0 < int(cookie["max-age"]) <= 7 * 24 * 3600
    assert not cookie["secure"]
    assert not cookie["domain"]


https_server = on_embedded_store(partial(Server, base_url="https://assent.example"))


async def test_on_https_every_cookie_is_secure_and_for_this_host_alone(https_server: Server) -> None:
    server = https_server
    run = await server.stage(post())
    browser = server.browser()
    answers = [
        await browser.get(path_of(run.review_url)),
        await browser.get(f"/runs/{run.run_id}"),
        await server.decide(browser, run.run_id, run.actions[0].id, "approve"),
        await server.browser().post(await server.sign_in_path()),
    ]

    kept = {name: cookie for answer in answers for name, cookie in cookies_in(answer).items()}
    assert len(kept) == 5
    for name, cookie in kept.items():
        assert name.startswith("__Host-")
        assert cookie["secure"] is True
        assert cookie["httponly"] is True
        assert cookie["path"] == "/"
        assert cookie["samesite"].lower() == "lax"
        assert not cookie["domain"]


async def test_a_browser_that_opens_many_links_sends_few_cookies(https_server: Server) -> None:
    server = https_server
    browser = server.browser()
    for _ in range(30):
        await server.opened(await server.stage(post()), browser)

    assert len([c for c in browser.cookies.jar if c.name.startswith("__Host-assent-run-")]) == 20


async def test_a_link_also_works_for_a_browser_that_is_signed_in(server: Server) -> None:
    run = await server.stage(post())
    browser = await server.owner(await server.opened(run))

    assert "You decide as <strong><bdi>owner" in await server.page(browser, run.run_id)
    assert (await browser.get(path_of(run.review_url) + "x")).status_code == 403


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_looking_changes_nothing_however_often_and_by_whom(
    server_on_any_store: Server, method: str
) -> None:
    server = server_on_any_store
    run = await server.stage(post(), mail(60))
    link = path_of(run.review_url)
    browser, owner = await server.opened(run), await server.owner()
    sign_in = await server.sign_in_path()
    action = f"/runs/{run.run_id}/actions/{run.actions[0].id}"
    before = await server.everything()

    for each in (server.browser(), browser, owner):
        for path in (
            link,
            link + "x",
            f"/runs/{run.run_id}",
            f"/runs/{run.run_id}?did=approve&action={run.actions[0].id}&look=1",
            *(f"{action}/{name}" for name in ("approve", "reject", "edit", "withdraw", "send", "resolve")),
            f"/runs/{run.run_id}/end-links",
            "/inbox",
            "/sign-in",
            sign_in,
            "/sign-out",
        ):
            answer = await each.request(method, path)
            assert answer.status_code < 500, path
            if method == "HEAD":
                assert answer.status_code in (200, 303, 401, 403, 405)

    assert await server.everything() == before


async def test_a_signed_in_person_ends_the_links_of_a_run_and_new_ones_work(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    reader, owner = await server.opened(run), await server.owner()
    page = await server.page(owner, run.run_id)
    nonce = page.split("/end-links")[1].split('name="nonce" value="')[1].split('"')[0]
    server.clock.advance(seconds=5)

    ended = await owner.post(f"/runs/{run.run_id}/end-links", data={"nonce": nonce})

    assert (ended.status_code, ended.headers["location"]) == (303, f"/runs/{run.run_id}?did=end-links")
    by_cookie = await reader.get(f"/runs/{run.run_id}")
    by_link = await server.browser().get(path_of(run.review_url))
    altered = await server.browser().get(path_of(run.review_url) + "x")
    assert by_cookie.status_code == by_link.status_code == 403
    assert by_cookie.content == by_link.content == altered.content
    assert await server.page(owner, run.run_id)
    server.clock.advance(seconds=5)
    fresh = server.services.links.review_url(
        LOCAL_WORKSPACE, RunId(run.run_id), server.clock.now_ms(), review_link.REVIEW
    )
    assert (await server.browser().get(path_of(fresh))).status_code == 303
    kind, facts = (await server.events(run.run_id))[-1]
    assert (kind, facts["by"], facts["assurance"]) == ("review_links_ended", "owner", "client")


async def test_the_holder_of_a_link_cannot_end_links(server: Server) -> None:
    run = await server.stage(post())
    owner, reader = await server.owner(), await server.opened(run)
    nonce = (await server.page(reader, run.run_id)).split('name="nonce" value="')[1].split('"')[0]
    before = await server.everything()

    assert "/end-links" not in await server.page(reader, run.run_id)
    assert (await reader.post(f"/runs/{run.run_id}/end-links", data={"nonce": nonce})).status_code == 403
    assert (
        await server.browser().post(f"/runs/{run.run_id}/end-links", data={"nonce": nonce})
    ).status_code == 401
    assert await server.everything() == before
    assert await server.page(owner, run.run_id)


async def test_a_decision_by_a_browser_whose_link_was_ended_meanwhile_is_refused(server: Server) -> None:
    run = await server.stage(post())
    reader, owner = await server.opened(run), await server.owner()
    approve = form(await server.page(reader, run.run_id), run.actions[0].id, "approve")
    page = await server.page(owner, run.run_id)
    nonce = page.split("/end-links")[1].split('name="nonce" value="')[1].split('"')[0]
    server.clock.advance(seconds=2)
    await owner.post(f"/runs/{run.run_id}/end-links", data={"nonce": nonce})

    answer = await reader.post(approve.address, data={**approve.fields, "name": "Ada"})

    assert answer.status_code == 403
    assert (await server.action(run.actions[0].id)).status == "awaiting_approval"
