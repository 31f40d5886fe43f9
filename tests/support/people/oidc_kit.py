"""A server that offers sign-in with a real OpenID provider, and a person who walks through it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.support.review.kit import Server, path_of
from tests.support.surfaces import ManualClock

PROGRAM = Path(__file__).with_name("oidc_server.py")
CLIENT = "assent"
ANN = {"email": "ann@example.org", "email_verified": True, "name": "Ann Example"}


class Provider:
    """The program of the provider, and the people whom it knows."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, trust_env=False)

    def knows(self, subject: str, **claims: Any) -> None:
        self.http.put(f"/users/{subject}", json=claims).raise_for_status()

    def tampers(self, **how: Any) -> None:
        self.http.put("/tampering", json=how).raise_for_status()

    @property
    def asked(self) -> list[str]:
        found: list[str] = self.http.get("/asked").json()
        return found

    def consent(self, url: str, subject: str) -> str:
        """Sign in at the provider; returns the address to which it redirects."""
        answer = self.http.post(url, data={"sub": subject})
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]


@contextmanager
def running_provider() -> Iterator[Provider]:
    command = [sys.executable, "-W", "ignore", str(PROGRAM)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as program:
        assert program.stdout is not None
        url = program.stdout.readline().decode().strip()
        provider = Provider(url)
        try:
            yield provider
        finally:
            provider.http.close()
            program.communicate()


class OidcServer(Server):
    """A server whose people sign in with the provider."""

    def __init__(self, database_url: str, data_dir: Path, provider: Provider, **settings: Any) -> None:
        given: dict[str, Any] = {
            "oidc_issuer": provider.url,
            "oidc_client_id": CLIENT,
            "oidc_client_secret": "the secret of the client",
            "oidc_name": "Example ID",
            "oidc_domains": ("example.org",),
            "oidc_owners": ("admins",),
            "oidc_members": ("sales=Sales",),
            **settings,
        }
        self.issuer = provider
        super().__init__(database_url, data_dir, clock=ManualClock(time.time_ns() // 1_000_000), **given)

    async def walk(self, subject: str, browser: httpx.AsyncClient | None = None) -> httpx.Response:
        """Everything from the button to the answer of the callback."""
        browser = browser or self.browser()
        return await browser.get(await self.come_back(subject, browser))

    async def come_back(self, subject: str, browser: httpx.AsyncClient) -> str:
        """The path of the callback, for a browser that signed in at the provider."""
        started = await browser.get("/sign-in/oidc")
        assert started.status_code == 303, started.text
        return path_of(self.issuer.consent(started.headers["location"], subject))

    async def sign_in(self, subject: str) -> httpx.AsyncClient:
        """A browser that is signed in."""
        browser = self.browser()
        answer = await self.walk(subject, browser)
        assert answer.status_code == 303, answer.text
        pressed = await browser.post(answer.headers["location"])
        assert (pressed.status_code, pressed.headers["location"]) == (303, "/start"), pressed.text
        return browser
