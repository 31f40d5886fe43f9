"""Unpacks the gate's seal: a connector accepts approved actions only from the gate."""

from __future__ import annotations

from assent.gate.gate import ApprovedAction
from assent.gate.records import Action


def action_of(approved: ApprovedAction) -> Action:
    """Return the claimed action. Refuses any object that the gate did not make."""
    if type(approved) is not ApprovedAction:
        raise TypeError(f"a connector takes an ApprovedAction, not {type(approved).__name__}")
    return approved.action
