"""A run as the review page shows it: records in, what the template prints out. Pure, and decides nothing.

Which forms an action has follows from its state, its policy and how sure the server is of who is looking; the engine
judges again when one of them comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from assent.engine.jobs import JobState
from assent.engine.review import RunReview, SendJob
from assent.kernel.canonical import short_digest
from assent.kernel.ids import ActionId
from assent.lifecycle.policy import suffices
from assent.lifecycle.preflight import Readiness
from assent.lifecycle.records import Action, Assurance, Effect
from assent.lifecycle.transitions import APPROVED, AWAITING, EXECUTING, RETRYABLE, UNKNOWN, state_of
from assent.serving.web import review_history, review_text, review_words
from assent.serving.web.review_history import Entry
from assent.serving.web.review_text import Piece, Target
from assent.serving.web.review_words import Badge, When, when

OPEN: Final = frozenset({AWAITING, APPROVED, RETRYABLE, UNKNOWN})
"""States in which a human can still do something."""

IN_FLIGHT: Final = frozenset({JobState.WAITING, JobState.RUNNING})


class Tried(msgspec.Struct, frozen=True):
    """A form that came back and was not taken: what is wrong, and what was typed."""

    action_id: str
    decision: str
    status: int
    title: str
    text: str
    wrong: dict[str, str] = {}
    typed: dict[str, str] = {}
    sign_in: bool = False
    reopen: bool = True
    """Whether its form is shown open, to be corrected."""


class Form(msgspec.Struct, frozen=True):
    """One form of one action."""

    decision: str
    address: str
    nonce: str
    is_open: bool
    values: dict[str, str]
    wrong: dict[str, str]


class Fact(msgspec.Struct, frozen=True):
    label: str
    text: str


class HtmlPart(msgspec.Struct, frozen=True):
    """The HTML of a mail: what it says, where it leads, and its source."""

    text: tuple[Piece, ...]
    targets: tuple[Target, ...]
    source: tuple[Piece, ...]


class Approved(msgspec.Struct, frozen=True):
    """Who approved it and how."""

    by: str
    how: str
    at: When
    relayed: bool
    people: int


class Attempted(msgspec.Struct, frozen=True):
    """What was sent and when."""

    at: When
    provider_key: str
    detail: str


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One action on the page."""

    action_id: str
    title: str
    badge: Badge
    severity: Badge
    severity_why: str
    happens: str
    is_mail: bool
    effect: Effect
    body: tuple[Piece, ...]
    size: str
    targets: tuple[Target, ...]
    html: HtmlPart | None
    extras: tuple[Fact, ...]
    warnings: tuple[str, ...]
    recommendations: tuple[str, ...]
    gates: tuple[str, ...]
    readiness: Readiness
    connector: str
    cost: str
    revision: int
    digest: str
    short_digest: str
    schedule: When | None
    expires: When | None
    expired: bool
    is_open: bool
    in_flight: bool
    sending: str
    approval: Approved | None
    approvals: str
    needs: str
    may_approve: bool
    rejection: str | None
    attempt: Attempted | None
    last_attempt: str
    executed: When | None
    external_id: str | None
    external_url: str | None
    history: tuple[Entry, ...]
    forms: dict[str, Form]


class Looking(msgspec.Struct, frozen=True):
    """Who looks, when, and what the page needs to make its forms."""

    assurance: Assurance
    name: str
    now_ms: int
    nonce: Callable[[Action, str], str]
    tried: Tried | None = None


def cards(found: RunReview, readiness: Mapping[str, Readiness], looking: Looking) -> tuple[Card, ...]:
    """Every action of a run, in the order in which they were staged."""
    history = review_history.entries(found.events, looking.now_ms)
    return tuple(
        _card(found, action, readiness.get(action.effect.connector), history, looking)
        for action in found.actions
    )


