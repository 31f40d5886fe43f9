"""The real server processes with the emulated provider: `python -m tests.engine.actions.server serve|stdio`.

Settings come from the environment as always; beside them `GATE_PROVIDER` is the provider's address, `GATE_DELIVERY`
what its connector declares and `GATE_DIES_AT` the failpoint at which the process is killed.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from typing import Any

from assent.app import App
from assent.engine.core import failpoints
from assent.processes import serve as processes
from assent.processes import stdio as stdio_process
from assent.settings.load import load_settings
from assent.tools.catalog import Catalog
from assent_conform.testing.connector import DELIVERIES, EmulatedConnector
from assent_conform.testing.operator import TOOL
from assent_launch.testing import ALL_TOOLS, any_effects


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(command: str) -> int:
    wanted = os.environ["GATE_DELIVERY"]
    declared = next(each for each in DELIVERIES if each.kind == wanted)
    connector = EmulatedConnector(os.environ["GATE_PROVIDER"], declared)
    parts: Any = processes
    other_parts: Any = stdio_process
    parts.App = other_parts.App = partial(App, connectors={connector.id: connector}, effects=any_effects())
    parts.make_catalog = lambda app: Catalog((*ALL_TOOLS, TOOL))
    if dies_at := os.environ.get("GATE_DIES_AT"):
        failpoints.arm(dies_at, die)
    run = {"serve": processes.serve, "stdio": stdio_process.stdio}[command]
    return run(load_settings({}))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
