"""The gate. A connector performs only an `ApprovedAction`, and only this module creates one.

It judges the stored record alone. It uses no store; the engine calls it inside the transaction that
claims the action and again before the connector is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from assent.gate import refusal_words as words_for
from assent.gate.guidance import view_alone
from assent.gate.names import OPENING, read_claim
from assent.gate.policy import KEY, PERSON, Policy, Requirement, counts, satisfies
from assent.gate.preflight import is_expired, is_overdue
from assent.gate.records import OBSERVED, Action, Assurance, ExecutionState, Observation, Status, Voice
from assent.gate.seals import Seals
from assent.gate.transitions import (
    AWAITING,
    EXECUTING,
    RETRYABLE,
    TERMINAL,
    UNKNOWN,
    Move,
    State,
    Step,
    path,
    state_of,
)
from assent.kernel.canonical import DIGEST_PREFIX
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Problem, Reason, Refusal, Words
from assent.kernel.structs import Record

_SEAL: Final = object()

IN_PROGRESS_RETRY_SECONDS: Final = 2

Links = Callable[[Action], str | None]
"""Creates a run's review link. Called only for a refusal that shows it: signing is slow."""


def no_link(action: Action) -> None:
    """For callers that show no link."""


class ApprovedAction:
    """A claimed action whose approval covers exactly its content (E47). `perform` needs one."""

    __slots__ = ("action",)

    def __init__(self, seal: object, action: Action) -> None:
        if seal is not _SEAL:
            raise TypeError("only the gate makes an ApprovedAction")
        self.action = action


def judge_execution(
    action: Action, policy: Policy, now_ms: int, links: Links, seals: Seals, *, by_hand: bool = False
) -> None:
    """Raise `Refusal` unless the stored status is approved, for exactly this content, with enough
    assurance (E5, E25, E63).

    No argument and no text of the content or the caller changes the result (E65): a flag that only
    the agent honours is no gate (E73). Before an approval the reason is `requires_approval` with
    the review link (E88). `by_hand` says that a person performed the action, so its schedule and an
    expiry after the approval do not apply.
    """
    state = _read_settled(action, now_ms, links)
    if state in TERMINAL:
        raise refuse_closed(action, Reason.REQUIRES_APPROVAL, links(action))
    if is_expired(action, now_ms) and (state == AWAITING or not by_hand):
        raise refuse_expired(action)
    needed = policy.require(action)
    if needed.denied:
        raise refuse_denied(action, needed)
    if state == AWAITING:
        raise needs_approval(action, links(action), words_for.describe_waiting(action, needed))
    approval = action.approval
    if approval is None or approval.digest != action.digest or not is_intact(action):
        raise _refuse_by_policy(action, needed, links)
    if not seals.hold(action):
        raise needs_approval(action, links(action), words_for.NOT_OURS)
    if not by_hand and action.effect.schedule_ms is not None and now_ms < action.effect.schedule_ms:
        raise needs_approval(action, links(action), words_for.describe_early(action.effect.schedule_ms))
    if not satisfies(action, approval, needed, now_ms):
        raise _refuse_by_policy(action, needed, links)


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


def judge_decision(
    action: Action, move: Move, seen: SeenVersion, now_ms: int, links: Links
) -> tuple[Step, ...]:
    """Return the moves that a decision takes. Raises `Refusal` if the transition table does not
    allow it, if the action has expired, or if the caller saw other content."""
    stale, state = not seen.matches(action), _read_settled(action, now_ms, links)
    if state in TERMINAL:
        raise refuse_closed(action, Reason.ACTION_CLOSED)
    if move is Move.WITHDRAW and state == AWAITING:
        raise needs_approval(action, links(action), words_for.NOTHING_TO_WITHDRAW)
    again = move is Move.APPROVE and state != AWAITING
    steps = ((move, state),) if again else path(action, move)
    if move in (Move.APPROVE, Move.EDIT) and is_expired(action, now_ms):
        raise refuse_expired(action)
    if stale:
        raise refuse_stale(action)
    return steps


def read_observation(action: Action) -> Observation:
    """Return what was observed of the present content, on which an approval rests (`assent.gate.rules.drift`)."""
    return msgspec.convert(action.metadata.get(OBSERVED, {}), Observation)


