"""`assent boundary`: what an agent's user can do to the server, and what is stored of it."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.cli.conftest import Assent

from assent.cli.boundary import ProbedServer, ProbeFinding, remove_password, try_everything
from assent.gate.rules.boundary import NAMES, find_cap


def target(folder: Path, **changed: object) -> ProbedServer:
    values: dict[str, object] = {
        "secret_files": (folder / "master.secret",),
        "sqlite_path": folder / "assent.db",
        "database_url": f"sqlite:///{folder}/assent.db",
        "server_pids": (),
        "base_url": "http://127.0.0.1:1",
    }
    return ProbedServer(**{**values, **changed})  # type: ignore[arg-type]


def test_the_user_of_the_server_can_do_everything_and_the_claims_are_capped(
    assent: Assent, data_dir: Path
) -> None:
    assert assent("init", "--data-dir", str(data_dir)).code == 0
    done = assent("boundary", "--data-dir", str(data_dir), "--json")
    assert (done.code, done.data["held"], done.data["claims"]) == (1, False, "agent")
    worked = {name for name, each in done.data["probes"].items() if each["worked"]}
    assert worked >= {"read_secrets", "write_store", "read_store", "sign_in_link"}
    assert set(done.data["probes"]) == set(NAMES)
    checks = {
        each["name"]: each for each in assent("doctor", "--data-dir", str(data_dir), "--json").data["checks"]
    }
    assert "claimed as `agent`" in checks["boundary"]["detail"]
    links = "SELECT count(*) FROM sign_in_links"
    kept = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sqlite3; print(sqlite3.connect({str(data_dir / 'assent.db')!r}).execute({links!r}).fetchone()[0])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert kept.stdout.strip() == "0"  # the try is rolled back
    uid = str(os.getuid())
    assert assent("boundary", "--data-dir", str(data_dir), "--user", uid, "--forget").code == 0
    assert assent("boundary", "--data-dir", str(data_dir), "--user", uid, "--forget").code == 1
    checks = {
        each["name"]: each for each in assent("doctor", "--data-dir", str(data_dir), "--json").data["checks"]
    }
    assert checks["boundary"]["detail"].startswith("not checked")


def test_a_user_without_access_gets_nowhere(assent: Assent, data_dir: Path) -> None:
    """As root: another user. Otherwise only root could become one, which the command says."""
    assert assent("init", "--data-dir", str(data_dir)).code == 0
    done = assent("boundary", "--data-dir", str(data_dir), "--user", "nobody", "--json")
    if os.getuid() != 0:
        assert done.code == 1 and "Only root can try things as nobody" in done.err
        return
    assert {name for name, each in done.data["probes"].items() if each["worked"]} == set()
    assert (done.code, done.data["held"], done.data["stored"]) == (0, True, True)
    assert (data_dir / "assent.db").stat().st_uid == 0


def test_a_user_that_does_not_exist_is_named(assent: Assent, data_dir: Path) -> None:
    assert assent("init", "--data-dir", str(data_dir)).code == 0
    done = assent("boundary", "--data-dir", str(data_dir), "--user", "no-such-user")
    assert done.code == 1 and "There is no user 'no-such-user'" in done.err


def test_the_memory_of_a_process_of_the_same_user_can_be_read_and_that_of_none_is_not_tried(
    tmp_path: Path,
) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as server:
        found = try_everything(target(tmp_path, server_pids=(server.pid,)))
        server.communicate(b"\n")
    assert found["server_process"].worked is True
    assert try_everything(target(tmp_path))["server_process"] == ProbeFinding(
        None, "no server is running; start it and check again"
    )


@pytest.mark.parametrize("signup", [True, False], ids=["open", "closed"])
def test_the_address_of_the_server_and_nothing_else_is_tried_without_a_sign_up(
    tmp_path: Path, signup: bool
) -> None:
    asked: list[str] = []
    said = {"name": "assent", "authentication": {"signupTool": "x"} if signup else {}}

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base_url = f"http://127.0.0.1:{server.server_address[1]}"
        found = try_everything(target(tmp_path, base_url=base_url))["server_address"]
        server.shutdown()
    assert (found.worked, asked) == (signup, ["/.well-known/mcp.json"])
    # It decides nothing in the workspaces of others, so it lowers no claim.
    assert find_cap(["server_address"]) is None
    assert try_everything(target(tmp_path))["server_address"].worked is None


def test_a_database_url_is_tried_without_its_password() -> None:
    url = "postgresql://assent:pa%40ss@db.example.org:5433/assent?sslmode=require"
    assert remove_password(url) == "postgresql://assent@db.example.org:5433/assent?sslmode=require"
    assert remove_password("sqlite:////data/assent.db") == "sqlite:////data/assent.db"
