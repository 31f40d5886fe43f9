"""The contract's checks, to be run from outside against any server that says it keeps it: `assent conform URL`.

They know the wire and the seeds, and nothing of this server's inside.
"""

from __future__ import annotations

from typing import Final

from assent.conformance import endpoint, gate, preparing, review, workflows
from assent.conformance.checking import ConformanceCheck

ALL_CHECKS: Final[tuple[ConformanceCheck, ...]] = (
    *endpoint.CHECKS,
    *preparing.CHECKS,
    *gate.CHECKS,
    *review.CHECKS,
    *workflows.CHECKS,
)
