"""The stored results of `assent boundary`, one for each user of an agent, and what they leave to claim.

A result caps what the server claims about approvals from then on, never what a policy asks for: a check that locked
people out would not be run. The result is as trustworthy as the store; who can write the store can also remove it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from assent.engine.core import journal
from assent.gate.policy import RANK
from assent.gate.records import Assurance
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import Record, WireRecord
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.sql.loader import statements

# What an agent's user may be able to do to the server, and the assurance that is left to claim then.
#
# `assent boundary` tries each of these as that user. If one works, the agent can approve as any person: it can mint a
# sign-in link, seal an approval with the server's secret, or write it into the store. The server cannot tell such an
# approval from a person's.


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


FACT: Final = "boundary"
"""The name of the results among the facts of the deployment."""


class BoundaryResult(WireRecord):
    """What worked and what did not, tried as one user. `untried`: what could not be tried."""

    user: str
    uid: int
    at_ms: int
    open: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()


class ClaimedAssurance(WireRecord):
    """The most that this server claims about an approval, and what that rests on."""

    most_claimed: Assurance
    boundary: Literal["unchecked", "held", "open"]
    checked_at: str | None = None


_RESULTS: Final = msgspec.json.Decoder(tuple[BoundaryResult, ...])


def list_results() -> Transaction[tuple[BoundaryResult, ...]]:
    rows = yield statements.find_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT)
    return _RESULTS.decode(rows[0]["value"]) if rows else ()


def save(result: BoundaryResult, now_ms: int, *, by: str) -> Transaction[None]:
    """Store a result in place of an earlier one of the same user."""
    others = [each for each in (yield from list_results()) if each.uid != result.uid]
    yield from _store([*others, result])
    facts = {"user": result.user, "open": list(result.open), "held": list(result.held), "by": by}
    yield from journal.note(SYSTEM_WORKSPACE, "boundary_checked", facts, now_ms)


def forget(uid: int, now_ms: int, *, by: str) -> Transaction[bool]:
    """Remove the result of a user who runs no agent any more. Returns False if there is none."""
    known = yield from list_results()
    kept = [each for each in known if each.uid != uid]
    if len(kept) == len(known):
        return False
    yield from _store(kept)
    yield from journal.note(SYSTEM_WORKSPACE, "boundary_forgotten", {"user": str(uid), "by": by}, now_ms)
    return True


def find_claim(assurance: Assurance) -> Transaction[Assurance | None]:
    """Return what the server claims instead of this assurance; None if it claims all of it."""
    results = yield from list_results()
    return lower(assurance, find_cap(name for each in results for name in each.open))


def describe_claims() -> Transaction[ClaimedAssurance]:
    """Describe what this server claims, for the discovery documents."""
    results = yield from list_results()
    cap = find_cap(name for each in results for name in each.open)
    if not results:
        return ClaimedAssurance(Assurance.PASSKEY, "unchecked")
    checked_at = iso_time(max(each.at_ms for each in results))
    return ClaimedAssurance(cap or Assurance.PASSKEY, "open" if cap is not None else "held", checked_at)


def _store(results: list[BoundaryResult]) -> Transaction[None]:
    value = msgspec.json.encode(results).decode()
    yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT, value=value)
