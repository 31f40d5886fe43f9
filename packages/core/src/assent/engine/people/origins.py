"""The address of this server, and what a cookie proves there about a person (C8). Pure.

A cookie ignores the port: every program on the same host name gets it. So on plain http, on
`localhost` and on an IP address a cookie alone counts at most as `client`. A key that is bound to
the origin, port included, signs the form (`proofs`); the request then counts as `person`, or as
`passkey` if the key is one.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from assent.gate.policy import RANK
from assent.gate.records import Assurance


def origin_of(base_url: str) -> str:
    """Return scheme, host and port of a URL, as a browser writes them."""
    parts = urlsplit(base_url.lower())
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port not in (None, usual) else "")


def has_own_name(base_url: str) -> bool:
    """Whether the host is a name that belongs to this server: not an IP address, not `localhost`."""
    name = (urlsplit(base_url).hostname or "").rstrip(".")
    return not is_address(name) and name != "localhost" and not name.endswith(".localhost")


def is_address(name: str) -> bool:
    """Whether a host is an IP address, which no passkey can be made for."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def can_hold_keys(base_url: str) -> bool:
    """Whether a browser makes keys at this address: https, or the machine itself."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    here = host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)
    return parts.scheme == "https" or here


def count_cookie(base_url: str, assurance: Assurance) -> Assurance:
    """Return what the cookie of a session counts for, without a signature. `assurance` is that of
    the sign-in."""
    most = Assurance.CLIENT
    if urlsplit(base_url).scheme == "https" and has_own_name(base_url):
        most = Assurance.PERSON
    return min(assurance, most, key=RANK.__getitem__)
