"""The circumstances of an action: rights of the caller, policy, account and readiness of the
connector (C29, E24).

Reads only stored data and calls no provider. An `Outlook` is read once, before a transaction, and
then answers for the action that the transaction returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

import msgspec
from msgspec import UNSET, UnsetType

from assent.engine.actions import actions, policies
from assent.engine.core import freezes
from assent.engine.core.freezes import Freeze
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.gate.effects import TypeKey, key_of_type
from assent.gate.policy import Policy, Requirement, client_decides
from assent.gate.preflight import (
    Readiness,
    is_expired,
    is_overdue,
    with_readiness,
)
from assent.gate.records import WORKFLOW, Action, Assurance, Effect, ExecutionState, Status, read_proposal
from assent.gate.review_link import DECIDE_RIGHT, EXECUTE_RIGHT, LOOK
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Reason, Recovery, Replay, SuggestedCall
from assent.kernel.structs import WireRecord
from assent.kernel.times import iso_time
from assent.ports import Addressed, Connector, Preparation
from assent.present.cards import explain_no_dialog, render_card
from assent.present.guidance import InChat, view_alone
from assent.present.manual_brief import manual_brief
from assent.present.next_steps import Circumstances, describe_decision, next_calls
from assent.present.refusals import explain_missing_type
from assent.present.rule_text import describe_need
from assent.present.workflow_step import describe_step

READY: Final = Readiness(ready=True)
NOT_LIVE: Final = Readiness(
    ready=False,
    blocker=Reason.PROVIDER_NOT_LIVE.value,
    fix_hint="Choose a channel whose connector is live, or publish by hand.",
)
OPEN: Final = (Status.AWAITING_APPROVAL, Status.APPROVED)

WRITE_RIGHT: Final = "runs:write"

DENIED: Final = "The policy of this workspace does not permit this: {why}"
NEEDS_SIGN_IN: Final = "A signed-in person decides this on the review page."
NOT_THIS_CHAT: Final = "This chat cannot decide it. Open the review page and sign in to decide."


class DecisionReply(WireRecord, kw_only=True):
    """The result of a decision."""

    ok: bool
    action_id: str
    run_id: str
    status: str
    execution_state: str
    revision: int
    digest: str
    assurance: str | None
    approved_by: str | None
    approved_at: str | None
    user_message: str
    stop_rule: str
    show: str = ""
    """Markdown for the person: the decision, and the content if it waits for approval."""
    next: tuple[SuggestedCall, ...] = ()
    render_in_chat: dict[str, InChat] | UnsetType = UNSET
    """The content that waits for approval, with the commands for exactly this content."""
    sent: bool | UnsetType = UNSET
    """Whether the action was sent in the same call, if that was asked for."""
    external_url: str | UnsetType | None = UNSET
    not_sent: Recovery | UnsetType = UNSET
    """Why it was not sent."""
    replay: Replay | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Outlook:
    """Policy, readiness and rights, read before a transaction. `of` applies them to an action."""

    services: Services
    caller: Principal
    policy: Policy
    unready: Mapping[tuple[object, ...], Readiness]
    """Accounts that are not ready, by connector and account (`_readiness_key`)."""
    missing: frozenset[TypeKey]
    """The types that are not registered any more, or have changed since."""
    frozen: Freeze | None

    def readiness_of(self, effect: Effect) -> Readiness:
        """Return the readiness for an effect at the time this was read."""
        return self.unready.get(_readiness_key(effect), READY) if self.unready else READY

    def as_now(self, action: Action) -> Action:
        """Return an open action with the present readiness in its preflight."""
        if action.status not in OPEN:
            return action
        found = with_readiness(action.preflight, self.readiness_of(action.effect))
        return msgspec.structs.replace(action, preflight=found)

    def of(self, action: Action, *, shown: bool = True) -> Circumstances:
        """Compute the circumstances of an action. The policy matters only while it waits. Without
        `shown`, the links that only its content needs are left out, because signing costs time."""
        effect, now_ms, rights = action.effect, self.services.clock.now_ms(), self.caller.scopes
        readiness = self.readiness_of(effect)
        views = self._views(action) if shown else {}
        unfit, help_url = action.view.unfit, None
        missing = bool(self.missing) and key_of_type(action) in self.missing
        blocker = unfit.words if unfit is not None else None
        if missing:
            blocker = explain_missing_type(self.services.effects, action)
        elif unfit is None and not readiness.ready:
            if is_connectable(readiness):
                help_url = connect_page(self.services, self.caller.workspace_id, effect)
            blocker = _why_not(readiness, action.view.label, help_url)
        may = DECIDE_RIGHT in rights and (EXECUTE_RIGHT in rights or not action.view.approval_executes)
        who = None if may else NOT_THIS_CHAT
        client_asks = False
        if who is None and action.status is Status.AWAITING_APPROVAL:
            needed = self.policy.require(action)
            client_asks = self.caller.client_dialog and client_decides(needed)
            who = _explain_no_dialog(action) if client_asks else explain_who_decides(needed)
        owned = effect.connector in self.services.effects.owned
        foreign = owned and read_proposal(action).caller != self.caller.name
        executes = EXECUTE_RIGHT in rights
        in_doubt = action.execution_state is ExecutionState.OUTCOME_UNKNOWN
        return Circumstances(
            blocker=blocker,
            help_url=help_url,
            frozen=freezes.describe(self.frozen, action) if self.frozen is not None else "",
            nameable=unfit is None and readiness.nameable and not missing,
            unfit=unfit is not None or missing,
            missing=missing,
            may_edit=DECIDE_RIGHT in rights and not foreign,
            may_decide=who is None,
            client_asks=client_asks and who is None,
            may_execute=executes,
            may_write=WRITE_RIGHT in rights,
            who_decides=who,
            review_url=self._link(action) if who is not None or not executes or in_doubt else None,
            views=views,
            overdue=is_overdue(action, now_ms),
            expired=is_expired(action, now_ms),
        )

    def answer(self, action: Action, move: str) -> DecisionReply:
        """Return the answer to a decision, with the next calls."""
        key, waits = action.effect.channel, action.status == "awaiting_approval"
        approval, around = action.approval, self.of(action, shown=waits)
        message = describe_step(action) if action.effect.connector == WORKFLOW else None
        message = message or describe_decision(move, key, action, around)
        following = next_calls(key, action, around)
        card = render_card(key, action, around) if waits and move == "edit" else None
        if action.status == "approved" and action.view.executes == "person":
            card = manual_brief(action.effect, action.view).text
        return DecisionReply(
            ok=True,
            action_id=action.action_id,
            run_id=action.run_id,
            status=action.status,
            execution_state=action.execution_state,
            revision=action.revision,
            digest=action.digest,
            assurance=(approval.claimed or approval.assurance) if approval is not None else None,
            approved_by=approval.by if approval is not None else None,
            approved_at=iso_time(approval.at_ms) if approval is not None else None,
            user_message=message,
            show="\n\n".join(filter(None, (message, card))),
            next=following,
            stop_rule="Do only what the human just decided.",
            render_in_chat=view_alone(action, around) if waits else UNSET,
        )

    def _link(self, action: Action) -> str:
        now_ms = self.services.clock.now_ms()
        return self.services.links.review_url(
            action.workspace_id, action.run_id, now_ms, self.caller.link_scope
        )

    def _views(self, action: Action) -> dict[str, str]:
        """Map each picture to a URL with a read-only token."""
        if not action.effect.media:
            return {}
        now_ms = self.services.clock.now_ms()
        link = self.services.links.review_url(action.workspace_id, action.run_id, now_ms, LOOK)
        token = link.partition("token=")[2]
        return {media.url: f"{media.url}?token={token}" for media in action.effect.media if media.digest}


async def read_action(services: Services, caller: Principal, action_id: ActionId) -> tuple[Action, Outlook]:
    """Read an action together with the facts for an answer. Raises like `actions.find`."""
    workspace_id = caller.workspace_id
    action, policy, frozen = await services.store.read(
        lambda: actions.find_with_freeze(workspace_id, action_id)
    )
    connector, unready = services.connectors.get(action.effect.connector), {}
    if action.status in OPEN and not getattr(connector, "always_ready", False):
        readiness = await ask_readiness(services, workspace_id, action.effect)
        if not readiness.ready:
            unready[_readiness_key(action.effect)] = readiness
    return action, Outlook(
        services, caller, policy, unready, services.effects.find_missing((action,)), frozen
    )


async def outlook(
    services: Services,
    caller: Principal,
    shown: Iterable[Action],
    known: Mapping[str, Readiness] | None = None,
) -> Outlook:
    """Read policy and readiness of these actions once. `known` is by action id."""
    policy, frozen = await services.store.read(lambda: policies.find_with_freeze(caller.workspace_id))
    found: dict[tuple[object, ...], Readiness] = {}
    asked: dict[tuple[object, ...], Effect] = {}
    listed = tuple(shown)
    for action in listed:
        effect = action.effect
        if known is not None and action.action_id in known:
            found[_readiness_key(effect)] = known[action.action_id]
        elif action.status in OPEN:
            asked.setdefault(_readiness_key(effect), effect)
    answers = await asyncio.gather(
        *(ask_readiness(services, caller.workspace_id, effect) for effect in asked.values())
    )
    found = {**dict(zip(asked, answers, strict=True)), **found}
    unready = {way: readiness for way, readiness in found.items() if not readiness.ready}
    missing = services.effects.find_missing(listed)
    return Outlook(services, caller, policy, unready, missing, frozen)


async def read_circumstances(
    services: Services, caller: Principal, shown: Iterable[Action]
) -> dict[str, Circumstances]:
    """Return the circumstances of each action, by action id."""
    listed = tuple(shown)
    found = await outlook(services, caller, listed)
    return {action.action_id: found.of(action) for action in listed}


async def ask_readiness(services: Services, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
    if effect.connector == WORKFLOW:
        return READY
    connector = services.connectors.get(effect.connector)
    if connector is None:
        return NOT_LIVE
    return await readiness_of(connector, workspace_id, effect)


def _readiness_key(effect: Effect) -> tuple[object, ...]:
    """Key of a readiness: connector, channel, sender and account."""
    account = tuple(sorted(effect.target.items())) if effect.target is not None else None
    return effect.connector, effect.channel, effect.sender, account


def explain_who_decides(needed: Requirement) -> str | None:
    """Explain who decides if an approval in the chat does not suffice."""
    if needed.denied:
        return DENIED.format(why=needed.denied)
    if needed == Requirement(Assurance.AGENT, rules=needed.rules):
        return None
    if client_decides(needed):
        return NEEDS_SIGN_IN
    who = describe_need(needed)
    verb = "decides" if needed.approvers == 1 else "decide"
    return f"{who[0].upper()}{who[1:]} {verb} this on the review page."


def _explain_no_dialog(action: Action) -> str | None:
    """Explain who decides if the client's dialog cannot show the content."""
    why = explain_no_dialog(action)
    return f"{why} {NEEDS_SIGN_IN}" if why is not None else None


