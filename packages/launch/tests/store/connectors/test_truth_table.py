"""The connector truth table: everything that can become of a call, under every declaration, through the real engine.

The emulator's own ledger is the oracle. Whatever happens, it never shows two effects of one action (C30), and every
action ends in a state that says what is known, with a next step (C10).
"""

from __future__ import annotations

import msgspec
import pytest
from tests.support.connectors.harness import NOWHERE, Expected, Harness, again, first

from assent.kernel.ids import ActionId
from assent.kernel.refusals import Reason, Refusal
from assent.present.outlook import Executed
from assent_conform.testing.connector import DELIVERIES
from assent_conform.testing.provider_server import Outcome

KINDS = tuple(delivery.kind for delivery in DELIVERIES)
NO_CONNECTION = "no_connection"

DELIVERED = Expected(None, "executed", "done", 1)
REFUSED = Expected(Reason.CONNECTOR_FAILED, "failed", "done", 0)
UNKNOWN_DONE = Expected(Reason.OUTCOME_UNKNOWN, "approved", "outcome_unknown", 1)
UNKNOWN_NOT_DONE = Expected(Reason.OUTCOME_UNKNOWN, "approved", "outcome_unknown", 0)


def postponed(reason: Reason) -> Expected:
    return Expected(reason, "approved", "retryable", 0, retryable=True)


TABLE: dict[str, Expected] = {
    Outcome.DELIVER: DELIVERED,
    Outcome.DELIVER_SLOWLY: DELIVERED,
    Outcome.REFUSE_400: REFUSED,
    Outcome.REFUSE_401: postponed(Reason.MISSING_CONNECTOR),
    Outcome.REFUSE_403: REFUSED,
    Outcome.REFUSE_404: REFUSED,
    Outcome.REFUSE_422: REFUSED,
    Outcome.REFUSE_429: postponed(Reason.RATE_LIMITED),
    Outcome.TIMEOUT_BEFORE: UNKNOWN_NOT_DONE,
    Outcome.TIMEOUT_DURING: UNKNOWN_DONE,
    Outcome.TIMEOUT_AFTER: UNKNOWN_DONE,
    Outcome.ERROR_AFTER: UNKNOWN_DONE,
    Outcome.GARBAGE_AFTER: UNKNOWN_DONE,
    Outcome.RESET_AFTER: UNKNOWN_DONE,
    # Beyond the fourteen: the same breaks without an effect, and nobody there at all.
    Outcome.ERROR_BEFORE: UNKNOWN_NOT_DONE,
    Outcome.RESET_BEFORE: UNKNOWN_NOT_DONE,
    NO_CONNECTION: postponed(Reason.CONNECTOR_FAILED),
}


@pytest.mark.slow
@pytest.mark.rule("E28", "E29", "E72")
@pytest.mark.parametrize("outcome", TABLE)
async def test_every_outcome_under_every_declaration(harness: Harness, outcome: str) -> None:
    expected = TABLE[outcome]
    for kind in KINDS:
        action_id = await harness.approved(kind)
        reply = await attempt(harness, kind, outcome, action_id)
        action = await harness.meets(expected, action_id)
        calls = 0 if outcome == NO_CONNECTION else 1
        assert len(harness.ledger.calls(action.provider_key)) == calls
        if expected.reason is None:
            assert isinstance(reply, Executed)
            await harness.ended(action_id)
            same = await harness.engine.execute(action_id, key=first(action_id))
            assert isinstance(same, Executed)
            assert msgspec.structs.replace(same, replay=msgspec.UNSET) == reply
            continue
        assert isinstance(reply, Refusal)
        recovery = reply.recovery()
        assert (recovery.reason, recovery.retryable) == (expected.reason, expected.retryable)
        await FOLLOW_UP[expected.state](harness, kind, action_id, expected)


async def attempt(harness: Harness, kind: str, outcome: str, action_id: ActionId) -> Executed | Refusal:
    if outcome != NO_CONNECTION:
        harness.emulator.plan(Outcome(outcome))
        return await harness.engine.execute(action_id, key=first(action_id))
    connector = harness.connectors[kind]
    url, connector.url = connector.url, NOWHERE
    try:
        return await harness.engine.execute(action_id, key=first(action_id))
    finally:
        connector.url = url


async def closed(harness: Harness, kind: str, action_id: ActionId, expected: Expected) -> None:
    """Refused for good: the same key hears the same again, and nothing moves it any more."""
    same = await harness.engine.execute(action_id, key=first(action_id))
    assert isinstance(same, Refusal) and same.recovery().reason is Reason.CONNECTOR_FAILED
    other = await harness.engine.execute(action_id)
    assert isinstance(other, Refusal) and other.reason is Reason.REQUIRES_APPROVAL
    with pytest.raises(Refusal) as refused:
        await harness.engine.approve(action_id)
    assert refused.value.reason is Reason.ACTION_CLOSED
    await harness.meets(expected, action_id)


