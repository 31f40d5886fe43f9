"""`assent serve` with the emulated provider: `python -m tests.support.actions.server`.

Settings come from the environment as always; beside them `GATE_PROVIDER` is the provider's address and `GATE_DELIVERY`
what its connector declares.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

from tests.support.catalog import ALL_TOOLS

from assent.app import App
from assent.processes import serve as processes
from assent.settings.load import load_settings
from assent.tools.catalog import Catalog
from assent_conform.testing.connector import DELIVERIES, EmulatedConnector
from assent_conform.testing.operator import TOOL
from assent_launch.testing import any_effects


def main() -> int:
    wanted = os.environ["GATE_DELIVERY"]
    declared = next(each for each in DELIVERIES if each.kind == wanted)
    connector = EmulatedConnector(os.environ["GATE_PROVIDER"], declared)
    parts: Any = processes
    parts.App = partial(App, connectors={connector.id: connector}, effects=any_effects())
    parts.make_catalog = lambda app: Catalog((*ALL_TOOLS, TOOL))
    return processes.serve(load_settings({}))


if __name__ == "__main__":
    sys.exit(main())
