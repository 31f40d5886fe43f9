"""What is Zernio's own: accounts, both ways of recognising a repetition, partial posts, media, analytics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.channels.kit import KEYS, Providers, connect, serving
from tests.support.edits import edit
from tests.support.opened import on_embedded_store

from assent.engine.actions import pictures
from assent.engine.core import journal
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.gate.gate import Decider
from assent.gate.records import Action, Assurance, Media
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Picture, Store
from assent_conform.testing.operator import Wanted, stage
from assent_conform.testing.provider_server import Outcome
from assent_launch.learning.measurement import read_action

HUMAN = Decider(LOCAL_WORKSPACE, "Ada", Assurance.PERSON, "test")


providers = on_embedded_store(serving)


async def choose(providers: Providers, *accounts: str) -> None:
    await providers.engine.services.connections.choose(LOCAL_WORKSPACE, "zernio", accounts, by="Ada")


async def test_x_is_twitter_and_the_account_is_fixed_when_it_is_staged(providers: Providers) -> None:
    action_id = await providers.approved("zernio", channel="x")
    action = await providers.engine.action(action_id)
    assert action.effect.target == {"accountId": "acc_twitter", "platform": "twitter", "name": "@acme"}
    await choose(providers, "acc_linkedin", "acc_twitter")
    await providers.done(action_id)
    (effect,) = providers.effects("zernio")
    assert (effect.content["platform"], effect.content["accountId"]) == ("twitter", "acc_twitter")


async def test_an_account_that_is_gone_is_not_replaced_behind_the_approval(providers: Providers) -> None:
    action_id = await providers.approved("zernio")
    await choose(providers, "acc_linkedin_ada")
    refusal = await providers.refused(action_id, Reason.REQUIRES_APPROVAL, "none")
    assert "Ada (linkedin)" in refusal.recovery().user_message
    action = await providers.engine.action(action_id)
    assert (action.status, action.revision, action.approval) == ("awaiting_approval", 2, None)
    assert (action.effect.target or {})["accountId"] == "acc_linkedin_ada"
    assert providers.effects("zernio") == []
    await providers.engine.approve(action_id)
    await providers.done(action_id)
    assert len(providers.zernio.on("acc_linkedin_ada")) == 1


@pytest.mark.rule("E94")
async def test_without_an_account_it_is_staged_without_a_target_and_gets_one_as_a_new_revision(
    database_url: str, tmp_path: Path
) -> None:
    async with serving(database_url, tmp_path, connected=False) as providers:
        action_id = await providers.approved("zernio")
        action = await providers.engine.action(action_id)
        assert action.effect.target is None
        assert (action.preflight.connector_ready, action.preflight.connector_blocker) == (
            False,
            "missing_connector",
        )
        await providers.refused(action_id, Reason.MISSING_CONNECTOR, "none")
        unchanged = await providers.engine.action(action_id)
        assert (unchanged.revision, unchanged.status) == (1, "approved")

        await connect(providers.engine.app, "zernio")
        # Connected, and still not sent anywhere that nobody has approved.
        await providers.refused(action_id, Reason.REQUIRES_APPROVAL, "none")
        action = await providers.engine.action(action_id)
        assert (action.status, action.revision) == ("awaiting_approval", 2)
        assert (action.effect.target or {})["accountId"] == "acc_linkedin"
        assert action.preflight.connector_ready and "connector_not_ready" not in action.preflight.gates
        await providers.refused(action_id, Reason.REQUIRES_APPROVAL, "none")
        assert providers.effects("zernio") == []
        await providers.engine.approve(action_id)
        await providers.done(action_id)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("marks", [False, True])
async def test_the_same_text_of_somebody_else_is_refused_and_stays_theirs(
    providers: Providers, nested: bool, marks: bool
) -> None:
    providers.zernio.nested, providers.zernio.marks = nested, marks
    await providers.done(await providers.approved("zernio"))
    action_id = await providers.approved("zernio")
    refusal = await providers.refused(action_id, Reason.CONNECTOR_FAILED, "done")
    assert "post_1" in refusal.recovery().user_message
    assert (await providers.engine.action(action_id)).external_id is None
    assert len(providers.effects("zernio")) == 1


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("marks", [False, True])
async def test_our_own_post_behind_a_409_is_the_result(
    providers: Providers, nested: bool, marks: bool
) -> None:
    providers.zernio.nested, providers.zernio.marks = nested, marks
    action_id = await providers.approved("zernio")
    providers.zernio.plan(Outcome.RESET_AFTER)
    await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
    providers.zernio.requests.clear()  # forgotten by the id of the request, known by the content
    assert await providers.engine.reconcile() == 1
    await providers.executed(action_id)


@pytest.mark.parametrize("text", ["", "Another text that no one approved.", None])
@pytest.mark.parametrize("forgotten", [False, True])
async def test_a_post_under_our_key_with_another_text_is_not_taken_for_what_was_approved(
    providers: Providers, text: str | None, forgotten: bool
) -> None:
    action_id = await providers.approved("zernio")
    providers.zernio.plan(Outcome.RESET_AFTER)
    await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
    (post,) = providers.zernio.posts.values()
    post["content"] = text
    if forgotten:
        providers.zernio.requests.clear()
    await providers.engine.reconcile()
    action = await providers.engine.action(action_id)
    assert (action.execution_state, action.external_id) == ("outcome_unknown", None)


async def test_a_person_who_was_wrong_about_a_lost_post_makes_no_second_one(providers: Providers) -> None:
    action_id = await providers.approved("zernio")
    providers.zernio.plan(Outcome.RESET_AFTER)
    await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
    await providers.engine.resolve(action_id, False, "did not see it")
    providers.engine.clock.advance(hours=2)
    await providers.done(action_id)
    assert len(providers.effects("zernio")) == 1


async def test_a_partial_publish_keeps_what_went_out_and_offers_the_rest(
    database_url: str, tmp_path: Path
) -> None:
    async with serving(database_url, tmp_path) as providers:
        await choose(providers, "acc_linkedin", "acc_linkedin_ada")
        action_id = await providers.approved("zernio")
        action = await providers.engine.action(action_id)
        assert action.effect.target == {
            "accountId": "acc_linkedin,acc_linkedin_ada",
            "platform": "linkedin",
            "name": "Acme, Ada",
        }
        providers.zernio.failing = {"acc_linkedin_ada": "platform_error"}
        reply = await providers.engine.execute(action_id, key="k")
        assert not isinstance(reply, Refusal)
        assert reply.external_id == "post_1" and isinstance(reply.partly, str)
        again = await providers.engine.execute(action_id, key="k")
        assert not isinstance(again, Refusal) and again.replay is not msgspec.UNSET
        assert msgspec.structs.replace(again, replay=msgspec.UNSET) == reply
        assert (await providers.engine.action(action_id)).preflight.warnings[0] == reply.partly
        assert len(providers.zernio.on("acc_linkedin")) == 1 and not providers.zernio.on("acc_linkedin_ada")

        rest_id = ActionId(str(reply.rest_action_id))
        rest = await providers.engine.action(rest_id)
        assert (rest.status, rest.run_id, rest.approval) == ("awaiting_approval", action.run_id, None)
        assert (rest.effect.target or {})["accountId"] == "acc_linkedin_ada"
        assert rest.effect.body == action.effect.body and rest.preflight.warnings
        await providers.refused(rest_id, Reason.REQUIRES_APPROVAL, "none")
        providers.zernio.failing = {}
        await providers.engine.approve(rest_id)
        await providers.done(rest_id)
        assert [len(providers.zernio.on(each)) for each in ("acc_linkedin", "acc_linkedin_ada")] == [1, 1]
        stream = await providers.engine.app.store.read(
            lambda: journal.read_stream(LOCAL_WORKSPACE, action.run_id)
        )
        assert [event.kind for event in stream if "staged" in event.kind] == ["action_staged"]


async def test_a_lost_partial_publish_is_found_with_its_rest(providers: Providers) -> None:
    await choose(providers, "acc_linkedin", "acc_linkedin_ada")
    action_id = await providers.approved("zernio")
    providers.zernio.failing = {"acc_linkedin": "user_content"}
    providers.zernio.plan(Outcome.RESET_AFTER)
    await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
    assert await providers.engine.reconcile() == 1
    action = await providers.engine.action(action_id)
    assert action.status == "executed"
    rest = await providers.engine.action(ActionId(action.metadata["restActionId"]))
    assert (rest.effect.target or {})["accountId"] == "acc_linkedin"
    assert len(providers.effects("zernio")) == 1


@pytest.mark.parametrize(
    ("category", "reason", "state"),
    [
        ("auth_expired", Reason.MISSING_CONNECTOR, "retryable"),
        ("account_issue", Reason.CONNECTOR_FAILED, "retryable"),
        ("platform_error", Reason.CONNECTOR_FAILED, "retryable"),
        ("system_error", Reason.CONNECTOR_FAILED, "retryable"),
        ("unknown", Reason.CONNECTOR_FAILED, "retryable"),
        ("never_heard_of", Reason.CONNECTOR_FAILED, "retryable"),
        ("user_content", Reason.CONNECTOR_FAILED, "done"),
        ("user_abuse", Reason.CONNECTOR_FAILED, "done"),
        ("platform_rejected", Reason.CONNECTOR_FAILED, "done"),
    ],
)
async def test_what_a_platform_refuses_means_what_its_category_says(
    providers: Providers, category: str, reason: Reason, state: str
) -> None:
    action_id = await providers.approved("zernio")
    providers.zernio.failing = {"acc_linkedin": category}
    await providers.refused(action_id, reason, state)
    assert providers.effects("zernio") == []


async def test_a_platform_that_recovers_gets_the_same_post_once(providers: Providers) -> None:
    action_id = await providers.approved("zernio")
    providers.zernio.failing = {"acc_linkedin": "platform_error"}
    await providers.refused(action_id, Reason.CONNECTOR_FAILED)
    await providers.refused(action_id, Reason.CONNECTOR_FAILED)
    providers.zernio.failing = {}
    await providers.done(action_id)
    assert list(providers.zernio.posts) == ["post_1"]


async def test_an_account_whose_sign_in_ended_blocks_that_platform_only(providers: Providers) -> None:
    action_id = await providers.approved("zernio")
    providers.zernio.failing = {"acc_linkedin": "auth_expired"}
    await providers.refused(action_id, Reason.MISSING_CONNECTOR)
    providers.zernio.accounts[0]["isActive"] = False
    blocked_again = await providers.refused(action_id, Reason.MISSING_CONNECTOR)
    assert "LinkedIn" in blocked_again.recovery().user_message
    run = await stage(
        providers.engine.services,
        LOCAL_PRINCIPAL,
        Wanted(connector="zernio", channel="x", body="Still works."),
    )
    assert run.actions[0].preflight.connector_ready
    # The human signs in at Zernio again, and the same approval goes through.
    providers.zernio.failing = {}
    providers.zernio.accounts[0]["isActive"] = True
    action = await providers.engine.action(action_id)
    assert (action.revision, action.preflight.connector_ready) == (1, True)
    await providers.done(action_id)


async def test_a_post_that_takes_its_time_is_waited_for(providers: Providers) -> None:
    providers.zernio.polls = 2
    await providers.done(await providers.approved("zernio"))


async def test_a_post_that_takes_too_long_is_found_by_its_id(impatient: Providers) -> None:
    impatient.zernio.polls = 3
    action_id = await impatient.approved("zernio")
    await impatient.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
    assert (await impatient.engine.action(action_id)).metadata["providerReference"] == "post_1"
    impatient.zernio.waiting["post_1"] = 0
    impatient.engine.clock.advance(hours=1)
    assert await impatient.engine.run_jobs() == 1
    await impatient.executed(action_id)


@pytest.mark.slow
@pytest.mark.parametrize("then", [Outcome.REFUSE_401, Outcome.REFUSE_404, Outcome.RESET_BEFORE])
async def test_a_post_that_cannot_be_read_is_not_taken_for_unsent(
    providers: Providers, then: Outcome
) -> None:
    providers.zernio.polls = 1
    action_id = await providers.approved("zernio")
    providers.zernio.plan(Outcome.DELIVER, then)
    await providers.refused(action_id, Reason.OUTCOME_UNKNOWN, "outcome_unknown")
    if then is Outcome.REFUSE_401:
        await connect(providers.engine.app, "zernio")
    assert await providers.engine.reconcile() == 1
    await providers.executed(action_id)
    assert len(providers.effects("zernio")) == 1


async def test_accounts_that_appear_at_the_provider_are_found(providers: Providers) -> None:
    action_id = await providers.approved("zernio", channel="bluesky")
    assert (await providers.engine.action(action_id)).effect.target is None
    providers.zernio.accounts.append(
        {"_id": "acc_bsky", "platform": "bluesky", "username": "acme", "displayName": "", "isActive": True}
    )
    await providers.refused(action_id, Reason.REQUIRES_APPROVAL, "none")
    action = await providers.engine.action(action_id)
    assert (action.effect.target or {})["accountId"] == "acc_bsky"
    await providers.engine.approve(action_id)
    await providers.done(action_id)


async def test_a_thread_goes_out_as_a_thread(providers: Providers) -> None:
    parts = ["First. 1/2", "Second. 2/2"]
    action_id = await providers.approved("zernio", channel="x", body="\n\n".join(parts))
    await edit(providers.engine.app.owner_services, HUMAN, action_id, {"details": {"thread": parts}})
    await providers.engine.approve(action_id)
    await providers.done(action_id)
    (sent,) = providers.zernio.posts["post_1"]["platforms"]
    assert sent["platformSpecificData"] == {"threadItems": [{"content": part} for part in parts]}


@pytest.mark.rule("E100")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ({"analytics_status": 202}, "collecting"),
        ({"analytics_status": 424}, "no platform"),
        ({"analytics_access": False}, "add-on"),
        ({"numbers": {}}, "no numbers"),
        ({"numbers": {"likes": 0}, "sync_status": "pending"}, "collecting"),
        ({"numbers": {"likes": 0}, "sync_status": "unavailable"}, "no platform"),
        ({"revoked": [KEYS["zernio"]]}, "Connect Zernio again"),
    ],
)
async def test_numbers_that_are_not_there_are_unavailable_and_never_zero(
    providers: Providers, script: dict[str, Any], said: str
) -> None:
    action_id = await providers.approved("zernio")
    await providers.done(action_id)
    for name, value in script.items():
        setattr(providers.zernio, name, value)
    reading = await read(providers, action_id)
    assert (reading.status, reading.metrics) == ("unavailable", {})
    assert said in (reading.reason or "") and KEYS["zernio"] not in (reading.reason or "")


async def test_numbers_are_what_zernio_says(providers: Providers) -> None:
    action_id = await providers.approved("zernio")
    await providers.done(action_id)
    reading = await read(providers, action_id)
    assert (reading.status, reading.source) == ("ok", "zernio")
    assert reading.metrics == {"impressions": 120, "likes": 7, "comments": 2, "clicks": 11}


async def read(providers: Providers, action_id: ActionId) -> Any:
    return await read_action(providers.engine.services, await providers.engine.action(action_id))


async def test_pictures_are_uploaded_before_the_post(
    providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = Picture(
        content=b"\x89PNG pixels", content_type="image/png", width=1, height=1, alt="a dot", digest="d"
    )

    async def of_action(store: Store, action: Action) -> tuple[Picture, ...]:
        return (picture,)

    monkeypatch.setattr(pictures, "of_action", of_action)
    media = (
        Media("image", "http://127.0.0.1/x.png", "a dot", "d"),
        Media("image", "https://example.org/y.png"),
    )
    action_id = await providers.approved("zernio")
    await providers.engine.edit(action_id, media=media)
    await providers.engine.approve(action_id)
    providers.zernio.plan(Outcome.ERROR_BEFORE)
    await providers.refused(action_id, Reason.CONNECTOR_FAILED)
    await providers.done(action_id)
    sent = providers.zernio.posts["post_1"]["mediaItems"]
    assert sent[1:] == [{"type": "image", "url": "https://example.org/y.png"}]
    assert [content for content in providers.zernio.uploads.values() if content] == [picture.content]
    assert sent[0]["url"].startswith("https://media.example/")
