"""`assent audit verify` on rows and files that cannot be decoded."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent

DAMAGES = {
    "event body": "UPDATE events SET body = 'x'",
    "event of a restore": "UPDATE events SET kind = 'store_restored', stream_id = 'restores'",
    "head": "UPDATE streams SET hash = 'x', seq = 0",
    "text that is no text": "UPDATE streams SET stream_id = CAST(x'ff' AS TEXT) WHERE stream_id = "
    "(SELECT min(stream_id) FROM streams)",
    "checkpoint": "UPDATE checkpoints SET body = '{}'",
}


@pytest.mark.parametrize("damage", [*DAMAGES, "file"])
def test_what_cannot_be_decoded_is_named_and_the_rest_is_checked(
    assent: Assent, data_dir: Path, damage: str
) -> None:
    assert assent("init").code == 0
    assert assent("workspace", "create", "acme", "--email", "ada@example.org").code == 0
    assert assent("audit", "checkpoint").code == 0
    assert assent("audit", "verify").code == 0
    with closing(sqlite3.connect(data_dir / "assent.db")) as file, file:
        if damage in DAMAGES:
            file.execute(DAMAGES[damage])
        file.execute("UPDATE checkpoints SET signature = 'AAAA'")
    if damage == "file":
        max((data_dir / "checkpoints").iterdir()).write_text("x")

    said, listed = assent("audit", "verify"), assent("audit", "verify", "--json")

    assert (said.code, listed.code) == (1, 1), said.err
    found = [each["what"] for each in listed.data["findings"]]
    assert "checkpoint 1 is not signed by this server" in found
    assert len(found) > 1
    assert damage != "file" or any("000001.json cannot be decoded" in each for each in found)
    assert all(each in said.out for each in found[:20])


RUN = """
import sys
from assent.__main__ import main
try:
    main(["audit", "verify"])
finally:
    print(*sys.modules, file=sys.stderr)
"""


def test_the_command_that_verifies_loads_no_module_that_stages_edits_or_decides(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={**os.environ, "ASSENT_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    assert {"assent.engine.audit.log", "assent.engine.actions.actions", "assent_launch.component"} <= loaded
    about_drafts = {
        "staging",
        "editing",
        "content",
        "decisions",
        "approvals",
        "guards",
        "execution",
        "recording",
    }
    assert not loaded & {"mcp", *(f"assent.engine.actions.{name}" for name in about_drafts)}
