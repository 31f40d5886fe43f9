"""The other branches of a run, seen from one node: those that continue from it, and those that diverged before it.

A pure function of the tree. Nodes are numbered in order of creation, so a parent's number is smaller than its child's.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Branch(msgspec.Struct, frozen=True):
    """`first` is its first node off the path to the given node, `tip` its newest leaf."""

    first: int
    tip: int


class Branches(msgspec.Struct, frozen=True):
    """Branches, oldest first."""

    from_here: tuple[Branch, ...]
    elsewhere: tuple[Branch, ...]


def find_branches(parents: Mapping[int, int | None], node: int) -> Branches:
    """Find every branch that does not contain the node. `parents` may lack the oldest nodes of a long run; a branch
    from a missing node counts as diverging there."""
    path = set()
    at: int | None = node
    while at is not None:
        path.add(at)
        at = parents.get(at)
    inner = set(parents.values())
    parted: dict[int, int] = {}
    tips: dict[int, int] = {}
    for each in sorted(parents):
        parent = parents[each]
        if each in path or parent is None:
            continue
        parted[each] = parted.get(parent, each)
        if each not in inner:
            tips[parted[each]] = each
    found = [Branch(first, tip) for first, tip in sorted(tips.items())]
    return Branches(
        tuple(each for each in found if parents[each.first] == node),
        tuple(each for each in found if parents[each.first] != node),
    )
