"""Deciding on the page: the machine of the chat, about exactly what was shown, by whom and how sure (C8, C25)."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import httpx
import msgspec
import pytest
from tests.support.review.kit import TEXT, Server, form, forms, mail, post
from tests.support.surfaces import START_MS

from assent.engine.actions import actions, decisions
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.policy import PRESETS
from assent.gate.preflight import Readiness
from assent.gate.records import OWN_WORDS, Assurance
from assent.kernel.ids import ActionId
from assent.kernel.limits import HOUR_MS
from assent.kernel.tokens import KeyRing
from assent.ports import StoreUnavailable, Transaction
from assent.serving.web.review.page import subject
from assent.serving.web.shell.forms import Browser, FormNonces
from assent.sql.loader import statements
from assent_launch.learning import memory as brain
from assent_launch.learning.memory import Entry


async def by_agent(server: Server, action_id: str, **options: Any) -> None:
    decider = Decider(LOCAL_WORKSPACE, "key:0011223344556677", Assurance.AGENT, "chat")
    await server.app.store.write(
        lambda: decisions.approve(
            decider,
            ActionId(action_id),
            SeenVersion(),
            server.clock.now_ms(),
            seals=server.app.keys.seals,
            **options,
        )
    )


async def set_policy(server: Server, preset: str) -> None:
    text = msgspec.json.encode(PRESETS[preset]).decode()

    def write() -> Transaction[None]:
        yield statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=text)

    await server.app.store.write(write)


@pytest.mark.rule("E21", "E69", "E70")
async def test_the_holder_of_a_link_approves_under_the_name_they_give(server_on_any_store: Server) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    browser, action_id = await server.opened(run), run.actions[0].id

    answer = await server.decide(browser, run.run_id, action_id, "approve", name="Ada Lovelace")

    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"/runs/{run.run_id}?did=approve&action={action_id}")
    action = await server.action(action_id)
    assert action.status == "approved"
    assert action.approval is not None
    someone = "someone with the review link, calling themselves “Ada Lovelace”"
    assert (action.approval.by, action.approval.assurance) == (someone, "link")
    assert action.approval.digest == action.digest
    kind, facts = (await server.events(run.run_id))[-1]
    assert (kind, facts["by"], facts["assurance"], facts["via"]) == (
        "action_approve",
        someone,
        "link",
        "review page",
    )
    assert server.provider.done == []
    page = (await browser.get(answer.headers["location"])).text
    assert f"Approval by {someone}" in page
    assert '<div class="callout warn">' in page and '<div class="callout ok">' not in page
    assert '<span class="badge warn">Approved over the review link</span>' in page
    assert '<span class="badge ok">' not in page and "Approved by <bdi>Ada" not in page
    assert f"Approved by {someone}" in page


async def test_the_name_is_asked_once_and_must_be_given(server: Server) -> None:
    run = await server.stage(post(), mail())
    browser, first, second = await server.opened(run), run.actions[0].id, run.actions[1].id

    for name in ("", "   ", "x" * 201):
        answer = await server.decide(browser, run.run_id, first, "approve", name=name)
        assert answer.status_code == 400
        assert "Enter your name" in answer.text
    assert (await server.action(first)).status == "awaiting_approval"

    await server.decide(browser, run.run_id, first, "approve", name="  Zoë   O’Neil ")

    approval = (await server.action(first)).approval
    assert approval is not None
    assert approval.by == "someone with the review link, calling themselves “Zoë O’Neil”"
    assert form(await server.page(browser, run.run_id), second, "approve").fields["name"] == "Zoë O’Neil"


async def test_nobody_takes_the_name_of_a_person_or_a_role_over_a_link(server_on_any_store: Server) -> None:
    server = server_on_any_store
    await server.owner(name="Grace Hopper")
    run = await server.stage(post())
    browser, action_id = await server.opened(run), run.actions[0].id

    for name in (
        "Grace Hopper",
        "grace  HOPPER",
        "Gr\u0430ce Hopper",
        "Grâce-Hopper",
        "owner",
        "The Owner",
        "0wner",
    ):
        answer = await server.decide(browser, run.run_id, action_id, "approve", name=name)
        assert answer.status_code == 400, name
        assert "belongs to someone who can sign in" in answer.text
    assert (await server.action(action_id)).status == "awaiting_approval"
    answer = await server.decide(browser, run.run_id, action_id, "approve", name="Grace Kelly")
    assert answer.status_code == 303


async def test_a_signed_in_person_approves_as_themselves_whatever_the_form_says(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    owner = await server.owner(name="Grace Hopper")

    assert "name" not in form(await server.page(owner, run.run_id), run.actions[0].id, "approve").fields
    await server.decide(owner, run.run_id, run.actions[0].id, "approve", name="Somebody Else")

    approval = (await server.action(run.actions[0].id)).approval
    assert approval is not None
    assert (approval.by, approval.assurance) == ("Grace Hopper", "client")


@pytest.mark.rule("E62")
async def test_high_risk_is_refused_by_link_with_the_way_to_sign_in_and_allowed_to_a_person(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(mail(60))
    browser, action_id = await server.opened(run), run.actions[0].id
    assert '<a href="/sign-in">Sign in' in await server.page(browser, run.run_id)

    refused = await server.decide(browser, run.run_id, action_id, "approve", then="send")

    assert refused.status_code == 409
    assert "This needs a signed-in person" in refused.text
    assert '<a href="/sign-in">Sign in' in refused.text
    assert (await server.action(action_id)).status == "awaiting_approval"
    assert await server.run_jobs() == 0

    # The same form works once this browser is signed in.
    waiting = form(refused.text, action_id, "approve")
    await server.owner(browser)
    taken = await browser.post(waiting.address, data=waiting.fields)
    assert taken.status_code == 303
    approval = (await server.action(action_id)).approval
    assert approval is not None
    assert (approval.by, approval.assurance) == ("owner", "person")


async def test_an_approval_that_an_agent_relayed_never_looks_like_a_humans(server: Server) -> None:
    run = await server.stage(post())
    await by_agent(server, run.actions[0].id)
    page = await server.page(await server.opened(run), run.run_id)

    assert "Approval relayed by an agent" in page
    assert "The server did not see a human decide." in page
    assert "Approved by" not in page
    assert '<span class="badge ok">' not in page


async def test_a_person_confirms_what_an_agent_relayed(server: Server) -> None:
    run = await server.stage(post())
    await by_agent(server, run.actions[0].id)
    owner = await server.owner()
    assert "Confirm as yourself" in await server.page(owner, run.run_id)

    await server.decide(owner, run.run_id, run.actions[0].id, "approve")

    approval = (await server.action(run.actions[0].id)).approval
    assert approval is not None
    assert (approval.by, approval.assurance) == ("owner", "person")
    assert "Approved by <bdi>owner</bdi>" in await server.page(owner, run.run_id)


async def test_an_edit_that_changes_nothing_or_leaves_nothing_is_not_taken(server: Server) -> None:
    run = await server.stage(mail())
    browser, action_id = await server.opened(run), run.actions[0].id
    before = await server.everything()

    unchanged = await server.decide(browser, run.run_id, action_id, "edit", body=TEXT.replace("\n", "\r\n"))
    empty = await server.decide(browser, run.run_id, action_id, "edit", body="  \n ")
    nobody = await server.decide(browser, run.run_id, action_id, "edit", recipients="ada at example")
    brief = await server.decide(
        browser,
        run.run_id,
        action_id,
        "edit",
        body="You are an expert copywriter. Write a post about our launch.",
    )

    assert [answer.status_code for answer in (unchanged, empty, nobody, brief)] == [400] * 4
    assert "Nothing is different yet" in unchanged.text
    assert "ada at example" in nobody.text
    assert await server.everything() == before


async def test_a_form_about_content_that_changed_decides_nothing_and_shows_what_is_there_now(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    browser, action_id = await server.opened(run), run.actions[0].id
    old = await server.page(browser, run.run_id)
    await server.decide(
        browser, run.run_id, action_id, "edit", body="Another text than the one you were shown."
    )
    before = await server.everything()

    for decision, fields in (
        ("approve", {"name": "Ada"}),
        ("reject", {"name": "Ada", "reason": "No."}),
        ("edit", {"name": "Ada", "body": "My own words, typed with care."}),
    ):
        stale = form(old, action_id, decision)
        answer = await browser.post(stale.address, data={**stale.fields, **fields})
        assert answer.status_code == 409
        assert "The content changed while you were looking" in answer.text
        assert "Another text than the one you were shown." in answer.text
        if decision == "edit":
            assert form(answer.text, action_id, "edit").fields["body"] == "My own words, typed with care."

    assert await server.everything() == before


async def test_a_form_of_another_browser_or_from_yesterday_or_with_a_forged_nonce_decides_nothing(
    server: Server,
) -> None:
    run = await server.stage(post(), mail())
    browser, other = await server.opened(run), await server.opened(run)
    await server.page(other, run.run_id)
    action_id = run.actions[0].id
    approve = form(await server.page(browser, run.run_id), action_id, "approve")
    filled = {**approve.fields, "name": "Ada"}
    mine = form(await server.page(browser, run.run_id), run.actions[1].id, "approve")
    nonce = filled["nonce"]
    forged = nonce[:-1] + ("A" if nonce[-1] != "A" else "E")
    before = await server.everything()

    answers = [
        await other.post(approve.address, data=filled),
        await browser.post(approve.address, data={**filled, "nonce": ""}),
        await browser.post(approve.address, data={**filled, "nonce": forged}),
        await browser.post(approve.address, data={**filled, "nonce": mine.fields["nonce"]}),
        await browser.post(approve.address.replace("/approve", "/reject"), data={**filled, "reason": "x"}),
        await browser.post(approve.address, data={**filled, "digest": mine.fields["digest"]}),
        await browser.post(mine.address, data=filled),
    ]
    server.clock.advance(hours=12)
    answers.append(await browser.post(approve.address, data=filled))

    assert [answer.status_code for answer in answers] == [403] * len(answers)
    assert all("This form was out of date" in answer.text for answer in answers)
    assert await server.everything() == before


@pytest.mark.rule("E71")
async def test_a_link_decides_about_its_own_run_only_and_unknown_and_foreign_look_the_same(
    server: Server,
) -> None:
    run, other = await server.stage(post()), await server.stage(post())
    browser = await server.opened(run)
    await server.opened(other, browser)
    theirs = form(await server.page(browser, other.run_id), other.actions[0].id, "approve")
    nonces, digest = _nonces_for(server, browser, run.run_id), theirs.fields["digest"]
    answers = [
        await browser.post(
            f"/runs/{run.run_id}/actions/{action_id}/approve",
            data={"name": "Ada", "digest": digest, "nonce": nonces(action_id, digest)},
        )
        for action_id in (other.actions[0].id, "0190a000-0000-7000-8000-00000000000a", "no-id")
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert (await server.action(other.actions[0].id)).status == "awaiting_approval"


def _nonces_for(server: Server, browser: httpx.AsyncClient, run_id: str) -> Any:
    """Nonces as the server itself would make them, for forms that it never shows."""
    keys = KeyRing.for_purpose(server.app.keys.master, "form")
    nonces = FormNonces(keys, os.urandom, base_url=server.base_url)
    known = Browser(browser.cookies[nonces.cookie], is_new=False)
    return lambda action_id, digest: nonces.issue(
        known, subject(run_id, action_id, digest, "approve"), server.clock.now_ms()
    )


async def test_a_decision_that_does_not_exist_is_not_found(server: Server) -> None:
    run = await server.stage(post())
    browser = await server.opened(run)
    path = f"/runs/{run.run_id}/actions/{run.actions[0].id}/execute"

    assert (await browser.post(path, data={"name": "Ada"})).status_code == 404


@pytest.mark.rule("E65")
async def test_nothing_in_a_form_but_its_decision_changes_an_outcome(server: Server) -> None:
    run = await server.stage(mail(60))
    browser, action_id = await server.opened(run), run.actions[0].id

    answer = await server.decide(
        browser,
        run.run_id,
        action_id,
        "approve",
        assurance="person",
        approved="true",
        status="approved",
        force="1",
    )

    assert answer.status_code == 409
    assert (await server.action(action_id)).status == "awaiting_approval"


async def test_send_now_is_a_job_that_sends_exactly_once(server_on_any_store: Server) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    browser, action_id = await server.opened(run), run.actions[0].id

    answer = await server.decide(browser, run.run_id, action_id, "approve", then="send")

    assert server.provider.done == []
    queued = await browser.get(answer.headers["location"])
    assert "It is in the queue and goes out in a moment." in queued.text
    assert queued.headers["refresh"] == f"1; url=/runs/{run.run_id}?look=2#action-{run.actions[0].id}"
    assert await server.run_jobs() == 1
    assert [action.action_id for action in server.provider.done] == [action_id]
    assert (await server.action(action_id)).status == "executed"
    sent = await browser.get(f"/runs/{run.run_id}?look=2")
    assert "https://social.example/posts/1" in sent.text
    assert "refresh" not in sent.headers
    assert await server.run_jobs() == 0
    assert len(server.provider.done) == 1


async def test_pressing_send_twice_sends_once(server: Server) -> None:
    run = await server.stage(post())
    browser, action_id = await server.opened(run), run.actions[0].id
    approve = form(await server.page(browser, run.run_id), action_id, "approve")
    filled = {**approve.fields, "name": "Ada", "then": "send"}

    for _ in range(3):
        assert (await browser.post(approve.address, data=filled)).status_code == 303
    while await server.run_jobs():
        pass

    assert len(server.provider.done) == 1
    assert (await browser.post(approve.address, data=filled)).status_code == 409


async def test_send_now_works_again_after_a_job_that_could_not_get_through(server: Server) -> None:
    run = await server.stage(post())
    browser, action_id = await server.opened(run), run.actions[0].id
    await server.decide(browser, run.run_id, action_id, "approve", then="send")
    server.provider.ready = Readiness(False, "missing_connector", "Connect Zernio first.")
    for _ in range(8):
        await server.run_jobs()
        server.clock.advance(hours=3)
    page = await server.page(browser, run.run_id)
    assert "Connect Zernio first." in page
    server.provider.ready = Readiness(True)

    await server.decide(browser, run.run_id, action_id, "send")
    await server.run_jobs()

    assert (await server.action(action_id)).status == "executed"
    assert len(server.provider.done) == 1


async def test_what_is_published_by_hand_is_never_sent_and_counts_once_somebody_says_where(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(
        post("hn", connector="manual", title="Show HN: Assent", link="https://example.org")
    )
    browser, action_id = await server.opened(run), run.actions[0].id
    page = await server.page(browser, run.run_id)
    assert "publish it on Hacker News yourself" in page
    assert "Approve and send now" not in page
    await server.decide(browser, run.run_id, action_id, "approve")
    page = await server.page(browser, run.run_id)
    assert "https://news.ycombinator.com/submit" in page
    assert {each.decision for each in forms(page)} == {"publish", "edit", "ask", "withdraw", "reject"}

    for wrong in (
        "",
        "news.ycombinator.com",
        "javascript:alert(1)",
        "https://",
        "https://a b",
        "http://[::1",
    ):
        answer = await server.decide(browser, run.run_id, action_id, "publish", url=wrong)
        assert answer.status_code == 400
        assert form(answer.text, action_id, "publish").fields["url"] == wrong
    assert (await server.action(action_id)).status == "approved"
    url = "https://news.ycombinator.com/item?id=1"
    answer = await server.decide(browser, run.run_id, action_id, "publish", url=url)

    assert "did=publish" in answer.headers["location"]
    action = await server.action(action_id)
    assert (action.status, action.external_url) == ("executed", url)
    [facts] = [facts for kind, facts in await server.events(run.run_id) if kind == "action_hand_over"]
    someone = "someone with the review link, calling themselves “Ada Reviewer”"
    assert (facts["by"], facts["assurance"]) == (someone, "link")
    assert url in (await browser.get(answer.headers["location"])).text


async def test_a_step_of_a_workflow_is_confirmed_and_neither_sent_nor_edited(server: Server) -> None:
    run = await server.stage(post("workflow", verb="confirm", connector="workflow", title="Ship it"))
    browser, action_id = await server.opened(run), run.actions[0].id
    page = await server.page(browser, run.run_id)

    assert "Lets your agent go on past this step" in page
    assert {each.decision for each in forms(page)} == {"approve", "ask", "reject"}
    assert (await server.decide(browser, run.run_id, action_id, "approve")).status_code == 303
    page = await server.page(browser, run.run_id)
    assert {each.decision for each in forms(page)} == {"ask", "withdraw", "reject"}


async def test_an_expired_draft_offers_nothing_to_press_and_says_what_to_do(server: Server) -> None:
    run = await server.stage(post(expires_ms=START_MS + HOUR_MS))
    browser, action_id = await server.opened(run), run.actions[0].id
    approve = form(await server.page(browser, run.run_id), action_id, "approve")
    server.clock.advance(hours=1)

    page = await server.page(browser, run.run_id)
    answer = await browser.post(approve.address, data={**approve.fields, "name": "Ada"})

    assert "This draft has expired" in page
    assert [each for each in forms(page) if each.decision] == []
    assert answer.status_code == 409
    assert "This draft has expired" in answer.text


async def test_an_action_that_is_being_sent_can_neither_be_changed_nor_taken_back(server: Server) -> None:
    run = await server.stage(post())
    browser, action_id = await server.opened(run), run.actions[0].id
    await server.decide(browser, run.run_id, action_id, "approve")
    withdraw = form(await server.page(browser, run.run_id), action_id, "withdraw")

    async def during() -> None:
        answer = await browser.post(withdraw.address, data={**withdraw.fields, "name": "Ada"})
        assert answer.status_code == 409
        assert "It is being sent right now" in answer.text

    perform = server.provider.perform

    async def performing(ctx: Any, effect: Any) -> Any:
        await during()
        return await perform(ctx, effect)

    server.provider.perform = performing  # type: ignore[method-assign]
    await server.decide(browser, run.run_id, action_id, "send")
    await server.run_jobs()

    assert (await server.action(action_id)).status == "executed"


async def test_a_form_is_answered_with_503_while_the_database_is_away_and_works_when_it_is_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await server.stage(post())
    browser = await server.opened(run)
    approve = form(await server.page(browser, run.run_id), run.actions[0].id, "approve")

    async def away(begin: object) -> None:
        raise StoreUnavailable("unplugged by the test")

    with monkeypatch.context() as unplugged:
        unplugged.setattr(server.app.store, "write", away)
        answer = await browser.post(approve.address, data={**approve.fields, "name": "Ada"})
        assert answer.status_code == 503
        assert "unplugged" not in answer.text
    assert (await server.action(run.actions[0].id)).status == "awaiting_approval"

    answer = await browser.post(approve.address, data={**approve.fields, "name": "Ada"})

    assert answer.status_code == 303


async def test_many_browsers_decide_at_once_and_one_decision_holds(server_on_any_store: Server) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    action_id = run.actions[0].id
    browsers = [await server.opened(run) for _ in range(6)]
    filled = [form(await server.page(browser, run.run_id), action_id, "approve") for browser in browsers[:3]]
    rejects = [form(await server.page(browser, run.run_id), action_id, "reject") for browser in browsers[3:]]

    answers = await asyncio.gather(
        *(
            browser.post(each.address, data={**each.fields, "name": "Ada", "reason": "No."})
            for browser, each in zip(browsers, [*filled, *rejects], strict=True)
        )
    )

    action, _ = await server.app.store.read(lambda: actions.find(LOCAL_WORKSPACE, ActionId(action_id)))
    assert {answer.status_code for answer in answers} <= {303, 409}
    assert action.status == "rejected"
    kinds = [kind for kind, _ in await server.events(run.run_id)]
    assert kinds.count("action_reject") == 1


ASKED = "Never use exclamation marks."


async def lessons(server: Server) -> list[Entry]:
    return await server.app.store.read(
        lambda: brain.read(LOCAL_WORKSPACE, brain.DEFAULT_TENANT, kind="lesson", most=10)
    )


async def test_a_request_that_comes_with_an_edit_on_the_page_becomes_a_lesson(server: Server) -> None:
    run = await server.stage(post(), post("x"))
    browser = await server.opened(run)
    first, second = (action.id for action in run.actions)

    await server.decide(browser, run.run_id, first, "edit", body="It waits for your yes.")
    silent = await lessons(server)
    await server.decide(
        browser, run.run_id, second, "edit", body="It waits for your yes.", asked=f" {ASKED} "
    )

    assert silent == []
    (lesson,) = await lessons(server)
    assert (lesson.body, lesson.action_id, lesson.state) == (ASKED, second, "confirmed")
    assert lesson.facts["by"] and lesson.facts["assurance"] == "link"


async def test_the_page_of_a_mail_to_named_people_asks_for_no_lesson(server: Server) -> None:
    run = await server.stage(mail(metadata={OWN_WORDS: True}))
    browser, action_id = await server.opened(run), run.actions[0].id

    assert "asked" not in form(await server.page(browser, run.run_id), action_id, "edit").fields
    assert ASKED not in (await browser.get(f"/runs/{run.run_id}/actions/{action_id}/edit")).text
    await server.decide(browser, run.run_id, action_id, "edit", body="It waits.", asked=ASKED)

    assert await lessons(server) == []
