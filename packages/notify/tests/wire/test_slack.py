"""Slack, against its emulator: a message with what waits, taps of people who linked their account, and nothing else."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.support.effort import rounds
from tests.support.reliability import Prove
from tests.support.review.kit import Server, forms, mail, post
from tests.support.surfaces import BASE_URL

from assent.engine.core import failpoints
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import chat, members, targets
from assent.engine.people.people import OWNER, Person, Role
from assent.engine.people.targets import TargetOwner
from assent.gate.policy import PRESETS, Policy
from assent.gate.records import Assurance, Media, Status
from assent.gate.views import Severity
from assent.ports import Notification, Single
from assent.sql.loader import statements
from assent_conform.emulators.slack_app import ADDRESS, SECRET, SignedTap, SlackApp
from assent_conform.testing.ledger import Ledger
from assent_notify.slack import KIND, is_signed, sign

ADA, BEN, EVE = "U0ADA", "U0BEN", "U0EVE"


@pytest.fixture
async def slack(tmp_path: Path) -> AsyncIterator[SlackApp]:
    server = SlackApp(Ledger(tmp_path / "ledger"))
    async with server.serving():
        yield server


@pytest.fixture
async def server(own_database_url: str, tmp_path: Path, slack: SlackApp) -> AsyncIterator[Server]:
    own: dict[str, Any] = {"slack_url": f"{slack.url}/api", "slack_answers_url": slack.url}
    made = Server(own_database_url, tmp_path, **own, allow_hosts=("127.0.0.1",))
    await made.app.prepare()
    await made.owner(name="Ada")
    notifier = made.services.notifiers[KIND]
    assert notifier.check(made.services.outgoing, ADDRESS) == ""
    await targets.add(made.services, TargetOwner(LOCAL_WORKSPACE), notifier, ADDRESS, by="Ada")
    yield made
    await made.close()


async def deliver(server: Server, tap: SignedTap, workspace_id: str = LOCAL_WORKSPACE) -> httpx.Response:
    """Post what Slack delivers."""
    transport = httpx.ASGITransport(app=server.site, client=("203.0.113.9", 40_000))
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        return await client.post(f"/slack/{workspace_id}", content=tap.body, headers=tap.headers)


async def link(server: Server, slack: SlackApp, user: str, person_id: str = OWNER) -> str:
    code = chat.make_code(server.services, person_id)
    answer = await deliver(server, slack.type_command(code, user, server.clock.now_ms()))
    assert answer.json()["text"].startswith("Linked"), answer.text
    return code


async def invite(server: Server, name: str) -> str:
    person_id = server.services.new_id(server.clock.now_ms())
    person = Person(person_id, name, Role.MEMBER, None)
    now_ms = server.clock.now_ms()
    await server.app.store.write(lambda: members.add(person, (LOCAL_WORKSPACE,), now_ms, by="Ada"))
    return person_id


async def set_policy(server: Server, policy: Policy) -> None:
    text = msgspec.json.encode(policy).decode()
    await server.app.store.write(Single(statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=text)))


async def staged(server: Server, **more: Any) -> tuple[str, str]:
    run = await server.stage(post(**more))
    await settle(server)
    return run.run_id, run.actions[0].id


async def settle(server: Server) -> None:
    for _ in range(2):
        server.clock.advance(seconds=1)
        await server.run_jobs()


async def press(
    server: Server, slack: SlackApp, run_id: str, name: str, user: str = ADA, **more: Any
) -> httpx.Response:
    button = slack.button(slack.message_of(run_id), name)
    assert button is not None
    return await deliver(server, slack.tap(button, user, server.clock.now_ms(), **more))


def shown(message: dict[str, Any]) -> str:
    """The text as Slack shows it: it decodes three entities."""
    raw = "\n".join(each["text"]["text"] for each in message["blocks"] if "text" in each)
    return raw.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_a_signature_is_that_of_the_documentation_and_counts_for_five_minutes() -> None:
    body = b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J"
    made = sign(SECRET, "1531420618", body)
    assert made.startswith("v0=") and len(made) == 67
    now_ms = 1_531_420_618_000
    assert is_signed(SECRET, "1531420618", body, made, now_ms + 299_000)
    for wrong in (
        is_signed(SECRET, "1531420618", body, made, now_ms + 302_000),
        is_signed(SECRET, "1531420618", body + b"&", made, now_ms),
        is_signed(SECRET, "1531420619", body, made, now_ms),
        is_signed("0" * 32, "1531420618", body, made, now_ms),
        is_signed(SECRET, "", body, made, now_ms),
        is_signed(SECRET, "1531420618", body, "v0=é", now_ms),
    ):
        assert not wrong


async def test_a_tap_approves_and_sends_exactly_what_was_shown_and_the_message_says_who(
    server: Server, slack: SlackApp
) -> None:
    await link(server, slack, ADA)
    run_id, action_id = await staged(server, body="Version two is out. <!channel> *bold*")
    message = slack.message_of(run_id)
    assert "Version two is out. <!channel> *bold*" in shown(message) and len(slack.messages) == 1
    assert all(each["text"]["type"] == "plain_text" for each in message["blocks"] if "text" in each)
    assert "**" not in shown(message)

    assert (await press(server, slack, run_id, "approve")).status_code == 200
    server.clock.advance(seconds=10)
    await settle(server)
    action = await server.action(action_id)
    assert action.status is Status.EXECUTED and len(server.provider.done) == 1
    assert action.approval is not None and action.approval.assurance is Assurance.CHAT_APP
    assert (action.approval.person_id, action.approval.by) == (OWNER, "Ada")
    after = slack.message_of(run_id)
    assert "approved by Ada" in shown(after) and len(slack.messages) == 1
    assert [slack.button(after, name) is None for name in ("approve", "reject", "open")] == [
        True,
        True,
        False,
    ]
    assert slack.told == []


async def test_no_text_of_an_agent_is_markup_or_is_shown_as_another_text(
    server: Server, slack: SlackApp
) -> None:
    """Slack parses a message's own text, which notifications show, and decodes `&lt;` in every text."""
    said = "<!channel> <https://evil.example|Approve> is not &lt;b&gt; or &amp;amp;"
    run_id, _ = await staged(server, body=f"{said} {'&<>' * 700}")
    message = slack.message_of(run_id)
    parts = [each["text"]["text"] for each in message["blocks"] if each["type"] == "section"]
    assert said in shown(message) and "&<>" * 700 in shown(message).replace("\n", "")
    assert len(parts) > 2 and all("<" not in each and len(each) <= 3_000 for each in parts)
    assert slack.button(message, "approve") is not None

    note = Notification(said, said, "https://assent.example/inbox")
    await server.services.notifiers[KIND].send(server.services.outgoing, ADDRESS, note, "key")
    text = list(slack.messages.values())[-1]["text"]
    assert "<" not in text and text.count("&lt;!channel&gt;") == 2


