"""Decisions about several actions at once: low-risk ones after a page that shows each in full, and a flood.

Selecting decides nothing; it opens the confirmation page. That page carries the digest of each text
that it shows. If one has changed since, or was decided by another person, none is decided.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response

from assent.engine.actions import flood
from assent.engine.actions.flood import HeldGroup
from assent.engine.core import freezes
from assent.engine.core.offloading import run_apart
from assent.engine.people import proofs
from assent.engine.people.proofs import FormProof
from assent.engine.views import inbox
from assent.gate.gate import SeenVersion
from assent.gate.policy import RANK, suffices
from assent.gate.preflight import is_overdue
from assent.gate.records import Action, Assurance, Freeze, find_stop
from assent.gate.rules.drift import describe_change, read_changes
from assent.gate.transitions import APPROVED, AWAITING, State, state_of
from assent.kernel.limits import MAX_REASON_CHARS, SECOND_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Begin, Transaction
from assent.present.refusals import explain_missing_type
from assent.serving.web.inbox.rows import held_line
from assent.serving.web.people.confirming import USED_PROOF
from assent.serving.web.review import naming
from assent.serving.web.review.content import build_content
from assent.serving.web.review.decisions import read_comment
from assent.serving.web.review.forms import completes, may_be_batched, sends_at_once
from assent.serving.web.review.history import capital
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.problems import describe_batch, find_needed
from assent.serving.web.shell.console import SEND, Screen, Visit
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.serving.web.shell.word_diff import PAGE_STEPS
from assent.use_cases import decisions
from assent.use_cases.decisions import DecisionOrder, read_readiness

T = TypeVar("T")

DECISIONS: Final = ("approve", "reject")
SEND_ALL: Final = "send"
"""Sends what was approved and is with its agent, from the inbox, without another page: it was read before."""
OUTRUN: Final = frozenset(
    {
        Reason.ACTION_CLOSED,
        Reason.ACTION_EXPIRED,
        Reason.EXECUTION_IN_PROGRESS,
        Reason.OUTCOME_UNKNOWN,
        Reason.STALE_REVISION,
    }
)
"""Refusals of an action that is no longer as the page showed it."""
INBOX: Final = Link("/inbox", "Back to the inbox")

NOT_TOGETHER: Final = PageProblem(
    400,
    "These cannot be decided together",
    "Only low-risk drafts that still wait and have no HTML part can be decided in one go.",
    "Go back and select low-risk rows, or open each one and decide there.",
    INBOX,
)
CHANGED: Final = PageProblem(
    409,
    "Something changed while you were looking",
    "One of these was edited or decided by someone else. Nothing was decided.",
    "Go back to the inbox, look at what waits now, and select again.",
    INBOX,
)


async def select(visit: Visit) -> Response:
    """Show the confirmation page. Decides nothing."""
    visit.require_confirmed()
    form = await visit.form("batch")
    picked = [name.removeprefix("pick.") for name in form if name.startswith("pick.")]
    found = await visit.read(lambda: _find(visit, picked))
    return await _ask(visit, form.get("decision", ""), found, {}, form.get("back", ""))


async def decide(visit: Visit) -> Response:
    """Approve or reject exactly the actions shown: all or none."""
    visit.require_confirmed()
    decision = visit.part("decision")
    form, shown_ms = await visit.shown_form_of(lambda fields: nonce_subject(decision, read_digests(fields)))
    digests = read_digests(form)
    if decision not in (*DECISIONS, SEND_ALL):
        raise PageRefused(NOT_TOGETHER)
    reason = form.get("reason", "").strip()[:MAX_REASON_CHARS]
    if decision == "reject" and not reason:
        found = await visit.read(lambda: _find(visit, list(digests)))
        wrong = {"reason": "Say why in a few words, so that the next draft is better."}
        return await _ask(visit, decision, found, wrong, form.get("back", ""))

    proof = await visit.read_proof(form)
    assurance = visit.counts if proof is None else proof.assurance
    state = APPROVED if decision == SEND_ALL else AWAITING
    find = partial(_find, visit, list(digests), state)
    found = await visit.read(find)
    sends = decision == SEND_ALL or form.get("then") == "send"
    asked = tuple(order(visit, form, action, shown_ms, assurance, sends=sends) for action in found)
    write = partial(write_shown, visit, proof, find)
    try:
        if decision != "reject":
            decided = await decisions.approve_together(visit.services, asked, write)
        else:
            decided = await decisions.reject_together(visit.services.clock, asked, reason, write)
    except Refusal as refusal:
        await _ask_to_confirm(visit, refusal, assurance, form)
        raise PageRefused(_explain(refusal)) from None
    said = {"did": decision, "count": len(decided)}
    approved = [each for each in decided if state_of(each) == APPROVED]
    if decision == "approve" and (half := len(decided) - len(approved)):
        said["half"] = half
    frozen = await visit.read(lambda: find_freeze(decided))
    if sends and approved and frozen is None:
        said |= {"did": "send", "sent": sum(map(_sends, approved))}
    back = form.get("back", "")
    here = back if back.startswith("/inbox?") else "/inbox?"
    return visit.go(f"{here}{'' if here.endswith('?') else '&'}{urlencode(said)}")


def order(
    visit: Visit, form: dict[str, str], action: Action, shown_ms: int, assurance: Assurance, *, sends: bool
) -> DecisionOrder:
    """Return the decision about an action as the page of the form showed it."""
    return DecisionOrder(
        visit.decider(action.workspace_id, shown_ms, assurance),
        action,
        SeenVersion(digest=read_digests(form)[action.action_id]),
        send=sends and _sends(action),
        comment=read_comment(form),
    )


async def write_shown(visit: Visit, proof: FormProof | None, find: Begin[Any], begin: Begin[T]) -> T:
    """Write decisions, once for each signature. `find` refuses them if the person may no longer see the actions."""

    def decide() -> Transaction[T]:
        if proof is not None and not (yield from proofs.use(proof, visit.now_ms)):
            raise PageRefused(USED_PROOF)
        yield from find()
        return (yield from begin())

    return await visit.write(decide)


def _explain(refusal: Refusal) -> PageProblem:
    """Word why none was decided: another person was faster, or the reason of the refusal."""
    if refusal.reason in OUTRUN:
        return CHANGED
    why = refusal.recovery().user_message
    return msgspec.structs.replace(CHANGED, title="Nothing was decided", what=why)


async def _ask_to_confirm(visit: Visit, refusal: Refusal, assurance: Assurance, form: dict[str, str]) -> None:
    """Answer with the confirm page if the approvals were refused for lack of assurance."""
    seen = [await visit.read(partial(inbox.find, visit.person, each)) for each in read_digests(form)]
    known = [each for each in seen if each is not None]
    asked = [find_needed(refusal, visit.part("decision"), action, policy) for action, policy in known]
    needed = max((each for each in asked if each is not None), key=RANK.__getitem__, default=assurance)
    if not suffices(assurance, needed):
        what = describe_batch(tuple(each[0] for each in known), form)
        if visit.part("decision") == SEND_ALL:
            what = msgspec.structs.replace(
                what, title=f"Send these {len(known)}?", button=f"Send all {len(known)}"
            )
        await visit.ask_to_confirm(form, what, needed)


async def _ask(
    visit: Visit, decision: str, found: tuple[Action, ...], wrong: dict[str, str], back: str
) -> Response:
    missing = any(
        explain_missing_type(visit.services.for_workspace(action.workspace_id).effects, action)
        for action in found
    )
    if decision not in DECISIONS or (missing and decision == "approve"):
        raise PageRefused(NOT_TOGETHER)
    digests = {action.action_id: action.digest for action in found}
    half = await visit.read(lambda: find_half(visit, found))
    values = {
        "decision": decision,
        "half": half,
        "stopped": await visit.read(lambda: find_freeze(found)),
        "items": await run_apart(list_items, found, visit.now_ms),
        "kinds": Counter(action.view.noun for action in found).most_common(),
        "at_once": all(map(sends_at_once, found)),
        "act": naming.VERBS[all(map(naming.is_function, found))],
        "sends": sum(_sends(each) for each in found if each.action_id not in half),
        "unready": await list_unready(visit, found) if decision == "approve" else [],
        "nonce": visit.nonce(nonce_subject(decision, {str(key): value for key, value in digests.items()})),
        "wrong": wrong,
        "back": back if back.startswith("/inbox?") else "/inbox",
        "undo_seconds": visit.services.limits.undo_ms // SECOND_MS,
    }
    return visit.page("batch.html", values, scripts=False, status=400 if wrong else 200)


def _find(visit: Visit, picked: list[str], state: State = AWAITING) -> Transaction[tuple[Action, ...]]:
    """Return actions in a state. Refuses those that this person may not decide together."""
    found: list[Action] = []
    for action_id in dict.fromkeys(picked):
        seen = yield from inbox.find(visit.person, action_id)
        if seen is None:
            raise PageRefused(NOT_TOGETHER)
        found.append(seen[0])
    low = bool(found) and all(state == APPROVED or may_be_batched(action) for action in found)
    open_still = all(state_of(action) == state and not action.is_expired(visit.now_ms) for action in found)
    if not low:
        raise PageRefused(NOT_TOGETHER)
    if not open_still:
        raise PageRefused(CHANGED)
    return tuple(sorted(found, key=lambda each: (each.created_ms, each.run_id, each.position)))


def find_half(visit: Visit, found: tuple[Action, ...]) -> Transaction[dict[str, str]]:
    """Return "1 of 2" for each action that still waits for another person once this one has approved it."""
    half = dict[str, str]()
    for action in found:
        line = yield from inbox.find_line(visit.person, action.action_id)
        decider = visit.decider(action.workspace_id, visit.now_ms, Assurance.PASSKEY)
        if line is not None:
            needed = line.policy.require(action)
            if not completes(needed, line.approvals, decider.speak(visit.now_ms), action):
                half[action.action_id] = f"{len(line.approvals) + 1} of {needed.approvers}"
    return half


def find_freeze(found: tuple[Action, ...]) -> Transaction[Freeze | None]:
    """Return what stops any of these actions."""
    for action in found:
        if (frozen := find_stop((yield from freezes.list_in(action.workspace_id)), action)) is not None:
            return frozen
    return None


def _sends(action: Action) -> bool:
    """Whether the server sends it once it is approved."""
    return action.view.executes == "server"


async def list_unready(visit: Visit, found: tuple[Action, ...]) -> list[tuple[str, bool]]:
    """Why some of them cannot be sent now, one sentence for each connector, and whether they can be approved
    all the same."""
    said: dict[tuple[str, str], tuple[str, bool]] = {}
    for action in filter(_sends, found):
        services = visit.services.for_workspace(action.workspace_id)
        way = action.workspace_id, action.effect.connector
        if way not in said and action.effect.connector in services.connectors:
            ready = await read_readiness(services, action)
            if ready is not None and not ready.ready:
                why = ready.fix_hint or f"{action.view.via} is not ready."
                said[way] = why, not sends_at_once(action)
    return list(dict.fromkeys(said.values()))


def list_items(found: tuple[Action, ...], now_ms: int) -> list[dict[str, Any]]:
    """Return what a page shows of actions that are decided together."""
    steps = Steps(PAGE_STEPS)
    return [
        {
            "action_id": action.action_id,
            "risk": action.preflight.severity.value,
            "title": naming.say_effect(action),
            "happens": action.view.sentence,
            "does": naming.VERBS[naming.is_function(action)].does,
            "at_once": sends_at_once(action),
            "overdue": is_overdue(action, now_ms),
            "warnings": (
                *action.preflight.warnings,
                *(f"{capital(describe_change(each))}." for each in read_changes(action)),
            ),
            "content": build_content(action, now_ms, steps=steps),
        }
        for action in found
    ]


def read_digests(form: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix("digest."): text for name, text in form.items() if name.startswith("digest.")}


def nonce_subject(decision: str, digests: Mapping[Any, str]) -> str:
    """The nonce subject: the decision and every digest."""
    listed = " ".join(f"{action_id}={digests[action_id]}" for action_id in sorted(digests))
    return f"batch {decision} {hashlib.sha256(listed.encode()).hexdigest()}"


# A flood of proposals by one key: one list, rejected or released in one step. The forms are about what the page
# showed: a proposal that came later stays held.

NOTHING_HELD: Final = PageProblem(
    404,
    "Nothing is held here",
    "These proposals were decided or released already, or they have expired.",
    "Look at what waits for you instead.",
    Link("/inbox", "Open the inbox"),
)


async def show_held(visit: Visit) -> Response:
    return await _show_held(visit, {})


async def _show_held(visit: Visit, wrong: dict[str, str]) -> Response:
    def look() -> Transaction[tuple[HeldGroup, tuple[Action, ...]]]:
        group = yield from _find_held(visit)
        return group, (yield from flood.list_held(group, visit.now_ms, visit.now_ms))

    group, found = await visit.read(look)
    values = {
        "line": held_line(group, visit.now_ms),
        "found": found,
        "more": group.held - len(found),
        "count": group.held,
        "here": visit.request.url.path,
        "reject_nonce": visit.nonce(_held_subject(visit, "reject")),
        "release_nonce": visit.nonce(_held_subject(visit, "release")),
        "wrong": wrong,
    }
    return visit.page("held.html", values, scripts=False, status=400 if wrong else 200)


async def decide_held(visit: Visit) -> Response:
    """Reject or release what the page showed."""
    visit.require_confirmed()
    decision = visit.part("decision")
    form, shown_ms = await visit.shown_form_of(lambda _: _held_subject(visit, decision))
    reason = form.get("reason", "").strip()[:MAX_REASON_CHARS]
    if decision == "reject" and not reason:
        return await _show_held(visit, {"reason": "Say why in a few words: the agent reads it."})
    group = await visit.read(lambda: _find_held(visit))
    decider = visit.decider(group.workspace_id, shown_ms)
    if decision == "release":
        count = await decisions.release_held(visit.services.clock, decider, group, shown_ms, visit.write)
    elif decision == "reject":
        count = await decisions.reject_held(
            visit.services.clock, decider, group, reason, shown_ms, visit.write
        )
    else:
        raise PageRefused(NOTHING_HELD)
    return visit.go(f"/inbox?did={decision}&count={count}")


def _find_held(visit: Visit) -> Transaction[HeldGroup]:
    """Return the flood of the address, if this person may see it."""
    wanted = visit.part("workspace_id"), visit.part("proposer")
    groups = yield from flood.list_groups(
        visit.person.person_id, visit.now_ms, everywhere=visit.person.is_owner
    )
    found = next((each for each in groups if (each.workspace_id, each.proposed_by) == wanted), None)
    if found is None:
        raise PageRefused(NOTHING_HELD)
    return found


def _held_subject(visit: Visit, decision: str) -> str:
    return f"held {decision} {visit.part('workspace_id')} {visit.part('proposer')}"


SCREENS: Final = (
    Screen("/inbox/batch", select, "inbox", SEND),
    Screen("/inbox/batch/{decision}", decide, "inbox", SEND),
    Screen("/inbox/held/{workspace_id}/{proposer}", show_held, "inbox"),
    Screen("/inbox/held/{workspace_id}/{proposer}/{decision}", decide_held, "inbox", SEND),
)