def _why_not(readiness: Readiness, label: str, help_url: str | None) -> str:
    """Explain why an effect cannot be performed: briefly before a link, else in full."""
    if help_url is not None and readiness.summary is not None:
        return readiness.summary
    return readiness.fix_hint or f"{label} is not connected yet."


def connect_page(services: Services, workspace_id: WorkspaceId, effect: Effect) -> str | None:
    """Return the page on which a person connects the connector of an effect, or another one of its
    channel. None where no page is served."""
    address = services.links.page_address()
    effects = services.effects
    found = effects.find(effect)
    ways = (effect.connector, *(found.via if found is not None else ()))
    provider = next(
        (name for name in ways if effects.connector(name).on_page and name in services.connectors), None
    )
    if address is None or provider is None:
        return None
    return f"{address}/connect/{provider}?workspace={workspace_id}"


def is_connectable(readiness: Readiness) -> bool:
    """Whether connecting would help: not if it is connected or the server must be configured."""
    return not (readiness.ready or readiness.nameable or readiness.blocker == Reason.PROVIDER_NOT_LIVE)


def advise(services: Services, workspace_id: WorkspaceId, effect: Effect, readiness: Readiness) -> str:
    """Tell a person how to make an effect deliverable: by the link if there is one, else in
    full."""
    url = connect_page(services, workspace_id, effect) if is_connectable(readiness) else None
    if url is not None and readiness.summary is not None:
        return f"{readiness.summary} Connect it here: {url}"
    return readiness.fix_hint or "It cannot go out yet."


