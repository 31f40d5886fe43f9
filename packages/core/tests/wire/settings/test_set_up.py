"""Setting up without a terminal: the brand, the policy, keys, the first run, notes by the own mail server."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from packages.core.tests.unit.kernel.test_images import SCRIPT, chunk, png
from tests.support.connectors.mail_server import PASSWORD, USER, Inbox, mail_server
from tests.support.keyed_browser import KeyedBrowser
from tests.support.opened import on_any_store
from tests.support.review.kit import Server, forms, mail, path_of, post, send_form
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import BASE_URL

from assent.engine.actions import policies
from assent.engine.core import brands, callers, tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import mailed_links, members, people
from assent.engine.people.people import Person, Role
from assent.gate.records import Status
from assent.kernel.ids import WorkspaceId
from assent.serving.web.settings.policy import word_rule

FEED = f"/feed/{LOCAL_WORKSPACE}/"


server = on_any_store(partial(Server, built_in=True))


async def upload(browser: KeyedBrowser, picture: bytes) -> httpx.Response:
    page = await browser.get("/settings/workspace")
    form = next(each for each in forms(page.text) if each.address.endswith("/logo"))
    nonce = {"nonce": form.fields["nonce"]}
    return await browser.post(form.address, data=nonce, files={"picture": ("logo.png", picture, "image/png")})


async def publish(server: Server, browser: KeyedBrowser) -> str:
    """Publish a page of the workspace's site; returns its path."""
    run = await server.stage(
        post(
            "site", connector="site", verb="publish", title="La Loma is back", body="240 bags.\n\nOn Tuesday."
        )
    )
    await server.decide(browser, run.run_id, run.actions[0].id, "approve", then="send")
    await server.run_jobs()
    return path_of((await server.action(run.actions[0].id)).external_url or "")


@pytest.mark.own_database
async def test_public_pages_carry_the_name_the_logo_and_the_colour_of_the_company(server: Server) -> None:
    owner = await server.owner()
    answer = await upload(owner, png(more=chunk(b"tEXt", b"Comment\0" + SCRIPT)))
    assert answer.status_code == 303
    drafted = answer.headers["location"]
    brand = await server.app.store.read(lambda: brands.find(LOCAL_WORKSPACE))
    assert (brand.name, brand.logo_digest) == ("local", ""), "an upload alone changes nothing"
    shown = next(each for each in forms((await owner.get(drafted)).text) if each.fields.get("logo"))
    fields = {**shown.fields, "name": "Harbor & Pine", "painted": "on", "accent": "#7A3B14"}
    assert (await owner.post(shown.address, data=fields)).headers["location"].endswith("did=saved")

    path, stranger = await publish(server, owner), server.browser()
    for page in [(await stranger.get(each)).text for each in (FEED, path)]:
        assert page.count("Harbor &amp; Pine") >= 2 and "local" not in page
        assert page.count("Assent") == 1 and "Published with Assent" in page.partition("<footer>")[2]
        assert f"{FEED}brand.css" in page and f"{FEED}logo/" in page
    listed = (await stranger.get(FEED)).text
    assert "240 bags.\nOn Tuesday." in listed
    style = await stranger.get(f"{FEED}brand.css")
    assert (style.headers["content-type"], style.text.strip()) == (
        "text/css; charset=utf-8",
        ":root{--brand:#7a3b14;--on-brand:#ffffff}",
    )
    logo = await stranger.get(f"{FEED}logo/{shown.fields['logo']}")
    assert logo.status_code == 200 and SCRIPT not in logo.content
    assert logo.headers["content-type"] == "image/png"
    assert logo.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in logo.headers["content-security-policy"]
    assert (await stranger.get(f"{FEED}logo/{'0' * 64}")).status_code == 404
    kinds = [kind for kind, _ in await server.events(LOCAL_WORKSPACE)]
    assert "workspace_renamed" in kinds and "brand_changed" in kinds


