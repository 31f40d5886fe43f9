"""Apply a person's edit to an effect: clean it and enforce the limits of its channel."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from assent.engine.actions.content import content_problems
from assent.gate.card_calls import UNPUBLISH
from assent.gate.records import Effect
from assent.kernel.headers import is_one_line
from assent.kernel.limits import MAX_CONTENT_CHARS
from assent.kernel.refusals import Problem, Reason, Refusal, bad_argument
from assent.suite.content import channels, threads
from assent.suite.content.cleaning import one_line

_MARKERS: Final = re.compile(r"\n\n\d{1,2}/\d{1,2}(?=\n\n|\Z)")
"""The numbering of the posts of a thread."""


def apply_edit(effect: Effect, changes: dict[str, Any]) -> Effect:
    """Return the effect with the changes. Raises `Refusal` if the result is unfit for review."""
    if effect.verb == UNPUBLISH:
        # The text describes the effect; editing it would not change the effect.
        raise bad_argument("actionId", "an action with a text of its own", "one that takes a page down")
    before = effect
    effect = msgspec.structs.replace(effect, **clean_edit(changes))
    if effect.body != before.body and "preheader" not in changes:
        # It summarises the text that is being replaced.
        effect = msgspec.structs.replace(effect, preheader="")
    if effect.html and ("body" in changes or "preheader" in changes) and "html" not in changes:
        # The HTML part was made from the text that is being replaced.
        effect = msgspec.structs.replace(effect, html="")
    if changes.keys() & {"body", "title", "subject"}:
        effect = fit_to_channel(effect)
    if problems := content_problems(effect):
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    return effect


def clean_edit(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes without invisible characters in headlines, as drafts are cleaned."""
    found = dict(changes)
    for name in ("title", "subject", "preheader"):
        if name in found and is_one_line(found[name]):
            found[name] = one_line(found[name], MAX_CONTENT_CHARS)
    return found


def fit_to_channel(effect: Effect) -> Effect:
    """Enforce the channel's limits on an edited text. A thread is divided again."""
    if effect.channel not in channels.BY_ID:
        return effect
    body = _MARKERS.sub("", effect.body) if "thread" in effect.details else effect.body
    parts, wrong = _divide(effect.channel, body, effect.subject or effect.title, effect.preheader)
    if wrong:
        row = channels.BY_ID[effect.channel]
        headline = "subject" if row.shape == "email" else "title"
        of_headline = channels.title_problems(row, effect.subject or effect.title)
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
def _divide(channel: str, body: str, title: str, preheader: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the posts of a thread, if the channel has threads, and the problems of the text."""
    row = channels.BY_ID[channel]
    parts = threads.split(body, row.body.most, row.body.count) if row.splits else ()
    return parts, channels.check(row.id, body, title=title, preheader=preheader, parts=parts).problems
