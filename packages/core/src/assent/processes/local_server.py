"""The server of a data directory, as other programs on the machine reach it: by its socket, started in the background
if none runs, or by calling its tools beside it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assent.extensions.hooks import list_own_settings
from assent.processes.listening import find_socket, leadership_of, listen, other_ports
from assent.settings.client_config import in_shell, name_program, own_command
from assent.settings.load import Settings, load_settings
from assent.settings.secret_files import ensure_data_dir

if TYPE_CHECKING:
    from assent.serving.edge import Edge, RequestContext

START_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.005
"""How often a front tries to connect to the server that starts: its client waits."""
ENDED_SECONDS: Final = 3.0
"""How long a server that ended at once may have given way to another."""
LOG: Final = "serve.log"


class NoServer(ConnectionError):  # noqa: N818 - a state of the data directory
    """The server does not start. The message has its last words."""


class LocalServer:
    """The server of the data directory that flags and environment name."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @classmethod
    def find(cls, flags: Mapping[str, object]) -> LocalServer:
        """Read the settings. Raises `SettingsError`."""
        return cls(load_settings(flags, added=list_own_settings()).settings)

    @property
    def data_dir(self) -> Path:
        return self._settings.data_dir

    @property
    def base_url(self) -> str:
        return self._settings.base_url

    @property
    def api_key(self) -> str | None:
        return self._settings.api_key

    @staticmethod
    def name_program() -> str:
        """This command as a person types it."""
        return name_program()

    def write_command(self, *words: str) -> str:
        """Return a command of this installation on the same data, for a shell."""
        return in_shell(own_command(self._settings, *words))

    def connect(self, say: Callable[[str], None]) -> socket.socket:
        """Return a connection to the server. Starts one if none runs. Raises `NoServer`."""
        return _connect(self._settings, say)

    def open_tools(self) -> AbstractAsyncContextManager[LocalCaller]:
        """Open the store beside the process that serves its pages. Raises `Refused` if there is none."""
        return _open_tools(self._settings)


def _connect(settings: Settings, say: Callable[[str], None]) -> socket.socket:
    ensure_data_dir(settings.data_dir)
    path = find_socket(settings.data_dir)
    if (link := _try_connect(path)) is not None:
        return link
    leadership, started, ended_at = leadership_of(settings, "command"), None, None
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        if (link := _try_connect(path)) is not None:
            return link
        if started is None and not leadership.serve_wanted():  # else one is starting
            started = start_server(settings, say)
        if started is not None and started.poll() is not None:
            ended_at = ended_at or time.monotonic()
            if time.monotonic() - ended_at > ENDED_SECONDS:
                break
        time.sleep(POLL_SECONDS)
    log = settings.data_dir / LOG
    raise NoServer(f"The server does not start. Its last words, from {log}:\n{_read_end(log)}")


def _try_connect(path: Path) -> socket.socket | None:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(str(path))
    except OSError:
        link.close()
        return None
    return link


def start_server(settings: Settings, say: Callable[[str], None]) -> subprocess.Popen[bytes]:
    """Start `assent serve` in the background. It stays when this process ends: calls that wait for a
    person outlive their client. It uses another port if the usual one is taken."""
    command = own_command(settings, "serve", "--background", "--port", str(_find_port(settings)))
    log = settings.data_dir / LOG
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as out:
        started = subprocess.Popen(  # noqa: S603 - this program
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/"
        )
    say(f"started the server in the background (process {started.pid}); its log is {log}")
    return started


def _find_port(settings: Settings) -> int:
    for port in (settings.port, *other_ports(settings)):
        with contextlib.suppress(OSError):
            for each in listen(settings.host, port):
                each.close()
            return port
    return settings.port


def _read_end(log: Path) -> str:
    with contextlib.suppress(OSError):
        return "\n".join(log.read_text(errors="replace").splitlines()[-8:])
    return "(nothing)"


class LocalCaller:
    """Calls tools as the local owner of the data, in this process and without a key."""

    def __init__(self, edge: Edge, context: RequestContext) -> None:
        self._edge = edge
        self._context = context

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its payload. Raises `Refused`."""
        from assent.client import Refused

        answer = await self._edge.answer(tool, arguments, self._context)
        if answer.is_error:
            raise Refused(answer.value)
        return answer.value


@asynccontextmanager
async def _open_tools(settings: Settings) -> AsyncIterator[LocalCaller]:
    # Imported late: a front that copies lines needs none of these.
    from assent.app import App
    from assent.client import Refused
    from assent.engine.core.tenancy import LOCAL_PRINCIPAL
    from assent.processes.serve import Surfaces
    from assent.serving.edge import Credentials, RequestContext

    address: str | None = settings.base_url
    if settings.sqlite_path is not None:
        said = leadership_of(settings, "hook").announced()
        address = said.address if said is not None else None
    if address is None:
        start = in_shell(own_command(settings, "serve"))
        said_so = f"No server runs on this data, so no one could approve it. Ask the user to run: {start}"
        raise Refused({"reason": "no_server", "userMessage": said_so})
    app = App(settings, page_address=lambda: address, one_client=True)
    try:
        context = RequestContext(Credentials(local=LOCAL_PRINCIPAL), "local", "hook")
        yield LocalCaller(Surfaces(app).edge, context)
    finally:
        await app.close()