@pytest.mark.own_database
async def test_a_workspace_without_posts_reveals_no_brand(server: Server) -> None:
    await server.app.prepare()
    for path in ("brand.css", f"logo/{'0' * 64}"):
        assert (await server.browser().get(FEED + path)).status_code == 404


@pytest.mark.own_database
@pytest.mark.parametrize(
    ("picture", "said"),
    [
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "Choose a PNG, JPEG or WebP picture."),
        (png()[:-9], "damaged"),
        (b"", "Choose a PNG"),
    ],
)
async def test_a_logo_that_is_no_picture_is_refused_in_words(
    server: Server, picture: bytes, said: str
) -> None:
    owner = await server.owner()
    answer = await upload(owner, picture)
    assert answer.status_code == 400 and said in answer.text
    assert (await upload(owner, png(more=chunk(b"tEXt", b"x" * 600_000)))).status_code == 413


@pytest.mark.own_database
async def test_a_member_changes_neither_brand_nor_policy_nor_keys(server: Server) -> None:
    await server.app.prepare()
    person = Person("grace", "Grace", Role.MEMBER, None)
    entropy, now_ms = b"x" * people.ENTROPY_BYTES, server.clock.now_ms()
    token = await server.app.store.write(
        lambda: members.invite(person, (LOCAL_WORKSPACE,), entropy, now_ms, by="Ada")
    )
    member = server.browser()
    await member.post(f"/sign-in/{token}", data={"name": "Grace"})
    for path in ("/settings/workspace", "/settings/policy", "/settings/keys"):
        page = (await member.get(path)).text
        nonce = page.partition('name="nonce" value="')[2].partition('"')[0]
        answer = await member.post(path, data={"nonce": nonce, "name": "Evil", "preset": "relay"})
        assert answer.status_code == 403, path
        assert 'aria-label="Main"' in answer.text, "the navigation stays"


@pytest.mark.own_database
async def test_no_workspace_is_renamed_to_the_name_of_another(server: Server) -> None:
    owner = await server.owner(name="Ada")
    now_ms = server.clock.now_ms()
    other = WorkspaceId(server.services.new_id(now_ms))
    await server.app.store.write(lambda: tenancy.create_workspace(other, "Acme", now_ms, by="test"))

    for name, status in (("ACME", 409), ("Home", 303), ("LOCAL", 303), ("local", 303)):
        answer = await send_form(owner, "/settings/workspace", "/settings/workspace", name=name)
        assert answer.status_code == status, name
    assert (await server.app.store.read(lambda: tenancy.get_workspace(LOCAL_WORKSPACE))).name == "local"


@pytest.mark.own_database
async def test_a_rule_is_a_sentence_that_holds_says_what_it_changes_and_can_be_removed(
    server: Server,
) -> None:
    owner = await server.owner(name="Ada")
    earlier = await server.stage(mail(60))
    await server.decide(owner, earlier.run_id, earlier.actions[0].id, "approve")
    typed = {
        "subject": "channel email",
        "condition": "recipients",
        "number": "50",
        "count": "2",
        "who": "person",
    }
    owner.confirms = False
    asked = await add_rule(owner, **typed)
    assert "When E-mail goes to more than 50 people, ask 2 signed-in people." in asked.text
    assert "It would have changed 1 of the last 1 decisions." in asked.text
    owner.confirms = True
    answer = await owner.confirm(asked)
    assert (answer.status_code, answer.headers["location"]) == (303, "/settings/policy?did=saved")
    found = await server.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    assert [each["when"] for each in found.source["rule"]] == [
        {"channel": "email", "recipients": {"at_least": 51}}
    ]
    assert [each["ask"] for each in found.source["rule"]] == [{"assurance": "person", "approvers": 2}]
    page = (await owner.get("/settings/policy")).text
    assert "It changes 1 of the last 1 decision" in page and "at_least = 51" in page
    for count, status in ((50, Status.APPROVED), (51, Status.AWAITING_APPROVAL)):
        run = await server.stage(mail(count))
        server.clock.advance(seconds=86_400)
        await server.decide(owner, run.run_id, run.actions[0].id, "approve")
        assert (await server.action(run.actions[0].id)).status is status, count

    for wrong in (
        {"number": "many"},
        {"condition": "amount", "number": "a lot"},
        {"subject": "nothing"},
        typed,
    ):
        refused = await add_rule(owner, **{**typed, **wrong})
        assert (refused.status_code, "Nothing was saved" in refused.text) == (400, True), wrong
    assert (await add_rule(owner, subject="channel x", condition="always", who="deny")).status_code == 303
    assert "When X goes out, no one may approve it." in (await owner.get("/settings/policy")).text
    found = await server.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    owner.confirms = False
    asked = await add_rule(owner, remove=found.source["rule"][0]["name"])
    assert "When E-mail goes to more than 50 people, ask 2 signed-in people." in asked.text
    owner.confirms = True
    assert (await owner.confirm(asked)).status_code == 303
    found = await server.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    assert ["deny" in each for each in found.source["rule"]] == [True]


