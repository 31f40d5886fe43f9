"""A run on the review page: each action with its content and all that is known about it, the headline, and the other
outputs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from assent.engine.actions.approvals import GivenApproval
from assent.engine.actions.hooks import Origin
from assent.engine.actions.remainder import AGAIN_AS
from assent.engine.actions.send_jobs import SendJob
from assent.engine.core.jobs import JobState
from assent.engine.views.review import Earlier, RunReview
from assent.extensions.effect_types import render_value
from assent.gate.effects import EffectTypes
from assent.gate.policy import counts
from assent.gate.preflight import Readiness, is_overdue
from assent.gate.records import (
    IMAGE,
    REASON,
    Action,
    Effect,
    Media,
    Status,
    find_stop,
    is_test,
    is_with_agent,
    list_change_requests,
    read_proposal,
)
from assent.gate.rules.drift import describe_change, read_changes
from assent.gate.transitions import APPROVED, AWAITING, EXECUTING, FAILED, UNKNOWN, state_of
from assent.gate.undo import UNDO_AS, is_spent, offer
from assent.gate.views import Field
from assent.kernel.canonical import short_digest
from assent.kernel.ids import ActionId
from assent.kernel.structs import Record
from assent.kernel.texts import to_text
from assent.present.cards import ManualBrief, manual_brief
from assent.present.notes import is_unsent
from assent.present.refusals import describe_freeze, explain_missing_type
from assent.present.status_report import describe_next_try
from assent.serving.web.connections.provider import find_connect_path
from assent.serving.web.review import content, naming
from assent.serving.web.review import history as review_history
from assent.serving.web.review.blocks import label_arguments
from assent.serving.web.review.content import Pictures, ReviewContent, as_text, build_content
from assent.serving.web.review.forms import (
    OPEN,
    Form,
    FormContext,
    build_forms,
    completes,
    list_fields,
    may_be_batched,
    permits,
    sends_at_once,
)
from assent.serving.web.review.history import HistoryEntry, capital
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.naming import UNSURE, VERBS, Verb
from assent.serving.web.shell.rendering import Badge
from assent.serving.web.shell.times import When, day_of, relative, when
from assent.serving.web.shell.unseen import UnseenPiece, pieces
from assent.serving.web.shell.word_diff import PAGE_STEPS, LabelledDiff, word_diff

# Differences between two revisions of an action, field by field. Pure.
#
# Compares every field of `Effect`, including fields added later.

LABELS: Final = {
    "channel": "Channel",
    "verb": "What is done",
    "connector": "Through",
    "sender": "From",
    "reply_to": "Reply to",
    "recipients": "To",
    "cc": "Cc",
    "visible": "They see each other",
    "subject": "Subject",
    "preheader": "Preview",
    "title": "Title",
    "target": "Goes to",
    "media": "Picture",
    "link": "Link",
    "details": "Details",
    "body": "Text",
    "html": "HTML part",
    "schedule_ms": "Schedule",
    "schedule_offset": "Time zone of the schedule",
}
"""Labels of the fields, in display order."""


def compare_fields(
    effects: EffectTypes,
    old: Effect,
    new: Effect,
    now_ms: int,
    steps: Steps | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[LabelledDiff, ...]:
    """`labels`: those of arguments, by name. The text form of arguments is not compared beside them."""
    has_arguments = bool(old.arguments or new.arguments)
    left_out = {"arguments", *(("body",) if has_arguments else ())}
    names = [*LABELS, *(name for name in Effect.__struct_fields__ if name not in LABELS)]
    of_arguments = _compare_arguments(old, new, steps, labels or {})
    return of_arguments + tuple(
        LabelledDiff(
            LABELS.get(name, name.replace("_ms", "").replace("_", " ").capitalize()),
            word_diff(_words(effects, name, before, now_ms), _words(effects, name, after, now_ms), steps),
        )
        for name in names
        if name not in left_out and (before := getattr(old, name)) != (after := getattr(new, name))
    )


def _compare_arguments(
    old: Effect, new: Effect, steps: Steps | None, labels: Mapping[str, str]
) -> tuple[LabelledDiff, ...]:
    return tuple(
        LabelledDiff(labels.get(name, name), word_diff(render_value(before), render_value(after), steps))
        for name in dict.fromkeys([*labels, *old.arguments, *new.arguments])
        if (before := old.arguments.get(name)) != (after := new.arguments.get(name))
    )


def _words(effects: EffectTypes, name: str, value: Any, now_ms: int) -> str:
    if name == "channel":
        return effects.page_label(value)
    if name == "connector":
        return effects.connector(value).label
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return when(value, now_ms).text if name.endswith("_ms") else str(value)
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {to_text(part)}" for key, part in value.items())
    if isinstance(value, tuple):
        return "\n".join(_picture(each) if isinstance(each, Media) else str(each) for each in value)
    return str(value)


def _picture(media: Media) -> str:
    """Identify a picture: two may share a description."""
    which = short_digest(media.digest) if media.digest else media.url
    return f"{media.kind}: {media.alt or 'no description'} ({which})"


class Approved(Record):
    by: str
    how: str
    at: When
    relayed: bool
    people: int


MOST_NAMED: Final = 3
USUAL: Final = 5
"""How many amounts it takes to call a range usual."""


class EarlierActions(Record):
    """An action beside those of its type that were executed before."""

    concerns: str
    same: int
    """How many of them were about the same person, account or recipient."""
    latest: tuple[tuple[Earlier, When], ...]
    today: str
    usual: str
    unusual: bool
    """Whether its amount is outside of what is usual."""


def compare_earlier(action: Action, earlier: Iterable[Earlier], now_ms: int) -> EarlierActions | None:
    """Return what a person who decides wants to know of earlier actions of the same type; None where there is
    nothing to say."""
    alike = [
        each
        for each in earlier
        if (each.type, each.tenant_id) == (action.effect.type, action.tenant_id)
        and each.action_id != action.action_id
    ]
    concerns, facets = action.effect.concerns, action.view.facets
    same = [each for each in alike if concerns and each.concerns == concerns]
    paid = [
        (each.executed_ms, money)
        for each in alike
        if each.facets.currency == facets.currency and (money := each.facets.money) is not None
    ]
    usual, today, unusual = "", "", False
    if (amount := facets.money) is not None:
        of_today = [money for at_ms, money in paid if day_of(at_ms) == day_of(now_ms)]
        today = f"{naming.say_amount(sum(of_today), facets.currency)} in {len(of_today)}" if of_today else ""
        amounts = sorted(money for _, money in paid)
        if len(amounts) >= USUAL:
            cut = len(amounts) // 10
            least, most = amounts[cut], amounts[-1 - cut]
            usual = f"{least:,f} to {naming.say_amount(most, facets.currency)}"
            unusual = not least <= amount <= most
    if not (same or usual or today):
        return None
    latest = tuple((each, when(each.executed_ms, now_ms)) for each in same[:MOST_NAMED])
    return EarlierActions(concerns, len(same), latest, today, usual, unusual)


class CardChanges(Record):
    since: str
    fields: tuple[LabelledDiff, ...]
    is_open: bool


class Card(Record, kw_only=True):
    """An action, and what a page says about it beyond its record."""

    action: Action
    action_id: str
    title: str
    """What an approval lets happen, in one line."""
    place: str
    channel: str
    """The channel's name."""
    risk: str
    approvers: tuple[str, ...]
    """The people who approved this content, as far as the server knows them."""
    needed: int
    """How many people must approve it."""
    given: int
    """How many approvals there are that count."""
    own_yes: bool
    """Whether one of them is that of this viewer."""
    completes: bool
    """Whether the approval of this viewer would be the last one that is missing."""
    is_step: bool
    """Whether it is a step of a workflow, which is never sent."""
    with_agent: bool
    """Whether its agent is to change it."""
    via: str
    """The connector's name within a sentence."""
    undo_seconds: int
    """How long what is approved here can be undone."""
    undo: str
    """When what is approved here is sent, and until when that can be undone."""
    doubt: str
    """Why it is not known whether it happened, or an empty text."""
    badge: Badge
    severity_why: str
    sends: bool
    at_once: bool
    """Whether the approval also executes it."""
    barred: bool
    """Whether the approval would execute it, which this link may not."""
    is_function: bool
    gone: str
    """Why it cannot be executed any more, or an empty text."""
    brief: ManualBrief | None
    keeps_requests: bool
    """Whether an edit may include a request for later drafts."""
    reason: str
    """Why its agent wants it, in the agent's words."""
    earlier: EarlierActions | None
    content: ReviewContent
    fields: tuple[Field, ...]
    origins: tuple[Origin, ...]
    """What is stored that changed the draft."""
    changes: CardChanges | None
    drift: tuple[str, ...]
    """What has changed since it was approved or shown, in words."""
    wishes: list[dict[str, Any]]
    look_at: str
    """The address where a person sees whether it happened."""
    pictures: Pictures
    gates: tuple[str, ...]
    readiness: Readiness
    connect: str
    """The path where it is connected, or an empty text."""
    sign_in: str
    """The address that signs in and leads back to this run."""
    cost: str
    overdue: bool
    expires: When | None
    expired: bool
    is_open: bool
    in_flight: bool
    sending: str
    approval: Approved | None
    approvals: str
    approved_by_some: bool
    """Whether some of several people have approved it."""
    needs: str
    may_approve: bool
    failed: bool
    refused: str
    """Why it failed, in one sentence."""
    again_as: str
    """The action as which its effect was staged again, or an empty text."""
    undo_as: str
    """The action that takes it back or did, or an empty text."""
    undo_offer: str
    """Until when it can be undone, and what that leaves."""
    attempted: When | None
    attempt_detail: str
    last_attempt: str
    executed: When | None
    external_id: str | None
    external_url: str | None
    history: tuple[HistoryEntry, ...]
    waiting: bool
    unsent: bool
    """Approved, but no job sends it."""
    scheduled: bool
    missing: str
    """What must be added before it can be approved, or an empty text."""
    unknown: bool
    may_send: bool
    stopped: str
    """Why nothing is sent now, or an empty text."""
    forms: dict[str, Form]

    @property
    def is_mine(self) -> bool:
        """Whether it waits for the decision of this viewer."""
        return self.waiting and not self.with_agent and not self.own_yes

    @property
    def ball(self) -> str:
        """Who has to do something next: this viewer, others, the agent, the server or nobody."""
        if self.undecided or self.failed or (self.unsent and (self.brief or self.last_attempt)):
            return "you"
        if (
            self.with_agent
            or (self.unsent and not self.stopped)
            or (self.is_step and self.is_open and self.approval)
        ):
            return "agent"
        if self.waiting:
            return "others"
        return "server" if self.in_flight or self.scheduled or self.unsent else "nobody"

    @property
    def undecided(self) -> bool:
        """Whether it still needs an answer of this viewer."""
        return self.is_mine or self.unknown

    @property
    def verb(self) -> Verb:
        return VERBS[self.is_function]