async def test_a_rejection_and_a_wish_for_changes_come_with_their_words(
    server: Server, slack: SlackApp
) -> None:
    await link(server, slack, ADA)
    run_id, action_id = await staged(server)
    await press(server, slack, run_id, "ask")
    said_nothing = await deliver(server, slack.submit("  ", ADA, server.clock.now_ms()))
    assert said_nothing.json()["response_action"] == "errors"
    assert "changesAsked" not in (await server.action(action_id)).metadata
    assert (await deliver(server, slack.submit("Shorter.", ADA, server.clock.now_ms()))).content == b""
    assert (await server.action(action_id)).metadata["changesAsked"][0]["text"] == "Shorter."
    rejecting = slack.button(slack.message_of(run_id), "reject")
    await settle(server)
    assert "Ada asked for changes: Shorter." in shown(slack.message_of(run_id))
    assert slack.button(slack.message_of(run_id), "approve") is None
    assert rejecting is not None
    await deliver(server, slack.tap(rejecting, ADA, server.clock.now_ms()))
    await deliver(server, slack.submit("The date is wrong.", ADA, server.clock.now_ms()))
    await settle(server)
    assert (await server.action(action_id)).rejection == "The date is wrong."
    assert "rejected by Ada" in shown(slack.message_of(run_id))


