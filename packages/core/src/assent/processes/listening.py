"""Listening addresses of a process.

A local port is bound on every loopback address or on none, so that a link to any of them cannot
reach another program. `serve` listens where the settings say.

Few imports, because a front waits for them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from assent.net.loopback import LOOPBACK_HOSTS, LOOPBACKS
from assent.serving.leader import Announcement, Leadership
from assent.settings.client_config import in_shell, own_command
from assent.settings.load import Settings, SettingsError, hide_password, literal_address, own_address

WAITING_TO_CONNECT: Final = 1_024
"""Backlog of connections not yet accepted."""

_ABSENT: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""Error codes for an address that this machine does not have."""

FIRST_OTHER_PORT: Final = 20_000
OTHER_PORTS: Final = 20_000
"""Range of the fallback ports, below the ephemeral range."""

TRIES: Final = 8
PROBE_SECONDS: Final = 3.0


def listen(host: str, port: int) -> list[socket.socket]:
    """Bind sockets for every address of the host. Raises OSError and then leaves none bound."""
    wanted = LOOPBACKS if host in LOOPBACK_HOSTS else (host,)
    made: list[socket.socket] = []
    try:
        for address in wanted:
            try:
                made.append(_listener(address, port))
            except OSError as error:
                if error.errno not in _ABSENT or address == host or len(wanted) == 1:
                    raise OSError(error.errno, error.strerror, address) from error
    except OSError:
        for each in made:
            each.close()
        raise
    if not made:
        raise OSError(errno.EADDRNOTAVAIL, "this machine has no loopback address")
    return made


def _listener(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if listener.family == socket.AF_INET6 and address in LOOPBACKS:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((address, port))
        listener.listen(WAITING_TO_CONNECT)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def bind(settings: Settings) -> list[socket.socket]:
    """Bind the listening sockets of a server. Raises with a plain reason."""
    try:
        return listen(settings.host, settings.port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise SettingsError(
                f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}.\n"
                "Choose another address of this machine with --host, or another port with --port."
            ) from error
        other = in_shell(own_command(settings, "serve", "--port", str(settings.port % 65_535 + 1)))
        raise SettingsError(
            f"{_describe_holder(settings, error.filename)}, or choose another port: {other}"
        ) from error


def _describe_holder(settings: Settings, address: str) -> str:
    where = f"Port {settings.port} on {address}"
    if (said := _find_own(settings)) is not None:
        who = "server" if said.role == "serve" else "chat"
        return (
            f"{where} is in use by Assent itself: a {who} serves this data at {said.address} already.\n"
            "Use it, stop it and run this again"
        )
    if reaches_assent(literal_address(address, settings.port)):
        return f"{where} is in use by another Assent, which serves other data or is a chat that is open.\nStop that one"
    return f"{where} is in use by another program.\nStop that program"


def serves_this_data(settings: Settings) -> bool:
    """Whether the process that holds the port serves this data. A replica without a data directory
    announces nothing, so any Assent on its port counts."""
    if _find_own(settings) is not None:
        return True
    address = literal_address(settings.host, settings.port)
    return settings.sqlite_path is None and reaches_assent(address)


def _find_own(settings: Settings) -> Announcement | None:
    """The process on this data that announced the address of these settings."""
    said = leadership_of(settings, "command").announced()
    return said if said is not None and said.address == own_address(settings.host, settings.port) else None


def leadership_of(settings: Settings, role: str) -> Leadership:
    """The leadership of this database. Several databases may share a data directory."""
    if settings.sqlite_path is not None:
        return Leadership(settings.data_dir, role)
    shown = hide_password(settings.database_url)
    return Leadership(settings.data_dir, role, f"{hashlib.sha256(shown.encode()).hexdigest()[:8]}-")


def other_ports(settings: Settings) -> list[int]:
    """Return the fallback ports, which are stable, so that old links work again."""
    digest = hashlib.sha256(str(settings.data_dir).encode()).digest()
    numbers = (int.from_bytes(digest[at * 2 : at * 2 + 2], "big") for at in range(TRIES))
    return [FIRST_OTHER_PORT + number % OTHER_PORTS for number in numbers]


HELLO_BYTES: Final = 2_000_000
"""The longest description of what is wrapped."""
MAX_PATH_BYTES: Final = 100
"""The longest path of a socket, a little below the system's limit."""
NAME: Final = "wrap.sock"


def find_socket(data_dir: Path) -> Path:
    """Return the path of the socket: in the data directory, or, if that path is too long, in a directory below `/tmp`
    that only this user can enter. A client may give a front a temporary directory of its own, so `TMPDIR` does not
    count. Raises `PermissionError` if another user has made the directory."""
    path = data_dir / NAME
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    named = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
    folder = Path("/tmp") / f"assent-{os.getuid()}-{named}"  # noqa: S108 - its owner and its mode are checked
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} belongs to another user. Use a shorter data directory.")
    return folder / NAME


def reaches_assent(base_url: str) -> bool:
    """Whether an Assent server answers at the URL."""
    return read_metadata(base_url) is not None


def read_metadata(base_url: str) -> dict[str, Any] | None:
    """Return the metadata of the Assent server at the URL; None if none answers. It identifies itself by it."""
    import http.client
    import ssl

    parts = urlsplit(base_url)
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=PROBE_SECONDS, context=context
        )
    else:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", "/.well-known/mcp.json", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        said: dict[str, Any] = json.loads(answer.read(1_048_576))
        return said if answer.status == 200 and said.get("name") == "assent" else None
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return None
    finally:
        connection.close()
