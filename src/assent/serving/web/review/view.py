"""A run on the review page: its headline, its actions and its other outputs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from assent.engine.views.review import RunReview
from assent.gate.pictures import IMAGE
from assent.gate.preflight import Readiness
from assent.kernel.structs import Record
from assent.serving.web.review import history as review_history
from assent.serving.web.review.card import Card, build_card
from assent.serving.web.review.forms import FormContext, may_be_batched
from assent.serving.web.review.matching import Steps
from assent.serving.web.shell.unseen import UnseenPiece, pieces
from assent.serving.web.shell.word_diff import PAGE_STEPS


def cards(found: RunReview, readiness: Mapping[str, Readiness], looking: FormContext) -> tuple[Card, ...]:
    """Every action of a run, in staging order."""
    history = review_history.entries(found.events, looking.now_ms)
    steps = Steps(PAGE_STEPS)
    return tuple(
        build_card(found, action, readiness.get(action.action_id), history, looking, steps)
        for action in found.actions
    )


def headline(shown: tuple[Card, ...], *, has_actions: bool) -> str:
    """The headline: what waits for a decision, else the outcome. A run with one draft is named after it."""
    mine = sum(card.waiting and "withdraw" not in card.forms for card in shown)
    if mine:
        if len(shown) == 1:
            return shown[0].title
        return "One draft waits for you" if mine == 1 else f"{mine} drafts wait for you"
    if any(card.unknown for card in shown):
        return (
            "Did this go out? We lost the connection"
            if not any(card.is_function for card in shown if card.unknown)
            else "Was this done? We lost the connection"
        )
    if any(card.in_flight for card in shown):
        return "On its way"
    if not has_actions:
        return "Nothing to approve here"
    if any(card.waiting for card in shown):
        return "You approved this; another person must, too"
    if all(card.expired for card in shown):
        return "These drafts have expired" if len(shown) > 1 else "This draft has expired"
    return _outcome(shown)


class Progress(Record):
    """How many of a run's drafts are decided."""

    decided: int
    total: int


def count_progress(shown: tuple[Card, ...]) -> Progress | None:
    """None for a single draft."""
    if len(shown) < 2:
        return None
    waits = sum(card.waiting or card.unknown for card in shown)
    return Progress(len(shown) - waits, len(shown))


def list_rest(found: RunReview, shown: tuple[Card, ...]) -> tuple[str, ...]:
    """The ids of the drafts that this person may decide together, if they are several."""
    open_ones = {card.action_id for card in shown if card.waiting and "approve" in card.forms}
    rest = [each.action_id for each in found.actions if each.action_id in open_ones and may_be_batched(each)]
    return tuple(rest) if len(rest) > 1 else ()


def _outcome(shown: tuple[Card, ...]) -> str:
    """The outcome of actions that are all decided, worst first."""
    done = "run" if all(card.is_function for card in shown) else "sent"
    for became, one, several in (
        ([card for card in shown if card.failed], "did not go out", "did not go out"),
        (
            [card for card in shown if card.unsent],
            f"is approved and not {done} yet",
            f"are approved and not {done} yet",
        ),
        ([card for card in shown if card.scheduled], "goes out at its time", "go out at their time"),
    ):
        if became:
            return _say(became, shown, one, several)
    went = [card for card in shown if card.executed]
    if went:
        return _say(went, shown, f"{_verb(went)}", f"{_verb(went)}")
    rejected = [card for card in shown if card.rejection is not None]
    if len(rejected) == len(shown):
        return _say(rejected, shown, "was rejected", "were rejected")
    expired = sum(card.expired for card in shown)
    return f"{len(rejected)} rejected, {expired} expired"


def _say(became: list[Card], shown: tuple[Card, ...], one: str, several: str) -> str:
    if len(shown) == 1:
        noun = became[0].content.noun
        # The name of a function is often a phrase: “Throw goods away” is done.
        is_phrase = became[0].is_function and noun[:1].isupper()
        return f"“{noun}” {one}" if is_phrase else f"This {noun} {one}"
    if len(became) == len(shown):
        return f"All {len(shown)} {several}"
    return f"One of {len(shown)} {one}" if len(became) == 1 else f"{len(became)} of {len(shown)} {several}"


def _verb(went: list[Card]) -> str:
    return (
        "went out"
        if all((card.sends or card.brief) and not card.is_function for card in went)
        else "is done"
        if len(went) == 1
        else "are done"
    )


class UnsentOutput(Record):
    """An output of a run that no action sends."""

    title: str
    body: tuple[UnseenPiece, ...]


def others(found: RunReview) -> tuple[UnsentOutput, ...]:
    covered = {action.asset_id for action in found.actions}
    return tuple(
        UnsentOutput(asset.title or asset.type, pieces(asset.body))
        for asset in found.assets
        if asset.asset_id not in covered and asset.type != IMAGE
    )
