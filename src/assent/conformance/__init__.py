"""Conformance checks of the contract, run from outside against any server: `assent conform URL`.

They know the wire format and the contract, and nothing of this server's code.
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
