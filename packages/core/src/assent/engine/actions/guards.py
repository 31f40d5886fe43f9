"""The guards of a claim: all that must hold before an approved action is sent, in the order in which it is asked.

`execution.claim` reads, then asks each guard of `GUARDS` until one objects. A guard is a pure function of what was
read. It passes, it refuses, or it asks: then nothing is stored, the question is answered outside the transaction, and
the claim is tried again or refused (`execution.claim_action`).

Two things are judged again as the claim is stored: no freeze has begun since (`actions.put_claim`), and the credits
suffice (the hook `claimed`). Reconciling an outcome asks no guard: it finds out what an earlier claim has done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from assent.engine.actions import doubts, drift_probe
from assent.gate import gate
from assent.gate.effects import EXECUTE, EffectTypes
from assent.gate.policy import Requirement, holds
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Freeze, Observation, Status, Voice, is_test
from assent.gate.rules import drift
from assent.gate.rules.drift import DriftChange
from assent.gate.seals import Seals
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.kernel.structs import Record
from assent.ports import Connector
from assent.present import refusals
from assent.present.refusals import refuse_frozen
from assent.present.workflow_step import refuse_confirmation


class ReadinessAnswer(Record):
    """A connector's readiness for the content with this digest, and what was observed if it is ready."""

    connector_id: str
    digest: str
    readiness: Readiness
    observed: Observation | None = None


class ClaimFacts(Record, kw_only=True):
    """What was read about an action that is to be sent, and what is known about this server."""

    action: Action
    needed: Requirement
    """What the policy asks for."""
    voices: tuple[Voice, ...] | None
    """The approvals of those who may still decide; None if the approval is one person's decision, which stays."""
    frozen: Freeze | None
    """What stops the workspace, if the action is not due yet. One that is due is stopped when it is stored."""
    times: tuple[int, ...]
    """Now, and the time of the latest event if it matters that a clock was set back."""
    tool: str
    approval: int | None
    """`Approval.since` of the only approval that may be used; None for any."""
    asked: ReadinessAnswer | None
    effects: EffectTypes
    connector: Connector | None
    prices: Mapping[str, int]
    seals: Seals

    @property
    def now_ms(self) -> int:
        return self.times[0]


class IsReady(Record):
    """Can the connector perform it, and is everything as it was approved?"""

    action: Action
    connector: Connector


class HaveApproversLeft(Record):
    """Too few of those who approved may still decide: who else approves?"""

    action: Action


class HasDrifted(Record):
    """Something that the approval relied on has changed: does it still hold?"""

    action: Action
    now: Observation
    changes: tuple[DriftChange, ...]


class WasSent(Record):
    """The store was put back: was it sent before?"""

    action: Action


class Pass(Record):
    """Nothing stands in the way."""


class Refuse(Record):
    """It is not sent."""

    refusal: Refusal


class Ask(Record):
    """It is not sent before this is answered."""

    question: IsReady | HaveApproversLeft | HasDrifted | WasSent


Verdict = Pass | Refuse | Ask
PASS: Final = Pass()


def judge(facts: ClaimFacts) -> Verdict:
    """Ask each guard, in order. Returns the first objection, or `PASS`."""
    for guard in GUARDS:
        if not isinstance(verdict := guard(facts), Pass):
            return verdict
    return PASS


def is_not_frozen(facts: ClaimFacts) -> Verdict:
    """Before its time, an action of a frozen workspace is refused as frozen, not as early."""
    if facts.frozen is None:
        return PASS
    action = facts.action
    return Refuse(refuse_frozen(facts.frozen, action_id=action.action_id, status=action.status))


def is_approved(facts: ClaimFacts) -> Verdict:
    by_hand = facts.action.view.executes == "person"
    try:
        gate.judge_execution(facts.action, facts.needed, facts.now_ms, facts.seals, by_hand=by_hand)
    except gate.Objection as objection:
        return Refuse(refusals.word(objection))
    return PASS


def has_its_approvers(facts: ClaimFacts) -> Verdict:
    if facts.voices is None or holds(facts.voices, facts.needed, facts.action):
        return PASS
    return Ask(HaveApproversLeft(facts.action))


def has_the_approval_that_is_meant(facts: ClaimFacts) -> Verdict:
    approval = facts.action.approval
    if facts.approval is None or (approval is not None and approval.since == facts.approval):
        return PASS
    return Refuse(refusals.needs_approval(facts.action))


def suits_the_tool(facts: ClaimFacts) -> Verdict:
    """The general executor takes every kind that the server executes; what an agent runs is only handed out."""
    action, tool = facts.action, facts.tool
    try:
        refuse_confirmation(action)
    except Refusal as refusal:
        return Refuse(refusal)
    if tool == action.executor_tool or (tool == EXECUTE and action.view.executes != "agent"):
        return PASS
    problem = Problem("actionId", f"an action that {tool} fires", action.effect.type)
    return Refuse(Refusal(Reason.VALIDATION_ERROR, action_id=action.action_id, problems=[problem]))


def is_fit(facts: ClaimFacts) -> Verdict:
    return PASS if facts.action.view.unfit is None else Refuse(refusals.refuse_unfit(facts.action))


def is_no_test(facts: ClaimFacts) -> Verdict:
    """A test reaches an emulator or no one, by any way of executing it (E82)."""
    if may_reach(facts.action, facts.connector):
        return PASS
    return Refuse(refusals.refuse_test(facts.action))


def may_reach(action: Action, connector: Connector | None) -> bool:
    return not is_test(action) or getattr(connector, "emulated", False)


def can_be_performed(facts: ClaimFacts) -> Verdict:
    """Whether its type and its connector are here, and the connector is ready (E24)."""
    action, connector, asked = facts.action, facts.connector, facts.asked
    try:
        refusals.refuse_missing_type(facts.effects, action)
    except Refusal as refusal:
        return Refuse(refusal)
    if action.view.executes == "person":
        return Refuse(refusals.refuse_by_hand(action))
    if connector is None:
        return Refuse(refusals.refuse_not_live(action))
    if not facts.effects.must_observe(action, connector):
        return PASS
    if asked is None or (asked.connector_id, asked.digest) != (connector.id, action.digest):
        return Ask(IsReady(action, connector))
    return PASS if asked.readiness.ready else Refuse(refusals.refuse_unready(action, asked.readiness))


def is_as_it_was_approved(facts: ClaimFacts) -> Verdict:
    action, asked = facts.action, facts.asked
    observed = asked.observed if asked is not None else None
    now = observed or drift_probe.observe_known(facts.prices, action)
    approval = action.approval
    changes = drift.find_changes(approval.observed, now) if approval is not None else ()
    return Ask(HasDrifted(action, now, changes)) if changes else PASS


def was_not_sent_before_a_restore(facts: ClaimFacts) -> Verdict:
    claimable = all(doubts.may_claim(facts.connector, facts.action, at_ms) for at_ms in facts.times)
    return PASS if claimable else Ask(WasSent(facts.action))


GUARDS: Final[tuple[Callable[[ClaimFacts], Verdict], ...]] = (
    is_not_frozen,
    is_approved,
    has_its_approvers,
    has_the_approval_that_is_meant,
    suits_the_tool,
    is_fit,
    is_no_test,
    can_be_performed,
    is_as_it_was_approved,
    was_not_sent_before_a_restore,
)


def is_early(action: Action, now_ms: int) -> bool:
    """Whether an approved action is not due yet."""
    return action.status is Status.APPROVED and (action.schedule_ms or 0) > now_ms
