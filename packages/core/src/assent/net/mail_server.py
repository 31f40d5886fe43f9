"""Parses the two mail settings: the server's URL and the sender.

`smtp://user:password@host:587` uses STARTTLS; `smtps://host:465` uses TLS from the first byte.
Without encryption only with `?starttls=never` or on this machine, and a password only to this
machine.

Pure, with few imports, because settings are read before the first answer.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Final, Literal
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from assent.kernel.domains import ascii_domain
from assent.kernel.limits import MAX_EMAIL_CHARS, MAX_NAME_CHARS
from assent.kernel.structs import Record

PORTS: Final = {"smtp": 587, "smtps": 465}

# Without the beginning of an encoded word, which some readers would decode even here.
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL: Final = rf"(?=[^@]{{1,64}}@)(?!.*=\?){_ATOM}(?:\.{_ATOM})*"
_DOMAIN: Final = (
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
)
_ADDRESS: Final = re.compile(rf"{_LOCAL}@{_DOMAIN}")
_NAMED: Final = re.compile(
    r'(?P<quote>"?)(?P<name>[^<>"\x00-\x1f\x7f-\x9f\u2028\u2029]*)(?P=quote) *<(?P<address>[^<>]*)>'
)


class Mailbox(Record):
    name: str
    address: str

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2]

    @classmethod
    def parse(cls, text: str) -> Mailbox:
        """Parse `ann@example.org` or `Ann <ann@example.org>`. Raises `ValueError`.

        The domain may be an international one. The result is ASCII and safe in headers and SMTP
        commands.
        """
        named = _NAMED.fullmatch(text.strip())
        name, address = (named["name"].strip(), named["address"]) if named is not None else ("", text.strip())
        local, at, domain = address.rpartition("@")
        try:
            address = f"{local}{at}{ascii_domain(domain)}"
        except ValueError:
            raise ValueError(f"{address!r} has a domain that cannot exist") from None
        if _ADDRESS.fullmatch(address) is None or len(address) > MAX_EMAIL_CHARS:
            raise ValueError(f"{text[:MAX_EMAIL_CHARS]!r} is not an e-mail address")
        if len(name) > MAX_NAME_CHARS:
            raise ValueError("the name before the address is too long")
        return cls(name, address)


class MailServer(Record):
    host: str
    port: int
    encryption: Literal["tls", "starttls", "none"]
    user: str | None = None
    password: str | None = None
    number: str | None = None
    """The IP address to connect to, if the host was resolved and checked before."""

    def __repr__(self) -> str:
        """Without the password, because it may end up in a log or a traceback."""
        return f"MailServer({self.host}:{self.port}, {self.encryption})"

    async def resolve(self, allow_hosts: Sequence[str]) -> MailServer:
        """Return the server with the IP address to connect to. Raises `FetchRefused` for one that is not public."""
        from assent.net.addresses import numbers_of

        numbers = await numbers_of(self.host, self.port, allow_hosts=allow_hosts)
        return msgspec.structs.replace(self, number=numbers[0])

    @classmethod
    def parse(cls, url: str) -> MailServer:
        """Parse a server's URL. Raises `ValueError` with a clause that omits the password."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ValueError("its port is not a number from 1 to 65535") from None
        if parts.scheme not in PORTS or not parts.hostname:
            raise ValueError("it must start with smtp:// or smtps:// and a host")
        if parts.path not in ("", "/") or parts.fragment:
            raise ValueError("nothing but ?starttls=… may follow the host and port")
        options = parse_qsl(parts.query, keep_blank_values=True)
        starttls = dict(options).get("starttls", "never" if _is_here(parts.hostname) else "required")
        if any(name != "starttls" for name, _ in options) or starttls not in ("required", "never"):
            raise ValueError("its only option is starttls=required or starttls=never")
        encryption: Literal["tls", "starttls", "none"] = "tls" if parts.scheme == "smtps" else "starttls"
        if encryption == "starttls" and starttls == "never":
            encryption = "none"
        if parts.password is not None and encryption == "none" and not _is_here(parts.hostname):
            raise ValueError("the password would travel unencrypted; use smtps:// or starttls=required")
        if bool(parts.username) != bool(parts.password):
            raise ValueError("a user needs a password, and a password a user (user:password@host)")
        return cls(
            host=parts.hostname,
            port=port if port is not None else PORTS[parts.scheme],
            encryption=encryption,
            user=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
        )


def write_server(host: str, port: int, encryption: str, user: str, password: str) -> str:
    """Build a server's URL from the fields of a form. `MailServer.parse` validates it."""
    scheme = "smtps" if encryption == "tls" else "smtp"
    who = f"{quote(user, safe='')}:{quote(password, safe='')}@" if user or password else ""
    place = f"[{host}]" if ":" in host else host
    option = {"starttls": "?starttls=required", "none": "?starttls=never"}.get(encryption, "")
    return f"{scheme}://{who}{place}:{port}{option}"


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
