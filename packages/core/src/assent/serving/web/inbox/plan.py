"""A plan: everything of a run that waits, shown whole in its order, and approved at once.

The page carries the digest of each text that it shows, and one signature covers the whole list where the policy asks
for one. Each action is judged alone and gets an approval of its own; what has changed since leaves the plan and stays
in the inbox.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Final

from starlette.responses import Response

from assent.engine.core.offloading import run_apart
from assent.engine.people import members
from assent.engine.views import inbox, review
from assent.gate.policy import RANK, Policy, suffices
from assent.gate.records import Action, is_with_agent, reached_addresses
from assent.gate.transitions import AWAITING, state_of
from assent.kernel.ids import ActionId, RunId, is_uuid
from assent.ports import Transaction
from assent.present.refusals import explain_missing_type
from assent.serving.web.inbox.batch import (
    find_freeze,
    find_half,
    list_items,
    list_unready,
    nonce_subject,
    order,
    read_digests,
    write_shown,
)
from assent.serving.web.review import naming
from assent.serving.web.review.problems import describe_batch, explain
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused
from assent.use_cases import decisions

MOST: Final = 50
"""The most actions of a plan, as in the chat."""

Waiting = tuple[tuple[Action, Policy], ...]


async def show(visit: Visit) -> Response:
    """Show the plan; with a POST, approve what it showed."""
    visit.require_confirmed()
    run_id = visit.part("run_id")
    if visit.request.method == "POST":
        return await _approve(visit, run_id)
    return await _draw(visit, run_id)


async def _draw(visit: Visit, run_id: str, left: Sequence[tuple[str, str]] = ()) -> Response:
    """Draw what waits; after an approval with what it left out, each with the reason."""
    waiting = await visit.read(partial(_find_waiting, visit, run_id))
    found = _choose(visit, waiting)
    actions = tuple(action for action, _ in found)
    half = await visit.read(lambda: find_half(visit, actions))
    values = {
        "left": left,
        "half": half,
        "apart": [naming.say_effect(each) for each, _ in waiting if each not in actions],
        "run_id": run_id,
        "items": await run_apart(list_items, actions, visit.now_ms),
        "stopped": await visit.read(lambda: find_freeze(actions)),
        "unready": await list_unready(visit, actions),
        "sums": sum_money(actions),
        "people": sorted(frozenset().union(*map(reached_addresses, actions))),
        "final": [naming.say_effect(each) for each in actions if each.view.undo is None],
        "sends": sum(each.view.executes == "server" for each in actions if each.action_id not in half),
        "nonce": visit.nonce(
            nonce_subject(f"plan {run_id}", {each.action_id: each.digest for each in actions})
        ),
    }
    return visit.page("plan.html", values, scripts=False, status=409 if left else 200)


async def _approve(visit: Visit, run_id: str) -> Response:
    form, shown_ms = await visit.shown_form_of(
        lambda fields: nonce_subject(f"plan {run_id}", read_digests(fields))
    )
    digests, proof = read_digests(form), await visit.read_proof(form)
    assurance = visit.counts if proof is None else proof.assurance
    find = partial(_find_waiting, visit, run_id)
    found = [each for each in _choose(visit, await visit.read(find)) if each[0].action_id in digests]
    asked = [policy.require(action).assurance for action, policy in found]
    needed = max(asked, key=RANK.__getitem__, default=assurance)
    if not suffices(assurance, needed):
        # One signature over all fields, and so over every digest.
        await visit.ask_to_confirm(form, describe_batch(tuple(each[0] for each in found), form), needed)
    sends = form.get("then") == "send"
    orders = tuple(order(visit, form, action, shown_ms, assurance, sends=sends) for action, _ in found)
    write = partial(write_shown, visit, proof, find)
    left = [
        (naming.say_effect(action), explain(refusal, action.action_id, "approve", form).text)
        for action, refusal in await decisions.approve_plan(visit.services, orders, write)
    ]
    if gone := len(digests) - len(found):
        left.append((f"{gone} of them", "What was decided or expired meanwhile no longer waits."))
    return await _draw(visit, run_id, left) if left else visit.go(f"/runs/{run_id}")


def _find_waiting(visit: Visit, run_id: str) -> Transaction[Waiting]:
    """Return what waits of a run for this person, in its order: neither with its agent nor approved by them already."""
    run = (yield from review.find_anywhere(RunId(run_id))) if is_uuid(run_id) else None
    if run is None or not (yield from members.may_see(visit.person, run.workspace_id)):
        raise PageRefused(NOT_FOUND)
    effects = visit.services.for_workspace(run.workspace_id).effects
    found = []
    read = yield from review.read_review(run, effects, visit.now_ms)
    approver = visit.decider(run.workspace_id, visit.now_ms).approver
    for each in read.actions:
        seen = yield from inbox.find(visit.person, each.action_id)
        if seen is None or state_of(seen[0]) != AWAITING or seen[0].is_expired(visit.now_ms):
            continue
        given = read.approvals.get(ActionId(each.action_id), ())
        if not is_with_agent(seen[0]) and approver not in {yes.approver for yes in given}:
            found.append(seen)
    return tuple(sorted(found, key=lambda each: each[0].position))


def _choose(visit: Visit, waiting: Waiting) -> Waiting:
    """Return those that a plan may include: they can be delivered, and their whole content can stand on one page."""
    return tuple(
        (action, policy)
        for action, policy in waiting
        if action.view.unfit is None
        and not action.effect.html
        and not explain_missing_type(visit.services.for_workspace(action.workspace_id).effects, action)
    )[:MOST]


def sum_money(found: tuple[Action, ...]) -> list[str]:
    """Return the sum of money of a plan in each currency."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for facets in (each.view.facets for each in found):
        sums[facets.currency] += facets.money or 0
    return [naming.say_amount(amount, currency) for currency, amount in sorted(sums.items()) if amount]


SCREENS: Final = (Screen("/runs/{run_id}/plan", show, "inbox", LOOK_AND_SEND),)
