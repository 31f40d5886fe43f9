"""The assurance that a decision needs (C8). A workspace may require more, per severity."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from assent.gate.records import Approval, Assurance, Severity
from assent.kernel import canonical
from assent.kernel.structs import WireRecord

RANK: Final[dict[Assurance, int]] = {
    Assurance.AGENT: 0,
    Assurance.LINK: 0,  # the agent holds the link too
    Assurance.CLIENT: 1,
    Assurance.PERSON: 2,
    Assurance.PASSKEY: 3,
}


class Requirement(WireRecord):
    """The least assurance, and the number of different people who must approve."""

    assurance: Assurance
    approvers: int = 1


class Policy(WireRecord):
    low: Requirement
    medium: Requirement
    high: Requirement

    def requirement(self, severity: Severity) -> Requirement:
        return {Severity.LOW: self.low, Severity.MEDIUM: self.medium, Severity.HIGH: self.high}[severity]


PRESETS: Final[dict[str, Policy]] = {
    "default": Policy(
        low=Requirement(Assurance.AGENT),
        medium=Requirement(Assurance.AGENT),
        high=Requirement(Assurance.PERSON),
    ),
    "strict": Policy(
        low=Requirement(Assurance.PERSON),
        medium=Requirement(Assurance.PERSON),
        high=Requirement(Assurance.PERSON),
    ),
    "two_people": Policy(
        low=Requirement(Assurance.PERSON),
        medium=Requirement(Assurance.PERSON),
        high=Requirement(Assurance.PERSON, 2),
    ),
}

DEFAULT: Final = PRESETS["default"]


def suffices(assurance: Assurance, needed: Assurance) -> bool:
    return RANK[assurance] >= RANK[needed]


def satisfies(approval: Approval, requirement: Requirement) -> bool:
    """Whether a stored approval meets the present policy, which may have become stricter."""
    return suffices(approval.assurance, requirement.assurance) and approval.approvers >= requirement.approvers


@lru_cache(maxsize=16)
def digest_policy(policy: Policy) -> str:
    """Return the digest of a policy; cached, since workspaces share few policies."""
    return canonical.digest(policy)
