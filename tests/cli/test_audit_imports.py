"""Verifying the journal needs no code about drafts and decisions."""

from __future__ import annotations

import subprocess
import sys

LIST = """
import sys
import assent.cli.audit, assent.engine.audit.log, assent.engine.audit.session_audit
print(*(name for name in sys.modules if name.startswith("assent.engine.")))
"""


def test_the_command_that_verifies_loads_no_module_that_stages_edits_or_decides() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIST], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = {name.removeprefix("assent.engine.") for name in done.stdout.split()}
    assert {"audit.log", "actions.actions", "workflows.bundles"} <= loaded
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
    assert not loaded & {f"actions.{name}" for name in about_drafts}
