"""Probes an address: does Assent answer there."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any, Final
from urllib.parse import urlsplit

WAIT_SECONDS: Final = 3.0


def reaches_assent(base_url: str) -> bool:
    """Whether an Assent server answers at the URL."""
    return read_metadata(base_url) is not None


def read_metadata(base_url: str) -> dict[str, Any] | None:
    """Return the metadata of the Assent server at the URL; None if none answers. It identifies itself by it."""
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
        said: dict[str, Any] = json.loads(answer.read(1_048_576))
        return said if answer.status == 200 and said.get("name") == "assent" else None
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return None
    finally:
        connection.close()