def test_a_rule_that_says_more_than_a_sentence_is_not_put_into_one() -> None:
    channels = {"email": "E-mail"}
    ask = {"approvers": 1}
    both = {"amount": {"at_least": "5 EUR"}, "recipients": {"at_least": 2}}
    for when in (both, {"caller": "x"}, {"channel": ["email"]}, {"recipients": {"at_most": 3}}):
        assert word_rule({"when": when, "ask": ask}, channels) is None, when
    for more in ({"within_hours": 3}, {"people": ["ada@example.com"]}, {"assurance": "client"}):
        assert word_rule({"when": {"channel": "email"}, "ask": ask | more}, channels) is None, more
    said = word_rule(
        {"when": {"amount": {"at_least": "500 EUR"}}, "ask": ask | {"people": ["role:owner"]}}, channels
    )
    assert said == "When anything is about 500 EUR or more, ask 1 owner."


async def add_rule(browser: KeyedBrowser, **typed: str) -> httpx.Response:
    page = (await browser.get("/settings/policy")).text
    nonce = next(each.fields["nonce"] for each in forms(page) if each.address == "/settings/policy/rules")
    return await browser.post("/settings/policy/rules", data={"nonce": nonce, **typed})


@pytest.mark.own_database
async def test_a_key_comes_with_its_snippets_and_says_when_it_was_used(server: Server) -> None:
    owner = await server.owner()
    settings = (await owner.get("/settings")).text
    assert "Webhooks" not in settings and "Credits" not in settings
    page = (await send_form(owner, "/settings/keys", "/keys", label="Claude", rights="all")).text
    key = page.partition("clp_live_")[2].partition("<")[0]
    assert page.count(f"clp_live_{key}") >= 5 and "claude mcp add" in page
    assert "May prepare drafts, pass on your yes, send what is approved" in page and "Never used" in page

    headers = {"Authorization": f"Bearer clp_live_{key}", "Accept": "application/json"}
    called = await owner.post("/api/tools/chieflab_get_workspace", headers=headers, json={})
    assert called.status_code == 200, called.text
    await server.app.callers.flush()
    assert "Last used" in (await owner.get("/settings/keys")).text
    keys = await server.app.store.read(lambda: tenancy.list_keys(LOCAL_WORKSPACE))
    seen = await server.app.store.read(lambda: callers.list_seen(LOCAL_WORKSPACE))
    assert seen == {f"key:{keys[0].key_id}": server.clock.now_ms()}


