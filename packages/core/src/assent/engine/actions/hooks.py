"""What follows from a change of an action, inside the transaction that changes it.

Memory, measurement, credits, undo, pictures, notifications and webhooks subscribe here, in the order of one table that
the composition root provides (`assent.subscribers`). Staging, decisions, execution and recording know the table alone.

A subscriber is a generator of statements. It is pure, because a store may run a transaction again; and idempotent,
because its work may be repeated. Only code of this server subscribes: it could break the promises of the core.
Others get events after the commit (`assent.engine.webhooks`).

`weigh`, `staged`, `decided` and `claimed` come before anything has happened: a subscriber may raise a `Refusal`, and
nothing is stored. `approval_ended`, `settled` and `erased` record what is so already, an effect in the world above
all. A fault there must not undo the record. The subscribers run in a guarded part of the transaction (`Guarded`); after
a fault each runs alone, and one that fails again is logged and repeated by a job, with the action as it is then and
the version of the change that it follows.

`results`, `origins`, `status` and `account` add what a subscriber knows to what the core reads for people and agents.
They change nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Literal

import msgspec

from assent.engine.actions import actions
from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobFailed
from assent.engine.core.services import StoreServices
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, Asset
from assent.gate.transitions import Move
from assent.kernel.guide import SuggestedCall
from assent.kernel.ids import SYSTEM_WORKSPACE, ActionId, RunId, WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Guarded, Picture, Transaction
from assent.sql.loader import statements

log = logging.getLogger("assent.hooks")

REPEAT_JOB: Final = "repeat_subscriber"


class Listener(Record):
    """A target of notifications, or with a URL a subscription to events, and what it wants to hear of."""

    workspace_id: WorkspaceId
    listener_id: str
    wants: tuple[str, ...]
    url: str
    kind: str = ""
    """The kind of its notifier."""


class Staged(Record, kw_only=True):
    """Actions of a run now wait for a decision."""

    workspace_id: WorkspaceId
    run_id: RunId
    actions: tuple[Action, ...]
    at_ms: int
    assets: tuple[Asset, ...] = ()
    pictures: tuple[Picture, ...] = ()
    proposer: str = ""
    """Who proposed them; empty if they follow from another action or from a step of a workflow."""
    held: int | None = None
    """How much of the proposer was held already, if these are held, too (`assent.engine.actions.flood`)."""
    listeners: tuple[Listener, ...] = ()
    """Who may hear of it, read once for all subscribers."""


class Decided(Record, kw_only=True):
    """An action was approved, rejected or edited."""

    before: Action
    action: Action
    move: Move
    facts: dict[str, Any]
    at_ms: int
    first: bool = False
    """For an approval: whether the action waited until now."""
    changed: tuple[str, ...] = ()
    """For an edit: the names of what it changed in the content."""
    asked: str = ""
    """For an edit: what the reviewer asked for in later drafts."""
    listeners: tuple[Listener, ...] = ()
    """Who may hear of it, read once for all subscribers."""


class ApprovalEnded(Record, kw_only=True):
    """The approval of a revision of this action counts no longer."""

    action: Action
    revision: int
    move: Move
    decided: bool
    """Whether a person decided so."""
    at_ms: int
    listeners: tuple[Listener, ...] = ()
    """Who may hear of it, read once for all subscribers."""


class Settled(Record, kw_only=True):
    """The outcome of an action was recorded: delivered, not sent or unknown, by its state."""

    action: Action
    move: Move
    facts: dict[str, Any]
    at_ms: int
    listeners: tuple[Listener, ...] = ()
    """Who may hear of it, read once for all subscribers."""


class Erased(Record, kw_only=True):
    """The content of an action was replaced by a notice."""

    action: Action
    notice: str
    pictures: tuple[str, ...]
    """The digests of pictures that nothing else of its run shows."""
    at_ms: int


class ChannelResult(Record):
    """What a channel brought, in words, and the number by which it can be compared with others of that channel."""

    words: str
    counted: str = ""
    count: float = 0


class RunResult(Record, kw_only=True):
    """What became of a run that went out."""

    due_ms: int
    """When its results are read, or were to be read."""
    read_ms: int | None = None
    summary: str = ""
    """The best of it in a few words: `1,840 views on LinkedIn`."""
    channels: dict[str, ChannelResult] = {}
    advice: tuple[str, str] | None = None
    """What to do next, and why."""

    @property
    def is_read(self) -> bool:
        return self.read_ms is not None


class Origin(Record):
    """Something stored that changed a draft, and how."""

    kind: str
    text: str
    how: str
    source: str
    proposed: bool
    """Whether no person has confirmed it."""


class StatusQuery(Record, kw_only=True):
    """A report of how a workspace is."""

    workspace_id: WorkspaceId
    tenant_id: str | None
    """The one tenant that it is about; None for all."""
    effects: EffectTypes
    since_ms: int
    """How far back it goes."""
    now_ms: int


class StatusPart(Record, kw_only=True):
    """What is added to a report of how a workspace is."""

    extra: dict[str, Any]
    """Fields of the answer, by their names."""
    said: str = ""
    """A sentence after the counts."""
    shown: tuple[str, ...] = ()
    """Paragraphs of Markdown."""
    next: tuple[SuggestedCall, ...] = ()
    """Calls that are due, after those about open actions."""


class Subscriber(Record, kw_only=True):
    """What one part of the server does after each change, and what it adds to what is read."""

    name: str
    weigh: Callable[[WorkspaceId, tuple[Action, ...]], Transaction[tuple[Action, ...]]] | None = None
    """Adds gates and warnings to actions that are about to be stored."""
    staged: Callable[[Staged], Transaction[None]] | None = None
    decided: Callable[[Decided], Transaction[None]] | None = None
    claimed: Callable[[Action, str, int], Transaction[None]] | None = None
    """Takes an approved action that is about to be sent, by whom, and when."""
    approval_ended: Callable[[ApprovalEnded], Transaction[None]] | None = None
    settled: Callable[[Settled], Transaction[None]] | None = None
    erased: Callable[[Erased], Transaction[None]] | None = None
    results: (
        Callable[[WorkspaceId, tuple[str, ...], EffectTypes], Transaction[dict[str, RunResult]]] | None
    ) = None
    """Returns what became of some runs, by their ids."""
    origins: Callable[[tuple[Asset, ...]], Transaction[dict[str, tuple[Origin, ...]]]] | None = None
    """Returns what changed some drafts, by their ids."""
    status: Callable[[StatusQuery], Transaction[StatusPart]] | None = None
    account: Callable[[WorkspaceId], Transaction[dict[str, Any]]] | None = None
    """Returns facts about a workspace, by their names."""


class _Table:
    """The subscribers of this process, loaded at the first change."""

    def __init__(self) -> None:
        self.load: Callable[[], tuple[Subscriber, ...]] | None = None
        self._loaded: tuple[Subscriber, ...] | None = None

    def read(self) -> tuple[Subscriber, ...]:
        if self._loaded is None:
            if self.load is None:
                raise RuntimeError("no table of subscribers was provided")
            self._loaded = self.load()
        return self._loaded


_table: Final = _Table()


def provide(load: Callable[[], tuple[Subscriber, ...]]) -> None:
    """Say once, at the start, where the table is. It is loaded at the first change, because it loads slowly."""
    _table.load = _table.load or load


def weigh(workspace_id: WorkspaceId, staged: tuple[Action, ...]) -> Transaction[tuple[Action, ...]]:
    """Return actions with the gates and warnings that subscribers add before they are stored."""
    for each in _table.read():
        if each.weigh is not None:
            staged = yield from each.weigh(workspace_id, staged)
    return staged


def read_results(
    workspace_id: WorkspaceId, run_ids: Iterable[str], effects: EffectTypes
) -> Transaction[dict[str, RunResult]]:
    """Return what became of those of these runs that went out."""
    found: dict[str, RunResult] = {}
    for each in _table.read():
        if each.results is not None:
            found |= yield from each.results(workspace_id, tuple(run_ids), effects)
    return found


def gives_results() -> bool:
    """Whether anything reads what became of a run."""
    return any(each.results is not None for each in _table.read())


def read_origins(assets: tuple[Asset, ...]) -> Transaction[dict[str, tuple[Origin, ...]]]:
    """Return what changed these drafts, by their ids."""
    found: dict[str, tuple[Origin, ...]] = {}
    for each in _table.read():
        if each.origins is not None:
            found |= yield from each.origins(assets)
    return found


def read_status(query: StatusQuery) -> Transaction[tuple[StatusPart, ...]]:
    found = []
    for each in _table.read():
        if each.status is not None:
            found.append((yield from each.status(query)))
    return tuple(found)


def read_account(workspace_id: WorkspaceId) -> Transaction[dict[str, Any]]:
    """Return what subscribers know about a workspace, by the names of the facts."""
    found: dict[str, Any] = {}
    for each in _table.read():
        if each.account is not None:
            found |= yield from each.account(workspace_id)
    return found


def list_listeners(workspace_id: WorkspaceId) -> Transaction[tuple[Listener, ...]]:
    """Return who may hear of a change in a workspace."""
    rows = yield statements.list_listeners(workspace_id=workspace_id, server=SYSTEM_WORKSPACE)
    return tuple(
        Listener(
            row["workspace_id"], row["listener_id"], tuple(row["wants"].split()), row["url"], row["kind"]
        )
        for row in rows
    )


def on_staged(event: Staged, *, heard: bool = True) -> Transaction[None]:
    """Tell the subscribers. Here and below, without `heard` nobody can listen, and nobody is looked for."""
    listeners = (yield from list_listeners(event.workspace_id)) if heard else ()
    event = msgspec.structs.replace(event, listeners=listeners)
    for each in _table.read():
        if each.staged is not None:
            yield from each.staged(event)


def on_offered(event: Staged) -> Transaction[None]:
    """As `on_staged`, for what is left of an effect that has happened. A fault is logged, and nothing repeats it: the
    action waits either way."""
    failed = yield Guarded(begin=partial(on_staged, event))
    if failed:
        log.error("a subscriber failed about what is left of an effect", exc_info=failed[0][0])


def on_decided(event: Decided, *, heard: bool = True) -> Transaction[None]:
    listeners = (yield from list_listeners(event.action.workspace_id)) if heard else ()
    event = msgspec.structs.replace(event, listeners=listeners)
    for each in _table.read():
        if each.decided is not None:
            yield from each.decided(event)


def on_claimed(action: Action, by: str, at_ms: int) -> Transaction[None]:
    for each in _table.read():
        if each.claimed is not None:
            yield from each.claimed(action, by, at_ms)


def on_approval_ended(event: ApprovalEnded) -> Transaction[None]:
    return _run_guarded("approval_ended", event)


def on_settled(event: Settled, *, heard: bool = True) -> Transaction[None]:
    return _run_guarded("settled", event, heard=heard)


def on_erased(event: Erased) -> Transaction[None]:
    return _run_guarded("erased", event)


GuardedHook = Literal["approval_ended", "settled", "erased"]
GuardedEvent = ApprovalEnded | Settled | Erased
_EVENTS: Final[dict[str, type[GuardedEvent]]] = {
    "approval_ended": ApprovalEnded,
    "settled": Settled,
    "erased": Erased,
}


def _run_guarded(hook: GuardedHook, event: GuardedEvent, *, heard: bool = True) -> Transaction[None]:
    calls = _list_calls(hook)
    event = (yield from _with_listeners(event)) if heard else event
    failed = yield Guarded(begin=partial(_run_all, tuple(calls.values()), event))
    if not failed:
        return
    for name, call in calls.items():
        failed = yield Guarded(begin=partial(call, event))
        if not failed:
            continue
        log.error("%s failed after %s of an action; a job repeats it", name, hook, exc_info=failed[0][0])
        action = event.action
        kept = {name: msgspec.to_builtins(getattr(event, name)) for name in _list_kept(type(event))}
        yield from jobs.enqueue(
            action.workspace_id,
            REPEAT_JOB,
            f"{hook}:{name}:{action.action_id}:{action.version}",
            {
                "hook": hook,
                "subscriber": name,
                "actionId": action.action_id,
                "version": action.version,
                "event": kept,
            },
            due_ms=event.at_ms,
            now_ms=event.at_ms,
        )


def _list_kept(kind: type[Record]) -> dict[str, Any]:
    """Return the fields of an event that a job keeps, with their types. The others are read again."""
    fields = msgspec.structs.fields(kind)
    return {field.name: field.type for field in fields if field.name not in ("action", "listeners")}


def _with_listeners(event: GuardedEvent) -> Transaction[GuardedEvent]:
    if isinstance(event, Erased):
        return event
    listeners = yield from list_listeners(event.action.workspace_id)
    return msgspec.structs.replace(event, listeners=listeners)


def _list_calls(hook: GuardedHook) -> dict[str, Callable[[Any], Transaction[None]]]:
    return {each.name: call for each in _table.read() if (call := getattr(each, hook)) is not None}


def _run_all(calls: tuple[Callable[[Any], Transaction[None]], ...], event: Any) -> Transaction[None]:
    for call in calls:
        yield from call(event)


async def repeat(services: StoreServices, job: Job) -> None:
    """Handle the job: make up for the work of a subscriber that failed."""
    await services.store.write(partial(_repeat, job))


def _repeat(job: Job) -> Transaction[None]:
    said = job.payload
    call = _list_calls(said["hook"]).get(said["subscriber"])
    if call is None:
        raise JobFailed(f"there is no subscriber {said['subscriber']} of {said['hook']} any more")
    action = yield from actions.lock_known(job.workspace_id, ActionId(said["actionId"]))
    if action is None:
        return
    # What subscribers make of it has its number, not that of a later change: it is made once.
    action = msgspec.structs.replace(action, version=said["version"])
    kind = _EVENTS[said["hook"]]
    kept = {name: msgspec.convert(said["event"][name], known) for name, known in _list_kept(kind).items()}
    yield from call((yield from _with_listeners(kind(action=action, **kept))))
