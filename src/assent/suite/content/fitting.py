"""Fits an edited text to its channel: enforces the limits, and divides a thread again."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from assent.platform.effects import Effect
from assent.platform.values import Problem, Reason, Refusal
from assent.suite.channels.channel import Channel, check, title_problems
from assent.suite.content import threads

_MARKERS: Final = re.compile(r"\n\n\d{1,2}/\d{1,2}(?=\n\n|\Z)")
"""The numbering of the posts of a thread."""


def fit_edit(row: Channel | None, before: Effect, effect: Effect) -> Effect:
    """Return the edited effect as its channel takes it. Raises `Refusal` if it does not fit."""
    texts = ("body", "title", "subject")
    changed = any(getattr(before, name) != getattr(effect, name) for name in texts)
    return fit_to_channel(row, effect) if changed and row is not None else effect


def fit_to_channel(row: Channel, effect: Effect) -> Effect:
    """Enforce the channel's limits on an edited text. A thread is divided again."""
    body = _MARKERS.sub("", effect.body) if "thread" in effect.details else effect.body
    parts, wrong = _divide(row, body, effect.subject or effect.title, effect.preheader)
    if wrong:
        headline = "subject" if row.shape == "email" else "title"
        of_headline = title_problems(row, effect.subject or effect.title)
        raise Refusal(
            Reason.VALIDATION_ERROR,
            problems=[
                Problem(headline if problem in of_headline else "body", problem, "the text as it is")
                for problem in wrong
            ],
        )
    details = {name: value for name, value in effect.details.items() if name != "thread"}
    if len(parts) > 1:
        body, details = "\n\n".join(parts), {**details, "thread": list(parts)}
    return msgspec.structs.replace(effect, body=body, details=details)


@lru_cache(maxsize=64)
def _divide(row: Channel, body: str, title: str, preheader: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the posts of a thread, if the channel has threads, and the problems of the text."""
    parts = threads.split(body, row.body.most, row.body.count) if row.splits else ()
    return parts, check(row, body, title=title, preheader=preheader, parts=parts).problems
