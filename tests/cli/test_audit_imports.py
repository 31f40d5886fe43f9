"""Verifying the journal needs no code about drafts and decisions, nor the SDK."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
    assert {"assent.engine.audit.log", "assent.engine.actions.actions", "assent.suite.component"} <= loaded
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
