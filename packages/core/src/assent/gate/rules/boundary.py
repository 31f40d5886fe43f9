"""What an agent's user may be able to do to the server, and the assurance that is left to claim then. Pure.

`assent boundary` tries each of these as that user. If one works, the agent can approve as any person: it can mint a
sign-in link, seal an approval with the server's secret, or write it into the store. The server cannot tell such an
approval from a person's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assent.gate.policy import RANK
from assent.gate.records import Assurance
from assent.kernel.structs import Record


class Probe(Record):
    """One thing that is tried as the agent's user."""

    does: str
    """What the agent would do, for the table."""
    consequence: str


PROBES: Final = {
    "read_secrets": Probe("read the secrets of the server", "It can sign links and approvals."),
    "write_store": Probe("write the store", "It can sign itself in and change policies."),
    "server_process": Probe(
        "read the memory or the environment of the server", "It can read the secrets there."
    ),
    "other_user": Probe("become another user", "It can do all of the above."),
}


def find_cap(open_probes: Iterable[str]) -> Assurance | None:
    """Return the most that the server may claim where these probes worked; None without a limit."""
    return Assurance.AGENT if PROBES.keys() & set(open_probes) else None


def lower(assurance: Assurance, cap: Assurance | None) -> Assurance | None:
    """Return the cap if it is below the assurance, else None."""
    return cap if cap is not None and RANK[cap] < RANK[assurance] else None
