"""The commands of docs/backup.md work as they are written."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from tests.support.docs.pages import blocks_of
from tests.support.processes.running import ASSENT, environment
from tests.support.warm_processes import run

pytestmark = pytest.mark.slow


def test_every_command_of_the_page_works_in_order(tmp_path: Path) -> None:
    data = tmp_path / "data"

    def assent(*words: str) -> subprocess.CompletedProcess[str]:
        return run(
            [*ASSENT, *words, "--data-dir", str(data)],
            env=environment({}),
            capture_output=True,
            text=True,
            timeout=60,
        )

    assert assent("init").returncode == 0
    copy, said = tmp_path / "copy", ""
    for kind, text in blocks_of("backup.md"):
        assert kind == "sh"
        for line in text.splitlines():
            if "COPY" in line:
                assert assent("audit", "checkpoint").returncode == 0
                copy.write_bytes(max((data / "checkpoints").iterdir()).read_bytes())
            places = {"assent-backup": str(tmp_path / "assent-backup"), "COPY": str(copy)}
            words = [places.get(each, each) for each in shlex.split(line)[1:]]
            done = assent(*words)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            said += done.stdout
    assert "Wrote and verified" in said
    assert "The replaced database is kept as" in said
    assert "lacks nothing that this server knows of" in said
    checked = assent("audit", "verify")
    assert checked.returncode == 0, checked.stdout
    assert "The database was put back on" in checked.stdout
    assert list(data.glob("*restoring*")) == []
    # A backup is found by its mark, although the file was copied by hand and the data directory is new.
    (data / "assent.db.head").unlink()
    (data / "assent.db").write_bytes((tmp_path / "assent-backup").read_bytes())
    assert assent("audit", "verify").stdout.count("The database was put back on") == 1
    (data / "assent.db").unlink()
    refused = assent("audit", "verify")
    assert refused.returncode == 1
    assert "is older than this server remembers" in refused.stderr
    assert "restore --as-it-is" in assent("doctor").stdout
