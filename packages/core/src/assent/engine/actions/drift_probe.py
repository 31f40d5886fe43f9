"""Observes what an approval relies on: account, recipients, price and the state of the target.

Observing calls code of extensions and may ask a provider, so it runs before a transaction: when an
action is staged or edited, before it is approved and before it is claimed. If something has changed,
the action waits for an approval with the new values; its content stays as it is
(`assent.gate.rules.drift`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import msgspec

from assent.engine.actions import actions, approvals, circumstances
from assent.engine.core.offloading import call_extension, refuse_extension
from assent.engine.core.services import EffectServices
from assent.gate.connection import Connection
from assent.gate.gate import is_barred, read_observation
from assent.gate.records import WORKFLOW, Action, Observation, Status, reached_addresses
from assent.gate.rules import drift
from assent.gate.rules.drift import DriftChange
from assent.gate.transitions import APPROVED, AWAITING, RETRYABLE, Move, path, state_of
from assent.kernel import canonical
from assent.kernel.limits import MAX_OBSERVED_BYTES, OBSERVE_SECONDS
from assent.kernel.refusals import Refusal
from assent.ports import NotSent, Observing, OutcomeUnknown, Transaction
from assent.present import refusals
from assent.present.refusals import in_progress

log = logging.getLogger("assent.observing")


def is_observable(action: Action) -> bool:
    """Whether the server executes it. What a person does by hand, or an agent, is not observed."""
    return action.view.executes == "server" and action.effect.connector != WORKFLOW


def observe_known(prices: Mapping[str, int], action: Action) -> Observation:
    """Return what is known without asking: recipients and amount by the stored view, and the price by its connector."""
    if not is_observable(action):
        return Observation()
    before, cost = read_observation(action), action.preflight.estimated_cost_credits
    listed = prices.get(action.effect.connector, 0)
    reached, facets = reached_addresses(action), action.view.facets
    return Observation(
        recipients=len(reached) if reached else None,
        # A price that its operator named does not follow the price list.
        credits=listed if cost == before.listed else cost,
        listed=listed,
        amount=f"{facets.amount} {facets.currency}".strip(),
        since_ms=before.since_ms,
    )


async def observe(
    services: EffectServices, action: Action, *, ready: bool, described: bool = False
) -> Observation:
    """Observe an action now. `ready`: whether its connector can be asked; `described`: whether its view
    was computed just now. Raises `Refusal` if the code of its type or connector fails."""
    if not is_observable(action):
        return Observation()
    kind, effect = services.effects.find(action.effect), action.effect
    facts: dict[str, Any] = {}
    if kind is not None and kind.facets_vary and kind.facets is not None:
        if not described:
            work = partial(kind.facets, effect)
            facets = await call_extension(kind.operator or kind.id, f"the facets of {kind.id}", work)
            action = msgspec.structs.replace(action, view=msgspec.structs.replace(action.view, facets=facets))
        facts["recipients_digest"] = canonical.digest(sorted(reached_addresses(action)))
    if effect.account_id is not None:
        connection = await services.connections.find(action.workspace_id, effect.connector)
        if connection is not None and connection.live:
            facts["account"] = describe_account(connection, effect.account_id)
    state: dict[str, Any] = {}
    if kind is not None and kind.observe is not None:
        name = f"observe of {kind.id}"
        found = await call_extension(kind.operator or kind.id, name, partial(kind.observe, effect))
        state |= read_state(name, found)
        facts["target"] = state
    connector = services.connectors.get(effect.connector)
    if ready and getattr(connector, "observes", False):
        state |= await _ask_connector(cast("Observing", connector), action)
        facts["target"] = state
    return msgspec.structs.replace(observe_known(services.limits.credit_prices, action), **facts)


async def observe_staged(services: EffectServices, action: Action, *, ready: bool) -> Action:
    """Return an action whose content is new, with what is observed of it. The price list applies unless
    its operator named a price."""
    bare = drift.with_observation(action, Observation())
    listed = services.limits.credit_prices.get(action.effect.connector, 0)
    known = drift.with_observation(bare, Observation(listed=listed))
    return drift.with_observation(bare, await observe(services, known, ready=ready, described=True))


async def _ask_connector(connector: Observing, action: Action) -> dict[str, Any]:
    name = f"observe of {connector.id}"
    call = connector.observe(action.workspace_id, action.effect, OBSERVE_SECONDS)
    try:
        async with asyncio.timeout(OBSERVE_SECONDS):
            return read_state(name, await call)
    except Refusal:
        raise
    except (NotSent, OutcomeUnknown) as failed:
        raise refuse_extension(name, str(failed) or type(failed).__name__) from None
    except TimeoutError:
        raise refuse_extension(name, f"it took longer than {OBSERVE_SECONDS:g} seconds") from None
    except Exception as error:
        log.exception("%s failed", name)
        raise refuse_extension(name, f"it raised {type(error).__name__}") from error


def describe_account(connection: Connection, account_id: str) -> dict[str, str]:
    """Return what identifies the accounts of an effect in a connection: ids, names and its label."""
    known = {each.id: each.name for each in connection.accounts}
    ids = account_id.split(",")  # a post may go to several
    names = ", ".join(known.get(each, "") for each in ids)
    return {"id": account_id, "name": names, "connection": connection.label}


def read_state(name: str, found: Any) -> dict[str, Any]:
    """Return what a function observed. Raises `Refusal` unless it is a small mapping of plain values."""
    try:
        if not isinstance(found, Mapping):
            raise TypeError
        state = msgspec.convert(
            msgspec.to_builtins(dict(found)), dict[str, str | int | float | bool | None], strict=True
        )
        fits = len(canonical.canonical(state)) <= MAX_OBSERVED_BYTES
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError):
        why = "it returned no mapping of names to texts, numbers, true, false or None"
        raise refuse_extension(name, why) from None
    if not fits or "\\u0000" in msgspec.json.encode(state).decode():
        raise refuse_extension(name, f"it returned more than {MAX_OBSERVED_BYTES} bytes, or a NUL character")
    return state


async def check_before_approval(services: EffectServices, action: Action, *, by: str, via: str) -> None:
    """Observe an action that a person is about to approve. Raises `Refusal` if something is not as it
    was shown; the next look shows it as it is."""
    connector = services.connectors.get(action.effect.connector)
    if not services.effects.must_observe(action, connector):
        return
    if state_of(action) not in (AWAITING, APPROVED, RETRYABLE):
        return
    ready = True
    if getattr(connector, "observes", False):
        found = await circumstances.ask_readiness(services, action.workspace_id, action.effect)
        ready = found.ready
    now = await observe(services, action, ready=ready)
    approval = action.approval
    before = approval.observed if approval is not None else read_observation(action)
    if changes := drift.find_changes(before, now):
        changed = await send_back(services, action, now, changes, by=by, via=via)
        raise refusals.refuse_drift(changed, changes, approved=approval is not None)


async def send_back(
    services: EffectServices,
    seen: Action,
    now: Observation,
    changes: tuple[DriftChange, ...],
    *,
    by: str,
    via: str,
) -> Action:
    """Let an action wait for an approval with what was observed now. Returns it as it is then; unchanged
    if it is not the one that was seen any more."""
    now_ms = services.clock.now_ms()
    return await services.store.write(partial(_send_back, seen, now, changes, by, via, now_ms))


def _send_back(
    seen: Action, now: Observation, changes: tuple[DriftChange, ...], by: str, via: str, now_ms: int
) -> Transaction[Action]:
    action, *_ = yield from actions.lock(seen.workspace_id, seen.action_id)
    if action.version != seen.version:
        return action
    if is_barred(action, now_ms):
        raise in_progress(action)
    changed = drift.with_observation(action, msgspec.structs.replace(now, since_ms=now_ms), changes)
    facts = {
        "by": by,
        "via": via,
        "reason": f"{drift.describe_changes(changes)}.",
        "drift": msgspec.to_builtins(changes),
    }
    if action.status is Status.AWAITING_APPROVAL:
        yield from approvals.forget(action)  # those who approved relied on the earlier values
        stored = yield from actions.put_without_event(changed)
        yield from actions.note(stored, "drift_found", facts, now_ms)
        return stored
    steps = path(action, Move.WITHDRAW)
    return (yield from approvals.end_approval(action, changed, steps, facts, now_ms, decided=False))
