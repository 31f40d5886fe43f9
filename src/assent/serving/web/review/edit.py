"""The edit page: fields, their limits, and the changed words. Pure."""

from __future__ import annotations

from typing import Any, Final

from assent.engine.actions import editing
from assent.gate.mail import keeps_requests
from assent.gate.records import Action, Effect
from assent.kernel.limits import MAX_CONTENT_CHARS
from assent.kernel.refusals import Refusal
from assent.kernel.structs import Record
from assent.serving.web.review import decisions as review_decisions
from assent.serving.web.review import words as review_words
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.problems import BadFields
from assent.serving.web.review.word_diff import PAGE_STEPS, Piece, word_diff
from assent.suite.content import channels, counting

COUNTED_AS_X: Final = counting.x_weight
"""The only counting rule that the browser script knows besides plain counting."""

FIELDS: Final = (("subject", "Subject"), ("title", "Title"), ("body", "Text"))


class Counted(Record):
    most: int
    used: int
    counts: str
    splits: bool
    unit: str


class Difference(Record):
    label: str
    pieces: tuple[Piece, ...]


def values(action: Action, form: dict[str, str] | None) -> dict[str, Any]:
    """The template values. `form` holds typed text to compare before saving."""
    effect = action.effect
    typed = {name: (form or {}).get(name, getattr(effect, name)) for name, _ in FIELDS}
    typed["recipients"] = (form or {}).get("recipients", "\n".join(effect.recipients))
    typed["asked"] = (form or {}).get("asked", "")
    return {
        "action": action,
        "keeps_requests": keeps_requests(action),
        "title_of": review_words.title(effect),
        "is_mail": review_words.is_mail(effect),
        "typed": typed,
        "limit": _limit(effect, typed["body"]),
        "differences": _differences(effect, typed) if form is not None else (),
        "compared": form is not None,
        "problems": _problems(action, form) if form is not None else (),
        "address": f"/runs/{action.run_id}/actions/{action.action_id}/edit",
        "back": f"/runs/{action.run_id}#action-{action.action_id}",
    }


def _limit(effect: Effect, body: str) -> Counted:
    row = channels.BY_ID.get(effect.channel)
    if row is None or review_words.is_mail(effect):
        return Counted(MAX_CONTENT_CHARS, len(body), "plain", False, "characters")
    counts = "x" if row.body.count is COUNTED_AS_X else "plain"
    return Counted(row.body.most, row.body.count(body), counts, row.splits, row.body.unit)


def _differences(effect: Effect, typed: dict[str, str]) -> tuple[Difference, ...]:
    steps = Steps(PAGE_STEPS)
    found = [
        Difference(label, word_diff(getattr(effect, name), typed[name], steps))
        for name, label in FIELDS
        if typed[name] != getattr(effect, name).replace("\r\n", "\n")
    ]
    before = "\n".join(effect.recipients)
    if typed["recipients"] != before:
        found.insert(0, Difference("To", word_diff(before, typed["recipients"], steps)))
    return tuple(found)


def _problems(action: Action, form: dict[str, str]) -> tuple[str, ...]:
    """The problems that would prevent saving, by the same rules as saving."""
    try:
        editing.apply_edit(action.effect, review_decisions.changes(action, form))
    except BadFields as bad:
        return tuple(bad.wrong.values())
    except Refusal as refusal:
        problems = refusal.recovery().problems
        return (
            tuple(f"{each.path}: {each.expected}" for each in problems) if isinstance(problems, list) else ()
        )
    return ()
