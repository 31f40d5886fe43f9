"""Bluesky directly: one post however often it is tried, with its links, names, tags and pictures where they belong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.actions.kit import armed
from tests.support.channels.places import Place, connect, connected, keeps_its_promises
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider
from assent.gate.records import Assurance, Effect, Proposal
from assent.gate.undo import UNDO_AS
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import NotSent
from assent.present.outlook import Executed
from assent.use_cases import executions
from assent_conform.emulators import bluesky
from assent_conform.emulators.bluesky import DID, KEY, OTHERS, PASSWORD, TID, Bluesky
from assent_conform.testing.connector_contract import claim_action
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.operator import Wanted
from assent_conform.testing.provider_server import Outcome
from assent_launch.channels.bluesky.connector import facets, record_key
from assent_launch.learning.measurement import Measurable

POST = Wanted(connector="bluesky", channel="bluesky", body="Dark mode is here: example.org/dark #news")
PNG = b"\x89PNG\r\n\x1a\n of a kind"


@pytest.fixture
async def place(database_url: str, tmp_path: Path) -> AsyncIterator[Place]:
    clock = ManualClock()
    server = Bluesky(Ledger(tmp_path / "bluesky.jsonl"), now_ms=clock.now_ms)
    async with connected(database_url, tmp_path, server, clock, lambda: KEY) as running:
        yield running


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Place]:
    """The same on one store, for what no store has a part in."""
    clock = ManualClock()
    server = Bluesky(Ledger(tmp_path / "bluesky.jsonl"), now_ms=clock.now_ms)
    url = new_sqlite(tmp_path / "assent.db")
    async with connected(url, tmp_path, server, clock, lambda: KEY, connector_timeout_seconds=2.0) as running:
        yield running


async def test_an_approved_post_goes_out_once_with_its_picture(place: Place) -> None:
    action_id = await place.engine.approved(POST)
    await place.with_picture(action_id, PNG, "A dark window")

    reply = await place.engine.execute(action_id)

    assert isinstance(reply, Executed)
    (effect,) = place.effects()
    action = await place.engine.action(action_id)
    assert effect["rkey"] == record_key(action)
    assert reply.external_id == f"at://{DID}/app.bsky.feed.post/{effect['rkey']}"
    assert reply.external_url == f"https://bsky.app/profile/alice.test/post/{effect['rkey']}"
    record = effect["record"]
    assert record["text"] == POST.body
    (image,) = record["embed"]["images"]
    assert image["alt"] == "A dark window"
    assert image["aspectRatio"] == {"width": 1200, "height": 675}
    assert isinstance(place.server, Bluesky)
    assert place.server.blobs[image["image"]["ref"]["$link"]] == ("image/png", PNG)
    assert isinstance(await place.engine.execute(action_id), Refusal)
    assert len(place.effects()) == 1


async def test_the_connector_keeps_the_promises_of_its_port(one: Place) -> None:
    effect = Effect(channel="bluesky", verb="post", connector="bluesky", body="Hello from the kit.")
    await keeps_its_promises(one, effect, KEY)


@pytest.mark.rule("E29")
@pytest.mark.parametrize("lost", [Outcome.RESET_AFTER, Outcome.ERROR_AFTER, Outcome.GARBAGE_AFTER])
async def test_a_lost_answer_is_read_back_by_the_key_of_the_record(one: Place, lost: Outcome) -> None:
    action_id = await one.engine.approved(POST)
    one.server.plan(Outcome.DELIVER, lost)

    reply = await one.engine.execute(action_id)

    assert isinstance(reply, Executed)
    assert reply.external_id.endswith(one.effects()[0]["rkey"])
    assert len(one.effects()) == 1


@pytest.mark.rule("E29")
async def test_an_outcome_that_stays_lost_is_found_later_and_not_made_twice(place: Place) -> None:
    action_id = await place.engine.approved(POST)
    place.server.plan(Outcome.DELIVER, Outcome.RESET_AFTER, Outcome.ERROR_BEFORE)
    reply = await place.engine.execute(action_id)
    assert isinstance(reply, Refusal) and reply.recovery().reason is Reason.OUTCOME_UNKNOWN

    assert await place.engine.reconcile() == 1

    action = await place.engine.action(action_id)
    assert (action.status, action.execution_state) == ("executed", "done")
    assert len(place.effects()) == 1
    assert action.external_id is not None and action.external_id.endswith(place.effects()[0]["rkey"])


@pytest.mark.parametrize(
    ("plan", "reason", "state"),
    [
        ((Outcome.ERROR_BEFORE,), Reason.CONNECTOR_FAILED, "retryable"),
        ((Outcome.RESET_BEFORE,), Reason.CONNECTOR_FAILED, "retryable"),
        ((Outcome.REFUSE_429,), Reason.RATE_LIMITED, "retryable"),
        ((Outcome.DELIVER, Outcome.REFUSE_429), Reason.RATE_LIMITED, "retryable"),
        ((Outcome.DELIVER, Outcome.REFUSE_400), Reason.CONNECTOR_FAILED, "done"),
        ((Outcome.DELIVER, Outcome.ERROR_BEFORE), Reason.OUTCOME_UNKNOWN, "outcome_unknown"),
    ],
)
async def test_what_is_not_written_is_told_apart_from_what_may_be(
    one: Place, plan: tuple[Outcome, ...], reason: Reason, state: str
) -> None:
    action_id = await one.engine.approved(POST)
    one.server.plan(*plan)

    reply = await one.engine.execute(action_id)

    assert isinstance(reply, Refusal)
    assert reply.recovery().reason is reason
    assert (await one.engine.action(action_id)).execution_state == state
    assert one.effects() == []


async def test_an_app_password_that_was_taken_back_ends_the_connection(place: Place) -> None:
    action_id = await place.engine.approved(POST)
    assert isinstance(place.server, Bluesky)
    place.server.revoked = [PASSWORD]

    reply = await place.engine.execute(action_id)

    assert isinstance(reply, Refusal)
    assert reply.recovery().reason is Reason.MISSING_CONNECTOR
    connection = await place.engine.app.connections.find(LOCAL_WORKSPACE, "bluesky")
    assert connection is not None and not connection.live
    assert place.effects() == []
    place.server.revoked = []
    await connect(place.engine.app, "bluesky", KEY)
    assert isinstance(await place.engine.execute(action_id), Executed)


@pytest.mark.parametrize(
    "key", ["alice.test wrong-pass-word-here", "only-one-word", "", "bob.test abcd-efgh"]
)
async def test_a_key_that_opens_nothing_is_refused_and_says_how_to_enter_one(one: Place, key: str) -> None:
    with pytest.raises(NotSent) as refused:
        await connect(one.engine.app, "bluesky", key)

    assert refused.value.reason is Reason.MISSING_CONNECTOR
    assert PASSWORD not in refused.value.detail


@pytest.mark.parametrize("key", [KEY, f"@{KEY}", KEY.replace(":", " "), f" {DID} {PASSWORD}\n"])
async def test_a_handle_and_an_app_password_connect_the_account(one: Place, key: str) -> None:
    connection = await connect(one.engine.app, "bluesky", key)

    assert [(each.id, each.name) for each in connection.accounts] == [(DID, "@alice.test")]
    assert PASSWORD not in repr(connection)


async def test_numbers_are_bluesky_s_own_and_none_are_no_zeros(one: Place) -> None:
    action_id = await one.engine.approved(POST)
    await one.engine.execute(action_id)
    action = await one.engine.action(action_id)
    connector: object = one.engine.services.connectors["bluesky"]
    assert isinstance(connector, Measurable)

    reading = await connector.measure(action, 2)
    assert (reading.status, reading.metrics) == ("ok", {"likes": 5, "reposts": 2, "replies": 1, "quotes": 0})
    assert isinstance(one.server, Bluesky)
    one.server.numbers = None
    assert (await connector.measure(action, 2)).status == "unavailable"


def test_facets_are_counted_in_bytes() -> None:
    text = "新機能 🚀 https://example.org/ü via @bob.test, see example.com. #日本語 #2024 #ok! a#b"

    found = facets(text, OTHERS)

    raw = text.encode()
    shown = [
        (raw[each["index"]["byteStart"] : each["index"]["byteEnd"]].decode(), each["features"][0])
        for each in found
    ]
    assert [(part, {k: v for k, v in feature.items() if k != "$type"}) for part, feature in shown] == [
        ("https://example.org/ü", {"uri": "https://example.org/ü"}),
        ("@bob.test", {"did": OTHERS["bob.test"]}),
        ("example.com", {"uri": "https://example.com"}),
        ("#日本語", {"tag": "日本語"}),
        ("#ok", {"tag": "ok"}),
    ]


def test_a_name_that_is_nobody_s_and_an_address_with_a_hash_stay_what_they_are() -> None:
    assert facets("Ask @nobody.test or me@example.org", {}) == []
    (only,) = facets("https://example.org/#start", {})
    assert only["features"][0]["uri"] == "https://example.org/#start"


def test_the_key_of_a_record_is_a_tid_and_another_one_for_every_revision() -> None:
    effect = Effect(channel="bluesky", verb="post", connector="bluesky", body="x")
    keys = {record_key(claim_action(effect, number=n, revision=r)) for n in range(1, 40) for r in range(1, 6)}

    assert len(keys) == 39 * 5
    assert all(TID.fullmatch(key) for key in keys)


async def test_a_link_that_is_not_in_the_text_becomes_a_card(one: Place) -> None:
    action_id = await one.engine.approved(
        Wanted(connector="bluesky", channel="bluesky", body="Dark mode.", link="https://example.org/dark")
    )
    await one.engine.execute(action_id)

    card = one.effects()[0]["record"]["embed"]["external"]
    assert card == {"uri": "https://example.org/dark", "title": "example.org", "description": ""}


class Killed(BaseException):
    """The process ends here."""


def kill() -> None:
    raise Killed


async def taken_down(place: Place, action_id: ActionId) -> ActionId:
    """Stage and approve the reverse of a post."""
    decider, engine = Decider(LOCAL_WORKSPACE, "Ada", Assurance.PERSON, "page"), place.engine
    made = await executions.undo(
        engine.services,
        decider,
        await engine.action(action_id),
        Proposal(label="Ada"),
        engine.app.store.write,
    )
    await engine.approve(made.action_id)
    return made.action_id


def kept_records(place: Place) -> set[str]:
    assert isinstance(place.server, Bluesky)
    return set(place.server.records)


def deletions(place: Place) -> list[str]:
    return [each["rkey"] for each in place.effects() if "record" not in each]


async def test_a_post_is_taken_down_by_a_second_action_and_no_other_post_is(place: Place) -> None:
    first, other = await place.engine.approved(POST), await place.engine.approved(POST)
    for each in (first, other):
        await place.engine.execute(each)
    posted = await place.engine.action(first)
    assert posted.view.undo is not None and posted.view.undo.leaves and not posted.view.reversible

    reverse = await taken_down(place, first)
    assert deletions(place) == []
    assert isinstance(await place.engine.execute(reverse), Executed)
    assert isinstance(await place.engine.execute(reverse), Refusal)

    assert deletions(place) == [record_key(posted)]
    assert kept_records(place) == {record_key(await place.engine.action(other))}
    assert (await place.engine.action(first)).metadata["undone"]["by"] == reverse


async def test_a_post_is_taken_down_by_the_account_that_posted_it_or_not_at_all(
    one: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bluesky answers that a record is gone which the signed-in account never had."""
    posted = await one.engine.approved(POST)
    await one.engine.execute(posted)
    monkeypatch.setattr(bluesky, "DID", OTHERS["bob.test"])
    await connect(one.engine.app, "bluesky", KEY)

    refused = await one.engine.execute(await taken_down(one, posted))

    assert isinstance(refused, Refusal)
    first = await one.engine.action(posted)
    reverse = await one.engine.action(ActionId(first.metadata[UNDO_AS]))
    assert reverse.effect.account_id == DID and "undone" not in first.metadata
    assert deletions(one) == []


