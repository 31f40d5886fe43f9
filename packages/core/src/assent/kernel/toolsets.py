"""The names of the groups in which tools are listed. The tool table assigns tools to groups.

A group limits the size of the list that a model reads, not the rights of a caller: every tool can
be called, listed or not. Scopes limit rights.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

Toolset = Literal["gate", "launch", "workflows", "memory", "calls", "admin", "legacy"]

TOOLSETS: Final[tuple[Toolset, ...]] = get_args(Toolset)
GATE: Final[Toolset] = "gate"
LEGACY: Final[Toolset] = "legacy"
DEFAULT_TOOLSETS: Final[tuple[Toolset, ...]] = ("gate", "launch", "workflows", "memory")


def choose(names: Iterable[str]) -> frozenset[Toolset]:
    """Return the groups of these names, always with `gate`, whose tools decide and send."""
    wanted = {GATE, *names}
    return frozenset(each for each in TOOLSETS if each in wanted)
