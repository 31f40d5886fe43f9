"""Plans: what waits of a run is approved at once. Each action has an approval of its own digest, and only what was
shown."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from tests.support.effort import rounds
from tests.support.review.kit import Server, forms, mail, post

from assent.engine.actions.staging import PreparedRun
from assent.engine.core import freezes
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.policy import PRESETS, Policy, PolicyRule
from assent.gate.preflight import Readiness
from assent.gate.records import Assurance, Status
from assent.gate.rules.matching import Match
from assent.gate.transitions import AWAITING, state_of
from assent.gate.views import Facets, Severity
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.kernel.refusals import Refusal
from assent.ports import Single
from assent.serving.web.inbox.plan import sum_money
from assent.serving.web.review.naming import say_effect
from assent.serving.web.review.problems import describe_batch
from assent.sql.loader import statements
from assent.use_cases import decisions
from assent.use_cases.decisions import DecisionOrder


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
    assert answer.status_code == 409 and answer.text.count("Left out") == 1
    assert "The third, changed meanwhile." in answer.text and "The first of three." not in answer.text
    states = [(await server.action(each)).status for each in (first, second, third)]
    assert states == [Status.APPROVED, Status.APPROVED, Status.AWAITING_APPROVAL]
    rest = plan_form(answer.text, run.run_id)
    assert (await browser.post(rest.address, data=rest.fields)).headers["location"] == f"/runs/{run.run_id}"
    assert (await server.action(third)).status is Status.APPROVED
    signed = [(await server.action(each)).approval for each in (first, second)]
    assert {each.assurance for each in signed if each is not None} == {Assurance.PERSON}
    assert len({each.digest for each in signed if each is not None}) == 2


async def test_a_plan_of_one_speaks_of_one(server: Server) -> None:
    run = await server.stage(post(), mail(html="<p>Hi</p>"))
    page = (await (await server.owner()).get(f"/runs/{run.run_id}/plan")).text
    assert "Approve this plan of 1 action?" in page
    each = await server.action(run.actions[0].id)
    one, two = (describe_batch(found, {}) for found in ((each,), (each, each)))
    assert (one.title, one.button) == ("Approve this?", "Approve it")
    assert (two.title, two.button) == ("Approve these 2?", "Approve all 2")


async def test_a_plan_names_what_waits_beside_it(server: Server) -> None:
    run = await server.stage(post(), mail(html="<p>Hi</p>"), post())
    browser = await server.owner()
    page = (await browser.get(f"/runs/{run.run_id}/plan")).text
    digests = {name for name in plan_form(page, run.run_id).fields if name.startswith("digest.")}
    assert digests == {f"digest.{run.actions[each].id}" for each in (0, 2)}
    assert "Not part of it" in page and say_effect(await server.action(run.actions[1].id)) in page


def draw_policy(draw: random.Random) -> Policy:
    denied = PolicyRule(name="no", when=Match(risk=(Severity.LOW,)), deny="Not now.")
    return draw.choice((*PRESETS.values(), msgspec.structs.replace(PRESETS["relay"], rules=(denied,))))


async def set_policy(server: Server, policy: Policy) -> None:
    text = msgspec.json.encode(policy).decode()
    await server.app.store.write(Single(statements.set_policy(workspace_id=LOCAL_WORKSPACE, policy=text)))


async def befall(server: Server, draw: random.Random, run: PreparedRun, shown: dict[str, str]) -> None:
    """What may happen to a plan between its page and the press: edits, rejections, approvals, expiries, policies."""
    ben = Decider(LOCAL_WORKSPACE, "Ben", Assurance.PERSON, "page", "person-2")
    for each in [await server.action(one.id) for one in run.actions]:
        fate, write = draw.random(), server.app.store.write
        wish = DecisionOrder(ben, each, SeenVersion(digest=each.digest))
        with suppress(Refusal):  # it may be closed by now, and the policy may want something else
            if fate < 0.15:
                await decisions.edit(server.services, wish, {"body": f"Changed {fate}."}, write)
            elif fate < 0.25:
                await decisions.reject(server.clock, wish, "No.", write)
            elif fate < 0.3 and state_of(each) == AWAITING:
                await decisions.approve(server.services, wish, write)
                shown[each.action_id] = each.digest
    if draw.random() < 0.15:
        server.clock.advance(hours=7 * 24 + 1)
    if draw.random() < 0.4:
        await set_policy(server, draw_policy(draw))


@pytest.mark.prove
async def test_of_random_plans_each_executed_action_has_its_own_approval_of_what_was_shown(
    server_on_any_store: Server, database: str, record_property: Callable[[str, object], None]
) -> None:
    """As a person meets them: the page, what happens meanwhile, the press, and what happens before it is sent. Plans
    are also forged, by a digest that no page showed, and pressed twice."""
    server, draw, counted = server_on_any_store, random.Random(41), Counter[str]()  # noqa: S311 - a test's
    for number in range(rounds(12, 500)):
        await set_policy(server, draw_policy(draw))
        run = await server.stage(
            *(
                post(body=f"Plan {number}, part {part}.", severity=draw.choice(list(Severity)))
                for part in range(draw.randint(1, 6))
            )
        )
        ada = await server.owner(name="Ada")
        form = plan_form((await ada.get(f"/runs/{run.run_id}/plan")).text, run.run_id)
        shown = {
            name.removeprefix("digest."): digest
            for name, digest in form.fields.items()
            if name.startswith("digest.")
        }
        assert len(shown) == len(run.actions)
        fields = {**form.fields, "then": draw.choice(("", "send"))}
        if forged := draw.random() < 0.1:
            name = f"digest.{draw.choice(list(shown))}"
            fields[name] = f"sha256:{'0' * 64}"
        await befall(server, draw, run, shown)
        for _ in range(draw.randint(1, 2)):
            await ada.post(form.address, data=fields)
        if draw.random() < 0.3:
            await set_policy(server, draw_policy(draw))
        if draw.random() < 0.1:
            await befall(server, draw, run, shown)
        server.clock.advance(seconds=20)
        await server.run_jobs()
        for one in run.actions:
            now = await server.action(one.id)
            counted[f"plan actions {now.status}"] += 1
            if now.approval is not None:
                assert now.approval.digest == now.digest == shown[now.action_id], number
                assert not forged or now.approval.by != "Ada", number
            if now.status is Status.EXECUTED:
                assert now.approval is not None and server.services.keys.seals.hold(now), number
        await ada.aclose()
        server.browsers.clear()
    sent = {each.action_id: each for each in server.provider.done}
    assert len(sent) == len(server.provider.done), "an action was sent twice"
    for each in sent.values():
        assert each.approval is not None and each.approval.digest == each.effect.digest()
    assert counted["plan actions executed"] == len(sent) > 0 and len(counted) > 2, counted
    record_property("random plans", rounds(12, 500))
    for name, count in counted.items():
        record_property(f"{name}, {database}", count)


async def test_a_plan_offers_no_sending_while_sending_is_stopped(server: Server) -> None:
    run = await server.stage(post(body="One."), post(body="Two."))
    browser, address = await server.owner(), f"/runs/{run.run_id}/plan"
    assert ("then", "send", "") in plan_form((await browser.get(address)).text, run.run_id).buttons
    now_ms = server.clock.now_ms()
    await server.app.store.write(lambda: freezes.freeze(LOCAL_WORKSPACE, now_ms, by="Ada", why="a loop"))
    shown = plan_form((await browser.get(address)).text, run.run_id)
    assert len(shown.buttons) == 1 and ("then", "send", "") not in shown.buttons


async def test_a_plan_offers_no_sending_by_a_connection_that_is_not_ready_and_says_why(
    server: Server,
) -> None:
    run = await server.stage(post(body="One."), post(body="Two."))
    browser, address = await server.owner(), f"/runs/{run.run_id}/plan"
    server.provider.ready = Readiness(ready=False, fix_hint="Connect the account again.")
    page = (await browser.get(address)).text
    assert page.count("Connect the account again.") == 1
    shown = plan_form(page, run.run_id)
    assert ("then", "send", "") not in shown.buttons
    await browser.post(shown.address, data=shown.fields)
    assert {(await server.action(each.id)).status for each in run.actions} == {Status.APPROVED}


async def test_a_plan_shows_the_money_together_by_currency(server: Server) -> None:
    run = await server.stage(post(body="One."), post(body="Two."))
    found = [await server.action(each.id) for each in run.actions]
    priced = []
    for each, amount in zip(found, ("12.50", "7.5"), strict=True):
        view = msgspec.structs.replace(each.view, facets=Facets(amount=amount, currency="EUR"))
        priced.append(msgspec.structs.replace(each, view=view))
    assert (sum_money(tuple(priced)), sum_money(tuple(found))) == (["20.00 EUR"], [])


async def test_a_plan_says_what_is_sent_at_once_because_its_time_is_over_and_what_it_warns_of(
    server: Server,
) -> None:
    due_ms = server.clock.now_ms() + HOUR_MS
    run = await server.stage(
        post(body="Planned.", schedule_ms=due_ms, warnings=("The price is another one.",)),
        post(body="For later.", schedule_ms=due_ms + DAY_MS),
    )
    planned, later = (each.id for each in run.actions)
    server.clock.advance(hours=2)
    browser = await server.owner()
    page = (await browser.get(f"/runs/{run.run_id}/plan")).text
    assert "The price is another one." in page
    assert (page.count("it goes out at once"), page.count("It is planned for")) == (1, 1)
    shown = plan_form(page, run.run_id)
    await browser.post(shown.address, data=shown.fields)
    await server.run_jobs()
    states = [(await server.action(each)).status for each in (planned, later)]
    assert states == [Status.EXECUTED, Status.APPROVED]
