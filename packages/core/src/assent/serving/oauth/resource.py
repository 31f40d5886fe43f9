"""What a refused call says about signing in (RFC 9728), and which calls need a credential.

Where keys appear at once on sign-up, which is on this machine alone (C26), a client may look at the tools without one:
`initialize` and `tools/list` answer, and a refused call says how to sign in. Everywhere else whatever comes without a
credential is refused like that, but for the public tools: clients wait for this answer (C19).
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from starlette.types import Scope

from assent.engine.core.tenancy import SCOPES
from assent.net.loopback import LOOPBACK_HOSTS, is_local
from assent.serving.edge import Challenge
from assent.serving.oauth.grammar import MCP_ENDPOINTS

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


class ProtectedResource:
    """The MCP endpoint of one server, as the clients of its authorization server know it."""

    def __init__(self, base_url: str, *, bound_to: str, trust_proxy: bool, open_here: bool) -> None:
        """`open_here`: on this machine the tools can be seen without a credential."""
        self.base_url = base_url.rstrip("/")
        self._base = urlsplit(self.base_url)
        self._bound_to = bound_to
        self._trust_proxy = trust_proxy
        self._open_here = open_here

    def is_open(self, scope: Scope) -> bool:
        """Whether a request without a credential may see the tools."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        return self._open_here and is_local(
            bound_to=self._bound_to,
            base_host=self._base.hostname or "",
            trusts_proxy=self._trust_proxy,
            peer=(scope.get("client") or ("",))[0],
            host=headers.get("host", ""),
            headers=headers,
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
        """The address by which a client knows this server. Each name of this machine is one; a client compares it with
        its own."""
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        both = urlsplit(f"//{host}").hostname, self._base.hostname
        port = f":{self._base.port}" if self._base.port else ""
        if LOOPBACK_HOSTS.issuperset(both) and host.endswith(port):
            return f"{self._base.scheme}://{host}"
        return self.base_url
