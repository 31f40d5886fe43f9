"""What is Resend's own: its three answers to a repeated key, its error names, read-back and metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.builders import write_mail
from tests.support.channels.kit import KEYS, Providers, connect, serving
from tests.support.opened import on_embedded_store
from tests.support.sqlite_files import new_sqlite

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.records import Effect
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import KeyChecked, NotSent, Reading
from assent.present.cards import destination
from assent.present.next_steps import PLAIN, next_calls
from assent_conform.testing.connector_contract import claim_action
from assent_conform.testing.provider_server import Outcome
from assent_launch.channels.email.resend import TEST_SENDER, mail
from assent_launch.learning.measurement import read_action

providers = on_embedded_store(serving)


async def test_the_account_and_the_sender_are_part_of_what_is_approved(providers: Providers) -> None:
    action_id = await providers.approved("resend")
    action = await providers.engine.action(action_id)
    assert action.effect.target == {
        "accountId": "dom_example.org",
        "platform": "email",
        "name": "example.org",
    }
    assert action.effect.sender == "hello@example.org"
    assert destination(action) is None
    await providers.done(action_id)
    (sent,) = providers.effects("resend")
    assert (sent.content["from"], sent.content["to"]) == ("hello@example.org", ["grace@example.org"])
    assert sent.key == "sent" and sent.reference == action.provider_key


async def test_several_readers_do_not_see_each_other(providers: Providers) -> None:
    readers = ("grace@example.org", "ann@example.org", "Ann <ann@example.org>")
    await providers.done(await providers.approved("resend", recipients=readers))
    (sent,) = providers.effects("resend")
    assert sent.content["to"] == ["hello@example.org"]
    assert sent.content["bcc"] == ["grace@example.org", "Ann <ann@example.org>"]


async def test_people_who_get_a_copy_see_each_other_and_answers_go_elsewhere(providers: Providers) -> None:
    to, cc = ("grace@example.org", "ann@example.org"), ("lena@example.org",)
    await providers.done(
        await providers.approved("resend", recipients=to, cc=cc, reply_to="desk@example.org")
    )
    (sent,) = providers.effects("resend")
    assert (sent.content["to"], sent.content["cc"]) == (list(to), list(cc))
    assert sent.content["reply_to"] == ["desk@example.org"] and "bcc" not in sent.content


async def test_an_address_that_resend_names_is_left_out_of_the_call_for_the_others(
    providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"statusCode": 422, "name": "validation_error", "message": "Invalid `to` field: bad@example.org"}
    action_id = await providers.approved(
        "resend", recipients=("grace@example.org", "bad@example.org", "ann@example.org")
    )
    monkeypatch.setattr(providers.resend, "refusal", lambda status: said)
    providers.resend.plan(Outcome.REFUSE_422)
    refused = await providers.refused(action_id, Reason.CONNECTOR_FAILED, "done")
    action = await providers.engine.action(action_id)
    (call,) = next_calls(action, PLAIN)

    assert "other 2" in refused.recovery().user_message
    assert call.args["to"] == ["grace@example.org", "ann@example.org"] and not call.needs
    assert call.args["body"] == action.effect.body


ENCODED = "Team lunch =?utf-8?b?WW91IGFyZSBmaXJlZA==?="


async def test_what_mail_programs_would_decode_is_not_staged(providers: Providers) -> None:
    for changes in ({"subject": ENCODED}, {"title": ENCODED, "subject": ""}):
        with pytest.raises(Refusal) as refused:
            await providers.approved("resend", **changes)
        assert refused.value.reason is Reason.VALIDATION_ERROR
        problems = refused.value.recovery().problems
        assert isinstance(problems, list)
        assert [each.path for each in problems] == [f"actions[0].{next(iter(changes))}"]
    await providers.done(await providers.approved("resend", subject="What does  a =? b mean"))
    (sent,) = providers.effects("resend")
    assert sent.content["subject"] == "What does  a =? b mean"


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": ENCODED},
        {"subject": "Hi\u2028X: y"},
        {"subject": "One\nBcc: eve@example.org"},
        {"sender": "=?utf-8?b?UGF5UGFs?= <bob@example.org>"},
        {"recipients": ("=?utf-8?b?UGF5UGFs?= <bob@example.org>",)},
    ],
)
def test_what_mail_programs_would_decode_is_not_sent_either(changes: dict[str, Any]) -> None:
    effect = write_mail(connector="resend", **changes)
    with pytest.raises(NotSent) as refused:
        mail(claim_action(effect), TEST_SENDER)
    assert (refused.value.reason, refused.value.curable) == (Reason.CONNECTOR_FAILED, False)


def test_a_name_is_one_name_whoever_reads_it() -> None:
    effect = write_mail(
        connector="resend",
        sender="Löwe, Ann: x; \\ <ann@example.org>",
        recipients=("Ann-Marie O'Löwe <grace@example.org>",),
    )
    asked = mail(claim_action(effect), TEST_SENDER)
    assert asked["from"] == '"Löwe, Ann: x; \\\\" <ann@example.org>'
    assert asked["to"] == ["Ann-Marie O'Löwe <grace@example.org>"]


async def test_a_request_that_is_still_worked_on_is_asked_about_again(providers: Providers) -> None:
    action_id = await providers.approved("resend")
    providers.resend.plan(Outcome.RESET_AFTER)
    await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
    providers.resend.busy = 1
    providers.engine.clock.advance(seconds=3)
    assert await providers.engine.run_jobs() == 1
    assert (await providers.engine.action(action_id)).execution_state == "outcome_unknown"
    providers.engine.clock.advance(seconds=60)
    assert await providers.engine.run_jobs() == 1
    await providers.executed(action_id)


async def test_another_content_under_our_key_is_for_a_human(providers: Providers) -> None:
    action_id = await providers.approved("resend")
    action = await providers.engine.action(action_id)
    providers.resend.used[action.provider_key] = ("another digest", "mail", providers.engine.clock.now_ms())
    await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
    assert providers.effects("resend") == []


async def test_an_unverified_domain_is_a_final_refusal_in_resends_words(providers: Providers) -> None:
    providers.resend.domains = []
    action_id = await providers.approved("resend")
    refusal = await providers.refused(action_id, Reason.CONNECTOR_FAILED, "done")
    assert "not verified" in refusal.recovery().user_message


@pytest.mark.parametrize("quota", ["daily_quota_exceeded", "monthly_quota_exceeded"])
async def test_a_used_up_quota_can_be_waited_for(providers: Providers, quota: str) -> None:
    action_id = await providers.approved("resend")
    providers.resend.quota = quota
    refusal = await providers.refused(action_id, Reason.CONNECTOR_FAILED)
    assert refusal.recovery().retryable and refusal.recovery().retry_after_seconds == 86_400
    providers.resend.quota = None
    await providers.done(action_id)


async def test_without_a_domain_the_sender_is_resends_own(tmp_path: Path) -> None:
    url = new_sqlite(tmp_path / "assent.db")
    async with serving(url, tmp_path, connected=False) as providers:
        providers.resend.domains = []
        await connect(providers.engine.app, "resend")
        action_id = await providers.approved("resend")
        assert (await providers.engine.action(action_id)).effect.sender == TEST_SENDER
        await providers.done(action_id)


async def test_a_key_that_only_sends_is_enough_to_send(tmp_path: Path) -> None:
    url = new_sqlite(tmp_path / "assent.db")
    async with serving(url, tmp_path, connected=False) as providers:
        providers.resend.send_only = [KEYS["resend"]]
        connection = await connect(providers.engine.app, "resend")
        assert connection.settings == {"readsBack": False}
        action_id = await providers.approved("resend")
        await providers.done(action_id)
        reading = await read(providers, action_id)
        assert (reading.status, reading.metrics) == ("unavailable", {})
        assert "only send" in (reading.reason or "")
        found = await providers.engine.services.connections.find(LOCAL_WORKSPACE, "resend")
        assert found is not None and found.live


@pytest.mark.parametrize("provider", ["zernio", "resend"])
async def test_a_wrong_key_is_not_connected(providers: Providers, provider: str) -> None:
    connector: Any = providers.engine.services.connectors[provider]
    assert isinstance(connector, KeyChecked)
    with pytest.raises(NotSent) as refused:
        await connector.verify("re_wrong_key_of_somebody", 10)
    assert refused.value.reason is Reason.MISSING_CONNECTOR
    assert "re_wrong_key_of_somebody" not in refused.value.detail
    providers.server(provider).plan(Outcome.ERROR_BEFORE)
    with pytest.raises(NotSent) as refused:
        await connector.verify(KEYS[provider], 10)
    assert refused.value.reason is Reason.CONNECTOR_FAILED


@pytest.mark.rule("E100")
@pytest.mark.parametrize(
    ("script", "metrics"),
    [
        ({}, {"sent": 1, "delivered": 1, "opened": 1, "clicked": 0}),
        ({"metrics_status": 404}, {"delivered": 1}),
        ({"metrics_status": 404, "last_event": "clicked"}, {"delivered": 1, "opened": 1, "clicked": 1}),
        ({"numbers": {}, "last_event": "bounced"}, {"delivered": 0, "bounced": 1}),
        ({"numbers": {"sent": 0}, "last_event": "queued"}, None),
        ({"numbers": {}, "last_event": "delivery_delayed"}, None),
        ({"revoked": [KEYS["resend"]]}, None),
    ],
)
async def test_numbers_are_what_resend_says_and_never_made_up(
    providers: Providers, script: dict[str, Any], metrics: dict[str, int] | None
) -> None:
    action_id = await providers.approved("resend")
    await providers.done(action_id)
    for name, value in script.items():
        setattr(providers.resend, name, value)
    reading = await read(providers, action_id)
    assert (reading.status, reading.metrics) == ("ok" if metrics else "unavailable", metrics or {})
    assert (reading.reason is None) == bool(metrics)


async def read(providers: Providers, action_id: ActionId) -> Reading:
    return await read_action(providers.engine.services, await providers.engine.action(action_id))


@pytest.mark.parametrize(
    "changes",
    [
        {"recipients": ()},
        {"recipients": ("not an address",)},
        {"recipients": tuple(f"reader{n}@example.org" for n in range(51))},
        {"sender": "nobody"},
    ],
)
def test_what_cannot_be_a_mail_is_refused_before_anything_leaves(changes: dict[str, Any]) -> None:
    fields: dict[str, Any] = {
        "channel": "email",
        "verb": "send",
        "connector": "resend",
        "body": "Hi",
        "recipients": ("grace@example.org",),
        **changes,
    }
    with pytest.raises(NotSent) as refused:
        mail(claim_action(Effect(**fields)), TEST_SENDER)
    assert not refused.value.curable
