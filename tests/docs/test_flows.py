"""ARCHITECTURE.md lists the files of the three flows in the order in which a traced call first enters them."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.script import load_script

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
FLOWS = ("approve", "advance", "measure")


@pytest.fixture(scope="module")
def tracer() -> ModuleType:
    return load_script("trace_calls")


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_is_listed_as_it_is_traced(flow: str, tracer: ModuleType) -> None:
    listed = re.search(rf"<!-- flow: {flow} -->\n(.*?)<!-- end -->", ARCHITECTURE, re.DOTALL)
    assert listed is not None
    assert tuple(re.findall(r"`([^`]+)`", listed[1])) == tracer.trace(flow).files
