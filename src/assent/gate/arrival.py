"""Whether a request surely comes from the server's own machine: sign-up shows a key at once to no other (C26). Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Final

PROXY_HEADERS: Final = ("forwarded", "via", "x-real-ip")
"""Headers that a proxy adds, beside `X-Forwarded-*`."""
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::\d{1,5})?")


def is_local(
    *, bound_to: str, base_host: str, trusts_proxy: bool, peer: str, host: str, headers: Iterable[str]
) -> bool:
    """Whether the listener, the host of the base URL, the peer and the Host header are all loopback, and no
    setting and no header, by its name in lower case, tells of a proxy."""
    named = _HOST.fullmatch(host.lower())
    places = (bound_to, base_host, peer, named[1].strip("[]") if named is not None else "")
    proxied = any(name in PROXY_HEADERS or name.startswith("x-forwarded") for name in headers)
    return not trusts_proxy and not proxied and all(map(is_loopback, places))


def is_loopback(host: str) -> bool:
    """Whether a host is `localhost` or a loopback address. No other name counts: it may lead elsewhere."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
