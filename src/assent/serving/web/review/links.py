"""The links of a text, their targets and their anomalies. Pure, in linear time.

URLs are parsed as browsers parse them (the WHATWG URL standard): a backslash is a slash, the name
before an @ is not the host, tabs and line ends are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import parse_qsl, unquote

from assent.kernel.domains import ascii_domain
from assent.kernel.structs import Record
from assent.serving.web.review.html_links import find_links
from assent.serving.web.shell.unseen import without_unseen

MOST_LINKS: Final = 200
"""Limit of listed links. As many suspicious ones beyond it are listed as well."""

MOST_HOSTS: Final = 50
"""Limit of hosts named for the links beyond the list."""

_URL: Final = re.compile(r"(?:https?:[/\\]{2}|www\.)[^\s<>\"“”„`]+", re.IGNORECASE)
_MARKDOWN_LINK: Final = re.compile(
    r"\[([^\[\]\n]{1,300})\]\(\s?<?([^\s()<>]{1,2000})>?(?:\s[^()\n]{0,200})?\)"
)
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):(?!\d)", re.IGNORECASE)
_WEB: Final = frozenset({"http", "https", "ftp", "ws", "wss"})
_TRAILING: Final = ".,;:!?)]}'’*_"
_EDGES: Final = "".join(map(chr, range(33)))
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_NUMBER: Final = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_QUAD: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_WORD: Final = re.compile(r"[\w.-]+")
_MAILBOX: Final = re.compile(r"(?<![^\s<>(),;:\"@])[^\s<>(),;:\"@]++@[^\s<>(),;:\"@]+")
_FILES: Final = re.compile(
    "asp|css|csv|docx?|exe|gif|html?|jpe?g|jsx?|json|pdf|php|png|svg|toml|tsx?|txt|webp|xlsx?|xml|ya?ml"
)
"""File extensions that are not top-level domains."""


class LinkTarget(Record):
    url: str
    host: str
    says: str = ""
    oddity: str = ""


class LinkList(Record):
    """`more`: the number and the hosts of unlisted links."""

    shown: tuple[LinkTarget, ...]
    more: int = 0
    odd_more: int = 0
    hosts: tuple[str, ...] = ()


class _Unreadable(ValueError):  # noqa: N818 - a finding, not a fault
    """No browser could follow the URL."""


def targets(text: str) -> tuple[LinkTarget, ...]:
    """Every link in plain text: URLs, and Markdown link syntax."""
    named = [(match[2], match[1]) for match in _MARKDOWN_LINK.finditer(text)]
    return _unique([*named, *((_bare(url), "") for url in _URL.findall(text))])


def address_targets(urls: Iterable[str]) -> tuple[LinkTarget, ...]:
    """The targets of addresses that are known to be links."""
    return _unique([(url, "") for url in urls])


def html_targets(source: str) -> tuple[LinkTarget, ...]:
    """Every link in an HTML source, and every URL that it loads."""
    return _unique(find_links(source))


def list_links(found: Iterable[LinkTarget]) -> LinkList:
    """The list for a page. Links beyond the limit are counted."""
    every = list(found)
    rest = every[MOST_LINKS:]
    odd = [target for target in rest if target.oddity]
    left = [target for target in rest if not target.oddity] + odd[MOST_LINKS:]
    hosts = dict.fromkeys(target.host for target in left if target.host)
    return LinkList(
        (*every[:MOST_LINKS], *odd[:MOST_LINKS]),
        len(left),
        len(odd[MOST_LINKS:]),
        tuple(hosts)[:MOST_HOSTS],
    )


def _bare(url: str) -> str:
    """Strip the punctuation of the surrounding sentence."""
    return url.rstrip(_TRAILING) if "(" not in url else url.rstrip(_TRAILING.replace(")", ""))


def _unique(found: list[tuple[str, str]]) -> tuple[LinkTarget, ...]:
    """One target per URL and text. A URL without text is dropped if it is already listed."""
    seen: dict[tuple[str, str], LinkTarget] = {}
    urls: set[str] = set()
    for url, says in found:
        said = "" if says == url else says
        if not url or (url, said) in seen or (not said and url in urls):
            continue
        urls.add(url)
        seen[url, said] = _target(url, says)
    return tuple(seen.values())


def _target(url: str, says: str) -> LinkTarget:
    clean = url.strip(_EDGES).replace("\t", "").replace("\n", "").replace("\r", "")
    named = _SCHEME.match(clean)
    scheme = named[1].lower() if named is not None else "http"
    rest = clean[named.end() :] if named is not None else clean
    if scheme == "mailto":
        return _mail_target(url, says, rest)
    if scheme not in _WEB:
        return LinkTarget(url, "", says, f"is a {scheme}: link")
    try:
        host, user = _host(rest)
    except _Unreadable:
        return LinkTarget(url, "", says, "cannot be read as an address")
    odd = []
    if user:
        odd.append(f"leads to {host}, not to the name before the @")
    if "\\" in rest:
        odd.append(f"leads to {host}, because a browser reads \\ as /")
    if "xn--" in host:
        odd.append("its name may look like another")
    if _NUMBER.fullmatch(host.rpartition(".")[2]) and not _QUAD.fullmatch(host):
        odd.append("leads to an IP address in an unusual notation")
    odd += [
        f"says {claimed}, leads to {host}"
        for claimed in _claims(says)
        if _bare_host(claimed) != _bare_host(host)
    ]
    return LinkTarget(url, host, "" if says == url else says, "; ".join(odd))


def _host(rest: str) -> tuple[str, bool]:
    """The host that a browser would contact, in ASCII, and whether user info precedes it."""
    authority = re.split(r"[/\\?#]", rest.lstrip("/\\"), maxsplit=1)[0]
    _, at, place = authority.rpartition("@")
    if place.startswith("["):
        host, closing, port = place.partition("]")
        host += closing
        if not closing:
            raise _Unreadable
        port = port.removeprefix(":")
    else:
        host, _, port = place.partition(":")
        host = _ascii(unquote(host))
    if not host or (port and not (port.isascii() and port.isdigit())):
        raise _Unreadable
    return host, bool(at)


def _ascii(host: str) -> str:
    plain = unicodedata.normalize("NFKC", without_unseen(host)).replace("。", ".").lower()
    if _FORBIDDEN.search(plain):
        raise _Unreadable
    try:
        return ascii_domain(plain)
    except ValueError:
        raise _Unreadable from None


def _bare_host(host: str) -> str:
    return host.rstrip(".").removeprefix("www.")


def _claims(says: str) -> list[str]:
    """The distinct hosts named in a link's text."""
    found: dict[str, None] = {}
    for word in unicodedata.normalize("NFKC", without_unseen(says)).replace("。", ".").split():
        _, scheme, rest = word.rpartition("://")
        parts = re.split(r"[/\\?#]", rest.lstrip("/\\"))
        first = list(_hosts_in(parts[0].rpartition("@")[2] if scheme else parts[0]))
        for host in first or _hosts_in(" ".join(parts)):
            found.setdefault(host)
    return list(found)


