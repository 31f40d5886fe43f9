"""The parts of a process that engine, tools and pages use. The composition root makes them all, as `Services`.

A function names the smallest part that has what it uses; the type checker keeps it from anything else:

    StoreServices       the store, the time, new ids
    EffectServices      beside them what describes, checks and observes an effect: types, connectors, limits, links
    ExecutionServices   beside them what decides and sends: the seals, and the jobs that follow
    MessageServices     the store, and what a message to the outside needs: the vault, the network, links, jobs
    Services            all of it
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from assent.engine.core.callers import SeenCallers
from assent.engine.core.connection_store import ConnectionStore
from assent.engine.core.rate import RateLimiter, Window, mails_window
from assent.engine.core.server_keys import ServerKeys
from assent.engine.core.vault import Vault
from assent.engine.core.waits import ShieldedTasks, Waits
from assent.gate.effects import EffectTypes
from assent.gate.records import Freeze
from assent.gate.review_link import Scope
from assent.gate.webhooks import WebhookReply
from assent.kernel import ids
from assent.kernel.ids import RunId, WorkspaceId
from assent.net.loopback import is_loopback
from assent.ports import Clock, Connector, Notifier, Store, Transaction
from assent.sql.loader import statements

if TYPE_CHECKING:
    from assent.engine.definitions.library import WorkflowLibrary
    from assent.gate.audit import Verdict
    from assent.net.outgoing import FetchedPage


LEASE_MARGIN_SECONDS: Final = 5.0
"""Time to record the outcome, after a connector's own time limit."""


@dataclass(frozen=True, slots=True)
class SendLimits:
    """Limits, durations and prices of preparing and sending, from the settings."""

    storage_quota_bytes: int
    """How many bytes the calls of a workspace may store in a day."""
    held_after: int
    """How many waiting proposals of one caller people are asked about one by one."""
    credit_prices: Mapping[str, int]
    """The cost of an action by its connector, where its operator names no price."""
    connector_timeout_seconds: float
    execution_lease_seconds: float
    undo_ms: int
    """How long an approval on a page that also sends can be undone."""
    measure_after_ms: int

    def timeout_for(self, connector: Connector | None) -> float:
        """How long a connector may take: its own limit, else that of the settings."""
        own: float | None = getattr(connector, "timeout_seconds", None)
        return self.connector_timeout_seconds if own is None else own

    def lease_ms_for(self, connector: Connector | None) -> int:
        """How long a claim holds: always longer than the call may take."""
        own: float | None = getattr(connector, "timeout_seconds", None)
        seconds = self.execution_lease_seconds
        return int(1000 * (seconds if own is None else max(seconds, own + LEASE_MARGIN_SECONDS)))


