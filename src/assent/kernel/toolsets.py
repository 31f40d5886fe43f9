"""The names of the groups in which tools are listed. What is in each is for the tool table to say.

A group is a matter of size, never of rights: a model reads the whole list before its first word, and every tool can be
called whether it is listed or not. What a caller may do is a matter of its scopes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

Toolset = Literal["gate", "launch", "workflows", "memory", "admin", "legacy"]

TOOLSETS: Final[tuple[Toolset, ...]] = get_args(Toolset)
GATE: Final[Toolset] = "gate"
LEGACY: Final[Toolset] = "legacy"
DEFAULT_TOOLSETS: Final[tuple[Toolset, ...]] = ("gate", "launch", "workflows", "memory")


def choose(names: Iterable[str]) -> frozenset[Toolset]:
    """The groups of these names. `gate` is always one of them: what any tool stages is decided and sent with it."""
    wanted = {GATE, *names}
    return frozenset(each for each in TOOLSETS if each in wanted)
