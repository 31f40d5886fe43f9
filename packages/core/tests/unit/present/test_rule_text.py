"""The sentence of a rule says what the rule does."""

from __future__ import annotations

from assent.gate.rules.matching import Match
from assent.present.rule_text import describe_match


def test_what_can_be_undone_in_part_is_not_said_to_be_final() -> None:
    """The condition does not hold for an undo that leaves something (docs/undo.md)."""
    assert describe_match(Match(reversible=False)) == "it cannot be undone completely"
    assert describe_match(Match(reversible=True)) == "it can be undone completely"