async def test_who_is_not_linked_removed_or_unlinked_decides_nothing(server: Server, slack: SlackApp) -> None:
    run_id, action_id = await staged(server)
    await press(server, slack, run_id, "approve", EVE)
    ben = await invite(server, "Ben")
    await link(server, slack, BEN, ben)
    now_ms = server.clock.now_ms()
    await server.app.store.write(lambda: members.remove(ben, now_ms, by="Ada"))
    await press(server, slack, run_id, "approve", BEN)
    await link(server, slack, ADA)
    [mine] = await server.app.store.read(lambda: chat.list_links(OWNER))
    assert await server.app.store.write(lambda: chat.end_link(OWNER, mine.target_id, mine.account, now_ms))
    await press(server, slack, run_id, "approve", ADA)
    await settle(server)
    assert (await server.action(action_id)).status is Status.AWAITING_APPROVAL
    assert len(slack.told) == 3 and all("not linked" in each for each in slack.told)


async def test_a_code_links_once_for_ten_minutes_and_only_where_it_was_verified(
    server: Server, slack: SlackApp
) -> None:
    code = await link(server, slack, ADA)
    old = chat.make_code(server.services, OWNER)
    again = await deliver(server, slack.type_command(code, EVE, server.clock.now_ms()))
    server.clock.advance(seconds=601)
    for text in (old, "", "nonsense", code[:-2]):
        answer = await deliver(server, slack.type_command(text, EVE, server.clock.now_ms()))
        assert "unknown, used or too old" in answer.json()["text"]
    assert "unknown, used or too old" in again.json()["text"]
    # Another installation, whose owner knows its secret, speaks for nobody.
    other = ADDRESS.replace(SECRET, "f" * 32)
    notifier = server.services.notifiers[KIND]
    await targets.add(server.services, TargetOwner(LOCAL_WORKSPACE), notifier, other, by="Eve")
    run_id, action_id = await staged(server)
    await press(server, slack, run_id, "approve", ADA, secret="f" * 32)
    assert (await server.action(action_id)).status is Status.AWAITING_APPROVAL
    assert "not linked" in slack.told[-1]


async def test_a_person_gets_the_manifest_and_a_code_on_a_page_and_ends_the_link_there(
    server: Server, slack: SlackApp
) -> None:
    browser = await server.owner()
    page = (await browser.get("/settings/slack")).text
    assert f"/slack/{LOCAL_WORKSPACE}" in page and "interactivity" in page and "Connected: 1" in page
    [asking] = [each for each in forms(page) if each.address == "/settings/slack"]
    shown_code = (await browser.post(asking.address, data=asking.fields)).text
    code = shown_code.partition("/assent ")[2].partition("<")[0]
    answer = await deliver(server, slack.type_command(code, ADA, server.clock.now_ms()))
    assert answer.json()["text"].startswith("Linked")
    [ending] = [
        each
        for each in forms((await browser.get("/settings/slack")).text)
        if each.address.endswith("/unlink")
    ]
    assert (await browser.post(ending.address, data=ending.fields)).status_code == 303
    assert await server.app.store.read(lambda: chat.list_links(OWNER)) == ()


async def test_a_tap_on_an_old_revision_changes_nothing_and_shows_the_new_one(
    server: Server, slack: SlackApp
) -> None:
    await link(server, slack, ADA)
    run_id, action_id = await staged(server)
    old = slack.button(slack.message_of(run_id), "approve")
    assert old is not None
    browser = await server.owner()
    await server.decide(
        browser, run_id, action_id, "edit", body="Another text, changed on the page by a person."
    )
    await deliver(server, slack.tap(old, ADA, server.clock.now_ms()))
    await settle(server)
    assert (await server.action(action_id)).status is Status.AWAITING_APPROVAL
    assert "changed" in slack.told[-1] and "Another text, changed on the page" in shown(
        slack.message_of(run_id)
    )