def judge_approval(
    action: Action, policy: Policy, decider: Decider, seen: SeenVersion, now_ms: int, links: Links
) -> tuple[tuple[Step, ...], Requirement, Voice]:
    """Judge everything about an approval: the decision, whether the content could be delivered and
    was shown whole, its time, and the approval that the workspace's policy requires (C8). Returns
    the moves, that requirement, and this approval as it counts for it."""
    voice = decider.speak(now_ms)
    steps = judge_decision(action, Move.APPROVE, seen, now_ms, links)
    if action.view.unfit is not None:
        raise words_for.refuse_unfit(action, action.view.unfit)
    due_ms, shown_ms = action.schedule_ms, decider.shown_ms
    # A page rendered after the scheduled time says so beside its button; a chat is asked for a new
    # time.
    warned = due_ms is not None and shown_ms is not None and shown_ms >= due_ms
    waits = action.status is Status.AWAITING_APPROVAL
    if due_ms is not None and waits and not warned and is_overdue(action, now_ms):
        raise words_for.refuse_overdue(action, due_ms)
    needed = policy.require(action)
    if needed.denied:
        raise refuse_denied(action, needed)
    if waits and needed.within_ms is not None and now_ms > action.created_ms + needed.within_ms:
        raise refuse_expired(action)
    if not counts(voice, needed, action):
        raise _refuse_by_policy(action, needed, links)
    return steps, needed, voice


def refuse_stale(action: Action, *, user_message: str | None = None) -> Refusal:
    """Build the STALE_REVISION refusal. `explaining` adds the present content."""
    return Refusal(
        Reason.STALE_REVISION,
        user_message=user_message,
        status=action.status,
        action_id=action.action_id,
        render_in_chat=msgspec.to_builtins(view_alone(action)),
    )


def needs_approval(action: Action, review_url: str | None, words: Words | None = None) -> Refusal:
    """Build S4's `requires_approval`: no recovery tool, no retry, a review link (E92, C15)."""
    return Refusal(
        Reason.REQUIRES_APPROVAL,
        words=words,
        status=action.status,
        action_id=action.action_id,
        review_url=review_url,
    )


def _read_settled(action: Action, now_ms: int, links: Links) -> State:
    """Return the state of an action. Raises `Refusal` while it is or may be executed and while its
    outcome is unknown."""
    state = state_of(action)
    if state == EXECUTING or (state == RETRYABLE and is_barred(action, now_ms)):
        raise in_progress(action)
    if state == UNKNOWN:
        raise unknown_outcome(action, links(action))
    return state


def is_barred(action: Action, now_ms: int) -> bool:
    """Whether a call may be in flight although its attempt is lost: it may still report a delivery."""
    attempt = action.attempt if action.execution_state is ExecutionState.RETRYABLE else None
    return attempt is not None and attempt.is_barred(now_ms)


def _refuse_by_policy(action: Action, needed: Requirement, links: Links) -> Refusal:
    return needs_approval(action, links(action), words_for.describe_policy(action, needed))


def refuse_denied(action: Action, needed: Requirement) -> Refusal:
    """Build the refusal for an action that the policy denies, no matter who approves it."""
    rule = needed.rules[0]
    expected = f"a value that the rule {rule} can be judged by"
    return Refusal(
        Reason.DENIED_BY_POLICY,
        facts={"rule": rule, "why": needed.denied},
        problems=[Problem(needed.unknown, expected, "unknown")] if needed.unknown else None,
        action_id=action.action_id,
        status=action.status,
    )


def in_progress(action: Action) -> Refusal:
    return Refusal(
        Reason.EXECUTION_IN_PROGRESS,
        action_id=action.action_id,
        status=action.status,
        retry_after_seconds=IN_PROGRESS_RETRY_SECONDS,
    )


def unknown_outcome(action: Action, review_url: str | None) -> Refusal:
    return Refusal(
        Reason.OUTCOME_UNKNOWN,
        words=words_for.describe_unknown(action),
        facts={"connector": action.view.via or action.effect.connector},
        action_id=action.action_id,
        status=action.status,
        review_url=review_url,
    )


def refuse_expired(action: Action) -> Refusal:
    words = words_for.describe_expired(action)
    return Refusal(Reason.ACTION_EXPIRED, words=words, action_id=action.action_id)


def refuse_closed(action: Action, reason: Reason, review_url: str | None = None) -> Refusal:
    """Build the refusal for a closed action. An executor answers S1's literal `requires_approval`
    (C13, C33)."""
    return Refusal(
        reason,
        words=words_for.describe_closed(action),
        status=action.status,
        external_id=action.external_id,
        action_id=action.action_id,
        review_url=review_url,
    )
