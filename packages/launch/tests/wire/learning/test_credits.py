"""What a metered action costs: set aside with the claim, paid once with the effect, given back where there was none.

After every test the account is the sum of its ledger.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial, reduce
from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, Gate
from tests.support.actions.provider import Provider, lost_after, lost_before, unreachable

from assent.engine.actions import recording
from assent.gate.records import Action
from assent.kernel.ids import WorkspaceId
from assent.kernel.times import iso_time
from assent.ports import Delivered, Remainder
from assent_launch.learning import credits
from assent_launch.learning.credits import CreditAccount, CreditEntry

SHOW = "chieflab_get_workspace"


@pytest.fixture
async def metered(surface: Gate) -> AsyncIterator[Gate]:
    yield surface
    ledger = await ledger_of(surface)
    assert reduce(after, ledger, CreditAccount()) == await account(surface)
    assert [entry.seq for entry in ledger] == list(range(1, len(ledger) + 1))


async def ledger_of(surface: Gate) -> list[CreditEntry]:
    """The whole ledger, oldest first."""
    newest = await surface.app.store.read(partial(credits.recent, surface.workspace_id, 1_000))
    return list(reversed(newest))


def after(account: CreditAccount, entry: CreditEntry) -> CreditAccount:
    """The account after one more line of its ledger: an account is the fold of the lines, and nothing else."""
    used, amount = account.spent + account.reserved, entry.amount
    changes: dict[str, int | bool] = {
        "grant": {"granted": (used if account.unlimited else account.granted) + amount, "unlimited": False},
        "limit": {"granted": used + amount, "unlimited": False},
        "unlimit": {"granted": 0, "unlimited": True},
        "reserve": {"reserved": account.reserved + amount},
        "release": {"reserved": account.reserved - amount},
        "settle": {"reserved": account.reserved - amount, "spent": account.spent + amount},
        "charge": {"spent": account.spent + amount},
    }[entry.kind]
    return msgspec.structs.replace(account, **changes, seq=entry.seq)


async def account(surface: Gate, workspace_id: WorkspaceId | None = None) -> CreditAccount:
    return await surface.app.store.read(partial(credits.account, workspace_id or surface.workspace_id))


async def limit(surface: Gate, amount: int | None) -> None:
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(partial(credits.limit, surface.workspace_id, amount, now_ms, by="test"))


async def grant(surface: Gate, amount: int) -> None:
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(partial(credits.grant, surface.workspace_id, amount, now_ms, by="test"))


async def kinds(surface: Gate) -> list[str]:
    return [entry.kind for entry in await ledger_of(surface)]


async def test_an_action_that_cannot_be_paid_is_refused_untouched_and_goes_out_once_it_can(
    metered: Gate,
) -> None:
    await limit(metered, 2)
    action_id = await metered.staged(costCredits=3)
    told = await metered.done(APPROVE, actionId=action_id)
    assert "costs 3 credits" in told["userMessage"] and "Say “send" not in told["userMessage"]

    denied = await metered.denied(EXECUTE, actionId=action_id, idempotencyKey="k")

    assert (denied["reason"], denied["retryable"], denied["recoveryTool"]) == ("missing_credits", False, None)
    assert (denied["status"], denied["actionId"]) == ("approved", action_id)
    assert "costs 3 credits" in denied["userMessage"] and "has 2" in denied["userMessage"]
    assert (metered.calls, await metered.where(action_id)) == (0, "approved")
    assert (await account(metered)).available == 2

    await grant(metered, 1)
    await metered.done(EXECUTE, actionId=action_id, idempotencyKey="k")
    again = await metered.done(EXECUTE, actionId=action_id, idempotencyKey="k")

    assert again["status"] == "executed"
    assert await account(metered) == CreditAccount(False, 3, 3, 0, 4)
    assert await kinds(metered) == ["limit", "grant", "reserve", "settle"]
    shown = (await metered.done(SHOW))["extra"]["credits"]
    assert shown == {"unlimited": False, "balance": 0, "reserved": 0, "spent": 3}


async def test_without_a_limit_everything_can_be_paid_and_is_counted(metered: Gate) -> None:
    assert (await metered.done(SHOW))["extra"]["credits"] == {
        "unlimited": True,
        "balance": None,
        "reserved": 0,
        "spent": 0,
    }
    await metered.done(EXECUTE, actionId=await metered.approved(costCredits=1_000))
    await metered.done(EXECUTE, actionId=await metered.approved())

    assert await account(metered) == CreditAccount(True, 0, 1_000, 0, 2)
    await limit(metered, 5)
    assert (await account(metered)).available == 5
    await limit(metered, None)
    assert (await account(metered)).available is None


async def test_a_grant_makes_a_workspace_without_limit_one_that_has_it(metered: Gate) -> None:
    await metered.done(EXECUTE, actionId=await metered.approved(costCredits=7))
    await grant(metered, 10)

    assert (await account(metered)).available == 10


async def test_what_was_definitely_not_sent_is_given_back_and_a_retry_is_paid_once(metered: Gate) -> None:
    await limit(metered, 3)
    metered.providers["native"].plan.extend([unreachable, unreachable])
    action_id = await metered.approved(costCredits=3)

    for _ in range(2):
        await metered.denied(EXECUTE, actionId=action_id)
        assert (await account(metered)).available == 3
    await metered.done(EXECUTE, actionId=action_id)
    await metered.denied(EXECUTE, actionId=action_id)

    assert await kinds(metered) == ["limit", *["reserve", "release"] * 2, "reserve", "settle"]
    assert (await account(metered)).spent == 3


async def test_an_unknown_outcome_keeps_its_credits_until_it_is_known(metered: Gate) -> None:
    await limit(metered, 3)
    provider = metered.providers["readback"]
    provider.plan.append(lost_after)
    provider.blind = True
    action_id = await metered.approved(connector="readback", costCredits=2)
    other = await metered.approved(costCredits=2)

    await metered.denied(EXECUTE, actionId=action_id)
    assert await account(metered) == CreditAccount(False, 3, 0, 2, 2)
    assert (await metered.denied(EXECUTE, actionId=other))["reason"] == "missing_credits"

    provider.blind = False
    metered.clock.advance(hours=1)
    await metered.run_jobs()

    assert await metered.where(action_id) == "executed"
    assert await account(metered) == CreditAccount(False, 3, 2, 0, 3)


async def test_a_person_who_says_it_did_not_happen_frees_its_credits(metered: Gate) -> None:
    await limit(metered, 2)
    metered.providers["unaware"].plan.append(lost_before)
    action_id = await metered.approved(connector="unaware", costCredits=2)
    await metered.denied(EXECUTE, actionId=action_id)
    metered.clock.advance(hours=1)
    await metered.run_jobs()
    assert (await account(metered)).reserved == 2

    await metered.answer_as_person(action_id, happened=False)
    assert (await account(metered)).available == 2
    await metered.done(EXECUTE, actionId=action_id)

    assert (await account(metered)).spent == 2


async def test_what_turns_out_to_have_happened_after_all_is_paid_though_it_was_given_back(
    metered: Gate,
) -> None:
    await limit(metered, 2)
    action_id = await metered.approved(connector="unaware", costCredits=2)
    claimed = await metered.claim(action_id)
    metered.clock.advance(hours=1)
    await metered.run_jobs()
    await metered.answer_as_person(action_id, happened=False)
    await limit(metered, 0)
    now_ms = metered.clock.now_ms()

    late = partial(recording.record, claimed, Delivered("post-1"), now_ms)
    await metered.app.store.write(late)
    await metered.app.store.write(late)

    assert await metered.where(action_id) == "executed"
    assert (await kinds(metered))[-1] == "charge"
    assert (await account(metered)).available == -2


async def test_the_rest_of_what_went_out_in_part_was_paid_for_with_the_whole(metered: Gate) -> None:
    async def partly(provider: Provider, action: Action) -> Delivered:
        done = provider.deliver(action)
        left = msgspec.structs.replace(action.effect, target={"id": "second"})
        return Delivered(
            done.external_id, rest=Remainder(left, "elsewhere", "the second account was not reached")
        )

    await limit(metered, 3)
    metered.providers["native"].plan.append(partly)
    action_id = await metered.approved(costCredits=3)
    await metered.done(EXECUTE, actionId=action_id)
    [rest] = (await metered.done("chieflab_list_pending_actions"))["actions"]
    assert (await metered.record(rest["id"]))["preflight"]["estimatedCostCredits"] == 0

    await metered.done(APPROVE, actionId=rest["id"])
    await metered.done(EXECUTE, actionId=rest["id"])

    assert (await account(metered)).spent == 3


async def test_of_sixty_four_at_once_with_credits_for_ten_ten_go_out(metered: Gate) -> None:
    await limit(metered, 30)
    run = await metered.run(*({"costCredits": 3, "body": f"Number {n} of many."} for n in range(32)))
    other = await metered.run(*({"costCredits": 3, "body": f"Number {n} of more."} for n in range(32)))
    staged = [action["id"] for action in (*run["actions"], *other["actions"])]
    for action_id in staged:
        await metered.done(APPROVE, actionId=action_id)

    answers = await asyncio.gather(*(metered.ask(EXECUTE, actionId=action_id) for action_id in staged))

    assert sorted(answer.reason or "" for answer in answers) == [""] * 10 + ["missing_credits"] * 54
    assert len(metered.ledger) == metered.calls == 10
    assert await account(metered) == CreditAccount(False, 30, 30, 0, 21)


async def test_another_workspaces_credits_are_its_own(metered: Gate) -> None:
    stranger = (await metered.new_workspace("stranger")).workspace_id
    await limit(metered, 1)
    await metered.done(EXECUTE, actionId=await metered.approved(costCredits=1))

    assert await account(metered, stranger) == CreditAccount()


async def test_a_scheduled_send_waits_for_credits(metered: Gate) -> None:
    await limit(metered, 0)
    at = iso_time(metered.clock.now_ms() + 3_600_000)
    action_id = await metered.approved(costCredits=1, scheduleFor=at)
    metered.clock.advance(hours=1)
    await metered.run_jobs()
    assert (metered.calls, await metered.where(action_id)) == (0, "approved")

    await grant(metered, 1)
    metered.clock.advance(seconds=10)
    await metered.run_jobs()

    assert await metered.where(action_id) == "executed"


@pytest.mark.parametrize("changed_settings", [{"credit_prices": ("native=4",)}], indirect=True)
@pytest.mark.rule("E44")
async def test_a_price_of_a_connector_is_shown_before_approval_and_paid(metered: Gate) -> None:
    run = await metered.run({}, {"connector": "unaware"}, {"costCredits": 9})
    costs: list[Any] = [action["preflight"]["estimatedCostCredits"] for action in run["actions"]]
    assert costs == [4, 0, 9]

    action_id = run["actions"][0]["id"]
    await metered.done(APPROVE, actionId=action_id)
    await metered.done(EXECUTE, actionId=action_id)

    assert (await account(metered)).spent == 4
