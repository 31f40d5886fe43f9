"""Listening addresses of a process, and the address of its data's pages.

A local port is bound on every loopback address or on none, so that a link to any of them cannot
reach another program. `serve` listens where the settings say. A `stdio` process hands out links to
the server on the same data. If there is none, it listens itself, on another port if the usual one
is taken. A file lock proves that an announced address is current; asking the port would not,
because any program could answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import json
import logging
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from assent.net.loopback import LOOPBACK_HOSTS, LOOPBACKS
from assent.serving.leader import Announcement, Leadership
from assent.settings.client_config import in_shell, own_command
from assent.settings.load import Settings, SettingsError, hide_password, literal_address, own_address

if TYPE_CHECKING:
    import uvicorn

log = logging.getLogger("assent.process")

WAITING_TO_CONNECT: Final = 1_024
"""Backlog of connections not yet accepted."""

_ABSENT: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""Error codes for an address that this machine does not have."""

FIRST_OTHER_PORT: Final = 20_000
OTHER_PORTS: Final = 20_000
"""Range of the fallback ports, below the ephemeral range."""

TRIES: Final = 8
PROBE_SECONDS: Final = 3.0
FIND_SECONDS: Final = 3.0
"""How long a call waits for a starting server to announce its pages."""


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
            f"{where} is in use by Assent itself: a {who} serves this data at {said.address} already.\nUse it"
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


class StdioPages:
    """Finds the base URL for the links of a `stdio` process."""

    def __init__(self, settings: Settings, leadership: Leadership) -> None:
        self._settings = settings
        self._leadership = leadership
        self._usual = own_address(settings.host, settings.port)
        self.listeners: list[socket.socket] = []
        self.own: str | None = None
        """The address that this process listens on."""
        self.address: str | None = None
        """The base URL for links, as of the last look; None if no process serves pages."""
        self._passing = False

    @property
    def elsewhere(self) -> bool:
        """Whether the settings name the pages' URL, which other machines may serve too."""
        return self._settings.sqlite_path is None and self._settings.base_url != self._usual

    @property
    def listens_as_usual(self) -> bool:
        return bool(self.listeners) and self.listeners[0].getsockname()[1] == self._settings.port

    def look(self) -> str | None:
        """Find the pages now: of a server, else of another `stdio` process, else our own."""
        if self.elsewhere:
            self.address = self._settings.base_url
            return self.address
        said = self._leadership.announced()
        if said is not None and said.address is not None:
            self.address, self._passing = said.address, said.role != "serve"
        elif self._leadership.leads or (not self._leadership.serve_wanted() and self._leadership.try_lead()):
            self.open()
        else:
            self.address = None
        return self.address

    async def find(self) -> None:
        """`look`, with a short wait for a process that is about to announce its pages."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + FIND_SECONDS
        with contextlib.suppress(OSError):
            # If this process leads and found no port, waiting does not help.
            while self.look() is None and not self._leadership.leads and loop.time() < give_up:  # noqa: ASYNC110 - another process says it
                await asyncio.sleep(0.05)

    def open(self) -> None:
        """Listen, and announce it to the other processes on this data."""
        if not self.listeners:
            self.listeners, self.own = self._listen()
        self.address, self._passing = self.own, True
        self._leadership.announce(self.own)

    def _listen(self) -> tuple[list[socket.socket], str | None]:
        # The address of the settings is https then, which a chat's own pages are not.
        usual_ports = () if self._settings.tls_cert is not None else (self._settings.port,)
        for port in (*usual_ports, *other_ports(self._settings)):
            host = self._settings.host if port == self._settings.port else LOOPBACKS[0]
            with contextlib.suppress(OSError):
                made = listen(host, port)
                usual = self._settings.base_url
                return made, usual if port == self._settings.port else own_address(host, port)
        log.warning("no pages from this process: every port that it tried is in use")
        return [], None

    def close(self) -> None:
        for each in self.listeners:
            each.close()
        self.listeners, self.own = [], None

    def note(self) -> str | None:
        """Return the note beside a link that ends with this process; None if it is permanent."""
        if self.address is None or self.elsewhere or not self._passing:
            return None
        words = ["serve"]
        if self.address not in (self._usual, self._settings.base_url):
            words += ["--port", self.address.rpartition(":")[2]]
        keep = in_shell(own_command(self._settings, *words))
        return f"Tell the user: links work while this chat is open. To keep them, start the server: `{keep}`"


class OwnPages:
    """The pages served by this process."""

    def __init__(self, make_server: Callable[[], uvicorn.Server], pages: StdioPages) -> None:
        self._make_server = make_server
        self._pages = pages
        self._serving: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> OwnPages:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def start(self) -> None:
        if self._serving is None and self._pages.listeners:
            self._serving = asyncio.create_task(_serve_on_demand(self._make_server, self._pages.listeners))

    async def free_port(self) -> None:
        """Begin to stop, and return once the port is free. `stop` waits for calls in flight."""
        listeners = self._pages.listeners
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.create_task(self._stop())
        while not self._stopping.done() and any(each.fileno() >= 0 for each in listeners):  # noqa: ASYNC110 - closed by the web server
            await asyncio.sleep(0.02)

    async def stop(self) -> None:
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.create_task(self._stop())
        await self._stopping

    async def _stop(self) -> None:
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
            self._serving = None
        self._pages.close()


async def _serve_on_demand(make_server: Callable[[], uvicorn.Server], listeners: list[socket.socket]) -> None:
    """Load the web server at the first connection: most stdio processes never need it."""
    loop = asyncio.get_running_loop()
    knocked = asyncio.Event()
    for listener in listeners:
        loop.add_reader(listener, knocked.set)
    try:
        await knocked.wait()
    finally:
        for listener in listeners:
            loop.remove_reader(listener)
    server = await asyncio.to_thread(make_server)
    serving = asyncio.create_task(server.serve(sockets=listeners))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving


HELLO_BYTES: Final = 2_000_000
"""The longest description of what is wrapped."""
MAX_PATH_BYTES: Final = 100
"""The longest path of a socket, a little below the system's limit."""
NAME: Final = "wrap.sock"


def find_socket(data_dir: Path) -> Path:
    """Return the path of the socket: in the data directory, or, if that path is too long, in a directory
    that only this user can enter. Raises `PermissionError` if another user has made that."""
    path = data_dir / NAME
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    named = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"assent-{os.getuid()}-{named}"
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
