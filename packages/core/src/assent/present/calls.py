"""Calls that an answer suggests. `needs` lists arguments to ask the person for."""

from __future__ import annotations

from typing import Any, Final

from assent.gate.records import Action
from assent.kernel.canonical import DIGEST_PREFIX
from assent.kernel.limits import MAX_WAIT_SECONDS
from assent.kernel.refusals import SuggestedCall
from assent.kernel.structs import Record, WireRecord

SHORT_DIGEST_CHARS: Final = 16
"""Digits of a digest in a suggested call, enough to prevent a forged match."""


LAUNCH_NEEDS: Final = {
    "goal": "what the launch is for",
    "repoContext": "an object with whatChanged, readme and targetCustomer, as far as known",
    "drafts": "your own text for each channel, by its id",
}
"""Arguments that a suggested launch lacks."""


class NextToolCalls(WireRecord, omit_defaults=True):
    primary: SuggestedCall
    fallback: SuggestedCall
    others: tuple[SuggestedCall, ...] = ()


class Phrase(Record, omit_defaults=True):
    """Words that the user may say, and the call they trigger."""

    say: str
    tool: str
    args: dict[str, Any]
    needs: dict[str, str] = {}


def about_content(action: Action) -> dict[str, Any]:
    """Return the arguments of a decision about exactly the present content."""
    digest = action.digest.removeprefix(DIGEST_PREFIX)[:SHORT_DIGEST_CHARS]
    return {"actionId": action.action_id, "digest": digest}


def wait_call(action: Action, when: str = "the user decides on the review page") -> SuggestedCall:
    """Build the call that waits for a change of an action."""
    about = {**about_content(action), "waitSeconds": MAX_WAIT_SECONDS}
    return SuggestedCall("chieflab_get_action", about, when)
