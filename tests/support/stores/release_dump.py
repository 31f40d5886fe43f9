"""Writes the databases of this version as SQL, for a test of every later one.

    python -m tests.support.stores.release_dump [--postgres URL]

A server of this checkout plays a loop: a page is prepared, approved, published and measured; a second one is rejected,
and a third one waits. Then its tables are written to `VERSION.sqlite.sql` of the folder `releases`, and with the URL of
an empty PostgreSQL database to `VERSION.postgres.sql`. A release is dumped once. Its test has the SECRETS.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from assent import __version__
from assent.client import Client, Refused

SECRETS: Final = {
    "RUN_TOKEN_SECRET": "a run token secret of a kept release, long enough",
    "ASSENT_SECRET": "a master secret of a kept release, long enough",
}
RELEASES: Final = Path(__file__).with_name("releases")
ASSENT: Final = (sys.executable, "-m", "assent")
WAIT_SECONDS: Final = 60.0
NO_HOST: Final = "UPDATE jobs SET worker = 'release' WHERE worker IS NOT NULL"
"""A worker is named after its machine."""
OF_THE_TOOL: Final = ("SET ", "SELECT pg_catalog.set_config", "CREATE SCHEMA", "\\", "--")
"""Lines of pg_dump that are about the program which wrote or reads them."""


async def play(url: str, key: str) -> None:
    """Let an agent publish a page, and wait until its results were read."""
    async with Client(url, key) as agent:
        run = await agent.call("chieflab_post", channel="site", title="Tides", body="The tide table is out.")
        (action,) = run["actions"]
        await agent.call("chieflab_approve_action", actionId=action["id"], digest=action["digest"])
        await agent.call("chieflab_execute_approved_action", actionId=action["id"])
        await measure(agent, run["runId"])
        second = await agent.call("chieflab_post", channel="site", title="Winds", body="The winds turned.")
        await agent.call(
            "chieflab_reject_action", actionId=second["actions"][0]["id"], reason="Too short, say where."
        )
        await agent.call("chieflab_post", channel="site", title="Stars", body="The stars are out tonight.")


async def measure(agent: Client, run_id: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            await agent.call("chieflab_measure", runId=run_id)
            return
        except Refused as refused:
            if refused.reason != "measurement_unavailable" or time.monotonic() > deadline:
                raise
        await asyncio.sleep(0.2)


def run_loop(data_dir: Path, database_url: str | None) -> None:
    """Start a server on a new database, play the loop, and stop it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    given: dict[str, str] = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ASSENT_")},
        **SECRETS,
        "ASSENT_DATA_DIR": str(data_dir),
        "ASSENT_PORT": str(port),
        "ASSENT_BASE_URL": url,
        "ASSENT_MEASURE_AFTER_SECONDS": "1",
        "ASSENT_LOG_LEVEL": "warning",
        **({"ASSENT_DATABASE_URL": database_url} if database_url else {}),
    }
    server = subprocess.Popen([*ASSENT, "serve"], env=given)
    try:
        wait_for(port, server)
        create = [*ASSENT, "keys", "create", "--label", "release", "--json"]
        made = subprocess.run(create, env=given, check=True, capture_output=True)
        asyncio.run(play(url, find_key(json.loads(made.stdout))))
    finally:
        server.terminate()
        server.wait(WAIT_SECONDS)


def find_key(answer: dict[str, Any]) -> str:
    return next(str(value) for value in answer.values() if str(value).startswith("clp_"))


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


def dump_sqlite(file: Path) -> Iterator[str]:
    """Yield the statements that make the file again. What SQLite keeps beside a virtual table is made with it."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(NO_HOST)
        made = connection.execute(
            "SELECT s.type, s.name, s.sql, t.type FROM sqlite_master s "
            "LEFT JOIN pragma_table_list t ON t.name = s.name WHERE s.sql IS NOT NULL ORDER BY s.rowid"
        ).fetchall()
        for pragma in ("application_id", "user_version"):
            yield f"PRAGMA {pragma} = {connection.execute(f'PRAGMA {pragma}').fetchone()[0]};"
        for kind, name, sql, form in made:
            if form == "shadow" or name.startswith("sqlite_"):
                continue
            yield f"{sql};"
            if kind == "table" and form == "table":
                yield from dump_rows(connection, name)


def dump_rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [
        row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0
    ]  # the others are generated
    values = " || ', ' || ".join(f"quote({each})" for each in columns)
    rows = connection.execute(f"SELECT {values} FROM {table} ORDER BY 1")
    for (row,) in rows:
        yield f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({row});"


def dump_postgres(url: str) -> Iterator[str]:
    options = ("--no-owner", "--no-privileges", "--no-comments", "--column-inserts", "--schema=public")
    subprocess.run(["psql", "--quiet", "--command", NO_HOST, url], check=True)
    written = subprocess.run(["pg_dump", *options, url], check=True, capture_output=True, text=True).stdout
    in_text = False
    for line in written.splitlines():
        if in_text or not (line == "" or line.startswith(OF_THE_TOOL)):
            yield line
            in_text ^= line.count("'") % 2 == 1


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the databases of this version as SQL.")
    parser.add_argument("--postgres", metavar="URL")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assent-release-") as folder:
        data = Path(folder)
        run_loop(data / "sqlite", None)
        write(RELEASES / f"{__version__}.sqlite.sql", dump_sqlite(data / "sqlite" / "assent.db"))
        if wanted.postgres:
            run_loop(data / "postgres", wanted.postgres)
            write(RELEASES / f"{__version__}.postgres.sql", dump_postgres(wanted.postgres))


def write(file: Path, lines: Iterator[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sys.stdout.write(f"{file}: {file.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
