"""An MCP client written from the specifications alone: it imports nothing of this project.

RFC 9728, RFC 8414, RFC 7591, RFC 7636, RFC 8707, RFC 9207 and the authorization specification of MCP, with the least
that each asks of a client. A person's browser is a function from an address to the one that it is sent back to.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

Browser = Callable[[str], Awaitable[str]]

PARAMETER = re.compile(r'(\w+)="([^"]*)"')
MODERN = "2026-07-28"


def read_challenge(answer: httpx.Response) -> dict[str, str]:
    header = answer.headers.get("www-authenticate", "")
    assert header.lower().startswith("bearer"), header
    return dict(PARAMETER.findall(header))


def make_pkce() -> tuple[str, str]:
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    return verifier, base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass
class PlainClient:
    """One client of one MCP endpoint. `client_id` is the address of its document, if it has one."""

    http: httpx.AsyncClient
    endpoint: str
    version: str = MODERN
    client_id: str = ""
    redirect_uri: str = "http://127.0.0.1:53117/callback"
    name: str = "Plain"
    scope: str = ""
    server: dict[str, Any] = field(default_factory=dict)
    resource: str = ""
    tokens: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def say(self, method: str, params: dict[str, Any] | None = None) -> httpx.Response:
        """One message, in the era of this client."""
        params = dict(params or {})
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": self.version}
        if self.tokens:
            headers["Authorization"] = f"Bearer {self.tokens['access_token']}"
        if self.version == MODERN:
            headers["Mcp-Method"] = method
            if method == "tools/call":
                headers["Mcp-Name"] = params["name"]
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
            }
        message = {"jsonrpc": "2.0", "id": secrets.randbelow(1_000_000), "method": method, "params": params}
        return await self.http.post(self.endpoint, json=message, headers=headers)

    async def greet(self) -> httpx.Response:
        """The first message of a client."""
        if self.version == MODERN:
            return await self.say("server/discover")
        client = {"name": self.name, "version": "1"}
        return await self.say(
            "initialize", {"protocolVersion": self.version, "capabilities": {}, "clientInfo": client}
        )

    async def call(self, tool: str, **arguments: Any) -> httpx.Response:
        return await self.say("tools/call", {"name": tool, "arguments": arguments})

    async def discover(self, refused: httpx.Response) -> None:
        """From a refusal to the endpoints of the authorization server."""
        said = read_challenge(refused)
        self.scope = self.scope or said.get("scope", "")
        found = (await self.http.get(said["resource_metadata"])).raise_for_status().json()
        assert self.endpoint.startswith(found["resource"]), found
        self.resource = found["resource"]
        (issuer,) = found["authorization_servers"]
        parts = urlsplit(issuer)
        well_known = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}"
        self.server = (await self.http.get(well_known)).raise_for_status().json()
        assert self.server["issuer"] == issuer
        assert "S256" in self.server["code_challenge_methods_supported"]

    async def register(self) -> None:
        if self.client_id and self.server.get("client_id_metadata_document_supported"):
            return
        metadata = {
            "client_name": self.name,
            "redirect_uris": [self.redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        }
        answer = await self.http.post(self.server["registration_endpoint"], json=metadata)
        assert answer.status_code == 201, answer.text
        self.client_id = answer.json()["client_id"]

    def authorization_url(self, challenge: str, state: str, **changes: str) -> str:
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "state": state,
            "resource": self.resource,
            "scope": self.scope,
            **changes,
        }
        shown = {name: value for name, value in query.items() if value}
        return f"{self.server['authorization_endpoint']}?{urlencode(shown)}"

    async def ask(self, browser: Browser) -> tuple[str, str]:
        """Let a person decide. Returns the code with its verifier."""
        verifier, challenge = make_pkce()
        state = secrets.token_urlsafe(16)
        url = self.authorization_url(challenge, state)
        self.asked.append(url)
        back = await browser(url)
        assert back.startswith(self.redirect_uri), back
        answer = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
        assert answer["state"] == state
        assert answer["iss"] == self.server["issuer"]
        if "error" in answer:
            raise PermissionError(answer["error"])
        return answer["code"], verifier

    async def exchange(self, code: str, verifier: str, **changes: str) -> httpx.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": self.redirect_uri,
            "client_id": self.client_id,
            "resource": self.resource,
            **changes,
        }
        return await self.http.post(self.server["token_endpoint"], data=form)

    async def refresh(self, token: str | None = None, **changes: str) -> httpx.Response:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": token or self.tokens["refresh_token"],
            "client_id": self.client_id,
            "resource": self.resource,
            **changes,
        }
        return await self.http.post(self.server["token_endpoint"], data=form)

    async def revoke(self, token: str, **changes: str) -> httpx.Response:
        form = {"token": token, "client_id": self.client_id, **changes}
        return await self.http.post(self.server["revocation_endpoint"], data=form)

    def keep(self, answer: httpx.Response) -> None:
        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "no-store"
        self.tokens = answer.json()
        assert self.tokens["token_type"].lower() == "bearer"

    async def sign_in(self, refused: httpx.Response, browser: Browser) -> None:
        """The whole way from a refusal to tokens."""
        await self.discover(refused)
        await self.register()
        self.keep(await self.exchange(*await self.ask(browser)))