async def test_high_risk_and_what_is_too_long_open_the_page(server: Server, slack: SlackApp) -> None:
    risky, action_id = await staged(server, severity=Severity.HIGH)
    long, _ = await staged(server, body="A long text. " * 1_200)
    for run_id in (risky, long):
        assert slack.button(slack.message_of(run_id), "approve") is None
        assert slack.button(slack.message_of(run_id), "open") is not None
    assert "open it to decide" in shown(slack.message_of(risky)) and "read all" in shown(
        slack.message_of(long)
    )
    # Who makes up such a button is refused by the policy.
    await link(server, slack, ADA)
    action = await server.action(action_id)
    made_up = {"action_id": "approve", "value": f"{action_id} {action.digest}"}
    await deliver(server, slack.tap(made_up, ADA, server.clock.now_ms()))
    assert (await server.action(action_id)).status is Status.AWAITING_APPROVAL and slack.told


async def test_what_no_text_shows_whole_is_decided_on_its_page(server: Server, slack: SlackApp) -> None:
    await link(server, slack, ADA)
    picture = Media(kind="image", url="https://example.org/a.png", alt="A cat")
    for effect in (
        post(media=(picture,)),
        mail(60, severity=Severity.LOW),
        mail(1, html="<p>Other words.</p>", severity=Severity.LOW),
    ):
        run = await server.stage(effect)
        await settle(server)
        message, action = slack.message_of(run.run_id), await server.action(run.actions[0].id)
        assert slack.button(message, "approve") is None and "A message cannot show its" in shown(message)
        made_up = {"action_id": "approve", "value": f"{action.action_id} {action.digest}"}
        await deliver(server, slack.tap(made_up, ADA, server.clock.now_ms()))
        assert (await server.action(action.action_id)).status is Status.AWAITING_APPROVAL


async def test_characters_that_nobody_sees_are_named(server: Server, slack: SlackApp) -> None:
    run_id, _ = await staged(server, body="Pay \u202eABE\u202c now\u200b.")
    message = slack.message_of(run_id)
    assert "Pay ⟨U+202E⟩ABE⟨U+202C⟩ now⟨U+200B⟩." in shown(message)
    assert slack.button(message, "approve") is not None


async def test_what_is_not_signed_for_this_workspace_is_refused(server: Server, slack: SlackApp) -> None:
    run_id, action_id = await staged(server)
    await link(server, slack, ADA)
    for more in ({"secret": "0" * 32}, {"late_seconds": 400}, {"late_seconds": -400}):
        assert (await press(server, slack, run_id, "approve", **more)).status_code == 401
    button = slack.button(slack.message_of(run_id), "approve")
    assert button is not None
    tap = slack.tap(button, ADA, server.clock.now_ms())
    assert (await deliver(server, tap, "00000000-0000-7000-8000-00000000ffff")).status_code == 401
    assert (await server.action(action_id)).status is Status.AWAITING_APPROVAL


class Killed(BaseException):
    pass


FATES = ("tap", "double", "two", "stale", "forged", "late", "unlinked", "removed", "replay", "killed")
STEPS = ("approve.committed", "execute.claimed", "execute.performed", "execute.recorded")