def rereads(services: Services, effect: Effect) -> bool:
    """Whether its connector is asked again for what an effect shows of its target."""
    return getattr(services.connectors.get(effect.connector), "rereads", False)


async def address(services: Services, workspace_id: WorkspaceId, effect: Effect) -> tuple[Effect, Readiness]:
    """Return the effect with its account, and the readiness for it."""
    connector = services.connectors.get(effect.connector)
    if connector is None:
        return effect, NOT_LIVE
    if (by_account := _by_account(connector)) is not None:
        effect = await by_account.addressed(workspace_id, effect)
    return effect, await readiness_of(connector, workspace_id, effect)


async def with_targets(
    services: Services, workspace_id: WorkspaceId, preparation: Preparation
) -> tuple[Preparation, list[Readiness]]:
    """Set the account of each effect, so that it is shown and approved."""
    found = [await address(services, workspace_id, staged.effect) for staged in preparation.effects]
    effects = tuple(
        msgspec.structs.replace(staged, effect=effect)
        for staged, (effect, _) in zip(preparation.effects, found, strict=True)
    )
    return msgspec.structs.replace(preparation, effects=effects), [readiness for _, readiness in found]


async def readiness_of(connector: Connector, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
    """Return a connector's readiness for this effect; most have one for all effects."""
    if (by_account := _by_account(connector)) is not None:
        return await by_account.readiness_for(workspace_id, effect)
    return await connector.readiness(workspace_id)


_has_accounts: Final[dict[type, bool]] = {}
"""Cached by class, because isinstance of a protocol is slow."""


def _by_account(connector: object) -> Addressed | None:
    kind = type(connector)
    if kind not in _has_accounts:
        _has_accounts[kind] = issubclass(kind, Addressed)
    return cast("Addressed", connector) if _has_accounts[kind] else None