@dataclass(frozen=True, slots=True)
class Limits(SendLimits):
    """The limits of callers and visitors, too."""

    rate_limiter: RateLimiter
    calls: Window
    signups: Window
    page_limiter: RateLimiter
    """Counts page requests in this process: looking at a page writes nothing."""
    pages: Window
    long_run_seconds: float
    """How long a call with a webhook waits for its result."""
    client_dialog_seconds: float
    """How long a client's dialog may stay open; 0 for no dialogs."""
    reserved_names: frozenset[str]
    """Folded names that no sign-up may give a workspace: those of the settings."""
    policy: str | None
    """The preset of new workspaces; None for that of the default workspace."""

    async def count_mail(self, kind: str, workspace_id: WorkspaceId, email: str, now_ms: int) -> None:
        """Count a mail of the server to an address. Raises `rate_limited` above `SERVER_MAILS_PER_HOUR` of this kind
        and workspace."""
        to = hashlib.sha256(email.strip().lower().encode()).hexdigest()  # a counter keeps no address
        await self.rate_limiter.count(mails_window(kind), workspace_id, f"to {to}", now_ms)

    @property
    def signup_open(self) -> bool:
        """Whether people can ask for a workspace of their own."""
        return self.signups.most > 0


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The addresses and commands by which people and clients reach this server."""

    page_address: Callable[[], str | None]
    """The URL of the pages, or None when no process on this store serves them."""
    find_pages: Callable[[], Awaitable[None]] | None
    """Finds the pages before a call that may hand out a link; None if the settings name them."""
    link_note: Callable[[], str | None]
    """A note beside a link that will not last; None where links do."""
    configured_url: str
    """The address of this server by its settings."""
    review_url: Callable[[WorkspaceId, RunId, int, Scope], str]
    """Returns the signed link to a run with the receiver's rights. Empty without a page server: the
    token would go to the program that holds the port."""
    shell_command: Callable[..., str]
    """A command of this installation on the same data, for a person to paste into a terminal."""
    client_entry: Callable[[Mapping[str, str]], dict[str, Any]] | None
    """Returns the client configuration of a process on the same data, with these variables. None on PostgreSQL, where
    a client's file would have to hold the secrets of the server."""
    phone_url: str = ""
    """The base URL, if other devices can reach it."""
    bound_here: bool = False
    """Whether the listener is bound to loopback, without a proxy before it."""

    @property
    def base_url(self) -> str:
        """The base URL of pages and pictures."""
        return self.page_address() or self.configured_url

    @property
    def only_here(self) -> bool:
        """Whether only this machine reaches the pages: its people and programs may see its paths and metrics."""
        return self.bound_here and is_loopback(urlsplit(self.base_url).hostname or "")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Calls to the network that go through no connector."""

    fetch_page: Callable[[str], Awaitable[FetchedPage]]
    """Fetches a public page under the SSRF rules. Raises `FetchRefused`."""
    screen_webhook: Callable[[str], str | None]
    """Returns why a URL can never get a delivery, in words, or None. Makes no DNS request."""
    webhook_host: Callable[[str], str]
    """Returns the host of a webhook URL; empty if the URL is invalid."""
    post_webhook: Callable[[str, bytes, Mapping[str, str]], Awaitable[WebhookReply]]
    """One POST to a webhook, with bounded size and time. Raises no exception of the network."""
    can_send_notes: Callable[[], Awaitable[bool]]
    """Returns whether a mail server for notes is set up."""
    send_note: Callable[[str, str, str, str], Awaitable[None]]
    """Mails a note of the server (to, subject, text, key). Raises `NotSent`, `OutcomeUnknown`."""


@dataclass(frozen=True, slots=True)
class Background:
    """Work that outlives a call, and calls that wait for it."""

    wake_jobs: Callable[[], None]
    """Start a job now that was just enqueued."""
    waits: Waits
    """Calls that wait for a change of an action."""
    executions: ShieldedTasks
    callers: SeenCallers
    """Notes when each caller was last here."""
    record_head: Callable[[], None]
    """Record how far the store has come, because something is about to be sent."""


@dataclass(frozen=True, kw_only=True)
class StoreServices:
    """The store, the time and new ids."""

    store: Store
    clock: Clock
    entropy: Callable[[int], bytes]

    def new_id(self, now_ms: int) -> str:
        return ids.uuid7(now_ms, self.entropy(ids.RANDOM_BYTES))

    async def find_freeze(self, workspace_id: WorkspaceId, agent: str = "") -> Freeze | None:
        """Return what stops sending in a workspace now, or what this agent sends."""
        # Imported late: a first answer needs none of the words of a refusal.
        from assent.engine.core import freezes

        return await self.store.read(lambda: freezes.find(workspace_id, agent))

    async def check_store(self) -> None:
        """Raise `StoreUnavailable` unless the store answers."""
        await self.store.read(_ping)


@dataclass(frozen=True, kw_only=True)
class EffectServices(StoreServices):
    """What describes, checks and observes an effect."""

    make_connectors: Callable[[], Mapping[str, Connector]]
    """Called at the first use, because connectors load slowly."""
    make_effects: Callable[[], EffectTypes]
    """Called at the first use: the effect types of all extensions."""
    connections: ConnectionStore
    """The connections of workspaces; their secrets stay in the vault."""
    limits: SendLimits
    links: PageLinks

    @cached_property
    def connectors(self) -> Mapping[str, Connector]:
        return self.make_connectors()

    @cached_property
    def effects(self) -> EffectTypes:
        return self.make_effects()


@dataclass(frozen=True, kw_only=True)
class ExecutionServices(EffectServices):
    """What decides about an effect and sends it."""

    keys: ServerKeys
    background: Background


@dataclass(frozen=True, kw_only=True)
class MessageServices(StoreServices):
    """What a message to a person or to another server needs."""

    vault: Vault
    """Secrets that belong to no provider, such as the one that signs webhooks."""
    outgoing: Outgoing
    links: PageLinks
    background: Background


@dataclass(frozen=True, kw_only=True)
class Services(ExecutionServices, MessageServices):
    """Everything. Only the composition root, and what parses a call or a request, holds all of it."""

    limits: Limits
    workflows: Callable[[], WorkflowLibrary]
    """The workflow definitions on disk, read at the first use: most processes need none."""
    verify_journal: Callable[[WorkspaceId | None], Awaitable[Verdict]]
    """Whether the journal of a workspace, or of the whole server, is as it was written."""
    make_notifiers: Callable[[], Iterable[Notifier]]
    """Called at the first use: the notifiers of all extensions."""
    extensions: Callable[[], Mapping[str, object]]
    """Returns the extensions in this process by name, for their own tools."""
    for_workspace: Callable[[WorkspaceId | None], Services]
    """Returns the services of a workspace. What the settings bring (operators, effects, provider clients, the mail
    server, the model, workflows, private hosts) serves the owner's workspaces; any other workspace, and a caller
    without one, has the server as it would be without those settings. Code that does not ask has only what every
    workspace has, so a forgotten call hides the owner's effects instead of lending them."""
    owned: bool = False
    """Whether these are the services of the owner's workspaces."""

    @cached_property
    def notifiers(self) -> Mapping[str, Notifier]:
        """The ways to notify people, by kind, in the order in which a form offers them."""
        return {each.kind: each for each in self.make_notifiers()}


def _ping() -> Transaction[None]:
    yield statements.ping()
