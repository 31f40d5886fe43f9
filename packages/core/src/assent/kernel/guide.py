"""What an answer gives an agent beside its data: the texts to show, and the calls that may follow (E14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, UnsetType

from assent.kernel.structs import WireRecord

TEXT: Final = "text"
"""The key of a text that belongs to no channel."""


class SuggestedCall(WireRecord, omit_defaults=True):
    """A complete tool call, and when to make it."""

    name: str
    args: dict[str, Any]
    when: str
    needs: dict[str, str] = {}
    """Arguments that only the person can give: what to ask for, by argument."""


class InChat(WireRecord):
    """One text to show, as Markdown."""

    body: str


class NextToolCalls(WireRecord, omit_defaults=True):
    """The calls that may follow, the most likely ones first."""

    primary: SuggestedCall
    fallback: SuggestedCall | UnsetType = UNSET
    more: tuple[SuggestedCall, ...] = ()


class Guide(WireRecord, omit_defaults=True):
    """What to show and what may be called."""

    render_in_chat: dict[str, InChat] = {}
    next_tool_calls: NextToolCalls | UnsetType = UNSET


def make_guide(shown: Mapping[str, str], calls: Sequence[SuggestedCall]) -> Guide | UnsetType:
    """Return the guide; nothing if there is nothing to show or to call."""
    if not shown and not calls:
        return UNSET
    return Guide({name: InChat(body) for name, body in shown.items()}, arrange_calls(calls))


def join_guides(guides: Sequence[Guide | UnsetType]) -> Guide | UnsetType:
    """Return one guide for several answers: all that they show, and the first call of each."""
    given = [each for each in guides if each is not UNSET]
    shown = {name: text.body for each in given for name, text in each.render_in_chat.items()}
    found = [each.next_tool_calls for each in given]
    return make_guide(shown, [calls.primary for calls in found if calls is not UNSET])


def arrange_calls(calls: Sequence[SuggestedCall]) -> NextToolCalls | UnsetType:
    if not calls:
        return UNSET
    first, *rest = calls
    return NextToolCalls(first, rest[0], tuple(rest[1:])) if rest else NextToolCalls(first)
