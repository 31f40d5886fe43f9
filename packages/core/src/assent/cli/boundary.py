"""`assent boundary`: what the user of an agent can do to this server, and what that leaves to claim."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar
from urllib.parse import urlsplit, urlunsplit

import msgspec
import typer

from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import BY
from assent.engine.actions import boundary as results
from assent.engine.actions.boundary import PROBES, BoundaryResult, find_cap
from assent.kernel.structs import Record
from assent.processes.system_clock import SystemClock
from assent.serving.leader import ANNOUNCEMENT, SERVING, Announcement
from assent.settings.client_config import has_password
from assent.settings.load import Settings
from assent.settings.secret_files import HOMES

if TYPE_CHECKING:
    from assent.app import App

# The tries of `assent boundary`, made as the user of an agent.
#
# They run in a forked process that has become that user, without the variables of the person who runs the check. The
# modules they need are loaded before: an agent can bring its own copy of them. Nothing is changed: files are opened,
# not written.

T = TypeVar("T")

CONTAINER_SOCKETS: Final = (Path("/var/run/docker.sock"), Path("/run/podman/podman.sock"))
SUDO_SECONDS: Final = 5.0


class ProbedServer(Record):
    """What the tries aim at, as the person who runs the check knows it."""

    secret_files: tuple[Path, ...]
    sqlite_path: Path | None
    database_url: str
    """Without its password."""
    server_pids: tuple[int, ...]


class ProbeFinding(Record):
    """The result of one try. `worked` is None if it could not be made."""

    worked: bool | None
    detail: str


class AgentUser(Record):
    """The user that an agent runs as."""

    name: str
    uid: int


def find_user(wanted: str | None) -> AgentUser | None:
    """Find a user by name or number, by default the present one. Returns None if there is none."""
    if wanted is None or wanted.isdecimal():
        uid = os.getuid() if wanted is None else int(wanted)
        return AgentUser(_name_user(uid), uid)
    try:
        return AgentUser(wanted, pwd.getpwnam(wanted).pw_uid)
    except KeyError:
        return None


def _name_user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def find_target(settings: Settings, config: Path | None) -> ProbedServer:
    """Collect what the tries aim at, before becoming the other user. `config` is a settings file with secrets."""
    files = [settings.data_dir / home.file_name for home in HOMES]
    files += [config] if config is not None else []
    return ProbedServer(
        secret_files=tuple(path for path in dict.fromkeys(files) if _exists(path)),
        sqlite_path=settings.sqlite_path,
        database_url=remove_password(settings.database_url),
        server_pids=tuple(_list_servers(settings.data_dir)),
    )


def remove_password(url: str) -> str:
    """Return a database URL as someone knows it who was not told the password."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{host}"))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # hidden from this user; it is still tried


def _list_servers(data_dir: Path) -> Iterable[int]:
    """The processes of servers: those that announce themselves, and those that look like one."""
    found = set()
    for name in (ANNOUNCEMENT, SERVING):
        try:
            said = msgspec.json.decode((data_dir / name).read_bytes(), type=Announcement)
        except (OSError, msgspec.MsgspecError):
            continue
        found.add(said.pid)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.endswith((b"assent", b"assent-gate")) for word in words) and (
            b"serve" in words or b"stdio" in words
        ):
            found.add(int(folder.name))
    alive = (pid for pid in found if Path(f"/proc/{pid}").exists() and pid != os.getpid())
    return sorted(alive)


def run_as(user: AgentUser, work: Callable[[], T], kind: type[T], *, keep_variables: bool = False) -> T:
    """Run `work` in a process of this user and return its result. Raises `PermissionError` if this process may
    not become that user, `RuntimeError` if the other one fails."""
    if user.uid != os.getuid() and os.getuid() != 0:
        raise PermissionError(f"only root can become {user.name}")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            _become(user, keep_variables=keep_variables)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(msgspec.json.encode(work()))
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise RuntimeError(f"the process of the user {user.name} failed")
    return msgspec.json.decode(said, type=kind)


