"""Secrets at rest and the connections they belong to: sealed, bound to their place, gone when they should be."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.sqlite_files import new_sqlite
from tests.suite.connectors.kit import Engine, engine_with
from tests.surfaces import MASTER

from assent.app import App
from assent.engine.core import journal, tenancy
from assent.engine.core.connection_store import find_all
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.core.vault import SealBroken
from assent.gate.connection import (
    Account,
    Connection,
    ConnectionState,
    NewConnection,
    OpenedSecrets,
)
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


async def connected(engine: Engine, provider: str = "zernio") -> Connection:
    return await engine.services.connections.save(LOCAL_WORKSPACE, provider, GRANT, by="Ada")


async def events(engine: Engine) -> list[tuple[str, dict[str, Any]]]:
    stream = await engine.app.store.read(lambda: journal.read_stream(LOCAL_WORKSPACE, LOCAL_WORKSPACE))
    return [(event.kind, msgspec.json.decode(event.body)) for event in stream][1:]


@pytest.mark.rule("E8")
async def test_a_connection_gives_its_secrets_to_its_own_workspace_and_holder_only(
    database_url: str, tmp_path: Path
) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        saved = await connected(engine)
        kept, book = (
            await engine.services.connections.find(LOCAL_WORKSPACE, "zernio"),
            engine.services.connections,
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
        other = WorkspaceId(engine.services.new_id(engine.clock.now_ms()))
        await engine.app.store.write(lambda: tenancy.create_workspace(other, "other", 1, by="test"))
        assert await book.access(other, "zernio") is None
        assert await engine.app.store.read(partial(find_all, other)) == {}
        assert KEY not in repr(access) and KEY not in repr(GRANT)


async def test_nothing_readable_of_a_secret_is_in_the_store(tmp_path: Path) -> None:
    async with engine_with(new_sqlite(tmp_path / "assent.db"), tmp_path) as engine:
        await connected(engine)
        await connected(engine)
        await engine.services.connections.disconnect(LOCAL_WORKSPACE, "zernio", by="Ada")
    assert not [path for path, content in files_in(tmp_path) if KEY.encode() in content]


def files_in(folder: Path) -> list[tuple[Path, bytes]]:
    return [(path, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]


async def test_a_sealed_secret_opens_in_its_own_place_only(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        await connected(engine)
        vault, store = engine.app.vault, engine.app.store
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
        assert (await engine.services.connections.access(LOCAL_WORKSPACE, "zernio")) is not None


async def test_the_same_secret_is_sealed_differently_every_time(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        seen = set()
        for _ in range(3):
            await connected(engine)
            rows = await engine.app.store.read(
                Single(statements.list_secrets(workspace_id=LOCAL_WORKSPACE, holder="zernio"))
            )
            seen.add(rows[0]["sealed"])
        assert len(seen) == 3


async def test_a_new_master_secret_takes_over_at_the_next_start(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        await connected(engine)
    async with engine_with(database_url, tmp_path, secrets=(NEXT_MASTER, MASTER)) as engine:
        assert await secret(engine.app) == KEY
    # The earlier one is not needed any more.
    async with engine_with(database_url, tmp_path, secrets=(NEXT_MASTER,)) as engine:
        assert await secret(engine.app) == KEY
        await connected(engine, "resend")


async def secret(app: App) -> str | None:
    access = await app.connections.access(LOCAL_WORKSPACE, "zernio")
    return access.secrets.get("apiKey") if access is not None else None


async def test_disconnecting_destroys_the_secrets_and_is_written_down(
    database_url: str, tmp_path: Path
) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        book = engine.services.connections
        assert not await book.disconnect(LOCAL_WORKSPACE, "zernio", by="Ada")
        await connected(engine)
        assert await book.disconnect(LOCAL_WORKSPACE, "zernio", by="Grace")
        assert not await book.disconnect(LOCAL_WORKSPACE, "zernio", by="Grace")
        found = await book.find(LOCAL_WORKSPACE, "zernio")
        assert found is not None and found.state is ConnectionState.REVOKED
        assert await book.access(LOCAL_WORKSPACE, "zernio") is None
        rows = await engine.app.store.read(
            Single(statements.list_secrets(workspace_id=LOCAL_WORKSPACE, holder="zernio"))
        )
        assert len(rows) == 0
        told = await events(engine)
        assert [(kind, body["by"]) for kind, body in told] == [
            ("connector_connected", "Ada"),
            ("connector_disconnected", "Grace"),
        ]
        assert KEY not in str(told)


async def test_late_news_do_not_end_a_connection_that_was_made_again(
    database_url: str, tmp_path: Path
) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        book = engine.services.connections
        first = await connected(engine)
        second = await connected(engine)
        assert not await book.mark_expired(first, "401")
        assert not await book.renew(first, OpenedSecrets({"apiKey": "old"}), None)
        assert await book.mark_expired(second, "401")
        assert not await book.mark_expired(second, "401")
        assert await book.access(LOCAL_WORKSPACE, "zernio") is None
        assert [kind for kind, _ in await events(engine)] == [
            "connector_connected",
            "connector_connected",
            "connector_expired",
        ]
        assert await book.renew(second, OpenedSecrets({"accessToken": "new"}), 5)
        access = await book.access(LOCAL_WORKSPACE, "zernio")
        assert access is not None and dict(access.secrets.items()) == {"accessToken": "new"}
        assert access.connection.expires_ms == 5


async def test_choosing_accounts_says_where_effects_go(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        book = engine.services.connections
        saved = await connected(engine)
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
    async with engine_with(database_url, tmp_path) as engine:
        book = engine.services.connections
        await connected(engine)
        await book.choose(LOCAL_WORKSPACE, "zernio", ["acc_2"], by="Ada")
        more = (*GRANT.accounts, Account("acc_4", "linkedin", "New", default=True))
        grant = msgspec.structs.replace(GRANT, accounts=more)
        again = await book.save(LOCAL_WORKSPACE, "zernio", grant, by="Ada")
        assert [each.id for each in again.accounts_on("linkedin")] == ["acc_2"]
        await book.disconnect(LOCAL_WORKSPACE, "zernio", by="Ada")
        afresh = await connected(engine)
        assert afresh.accounts == GRANT.accounts


async def test_no_workspace_no_connection(database_url: str, tmp_path: Path) -> None:
    async with engine_with(database_url, tmp_path) as engine:
        nobody = WorkspaceId(engine.services.new_id(engine.clock.now_ms()))
        with pytest.raises(Refusal) as refused:
            await engine.services.connections.save(nobody, "zernio", GRANT, by="Ada")
        assert refused.value.reason is Reason.WORKSPACE_NOT_FOUND
