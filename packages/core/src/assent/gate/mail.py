"""Whom a mail reaches."""

from __future__ import annotations

from assent.gate.records import Action


def reached_addresses(action: Action) -> frozenset[str]:
    """Return whom an action reaches, by its facets, recipients and copies, normalised so that each mailbox
    counts once. A domain with `ß` is another one than that with `ss`, so that case alone is folded."""
    return frozenset(map(bare_address, (*action.view.facets.recipients, *action.effect.everyone)))


def bare_address(mailbox: str) -> str:
    """Return the address of a mailbox without its name, to compare it."""
    return mailbox.rpartition("<")[2].rstrip("> ").strip().lower()