GATES: Final = {
    "recipients_missing": "It has recipients (none are named yet)",
    "connector_not_ready": "Its connection is ready (it was not when this was prepared)",
}


def _find_reverse(found: RunReview, action: Action, now_ms: int) -> str:
    """Return the id of the action's reverse, if that can still happen or has happened."""
    known = action.metadata.get(UNDO_AS)
    reverse = next((each for each in found.actions if each.action_id == known), None)
    if reverse is None or is_spent(reverse, now_ms, test=is_test(action)):
        return ""
    return reverse.action_id


def build_card(
    found: RunReview,
    action: Action,
    ready_now: Readiness | None,
    history: tuple[tuple[str | None, HistoryEntry], ...],
    looking: FormContext,
    steps: Steps,
) -> Card:
    view, preflight, now_ms = action.view, action.preflight, looking.now_ms
    job = found.send_jobs.get(action.action_id)
    then = Readiness(preflight.connector_ready, preflight.connector_blocker, preflight.connector_fix_hint)
    needed = found.policy.require(action)
    may_approve = not needed.denied and counts(looking.voice, needed, action)
    stopped = describe_freeze(find_stop(found.frozen, action), action)
    sending = _sending(action, None if stopped else job, now_ms)
    pictures = content.of_action(found, action)
    given, verb = found.approvals.get(ActionId(action.action_id), ()), VERBS[naming.is_function(action)]
    own_yes = bool(looking.approver) and any(yes.approver == looking.approver for yes in given)
    return Card(
        action=action,
        action_id=action.action_id,
        title=naming.say_effect(action),
        place=action.view.place or naming.say_place(action),
        channel=view.label or view.via,
        risk=preflight.severity.value,
        approvers=_list_approvers(action, given),
        needed=needed.approvers,
        given=len(given),
        own_yes=own_yes,
        completes=completes(needed, given, looking.voice, action),
        is_step=action.is_step,
        with_agent=is_with_agent(action),
        via=naming.name_inside(view.via),
        undo_seconds=looking.undo_seconds,
        undo=naming.explain_undo(verb, looking.undo_seconds),
        doubt=naming.explain_doubt(action) if state_of(action) == UNKNOWN else "",
        badge=naming.status_badge(action, now_ms, len(given), needed.approvers),
        severity_why=naming.explain_severity(action),
        sends=view.executes == "server",
        at_once=sends_at_once(action) and not stopped,
        barred=view.approval_executes and not permits(looking.scope, "send"),
        is_function=naming.is_function(action),
        gone=explain_missing_type(looking.effects, action),
        brief=manual_brief(action.effect, view) if view.executes == "person" else None,
        keeps_requests=action.keeps_requests,
        reason=as_text(action.metadata.get(REASON)),
        earlier=compare_earlier(action, found.earlier, now_ms),
        content=build_content(action, now_ms, pictures.along, steps),
        fields=list_fields(action),
        origins=found.origins.get(action.asset_id or "", ()),
        changes=_changes(found, action, looking, steps),
        drift=tuple(capital(describe_change(each)) for each in read_changes(action)),
        wishes=list_change_requests(action),
        look_at=naming.web_address(view.look_at) or "",
        pictures=pictures,
        gates=tuple(map(_name_gate, filter("human_approval".__ne__, preflight.gates))),
        readiness=ready_now or then,
        sign_in=f"/sign-in?then=/runs/{action.run_id}",
        connect=find_connect_path(
            looking.effects.connectors.get(action.effect.connector), action.workspace_id
        ),
        cost=naming.cost(preflight.estimated_cost_credits),
        overdue=is_overdue(action, now_ms) and not stopped,
        expires=when(action.expires_ms, now_ms),
        expired=action.is_expired(now_ms),
        is_open=state_of(action) in OPEN and not action.is_expired(now_ms),
        in_flight=bool(sending),
        sending=sending,
        approval=_approval(found, action, now_ms),
        approvals=_approvals(found, action, now_ms),
        approved_by_some=bool(given),
        needs=naming.needs(needed),
        may_approve=may_approve,
        failed=state_of(action) == FAILED,
        refused=as_text(action.metadata.get("lastAttempt")) or f"{view.via} rejected it.",
        again_as=as_text(action.metadata.get(AGAIN_AS)),
        undo_as=_find_reverse(found, action, now_ms),
        undo_offer=offer(action, now_ms),
        attempted=when(action.attempt.started_ms, now_ms) if action.attempt is not None else None,
        attempt_detail=as_text(action.metadata.get("lastAttempt")),
        last_attempt=_last_attempt(action, job, now_ms, stopped),
        executed=when(action.executed_ms, now_ms),
        external_id=action.external_id if view.executes != "agent" else None,
        external_url=naming.web_address(action.external_url),
        history=review_history.of_action(history, action.action_id),
        waiting=state_of(action) == AWAITING and not action.is_expired(now_ms),
        unsent=is_unsent(action, now_ms) or bool(stopped and state_of(action) == APPROVED),
        scheduled=action.status is Status.APPROVED and (action.schedule_ms or 0) > now_ms,
        missing=naming.missing(action),
        unknown=state_of(action) == UNKNOWN,
        may_send=permits(looking.scope, "send") and not stopped,
        stopped=stopped,
        forms=build_forms(
            action,
            looking,
            may_approve,
            in_flight=bool(sending or stopped),
            own_yes=own_yes,
        ),
    )


