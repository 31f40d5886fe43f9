"""All operators, in the order in which they are listed (E59)."""

from __future__ import annotations

from typing import Final

from assent.suite.operators import brain, connect, email, launch, measure, post
from assent.suite.operators.definition import OperatorInfo

OPERATORS: Final[tuple[OperatorInfo, ...]] = (
    launch.INFO,
    post.INFO,
    email.INFO,
    measure.INFO,
    brain.INFO,
    connect.INFO,
)