def _become(user: AgentUser, *, keep_variables: bool) -> None:
    try:
        known = pwd.getpwuid(user.uid)
        group, groups, home = known.pw_gid, os.getgrouplist(known.pw_name, known.pw_gid), known.pw_dir
    except KeyError:
        group, groups, home = user.uid, [], "/"
    if user.uid != os.getuid():
        os.setgroups(groups)
        os.setgid(group)
        os.setuid(user.uid)
    if not keep_variables:
        path = os.environ.get("PATH", os.defpath)
        os.environ.clear()
        os.environ.update(PATH=path, HOME=home)
    os.chdir("/")


def try_everything(target: ProbedServer) -> dict[str, ProbeFinding]:
    """Make every try of `PROBES`. Called as the agent's user."""
    return {
        "read_secrets": _read_secrets(target),
        "write_store": _write_store(target),
        "server_process": _read_process(target),
        "other_user": _become_other(),
    }


def _read_secrets(target: ProbedServer) -> ProbeFinding:
    if not target.secret_files:
        return ProbeFinding(None, "no secret is in a file; the server has them from its environment")
    read = [path for path in target.secret_files if _can_open(path, os.O_RDONLY)]
    if read:
        return ProbeFinding(True, f"it can read {read[0]}")
    return ProbeFinding(False, f"{len(target.secret_files)} files are closed to it")


def _write_store(target: ProbedServer) -> ProbeFinding:
    path = target.sqlite_path
    if path is None:
        return asyncio.run(_log_in(target))
    if _can_open(path, os.O_RDWR):
        return ProbeFinding(True, f"it can write {path}")
    if os.access(path.parent, os.W_OK | os.X_OK):
        return ProbeFinding(True, f"it can replace files in {path.parent}")
    return ProbeFinding(False, f"{path} is closed to it")


async def _log_in(target: ProbedServer) -> ProbeFinding:
    """Log in to PostgreSQL without a password, and ask whether that permits to write."""
    import asyncpg

    name = urlsplit(target.database_url).hostname or "the local socket"
    try:
        connection = await asyncpg.connect(target.database_url, timeout=5)
    except Exception as error:
        return ProbeFinding(False, f"{name} does not let it in without a password ({type(error).__name__})")
    try:
        permitted = bool(await connection.fetchval("SELECT has_table_privilege('actions', 'UPDATE')"))
    except asyncpg.PostgresError as error:
        return ProbeFinding(False, f"{name} lets it in and permits nothing ({type(error).__name__})")
    finally:
        await connection.close()
    return ProbeFinding(permitted, f"{name} lets it in without a password")


def _read_process(target: ProbedServer) -> ProbeFinding:
    if not Path("/proc/self/environ").exists():
        return ProbeFinding(None, "this system has no /proc")
    if not target.server_pids:
        return ProbeFinding(None, "no server is running; start it and check again")
    for pid in target.server_pids:
        for name in ("environ", "mem"):
            if _can_open(Path(f"/proc/{pid}/{name}"), os.O_RDONLY):
                return ProbeFinding(True, f"it can read /proc/{pid}/{name}")
    return ProbeFinding(False, f"{len(target.server_pids)} processes are closed to it")


def _become_other() -> ProbeFinding:
    if os.getuid() == 0:
        return ProbeFinding(True, "it is root")
    for socket in CONTAINER_SOCKETS:
        if os.access(socket, os.W_OK):
            return ProbeFinding(True, f"it can start containers as root ({socket})")
    sudo = shutil.which("sudo")
    if sudo is not None:
        done = subprocess.run(  # noqa: S603 - a fixed command
            [sudo, "-n", "true"], capture_output=True, timeout=SUDO_SECONDS, check=False
        )
        if done.returncode == 0:
            return ProbeFinding(True, "sudo asks it for no password")
    return ProbeFinding(False, "sudo and container sockets are closed to it")


def _can_open(path: Path, flags: int) -> bool:
    try:
        os.close(os.open(path, flags | os.O_CLOEXEC))
    except OSError:
        return False
    return True


WhichUser = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME|UID", help="The user that the agent runs as (the present one)."),
]

SAID = {True: "OPEN", False: "held", None: "not tried"}


