"""ARCHITECTURE.md lists the files of each flow in the order in which a traced call first enters them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def list_flows() -> dict[str, list[str]]:
    """The files of each flow, as the page has them."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    flows = re.findall(r"<!-- flow: (\w+) -->\n(.*?)<!-- end -->", page, re.DOTALL)
    return {name: re.findall(r"`([^`]+)`", text) for name, text in flows}


def trace(*flows: str) -> dict[str, list[str]]:
    """The files of each flow, as they are entered, in a process without other threads."""
    script = ROOT / "scripts" / "trace_calls.py"
    ran = subprocess.run(
        [sys.executable, script, "--files", *flows], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found = re.findall(r"^(\w+): .*\n(.*)$", ran.stdout, re.MULTILINE)
    return {name: re.findall(r"`([^`]+)`", line) for name, line in found}


def test_a_flow_is_listed_as_it_is_traced() -> None:
    listed = list_flows()

    assert {"approve", "advance", "measure"} <= listed.keys()
    assert listed == trace(*listed)
