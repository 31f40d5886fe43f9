"""Plans: what waits of a run is approved at once. Each action has an approval of its own digest, and only what was
shown."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import msgspec
import pytest
from tests.support.effort import rounds
from tests.support.review.kit import Server, forms, post

from assent.engine.actions import decisions as transactions
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.policy import PRESETS, Policy, PolicyRule
from assent.gate.records import Assurance, Status
from assent.gate.rules.matching import Match
from assent.gate.views import Facets, Severity
from assent.kernel.ids import ActionId
from assent.ports import Single
from assent.serving.web.inbox.plan import sum_money
from assent.sql.loader import statements
from assent.use_cases import decisions
from assent.use_cases.decisions import DecisionOrder

pytestmark = pytest.mark.anyio


def plan_form(page: str, run_id: str) -> Any:
    return next(each for each in forms(page) if each.address == f"/runs/{run_id}/plan")


async def test_one_signature_approves_a_plan_and_a_changed_digest_leaves_it(server: Server) -> None:
    run = await server.stage(
        post(body="The first of three."),
        post(body="The second of three.", severity=Severity.HIGH),
        post(body="The third of three."),
    )
    first, second, third = (each.id for each in run.actions)
    browser = await server.owner()
    page = (await browser.get(f"/runs/{run.run_id}/plan")).text
    for text in ("The first of three.", "The second of three.", "The third of three.", "Cannot be undone"):
        assert text in page
    shown = plan_form(page, run.run_id)
    await server.decide(browser, run.run_id, third, "edit", body="The third, changed meanwhile.")
    answer = await browser.post(shown.address, data={**shown.fields, "then": "send"})
    assert answer.headers["location"] == f"/runs/{run.run_id}", answer.text
    states = [(await server.action(each)).status for each in (first, second, third)]
    assert states == [Status.APPROVED, Status.APPROVED, Status.AWAITING_APPROVAL]
    signed = [(await server.action(each)).approval for each in (first, second)]
    assert {each.assurance for each in signed if each is not None} == {Assurance.PERSON}
    assert len({each.digest for each in signed if each is not None}) == 2


def change(draw: random.Random) -> Policy:
    denied = PolicyRule(name="no", when=Match(risk=(Severity.LOW,)), deny="Not now.")
    return draw.choice((*PRESETS.values(), msgspec.structs.replace(PRESETS["relay"], rules=(denied,))))


@pytest.mark.prove
async def test_of_random_plans_each_executed_action_has_its_own_approval_of_what_was_shown(
    server: Server,
) -> None:
    """With edits, rejections, expiries and policies in between."""
    draw = random.Random(41)  # noqa: S311 - a test's
    await server.owner(name="Ada")
    for number in range(rounds(15, 500)):
        wanted = [
            post(body=f"Plan {number}, part {part}.", severity=draw.choice(list(Severity)))
            for part in range(draw.randint(1, 6))
        ]
        run = await server.stage(*wanted)
        actions = [await server.action(each.id) for each in run.actions]
        shown = {each.action_id: each.digest for each in actions if draw.random() < 0.8}
        now_ms = server.clock.now_ms()
        ada = Decider(
            LOCAL_WORKSPACE, "Ada", draw.choice((Assurance.PERSON, Assurance.CLIENT)), "page", "person-1"
        )
        for each in actions:
            fate = draw.random()
            if fate < 0.15:
                wish = DecisionOrder(ada, each, SeenVersion())
                await decisions.edit(
                    server.services, wish, {"body": f"Changed {fate}."}, server.app.store.write
                )
            elif fate < 0.25:
                gone = partial(
                    transactions.reject, ada, ActionId(each.action_id), "No.", SeenVersion(), now_ms
                )
                await server.app.store.write(gone)
        if draw.random() < 0.2:
            server.clock.advance(days=40)
        policy = change(draw)
        text = msgspec.json.encode(policy).decode()
        await server.app.store.write(Single(statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=text)))
        orders = [
            DecisionOrder(ada, each, SeenVersion(digest=shown[each.action_id]), send=True)
            for each in actions
            if each.action_id in shown
        ]
        done = await decisions.approve_plan(server.services, orders, server.app.store.write)
        server.clock.advance(seconds=1)
        await server.run_jobs()
        for each in actions:
            now = await server.action(each.action_id)
            if now.approval is not None:
                assert now.approval.digest == now.digest == shown[now.action_id]
                assert now.action_id in {one.action_id for one in done}
            if now.status is Status.EXECUTED:
                assert now.approval is not None
    ran = {each.action_id: each for each in server.provider.done}
    assert ran and len(ran) == len(server.provider.done)


async def test_a_plan_shows_the_money_together_by_currency(server: Server) -> None:
    run = await server.stage(post(body="One."), post(body="Two."))
    found = [await server.action(each.id) for each in run.actions]
    priced = []
    for each, amount in zip(found, ("12.50", "7.5"), strict=True):
        view = msgspec.structs.replace(each.view, facets=Facets(amount=amount, currency="EUR"))
        priced.append(msgspec.structs.replace(each, view=view))
    assert (sum_money(tuple(priced)), sum_money(tuple(found))) == (["20.00 EUR"], [])
