"""Our connector and our emulator against the reference server of the AT Protocol: `make bluesky`.

Not collected with the other tests, because the server is large and is compiled in part. What is asserted here of the
reference is what the emulator does, call by call.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from packages.launch.tests.wire.pictures.test_drawing import work
from tests.support.channels.places import Place, connect
from tests.support.connectors.kit import LEASE_SECONDS, Engine
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.engine.connections.json_http import Exchanged, exchange
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import API_KEY, NewConnection, OpenedSecrets
from assent.kernel.refusals import Reason, Refusal
from assent.present.outlook import Executed
from assent_conform.emulators.bluesky import HANDLE, PASSWORD, Bluesky
from assent_conform.testing.connector_contract import claim_action, perform_claimed
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.operator import Wanted
from assent_launch.channels.bluesky.connector import record_key
from assent_launch.pictures.process import make

ROOT = Path(__file__).parents[5]
POST = Wanted(
    connector="bluesky",
    channel="bluesky",
    body="新機能 🚀 Dark mode: https://example.org/dark by @alice.test #ダークモード",
)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def reference() -> AsyncIterator[dict[str, str]]:
    """The reference server, up: its address and the account on it."""
    process = await asyncio.create_subprocess_exec(
        "node",
        "serve.cjs",
        cwd=ROOT / ".atproto",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        async with asyncio.timeout(60):
            line = await process.stdout.readline()
            while not line.startswith(b'{"url"'):
                assert line, "the reference server did not start"
                line = await process.stdout.readline()
        yield json.loads(line)
    finally:
        process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.fixture
async def engine(reference: dict[str, str], tmp_path: Path) -> AsyncIterator[Engine]:
    settings = settings_for(
        new_sqlite(tmp_path / "assent.db"),
        tmp_path,
        bluesky_url=reference["url"],
        execution_lease_seconds=LEASE_SECONDS,
        connector_timeout_seconds=20.0,
    )
    clock = ManualClock()
    app = App(settings, clock=clock)
    try:
        await app.prepare()
        await connect(app, "bluesky", f"{reference['handle']} {reference['password']}")
        yield Engine(app, clock)
    finally:
        await app.close()


async def read(reference: dict[str, str], key: str) -> Exchanged:
    query = {"repo": reference["did"], "collection": "app.bsky.feed.post", "rkey": key}
    url = f"{reference['url']}/xrpc/com.atproto.repo.getRecord"
    return await exchange("GET", url, query=query, timeout_seconds=10)


async def test_a_post_with_a_picture_is_valid_to_the_reference(
    engine: Engine, reference: dict[str, str]
) -> None:
    (picture,) = make(work("Dark mode", "bluesky", layouts=("dark",))).made
    action_id = await engine.approved(POST)
    await Place(engine, Bluesky(Ledger(ROOT / ".atproto" / "unused.jsonl"))).with_picture(
        action_id, picture.content, "Dark mode (Ledgerleaf)"
    )

    reply = await engine.execute(action_id)

    assert isinstance(reply, Executed), reply
    action = await engine.action(action_id)
    found = await read(reference, record_key(action))
    assert found.at("uri") == reply.external_id
    record = found.at("value")
    assert record["text"] == POST.body
    assert record["embed"]["images"][0]["alt"] == "Dark mode (Ledgerleaf)"
    assert record["embed"]["images"][0]["image"]["size"] == len(picture.content)
    kinds = [facet["features"][0]["$type"].partition("#")[2] for facet in record["facets"]]
    assert kinds == ["link", "mention", "tag"]
    assert record["facets"][1]["features"][0]["did"] == reference["did"]


async def test_a_repetition_finds_the_post_that_is_there(engine: Engine, reference: dict[str, str]) -> None:
    action_id = await engine.approved(POST)
    first = await engine.execute(action_id)
    assert isinstance(first, Executed)
    connector = engine.services.connectors["bluesky"]
    action = await engine.action(action_id)
    again = msgspec.structs.replace(
        claim_action(action.effect),
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        revision=action.revision,
    )

    found = await perform_claimed(connector, again, 20)

    assert found.external_id == first.external_id
    assert found.evidence["record"] == "found"


async def test_a_wrong_app_password_ends_the_connection(engine: Engine) -> None:
    action_id = await engine.approved(POST)
    wrong = NewConnection(label="wrong", secrets=OpenedSecrets({API_KEY: "alice.test nope-nope-nope-nope"}))
    await engine.app.connections.save(LOCAL_WORKSPACE, "bluesky", wrong, by="Ada")

    reply = await engine.execute(action_id)

    assert isinstance(reply, Refusal) and reply.recovery().reason is Reason.MISSING_CONNECTOR


async def played(url: str, handle: str, password: str, did: str) -> list[tuple[str, int, Any]]:
    """Every call that a connector makes, good and bad, and what is answered: statuses and names of errors."""
    said: list[tuple[str, int, Any]] = []

    async def call(method: str, name: str, **more: Any) -> Exchanged:
        answer = await exchange(method, f"{url}/xrpc/{name}", timeout_seconds=20, **more)
        fields = answer.at("error") or sorted(
            set(answer.value or {})
            & {"did", "handle", "accessJwt", "uri", "cid", "value", "blob", "validationStatus"}
        )
        said.append((name.rpartition(".")[2], answer.status, fields))
        return answer

    session = "com.atproto.server.createSession"
    create, post = "com.atproto.repo.createRecord", "app.bsky.feed.post"
    await call("POST", session, body={"identifier": handle, "password": "wrong"})
    await call("POST", session, body={"identifier": did, "password": password})
    token = (await call("POST", session, body={"identifier": handle, "password": password})).at("accessJwt")
    record = {"$type": post, "text": "hello", "createdAt": "2026-11-15T12:00:00.000Z"}
    body = {"repo": did, "collection": post, "rkey": "3kznmn7xqxl22", "validate": True, "record": record}
    await call("POST", create, body=body)
    await call("POST", create, body=body, token="nonsense")
    await call("POST", create, body=body, token=token)
    await call("POST", create, body=body, token=token)
    await call("POST", create, body={**body, "rkey": "not-a-tid"}, token=token)
    long = {**record, "text": "x" * 301}
    await call("POST", create, body={**body, "rkey": "3kznmn7xqxl23", "record": long}, token=token)
    query = {"repo": did, "collection": post, "rkey": "3kznmn7xqxl22"}
    await call("GET", "com.atproto.repo.getRecord", query=query)
    await call("GET", "com.atproto.repo.getRecord", query={**query, "rkey": "3kznmn7xqxl24"})
    upload, png = "com.atproto.repo.uploadBlob", {"content-type": "image/png"}
    await call("POST", upload, content=b"\x89PNG", headers=png, token=token)
    await call("POST", upload, content=b"\x89PNG", headers=png)
    await call("GET", "com.atproto.identity.resolveHandle", query={"handle": handle})
    await call("GET", "com.atproto.identity.resolveHandle", query={"handle": "nobody.test"})
    return said


async def test_the_emulator_answers_as_the_reference_does(reference: dict[str, str], tmp_path: Path) -> None:
    theirs = await played(reference["url"], reference["handle"], reference["password"], reference["did"])
    emulator = Bluesky(Ledger(tmp_path / "bluesky.jsonl"))
    async with emulator.serving() as url:
        ours = await played(url, HANDLE, PASSWORD, "did:plc:2xbz5te72eqktzicnnglohly")

    assert ours == theirs
