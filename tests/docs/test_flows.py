"""ARCHITECTURE.md lists the files of the three flows in the order in which a traced call first enters them."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.script import load_script

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MOST_SWITCHES = {"approve": 50, "advance": 50, "measure": 70}
"""Two thirds of what a review counted, 66, 102 and 125, and the question whose workspace it is."""


@pytest.fixture(scope="module")
def tracer() -> ModuleType:
    return load_script("trace_calls")


@pytest.mark.parametrize("flow", MOST_SWITCHES)
def test_a_flow_is_listed_as_it_is_traced_and_stays_short(flow: str, tracer: ModuleType) -> None:
    listed = re.search(rf"<!-- flow: {flow} -->\n(.*?)<!-- end -->", ARCHITECTURE, re.DOTALL)
    assert listed is not None
    found = tracer.trace(flow)
    assert tuple(re.findall(r"`([^`]+)`", listed[1])) == found.files
    assert found.switches <= MOST_SWITCHES[flow], "\n".join(found.write())
