"""Mail, and personal data: contacts, and personal mail, which has few recipients and is not part of
a launch.

Personal mail is correspondence. Its claims are not checked as marketing, and neither it nor a
contact is stored in the memory, which every agent of the workspace can read.
"""

from __future__ import annotations

from typing import Final

from assent.gate.preflight import MANY_RECIPIENTS
from assent.gate.records import WORKFLOW, Action

ALONE: Final = "ownWords"
"""Metadata key of a mail that is not part of a launch."""


def reached_addresses(action: Action) -> frozenset[str]:
    """Return whom an action reaches, by its facets, recipients and copies, normalised so that each mailbox
    counts once. A domain with `ß` is another one than that with `ss`, so that case alone is folded."""
    return frozenset(map(bare_address, (*action.view.facets.recipients, *action.effect.everyone)))


def bare_address(mailbox: str) -> str:
    """Return the address of a mailbox without its name, to compare it."""
    return mailbox.rpartition("<")[2].rstrip("> ").strip().lower()


def is_personal(action: Action) -> bool:
    """Whether an action holds personal data: always by its type, or as a message to few recipients
    outside a launch."""
    return action.view.personal == "always" or (_reaches_few(action) and action.metadata.get(ALONE) is True)


def keeps_text(action: Action) -> bool:
    """Whether the memory keeps a decision with the present text. The text of an edited mail to few
    recipients may be about people, also in a launch."""
    return keeps_requests(action) and not (_reaches_few(action) and action.revision > 1)


def keeps_requests(action: Action) -> bool:
    """Whether memory keeps a request for later drafts: not about steps, personal data, or effects that
    no draft can learn from."""
    return action.effect.connector != WORKFLOW and action.view.teaches and not is_personal(action)


def _reaches_few(action: Action) -> bool:
    return action.view.personal == "few" and len(action.effect.everyone) <= MANY_RECIPIENTS
