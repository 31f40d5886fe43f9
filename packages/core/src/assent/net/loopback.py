"""Which loopback addresses this machine has, and whether a request surely comes from it."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from functools import cache
from typing import Final
from urllib.parse import urlsplit

LOOPBACKS: Final = ("127.0.0.1", "::1")
LOOPBACK_HOSTS: Final = frozenset({*LOOPBACKS, "localhost"})
PROXY_HEADERS: Final = re.compile(
    r"forwarded|via|x-forwarded.*|x-(?:real|client|cluster-client|original)-.*|.*-client-ip|.*-connecting-ip|cdn-.*|cf-.*|"
    r"x-envoy-.*|x-amzn?-.*|tailscale-.*|ngrok-.*|fly-.*|x-appengine-.*"
)
"""Headers that proxies and tunnels add, by their names in lower case."""
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::\d{1,5})?")


def is_here(url: str) -> bool:
    """Whether a URL leads to this machine, where only an emulator speaks for a provider."""
    return urlsplit(url).hostname in LOOPBACK_HOSTS


@cache
def has_both() -> bool:
    """Whether both loopback addresses can be bound. The name `localhost` may lead to either, so it
    is safe only where this server holds its port on both."""
    for family, address in zip((socket.AF_INET, socket.AF_INET6), LOOPBACKS, strict=True):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.bind((address, 0))
        except OSError:
            return False
    return True


def is_local(
    *, bound_to: str, base_host: str, trusts_proxy: bool, peer: str, host: str, headers: Iterable[str]
) -> bool:
    """Whether the listener, the host of the base URL, the peer and the Host header are all loopback, and no
    setting and no header, by its name in lower case, tells of a proxy. Sign-up shows a key at once to no other
    request (C26)."""
    named = _HOST.fullmatch(host.lower())
    places = (bound_to, base_host, peer, named[1].strip("[]") if named is not None else "")
    proxied = any(map(PROXY_HEADERS.fullmatch, headers))
    return not trusts_proxy and not proxied and all(map(is_loopback, places))


def is_loopback(host: str) -> bool:
    """Whether a host is `localhost` or a loopback address. No other name counts: it may lead elsewhere."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
