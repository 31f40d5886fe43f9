"""An engine that is connected to one emulated place, with a picture to take along where that is wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.connectors.kit import LEASE_SECONDS, Engine
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.engine.actions import actions, pictures
from assent.engine.core import tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import API_KEY, Connection, NewConnection, OpenedSecrets
from assent.gate.records import Asset, Effect
from assent.kernel.canonical import digest_of_bytes
from assent.kernel.ids import ActionId, AssetId, WorkspaceId
from assent.ports import KeyChecked, Picture, Transaction
from assent_conform.testing.connector_contract import check_connector, claim_action
from assent_conform.testing.provider_server import ProviderServer


class Place:
    """An engine and the place it is connected to."""

    def __init__(self, engine: Engine, server: ProviderServer) -> None:
        self.engine = engine
        self.server = server

    def effects(self) -> list[dict[str, Any]]:
        return [each.content for each in self.server.ledger.effects()]

    async def with_picture(self, action_id: ActionId, content: bytes, alt: str) -> None:
        """Put a picture on an action, as somebody who picks one does, and approve it again."""
        action = await self.engine.action(action_id)
        made = Picture(
            content=content,
            content_type="image/png",
            width=1200,
            height=675,
            alt=alt,
            digest=digest_of_bytes(content),
        )
        asset = Asset(
            workspace_id=LOCAL_WORKSPACE,
            asset_id=AssetId(self.engine.services.new_id(self.engine.clock.now_ms())),
            run_id=action.run_id,
            tenant_id=None,
            type="image",
            title="A picture",
            body=alt,
            channel=action.effect.channel,
            metadata={"digest": made.digest},
            created_ms=self.engine.clock.now_ms(),
        )

        def keep() -> Transaction[None]:
            yield from pictures.keep(LOCAL_WORKSPACE, action.run_id, (made,), self.engine.clock.now_ms())
            yield from actions.insert_asset(asset)

        await self.engine.app.store.write(keep)
        media = await self.engine.app.store.read(
            lambda: pictures.pick(action, asset.asset_id, self.engine.services.links.base_url)
        )
        await self.engine.edit(action_id, media=media)
        await self.engine.approve(action_id)


async def connect(
    app: App, provider: str, key: str, workspace_id: WorkspaceId = LOCAL_WORKSPACE
) -> Connection:
    """As the command line and the page do it: ask the provider, then keep the key."""
    connector: object = app.owner_services.connectors[provider]
    assert isinstance(connector, KeyChecked)
    verified = await connector.verify(key, 10)
    new = NewConnection(
        label=verified.label, secrets=OpenedSecrets({API_KEY: key}), accounts=verified.accounts
    )
    return await app.connections.save(workspace_id, provider, new, by="Ada")


async def keeps_its_promises(place: Place, effect: Effect, key: str) -> None:
    """The port's own checks, in the workspaces that they are made in."""
    app, provider = place.engine.app, place.server.name
    for number in (1, 2):
        workspace_id = claim_action(effect, number=number).workspace_id
        await app.store.write(partial(tenancy.create_workspace, workspace_id, "kit", 0, by="kit"))
        await connect(app, provider, key, workspace_id)

    async def effects() -> int:
        return len(place.effects())

    await check_connector(app.owner_services.connectors[provider], effect=effect, effects=effects)
    assert await effects() == 1


@asynccontextmanager
async def connected(
    database_url: str, data_dir: Path, server: ProviderServer, clock: ManualClock, key: Any, **changes: Any
) -> AsyncIterator[Place]:
    """A place that is up, and an engine that is connected to it; `key` makes the key once the place has an address."""
    async with server.serving() as url:
        settings = settings_for(
            database_url,
            data_dir,
            bluesky_url=url,
            allow_hosts=("127.0.0.1",),
            execution_lease_seconds=LEASE_SECONDS,
            **{"connector_timeout_seconds": 20.0, **changes},
        )
        app = App(settings, clock=clock)
        try:
            await app.prepare()
            await connect(app, server.name, key())
            yield Place(Engine(app, clock), server)
        finally:
            await app.close()
