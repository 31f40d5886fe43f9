"""Incoming webhooks: what is said goes out as it was approved, and what is lost is a human's to say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from tests.support.channels.places import Place, connect, connected, keeps_its_promises
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import API_KEY, NewConnection, OpenedSecrets
from assent.gate.records import Effect, Media
from assent.kernel.refusals import Reason, Refusal
from assent.ports import NotSent
from assent.present.outlook import Executed
from assent_conform.emulators.slack import Slack
from assent_conform.testing.connector_contract import claim_action, perform_claimed
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.operator import Wanted
from assent_conform.testing.provider_server import Outcome

POST = Wanted(
    connector="slack", channel="slack", title="Dark mode", body="It is <here> & <!channel> should see it."
)


@pytest.fixture
async def place(database_url: str, tmp_path: Path) -> AsyncIterator[Place]:
    clock = ManualClock()
    server = Slack(Ledger(tmp_path / "slack.jsonl"), now_ms=clock.now_ms)
    async with connected(database_url, tmp_path, server, clock, lambda: server.hook) as running:
        yield running


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Place]:
    clock = ManualClock()
    server = Slack(Ledger(tmp_path / "slack.jsonl"), now_ms=clock.now_ms)
    url = new_sqlite(tmp_path / "assent.db")
    async with connected(url, tmp_path, server, clock, lambda: server.hook) as running:
        yield running


async def test_an_approved_message_is_posted_once_and_calls_nobody(place: Place) -> None:
    action_id = await place.engine.approved(POST)

    reply = await place.engine.execute(action_id)

    assert isinstance(reply, Executed)
    assert place.effects() == [
        {"text": "Dark mode\n\nIt is &lt;here&gt; &amp; &lt;!channel&gt; should see it."}
    ]
    action = await place.engine.action(action_id)
    assert reply.external_id == action.provider_key
    assert isinstance(await place.engine.execute(action_id), Refusal)
    assert len(place.effects()) == 1


async def test_the_connector_keeps_the_promises_of_its_port(one: Place) -> None:
    assert isinstance(one.server, Slack)
    effect = Effect(channel="slack", verb="post", connector="slack", body="Hello from the kit.")
    await keeps_its_promises(one, effect, one.server.hook)


async def test_an_answer_that_is_lost_is_never_sent_again_by_itself(place: Place) -> None:
    action_id = await place.engine.approved(POST)
    place.server.plan(Outcome.RESET_AFTER)
    reply = await place.engine.execute(action_id)
    assert isinstance(reply, Refusal) and reply.recovery().reason is Reason.OUTCOME_UNKNOWN

    await place.engine.reconcile()

    assert (await place.engine.action(action_id)).execution_state == "outcome_unknown"
    assert len(place.effects()) == 1
    done = await place.engine.resolve(action_id, happened=True, evidence="seen in the channel")
    assert done.status == "executed"


@pytest.mark.parametrize(
    ("outcome", "reason", "state"),
    [
        (Outcome.REFUSE_400, Reason.CONNECTOR_FAILED, "done"),
        (Outcome.REFUSE_403, Reason.CONNECTOR_FAILED, "done"),
        (Outcome.REFUSE_429, Reason.RATE_LIMITED, "retryable"),
        (Outcome.ERROR_BEFORE, Reason.OUTCOME_UNKNOWN, "outcome_unknown"),
        (Outcome.GARBAGE_AFTER, Reason.OUTCOME_UNKNOWN, "outcome_unknown"),
    ],
)
async def test_the_word_of_the_webhook_decides(
    one: Place, outcome: Outcome, reason: Reason, state: str
) -> None:
    action_id = await one.engine.approved(POST)
    one.server.plan(outcome)

    reply = await one.engine.execute(action_id)

    assert isinstance(reply, Refusal)
    assert reply.recovery().reason is reason
    assert (await one.engine.action(action_id)).execution_state == state


async def test_a_webhook_that_was_removed_ends_the_connection(place: Place) -> None:
    action_id = await place.engine.approved(POST)
    assert isinstance(place.server, Slack)
    place.server.gone = True

    reply = await place.engine.execute(action_id)

    assert isinstance(reply, Refusal) and reply.recovery().reason is Reason.MISSING_CONNECTOR
    connection = await place.engine.app.connections.find(LOCAL_WORKSPACE, "slack")
    assert connection is not None and not connection.live
    assert (await place.engine.action(action_id)).execution_state == "retryable"


async def test_an_archived_channel_is_final(one: Place) -> None:
    action_id = await one.engine.approved(POST)
    assert isinstance(one.server, Slack)
    one.server.archived = True

    reply = await one.engine.execute(action_id)

    assert isinstance(reply, Refusal) and reply.recovery().reason is Reason.CONNECTOR_FAILED
    assert (await one.engine.action(action_id)).status == "failed"


async def test_what_was_approved_for_one_webhook_does_not_go_to_another(one: Place) -> None:
    action_id = await one.engine.approved(POST)
    assert isinstance(one.server, Slack)
    await one.engine.app.connections.disconnect(LOCAL_WORKSPACE, "slack", by="Ada")
    stored = await one.engine.app.connections.save(
        LOCAL_WORKSPACE,
        "slack",
        NewConnection(label="other", secrets=OpenedSecrets({API_KEY: one.server.hook + "2"})),
        by="Ada",
    )
    assert stored.live

    reply = await one.engine.execute(action_id)

    assert isinstance(reply, Refusal) and reply.recovery().reason is Reason.MISSING_CONNECTOR
    assert one.effects() == []


@pytest.mark.parametrize("key", ["", "hooks.slack.com/services/x", "http://[::1", "https://192.168.1.1/hook"])
async def test_an_address_that_is_no_webhook_is_refused_before_anything_is_kept(one: Place, key: str) -> None:
    with pytest.raises(NotSent) as refused:
        await connect(one.engine.app, "slack", key)
    assert refused.value.reason is Reason.MISSING_CONNECTOR


async def test_looking_whether_a_webhook_is_there_posts_nothing(one: Place) -> None:
    assert isinstance(one.server, Slack)
    connection = await connect(one.engine.app, "slack", one.server.hook)

    assert one.effects() == []
    assert one.server.hook not in repr(connection)
    with pytest.raises(NotSent):
        await connect(one.engine.app, "slack", one.server.hook + "x")


async def test_an_address_that_takes_an_empty_message_is_said_to_be_no_webhook(one: Place) -> None:
    assert isinstance(one.server, Slack)
    one.server.plan(Outcome.GARBAGE_AFTER)

    with pytest.raises(NotSent, match="took a message without a text"):
        await connect(one.engine.app, "slack", one.server.hook)


async def test_a_message_with_a_picture_is_not_posted_without_it(one: Place) -> None:
    connector = one.engine.services.connectors["slack"]
    picture = Media(kind="image", url="https://example.org/a.png", alt="A window")
    effect = Effect(channel="slack", verb="post", connector="slack", body="Look.", media=(picture,))
    action = msgspec.structs.replace(claim_action(effect), workspace_id=LOCAL_WORKSPACE)
    with pytest.raises(NotSent) as refused:
        await perform_claimed(connector, action)
    assert (refused.value.reason, refused.value.curable) == (Reason.CONNECTOR_FAILED, False)
    assert one.effects() == []