def _name_gate(gate: str) -> str:
    return GATES.get(gate, gate.replace("_", " ").capitalize())


def _sending(action: Action, job: SendJob | None, now_ms: int) -> str:
    """Describe the sending that is under way, or an empty text."""
    if state_of(action) == EXECUTING:
        return "It runs right now." if naming.is_function(action) else "It is being sent right now."
    if job is not None and job.under_way(now_ms):
        then = "starts" if naming.is_function(action) else "goes out"
        return f"It is in the queue and {then} in a moment."
    return ""


def _last_attempt(action: Action, job: SendJob | None, now_ms: int, stopped: str) -> str:
    """Describe how the last attempt ended and when the next one starts."""
    if job is not None and job.last_error and job.state in (JobState.WAITING, JobState.DEAD):
        waits = job.state is JobState.WAITING
        again = f" It is tried again {relative(job.due_ms - now_ms)}." if waits and not stopped else ""
        return f"{job.last_error}{again}"
    said = as_text(action.metadata.get("lastAttempt"))
    again = describe_next_try(action, now_ms) if not stopped else ""
    return f"{said.removesuffix('.')}. {again}" if said and again else said


def _approval(found: RunReview, action: Action, now_ms: int) -> Approved | None:
    approval = action.approval
    if approval is None:
        return None
    made = (
        msgspec.json.decode(each.body) for each in reversed(found.events) if each.kind == "action_approve"
    )
    via = next((facts.get("via", "") for facts in made if facts.get("actionId") == action.action_id), "")
    return Approved(
        by=naming.name_approver(approval),
        how=naming.describe_assurance(approval, via),
        at=when(approval.at_ms, now_ms),
        relayed=approval.claim in UNSURE,
        people=approval.approvers,
    )


