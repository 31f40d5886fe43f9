"""Failpoints: named places at which a test can end the process, to prove that nothing is lost or
done twice.

A failpoint costs one dictionary look-up and does nothing unless a test kit has armed it in this
process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

NAMES: Final = (
    "prepare.committed",
    "approve.committed",
    "execute.claimed",
    "execute.calling",
    "execute.performed",
    "execute.recorded",
    "reconcile.admitted",
    "reconcile.looked",
    "reconcile.recorded",
)
"""All failpoints. The crash tests cover each one."""

_armed: Final[dict[str, Callable[[], None]]] = {}


def failpoint(name: str) -> None:
    """Run the action armed for this failpoint, if any."""
    action = _armed.get(name)
    if action is not None:
        action()


def arm(name: str, action: Callable[[], None]) -> None:
    """Arm a failpoint. Only test kits call this."""
    if name not in NAMES:
        raise ValueError(f"no failpoint {name!r}")
    _armed[name] = action


def disarm(name: str) -> None:
    _armed.pop(name, None)
