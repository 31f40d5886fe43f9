"""Every emulated provider beside a whole engine, and the walk through a consent without a page."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from tests.support.connectors.kit import Engine, engine_with
from tests.support.surfaces import ManualClock

from assent.app import App
from assent.engine.connections import grants
from assent.engine.connections.oauth import ACCESS, REFRESH, OAuthAccess, expiry, find_access, verifier
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import Account, Connection, NewConnection, OpenedSecrets
from assent.kernel.ids import WorkspaceId
from assent_conform.emulators.bluesky import Bluesky
from assent_conform.emulators.contacts import HubSpot
from assent_conform.emulators.email import Resend
from assent_conform.emulators.google import Ga4, GoogleAccounts, SearchConsole
from assent_conform.emulators.zernio import Zernio
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.oauth_provider import OAuthServer, RegisteredApp
from assent_conform.testing.provider_server import all_serving

GOOGLE = RegisteredApp("google-client.example", "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t")
HUBSPOT = RegisteredApp("hubspot-client", "a-secret-of-the-hubspot-client-000")
BACK = "http://127.0.0.1:8080/connect/{}/callback"


class Providers:
    """The emulators, each with its ledger, and one clock."""

    def __init__(self, folder: Path, clock: ManualClock) -> None:
        self.clock = clock
        now_ms = clock.now_ms
        self.google = GoogleAccounts(Ledger(folder / "google.jsonl"), GOOGLE, now_ms=now_ms)
        self.ga4 = Ga4(Ledger(folder / "ga4.jsonl"), self.google.valid, now_ms=now_ms)
        self.search = SearchConsole(Ledger(folder / "search.jsonl"), self.google.valid, now_ms=now_ms)
        self.hubspot = HubSpot(Ledger(folder / "hubspot.jsonl"), HUBSPOT, now_ms=now_ms)
        self.zernio = Zernio(Ledger(folder / "zernio.jsonl"), now_ms=now_ms)
        self.resend = Resend(Ledger(folder / "resend.jsonl"), now_ms=now_ms)
        self.bluesky = Bluesky(Ledger(folder / "bluesky.jsonl"), now_ms=now_ms)

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*self.google.secrets, *self.hubspot.secrets)

    def settings(self) -> dict[str, Any]:
        return {
            "google_client_id": GOOGLE.client_id,
            "google_client_secret": GOOGLE.client_secret,
            "google_oauth_url": self.google.url,
            "ga4_url": self.ga4.url,
            "search_console_url": self.search.url,
            "hubspot_client_id": HUBSPOT.client_id,
            "hubspot_client_secret": HUBSPOT.client_secret,
            "hubspot_url": self.hubspot.url,
            "zernio_url": self.zernio.url,
            "resend_url": self.resend.url,
            "bluesky_url": self.bluesky.url,
        }

    def granting(self, provider: str) -> OAuthServer:
        return self.hubspot if provider == "hubspot" else self.google


@asynccontextmanager
async def providers(folder: Path, clock: ManualClock) -> AsyncIterator[Providers]:
    made = Providers(folder, clock)
    async with all_serving(
        (made.google, made.ga4, made.search, made.hubspot, made.zernio, made.resend, made.bluesky)
    ):
        yield made


class Connected:
    """An engine with the built-in connectors, and the providers behind them."""

    def __init__(self, engine: Engine, far: Providers) -> None:
        self.engine = engine
        self.far = far
        self.clock = engine.clock
        self.connections = engine.app.connections

    def access(self, provider: str) -> OAuthAccess:
        return access_of(self.engine.app, provider)

    async def connect(self, provider: str, **settings: str) -> Connection:
        """What a consenting human and our callback do."""
        return await connect(self.engine.app, provider, LOCAL_WORKSPACE, **settings)

    async def state(self, provider: str) -> str | None:
        found = await self.connections.find(LOCAL_WORKSPACE, provider)
        return found.state.value if found is not None else None


def access_of(app: App, provider: str) -> OAuthAccess:
    access = find_access(app.owner_services.connectors[provider])
    assert access is not None
    return access


async def connect(app: App, provider: str, workspace_id: WorkspaceId, **settings: str) -> Connection:
    """What a consenting human and our callback do."""
    known = access_of(app, provider).provider
    back, state = BACK.format(provider), os.urandom(12).hex()
    proof = verifier((b"key",), state)
    code = await consent(grants.consent_url(known, redirect_uri=back, state=state, verifier=proof))
    granted = await grants.exchange_code(known, code["code"], redirect_uri=back, verifier=proof)
    accounts = (Account(granted.account, provider, f"Hub {granted.account}"),) if granted.account else ()
    new = NewConnection(
        label="Ada's",
        secrets=OpenedSecrets({ACCESS: granted.access_token, REFRESH: granted.refresh_token or ""}),
        accounts=accounts,
        scopes=granted.scopes,
        settings=dict(settings),
        expires_ms=expiry(granted.expires_in, app.clock.now_ms()),
    )
    return await app.connections.save(workspace_id, provider, new, by="Ada")


async def consent(url: str, answer: str = "allow") -> dict[str, str]:
    """What the provider's redirect brings back after a human pressed a button on its page."""
    async with httpx.AsyncClient() as browser:
        page = await browser.get(url)
        assert page.status_code == 200, page.text
        form = {**dict(parse_qsl(urlsplit(url).query)), "answer": answer}
        parts = urlsplit(url)
        answered = await browser.post(f"{parts.scheme}://{parts.netloc}/consent", data=form)
    return dict(parse_qsl(urlsplit(answered.headers["location"]).query))


@asynccontextmanager
async def connected(database_url: str, folder: Path, **changes: Any) -> AsyncIterator[Connected]:
    clock = ManualClock()
    async with providers(folder, clock) as far:
        given = {**far.settings(), **changes}
        async with engine_with(database_url, folder, clock=clock, **given) as engine:
            yield Connected(engine, far)
