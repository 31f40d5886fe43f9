"""Each person is told what they chose, about what they may decide, and reminded once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import httpx
import pytest
from packages.core.tests.wire.review.test_inbox import stage_in
from packages.core.tests.wire.review.test_notifications import Posts, told_at
from packages.core.tests.wire.review.test_people_and_approvers import invited, two_people
from tests.support.review.kit import Server, forms, mail, post
from tests.support.sqlite_files import new_sqlite

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import members, people, targets
from assent.engine.people.people import OWNER, Person, Role
from assent.engine.people.targets import Choices
from assent.gate.views import Severity
from assent.ports import Delivered, NotSent, OutcomeUnknown, Transaction
from assent.sql.loader import statements


async def find_person(server: Server, name: str) -> str:
    listed = await server.app.store.read(lambda: members.list_people(server.clock.now_ms()))
    return next(each.person.person_id for each in listed if each.person.name == name)


async def hears(server: Server, person_id: str, address: str, choices: Choices | None = None) -> str:
    owner = targets.of_person(person_id)
    notifier = server.services.notifiers["ntfy" if address.startswith("http") else "email"]
    target_id = await targets.add(server.services, owner, notifier, address, by="test")
    if choices is not None:
        await server.app.store.write(lambda: targets.choose(owner, target_id, choices))
    return target_id


def read(posts: Posts) -> dict[str, list[str]]:
    """The texts that each address got, and forget them."""
    found: dict[str, list[str]] = {}
    for address, said in posts.sent:
        found.setdefault(address, []).append(said.get("text") or said["message"])
    posts.sent.clear()
    return found


async def test_a_person_is_told_about_the_workspaces_in_which_they_may_decide(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    posts = Posts(server)
    await server.owner()
    await invited(server, "Grace")
    grace = await find_person(server, "Grace")
    await hears(server, OWNER, "owner@example.org")
    await hears(server, grace, "grace@example.org")

    await server.stage(post())
    await stage_in(server, "Elsewhere", post())
    await server.run_jobs()

    told = read(posts)
    assert len(told["owner@example.org"]) == 2
    [text] = told["grace@example.org"]
    assert "in local waits for you" in text

    await server.app.store.write(lambda: members.remove(grace, server.clock.now_ms(), by="owner"))
    await server.stage(post())
    await server.run_jobs()
    assert set(read(posts)) == {"owner@example.org"}
    assert "grace@example.org" not in repr(await server.everything())


@pytest.mark.parametrize("how", ["removed", "left the workspace"])
async def test_a_person_who_may_not_decide_any_more_when_the_job_runs_is_not_told(
    server: Server, how: str
) -> None:
    posts = Posts(server)
    await invited(server, "Grace")
    grace = await find_person(server, "Grace")
    await hears(server, grace, "grace@example.org")
    await server.stage(post())

    def leave() -> Transaction[None]:
        if how == "removed":
            yield from members.remove(grace, server.clock.now_ms(), by="owner")
        else:
            yield statements.end_memberships(person_id=grace)

    await server.app.store.write(leave)
    await server.run_jobs()

    assert read(posts) == {}


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        (Choices(), 1),
        (Choices(causes=frozenset({"problems"})), 0),
        (Choices(risks=frozenset({Severity.HIGH})), 0),
        (Choices(risks=frozenset({Severity.MEDIUM})), 1),
    ],
)
async def test_a_target_hears_only_of_the_causes_and_risks_it_chose(
    server: Server, choices: Choices, told: int
) -> None:
    posts = Posts(server)
    await server.owner()
    await hears(server, OWNER, "owner@example.org", choices)
    await server.stage(post())

    await server.run_jobs()

    assert len(posts.sent) == told


async def test_a_quiet_note_makes_no_sound(server: Server) -> None:
    posts = Posts(server)
    await server.owner()
    await hears(server, OWNER, "https://push.example/topic", Choices(quiet=True))
    await server.stage(post())

    await server.run_jobs()

    assert posts.sent[0][1]["priority"] == 2


async def test_choices_are_made_on_the_page_and_only_for_ones_own_addresses(server: Server) -> None:
    owner = await server.owner()
    grace = await invited(server, "Grace")
    page = (await owner.get("/settings/notifications")).text
    add = [each for each in forms(page) if each.address == "/settings/notifications"][-1]
    data = {"nonce": add.fields["nonce"], "kind": "email", "address": "ada@example.org", "whose": "me"}
    assert (await owner.post("/settings/notifications", data=data)).status_code == 303
    page = (await owner.get("/settings/notifications")).text
    choose = next(each for each in forms(page) if each.address.endswith("/choose"))

    chosen = {**choose.fields, "cause-waiting": "on", "risk-high": "on", "hours": "4", "quiet": "on"}
    assert (await owner.post(choose.address, data=chosen)).status_code == 303

    mine = targets.of_person(OWNER)
    [target] = await server.app.store.read(lambda: targets.list_targets(mine))
    expected = Choices(frozenset({"waiting"}), frozenset({Severity.HIGH}), quiet=True, remind_hours=4)
    assert target.choices == expected
    page = (await grace.get("/settings/notifications")).text
    nonce = next(each for each in forms(page) if each.address == "/settings/notifications").fields["nonce"]
    for what in ("choose", "remove", "test"):
        address = f"/settings/notifications/{target.target_id}/{what}"
        for whose in ("me", ""):
            await grace.post(address, data={"nonce": nonce, "whose": whose})
    assert await server.app.store.read(lambda: targets.list_targets(mine)) == (target,)
    assert await server.run_jobs() == 0


async def test_a_decision_follows_its_message_once_for_all_of_a_run(server_on_any_store: Server) -> None:
    server = server_on_any_store
    posts = Posts(server)
    await told_at(server, "email", "ada@example.org")
    run = await server.stage(post(), post("x"))
    await server.run_jobs()
    read(posts)
    owner = await server.owner(name="Ada")

    await server.decide(owner, run.run_id, run.actions[0].id, "approve")
    await server.decide(owner, run.run_id, run.actions[1].id, "reject", reason="A secret reason.")
    server.clock.advance(seconds=10)
    await server.run_jobs()

    [text] = read(posts)["ada@example.org"]
    first, second = text.split("\n")[:2]
    assert first.startswith("LinkedIn post: approved by Ada at ")
    assert second.startswith("X post: rejected by Ada at ")
    assert "secret" not in text


async def test_a_decision_made_before_anybody_was_told_is_not_told(server: Server) -> None:
    posts = Posts(server)
    await told_at(server, "email", "ada@example.org")
    run = await server.stage(post())
    await server.decide(await server.owner(), run.run_id, run.actions[0].id, "reject", reason="No.")
    server.clock.advance(seconds=10)

    await server.run_jobs()

    assert read(posts) == {}


def _refuse(action: object) -> Delivered:
    raise NotSent("the provider refused it")


def _lose(action: object) -> Delivered:
    raise OutcomeUnknown("lost")


@pytest.mark.parametrize(("then", "title"), [(_refuse, "did not go out"), (_lose, "Did this go out?")])
async def test_a_failure_and_an_unknown_outcome_are_told(server: Server, then: Any, title: str) -> None:
    posts = Posts(server)
    run = await server.stage(post())
    await server.owner()
    await hears(server, OWNER, "https://push.example/topic", Choices(causes=frozenset({"problems"})))
    server.provider.then = then
    await server.decide(await server.opened(run), run.run_id, run.actions[0].id, "approve", then="send")

    await server.run_jobs()
    await server.run_jobs()

    [(_, said)] = posts.sent
    assert title in said["title"]


async def remind(server: Server) -> None:
    """Run what is due, with the job that looks for reminders, and what it enqueued."""
    from assent.engine.people import notifications

    await server.app.store.write(lambda: notifications.enqueue_due(server.clock.now_ms(), 500))
    while await server.run_jobs():
        pass


async def test_what_waits_a_day_is_reminded_of_once_in_one_message_and_again_before_it_expires(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    posts = Posts(server)
    await server.owner()
    await hears(server, OWNER, "owner@example.org", Choices(causes=frozenset({"reminders"})))
    await server.stage(post())
    await server.stage(post("x"))
    await remind(server)
    server.clock.advance(hours=23)
    await remind(server)
    assert read(posts) == {}

    server.clock.advance(hours=1)
    await remind(server)

    [text] = read(posts)["owner@example.org"]
    assert text.startswith("2 drafts in local still wait for you: ")
    assert f"{server.base_url}/inbox" in text
    server.clock.advance(hours=24)
    await remind(server)
    assert read(posts) == {}

    server.clock.advance(hours=24 * 27)
    await remind(server)
    await remind(server)
    [text] = read(posts)["owner@example.org"]
    assert "It can be approved until " in text
    server.clock.advance(hours=48)
    await remind(server)
    assert read(posts) == {}


async def test_nobody_is_reminded_of_what_was_decided_meanwhile_or_chose_not_to_be(server: Server) -> None:
    posts = Posts(server)
    owner = await server.owner()
    await hears(server, OWNER, "owner@example.org", Choices(causes=frozenset({"reminders"}), remind_hours=1))
    never = Choices(causes=frozenset({"reminders"}), remind_hours=0)
    await hears(server, OWNER, "never@example.org", never)
    run = await server.stage(post(), post("x"))
    await server.decide(owner, run.run_id, run.actions[0].id, "reject", reason="No.")
    server.clock.advance(hours=1)

    await remind(server)

    told = read(posts)
    assert set(told) == {"owner@example.org"}
    assert told["owner@example.org"][0].startswith("One draft in local still waits for you: X post")


async def test_a_member_is_reminded_of_their_own_workspaces_only(server_on_any_store: Server) -> None:
    server = server_on_any_store
    posts = Posts(server)
    await invited(server, "Grace")
    grace = await find_person(server, "Grace")
    await hears(server, grace, "grace@example.org", Choices(causes=frozenset({"reminders"})))
    elsewhere = await stage_in(server, "Elsewhere", post())
    assert elsewhere.run_id
    server.clock.advance(hours=25)

    await remind(server)

    assert read(posts) == {}


async def test_only_those_who_have_not_approved_yet_are_reminded(server_on_any_store: Server) -> None:
    server = server_on_any_store
    posts = Posts(server)
    await two_people(server)
    run = await server.stage(mail(60))
    browsers: dict[str, httpx.AsyncClient] = {}
    for name in ("Ada", "Grace"):
        browsers[name] = await invited(server, name)
        person_id = await find_person(server, name)
        await hears(server, person_id, f"{name.lower()}@example.org", Choices(frozenset({"reminders"})))
    await server.decide(browsers["Ada"], run.run_id, run.actions[0].id, "approve")
    server.clock.advance(hours=24)

    await remind(server)

    assert set(read(posts)) == {"grace@example.org"}


async def test_reminders_and_messages_of_what_is_over_are_forgotten(server: Server) -> None:
    from assent.engine.people import notifications

    Posts(server)
    await told_at(server, "email", "ada@example.org")
    run = await server.stage(post())
    server.clock.advance(hours=24)
    await remind(server)
    everything = await server.everything()
    assert everything["notification_reminders"] and everything["notification_messages"]
    await server.decide(await server.owner(), run.run_id, run.actions[0].id, "reject", reason="No.")

    now_ms = server.clock.now_ms() + notifications.MESSAGES_KEPT_MS + 1
    await server.app.store.write(lambda: notifications.forget_old(now_ms, 500))
    await server.app.store.write(lambda: notifications.forget_messages(now_ms, 500))

    everything = await server.everything()
    assert not everything["notification_reminders"] and not everything["notification_messages"]


async def test_a_browser_is_told_after_it_subscribed_and_forgotten_when_it_is_gone(server: Server) -> None:
    from packages.core.tests.unit.engine.test_webpush import Subscriber

    from assent.gate.webhooks import WebhookReply

    browser, bodies = Subscriber(), []
    posts = Posts(server)

    async def push(url: str, body: bytes, headers: Any) -> WebhookReply:
        bodies.append(body)
        return posts.answer

    posts.replace_post(server, push)
    owner = await server.owner()
    page = (await owner.get("/settings/notifications")).text
    form = next(each for each in forms(page) if each.attributes.get("id") == "push")
    data = {**form.fields, "address": browser.address}
    private = data | {"address": browser.address.replace("push.example", "10.0.0.1")}
    assert (await owner.post(form.address, data=private)).status_code == 400
    assert (await owner.post(form.address, data=data)).status_code == 303
    await server.stage(post())
    await server.run_jobs()

    assert b'"path":"/runs/' in browser.read(bodies[0])
    posts.answer = WebhookReply(410)
    await server.stage(post("x"))
    await server.run_jobs()
    assert await server.app.store.read(lambda: targets.list_targets(targets.of_person(OWNER))) == ()


async def test_an_address_that_is_no_confirmed_members_gets_five_notes_an_hour(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    posts = Posts(server)
    await server.owner()
    now_ms = server.clock.now_ms()
    mel = Person(server.services.new_id(now_ms), "Mel", Role.MEMBER, "mel@example.org")
    zoe = Person(server.services.new_id(now_ms), "Zoe", Role.MEMBER, "zoe@example.org")

    def join() -> Transaction[None]:
        yield from members.add(mel, (LOCAL_WORKSPACE,), now_ms, by="test")
        yield from members.join_by_claim(
            LOCAL_WORKSPACE, zoe, os.urandom(people.ENTROPY_BYTES), now_ms, device=""
        )

    await server.app.store.write(join)
    for address in ("mel@example.org", "zoe@example.org", "Stranger@example.net"):
        await told_at(server, "email", address)
    await hears(server, OWNER, "owner@example.org")

    async def play(rounds: int) -> dict[str, int]:
        for _ in range(rounds):
            await server.stage(post())
        while await server.run_jobs():
            pass
        return {address: len(texts) for address, texts in read(posts).items()}

    seven = {"mel@example.org": 7, "owner@example.org": 7}
    assert await play(7) == {**seven, "zoe@example.org": 5, "Stranger@example.net": 5}
    assert await play(7) == seven
    server.clock.advance(hours=1.1)
    assert (await play(1))["Stranger@example.net"] == 1


async def test_invitations_are_mailed_to_an_address_five_times_an_hour_and_sign_in_links_apart(
    tmp_path: Path,
) -> None:
    server = Server(
        new_sqlite(tmp_path / "assent.db"),
        tmp_path,
        smtp_url="smtp://127.0.0.1:2525",
        smtp_from="assent@example.org",
    )
    posts = Posts(server)
    owner = await server.owner()
    for number in range(6):
        asked = {"name": f"Mel {number}", "email": "mel@example.org", "role": "owner", "mail": "on"}
        page = (await owner.get("/settings/people")).text
        nonce = next(each for each in forms(page) if each.address == "/settings/people").fields["nonce"]
        answer = await owner.post("/settings/people", data={**asked, "nonce": nonce})
        assert answer.status_code == 200 and "/sign-in/" in answer.text

    assert [address for address, _ in posts.sent] == ["mel@example.org"] * 5
    assert (await server.browser().post("/sign-in", data={"email": "mel@example.org"})).status_code == 200
    await server.run_jobs()
    assert len(posts.sent) == 6
    await server.close()