def _list_approvers(action: Action, given: Iterable[GivenApproval]) -> tuple[str, ...]:
    names = dict.fromkeys(each.name for each in given)
    if action.approval is not None and action.approval.claim not in UNSURE:
        names[action.approval.by] = None
    return tuple(names)


def _approvals(found: RunReview, action: Action, now_ms: int) -> str:
    so_far = found.approvals.get(ActionId(action.action_id))
    if so_far is None or state_of(action) != AWAITING:
        return ""
    return naming.count_approvals(found.policy.require(action), so_far, now_ms)


def _changes(found: RunReview, action: Action, looking: FormContext, steps: Steps) -> CardChanges | None:
    """The changes since this person approved the action or this browser last showed it, else those of
    the last edit."""
    before = found.revisions.get(ActionId(action.action_id), {})
    seen = looking.seen.get(action.action_id)
    own = found.approved.get(ActionId(action.action_id), {}).get(looking.approver)
    if own is not None and own < action.revision and own in before:
        old, since, is_open = before[own], "since you approved it", True
    elif seen is not None and seen < action.revision and seen in before:
        old, since, is_open = before[seen], "since you last looked", True
    elif action.revision - 1 in before:
        old, since, is_open = before[action.revision - 1], "in the last edit", False
    else:
        return None
    fields = compare_fields(
        looking.effects, old, action.effect, looking.now_ms, steps, label_arguments(action)
    )
    return CardChanges(since, fields, is_open)


