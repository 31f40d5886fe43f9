"""Calls that an answer suggests. `needs` lists arguments to ask the person for."""

from __future__ import annotations

from typing import Any

from assent.gate.records import Action
from assent.kernel.canonical import short_digest
from assent.kernel.guide import SuggestedCall
from assent.kernel.limits import MAX_WAIT_SECONDS


def about_content(action: Action) -> dict[str, Any]:
    """Return the arguments of a decision about exactly the present content."""
    return {"actionId": action.action_id, "digest": short_digest(action.digest)}


def wait_call(action: Action, when: str = "the user decides on the review page") -> SuggestedCall:
    """Build the call that waits for a change of an action."""
    about = {**about_content(action), "waitSeconds": MAX_WAIT_SECONDS}
    return SuggestedCall("chieflab_get_action", about, when)
