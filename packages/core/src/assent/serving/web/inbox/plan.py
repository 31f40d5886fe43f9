"""A plan: everything of a run that waits, shown whole in its order, and approved at once.

The page carries the digest of each text that it shows, and one signature covers the whole list where the policy asks
for one. Each action is judged alone and gets an approval of its own; what has changed since leaves the plan and stays
in the inbox.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from starlette.responses import Response

from assent.engine.core.offloading import run_apart
from assent.engine.people import members, proofs
from assent.engine.views import inbox, review
from assent.gate.gate import SeenVersion
from assent.gate.mail import reached_addresses
from assent.gate.policy import RANK, Policy, suffices
from assent.gate.records import Action
from assent.gate.transitions import AWAITING, state_of
from assent.kernel.ids import RunId, is_uuid
from assent.ports import Begin, Transaction
from assent.present.refusals import explain_missing_type
from assent.serving.web.people.confirming import USED_PROOF
from assent.serving.web.review import naming
from assent.serving.web.review.content import build_content
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.problems import describe_batch
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused
from assent.serving.web.shell.word_diff import PAGE_STEPS
from assent.use_cases import decisions
from assent.use_cases.decisions import DecisionOrder

MOST: Final = 50
"""The most actions of a plan, as in the chat."""
HERE: Final = "/runs/{run_id}/plan"

Waiting = tuple[tuple[Action, Policy], ...]


async def show(visit: Visit) -> Response:
    """Show the plan; with a POST, approve what it showed."""
    visit.require_confirmed()
    run_id = visit.part("run_id")
    if visit.request.method == "POST":
        return await _approve(visit, run_id)
    found = await visit.read(lambda: find_plan(visit, run_id))
    actions = tuple(action for action, _ in found)
    values = {
        "run_id": run_id,
        "items": await run_apart(_list_items, actions, visit.now_ms),
        "sums": sum_money(actions),
        "people": sorted(frozenset().union(*map(reached_addresses, actions))),
        "final": [naming.say_effect(each) for each in actions if each.view.undo is None],
        "sends": sum(each.view.executes == "server" for each in actions),
        "nonce": visit.nonce(_subject(run_id, {each.action_id: each.digest for each in actions})),
    }
    return visit.page("plan.html", values, scripts=False)


async def _approve(visit: Visit, run_id: str) -> Response:
    form, shown_ms = await visit.shown_form_of(lambda fields: _subject(run_id, _digests(fields)))
    digests, proof = _digests(form), await visit.read_proof(form)
    assurance = visit.counts if proof is None else proof.assurance
    found = [
        each for each in await visit.read(lambda: find_plan(visit, run_id)) if each[0].action_id in digests
    ]
    asked = [policy.require(action).assurance for action, policy in found]
    needed = max(asked, key=RANK.__getitem__, default=assurance)
    if not suffices(assurance, needed):
        # One signature over all fields, and so over every digest.
        await visit.ask_to_confirm(form, describe_batch(tuple(each[0] for each in found), form), needed)
    orders = tuple(
        DecisionOrder(
            visit.decider(action.workspace_id, shown_ms, assurance),
            action,
            SeenVersion(digest=digests[action.action_id]),
            send=form.get("then") == "send" and action.view.executes == "server",
        )
        for action, _ in found
    )

    async def write(begin: Begin[tuple[Action, ...]]) -> tuple[Action, ...]:
        def approve_all() -> Transaction[tuple[Action, ...]]:
            if proof is not None and not (yield from proofs.use(proof, visit.now_ms)):
                raise PageRefused(USED_PROOF)
            yield from find_plan(visit, run_id)  # the person may still see them
            return (yield from begin())

        return await visit.write(approve_all)

    await decisions.approve_plan(visit.services, orders, write, undo=True)
    return visit.go(f"/runs/{run_id}")


def find_plan(visit: Visit, run_id: str) -> Transaction[Waiting]:
    """Return what waits of a run that this person may see, in its order."""
    run = (yield from review.find_anywhere(RunId(run_id))) if is_uuid(run_id) else None
    if run is None or not (yield from members.may_see(visit.person, run.workspace_id)):
        raise PageRefused(NOT_FOUND)
    effects = visit.services.for_workspace(run.workspace_id).effects
    found = []
    for each in (yield from review.read_review(run, effects)).actions:
        seen = yield from inbox.find(visit.person, each.action_id)
        if (
            seen is not None
            and may_be_planned(seen[0], visit.now_ms)
            and not explain_missing_type(effects, seen[0])
        ):
            found.append(seen)
    return tuple(sorted(found, key=lambda each: each[0].position)[:MOST])


def may_be_planned(action: Action, now_ms: int) -> bool:
    """Whether a plan may include it: it waits, can be delivered, and its whole content can stand on one page."""
    waits = state_of(action) == AWAITING and not action.is_expired(now_ms)
    return waits and action.view.unfit is None and not action.effect.html


def sum_money(found: tuple[Action, ...]) -> list[str]:
    """Return the sum of money of a plan in each currency."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for facets in (each.view.facets for each in found):
        try:
            sums[facets.currency] += Decimal(facets.amount or "0")
        except InvalidOperation:
            sums[f"{facets.currency} (of {facets.amount})"] += 0
    return [f"{amount:f} {currency}".strip() for currency, amount in sorted(sums.items()) if amount]


def _list_items(found: tuple[Action, ...], now_ms: int) -> list[dict[str, Any]]:
    steps = Steps(PAGE_STEPS)
    return [
        {
            "action": each,
            "title": naming.say_effect(each),
            "risk": each.preflight.severity.value,
            "content": build_content(each, now_ms, steps=steps),
        }
        for each in found
    ]


def _digests(form: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix("digest."): text for name, text in form.items() if name.startswith("digest.")}


def _subject(run_id: str, digests: dict[Any, str]) -> str:
    listed = " ".join(f"{action_id}={digests[action_id]}" for action_id in sorted(digests))
    return f"plan {run_id} {hashlib.sha256(listed.encode()).hexdigest()}"


SCREENS: Final = (Screen(HERE, show, "inbox", LOOK_AND_SEND),)
