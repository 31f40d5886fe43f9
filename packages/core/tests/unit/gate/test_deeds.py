"""Which sentences say that something was done, and which actions show it."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.builders import stage

from assent.gate.content.deeds import find_deeds, is_shown_by
from assent.gate.records import Action
from assent.gate.views import Facets


@pytest.mark.parametrize(
    "text",
    [
        "We have refunded 40 euros to your card.",
        "Hi Jo, we've just refunded you.",
        "You have been refunded in full.",
        "I transferred €1,200.00 to your account yesterday.",
        "We have charged back the payment of 12.50 EUR.",
        "Your subscription was cancelled today.",
        "The contract has been terminated.",
        "We deleted your account.",
        "Wir haben dir 40 Euro erstattet.",
        "Deine Bestellung wurde storniert.",
    ],
)
def test_a_sentence_about_money_or_a_contract_is_found(text: str) -> None:
    deeds = find_deeds(f"Hello.\n\n{text} Best, Sam")

    assert [deed.passage for deed in deeds] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "We will refund you next week.",
        "We have not refunded anything yet.",
        "Once we have refunded the 40 euros, we write again.",
        "Have you been refunded?",
        "We paid attention to every detail.",
        "We deleted 3,000 lines of code and cancelled two meetings.",
        "Wir haben dir noch nicht 40 Euro erstattet.",
        "Refunds take 14 days.",
        "We wired the new importer to the ledger.",
    ],
)
def test_what_is_planned_denied_asked_or_about_something_else_is_no_deed(text: str) -> None:
    assert find_deeds(text) == ()


def function(verb: str, amount: str = "") -> Action:
    action = stage()
    effect = msgspec.structs.replace(action.effect, verb=verb, arguments={"order": "1182"})
    view = msgspec.structs.replace(action.view, facets=Facets(amount=amount))
    return msgspec.structs.replace(action, effect=effect, view=view)


@pytest.mark.parametrize(
    ("verb", "amount", "shown"),
    [
        ("refund_order", "40.00", True),
        ("refund_order", "", True),
        ("refund_order", "12.50", False),
        ("close_ticket", "40.00", False),
    ],
)
def test_an_action_shows_a_deed_by_its_name_and_its_amount(verb: str, amount: str, shown: bool) -> None:
    (deed,) = find_deeds("We have refunded 40 euros.")

    assert is_shown_by(deed, (function(verb, amount),)) is shown
