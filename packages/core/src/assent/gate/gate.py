"""The gate. A connector performs only an `ApprovedAction`, and only this module creates one.

It judges the stored record alone. It uses no store; the engine calls it inside the transaction that
claims the action and again before the connector is called.
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from assent.gate.names import OPENING, read_claim
from assent.gate.policy import KEY, PERSON, Policy, Requirement, counts, satisfies
from assent.gate.preflight import is_overdue
from assent.gate.records import OBSERVED, Action, Assurance, ExecutionState, Observation, Status, Voice
from assent.gate.seals import Seals
from assent.gate.transitions import AWAITING, EXECUTING, TERMINAL, UNKNOWN, Move, State, Step, path, state_of
from assent.kernel.canonical import DIGEST_PREFIX
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record

_SEAL: Final = object()


class Case(enum.StrEnum):
    """What the gate objects to. `present.refusals` has the words of each case."""

    IN_PROGRESS = "in progress"
    OUTCOME_UNKNOWN = "outcome unknown"
    CLOSED = "closed"
    ENDED = "ended: closed, and an executor was called"
    EXPIRED = "expired"
    DENIED = "denied"
    WAITING = "waits for approval, and an executor was called"
    UNMET = "the policy asks for more"
    UNSEALED = "not sealed by this server"
    EARLY = "before its time"
    OVERDUE = "after its time"
    UNFIT = "cannot be delivered as it is"
    STALE = "other content was seen"
    NOTHING_TO_WITHDRAW = "nothing to withdraw"


_REASONS: Final[dict[Case, Reason]] = {
    Case.IN_PROGRESS: Reason.EXECUTION_IN_PROGRESS,
    Case.OUTCOME_UNKNOWN: Reason.OUTCOME_UNKNOWN,
    Case.CLOSED: Reason.ACTION_CLOSED,
    # An executor answers S1's literal `requires_approval` (C13, C33).
    Case.ENDED: Reason.REQUIRES_APPROVAL,
    Case.EXPIRED: Reason.ACTION_EXPIRED,
    Case.DENIED: Reason.DENIED_BY_POLICY,
    Case.WAITING: Reason.REQUIRES_APPROVAL,
    Case.UNMET: Reason.REQUIRES_APPROVAL,
    Case.UNSEALED: Reason.REQUIRES_APPROVAL,
    Case.EARLY: Reason.REQUIRES_APPROVAL,
    Case.OVERDUE: Reason.VALIDATION_ERROR,
    Case.UNFIT: Reason.VALIDATION_ERROR,
    Case.STALE: Reason.STALE_REVISION,
    Case.NOTHING_TO_WITHDRAW: Reason.REQUIRES_APPROVAL,
}


class Objection(Refusal):
    """A refusal of the gate: the case and what it is about, without words and links. `present.refusals`
    turns it into the refusal that an agent or a person reads."""

    def __init__(self, case: Case, action: Action, needed: Requirement | None = None) -> None:
        super().__init__(_REASONS[case], status=action.status, action_id=action.action_id)
        self.case = case
        self.action = action
        self.needed = needed


class ApprovedAction:
    """A claimed action whose approval covers exactly its content (E47). `perform` needs one."""

    __slots__ = ("action",)

    def __init__(self, seal: object, action: Action) -> None:
        if seal is not _SEAL:
            raise TypeError("only the gate makes an ApprovedAction")
        self.action = action


def judge_execution(
    action: Action, needed: Requirement, now_ms: int, seals: Seals, *, by_hand: bool = False
) -> None:
    """Raise `Objection` unless the stored status is approved, for exactly this content, with enough
    assurance (E5, E25, E63). `needed` is what the workspace's policy requires of this action.

    No argument and no text of the content or the caller changes the result (E65): a flag that only
    the agent honours is no gate (E73). Before an approval the reason is `requires_approval` with
    the review link (E88). `by_hand` says that a person performed the action, so its schedule and an
    expiry after the approval do not apply.
    """
    state = _read_settled(action, now_ms)
    if state in TERMINAL:
        raise Objection(Case.ENDED, action)
    if action.is_expired(now_ms) and (state == AWAITING or not by_hand):
        raise Objection(Case.EXPIRED, action)
    if needed.denied:
        raise Objection(Case.DENIED, action, needed)
    if state == AWAITING:
        raise Objection(Case.WAITING, action, needed)
    approval = action.approval
    if approval is None or approval.digest != action.digest or not is_intact(action):
        raise Objection(Case.UNMET, action, needed)
    if not seals.hold(action):
        raise Objection(Case.UNSEALED, action)
    if not by_hand and action.effect.schedule_ms is not None and now_ms < action.effect.schedule_ms:
        raise Objection(Case.EARLY, action)
    if not satisfies(action, approval, needed, now_ms):
        raise Objection(Case.UNMET, action, needed)


def open_gate(action: Action) -> ApprovedAction:
    """Create the `ApprovedAction` for a connector, for a claimed action or one that is being
    reconciled.

    The status is judged again here, so that no code between claim and connector can bypass it
    (E64).
    """
    covered = action.approval is not None and action.approval.digest == action.digest and is_intact(action)
    if state_of(action) not in (EXECUTING, UNKNOWN) or action.attempt is None or not covered:
        raise Refusal(Reason.REQUIRES_APPROVAL, status=action.status, action_id=action.action_id)
    return ApprovedAction(_SEAL, action)


def is_intact(action: Action) -> bool:
    """Whether the digest and the scheduled time match the stored content."""
    effect = action.effect
    return effect.digest() == action.digest and effect.schedule_ms in (None, action.schedule_ms)


def is_approved(action: Action, needed: Requirement, now_ms: int, seals: Seals) -> bool:
    """Whether an approval of exactly this content counts, and is all that is needed now. Unlike an execution this
    does not ask whether it is due."""
    approval = action.approval
    if approval is None or approval.digest != action.digest or not (is_intact(action) and seals.hold(action)):
        return False
    return satisfies(action, approval, needed, now_ms)


class Decider(Record):
    """The person who decides, the surface, and the assurance that it is a person."""

    workspace_id: WorkspaceId
    by: str
    assurance: Assurance
    via: str
    person_id: str = ""
    """The id of a signed-in person. It distinguishes approvers."""
    shown_ms: int | None = None
    """When the page that this decision came from was shown."""
    role: str = ""
    """The role of a signed-in person."""
    test: bool = False
    """Whether it is passed on by a test key."""

    @property
    def approver(self) -> str:
        return approver_key(self.person_id, self.by)

    def speak(self, now_ms: int) -> Voice:
        """Return this decider's yes, as it counts for the policy."""
        return Voice(self.approver, self.assurance, now_ms, self.role)


