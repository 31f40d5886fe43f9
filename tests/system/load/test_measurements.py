"""What `make bench` measures in its own process still runs: it binds statements and calls tools by hand, and no other
test notices a change that it does not know of. Its sizes are cut to almost nothing, and its figures are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from benchmarks.figures import NotRun
from benchmarks.rows import (
    gate_account,
    gate_growth,
    gate_loop,
    gate_policy,
    history,
    store_loop,
    store_postgres,
    store_sqlite,
)
from benchmarks.table import MEASUREMENTS
from tests.support.postgres_server import MISSING

pytestmark = pytest.mark.slow

CUT: Final[dict[Any, Mapping[str, Any]]] = {
    gate_account: {"LOOPS": 2},
    gate_growth: {"MANY": 40, "FEW": 20, "APPROVALS": 2, "ROUNDS": 1, "LOOKS_AT_ONCE": 1},
    gate_loop: {"LOOPS": 1, "ROUNDS": 1, "WARM_UP": 1},
    gate_policy: {"APPROVALS": 1, "ROUNDS": 1},
    history: {"SIZES": {"long": (20, 10), "short": (10, 10)}, "ROUNDS": 1, "CALLS": 1, "WAITING": 1},
    store_loop: {"ROUND_SECONDS": 0.0},
    store_postgres: {"CALLERS": (2,), "ROUNDS": 1},
    store_sqlite: {"CALLERS": (1,), "ROUNDS": 1, "LIMITS": {1: None}},
}


@pytest.mark.parametrize(
    "name", ["gate", "gate-growth", "gate-policy", "history-sqlite", "store-postgres", "store-sqlite"]
)
def test_a_measurement_of_this_process_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, sizes in CUT.items():
        for constant, value in sizes.items():
            monkeypatch.setattr(module, constant, value)
    try:
        assert MEASUREMENTS[name](tmp_path)
    except NotRun:
        pytest.skip(MISSING)
