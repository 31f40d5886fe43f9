"""Whether other devices, such as a phone, can reach the address of the pages."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from assent.settings.load import Settings

_PORTS = {"http": 80, "https": 443}


def phone_url(settings: Settings) -> str:
    """Return the base URL if other devices can reach it, else an empty text.

    A loopback address is not. Any other is reached if this server listens on it, or if the settings
    say that a proxy or tunnel is in front (`trust_proxy_headers`).
    """
    parts = urlsplit(settings.base_url)
    host = parts.hostname or ""
    if is_local(host):
        return ""
    port = parts.port or _PORTS[parts.scheme]
    return settings.base_url if settings.trust_proxy_headers or _listens(settings, host, port) else ""


def is_local(host: str) -> bool:
    """Whether a host names this machine for itself only, or no machine at all."""
    if host in ("", "localhost") or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _listens(settings: Settings, host: str, port: int) -> bool:
    if port != settings.port:
        return False
    if _is_wildcard(settings.host):
        return not _is_address(host) or _is_own(host)
    return not is_local(settings.host) and (settings.host == host or not _is_address(host))


def _is_own(address: str) -> bool:
    """Whether this machine has the address. Binding a datagram socket sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _is_wildcard(host: str) -> bool:
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
