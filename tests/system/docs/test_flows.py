"""ARCHITECTURE.md lists the files that carry each flow in the order in which a traced call first enters them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
FLOWS = {"prepare", "approve", "execute", "wrap", "advance", "measure", "page"}
PARTS = {"call"}
"""What several flows begin with."""


def list_flows() -> dict[str, list[str]]:
    """The files of each flow, as the page has them, with those of the part that it begins with."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    found = re.findall(r"<!-- flow: (\w+)(?:, after (\w+))? -->\n(.*?)<!-- end -->", page, re.DOTALL)
    named = {name: re.findall(r"`([^`]+)`", text) for name, _, text in found}
    begins = {name: named[before] if before else [] for name, before, _ in found}
    return {name: begins[name] + files for name, files in named.items() if name not in PARTS}


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
    traced = trace(*listed)

    assert listed.keys() == traced.keys() == FLOWS
    assert listed == {name: [file for file in traced[name] if file in listed[name]] for name in listed}
