"""Sentences for people about what the record proves and the assurance of an approval. Pure."""

from __future__ import annotations

from typing import Final

from assent.gate.records import Approval, Assurance

WHAT_HASHES_PROVE: Final = (
    "Each event carries the hash of the one before it, and the server signs the ends of all chains from time to time: "
    "a change to an earlier event can be found by anyone who kept a later hash or signature. They prove that the "
    "record is unchanged, not who was at the keyboard; how sure each approval is stands beside it."
)


def describe_approval(approval: Approval) -> str:
    """Describe who approved and how the server knows."""
    several = f", the last of {approval.approvers} approvers" if approval.approvers > 1 else ""
    said = {
        Assurance.AGENT: "passed on by your agent; the server did not see who said it",
        Assurance.LINK: f"on the review page by someone who had its link, as “{approval.by}”",
        Assurance.CLIENT: f"confirmed in the chat program by {approval.by}",
        Assurance.PERSON: f"{approval.by}, signed in",
        Assurance.PASSKEY: f"{approval.by}, signed in with a passkey",
    }
    return said[approval.assurance] + several