@pytest.mark.prove
async def test_of_many_taps_none_has_a_wrong_effect_and_each_message_is_right(
    server: Server, slack: SlackApp, prove: Prove, database: str
) -> None:
    """Taps with replays, forgeries, late and double delivery, stale revisions, unlinked and removed people, two people
    at once, and the server killed at each step."""
    draw = random.Random(41)  # noqa: S311 - a test's
    await link(server, slack, ADA)
    removed = await invite(server, "Ben")
    await link(server, slack, BEN, removed)
    now_ms = server.clock.now_ms()
    await server.app.store.write(lambda: members.remove(removed, now_ms, by="Ada"))
    second = await invite(server, "Cleo")
    await link(server, slack, "U0CLEO", second)
    may: set[str] = set()
    taps, fates, count = list[SignedTap](), Counter[str](), 0
    while count < rounds(100, 5_000):
        run_id, action_id = await staged(server, body=f"Number {fates.total()} of many.")
        shown_first = slack.button(slack.message_of(run_id), "approve")
        assert shown_first is not None
        fate = draw.choice(FATES)
        fates[fate] += 1
        at = server.clock.now_ms()
        good = slack.tap(shown_first, ADA, at)
        if fate in ("tap", "killed"):
            made = [good]
        elif fate == "double":
            made = [good, good]
        elif fate == "two":
            made = [good, slack.tap(shown_first, "U0CLEO", at)]
        elif fate == "stale":
            value = f"{action_id} sha256:{'0' * 64}"
            made = [slack.tap({**shown_first, "value": value}, ADA, at)]
        elif fate == "forged":
            made = [
                slack.tap(shown_first, ADA, at, secret="1" * 32),
                SignedTap(good.body + b"&", good.headers),
            ]
        elif fate == "late":
            made = [slack.tap(shown_first, ADA, at, late_seconds=301)]
        elif fate == "replay":
            made = draw.sample(taps, min(len(taps), 2))
        else:
            made = [slack.tap(shown_first, EVE if fate == "unlinked" else BEN, at)]
        if fate in ("tap", "killed", "double", "two"):
            may.add(action_id)
            taps.append(good)
        count += len(made)
        step = draw.choice(STEPS) if fate == "killed" else ""
        if step:
            failpoints.arm(step, _die)
        try:
            await asyncio.gather(*(deliver(server, each) for each in made), return_exceptions=True)
            server.clock.advance(seconds=10)
            try:
                await server.run_jobs()
            except BaseException as error:
                assert step, error
        finally:
            if step:
                failpoints.disarm(step)
        server.clock.advance(seconds=65 if step else 1)
        await settle(server)
        action = await server.action(action_id)
        done = [each for each in server.provider.done if each.action_id == action_id]
        assert len(done) <= (1 if action_id in may else 0), fate
        assert not done or (
            done[0].approval is not None and done[0].approval.digest == done[0].effect.digest()
        )
        assert bool(done) or fate not in ("tap", "double", "two"), fate
        now_shown = shown(slack.message_of(run_id))
        assert ("approved by" in now_shown) == (action.approval is not None), (fate, now_shown)
        assert (slack.button(slack.message_of(run_id), "approve") is not None) == (
            action.status is Status.AWAITING_APPROVAL
        ), fate
    assert {each.action_id for each in server.provider.done} <= may
    name, effects = f"taps in Slack, {database}", len(server.provider.done)
    prove.row(name, "taps", count, actions=fates.total(), effects=effects, places=fates)


def _die() -> None:
    raise Killed


async def test_a_tap_that_was_refused_decides_nothing_when_it_comes_again(
    server: Server, slack: SlackApp
) -> None:
    """Not once its account is linked, and not once the policy lets it decide."""
    run_id, action_id = await staged(server)
    button = slack.button(slack.message_of(run_id), "approve")
    assert button is not None
    tap = slack.tap(button, ADA, server.clock.now_ms())
    await deliver(server, tap)
    await link(server, slack, ADA)
    await deliver(server, tap)
    assert (await server.action(action_id)).status is Status.AWAITING_APPROVAL

    tap = slack.tap(button, ADA, server.clock.now_ms())
    await set_policy(server, PRESETS["people"])
    await deliver(server, tap)
    await set_policy(server, PRESETS["relay"])
    await deliver(server, tap)
    assert (await server.action(action_id)).status is Status.AWAITING_APPROVAL
    await deliver(server, slack.tap(button, ADA, server.clock.now_ms()))
    assert (await server.action(action_id)).status is Status.APPROVED


async def test_messages_with_buttons_are_refused_to_a_person_and_go_to_the_workspace(server: Server) -> None:
    owner = await server.owner()
    page = (await owner.get("/settings/notifications")).text
    add = [each for each in forms(page) if each.address == "/settings/notifications"][-1]
    wanted = {"nonce": add.fields["nonce"], "kind": KIND, "address": ADDRESS}

    assert (await owner.post(add.address, data={**wanted, "whose": "me"})).status_code == 400
    assert (await owner.post(add.address, data={**wanted, "whose": ""})).status_code == 303
