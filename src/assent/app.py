"""The composition root: from settings to a running server. The only module that knows every part.

`compose` does no I/O, so that a stdio process can answer before anything is opened. The store opens
at its first use: it is migrated, has the default workspace, and the secrets are checked against it.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assent.engine.audit import earlier_approvals
from assent.engine.connections.connections import ConnectionStore
from assent.engine.core import server_keys, tenancy
from assent.engine.core.rate import (
    MemoryRateLimiter,
    StoredRateLimiter,
    calls_window,
    pages_window,
    signups_window,
)
from assent.engine.core.server_keys import ServerKeys
from assent.engine.core.services import Background, Drafting, Limits, Outgoing, PageLinks, Services
from assent.engine.core.shielding import ShieldedTasks
from assent.engine.core.vault import Vault
from assent.engine.core.waits import Waits
from assent.engine.learning.site_feed import Visits
from assent.gate import review_link
from assent.gate.seals import Seals
from assent.kernel import tokens
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.limits import LONG_RUN_SECONDS
from assent.outgoing_calls import post_webhook, read_product_page, screen_webhook, webhook_host
from assent.ports import (
    Clock,
    Connector,
    PicturesOf,
    SchemaMismatch,
    Store,
    StoreUnavailable,
)
from assent.settings.load import Settings, SettingsError
from assent.settings.secret_files import resolve_secrets
from assent.settings.welcome import client_entry, in_shell, own_command, stdio_command
from assent.stores import open_store

if TYPE_CHECKING:
    from assent.engine.audit.log import Verdict
    from assent.engine.workflows.library import WorkflowLibrary
    from assent.suite.content.evidence import Evidence
    from assent.suite.content.lessons import Lessons
    from assent.suite.content.records import Composed, NeedsDraft
    from assent.suite.pictures.making import PictureMaker

log = logging.getLogger("assent.app")


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class SecretMismatch(StoreUnavailable):
    """The store was created with different secrets."""


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
        one_client: bool = False,
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.keys = ServerKeys(self._read_secrets)
        self.executions = ShieldedTasks()
        self.store: Store = open_store(
            settings.database_url,
            pool_size=settings.pool_size,
            one_client=one_client,
            prepare=self._prepare_store,
        )
        self.vault = Vault(lambda: self.keys.master, os.urandom)
        self.connections = ConnectionStore(self.store, self.vault, self.clock)
        self._built_in: dict[str, Connector] = {}
        self.waits = Waits(self.store, self.clock)
        self.services = Services(
            store=self.store,
            clock=self.clock,
            entropy=os.urandom,
            keys=self.keys,
            vault=self.vault,
            make_connectors=self._make_connectors if connectors is None else lambda: connectors,
            connections=self.connections,
            workflows=lambda: self.workflows,
            verify_journal=self._verify_journal,
            limits=make_limits(settings, self.store),
            links=PageLinks(
                page_address=page_address or (lambda: settings.base_url),
                find_pages=find_pages,
                link_note=link_note,
                configured_url=settings.base_url,
                review_url=self._review_url,
                shell_command=lambda *words: in_shell(own_command(settings, *words)),
                client_entry=partial(client_entry, stdio_command(settings)),
            ),
            outgoing=make_outgoing(settings, self.clock),
            drafting=Drafting(
                write_draft=draft_writer(settings),
                make_pictures=lambda work: self._picture_maker.make(work),
                credit_prices=prices(settings.credit_prices),
                default_sender=settings.smtp_from or "",
            ),
            background=Background(
                wake_jobs=lambda: self.wake_jobs(), waits=self.waits, executions=self.executions
            ),
        )
        self.visits = Visits(self.store, self.clock)
        self.wake_jobs: Callable[[], None] = lambda: None
        """Set by the code that runs the jobs in this process."""

    @property
    def pictures_of(self) -> PicturesOf:
        """Loads the pictures of an approved action for a connector."""
        from assent.engine.learning import pictures

        return partial(pictures.of_action, self.store)

    @cached_property
    def _picture_maker(self) -> PictureMaker:
        from assent.suite.pictures.making import PictureMaker  # imported at the first picture

        return PictureMaker(self.settings.font_dirs)

    @cached_property
    def workflows(self) -> WorkflowLibrary:
        """The library of the built-in workflows, the user's and the project's."""
        from assent.engine.workflows.library import WorkflowLibrary

        return WorkflowLibrary(
            [self.settings.data_dir / "workflows", *map(Path, self.settings.workflow_dirs)]
        )

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

        newest = checkpoint_files.newest(self.settings.data_dir)
        kept = checkpoint_files.read(newest) if newest is not None else None
        signer = audit_log.Signer(self.keys.master)
        return await audit_log.verify(self.store, signer, kept, workspace_id=workspace_id)

    def _make_connectors(self) -> dict[str, Connector]:
        from assent.built_in_connectors import built_in_connectors

        self._built_in = self._built_in or built_in_connectors(self)
        return self._built_in

    async def _finish_renewals(self) -> None:
        """Wait for the token renewals in flight."""
        if not self._built_in:
            return
        from assent.suite.connectors.oauth_access import OAuthAccess

        for access in (getattr(connector, "access", None) for connector in self._built_in.values()):
            if isinstance(access, OAuthAccess):
                await access.finish()

    async def prepare(self) -> None:
        """Open and check the store before the first call. Raises the errors in `UNFIT`."""
        await self.services.check_store()

    async def _prepare_store(self) -> None:
        """Check the secrets against the store, seal with the newest, create the default
        workspace."""
        self.keys.forget()
        await check_secrets(self.store, self.keys)
        if len(self.keys.master) > 1:
            await reseal(self.store, self.vault)
        now_ms = self.clock.now_ms()
        await seal_approvals(self.store, self.keys.seals, now_ms)
        await self.store.write(
            lambda: tenancy.create_workspace(tenancy.LOCAL_WORKSPACE, "local", now_ms, by="first start")
        )

    async def close(self) -> None:
        """Close after the sends in flight, because their outcome must be recorded."""
        await self.waits.close()
        await self.executions.finish()
        await self._finish_renewals()
        await self.visits.close()
        await self.store.close()


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
    )


def make_outgoing(settings: Settings, clock: Clock) -> Outgoing:
    return Outgoing(
        read_page=partial(read_product_page, settings.allow_hosts),
        screen_webhook=partial(screen_webhook, settings.allow_hosts),
        webhook_host=webhook_host,
        post_webhook=partial(post_webhook, settings.allow_hosts),
        can_send_notes=settings.smtp_url is not None,
        send_note=note_writer(settings, clock),
    )


def draft_writer(
    settings: Settings,
) -> Callable[[str, Evidence, Lessons], Awaitable[Composed | NeedsDraft]] | None:
    """Return a function that drafts with the configured model; None if only the composer writes."""
    if settings.model_url is None or settings.model_name is None:
        return None
    from assent.suite.model_writer import Model, draft

    kind: Literal["openai", "anthropic"] = "anthropic" if settings.model_kind == "anthropic" else "openai"
    return partial(draft, Model(settings.model_url, settings.model_name, kind, settings.model_api_key))


def prices(listed: tuple[str, ...]) -> dict[str, int]:
    """Return the credits per action, by connector. The settings have validated the entries."""
    return {name: int(cost) for name, _, cost in (each.partition("=") for each in listed)}


def note_writer(settings: Settings, clock: Clock) -> Callable[[str, str, str, str], Awaitable[None]]:
    """Sends the server's own e-mails to its people, through the configured mail server."""

    async def send(to: str, subject: str, text: str, key: str) -> None:
        from assent.suite.connectors.mail.smtp import SmtpConnector

        mailer = SmtpConnector(settings.smtp_url, settings.smtp_from, clock)
        await mailer.tell(to, subject, text, key, settings.connector_timeout_seconds)

    return send