@pytest.mark.own_database
async def test_the_first_run_page_ticks_a_client_and_makes_a_sample_that_waits(server: Server) -> None:
    owner = await server.owner()
    page = (await owner.get("/start")).text
    assert [each in page for each in ("cursor://anysphere.", "vscode:mcp/install?")] == [True, True]
    assert "Waiting for your client" in page and "Choose a name" in page
    # On PostgreSQL a process of the client's would need the server's secrets.
    assert ("--data-dir" in page) is (server.app.store.dialect == "sqlite")
    server.app.callers.note(tenancy.LOCAL_PRINCIPAL, server.clock.now_ms())
    await server.app.callers.flush()
    ticked = (await owner.get("/start")).text
    assert "A client connected" in ticked and 'hx-trigger="every' not in ticked

    answer = await send_form(owner, "/start", "/sample")
    assert answer.status_code == 303
    review = await owner.get(answer.headers["location"])
    assert "We decide what goes out" in review.text
    assert "We decide what goes out" in (await owner.get("/inbox")).text


@pytest.mark.own_database
@pytest.mark.parametrize(
    ("then", "led"),
    [
        ("/settings/policy?did=saved", "/settings/policy?did=saved"),
        ("//evil.example/", "/start"),
        ("/\\evil.example", "/start"),
        ("https://evil.example/", "/start"),
        ("", "/start"),
    ],
)
async def test_a_person_comes_back_after_signing_in_to_a_page_of_this_server_alone(
    server: Server, then: str, led: str
) -> None:
    browser = server.browser()
    refused = await browser.get("/settings/policy?did=saved")
    assert refused.status_code == 401 and "/sign-in?then=%2Fsettings%2Fpolicy%3Fdid%3Dsaved" in refused.text
    await browser.get("/sign-in", params={"then": then})
    answer = await browser.post(await server.sign_in_path(), data={"name": "Ada"})
    assert (answer.status_code, answer.headers["location"]) == (303, led)
    assert not browser.cookies.get("assent-then")


@pytest.mark.own_database
async def test_a_draft_leads_a_signed_in_person_to_the_connection_that_it_lacks(server: Server) -> None:
    owner, run = await server.owner(), await server.stage(mail(1))
    link = f'href="/connect/smtp?workspace={LOCAL_WORKSPACE}"'
    assert link in await server.page(owner, run.run_id)
    assert link not in await server.page(await server.opened(run), run.run_id)


@pytest.mark.own_database
async def test_the_start_page_leads_a_signed_in_person_to_the_inbox_and_others_to_sign_in(
    server: Server,
) -> None:
    owner = await server.owner()
    answer = await owner.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/inbox")
    stranger = await server.browser().get("/")
    assert stranger.status_code == 200 and 'class="button primary" href="/sign-in"' in stranger.text


@pytest.mark.own_database
async def test_a_form_that_is_out_of_date_keeps_the_typed_text_and_the_frame_but_no_secret(
    server: Server,
) -> None:
    owner = await server.owner()
    text = "Two sentences. They took a while to write."
    typed = {"nonce": "old", "rules": text, "password": "my secret word", "key": "sk_ secret"}
    answer = await owner.post("/settings/policy", data=typed)
    assert answer.status_code == 403
    assert text in answer.text and 'aria-label="Main"' in answer.text
    assert "secret" not in answer.text
    for path in ("/sessions/00000000-0000-7000-8000-000000000009", "/no-such-page"):
        lost = await owner.get(path)
        assert lost.status_code == 404 and 'class="side-nav"' in lost.text, path
    stranger = await server.browser().get("/no-such-page")
    assert stranger.status_code == 404 and "side-nav" not in stranger.text
    program = await owner.get("/no-such-page", headers={"Accept": "application/json"})
    assert program.json() == {"error": "Not Found"}


@pytest.mark.own_database
async def test_a_person_lands_on_the_first_steps_until_something_was_prepared(server: Server) -> None:
    fresh = await server.browser().post(await server.sign_in_path(), data={"name": "Ada"})
    await server.stage(post())
    later = await server.browser().post(await server.sign_in_path(), data={"name": "Ada"})

    assert [each.headers["location"] for each in (fresh, later)] == ["/start", "/inbox"]


