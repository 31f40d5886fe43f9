"""Probes an address: is the port free, is Assent there, does the page answer."""

from __future__ import annotations

import enum
import errno
import http.client
import json
import socket
import ssl
from typing import Final
from urllib.parse import urlsplit

WAIT_SECONDS: Final = 3.0


class PortState(enum.Enum):
    FREE = "free"
    OURS = "served by Assent"
    BUSY = "used by another program"
    UNUSABLE = "cannot be listened on"


def look_at_port(host: str, port: int) -> PortState:
    """Try to bind the port. If that fails, ask which server is there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(1)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            return PortState.UNUSABLE
    else:
        return PortState.FREE
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    name = f"[{local}]" if ":" in local else local
    return PortState.OURS if reaches_assent(f"http://{name}:{port}") else PortState.BUSY


def reaches_assent(base_url: str) -> bool:
    """Whether an Assent server answers at the URL. Its metadata identifies it."""
    parts = urlsplit(base_url)
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=WAIT_SECONDS, context=context
        )
    else:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=WAIT_SECONDS)
    try:
        connection.request("GET", "/.well-known/mcp.json", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        return answer.status == 200 and json.loads(answer.read(1_048_576)).get("name") == "assent"
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return False
    finally:
        connection.close()