async def reseal(store: Store, vault: Vault) -> None:
    """Seal everything with the newest master secret, so that the earlier one can be removed."""
    while await store.write(partial(vault.reseal, vault.nonces())):
        log.info("keys of workspaces were sealed anew under the newest master secret")


async def seal_approvals(store: Store, seals: Seals, now_ms: int) -> None:
    """Seal approvals of earlier versions, and those sealed with an earlier master secret."""
    if not await store.read(earlier_approvals.has_sealed):
        await store.write(lambda: earlier_approvals.seal_all(seals, now_ms))
    if len(seals.keys) > 1:
        await store.write(lambda: earlier_approvals.reseal_open(seals, now_ms))


async def check_secrets(store: Store, keys: ServerKeys) -> None:
    """Refuse secrets that the store was not created with: every link would be invalid."""
    rings = {"RUN_TOKEN_SECRET": ("run_token", keys.run_token), "ASSENT_SECRET": ("master", keys.master)}
    await store.open()  # in this task, so that closing the application ends an attempt to connect
    for variable, (name, ring) in rings.items():
        known = tuple(map(tokens.fingerprint, ring))
        if not await store.write(partial(server_keys.check_fingerprint, name, known)):
            raise SecretMismatch(
                f"{variable} is not the secret this database was made with. Set the one that its other servers use; "
                f"to change it, set the new one as {variable} and the old one as {variable}_PREVIOUS."
            )


UNFIT = (SettingsError, SchemaMismatch, SecretMismatch)
"""Errors that end a start. Each message says what is wrong and what to do. An unavailable database
is not among them: the server waits for it."""


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[App]:
    """An app with an open store, for one-off commands."""
    app = App(settings)
    try:
        await app.prepare()
        yield app
    finally:
        await app.close()
