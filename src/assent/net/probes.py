"""Probes an address: does Assent answer there."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Final
from urllib.parse import urlsplit

WAIT_SECONDS: Final = 3.0


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
