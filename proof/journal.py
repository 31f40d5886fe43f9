"""The journal as evidence: its chains, and the life of each action as its events tell it.

`MOVES` is written from the published states of an action and is unaware of the server's own table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from proof.history import GENESIS, Event, link

MOVES: dict[tuple[str, str], str] = {
    ("awaiting_approval", "approve"): "approved",
    ("awaiting_approval", "reject"): "rejected",
    ("awaiting_approval", "edit"): "awaiting_approval",
    ("approved", "approve"): "approved",
    ("approved", "withdraw"): "awaiting_approval",
    ("approved", "edit"): "awaiting_approval",
    ("approved", "claim"): "executing",
    ("approved", "hand_over"): "executed",
    ("executing", "succeed"): "executed",
    ("executing", "refuse"): "failed",
    ("executing", "postpone"): "retryable",
    ("executing", "lose"): "outcome_unknown",
    ("outcome_unknown", "found_done"): "executed",
    ("outcome_unknown", "found_refused"): "failed",
    ("outcome_unknown", "found_not_done"): "retryable",
    ("retryable", "approve"): "retryable",
    ("retryable", "claim"): "executing",
    ("retryable", "withdraw"): "awaiting_approval",
    ("retryable", "found_done"): "executed",
    ("retryable", "hand_over"): "executed",
}
TERMINAL = frozenset({"rejected", "executed", "failed"})
REVOKES = frozenset({"edit", "withdraw", "reject"})
PREFIX = "action_"


@dataclass
class Life:
    """One action as the journal tells it."""

    run_id: str
    digest: str
    state: str = "awaiting_approval"
    revision: int = 1
    approved: str | None = None
    """The digest of the standing approval."""
    approvals: list[str] = field(default_factory=list)
    claims: list[tuple[int, str]] = field(default_factory=list)
    """Revision and digest of each claim."""
    external_id: str | None = None
    faults: list[tuple[str, str]] = field(default_factory=list)
    """A promise, and what its events break of it."""

    def move(self, name: str, event: Event) -> None:
        body = event.body
        before, after = self.state, MOVES.get((self.state, name))
        if after is None:
            promise = "P5" if before in TERMINAL or name in REVOKES else "P2" if name == "claim" else "P4"
            self.faults.append((promise, f"{name} while it was {before}"))
            after = next((to for (_, move), to in MOVES.items() if move == name), before)
        told = str(body.get("digest", self.digest))
        if name == "edit" and int(body.get("revision", 0)) != self.revision + 1:
            self.faults.append(("P5", f"an edit led from revision {self.revision} to {body.get('revision')}"))
        if name == "edit":
            self.digest, self.revision = told, int(body.get("revision", self.revision))
        elif told != self.digest:
            self.faults.append(("P1", f"{name} is about another content than its revision"))
        if name in REVOKES:
            self.approved = None
        elif name == "approve":
            self.approved = told
            self.approvals.append(told)
        elif name == "claim":
            if self.approved != told:
                self.faults.append(("P1", "claimed without an approval of its content"))
            self.claims.append((int(body.get("revision", self.revision)), told))
        if name in ("succeed", "found_done", "hand_over"):
            self.external_id = body.get("externalId")
        self.state = after


def read_lives(events: Iterable[Event]) -> dict[str, Life]:
    """Follow every action through its events."""
    lives: dict[str, Life] = {}
    for event in events:
        if event.kind == "run_prepared":
            for each in event.body.get("actions") or ():
                lives[str(each.get("actionId", ""))] = Life(event.stream_id, str(each.get("digest", "")))
        elif event.kind == "action_staged":
            body = event.body
            lives[str(body.get("actionId", ""))] = Life(event.stream_id, str(body.get("digest", "")))
        elif event.kind.startswith(PREFIX):
            action_id = str(event.body.get("actionId", ""))
            if action_id not in lives:
                lives[action_id] = Life(event.stream_id, str(event.body.get("digest", "")))
                lives[action_id].faults.append(("P4", "it has events and was never staged"))
            lives[action_id].move(event.kind.removeprefix(PREFIX), event)
    return lives


def find_breaks(events: Iterable[Event]) -> Iterator[str]:
    """Where a chain of hashes does not hold."""
    streams: dict[tuple[str, str], tuple[int, str]] = defaultdict(lambda: (0, GENESIS))
    for event in events:
        seq, previous = streams[event.stream]
        if event.seq != seq + 1:
            yield f"event {seq + 1} of {event.stream_id} is missing"
        elif link(event, previous) != event.hash:
            yield f"event {event.seq} of {event.stream_id} is not what was hashed"
        streams[event.stream] = event.seq, event.hash


def find_rewritten(earlier: Iterable[Event], later: Iterable[Event]) -> Iterator[str]:
    """What an earlier export has and a later one does not."""
    now = {(event.stream, event.seq): event for event in later}
    for event in earlier:
        found = now.get((event.stream, event.seq))
        if found is None:
            yield f"event {event.seq} of {event.stream_id} is gone"
        elif found != event:
            yield f"event {event.seq} of {event.stream_id} was rewritten"