def _hosts_in(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        labels = match[0].strip(".-_").lower().split(".")
        last = labels[-1]
        if len(labels) < 2 or not all(labels) or _FILES.fullmatch(last):
            continue
        if (len(last) > 1 and last.isalpha()) or last.startswith("xn--"):
            try:
                yield ascii_domain(".".join(labels))
            except ValueError:
                yield ".".join(labels)


def _mail_target(url: str, says: str, rest: str) -> LinkTarget:
    """The target of a mailto link: its recipients, including copies."""
    path, _, query = rest.partition("?")
    to = _mailboxes(unquote(path))
    others: list[str] = []
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name.lower() == "to":
            to += _mailboxes(value)
        elif name.lower() in ("cc", "bcc"):
            others += [f"{mailbox} ({name.lower()})" for mailbox in _mailboxes(value)]
    whom = ", ".join(to) or "no one"
    domains = {_bare_host(domain) for mailbox in to for domain in _hosts_in(mailbox.rpartition("@")[2])}
    named = [mailbox.strip(".").lower() for mailbox in _MAILBOX.findall(without_unseen(says))]
    odd = [f"says {mailbox}, writes to {whom}" for mailbox in named if mailbox not in to]
    if not named:
        odd += [f"says {host}, writes to {whom}" for host in _claims(says) if _bare_host(host) not in domains]
    if others:
        odd.append(f"also writes to {', '.join(others)}")
    return LinkTarget(url, ", ".join(sorted(domains)), says, "; ".join(odd))


def _mailboxes(text: str) -> list[str]:
    return [part.strip().lower() for part in re.split(r"[,;]", text) if part.strip()]
