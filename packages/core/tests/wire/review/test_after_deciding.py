"""After a decision the page says what is true: in the card that was decided, by its outcome, and never that something
is on its way that cannot go."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
from packages.core.tests.wire.review.test_notifications import Posts, told_at
from packages.core.tests.wire.review.test_people_and_approvers import invited, two_people
from tests.support.review.kit import Server, form, forms, mail, post
from tests.support.sqlite_files import new_sqlite

from assent.engine.audit.actions import JournalReplay
from assent.engine.core import journal
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.next_try import RETRY_PAUSES_MS
from assent.gate.outcomes import Remainder
from assent.gate.records import Action, Status
from assent.ports import Delivered, NotSent, Single
from assent.sql.loader import statements


def heading(page: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", "", found[1]).split())


def card_of(page: str, action_id: str) -> str:
    """The card of one action, with everything in it."""
    start = page.index(f'id="action-{action_id}"')
    return page[start : page.index("</article>", start)]


def refuse(action: object) -> Any:
    raise NotSent("The account is suspended.")


def postpone(action: object) -> Any:
    raise NotSent("The service is down.", retry=True)


async def test_the_message_is_in_the_card_that_was_decided_and_the_address_leads_there(
    server: Server,
) -> None:
    run = await server.stage(post())
    action = run.actions[0].id
    browser = await server.owner()
    for decision, fields, said in (
        ("ask", {"text": "Shorter."}, "Your agent reads what you asked for"),
        ("approve", {}, "Approved."),
        ("reject", {"reason": "No."}, "Rejected."),
    ):
        answer = await server.decide(browser, run.run_id, action, decision, **fields)
        page = (await browser.get(answer.headers["location"])).text

        assert answer.headers["location"].endswith(f"#action-{action}")
        assert said in card_of(page, action)
        assert page.count('role="status"') == card_of(page, action).count('role="status"') == 1
        assert 'tabindex="-1"' in page[page.index(f'id="action-{action}"') - 40 :][:200]


async def test_what_went_out_in_part_is_not_called_sent(server: Server) -> None:
    run = await server.stage(mail(3))
    owner, action = await server.owner(), run.actions[0].id

    def reach_two(action: Action) -> Delivered:
        missed = msgspec.structs.replace(action.effect, recipients=action.effect.recipients[2:])
        return Delivered("m1", rest=Remainder(missed, "2 of 3 people", "the mailbox of one is full"))

    server.mailer.then = reach_two
    await server.decide(owner, run.run_id, action, "approve", then="send")
    await server.run_jobs()
    card = card_of(await server.page(owner, run.run_id), action)
    assert "Only a part went out: 2 of 3 people." in card
    assert card.count("Partly sent, 2 of 3") == 2 and ">Sent<" not in card
    assert "· <bdi>partly sent, 2 of 3</bdi>" in (await owner.get("/inbox?show=sent")).text


async def test_a_single_item_keeps_its_title_where_the_heading_says_what_became_of_it(server: Server) -> None:
    await two_people(server)
    ask, approve = await server.stage(post(body="Ask me.")), await server.stage(mail(60))
    owner = await server.owner()
    await server.decide(owner, ask.run_id, ask.actions[0].id, "ask", text="Shorter.")
    await server.decide(owner, approve.run_id, approve.actions[0].id, "approve")
    for run, title in ((ask, "Ask me."), (approve, "Assent is here")):
        page = await server.page(owner, run.run_id)
        assert title not in heading(page)
        assert "for-readers" not in card_of(page, run.actions[0].id).partition("</h2>")[0]


async def test_after_a_decision_the_next_item_opens_first_of_the_run_then_of_the_inbox(
    server: Server,
) -> None:
    other = await server.stage(mail(60))
    run = await server.stage(post(), post("x"))
    owner = await server.owner()
    first, second = (each.id for each in run.actions)

    answer = await server.decide(owner, run.run_id, first, "approve")
    assert answer.headers["location"].startswith(f"/runs/{run.run_id}?did=approve&action={first}")
    assert answer.headers["location"].endswith(f"#action-{second}")
    page = (await owner.get(answer.headers["location"])).text
    assert 'class="toast' in page and page.count('role="status"') == 1

    answer = await server.decide(owner, run.run_id, second, "reject", reason="No.")
    assert answer.headers["location"].startswith(f"/runs/{other.run_id}?did=reject&action={second}")
    page = (await owner.get(answer.headers["location"])).text
    assert "Rejected. It will never be sent" in page and "Post on X" in page

    holder = await server.opened(await server.stage(post(), post("x")))
    run = await server.stage(post())
    holder = await server.opened(run)
    answer = await server.decide(holder, run.run_id, run.actions[0].id, "approve")
    assert answer.headers["location"].startswith(f"/runs/{run.run_id}?")


async def test_what_is_approved_and_sent_on_a_page_can_be_undone_until_it_goes_out(
    tmp_path: Path,
) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, undo_seconds=10)
    try:
        run = await server.stage(post(), post("x"))
        first, second = (each.id for each in run.actions)
        owner = await server.owner()
        answer = await server.decide(owner, run.run_id, first, "approve", then="send")
        page = (await owner.get(answer.headers["location"])).text
        assert "Approved. It goes out in 10 seconds." in page
        await server.run_jobs()
        assert server.provider.done == []

        [undo] = [
            each for each in forms(page) if each.address.endswith(f"{first}/withdraw") and not each.decision
        ]
        taken_back = await owner.post(undo.address, data=undo.fields)
        assert taken_back.status_code == 303
        server.clock.advance(seconds=11)
        await server.run_jobs()
        assert server.provider.done == []
        assert (await server.action(first)).status == "awaiting_approval"

        await server.decide(owner, run.run_id, second, "approve", then="send")
        server.clock.advance(seconds=11)
        await server.run_jobs()
        assert [str(each.action_id) for each in server.provider.done] == [second]
    finally:
        await server.close()


async def test_headings_tell_the_outcome(server: Server) -> None:
    owner = await server.owner()
    out = await server.stage(post())
    await server.decide(owner, out.run_id, out.actions[0].id, "approve", then="send")
    assert heading(await server.page(owner, out.run_id)) == "On its way"
    await server.run_jobs()
    assert heading(await server.page(owner, out.run_id)) == "This LinkedIn post went out"

    server.provider.then = refuse
    failed = await server.stage(post())
    await server.decide(owner, failed.run_id, failed.actions[0].id, "approve", then="send")
    await server.run_jobs()
    assert heading(await server.page(owner, failed.run_id)) == "This LinkedIn post did not go out"

    mixed = await server.stage(post(), post("x"))
    await server.decide(owner, mixed.run_id, mixed.actions[0].id, "approve", then="send")
    await server.run_jobs()
    await server.decide(owner, mixed.run_id, mixed.actions[1].id, "reject", reason="No.")
    assert heading(await server.page(owner, mixed.run_id)) == "One of 2 did not go out"

    kept = await server.stage(post())
    await server.decide(owner, kept.run_id, kept.actions[0].id, "approve")
    assert heading(await server.page(owner, kept.run_id)) == "This LinkedIn post is approved and not sent yet"

    own = await server.stage(post("site", connector="site"))
    await server.decide(owner, own.run_id, own.actions[0].id, "approve")
    assert heading(await server.page(owner, own.run_id)) == "This site post is approved and not sent yet"

    no = await server.stage(mail())
    await server.decide(owner, no.run_id, no.actions[0].id, "reject", reason="No.")
    assert heading(await server.page(owner, no.run_id)) == "This e-mail was rejected"


async def test_one_of_two_approvals_is_not_called_decided_and_no_longer_waits_for_who_gave_it(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    await two_people(server)
    run = await server.stage(mail(60))
    [action] = run.actions
    ada, bo = await server.owner(), await invited(server, "Bo")
    assert "One thing waits for you" in (await ada.get("/inbox")).text

    await server.decide(ada, run.run_id, action.id, "approve")

    assert heading(await server.page(ada, run.run_id)) == "You approved this; another person must, too"
    mine, theirs = (await ada.get("/inbox")).text, (await bo.get("/inbox")).text
    assert "Nothing waits for you" in mine and "where your policy lets you" in mine
    assert f"row-{action.id}" not in mine
    assert "One thing waits for you" in theirs
    assert f"row-{action.id}" in theirs


async def test_what_failed_or_is_stuck_is_in_the_inbox_and_is_told(server_on_any_store: Server) -> None:
    server = server_on_any_store
    posts = Posts(server)
    await told_at(server, "email", "ada@example.org")
    owner = await server.owner()
    failed = await server.stage(post(body="This one is refused."))
    server.provider.then = refuse
    await server.decide(owner, failed.run_id, failed.actions[0].id, "approve", then="send")
    await server.run_jobs()
    stuck = await server.stage(post(body="This one is postponed."))
    server.provider.then = postpone
    await server.decide(owner, stuck.run_id, stuck.actions[0].id, "approve", then="send")
    await server.run_jobs()
    page = (await owner.get(f"/runs/{stuck.run_id}")).text
    assert "The server tries again" in page
    assert f"row-{stuck.actions[0].id}" not in (await owner.get("/inbox")).text
    for pause_ms in RETRY_PAUSES_MS:
        assert not any(stuck.run_id in said["text"] for _, said in posts.sent)
        server.clock.advance(seconds=pause_ms / 1_000)
        await server.run_jobs()
    await server.run_jobs()

    page = (await owner.get("/inbox")).text
    assert "Nothing waits for you" not in page
    assert page.index("Did not go out") < page.index(f"row-{failed.actions[0].id}")
    assert f"row-{stuck.actions[0].id}" in page
    assert "The account is suspended." in page
    assert "The service is down." in page
    told = [said["text"] for _, said in posts.sent]
    assert any("did not go out" in text and failed.run_id in text for text in told)
    assert any("did not go out" in text and stuck.run_id in text for text in told)


async def test_what_is_approved_and_left_unsent_is_in_the_inbox_and_is_told_after_an_hour(
    server: Server,
) -> None:
    posts = Posts(server)
    await told_at(server, "email", "ada@example.org")
    owner = await server.owner()
    run = await server.stage(post(body="Nobody sends this."), post("x", body="This is sent in time."))
    for action in run.actions:
        await server.decide(owner, run.run_id, action.id, "approve")
    await server.run_jobs()
    posts.sent.clear()
    await server.decide(owner, run.run_id, run.actions[1].id, "send")
    await server.run_jobs()
    assert posts.sent == []

    server.clock.advance(hours=1.1)
    await server.run_jobs()

    [(_, said)] = posts.sent
    assert "One draft in local is approved and not sent: LinkedIn post (medium risk)." in said["text"]
    page = (await owner.get("/inbox")).text
    assert "Approved, not sent yet" in page
    assert f"row-{run.actions[0].id}" in page
    server.clock.advance(hours=1)
    posts.sent.clear()
    await server.run_jobs()
    assert posts.sent == []


async def test_what_failed_is_tried_again_as_a_draft_that_needs_its_own_approval(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(post(body="La Loma is back: 240 bags, one week."))
    failed = run.actions[0].id
    owner, works = await server.owner(), server.provider.then
    server.provider.then = refuse
    await server.decide(owner, run.run_id, failed, "approve", then="send")
    for _ in range(5):
        await server.run_jobs()
    server.provider.then = works
    page = await server.page(owner, run.run_id)
    assert "The account is suspended." in card_of(page, failed) and "Try again" in card_of(page, failed)
    assert "Try again" not in (await server.page(await server.opened(run), run.run_id))

    answer = await server.decide(owner, run.run_id, failed, "again")

    shown = await owner.get(answer.headers["location"])
    again = answer.headers["location"].partition("#action-")[2]
    assert "This is a new copy of what failed." in card_of(shown.text, again)
    assert "It was prepared again" in card_of(shown.text, failed)
    first, second = await server.action(failed), await server.action(again)
    assert (first.status, second.status) == (Status.FAILED, Status.AWAITING_APPROVAL)
    assert (second.effect, second.approval, second.view) == (first.effect, None, first.view)
    assert second.metadata["proposal"] == first.metadata["proposal"]
    # A second press, and one with the page as it was, lead to the same draft.
    old = form(page, failed, "again")
    assert (await owner.post(old.address, data=old.fields)).headers["location"].endswith(again)
    assert f"row-{failed}" not in (await owner.get("/inbox")).text
    # Nothing but an approval sends it.
    assert (await server.run_jobs(), (await server.action(again)).status) == (0, Status.AWAITING_APPROVAL)
    await server.decide(owner, run.run_id, again, "approve", then="send")
    for _ in range(3):
        await server.run_jobs()
    assert (await server.action(again)).status is Status.EXECUTED
    head = await server.app.store.read(lambda: journal.read_head(LOCAL_WORKSPACE, run.run_id))
    replay = JournalReplay()
    replay.read(await server.app.store.read(lambda: journal.read_latest(head, 100)))
    named = {"workspace_id": LOCAL_WORKSPACE, "run_id": run.run_id}
    rows = await server.app.store.read(Single(statements.list_run_actions(**named)))
    assert {row["action_id"] for row in rows} == {failed, again}
    assert [*replay.differences(rows, server.app.keys.seals)] == []


async def test_only_what_failed_can_be_tried_again(server: Server) -> None:
    run = await server.stage(post())
    owner = await server.owner()
    page = await server.page(owner, run.run_id)
    approve = form(page, run.actions[0].id, "approve")
    address = approve.address.replace("/approve", "/again")
    assert (await owner.post(address, data=approve.fields)).status_code == 403
    assert len((await server.page(owner, run.run_id)).split('class="action"')) == 2