@pytest.mark.own_database
async def test_with_two_workspaces_there_is_one_picker_on_every_page(server: Server) -> None:
    owner = await server.owner()
    await server.browser().post("/get-key", data={"email": "kari@example.org"})
    for path in ("/inbox", "/runs", "/settings/policy", "/connectors"):
        page = (await owner.get(path)).text
        assert page.count('name="workspace"') == 1, path


async def test_sign_in_links_are_mailed_by_the_mail_server_that_was_connected_on_its_page(
    tmp_path: Path,
) -> None:
    allowed: Any = ("127.0.0.1",)
    inbox = Inbox()
    server = Server(
        new_sqlite(tmp_path / "assent.db"), tmp_path, BASE_URL, built_in=True, allow_hosts=allowed
    )
    async with mail_server(inbox, auth=True) as port:
        try:
            owner = await server.owner()
            assert not await server.services.outgoing.can_send_notes()
            fields = {"from": "Harbor <post@harbor.example>", "host": "127.0.0.1", "port": str(port)}
            more = {"encryption": "none", "user": USER, "password": PASSWORD}
            where = f"/connect/smtp?workspace={LOCAL_WORKSPACE}"
            answer = await send_form(owner, where, "/mail", **fields, **more)
            assert answer.headers["location"].endswith("did=connected"), answer.text
            assert await server.services.outgoing.can_send_notes()

            invited = await send_form(
                owner,
                "/settings/people",
                "/people",
                name="Grace",
                email="grace@example.org",
                mail="on",
                **{f"in.{LOCAL_WORKSPACE}": "1"},
            )
            assert "It was sent to grace@example.org." in invited.text
            assert (
                inbox.message()["To"] == "grace@example.org" and "/sign-in/" in inbox.message().get_content()
            )
            inbox.taken.clear()
            await mailed_links.ask(server.services, "grace@example.org", "203.0.113.1")
            await server.run_jobs()
            assert inbox.message()["From"] == "Harbor <post@harbor.example>"
        finally:
            await server.close()


RULE = '[[rule]]\nname = "Two for mail"\nwhen = { channel = "email" }\nask = { approvers = 2 }'


async def save(browser: httpx.AsyncClient, **typed: str) -> httpx.Response:
    page = await browser.get("/settings/policy")
    assert page.status_code == 200
    [form] = [each for each in forms(page.text) if each.address == "/settings/policy"]
    return await browser.post("/settings/policy", data={**form.fields, **typed})


@pytest.mark.own_database
async def test_rules_of_the_page_hold_and_are_shown_in_words(server: Server) -> None:
    browser = await server.owner()
    assert (await save(browser, preset="people", rules=RULE)).status_code == 303
    page = (await browser.get("/settings/policy")).text
    assert "When E-mail goes out, ask 2 signed-in people." in page and "<bdi>Two for mail</bdi>." in page
    assert "Only people, signed in; 1 rule of your own" in page
    found = await server.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    assert (found.version, found.source["preset"], found.by) == (1, "people", "owner")
    again = await save(browser, preset="relay")
    assert again.status_code == 303
    kept = await server.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    assert kept.source["rule"] == found.source["rule"]


@pytest.mark.own_database
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (RULE.replace("channel", "chanel"), "did you mean channel?"),
        (RULE.replace('"email"', "email"), "cannot be read"),
        (RULE.replace("ask", "allow"), "rule[1]"),
    ],
)
async def test_a_mistake_saves_nothing_and_keeps_what_was_typed(
    server: Server, typed: str, said: str
) -> None:
    browser = await server.owner()
    answer = await save(browser, preset="people", rules=typed)
    assert answer.status_code == 400
    assert "Nothing was saved" in answer.text
    assert said in answer.text
    [form] = [each for each in forms(answer.text) if each.address == "/settings/policy"]
    assert form.fields["rules"] == typed
    found = await server.app.store.read(lambda: policies.find_version(LOCAL_WORKSPACE))
    assert found.version == 0
