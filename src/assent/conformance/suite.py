"""All the checks, in the order in which a reader wants to hear of them."""

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