def _card(
    found: RunReview,
    action: Action,
    ready_now: Readiness | None,
    history: tuple[tuple[str | None, Entry], ...],
    looking: Looking,
) -> Card:
    effect, preflight, now_ms = action.effect, action.preflight, looking.now_ms
    job = found.send_jobs.get(action.action_id)
    then = Readiness(preflight.connector_ready, preflight.connector_blocker, preflight.connector_fix_hint)
    may_approve = review_words.may_approve(found.policy, preflight.severity, looking.assurance)
    sending = _sending(action, job, now_ms)
    return Card(
        action_id=action.action_id,
        title=review_words.title(effect),
        badge=review_words.status_badge(action, now_ms),
        severity=review_words.SEVERITIES[preflight.severity],
        severity_why=review_words.why_severe(action),
        happens=review_words.what_happens(effect),
        is_mail=review_words.is_mail(effect),
        effect=effect,
        body=review_text.pieces(effect.body),
        size=_size(effect.body),
        targets=review_text.targets(effect.body),
        html=_html(effect.html),
        extras=_extras(effect),
        warnings=preflight.warnings,
        recommendations=preflight.recommendations,
        gates=tuple(
            review_words.GATES.get(gate, gate.replace("_", " ").capitalize()) for gate in preflight.gates
        ),
        readiness=ready_now or then,
        connector=review_words.connector_name(effect.connector),
        cost=_cost(preflight.estimated_cost_credits),
        revision=action.revision,
        digest=action.digest,
        short_digest=short_digest(action.digest),
        schedule=when(action.schedule_ms, now_ms) if action.schedule_ms is not None else None,
        expires=when(action.expires_ms, now_ms) if action.expires_ms is not None else None,
        expired=action.expired(now_ms),
        is_open=state_of(action) in OPEN and not action.expired(now_ms),
        in_flight=bool(sending),
        sending=sending,
        approval=_approval(action, now_ms),
        approvals=_approvals(found, action),
        needs=review_words.needs(found.policy, preflight.severity),
        may_approve=may_approve,
        rejection=action.rejection,
        attempt=_attempt(action, now_ms),
        last_attempt=_text(action.metadata.get("lastAttempt")),
        executed=when(action.executed_ms, now_ms) if action.executed_ms is not None else None,
        external_id=action.external_id,
        external_url=_web_address(action.external_url),
        history=review_history.of_action(history, action.action_id),
        forms=_forms(action, looking, may_approve, in_flight=bool(sending)),
    )


def offered(action: Action, looking: Looking, may_approve: bool, *, in_flight: bool) -> tuple[str, ...]:
    """The decisions that a person can take about an action as it is now."""
    state = state_of(action)
    if state == UNKNOWN:
        return ("resolve",)
    if action.expired(looking.now_ms) or state not in OPEN:
        return ()
    if state == AWAITING:
        return ("approve", "edit", "reject")
    weaker = action.approval is not None and not suffices(action.approval.assurance, looking.assurance)
    confirm = ("approve",) if weaker and may_approve else ()
    send = ("send",) if may_approve and action.schedule_ms is None and not in_flight else ()
    return (*confirm, *send, "edit", "withdraw", "reject")


def _forms(action: Action, looking: Looking, may_approve: bool, *, in_flight: bool) -> dict[str, Form]:
    tried = (
        looking.tried if looking.tried is not None and looking.tried.action_id == action.action_id else None
    )
    found = {}
    for decision in offered(action, looking, may_approve, in_flight=in_flight):
        back = tried if tried is not None and tried.decision == decision else None
        found[decision] = Form(
            decision=decision,
            address=f"/runs/{action.run_id}/actions/{action.action_id}/{decision}",
            nonce=looking.nonce(action, decision),
            is_open=(back is not None and back.reopen) or decision == "resolve",
            values={
                "name": looking.name,
                **_content(action.effect),
                **(back.typed if back is not None else {}),
            },
            wrong=back.wrong if back is not None else {},
        )
    return found


