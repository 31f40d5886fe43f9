"""SSRF guard: which URLs may be fetched and which resolved IPs may be connected to.

A name is resolved once and every address is checked. The caller connects to these addresses and
does not resolve again, so that DNS cannot change between check and connection. Independent of HTTP.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal

import httpx

from assent.kernel.structs import Record

MAX_URL_CHARS: Final = 2_048
MAX_ADDRESSES: Final = 4
"""Several, so that a host reachable only over IPv4 is found."""

PRIVATE_NAMES: Final = ("localhost", "local", "internal", "home.arpa", "invalid")
"""Names reserved for private use (RFC 6761, 6762, 8375, and ICANN's `internal`)."""

Why = Literal[
    "url",
    "scheme",
    "port",
    "address",
    "dns",
    "connect",
    "tls",
    "timeout",
    "redirects",
    "status",
    "type",
    "broken",
]
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class FetchRefused(Exception):  # noqa: N818 - what was decided
    """The fetch was refused or failed. The text is for a person, `why` for code, `status` is the
    HTTP status if there was a response."""

    def __init__(self, why: Why, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.why = why
        self.text = text
        self.status = status


class CheckedTarget(Record, kw_only=True):
    """A URL with its checked addresses. Connect to no others."""

    url: httpx.URL
    host: str
    addresses: tuple[str, ...]


async def check(
    url: str, *, allow_hosts: Sequence[str] = (), resolve: Resolve | None = None
) -> CheckedTarget:
    """Check a URL and resolve its host. Raises `FetchRefused`."""
    place = _place(url, allow_hosts)
    found = await (resolve or _resolve)(place.host, place.port)
    addresses = _check_found(place.host, found, allowed=place.allowed)
    return CheckedTarget(url=place.url, host=place.host, addresses=addresses)


async def numbers_of(host: str, port: int, *, allow_hosts: Sequence[str] = ()) -> tuple[str, ...]:
    """For a host without https, such as a mail server. Raises `FetchRefused`."""
    allowed = is_allowed(host.lower(), port, allow_hosts)
    _refuse_odd_number(host.lower(), allowed=allowed)
    return _check_found(host, await _resolve(host, port), allowed=allowed)


def _check_found(host: str, found: Sequence[str], *, allowed: bool) -> tuple[str, ...]:
    addresses = tuple(dict.fromkeys(address.partition("%")[0] for address in found))[:MAX_ADDRESSES]
    if not addresses:
        raise FetchRefused("dns", f"The name {host} has no address.")
    # One private address among public ones suffices: such a name is an attack or a mistake.
    if not allowed and not all(is_global(address) for address in found):
        raise FetchRefused("address", f"The name {host} resolves to an address that is not public.")
    return addresses


def screen(url: str, *, allow_hosts: Sequence[str] = ()) -> None:
    """Check a URL without resolving its host. Raises `FetchRefused`."""
    place = _place(url, allow_hosts)
    if place.allowed:
        return
    if any(place.host == name or place.host.endswith("." + name) for name in PRIVATE_NAMES):
        raise FetchRefused("address", f"The name {place.host} belongs to a private network.")
    try:
        ipaddress.ip_address(place.host)
    except ValueError:
        return
    if not is_global(place.host):
        raise FetchRefused("address", f"{place.host} is an address that is not public.")


class _Address(Record):
    """A URL of acceptable form, not yet resolved."""

    url: httpx.URL
    host: str
    port: int
    allowed: bool


def _place(url: str, allow_hosts: Sequence[str]) -> _Address:
    parsed = _parse(url)
    host = _host(parsed)
    port = parsed.port or {"https": 443, "http": 80}.get(parsed.scheme, 0)
    allowed = is_allowed(host, port, allow_hosts)
    if parsed.scheme != "https" and not (allowed and parsed.scheme == "http"):
        raise FetchRefused("scheme", "Only https addresses are allowed.")
    if port != 443 and not allowed:
        raise FetchRefused("port", "Only the default https port is allowed.")
    _refuse_odd_number(host, allowed=allowed)
    return _Address(parsed, host, port, allowed)


def parse_host(url: str) -> str:
    """The host that a connection to the URL would use. Raises `FetchRefused`."""
    return _host(_parse(url))


def _host(parsed: httpx.URL) -> str:
    return parsed.raw_host.decode("ascii").strip("[]").rstrip(".").lower()


def is_allowed(host: str, port: int, allow_hosts: Sequence[str]) -> bool:
    for entry in allow_hosts:
        name, _, only = (
            entry.lower().rpartition(":")
            if re.search(r"[^:\]]:\d+$|\]:\d+$", entry)
            else (entry.lower(), "", "")
        )
        if name.strip("[]").rstrip(".") == host and (not only or int(only) == port):
            return True
    return False


_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_UNICAST6: Final = ipaddress.ip_network("2000::/3")
_TUNNELS: Final = (ipaddress.ip_network("2001::/32"), ipaddress.ip_network("2002::/16"))


def is_global(address: str) -> bool:
    """False for an address that cannot be parsed."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        special = ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip.is_loopback or ip.is_link_local
        return ip.is_global and not special
    if ip in _NAT64:
        # The last four bytes are the real destination.
        return is_global(str(ipaddress.IPv4Address(ip.packed[-4:])))
    # Mapped, compatible, unique local, link local and multicast addresses are outside; tunnels hide
    # their destination.
    return ip in _UNICAST6 and ip.is_global and not any(ip in tunnel for tunnel in _TUNNELS)


def _parse(url: str) -> httpx.URL:
    if len(url) > MAX_URL_CHARS or re.search(r"[\s\\\x00-\x20\x7f]", url):
        raise FetchRefused("url", "That is not a web address.")
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError, ValueError, TypeError):
        raise FetchRefused("url", "That is not a web address.") from None
    if not parsed.is_absolute_url or not host or not re.fullmatch(r"[A-Za-z0-9._:\[\]-]+", host):
        raise FetchRefused("url", "That is not a web address.")
    if parsed.userinfo or "@" in parsed.netloc.decode("ascii", "replace"):
        raise FetchRefused("url", "An address with a user name or password is not allowed.")
    return parsed.copy_with(fragment=None)


def _refuse_odd_number(host: str, *, allowed: bool) -> None:
    """Refuse a host that ends in a number and is no plain IPv4: 2130706433, 0x7f.1, 0177.0.0.1."""
    if allowed or ":" in host or not re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2]):
        return
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        raise FetchRefused("address", "The host is an IP address in an unusual notation.") from None


async def _resolve(host: str, port: int) -> Sequence[str]:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return (host,)
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        raise FetchRefused("dns", f"The name {host} could not be resolved.") from None
    return [str(each[4][0]) for each in found]
