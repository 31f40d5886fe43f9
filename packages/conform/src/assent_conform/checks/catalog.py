"""Every check, in the order of their modules."""

from __future__ import annotations

from typing import Final

from assent_conform.checks import endpoint, gate, observed, preparing, workflows
from assent_conform.checks.checking import ConformanceCheck

MODULES: Final = (endpoint, preparing, gate, workflows, observed)
ALL_CHECKS: Final[tuple[ConformanceCheck, ...]] = tuple(
    each for module in MODULES for each in vars(module).values() if isinstance(each, ConformanceCheck)
)
