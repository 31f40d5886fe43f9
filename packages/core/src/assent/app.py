"""The composition root: from settings to a running server. The only module that knows every part.

`compose` does no I/O, so that a stdio process can answer before anything is opened. The store opens
at its first use: it is migrated, has the default workspace, and the secrets are checked against it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from assent.engine.core import tenancy
from assent.engine.core.callers import SeenCallers
from assent.engine.core.connection_store import ConnectionStore
from assent.engine.core.rate import (
    MemoryRateLimiter,
    StoredRateLimiter,
    calls_window,
    pages_window,
    signups_window,
)
from assent.engine.core.server_keys import ServerKeys
from assent.engine.core.services import Background, Limits, Outgoing, PageLinks, Services
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.core.vault import Vault
from assent.engine.core.waits import ShieldedTasks, Waits
from assent.engine.recovery.positions import Restore
from assent.extensions.hooks import (
    BadExtension,
    Extension,
    ExtensionProcess,
    list_own_settings,
    load_extensions,
)
from assent.gate import review_link
from assent.gate.effects import EffectTypes
from assent.gate.policy import RELAY
from assent.gate.seals import Seals
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.limits import LONG_RUN_SECONDS, SECOND_MS
from assent.kernel.texts import fold_name
from assent.net.loopback import is_loopback
from assent.net.mail_server import Mailbox, MailServer
from assent.outgoing_calls import fetch_page, post_webhook, screen_webhook, webhook_host
from assent.ports import (
    PATIENCE,
    Clock,
    Connector,
    Mailing,
    NotConnected,
    SchemaMismatch,
    Store,
    StoreUnavailable,
    Transaction,
)
from assent.processes.start_checks import SecretMismatch, check_secrets
from assent.processes.store_position import Heads, StoreBehind, ask_history
from assent.processes.system_clock import SystemClock
from assent.settings.client_config import client_entry, in_shell, own_command, stdio_command
from assent.settings.load import DEFAULTS, EVERY_WORKSPACE, Settings, SettingsError, read_sections
from assent.settings.public_url import phone_url
from assent.settings.secret_files import resolve_secrets
from assent.settings.table import TABLE
from assent.stores import open_store

if TYPE_CHECKING:
    from assent.engine.actions.hooks import Subscriber
    from assent.engine.definitions.library import WorkflowLibrary
    from assent.extensions.registry import Extensions, Found
    from assent.gate.audit import RestoreReport, Verdict
    from assent.ports import Notifier
    from assent.serving.gateway import ToolGateway
    from assent.sql.components import Component


WITHHELD: Final = frozenset(
    {
        "secrets",
        "run_token_secrets",
        "api_key",
        "database_url",
        "oidc_client_secret",
        "sections",
        "added",
        "hidden",
    }
)
"""Settings that no extension reads; of those that extensions bring, each gets its own."""


class App:
    """The parts of one process."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        page_address: Callable[[], str | None] | None = None,
        find_pages: Callable[[], Awaitable[None]] | None = None,
        link_note: Callable[[], str | None] = lambda: None,
        connectors: Mapping[str, Connector] | None = None,
        effects: EffectTypes | None = None,
        one_client: bool = False,
        accept_older: bool = False,
    ) -> None:
        """`accept_older`: use a store that is behind the recorded head, because a person said so."""
        self.settings = settings
        self.clock = clock or SystemClock()
        self.keys = ServerKeys(self._read_secrets)
        self.executions = ShieldedTasks()
        self._loading = threading.Lock()
        self._extensions: Extensions | None = None
        self.store = open_store(
            settings.database_url,
            pool_size=settings.pool_size,
            statement_cache=settings.statement_cache,
            is_alone=lambda: self.is_alone(),
            follow=self.clock.follow if isinstance(self.clock, SystemClock) else None,
            prepare=self._prepare_store,
            list_components=lambda: list_components(settings, self.extensions),
        )
        self.restored: RestoreReport | None = None
        """The restore that this process found and recorded."""
        self.heads = Heads(settings, self.store, self.clock, self._hold, accept_older=accept_older)
        self.vault = Vault(lambda: self.keys.master, os.urandom)
        self.connections = ConnectionStore(self.store, self.vault, self.clock)
        self.waits = Waits(self.store, self.clock)
        self.callers = SeenCallers(self.store)
        self._added: dict[str, Connector] = {}
        """The connectors of extensions, once they are made."""
        self._given = connectors
        self._own_effects = cache(lambda: effects or _make_effects(self.installed))
        self._shared_settings = drop_owned(settings)
        self.services = Services(
            store=self.store,
            clock=self.clock,
            entropy=os.urandom,
            keys=self.keys,
            vault=self.vault,
            make_connectors=self._make_shared_connectors,
            make_effects=self._own_effects,
            connections=self.connections,
            workflows=lambda: self.shared_workflows,
            verify_journal=self._verify_journal,
            make_notifiers=self._make_notifiers,
            limits=make_limits(settings, self.store),
            links=PageLinks(
                page_address=page_address or (lambda: settings.base_url),
                find_pages=find_pages,
                link_note=link_note,
                configured_url=settings.base_url,
                review_url=self._review_url,
                shell_command=lambda *words: in_shell(own_command(settings, *words)),
                client_entry=partial(client_entry, stdio_command(settings)) if settings.sqlite_path else None,
                phone_url=phone_url(settings),
                bound_here=is_loopback(settings.host) and not settings.trust_proxy_headers,
            ),
            outgoing=self._make_outgoing(()),
            extensions=lambda: self.shared_processes,
            background=Background(
                wake_jobs=lambda: self.wake_jobs(),
                waits=self.waits,
                executions=self.executions,
                callers=self.callers,
                record_head=self.heads.wake,
            ),
            for_workspace=self._services_for,
        )
        self.owner_services = dataclasses.replace(
            self.services,
            make_connectors=self._make_connectors,
            make_effects=self._make_effects,
            workflows=lambda: self.workflows,
            outgoing=self._make_outgoing(settings.allow_hosts),
            extensions=lambda: self.processes,
            owned=True,
        )
        """The services of the owner's workspaces, with everything that the settings bring."""
        self.wake_jobs: Callable[[], None] = lambda: None
        """Set by the code that runs the jobs in this process."""
        self.is_alone: Callable[[], bool] = lambda: one_client
        """Whether no other caller would share this commit. Set by the code that serves several clients."""

    def owns(self, workspace_id: WorkspaceId | None) -> bool:
        """Whether a workspace is one of the owner's, which use what the settings bring. None stands for a
        caller without a workspace, who has what every workspace has."""
        named = self.settings.owner_workspaces or (tenancy.LOCAL_WORKSPACE,)
        return workspace_id in named or EVERY_WORKSPACE in named

    def _services_for(self, workspace_id: WorkspaceId | None) -> Services:
        return self.owner_services if self.owns(workspace_id) else self.services

    @cached_property
    def installed(self) -> tuple[Extension, ...]:
        """The extensions of installed distributions."""
        return list_installed(self.settings)

    @cached_property
    def processes(self) -> Mapping[str, ExtensionProcess]:
        """Their parts in this process by name, started at the first use."""
        shown = show_settings(self.settings)
        return {each.name: each.start(self.services, shown[each.name]) for each in self.installed}

    @cached_property
    def shared_processes(self) -> Mapping[str, ExtensionProcess]:
        """Their parts for any other workspace: without the settings that are the owner's."""
        shown = show_settings(self._shared_settings)
        return {name: each.with_settings(shown[name]) for name, each in self.processes.items()}

    @property
    def gateway(self) -> ToolGateway:
        """The tools of wrapped servers. Raises `SettingsError` if no extension wraps any."""
        for each in self.processes.values():
            if each.gateway is not None:
                return cast("ToolGateway", each.gateway)
        raise SettingsError("No extension that wraps servers is installed.\nInstall assent-wrap.")

    @cached_property
    def workflows(self) -> WorkflowLibrary:
        """The library of the built-in workflows, the user's and the project's."""
        from assent.engine.definitions.library import WorkflowLibrary

        return WorkflowLibrary(
            [self.settings.data_dir / "workflows", *map(Path, self.settings.workflow_dirs)],
            shipped=list_workflow_folders(self.settings),
        )

    @cached_property
    def shared_workflows(self) -> WorkflowLibrary:
        """The library of the built-in workflows alone."""
        from assent.engine.definitions.library import WorkflowLibrary

        return WorkflowLibrary(shipped=list_workflow_folders(self.settings))

    def _read_secrets(self) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        """Return the run token secret and the master secret; creates them if that is allowed.
        Raises `StoreUnavailable` if there are none."""
        try:
            secrets = resolve_secrets(self.settings)
        except SettingsError as error:
            # `serve` resolves them earlier; a stdio process does so at its first real call.
            raise StoreUnavailable(str(error)) from error
        return secrets.run_token, secrets.master

    def _review_url(
        self, workspace_id: WorkspaceId, run_id: RunId, now_ms: int, scope: review_link.Scope
    ) -> str:
        token = review_link.make_token(
            self.keys.review_links, run_id, workspace_id, now_ms, self.settings.review_ttl_seconds, scope
        )
        address = self.services.links.page_address()
        return review_link.review_url(address, run_id, token) if address is not None else ""

    async def _verify_journal(self, workspace_id: WorkspaceId | None) -> Verdict:
        from assent.engine.audit import log as audit_log
        from assent.jobs import checkpoint_files

        kept, name = checkpoint_files.read_newest(self.settings.data_dir)
        signer = audit_log.Signer(self.keys.master)
        return await audit_log.verify(self.store, signer, kept, kept_as=name, workspace_id=workspace_id)

    @property
    def extensions(self) -> Extensions:
        """The operators of other packages. Loaded at the first use, because their code may be slow."""
        with self._loading:
            if self._extensions is None:
                self._extensions = load_operators(self.settings)
            return self._extensions

    def _make_effects(self) -> EffectTypes:
        own, found = self._own_effects(), self.extensions
        if not found.operators:
            return own
        from assent.extensions.connectors import list_connectors, list_types

        names = {each.id: each.label for each in found.operators}
        return own.extend(list_types(found), list_connectors(found), names)

    def _make_shared_connectors(self) -> Mapping[str, Connector]:
        return self._make_own_connectors(self.shared_processes) if self._given is None else self._given

    def _make_connectors(self) -> Mapping[str, Connector]:
        own = self._make_own_connectors(self.processes) if self._given is None else self._given
        if not self.extensions.operators:
            return own
        from assent.extensions.connectors import make_connectors
        from assent.extensions.http_effects import HttpAccess, make_http_connectors

        found, hosts = self.extensions, self.settings.allow_hosts
        access = HttpAccess(lambda: self.owner_services, hosts)
        declared = make_http_connectors(found.effects, access)
        self._added = make_connectors(found, declared, self.owner_services, hosts, os.environ)
        return {**own, **self._added}

    def _make_own_connectors(self, processes: Mapping[str, ExtensionProcess]) -> dict[str, Connector]:
        from assent.engine.connections.registry import ManualConnector, register

        added = (connector for each in processes.values() for connector in each.make_connectors())
        return register((ManualConnector(), *added))

    def _make_notifiers(self) -> Iterator[Notifier]:
        from assent.engine.people.notifiers import MailNotifier, WebPushNotifier

        yield MailNotifier()
        shown = show_settings(self.settings)
        yield from (notifier for each in self.installed for notifier in each.make_notifiers(shown[each.name]))
        yield WebPushNotifier()

    def _make_outgoing(self, allow_hosts: tuple[str, ...]) -> Outgoing:
        notes = ServerNotes(self.settings, self.clock, lambda: self.owner_services.connectors)
        return Outgoing(
            fetch_page=partial(fetch_page, allow_hosts),
            screen_webhook=partial(screen_webhook, allow_hosts),
            webhook_host=webhook_host,
            post_webhook=partial(post_webhook, allow_hosts),
            can_send_notes=notes.can_send,
            send_note=notes.send,
        )

    async def _finish_renewals(self) -> None:
        """Wait for the token renewals of extensions that are in flight."""
        if not self._added:
            return
        from assent.engine.connections.oauth import OAuthAccess

        for access in (getattr(connector, "access", None) for connector in self._added.values()):
            if isinstance(access, OAuthAccess):
                await access.finish()

    async def prepare(self) -> None:
        """Open and check the store before the first call. Raises the errors in `UNFIT`."""
        await self.services.check_store()

    async def _prepare_store(self) -> None:
        """Refuse a store that is behind the recorded head. Check the secrets against the store, seal
        with the newest, hold what a restore left in doubt, create the default workspace."""
        # Imported late: a client of stdio waits for the first answer, which needs none of these.
        from assent.engine.actions import hooks
        from assent.engine.recovery import positions

        hooks.provide(_load_subscribers)

        self.keys.forget()
        if self.store.dialect != "sqlite":
            _ = self.keys.master  # PostgreSQL is not asked before the settings name the secrets
        store = self.store
        # A failover explains a store that is behind the recorded head, so the server goes on without a person.
        restore = await ask_history(store, store.read, positions.find_failover) or await self.heads.compare()
        await asyncio.to_thread(lambda: self.extensions)  # their tables are the store's
        show_settings(self.settings)  # refuses what no extension declares
        await check_secrets(store, self.keys)
        if len(self.keys.master) > 1:
            await reseal(store, self.vault, self.keys.seals)
        now_ms = self.clock.now_ms()
        restore = restore or await self.heads.find_restore()
        restore = restore or await ask_history(store, store.read, positions.find_copy)
        if restore is not None:
            await self._hold(restore)
        await store.write(lambda: self._create_local(now_ms))
        await ask_history(store, store.write, positions.keep_history)
        await self.heads.begin(restored=restore is not None)

    async def _hold(self, restore: Restore) -> None:
        """Record a restore and hold what may have been sent after the backup."""
        from assent.engine.recovery import holding

        connectors, now_ms = self.owner_services.connectors, self.clock.now_ms()
        new_id = partial(self.services.new_id, now_ms)
        self.restored = await self.store.write(lambda: holding.hold(restore, connectors, new_id, now_ms))
        log.error("%s", self.restored.describe())
        self.wake_jobs()

    def _create_local(self, now_ms: int) -> Transaction[None]:
        from assent.engine.actions import policies

        workspace_id, by = tenancy.LOCAL_WORKSPACE, "first start"
        if (yield from tenancy.create_workspace(workspace_id, "local", now_ms, by=by)):
            yield from policies.begin(workspace_id, self.services.limits.policy or RELAY, now_ms, by=by)

    async def close(self) -> None:
        """Close after the sends in flight, because their outcome must be recorded."""
        await self.waits.close()
        await self.callers.close()
        await self.executions.finish()
        await self._finish_renewals()
        started = [
            each for name in ("shared_processes", "processes") for each in vars(self).get(name, {}).values()
        ]
        for process in dict.fromkeys(started):
            await process.close()
        await self.heads.close()
        await self.store.close()


