"""What an agent's user may be able to do to the server, and the assurance that is left to claim then. Pure.

`assent boundary` tries each of these as that user. If one with a cap works, the agent can approve as any
person: it can mint a sign-in link, seal an approval with the server's secret, or write it into the store. The
server cannot tell such an approval from a person's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assent.gate.policy import RANK
from assent.gate.records import Assurance
from assent.kernel.structs import Record


class Probe(Record):
    """One thing that is tried as the agent's user."""

    name: str
    does: str
    """What the agent would do, for the table."""
    cap: Assurance | None
    """The most that the server claims where it works; None if it decides nothing."""
    consequence: str


PROBES: Final = (
    Probe(
        "read_secrets", "read the secrets of the server", Assurance.AGENT, "It can sign links and approvals."
    ),
    Probe("write_store", "write the store", Assurance.AGENT, "It can sign itself in and change policies."),
    Probe("read_store", "read the store", None, "It can read drafts and addresses, and decide nothing."),
    Probe("sign_in_link", "print a sign-in link", Assurance.AGENT, "It can sign in as the owner."),
    Probe(
        "server_process",
        "read the memory or the environment of the server",
        Assurance.AGENT,
        "It can read the secrets there.",
    ),
    Probe("other_user", "become another user", Assurance.AGENT, "It can do all of the above."),
    Probe(
        "server_address",
        "sign up with the address of the server and nothing else",
        None,
        "It gets an empty workspace of its own, and reaches nothing in yours.",
    ),
)
NAMES: Final = tuple(probe.name for probe in PROBES)


def find_cap(open_probes: Iterable[str]) -> Assurance | None:
    """Return the most that the server may claim where these probes worked; None without a limit."""
    worked = frozenset(open_probes)
    caps = [probe.cap for probe in PROBES if probe.name in worked and probe.cap is not None]
    return min(caps, key=RANK.__getitem__) if caps else None


def lower(assurance: Assurance, cap: Assurance | None) -> Assurance | None:
    """Return the cap if it is below the assurance, else None."""
    return cap if cap is not None and RANK[cap] < RANK[assurance] else None
