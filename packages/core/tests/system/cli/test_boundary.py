"""`assent boundary`: what an agent's user can do to the server, and what is stored of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.cli.fixtures import Assent

from assent.cli.boundary import ProbedServer, ProbeFinding, remove_password, try_everything
from assent.engine.actions.boundary import PROBES


def target(folder: Path, **changed: object) -> ProbedServer:
    values: dict[str, object] = {
        "secret_files": (folder / "master.secret",),
        "sqlite_path": folder / "assent.db",
        "database_url": f"sqlite:///{folder}/assent.db",
        "server_pids": (),
    }
    return ProbedServer(**{**values, **changed})  # type: ignore[arg-type]


def test_the_user_of_the_server_can_do_everything_and_the_claims_are_capped(
    assent: Assent, data_dir: Path
) -> None:
    assert assent("init", "--data-dir", str(data_dir)).code == 0
    done = assent("boundary", "--data-dir", str(data_dir), "--json")
    assert (done.code, done.data["held"], done.data["claims"]) == (1, False, "agent")
    worked = {name for name, each in done.data["probes"].items() if each["worked"]}
    assert worked >= {"read_secrets", "write_store"}
    assert set(done.data["probes"]) == set(PROBES)
    checks = {
        each["name"]: each for each in assent("doctor", "--data-dir", str(data_dir), "--json").data["checks"]
    }
    assert "claimed as `agent`" in checks["boundary"]["detail"]
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


def test_a_database_url_is_tried_without_its_password() -> None:
    url = "postgresql://assent:pa%40ss@db.example.org:5433/assent?sslmode=require"
    assert remove_password(url) == "postgresql://assent@db.example.org:5433/assent?sslmode=require"
    assert remove_password("sqlite:////data/assent.db") == "sqlite:////data/assent.db"
