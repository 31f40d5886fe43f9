"""A throwaway PostgreSQL cluster for the tests: one per run, whatever the number of workers.

Where tests run in several workers, the process that distributes them starts the cluster and tells them its URL. A
worker has one migrated database that its tests share, each in a workspace of its own (`shared_postgres_url`). A test
that looks beyond its workspace gets a database to itself, a copy of a template (`postgres_url`).

`ASSENT_TEST_POSTGRES_URL` names a server to use instead; its user must be allowed to create databases. Where
PostgreSQL is not installed the tests that need it are skipped with one plain reason.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from assent.engine.core.tenancy import LOCAL_WORKSPACE

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

URL = "ASSENT_TEST_POSTGRES_URL"
MISSING = "PostgreSQL is not installed, so the tests over PostgreSQL were not run"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "deadlock_timeout": "50ms"}
START_SECONDS = 60
CHANGED = "changed.conf"
"""The file of settings that a test changes while the server runs."""

SERVER_WIDE = (
    "DELETE FROM jobs; DELETE FROM rate_windows; DELETE FROM signup_links; DELETE FROM deployment_facts"
)
"""Rows that every workspace meets: due jobs are claimed for all, limits count addresses, secrets have fingerprints."""

LEFT_BEHIND = f"""
SELECT (SELECT count(*) FROM runs WHERE workspace_id = '{LOCAL_WORKSPACE}')
     + (SELECT count(*) FROM people WHERE workspace_id = '{LOCAL_WORKSPACE}')
     + (SELECT count(*) FROM connections WHERE workspace_id = '{LOCAL_WORKSPACE}')
     + (SELECT count(*) FROM workflow_runs WHERE workspace_id = '{LOCAL_WORKSPACE}')
     + (SELECT count(*) FROM checkpoints)
"""
"""What a test leaves in the local workspace, which all tests would share, and checkpoints over all workspaces."""


def binaries() -> Path | None:
    """The directory of initdb and pg_ctl: the newest one installed, else the one on PATH."""
    versions = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    if versions:
        return max(versions, key=lambda path: int(path.parent.name.split(".")[0]))
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class Cluster:
    """One server in a directory of its own, on a free loopback port."""

    def __init__(
        self, settings: dict[str, str] | None = None, *, of: Cluster | None = None, port: int | None = None
    ) -> None:
        """`of` names the primary that this one follows as a standby, by streaming replication."""
        found = binaries()
        if found is None:
            raise FileNotFoundError(MISSING)
        self._bin = found
        self._settings = settings or {}
        self._root = Path(tempfile.mkdtemp(prefix="assent-pg-"))
        self._data = self._root / "data"
        self.port = port or _free_port()
        # PostgreSQL refuses to run as root.
        self._account = _unprivileged() if os.geteuid() == 0 else None
        if self._account is not None:
            os.chown(self._root, self._account.pw_uid, self._account.pw_gid)
        if of is None:
            options = ["--auth=trust", "--encoding=UTF8", "--no-locale", "--username=postgres", "--no-sync"]
            self._run("initdb", "-D", str(self._data), *options)
            with (self._data / "postgresql.conf").open("a") as file:
                file.write(f"include_if_exists = '{CHANGED}'\n")
        else:
            source = [
                "-h",
                "127.0.0.1",
                "-p",
                str(of.port),
                "-U",
                "postgres",
                "--checkpoint=fast",
                "--no-sync",
            ]
            self._run("pg_basebackup", "-D", str(self._data), "-R", "-X", "stream", *source)
            (self._data / CHANGED).unlink(missing_ok=True)
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self._root),
            "max_connections": "200",
            "log_min_messages": "fatal",
            **self._settings,
        }
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        log = str(self._root / "log")
        self._run(
            "pg_ctl", "-D", str(self._data), "-w", "-t", str(START_SECONDS), "-l", log, "-o", options, "start"
        )

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", mode, "stop")

    def write_settings(self, lines: str) -> None:
        """Replace the settings that this server has beyond those of its start; a copy of it has none of them."""
        path = self._data / CHANGED
        path.write_text(lines)
        if self._account is not None:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)
        if (self._data / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", str(self._data), "reload")

    def stop_following(self) -> None:
        """Let a standby get no more from its primary."""
        path = self._data / "postgresql.auto.conf"
        lines = path.read_text().splitlines()
        path.write_text("\n".join(line for line in lines if not line.startswith("primary_conninfo")) + "\n")
        self._run("pg_ctl", "-D", str(self._data), "reload")

    def promote(self) -> None:
        """Make a standby the primary."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-t", str(START_SECONDS), "promote")

    def kill(self) -> None:
        """SIGKILL to the postmaster and every process of it: what a power cut leaves, short of the disk."""
        postmaster = (self._data / "postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        handles = [os.pidfd_open(int(process)) for process in (postmaster, *children)]
        for handle in handles:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        for handle in handles:
            select.select([handle], [], [], START_SECONDS)
            os.close(handle)
        # Where nobody reaps orphans the dead server's number looks alive, and a start would refuse.
        for lock in (self._data / "postmaster.pid", *self._root.glob(".s.PGSQL.*")):
            lock.unlink()

    def delete(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self._root, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), *arguments]
        if self._account is not None:
            uid, gid = self._account.pw_uid, self._account.pw_gid
            command = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", *command]
        # The server inherits these: a pipe would keep the caller waiting for its end.
        with (self._root / "out").open("a") as out:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/", check=False
            )
        if done.returncode != 0:
            log = self._root / "log"
            told = (self._root / "out").read_text() + (log.read_text() if log.exists() else "")
            raise RuntimeError(f"{program} failed: {told[-2000:]}")