async def cured(harness: Harness, kind: str, action_id: ActionId, expected: Expected) -> None:
    """Not sent, and the cause is gone: the same action goes out, once."""
    await harness.succeeds(action_id)


async def looked_into(harness: Harness, kind: str, action_id: ActionId, expected: Expected) -> None:
    """Not known: nobody sends, edits or rejects it, and then it is found out by what the connector declares."""
    calls = len(harness.ledger.calls())
    for key in (None, first(action_id), again(action_id)):
        refusal = await harness.engine.execute(action_id, key=key)
        assert isinstance(refusal, Refusal) and refusal.reason is Reason.OUTCOME_UNKNOWN
    for decide in (harness.engine.approve, harness.engine.reject):
        with pytest.raises(Refusal) as refused:
            await decide(action_id)
        assert refused.value.reason is Reason.OUTCOME_UNKNOWN
    with pytest.raises(Refusal) as refused:
        await harness.engine.edit(action_id, body="Something else.")
    assert refused.value.reason is Reason.OUTCOME_UNKNOWN
    assert len(harness.ledger.calls()) == calls

    assert await harness.engine.reconcile() == 1
    await RECONCILED[kind](harness, action_id, expected)


async def repeated(harness: Harness, action_id: ActionId, expected: Expected) -> None:
    """A provider that recognises the key is asked again: the effect is there once, whoever had it."""
    await harness.ended(action_id)


async def read_back(harness: Harness, action_id: ActionId, expected: Expected) -> None:
    """A provider that can be asked says whether; if not, the action may go out again."""
    if expected.effects:
        await harness.ended(action_id)
    else:
        await harness.meets(Expected(None, "approved", "retryable", 0), action_id)
        await harness.succeeds(action_id)


async def left_to_a_human(harness: Harness, action_id: ActionId, expected: Expected) -> None:
    await harness.meets(expected, action_id)
    if expected.effects:
        (done,) = harness.ledger.effects((await harness.engine.action(action_id)).provider_key)
        await harness.engine.resolve(action_id, True, done.effect_id)
        await harness.ended(action_id)
    else:
        await harness.engine.resolve(action_id, False, "looked at the account, nothing there")
        await harness.meets(Expected(None, "approved", "retryable", 0), action_id)
        await harness.succeeds(action_id)


FOLLOW_UP = {"done": closed, "retryable": cured, "outcome_unknown": looked_into}
RECONCILED = {
    "native_key": repeated,
    "natural_key": repeated,
    "read_back": read_back,
    "none": left_to_a_human,
}


def test_the_table_has_every_outcome_of_the_emulator() -> None:
    assert set(TABLE) == {*Outcome, NO_CONNECTION}
    assert len(KINDS) == len(set(KINDS)) == 4


async def test_a_retry_says_when(harness: Harness) -> None:
    action_id = await harness.approved("native_key")
    harness.emulator.plan(Outcome.REFUSE_429)
    reply = await harness.engine.execute(action_id)
    assert isinstance(reply, Refusal)
    assert reply.recovery().retry_after_seconds == 7


async def test_a_native_key_is_not_trusted_past_its_window(harness: Harness) -> None:
    action_id = await harness.approved("native_key")
    harness.emulator.plan(Outcome.ERROR_AFTER)
    await harness.engine.execute(action_id)
    harness.engine.clock.advance(hours=13)
    assert await harness.engine.run_jobs() == 1
    action = await harness.meets(UNKNOWN_DONE, action_id)
    assert len(harness.ledger.calls(action.provider_key)) == 1


REPEATED = (Outcome.ERROR_BEFORE, Outcome.REFUSE_401, Outcome.REFUSE_429, Outcome.REFUSE_403, NO_CONNECTION)


@pytest.mark.parametrize(
    ("kind", "refusal"),
    [
        *((kind, refusal) for kind in ("native_key", "natural_key") for refusal in REPEATED),
        ("read_back", NO_CONNECTION),
    ],
)
async def test_a_refused_repetition_says_nothing_about_the_first_send_and_is_repeated(
    harness: Harness, kind: str, refusal: str
) -> None:
    """The effect is there; that asking again was refused must not open the way to a second one under a new key
    (C10, C30)."""
    action_id = await harness.approved(kind)
    harness.emulator.plan(Outcome.ERROR_AFTER)
    await harness.engine.execute(action_id)
    connector = harness.connectors[kind]
    reachable = connector.url
    if refusal == NO_CONNECTION:
        connector.url = NOWHERE
    else:
        harness.emulator.plan(Outcome(refusal))
    assert await harness.engine.reconcile() == 1
    await harness.meets(UNKNOWN_DONE, action_id)
    connector.url = reachable
    harness.engine.clock.advance(seconds=11)
    assert await harness.engine.run_jobs() == 1
    await harness.ended(action_id)
