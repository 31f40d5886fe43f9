"""What a refused call says about signing in (RFC 9728), and which calls need a credential.

Where keys appear at once on sign-up, which is on this machine alone (C26), a client may look at the tools without one:
`initialize` and `tools/list` answer, and a refused call says how to sign in. Everywhere else a request without a
credential is refused like that, except a call of a public tool: clients wait for this answer (C19).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.types import Scope

from assent.engine.core.tenancy import SCOPES
from assent.net.loopback import LOOPBACK_HOSTS, is_local
from assent.serving.edge import Challenge
from assent.serving.oauth.grammar import BadRequest, split_uri

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
MCP_ENDPOINTS: Final = ("/api/mcp", "/mcp")
USUAL_PORTS: Final = {"https": ":443", "http": ":80"}


@dataclass(frozen=True)
class ProtectedResource:
    """The MCP endpoint of one server, as the clients of its authorization server know it."""

    base_url: str
    bound_to: str
    trust_proxy: bool
    open_here: bool
    """Whether the tools can be seen without a credential on this machine."""

    @cached_property
    def names(self) -> frozenset[str]:
        """Every address that is this server as a resource. The names of this machine are one, ports are not."""
        parts = urlsplit(_fold(self.base_url))
        hosts = {parts.netloc}
        if parts.hostname in LOOPBACK_HOSTS:
            port = f":{parts.port}" if parts.port else ""
            hosts = {f"{host}{port}" for host in ("localhost", "127.0.0.1", "[::1]")}
        return frozenset(f"{parts.scheme}://{host}{path}" for host in hosts for path in ("", *MCP_ENDPOINTS))

    def check(self, named: str | None) -> None:
        """Refuse a request for a token of another server (RFC 8707)."""
        if named is not None and ("?" in named or split_uri(named) is None or _fold(named) not in self.names):
            raise BadRequest("invalid_target", "The client asked for access to another server than this one.")

    def is_open(self, scope: Scope) -> bool:
        """Whether a request without a credential may see the tools."""
        asked = HTTPConnection(scope)
        return self.open_here and is_local(
            bound_to=self.bound_to,
            base_host=urlsplit(self.base_url).hostname or "",
            trusts_proxy=self.trust_proxy,
            peer=asked.client.host if asked.client is not None else "",
            host=asked.headers.get("host", ""),
            headers=asked.headers,
        )

    def challenge(self, scope: Scope, why: Challenge) -> str:
        """Return the value of `WWW-Authenticate` for a refused request."""
        found = self._seen_at(scope) + WELL_KNOWN + scope["path"].rstrip("/")
        error = f'error="{why.error}", ' if why.error else ""
        return f'Bearer realm="assent", {error}resource_metadata="{found}", scope="{" ".join(why.scopes)}"'

    def describe(self, scope: Scope) -> dict[str, Any]:
        """Return the metadata of the endpoint whose path follows the well-known one (RFC 9728)."""
        path: str = scope["path"].removeprefix(WELL_KNOWN).rstrip("/")
        return {
            "resource": self._seen_at(scope) + (path or MCP_ENDPOINTS[0]),
            "authorization_servers": [self.base_url],
            "scopes_supported": SCOPES,
            "bearer_methods_supported": ["header"],
            "resource_name": "Assent",
        }

    def _seen_at(self, scope: Scope) -> str:
        """The address by which a client knows this server, which it compares with its own."""
        seen = f"{urlsplit(self.base_url).scheme}://{HTTPConnection(scope).headers.get('host', '').lower()}"
        return seen if seen in self.names else self.base_url


def _fold(uri: str) -> str:
    parts = urlsplit(uri)
    host = parts.netloc.lower().removesuffix(USUAL_PORTS.get(parts.scheme, ""))
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"
