"""A run as the review page shows it: its actions, what it says first, and what it made besides. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assent.drafting.matching import Steps
from assent.engine.pictures import IMAGE
from assent.engine.review import RunReview
from assent.lifecycle.preflight import Readiness
from assent.serving.web import review_history
from assent.serving.web.review_card import Card, card_of
from assent.serving.web.review_forms import Looking
from assent.serving.web.unseen import Piece, pieces
from assent.serving.web.word_diff import PAGE_STEPS


def cards(found: RunReview, readiness: Mapping[str, Readiness], looking: Looking) -> tuple[Card, ...]:
    """Every action of a run, in the order in which they were staged."""
    history = review_history.entries(found.events, looking.now_ms)
    steps = Steps(PAGE_STEPS)
    return tuple(
        card_of(found, action, readiness.get(action.action_id), history, looking, steps)
        for action in found.actions
    )


def headline(shown: tuple[Card, ...], *, has_actions: bool) -> str:
    """What the page says first."""
    waiting = sum(card.waiting and "withdraw" not in card.forms for card in shown)
    unknown = sum(card.unknown for card in shown)
    if waiting:
        return "One draft waits for you" if waiting == 1 else f"{waiting} drafts wait for you"
    if unknown:
        return "Was this sent? Please look and say"
    if any(card.in_flight for card in shown):
        return "On its way"
    if not has_actions:
        return "Nothing to approve here"
    if all(card.expired for card in shown):
        return "These drafts have expired" if len(shown) > 1 else "This draft has expired"
    return "Everything here is decided"


class Other(msgspec.Struct, frozen=True):
    """Something that a run made and that no action of it sends."""

    title: str
    body: tuple[Piece, ...]


def others(found: RunReview) -> tuple[Other, ...]:
    covered = {action.asset_id for action in found.actions}
    return tuple(
        Other(asset.title or asset.type, pieces(asset.body))
        for asset in found.assets
        if asset.asset_id not in covered and asset.type != IMAGE
    )
