"""Decides which addresses may be asked, and to which numbers the connection may go.

A name is resolved once and every number it has is checked; whoever connects uses these numbers and does not resolve
again, so that a name cannot lead elsewhere between check and connection. Deliberately unaware of HTTP.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal

import httpx
import msgspec

MAX_URL_CHARS: Final = 2_048
MAX_ADDRESSES: Final = 4
"""Addresses of a name that are tried; a host that has only IPv4 is found although its name has both."""

PRIVATE_NAMES: Final = ("localhost", "local", "internal", "home.arpa", "invalid")
"""Names that are reserved for what is not the public internet (RFC 6761, 6762, 8375, and ICANN's `internal`)."""

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
    """Nothing usable came back. The text is for a human; `why` is for tests and for choosing what to do; `status` is
    what was answered, where somebody answered."""

    def __init__(self, why: Why, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.why = why
        self.text = text
        self.status = status


class CheckedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """An address that may be asked: the addresses of its host were checked and are the only ones connected to."""

    url: httpx.URL
    host: str
    addresses: tuple[str, ...]


async def check(
    url: str, *, allow_hosts: Sequence[str] = (), resolve: Resolve | None = None
) -> CheckedTarget:
    """The address if it may be asked, with the addresses to connect to; else `FetchRefused`."""
    place = _place(url, allow_hosts)
    found = await (resolve or _resolve)(place.host, place.port)
    addresses = tuple(dict.fromkeys(address.partition("%")[0] for address in found))[:MAX_ADDRESSES]
    if not addresses:
        raise FetchRefused("dns", f"The name {place.host} has no address.")
    # One private address among public ones is enough: a name that has both is a trap or a mistake.
    if not place.allowed and not all(is_global(address) for address in found):
        raise FetchRefused("address", f"The name {place.host} leads to an address that is not public.")
    return CheckedTarget(url=place.url, host=place.host, addresses=addresses)


async def numbers_of(host: str, port: int, *, allow_hosts: Sequence[str] = ()) -> tuple[str, ...]:
    """The addresses to connect to for a host that is not asked by https, such as a mail server; else `FetchRefused`."""
    allowed = is_allowed(host.lower(), port, allow_hosts)
    if not allowed and _is_odd_number(host.lower()):
        raise FetchRefused("address", "The host is a number in an unusual form.")
    found = await _resolve(host, port)
    addresses = tuple(dict.fromkeys(address.partition("%")[0] for address in found))[:MAX_ADDRESSES]
    if not addresses:
        raise FetchRefused("dns", f"The name {host} has no address.")
    if not allowed and not all(is_global(address) for address in found):
        raise FetchRefused("address", f"The name {host} leads to an address that is not public.")
    return addresses


def screen(url: str, *, allow_hosts: Sequence[str] = ()) -> None:
    """`FetchRefused` for an address that could never be asked, whatever its name may resolve to later."""
    place = _place(url, allow_hosts)
    if place.allowed:
        return
    if any(place.host == name or place.host.endswith("." + name) for name in PRIVATE_NAMES):
        raise FetchRefused("address", f"The name {place.host} is one of a private network.")
    try:
        ipaddress.ip_address(place.host)
    except ValueError:
        return
    if not is_global(place.host):
        raise FetchRefused("address", f"{place.host} is an address that is not public.")


class _Address(msgspec.Struct, frozen=True):
    """An address whose form may be asked: where it leads is not known yet."""

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
        raise FetchRefused("scheme", "Only https addresses are read.")
    if port != 443 and not allowed:
        raise FetchRefused("port", "Only the usual https port is asked.")
    if not allowed and _is_odd_number(host):
        raise FetchRefused("address", "The host is a number in an unusual form.")
    return _Address(parsed, host, port, allowed)


def host_of(url: str) -> str:
    """The host that a connection to an address is made to, or `FetchRefused`."""
    return _host(_parse(url))


def _host(parsed: httpx.URL) -> str:
    return parsed.raw_host.decode("ascii").strip("[]").rstrip(".").lower()


def is_allowed(host: str, port: int, allow_hosts: Sequence[str]) -> bool:
    """Whether whoever runs the server has named this host, with any port or with this one."""
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
    """Whether an address is one of the public internet and of nothing else. What cannot be read is not."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        special = ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip.is_loopback or ip.is_link_local
        return ip.is_global and not special
    if ip in _NAT64:
        # The last four bytes are the address that the packet will really go to.
        return is_global(str(ipaddress.IPv4Address(ip.packed[-4:])))
    # Mapped, compatible, unique local, link local and multicast addresses lie outside; tunnels hide where they lead.
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
        raise FetchRefused("url", "An address with a user name or password is not read.")
    return parsed.copy_with(fragment=None)


def _is_odd_number(host: str) -> bool:
    """Whether a host ends in a number without being a plain IPv4 address: 2130706433, 0x7f.1, 0177.0.0.1."""
    if ":" in host or not re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2]):
        return False
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return True
    return False


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
