"""Zernio and Resend, emulated, with an engine that is connected to both: what the tests of hosted providers share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.connectors.kit import LEASE_SECONDS, Engine
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import API_KEY, Connection, NewConnection, OpenedSecrets
from assent.gate.records import Action
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import KeyChecked
from assent.present.outlook import Executed
from assent_conform.emulators import email as resend_emulator
from assent_conform.emulators import zernio as zernio_emulator
from assent_conform.emulators.email import Resend
from assent_conform.emulators.zernio import Zernio
from assent_conform.testing.ledger import DoneEffect, Ledger
from assent_conform.testing.operator import Wanted
from assent_conform.testing.provider_server import all_serving

KEYS = {"zernio": zernio_emulator.KEY, "resend": resend_emulator.KEY}
POST = Wanted(connector="zernio", channel="linkedin", verb="post", body="Dark mode is here.")
MAIL = Wanted(
    connector="resend",
    channel="email",
    verb="send",
    subject="Dark mode",
    body="It is here.",
    recipients=("grace@example.org",),
)
WANTED = {"zernio": POST, "resend": MAIL}


async def connect(app: App, provider: str, workspace_id: WorkspaceId = LOCAL_WORKSPACE) -> Connection:
    """As the command line and the page do it: ask the provider, then keep the key."""
    connector: object = app.owner_services.connectors[provider]
    assert isinstance(connector, KeyChecked)
    verified = await connector.verify(KEYS[provider], 10)
    return await app.connections.save(
        workspace_id,
        provider,
        NewConnection(
            label=verified.label,
            secrets=OpenedSecrets({API_KEY: KEYS[provider]}),
            accounts=verified.accounts,
            settings=verified.settings,
        ),
        by="Ada",
    )


class Providers:
    """An engine, both providers and their ledgers."""

    def __init__(self, engine: Engine, zernio: Zernio, resend: Resend) -> None:
        self.engine = engine
        self.zernio = zernio
        self.resend = resend

    def server(self, provider: str) -> Zernio | Resend:
        return self.zernio if provider == "zernio" else self.resend

    def effects(self, provider: str, action: Action | None = None) -> list[DoneEffect]:
        found = self.server(provider).ledger.effects()
        return [each for each in found if action is None or each.reference == action.provider_key]

    async def approved(self, provider: str, **changes: Any) -> ActionId:
        wanted = WANTED[provider]
        return await self.engine.approved(type(wanted)(**{**_fields(wanted), **changes}))

    async def executed(self, action_id: ActionId) -> Action:
        """The action executed, with its one effect and its id as the provider has them."""
        action = await self.engine.action(action_id)
        assert (action.status, action.execution_state) == ("executed", "done")
        (effect,) = self.effects(action.effect.connector, action)
        assert action.external_id == effect.content.get("postId", effect.content.get("id"))
        return action

    async def refused(self, action_id: ActionId, reason: Reason, state: str = "retryable") -> Refusal:
        """What an executor refuses with, and the state it leaves."""
        reply = await self.engine.execute(action_id)
        assert isinstance(reply, Refusal)
        assert reply.recovery().reason is reason
        assert (await self.engine.action(action_id)).execution_state == state
        return reply

    async def done(self, action_id: ActionId) -> Executed:
        reply = await self.engine.execute(action_id)
        assert isinstance(reply, Executed)
        await self.executed(action_id)
        return reply


def _fields(wanted: Wanted) -> dict[str, Any]:
    return {name: getattr(wanted, name) for name in wanted.__struct_fields__}


@asynccontextmanager
async def serving(
    database_url: str,
    data_dir: Path,
    *,
    connected: bool = True,
    clock: ManualClock | None = None,
    **changes: Any,
) -> AsyncIterator[Providers]:
    """Both providers up, and an engine that knows where they are."""
    clock = clock or ManualClock()
    zernio = Zernio(Ledger(data_dir / "zernio.jsonl"), now_ms=clock.now_ms)
    resend = Resend(Ledger(data_dir / "resend.jsonl"), now_ms=clock.now_ms)
    async with all_serving((zernio, resend)) as urls:
        settings = settings_for(
            database_url,
            data_dir,
            zernio_url=urls["zernio"],
            resend_url=urls["resend"],
            **{"connector_timeout_seconds": 20.0, "execution_lease_seconds": LEASE_SECONDS, **changes},
        )
        app = App(settings, clock=clock)
        try:
            await app.prepare()
            if connected:
                for provider in KEYS:
                    await connect(app, provider)
            yield Providers(Engine(app, clock), zernio, resend)
        finally:
            await app.close()