def _content(effect: Effect) -> dict[str, str]:
    """What the edit form begins with."""
    return {
        "body": effect.body,
        "title": effect.title,
        "subject": effect.subject,
        "recipients": "\n".join(effect.recipients),
    }


def _sending(action: Action, job: SendJob | None, now_ms: int) -> str:
    """What is under way, in words, or nothing."""
    if state_of(action) == EXECUTING:
        return "It is being sent right now."
    if job is None or job.state not in IN_FLIGHT:
        return ""
    if job.due_ms > now_ms and action.schedule_ms is not None:
        return ""
    tried = f" The last try ended with: {job.last_error}." if job.last_error else ""
    return f"It is in the queue and goes out in a moment.{tried}"


def _approval(action: Action, now_ms: int) -> Approved | None:
    approval = action.approval
    if approval is None:
        return None
    return Approved(
        by=review_words.approved_by(approval),
        how=review_words.ASSURANCES[approval.assurance],
        at=when(approval.at_ms, now_ms),
        relayed=approval.assurance is Assurance.AGENT,
        people=approval.approvers,
    )


def _approvals(found: RunReview, action: Action) -> str:
    so_far = found.approvals.get(ActionId(action.action_id))
    if so_far is None or state_of(action) != AWAITING:
        return ""
    needed = found.policy.requirement(action.preflight.severity).approvers
    return f"{so_far} of {needed} people have approved so far."


def _attempt(action: Action, now_ms: int) -> Attempted | None:
    if action.attempt is None:
        return None
    detail = _text(action.metadata.get("lastAttempt"))
    return Attempted(when(action.attempt.started_ms, now_ms), action.provider_key, detail)


def _html(source: str) -> HtmlPart | None:
    if not source:
        return None
    return HtmlPart(
        review_text.pieces(review_text.html_text(source)),
        review_text.html_targets(source),
        review_text.pieces(source),
    )


def _extras(effect: Effect) -> tuple[Fact, ...]:
    """Everything else that is sent: nothing that an approval covers is left out."""
    facts = [Fact("Link", effect.link)] if effect.link else []
    facts += [Fact(f"Target: {name}", value) for name, value in (effect.target or {}).items()]
    facts += [
        Fact(media.kind.capitalize(), f"{media.url} ({media.alt or 'no description'})")
        for media in effect.media
    ]
    facts += [Fact(name, _text(value)) for name, value in effect.details.items()]
    return tuple(facts)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _size(body: str) -> str:
    words = len(body.split())
    return f"{len(body):,} characters, {words:,} word{'' if words == 1 else 's'}"


def _cost(credits: int) -> str:
    return "nothing" if credits == 0 else f"{credits} credit{'' if credits == 1 else 's'}"


def _web_address(url: str | None) -> str | None:
    return url if url is not None and url.startswith(("https://", "http://")) else None


def headline(shown: tuple[Card, ...], *, has_actions: bool) -> str:
    """What the page says first."""
    waiting = sum("approve" in card.forms and card.approval is None for card in shown)
    unknown = sum("resolve" in card.forms for card in shown)
    if waiting:
        return "One draft waits for you" if waiting == 1 else f"{waiting} drafts wait for you"
    if unknown:
        return "Was this sent? Please look and say"
    if any(card.in_flight for card in shown):
        return "On its way"
    if not has_actions:
        return "Nothing to approve here"
    if all(card.expired for card in shown):
        return "These drafts have expired" if len(shown) > 1 else "This draft has expired"
    return "Everything here is decided"


class Other(msgspec.Struct, frozen=True):
    """Something that a run made and that no action of it sends."""

    title: str
    body: tuple[Piece, ...]


def others(found: RunReview) -> tuple[Other, ...]:
    covered = {action.asset_id for action in found.actions}
    return tuple(
        Other(asset.title or asset.type, review_text.pieces(asset.body))
        for asset in found.assets
        if asset.asset_id not in covered
    )
