"""The command `assent` with the connectors of the proof: `python -m tests.support.proof.server serve|stdio …`.

Settings come from the environment as always. Beside them `PROOF_PROVIDER` is the provider's address, `PROOF_CLOCK`
a file with the milliseconds by which the clock is moved, and `PROOF_DIES` a file that names the failpoint at which the
process kills itself next.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.proof.parts import CATALOG, JumpingClock, connectors

from assent.__main__ import main
from assent.app import App
from assent.engine.core import failpoints
from assent.processes import serve, stdio
from assent_launch.testing import any_effects


def run() -> None:
    clock = JumpingClock(Path(os.environ["PROOF_CLOCK"]))
    made = partial(
        App, clock=clock, connectors=connectors(os.environ["PROOF_PROVIDER"]), effects=any_effects()
    )
    for module in (serve, stdio):
        parts: Any = module
        parts.App = made
    server: Any = serve
    server.make_catalog = lambda app: CATALOG
    if "PROOF_DIES" in os.environ:
        for name in failpoints.NAMES:
            failpoints.arm(name, partial(die_if_told, Path(os.environ["PROOF_DIES"]), name))
    main(sys.argv[1:])


def die_if_told(file: Path, name: str) -> None:
    if file.exists() and file.read_text() == name:
        file.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    run()