class ServerNotes:
    """The server's own e-mails to its people, such as sign-in links and invitations: through the mail server
    of the settings, else through the one that the default workspace connected on its page."""

    def __init__(
        self, settings: Settings, clock: Clock, connectors: Callable[[], Mapping[str, Connector]]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._connectors = connectors

    async def can_send(self) -> bool:
        """Whether there is a mail server for notes."""
        if self._settings.smtp_url is not None and self._settings.smtp_from is not None:
            return True
        return await self._find_mailing() is not None

    async def send(self, to: str, subject: str, text: str, key: str) -> None:
        from assent.net.mail import MailClient

        url, written = self._settings.smtp_url, self._settings.smtp_from
        seconds = self._settings.connector_timeout_seconds * PATIENCE
        if url is not None and written is not None:
            server, sender, now_ms = MailServer.parse(url), Mailbox.parse(written), self._clock.now_ms()
            client = MailClient(server)
            await client.send_note(sender, to, subject, text, key=key, now_ms=now_ms, seconds=seconds)
            return
        mailing = await self._find_mailing()
        if mailing is None:
            raise NotConnected("This server has no mail server for its own mail.")
        await mailing.mail_note(LOCAL_WORKSPACE, to, subject, text, key, seconds)

    async def _find_mailing(self) -> Mailing | None:
        for each in self._connectors().values():
            if isinstance(each, Mailing) and await each.can_mail_notes(LOCAL_WORKSPACE):
                return each
        return None


log = logging.getLogger("assent.app")


def load_operators(settings: Settings) -> Extensions:
    """Load the operators that extensions and the settings name."""
    from assent.extensions.registry import CORE, Extensions, Names, load_extensions

    installed = list_installed(settings)
    named = (*(module for each in installed for module in each.operators), *settings.operators)
    if not named and settings.effects is None:
        return Extensions()
    own, tables = _make_effects(installed), list_components(settings, Extensions())
    executors = {each.executor_tool for each in own.types.values()}
    taken = Names(
        types=dict.fromkeys(own.types, CORE),
        connectors=dict.fromkeys(own.connectors, CORE),
        components={each.name: CORE for each in tables},
        prefixes={each.prefix: CORE for each in tables},
        executors=frozenset(executors),
    )
    return load_extensions(named, taken, declared=_read_effects(settings))


def _read_effects(settings: Settings) -> Iterable[Found]:
    if settings.effects is None:
        return ()
    from assent.extensions.http_effects import read_sections

    return read_sections(settings.effects, str(settings.config_file or ""))


def list_workflow_folders(settings: Settings) -> tuple[Path, ...]:
    """Return the folders in which extensions ship workflows."""
    return tuple(folder for each in list_installed(settings) for folder in each.workflows)


def list_installed(settings: Settings) -> tuple[Extension, ...]:
    """Return the extensions that this server loads. Raises `SettingsError` if one that is named cannot be loaded."""
    try:
        return load_extensions(settings.extensions)
    except BadExtension as bad:
        raise SettingsError(f"The setting extensions does not work: {bad.why}\n{bad.fix}") from bad


def list_components(settings: Settings, operators: Extensions) -> tuple[Component, ...]:
    """Return the components of extensions, then those of operators."""
    installed = (each for extension in list_installed(settings) for each in extension.list_components())
    return (*installed, *operators.components)


def _load_subscribers() -> tuple[Subscriber, ...]:
    from assent.subscribers import list_subscribers

    return list_subscribers()


def _make_effects(installed: tuple[Extension, ...]) -> EffectTypes:
    def name_operators() -> dict[str, str]:
        return {each.id: each.label for extension in installed for each in extension.list_operators()}

    return EffectTypes(
        (each for extension in installed for each in extension.list_types()),
        (each for extension in installed for each in extension.list_connectors()),
        name_operators=name_operators,
        families=(each for extension in installed for each in extension.list_families()),
    )


def make_limits(settings: Settings, store: Store) -> Limits:
    return Limits(
        rate_limiter=MemoryRateLimiter() if store.dialect == "sqlite" else StoredRateLimiter(store),
        calls=calls_window(settings.rate_limit_per_minute),
        signups=signups_window(settings.signups_per_hour),
        page_limiter=MemoryRateLimiter(),
        pages=pages_window(settings.page_limit_per_minute),
        storage_quota_bytes=settings.storage_quota_mb * 1_000_000,
        connector_timeout_seconds=settings.connector_timeout_seconds,
        execution_lease_seconds=settings.execution_lease_seconds,
        measure_after_ms=int(settings.measure_after_seconds * 1000),
        long_run_seconds=LONG_RUN_SECONDS,
        client_dialog_seconds=settings.client_dialog_seconds,
        held_after=settings.held_after,
        credit_prices=prices(settings.credit_prices),
        reserved_names=frozenset(map(fold_name, settings.named_workspaces)),
        policy=settings.policy,
        undo_ms=settings.undo_seconds * SECOND_MS,
    )


def show_settings(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the settings that each extension reads, by its name. Raises `SettingsError`."""
    values = msgspec.structs.asdict(settings)
    common = {name: value for name, value in values.items() if name not in WITHHELD}
    ours, installed = load_extensions(), list_installed(settings)
    brought = {
        each.name: {row.name: settings.added.get(row.name, row.default) for row in each.settings}
        for each in ours
    }
    sections = read_sections(settings, {each.name: each.settings for each in installed if each not in ours})
    return {name: {**common, **own} for name, own in (brought | sections).items()}


def drop_owned(settings: Settings) -> Settings:
    """Return the settings as workspaces that are not the owner's have them."""
    own = {row.name for row in list_own_settings() if row.of_owner}
    return msgspec.structs.replace(
        settings,
        sections=None,
        added={name: value for name, value in settings.added.items() if name not in own},
        **{row.name: DEFAULTS[row.name] for row in TABLE if row.of_owner},
    )


def prices(listed: tuple[str, ...]) -> dict[str, int]:
    """Return the credits per action, by connector. The settings have validated the entries."""
    return {name: int(cost) for name, _, cost in (each.partition("=") for each in listed)}


async def reseal(store: Store, vault: Vault, seals: Seals) -> None:
    """Seal everything with the newest master secret, so that the earlier one can be removed."""
    from assent.engine.actions import actions

    await store.write(lambda: actions.reseal_approvals(seals))
    while await store.write(partial(vault.reseal, vault.nonces())):
        log.info("keys of workspaces were sealed again under the newest master secret")


UNFIT = (SettingsError, SchemaMismatch, SecretMismatch, StoreBehind)
"""Errors that end a start. Each message says what is wrong and what to do. An unavailable database
is not among them: the server waits for it."""


def open_app(settings: Settings) -> AbstractAsyncContextManager[App]:
    """An app with an open store, for one-off commands."""
    return use_app(App(settings))


@asynccontextmanager
async def use_app(app: App) -> AsyncIterator[App]:
    """Open the store of an app, and close the app at the end."""
    try:
        await app.prepare()
        yield app
    finally:
        await app.close()
