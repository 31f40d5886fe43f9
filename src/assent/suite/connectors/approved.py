"""How a connector takes its orders: from the gate's own pass and from nothing that looks like one."""

from __future__ import annotations

from assent.gate.gate import ApprovedAction
from assent.gate.records import Action


def action_of(approved: ApprovedAction) -> Action:
    """The claimed action. A stand-in with the same attribute has been through no gate."""
    if type(approved) is not ApprovedAction:
        raise TypeError(f"a connector takes an ApprovedAction, not {type(approved).__name__}")
    return approved.action