def cards(found: RunReview, readiness: Mapping[str, Readiness], looking: FormContext) -> tuple[Card, ...]:
    """Every action of a run, in staging order."""
    naming.know_agents({said.caller: said.label for said in map(read_proposal, found.actions)})
    history = review_history.entries(found.events, looking.now_ms)
    steps = Steps(PAGE_STEPS)
    return tuple(
        build_card(found, action, readiness.get(action.action_id), history, looking, steps)
        for action in found.actions
    )


def headline(shown: tuple[Card, ...], *, has_actions: bool) -> str:
    """The headline: what waits for a decision, else the outcome. A run with one draft is named after it."""
    mine = sum(card.is_mine for card in shown)
    if mine:
        if len(shown) == 1:
            return shown[0].title
        return "One draft waits for you" if mine == 1 else f"{mine} drafts wait for you"
    if any(card.unknown for card in shown):
        return "Was this done?" if any(c.is_function for c in shown if c.unknown) else "Did this go out?"
    if any(card.in_flight for card in shown):
        return "On its way"
    if not has_actions:
        return "Nothing to approve here"
    if any(card.with_agent for card in shown):
        return "Your agent is asked to change this"
    if any(card.waiting for card in shown):
        return "You approved this; another person must, too"
    if all(card.expired for card in shown):
        return "These drafts have expired" if len(shown) > 1 else "This draft has expired"
    return _outcome(shown)


