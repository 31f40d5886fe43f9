"""Names are compared without what a reader does not see."""

from __future__ import annotations

import pytest

from assent.kernel.texts import fold_name, write_name


@pytest.mark.parametrize(
    "name",
    [
        "local",
        " Local ",
        "LOCAL",
        "\uff2c\uff4f\uff43\uff41\uff4c",
        "lo\u200bcal",
        "lo\u00adcal\n",
        "\u2060local",
        "local\ufe0f",
        "lo\u200dcal\ufffc",
        "\ue000local",
    ],
)
def test_names_that_look_alike_are_one(name: str) -> None:
    assert fold_name(name) == "local"


def test_folding_twice_changes_nothing_and_other_names_stay_apart() -> None:
    for name in ("Stra\u00dfe  12", "\u212bngstr\u00f6m", "\ufb01x", "\u0130stanbul", "Ada's shop"):
        assert fold_name(fold_name(name)) == fold_name(name)
    assert len({fold_name(each) for each in ("local", "locals", "lo cal", "l\u00f6cal")}) == 4


def test_a_name_is_one_line_of_seen_characters() -> None:
    assert write_name(" Invoice 7\n\nPay\tnow:\u202e x\u200b ") == "Invoice 7 Pay now: x"