async def test_what_is_not_posted_is_not_taken_down(one: Place) -> None:
    waiting = await one.engine.approved(POST)
    with pytest.raises(Refusal, match=Reason.VALIDATION_ERROR):
        await taken_down(one, waiting)
    one.server.plan(Outcome.DELIVER, Outcome.RESET_AFTER, Outcome.ERROR_BEFORE)
    await one.engine.execute(waiting)
    with pytest.raises(Refusal, match=Reason.OUTCOME_UNKNOWN):
        await taken_down(one, waiting)
    assert deletions(one) == []


@pytest.mark.rule("E29")
@pytest.mark.parametrize(
    "trouble",
    [
        *(Outcome.RESET_AFTER, Outcome.ERROR_AFTER, Outcome.GARBAGE_AFTER, Outcome.ERROR_BEFORE),
        *("execute.claimed", "execute.performed", "execute.recorded"),
    ],
)
async def test_whatever_interrupts_a_take_down_there_is_one(one: Place, trouble: Outcome | str) -> None:
    """A lost answer, or a process that dies at a step."""
    action_id = await one.engine.approved(POST)
    await one.engine.execute(action_id)
    reverse = await taken_down(one, action_id)
    if isinstance(trouble, Outcome):
        one.server.plan(Outcome.DELIVER, trouble)
        await one.engine.execute(reverse)
    else:
        with armed({trouble: kill}), pytest.raises(BaseException):  # noqa: B017 - a kill may come back as another error
            await one.engine.execute(reverse)

    await one.engine.reconcile()
    again = (
        await taken_down(one, action_id) if (await one.engine.action(reverse)).attempt is None else reverse
    )
    await one.engine.execute(again)

    assert again == reverse and len(deletions(one)) == 1 and kept_records(one) == set()
    assert (await one.engine.action(reverse)).status == "executed"
    assert (await one.engine.action(action_id)).metadata["undone"]["by"] == reverse