def list_rest(found: RunReview, shown: tuple[Card, ...]) -> tuple[str, ...]:
    """The ids of the drafts that this person may decide together, if they are several."""
    open_ones = {card.action_id for card in shown if card.waiting and "approve" in card.forms}
    rest = [each.action_id for each in found.actions if each.action_id in open_ones and may_be_batched(each)]
    return tuple(rest) if len(rest) > 1 else ()


def _outcome(shown: tuple[Card, ...]) -> str:
    """The outcome of actions that are all decided, worst first."""
    done = "run" if all(card.is_function for card in shown) else "sent"
    for became, one, several in (
        ([card for card in shown if card.failed], "did not go out", "did not go out"),
        (
            [card for card in shown if card.unsent],
            f"is approved and not {done} yet",
            f"are approved and not {done} yet",
        ),
        ([card for card in shown if card.scheduled], "goes out at its time", "go out at their time"),
    ):
        if became:
            return _say(became, shown, one, several)
    went = [card for card in shown if card.executed]
    if went:
        return _say(went, shown, f"{_verb(went)}", f"{_verb(went)}")
    rejected = [card for card in shown if card.action.rejection is not None]
    if len(rejected) == len(shown):
        return _say(rejected, shown, "was rejected", "were rejected")
    passed = [card for card in shown if card.is_step and card.approval]
    if passed:
        return _say(passed, shown, "is approved", "are approved")
    return f"{len(rejected)} rejected, {sum(card.expired for card in shown)} expired"


def _say(became: list[Card], shown: tuple[Card, ...], one: str, several: str) -> str:
    if len(shown) == 1:
        noun = became[0].content.noun.removeprefix("your ").removeprefix("Your ")
        # The name of a function is often a phrase: “Throw goods away” is done.
        is_phrase = became[0].is_function and noun[:1].isupper()
        return f"“{noun}” {one}" if is_phrase else f"This {noun} {one}"
    if len(became) == len(shown):
        return f"All {len(shown)} {several}"
    return f"One of {len(shown)} {one}" if len(became) == 1 else f"{len(became)} of {len(shown)} {several}"


def _verb(went: list[Card]) -> str:
    return (
        "went out"
        if all((card.sends or card.brief) and not card.is_function for card in went)
        else "is done"
        if len(went) == 1
        else "are done"
    )


def others(found: RunReview) -> tuple[tuple[str, tuple[UnseenPiece, ...]], ...]:
    """The outputs of a run that no action sends: their titles and texts."""
    covered = {action.asset_id for action in found.actions}
    return tuple(
        (asset.title or asset.type, pieces(asset.body))
        for asset in found.assets
        if asset.asset_id not in covered and asset.type != IMAGE
    )