def boundary(
    session: CommandSession,
    user: WhichUser = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Remove the stored result of this user, who runs no agent.")
    ] = False,
) -> int:
    """Try, as the user of an agent, to get around the server, and store what worked.

    Where something did, the server no longer claims that a person approved. Run it as root with
    --user, or as that user; nothing is changed by the tries. Exits with 1 where something worked.
    """
    session.require_data()
    agent = find_user(user)
    if agent is None:
        raise Failure(
            f"There is no user {user!r} on this machine.\nName the one that your agent runs as; see them: getent passwd"
        )
    if forget:
        return _forget(session, agent)
    target = find_target(session.settings, _find_config(session))
    try:
        found: dict[str, ProbeFinding] = run_as(
            agent, lambda: try_everything(target), dict[str, ProbeFinding]
        )
    except PermissionError:
        words = session.again("boundary", "--user", agent.name)
        raise Failure(f"Only root can try things as {agent.name}.\nRun it as root: sudo {words}") from None
    result = _read(agent, found)
    stored = _store(session, result)
    cap = find_cap(result.open)
    rows = [
        (
            probe.does,
            SAID[found[name].worked],
            found[name].detail,
            probe.consequence if found[name].worked else "",
        )
        for name, probe in PROBES.items()
    ]
    text = session.table((f"as {agent.name} (uid {agent.uid}), an agent tries to", "", "", ""), rows)
    view: dict[str, Any] = {
        "user": agent.name,
        "uid": agent.uid,
        "held": cap is None,
        "claims": cap or "passkey",
        "stored": stored,
        "probes": {name: {"worked": each.worked, "detail": each.detail} for name, each in found.items()},
    }
    session.give(view, f"{text}\n\n{_conclude(session, agent, result, stored)}")
    return 0 if cap is None else 1


def _find_config(session: CommandSession) -> Path | None:
    """Return the settings file if it holds a secret."""
    settings, sources = session.settings, session.loaded.sources
    held = [
        row
        for row in session.loaded.rows
        if row.secret and sources[row.name] == f"file {settings.config_file}"
    ]
    if held or (settings.database_in_file and has_password(settings.database_url)):
        return settings.config_file
    return None


def _read(agent: AgentUser, found: dict[str, ProbeFinding]) -> BoundaryResult:
    by_outcome = {
        said: tuple(name for name, each in found.items() if each.worked is worked)
        for worked, said in ((True, "open"), (False, "held"), (None, "untried"))
    }
    return BoundaryResult(agent.name, agent.uid, SystemClock().now_ms(), **by_outcome)


def _conclude(session: CommandSession, agent: AgentUser, result: BoundaryResult, stored: bool) -> str:
    cap = find_cap(result.open)
    if cap is None:
        text = f"The boundary held for {agent.name}. Where it does for every agent, the server claims what it sees."
    else:
        text = (
            f"The boundary does not hold: an agent of {agent.name} can approve as any person. From now on the server "
            f"claims `{cap}` for every approval, also of a signed-in person. Policies ask for what they asked for.\n"
            "Run the server as another user or on another machine (SECURITY.md), then check again."
        )
    if result.untried:
        left = [PROBES[name].does for name in result.untried]
        text += f"\nNot tried: {', '.join(left)}."
    if not stored:
        text += (
            f"\nThe result is not stored: {agent.name} cannot write the store. Run it as root with --user."
        )
    return text


def _store(session: CommandSession, result: BoundaryResult) -> bool:
    """Store the result as the owner of the data, so that no file belongs to another user. Returns False if this
    user may not."""

    async def save(app: App) -> bool:
        await app.store.write(lambda: results.save(result, result.at_ms, by=BY))
        return True

    return _as_owner(session, lambda: session.use_app(save))


def _forget(session: CommandSession, agent: AgentUser) -> int:
    async def remove(app: App) -> bool:
        now_ms = app.clock.now_ms()
        return await app.store.write(lambda: results.forget(agent.uid, now_ms, by=BY))

    if not _as_owner(session, lambda: session.use_app(remove)):
        raise Failure(f"No result is stored for the user {agent.name}.")
    session.give({"user": agent.name, "forgotten": True}, f"The result for {agent.name} is removed.")
    return 0


def _as_owner(session: CommandSession, work: Any) -> bool:
    path = session.settings.sqlite_path
    owner = _find_owner(path) if path is not None else os.getuid()
    if owner == os.getuid():
        done: bool = work()
        return done
    if os.getuid() != 0:
        return False
    return run_as(AgentUser(str(owner), owner), work, bool, keep_variables=True)


def _find_owner(path: Path) -> int:
    try:
        return path.stat().st_uid
    except OSError:
        return -1
