"""Secrets at rest and the connections they belong to: sealed, bound to their place, gone when they should be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import MASTER, ManualClock, settings_for

from assent.app import App
from assent.engine.core import journal, tenancy
from assent.engine.core.connection_store import find_all
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.core.vault import SealBroken
from assent.gate.connection import Account, Connection, ConnectionState, NewConnection, OpenedSecrets
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Single, Transaction
from assent.sql.loader import statements

pytestmark = pytest.mark.own_database

KEY = "sk_" + "5e" * 32
NEXT_MASTER = "another master secret for the tests, long enough"
GRANT = NewConnection(
    label="Acme",
    secrets=OpenedSecrets({"apiKey": KEY, "refreshToken": "1//refresh"}),
    accounts=(
        Account("acc_1", "linkedin", "Acme"),
        Account("acc_2", "linkedin", "Ada"),
        Account("acc_3", "twitter", "@acme"),
    ),
    scopes=("read", "write"),
    settings={"propertyId": "123"},
    expires_ms=1_800_000_000_000,
)


@asynccontextmanager
async def opened(database_url: str, data_dir: Path, **changes: Any) -> AsyncIterator[App]:
    app = App(settings_for(database_url, data_dir, **changes), clock=ManualClock())
    await app.prepare()
    try:
        yield app
    finally:
        await app.close()


async def connected(app: App, provider: str = "zernio") -> Connection:
    return await app.owner_services.connections.save(LOCAL_WORKSPACE, provider, GRANT, by="Ada")


async def events(app: App) -> list[tuple[str, dict[str, Any]]]:
    stream = await app.store.read(lambda: journal.read_stream(LOCAL_WORKSPACE, LOCAL_WORKSPACE))
    return [(event.kind, msgspec.json.decode(event.body)) for event in stream][1:]


@pytest.mark.rule("E8")
async def test_a_connection_gives_its_secrets_to_its_own_workspace_and_holder_only(
    database_url: str, tmp_path: Path
) -> None:
    async with opened(database_url, tmp_path) as app:
        saved = await connected(app)
        kept, book = (
            await app.owner_services.connections.find(LOCAL_WORKSPACE, "zernio"),
            app.owner_services.connections,
        )
        assert kept == saved
        assert (saved.state, saved.label, saved.connected_by) == ("connected", "Acme", "Ada")
        assert (saved.accounts, saved.scopes, saved.settings) == (
            GRANT.accounts,
            GRANT.scopes,
            GRANT.settings,
        )
        access = await book.access(LOCAL_WORKSPACE, "zernio")
        assert access is not None
        assert dict(access.secrets.items()) == {"apiKey": KEY, "refreshToken": "1//refresh"}
        assert await book.access(LOCAL_WORKSPACE, "resend") is None
        other = WorkspaceId(app.owner_services.new_id(app.clock.now_ms()))
        await app.store.write(lambda: tenancy.create_workspace(other, "other", 1, by="test"))
        assert await book.access(other, "zernio") is None
        assert await app.store.read(partial(find_all, other)) == {}
        assert KEY not in repr(access) and KEY not in repr(GRANT)


async def test_nothing_readable_of_a_secret_is_in_the_store(tmp_path: Path) -> None:
    async with opened(new_sqlite(tmp_path / "assent.db"), tmp_path) as app:
        await connected(app)
        await connected(app)
        await app.owner_services.connections.disconnect(LOCAL_WORKSPACE, "zernio", by="Ada")
    assert not [path for path, content in files_in(tmp_path) if KEY.encode() in content]


def files_in(folder: Path) -> list[tuple[Path, bytes]]:
    return [(path, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]


async def test_a_sealed_secret_opens_in_its_own_place_only(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as app:
        await connected(app)
        vault, store = app.vault, app.store
        rows = await store.read(
            Single(statements.list_secrets(workspace_id=LOCAL_WORKSPACE, holder="zernio"))
        )
        sealed = {row["field"]: row["sealed"] for row in rows}

        def moved(holder: str, field: str, text: str) -> Transaction[OpenedSecrets]:
            yield statements.put_secret(
                workspace_id=LOCAL_WORKSPACE, holder=holder, field=field, sealed=text, now_ms=1
            )
            return (yield from vault.open(LOCAL_WORKSPACE, holder))

        for place in (
            ("resend", "apiKey", sealed["apiKey"]),
            ("zernio", "apiKey", sealed["refreshToken"]),
            ("zernio", "apiKey", sealed["apiKey"][:-4] + "AAAA"),
            ("zernio", "apiKey", "not sealed"),
        ):
            with pytest.raises(SealBroken):
                await store.write(lambda place=place: moved(*place))  # type: ignore[misc]
        assert (await app.owner_services.connections.access(LOCAL_WORKSPACE, "zernio")) is not None


async def test_the_same_secret_is_sealed_differently_every_time(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as app:
        seen = set()
        for _ in range(3):
            await connected(app)
            rows = await app.store.read(
                Single(statements.list_secrets(workspace_id=LOCAL_WORKSPACE, holder="zernio"))
            )
            seen.add(rows[0]["sealed"])
        assert len(seen) == 3


async def test_a_new_master_secret_takes_over_at_the_next_start(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as app:
        await connected(app)
    async with opened(database_url, tmp_path, secrets=(NEXT_MASTER, MASTER)) as app:
        assert await secret(app) == KEY
    # The earlier one is not needed any more.
    async with opened(database_url, tmp_path, secrets=(NEXT_MASTER,)) as app:
        assert await secret(app) == KEY
        await connected(app, "resend")


async def secret(app: App) -> str | None:
    access = await app.connections.access(LOCAL_WORKSPACE, "zernio")
    return access.secrets.get("apiKey") if access is not None else None


async def test_disconnecting_destroys_the_secrets_and_is_written_down(
    database_url: str, tmp_path: Path
) -> None:
    async with opened(database_url, tmp_path) as app:
        book = app.owner_services.connections
        assert not await book.disconnect(LOCAL_WORKSPACE, "zernio", by="Ada")
        await connected(app)
        assert await book.disconnect(LOCAL_WORKSPACE, "zernio", by="Grace")
        assert not await book.disconnect(LOCAL_WORKSPACE, "zernio", by="Grace")
        found = await book.find(LOCAL_WORKSPACE, "zernio")
        assert found is not None and found.state is ConnectionState.REVOKED
        assert await book.access(LOCAL_WORKSPACE, "zernio") is None
        rows = await app.store.read(
            Single(statements.list_secrets(workspace_id=LOCAL_WORKSPACE, holder="zernio"))
        )
        assert len(rows) == 0
        told = await events(app)
        assert [(kind, body["by"]) for kind, body in told] == [
            ("connector_connected", "Ada"),
            ("connector_disconnected", "Grace"),
        ]
        assert KEY not in str(told)


async def test_late_news_do_not_end_a_connection_that_was_made_again(
    database_url: str, tmp_path: Path
) -> None:
    async with opened(database_url, tmp_path) as app:
        book = app.owner_services.connections
        first = await connected(app)
        second = await connected(app)
        assert not await book.mark_expired(first, "401")
        assert not await book.renew(first, OpenedSecrets({"apiKey": "old"}), None)
        assert await book.mark_expired(second, "401")
        assert not await book.mark_expired(second, "401")
        assert await book.access(LOCAL_WORKSPACE, "zernio") is None
        assert [kind for kind, _ in await events(app)] == [
            "connector_connected",
            "connector_connected",
            "connector_expired",
        ]
        assert await book.renew(second, OpenedSecrets({"accessToken": "new"}), 5)
        access = await book.access(LOCAL_WORKSPACE, "zernio")
        assert access is not None and dict(access.secrets.items()) == {"accessToken": "new"}
        assert access.connection.expires_ms == 5


async def test_choosing_accounts_says_where_effects_go(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as app:
        book = app.owner_services.connections
        saved = await connected(app)
        assert [each.id for each in saved.accounts_on("linkedin")] == ["acc_1"]
        chosen = await book.choose(LOCAL_WORKSPACE, "zernio", ["acc_2"], {"propertyId": "9"}, by="Ada")
        assert [each.id for each in chosen.accounts_on("linkedin")] == ["acc_2"]
        assert chosen.accounts_on("twitter") == () and chosen.settings == {"propertyId": "9"}
        assert chosen.account("acc_1") is None
        with pytest.raises(Refusal) as refused:
            await book.choose(LOCAL_WORKSPACE, "zernio", ["acc_9"], by="Ada")
        assert refused.value.reason is Reason.VALIDATION_ERROR
        with pytest.raises(Refusal) as refused:
            await book.choose(LOCAL_WORKSPACE, "resend", [], by="Ada")
        assert refused.value.reason is Reason.MISSING_CONNECTOR


async def test_connecting_again_keeps_the_accounts_that_were_chosen(
    database_url: str, tmp_path: Path
) -> None:
    async with opened(database_url, tmp_path) as app:
        book = app.owner_services.connections
        await connected(app)
        await book.choose(LOCAL_WORKSPACE, "zernio", ["acc_2"], by="Ada")
        more = (*GRANT.accounts, Account("acc_4", "linkedin", "New", default=True))
        grant = msgspec.structs.replace(GRANT, accounts=more)
        again = await book.save(LOCAL_WORKSPACE, "zernio", grant, by="Ada")
        assert [each.id for each in again.accounts_on("linkedin")] == ["acc_2"]
        await book.disconnect(LOCAL_WORKSPACE, "zernio", by="Ada")
        afresh = await connected(app)
        assert afresh.accounts == GRANT.accounts


async def test_no_workspace_no_connection(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as app:
        nobody = WorkspaceId(app.owner_services.new_id(app.clock.now_ms()))
        with pytest.raises(Refusal) as refused:
            await app.owner_services.connections.save(nobody, "zernio", GRANT, by="Ada")
        assert refused.value.reason is Reason.WORKSPACE_NOT_FOUND
