"""Mail to named people: a mail in the caller's own words to few recipients, staged alone and not in a launch.

It is correspondence. Its claims are not checked as marketing, and memory keeps nothing of it: it holds personal data,
and every agent of the workspace reads the memory.
"""

from __future__ import annotations

from typing import Any, Final

from assent.gate.cards import is_mail
from assent.gate.preflight import MANY_RECIPIENTS
from assent.gate.records import Effect

OWN_WORDS: Final = "ownWords"
"""Among the metadata of an action: the caller wrote the text, and it is not part of a launch."""


def is_personal(*, is_mail: bool, recipients: int, own_words: bool) -> bool:
    """Whether a text is a mail to named people."""
    return is_mail and own_words and recipients <= MANY_RECIPIENTS


def is_personal_mail(effect: Effect, metadata: dict[str, Any]) -> bool:
    """Whether an effect of an action with this metadata is one, judged by its present recipients."""
    return is_personal(
        is_mail=is_mail(effect),
        recipients=len(effect.recipients),
        own_words=metadata.get(OWN_WORDS) is True,
    )
