"""Everything that can become of a call to Zernio and to Resend: the ledgers of the providers are the judges."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.kit import armed
from tests.support.channels.kit import KEYS, MAIL, POST, Providers, connect, serving
from tests.support.connectors.kit import Engine
from tests.support.sqlite_files import new_sqlite

from assent.app import App
from assent.engine.actions import reconciliation
from assent.engine.core import tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.records import Effect
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.times import iso_time
from assent.present.outlook import Executed
from assent_conform.emulators.zernio import Zernio
from assent_conform.testing.connector_contract import check_connector, claim_action
from assent_conform.testing.provider_server import Outcome
from assent_launch.channels.zernio.connector import MAX_PAGES, ZernioClient, request_id

BOTH = pytest.mark.parametrize("provider", ["zernio", "resend"])
LOST = (
    Outcome.ERROR_AFTER,
    Outcome.GARBAGE_AFTER,
    Outcome.RESET_AFTER,
    Outcome.ERROR_BEFORE,
    Outcome.RESET_BEFORE,
)


@BOTH
async def test_an_approved_action_goes_out_once_and_a_repetition_is_recognised(
    providers: Providers, provider: str
) -> None:
    action_id = await providers.approved(provider)
    reply = await providers.done(action_id)
    again = await providers.engine.execute(action_id)
    assert isinstance(again, Refusal) and again.recovery().external_id == reply.external_id
    assert len(providers.effects(provider)) == 1


@BOTH
@pytest.mark.rule("E29")
@pytest.mark.parametrize("outcome", LOST)
async def test_a_lost_outcome_ends_as_executed_with_the_right_id(
    tmp_path: Path, provider: str, outcome: Outcome
) -> None:
    async with serving(new_sqlite(tmp_path / "assent.db"), tmp_path) as providers:
        action_id = await providers.approved(provider)
        providers.server(provider).plan(outcome)
        await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
        providers.engine.clock.advance(seconds=3)
        assert await providers.engine.run_jobs() == 1
        await providers.executed(action_id)
        assert len(providers.effects(provider)) == 1


@pytest.mark.parametrize(("provider", "hours"), [("zernio", 0.1), ("resend", 13)])
async def test_nothing_is_sent_again_outside_the_window(tmp_path: Path, provider: str, hours: float) -> None:
    async with serving(new_sqlite(tmp_path / "assent.db"), tmp_path) as providers:
        action_id = await providers.approved(provider)
        providers.server(provider).plan(Outcome.ERROR_BEFORE)
        await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
        providers.engine.clock.advance(hours=hours)
        calls = len(providers.server(provider).ledger.calls())
        assert await providers.engine.run_jobs() == 1
        action = await providers.engine.action(action_id)
        assert action.execution_state == "outcome_unknown"
        assert len(providers.server(provider).ledger.calls()) == calls and not providers.effects(provider)
        # A human looked and says that nothing is there: then it goes out, once.
        await providers.engine.resolve(action_id, False, "looked at the account")
        await providers.done(action_id)


@pytest.mark.parametrize("marks", [True, False])
@pytest.mark.parametrize("newer", [99, 100, 250])
async def test_zernio_is_searched_beyond_the_newest_hundred_posts(
    tmp_path: Path, marks: bool, newer: int
) -> None:
    async with serving(new_sqlite(tmp_path / "assent.db"), tmp_path) as providers:
        action_id, zernio = await providers.approved("zernio"), providers.zernio
        zernio.marks = marks
        zernio.plan(Outcome.RESET_AFTER)
        await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
        add_posts(zernio, newer)
        providers.engine.clock.advance(seconds=200)
        assert await providers.engine.run_jobs() == 1
        await providers.executed(action_id)


async def test_a_search_at_zernio_ends_at_the_time_of_the_attempt_and_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[Any] = []
    asking = ZernioClient.ask

    async def ask(self: ZernioClient, *given: Any, **what: Any) -> Any:
        listed.append(what.get("query"))
        return await asking(self, *given, **what)

    monkeypatch.setattr(ZernioClient, "ask", ask)
    async with serving(new_sqlite(tmp_path / "assent.db"), tmp_path) as providers:
        zernio = providers.zernio
        add_posts(zernio, 1_000)
        providers.engine.clock.advance(hours=1)
        action_id = await providers.approved("zernio")
        zernio.plan(Outcome.ERROR_BEFORE)
        await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
        providers.engine.clock.advance(seconds=200)
        listed.clear()
        assert await providers.engine.run_jobs() == 1
        assert len(listed) == 1, "the first page is older than the attempt"
        add_posts(zernio, 100 * (MAX_PAGES + 1))
        services, now_ms = providers.engine.services, providers.engine.clock.now_ms()
        await services.store.write(
            lambda: reconciliation.ask_again(LOCAL_WORKSPACE, ActionId(action_id), {"by": "Ada"}, now_ms)
        )
        listed.clear()
        assert await providers.engine.run_jobs() == 1
        assert len(listed) == MAX_PAGES
        assert (await providers.engine.action(action_id)).execution_state == "outcome_unknown"


def add_posts(zernio: Zernio, number: int) -> None:
    """Posts of others, made now."""
    for _ in range(number):
        post_id = f"post_{len(zernio.posts) + 1}"
        zernio.posts[post_id] = {
            "_id": post_id,
            "content": "Something else.",
            "metadata": None,
            "mediaItems": [],
            "createdAt": iso_time(zernio.now_ms()),
            "platforms": [{"platform": "linkedin", "accountId": "acc_linkedin", "status": "published"}],
            "reference": None,
        }


@BOTH
@pytest.mark.parametrize("status", [400, 403, 404, 422])
async def test_a_final_refusal_ends_the_action(tmp_path: Path, provider: str, status: int) -> None:
    async with serving(new_sqlite(tmp_path / "assent.db"), tmp_path) as providers:
        action_id = await providers.approved(provider)
        providers.server(provider).plan(Outcome(f"refuse_{status}"))
        refusal = await providers.refused(action_id, Reason.CONNECTOR_FAILED, "done")
        assert not refusal.recovery().retryable and "Planned refusal" in refusal.recovery().user_message
        assert (await providers.engine.action(action_id)).status == "failed"


@BOTH
async def test_a_throttled_call_says_when_and_goes_out_later(providers: Providers, provider: str) -> None:
    action_id = await providers.approved(provider)
    providers.server(provider).plan(Outcome.REFUSE_429)
    refusal = await providers.refused(action_id, Reason.RATE_LIMITED)
    assert refusal.recovery().retry_after_seconds == 7 and refusal.recovery().retryable
    await providers.done(action_id)


async def test_a_rate_limit_that_names_its_end_says_how_long(tmp_path: Path) -> None:
    async with serving(new_sqlite(tmp_path / "assent.db"), tmp_path) as providers:
        action_id = await providers.approved("zernio")
        providers.zernio.limit_reset = providers.engine.clock.now_ms() // 1000 + 42
        refusal = await providers.refused(action_id, Reason.RATE_LIMITED)
        assert refusal.recovery().retry_after_seconds == 42
        providers.engine.clock.advance(seconds=43)
        await providers.done(action_id)


@BOTH
async def test_a_key_that_was_revoked_mid_run_asks_for_a_new_connection(
    providers: Providers, provider: str
) -> None:
    action_id = await providers.approved(provider)
    server = providers.server(provider)
    server.revoked = [KEYS[provider]]
    refusal = await providers.refused(action_id, Reason.MISSING_CONNECTOR)
    recovery = refusal.recovery()
    assert recovery.recovery_tool is not None
    assert (recovery.recovery_tool.name, recovery.recovery_tool.args) == (
        "chieflab_connect_provider",
        {"provider": provider},
    )
    assert KEYS[provider] not in str(recovery)
    found = await providers.engine.services.connections.find(LOCAL_WORKSPACE, provider)
    assert found is not None and found.state == "expired" and found.problem
    # Nothing was half done, and nothing is tried until somebody connects it again.
    calls = len(server.ledger.calls())
    blocked = await providers.engine.execute(action_id)
    assert isinstance(blocked, Refusal) and blocked.reason is Reason.MISSING_CONNECTOR
    assert len(server.ledger.calls()) == calls and not providers.effects(provider)
    server.revoked = []
    await connect(providers.engine.app, provider)
    await providers.done(action_id)


@BOTH
async def test_both_keep_the_contract_of_a_connector(tmp_path: Path, provider: str) -> None:
    async with serving(new_sqlite(tmp_path / "assent.db"), tmp_path) as providers:
        app = providers.engine.app
        connector = app.owner_services.connectors[provider]
        effect = _effect(provider)
        workspace = claim_action(effect, number=2).workspace_id
        await app.store.write(partial(tenancy.create_workspace, workspace, "kit", 1, by="kit"))
        await connect(app, provider, workspace)

        async def count() -> int:
            return len(providers.effects(provider))

        await check_connector(connector, effect=effect, effects=count)
        assert await count() == 1


def _effect(provider: str) -> Effect:
    if provider == "zernio":
        target = {"accountId": "acc_linkedin", "platform": "linkedin", "name": "Acme"}
        return Effect(channel="linkedin", verb="post", connector="zernio", body=POST.body, target=target)
    return Effect(
        channel="email",
        verb="send",
        connector="resend",
        body=MAIL.body,
        subject=MAIL.subject,
        recipients=MAIL.recipients,
        sender="ada@example.org",
        target={"accountId": "dom_example.org", "platform": "email", "name": "example.org"},
    )


async def test_the_keys_of_a_call_follow_from_action_and_revision(tmp_path: Path) -> None:
    action = claim_action(_effect("zernio"))
    again = claim_action(_effect("zernio"), revision=2)
    assert request_id(action) == request_id(action) != request_id(again)
    assert request_id(action)[14] == "5"


async def test_an_unreachable_provider_is_definitely_not_sent(tmp_path: Path) -> None:
    url = new_sqlite(tmp_path / "assent.db")
    async with serving(url, tmp_path) as providers:
        ids = [await providers.approved(provider) for provider in KEYS]
        app = providers.engine.app
        connectors: Any = app.owner_services.connectors
        connectors["zernio"].client._url = connectors["resend"]._url = "http://127.0.0.1:1"
        for action_id in ids:
            await providers.refused(action_id, Reason.CONNECTOR_FAILED)


async def test_executing_answers_with_the_posts_address(tmp_path: Path) -> None:
    async with serving(new_sqlite(tmp_path / "assent.db"), tmp_path) as providers:
        reply = await providers.done(await providers.approved("zernio"))
        assert isinstance(reply, Executed)
        assert reply.external_url == "https://linkedin.example/post_1/acc_linkedin"
        assert reply.post_id == reply.external_id == "post_1"


class Killed(BaseException):
    """What ends a process."""


def _die() -> None:
    raise Killed


@BOTH
@pytest.mark.rule("E29", "E49")
async def test_a_crash_between_the_providers_answer_and_our_books_ends_as_executed(
    database_url: str, tmp_path: Path, provider: str
) -> None:
    async with serving(database_url, tmp_path) as providers:
        action_id = await providers.approved(provider)
        with armed({"execute.performed": _die}), pytest.raises(Killed):
            await providers.engine.execute(action_id)
        assert (await providers.engine.action(action_id)).execution_state == "executing"
        assert len(providers.effects(provider)) == 1
        # Another process finds it once the lease has ended, and asks the provider under the same key.
        settings = providers.engine.app.settings
        successor = Engine(App(settings, clock=providers.engine.clock), providers.engine.clock)
        try:
            assert await successor.reconcile() == 1
        finally:
            await successor.app.close()
        await providers.executed(action_id)
        assert len(providers.effects(provider)) == 1