def approver_key(person_id: str, name: str) -> str:
    """Key that identifies an approver: the person id if signed in, else the given name."""
    if person_id:
        return f"{PERSON}{person_id}"
    if name.startswith(OPENING):
        name = read_claim(name)
        # No name that someone gives may look like the key of a person or of an agent.
        return f"name:{name}" if name.startswith((PERSON, KEY)) else name
    return name


class SeenVersion(Record):
    """The revision or digest that the caller saw. A mismatch raises STALE_REVISION."""

    revision: int | None = None
    digest: str | None = None

    def matches(self, action: Action) -> bool:
        """Whether this is the present content. A digest may be abbreviated to eight digits."""
        if self.revision is not None and self.revision != action.revision:
            return False
        if self.digest is None:
            return True
        given = self.digest.removeprefix(DIGEST_PREFIX)
        return len(given) >= 8 and action.digest.removeprefix(DIGEST_PREFIX).startswith(given)


ANY_CONTENT: Final = SeenVersion()
"""The caller does not say what they saw."""


def judge_decision(action: Action, move: Move, seen: SeenVersion, now_ms: int) -> tuple[Step, ...]:
    """Return the moves that a decision takes. Raises `Objection` if the transition table does not
    allow it, if the action has expired, or if the caller saw other content."""
    stale, state = not seen.matches(action), _read_settled(action, now_ms)
    if state in TERMINAL:
        raise Objection(Case.CLOSED, action)
    if move is Move.WITHDRAW and state == AWAITING:
        raise Objection(Case.NOTHING_TO_WITHDRAW, action)
    again = move is Move.APPROVE and state != AWAITING
    steps = ((move, state),) if again else path(action, move)
    if move in (Move.APPROVE, Move.EDIT) and action.is_expired(now_ms):
        raise Objection(Case.EXPIRED, action)
    if stale:
        raise Objection(Case.STALE, action)
    return steps


def read_observation(action: Action) -> Observation:
    """Return what was observed of the present content, on which an approval rests (`assent.gate.rules.drift`)."""
    return msgspec.convert(action.metadata.get(OBSERVED, {}), Observation)


def judge_approval(
    action: Action, policy: Policy, decider: Decider, seen: SeenVersion, now_ms: int
) -> tuple[tuple[Step, ...], Requirement, Voice]:
    """Judge everything about an approval: the decision, whether the content could be delivered and
    was shown whole, its time, and the approval that the workspace's policy requires (C8). Returns
    the moves, that requirement, and this approval as it counts for it."""
    voice = decider.speak(now_ms)
    steps = judge_decision(action, Move.APPROVE, seen, now_ms)
    if action.view.unfit is not None:
        raise Objection(Case.UNFIT, action)
    due_ms, shown_ms = action.schedule_ms, decider.shown_ms
    # A page rendered after the scheduled time says so beside its button; a chat is asked for a new
    # time.
    warned = due_ms is not None and shown_ms is not None and shown_ms >= due_ms
    waits = action.status is Status.AWAITING_APPROVAL
    if waits and not warned and is_overdue(action, now_ms):
        raise Objection(Case.OVERDUE, action)
    needed = policy.require(action)
    if needed.denied:
        raise Objection(Case.DENIED, action, needed)
    if waits and needed.within_ms is not None and now_ms > action.created_ms + needed.within_ms:
        raise Objection(Case.EXPIRED, action)
    if not counts(voice, needed, action):
        raise Objection(Case.UNMET, action, needed)
    return steps, needed, voice


def _read_settled(action: Action, now_ms: int) -> State:
    """Return the state of an action. Raises `Objection` while it is or may be executed and while its
    outcome is unknown."""
    state = state_of(action)
    if state == EXECUTING or is_barred(action, now_ms):
        raise Objection(Case.IN_PROGRESS, action)
    if state == UNKNOWN:
        raise Objection(Case.OUTCOME_UNKNOWN, action)
    return state


def is_barred(action: Action, now_ms: int) -> bool:
    """Whether a call may be in flight although its attempt is lost: it may still report a delivery."""
    attempt = action.attempt if action.execution_state is ExecutionState.RETRYABLE else None
    return attempt is not None and attempt.is_barred(now_ms)