def _unprivileged() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """A running server that gives out databases."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._template: str | None = None
        # One connection for the whole run: connecting takes as long as creating a database.
        self._loop = asyncio.new_event_loop()
        self._connection: Any = None
        self._shared_connection: Any = None

    @cached_property
    def shared(self) -> str:
        """The URL of the migrated database that the tests of this process share."""
        return self.create()

    def create(self, *, migrated: bool = True) -> str:
        """The URL of a new database: empty, or with the newest schema copied from a template."""
        if migrated and self._template is None:
            self._template = self._new_database("template0")
            asyncio.run(_migrate(self._on(self._template)))
        return self._on(self._new_database(self._template if migrated and self._template else "template0"))

    def tidy_shared(self) -> None:
        """Remove from the shared database what belongs to the server and not to a workspace.

        Fails the test that left more than that, and replaces the database.
        """
        if self._loop.run_until_complete(self._tidy()):
            self._drop_shared()
            pytest.fail("this test left rows outside a workspace of its own: mark it `own_database`")

    async def _tidy(self) -> int:
        import asyncpg

        if self._shared_connection is None:
            self._shared_connection = await asyncpg.connect(self.shared)
        left: int = await self._shared_connection.fetchval(LEFT_BEHIND)
        await self._shared_connection.execute(SERVER_WIDE)
        return left

    def _drop_shared(self) -> None:
        if self._shared_connection is not None:
            self._loop.run_until_complete(self._shared_connection.close())
            self._shared_connection = None
        if "shared" in self.__dict__:
            self.drop(self.shared)
            del self.shared

    def drop(self, url: str) -> None:
        self._execute(f'DROP DATABASE "{urlsplit(url).path[1:]}" WITH (FORCE)')

    def close(self) -> None:
        self._drop_shared()
        if self._template is not None:
            self.drop(self._on(self._template))
        if self._connection is not None:
            self._loop.run_until_complete(self._connection.close())
        self._loop.close()

    def _new_database(self, template: str) -> str:
        name = f"assent_test_{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
        return name

    def _on(self, database: str) -> str:
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{database}"))

    def _execute(self, sql: str) -> None:
        self._loop.run_until_complete(self._run(sql))

    async def _run(self, sql: str) -> None:
        import asyncpg

        if self._connection is None:
            self._connection = await asyncpg.connect(self.url)
        await self._connection.execute(sql)


async def _execute(url: str, script: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        await connection.execute(script)
    finally:
        await connection.close()


async def _migrate(url: str) -> None:
    from tests.support.sqlite_files import list_components

    from assent.stores.migrate import migrate

    await migrate(url, 0, list_components())


class SharedCluster:
    """The cluster of a run with workers, started by the process that distributes the tests."""

    def __init__(self) -> None:
        self._cluster = Cluster(FAST)

    def pytest_configure_node(self, node: WorkerController) -> None:
        node.workerinput[URL] = self._cluster.url

    def pytest_unconfigure(self) -> None:
        self._cluster.delete()


def pytest_configure(config: pytest.Config) -> None:
    distributes = bool(config.getoption("numprocesses", 0)) and not config.getoption("collectonly")
    if distributes and not _given() and binaries() is not None:
        config.pluginmanager.register(SharedCluster(), "postgres-cluster")


def _given() -> str | None:
    return os.environ.get(URL)


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """The server of this run."""
    url: str | None = getattr(pytestconfig, "workerinput", {}).get(URL) or _given()
    if url is None and binaries() is None:
        pytest.skip(MISSING)
    cluster = Cluster(FAST) if url is None else None
    server = Server(cluster.url if cluster is not None else str(url))
    try:
        yield server
    finally:
        server.close()
        if cluster is not None:
            cluster.delete()


@pytest.fixture
def shared_postgres_url(postgres_server: Server) -> Iterator[str]:
    """The migrated database of this worker, which other tests have used: stay in a workspace of your own."""
    yield postgres_server.shared
    postgres_server.tidy_shared()


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """A fresh database with the newest schema."""
    url = postgres_server.create()
    yield url
    postgres_server.drop(url)


@pytest.fixture
def empty_postgres_url(postgres_server: Server) -> Iterator[str]:
    """A fresh database with nothing in it."""
    url = postgres_server.create(migrated=False)
    yield url
    postgres_server.drop(url)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(MISSING in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"{MISSING}: {count} of them.")
