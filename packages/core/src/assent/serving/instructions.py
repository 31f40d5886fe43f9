"""Instructions an agent reads on connecting: when to use the server, which tool to call first, how
consent works (E78).

Follows S0 and S4: drafts are shown in the chat first, the review link is a fallback (C4). Names
only tools that the server lists. Apart from `discovery`, because a process on stdio answers before the table of
tools is loaded.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from assent.kernel.toolsets import DEFAULT_TOOLSETS

SPEC_URL: Final = "https://chieflab.io/spec/v0.1"
"""The contract this server implements (E60)."""

_TEXT: Final = """\
Assent lets an agent {purpose} what its user approves.

USE WHEN the user {wish}{workflows}.

FIRST CALL: chieflab_status. No key: {signup}.

LOOP
1. {prepare} Nothing goes out.
2. Paste `show` as it is and wait. `commands` and `next` are complete but for `needs`.
3. Yes: chieflab_approve_action({{ actionId, digest }}), plus send: true to send it. \
No: chieflab_reject_action({{ actionId, reason }}).
{after}
SAFETY: only what is stored as approved is sent, else requires_approval. Approve only what the user approved. \
reviewUrl is a fallback for users away from chat. On ok:false do what `retry` says: same, changed, \
after_recovery (recoveryTool first) or never: stop and show userMessage.

DO NOT USE to brainstorm, or to send anything unapproved. It cannot refund, charge, change or delete, \
unless a listed tool does."""

_SIGNUP: Final = "ask for an e-mail address, then chieflab_signup_workspace"
_NO_SIGNUP: Final = "stop; the person who runs this server gives keys"
_LAUNCH: Final = "drafts in chieflab_launch_product, "
_WITH_LAUNCH: Final = {
    "purpose": "launch, publish and send",
    "wish": "has built, shipped or deployed something and wants launch help, users, marketing, growth, "
    "distribution, Product Hunt, social posts, launch graphics, launch email, post-launch metrics, or asks "
    '"what now?"',
    "prepare": "Write the texts and titles yourself: {launch}body in chieflab_post or chieflab_send. Without one "
    "the server writes a plain note from repoContext.",
    "after": "4. Measured a day later.\n",
}
_WITHOUT: Final = {
    "purpose": "do",
    "wish": "wants something done that one of the listed tools stages for approval",
    "prepare": "Call the tool that stages it.",
    "after": "",
}
"""The same for a server without assent-launch."""
_WORKFLOWS: Final = "; or wants a workflow followed (workflow_list)"


def instructions(toolsets: Collection[str], *, signup_open: bool = True, has_launch: bool = True) -> str:
    """Build the text for a server that lists these groups of tools."""
    words = _WITH_LAUNCH if has_launch else _WITHOUT
    prepare = words["prepare"].format(launch=_LAUNCH if "launch" in toolsets else "")
    return _TEXT.format(
        **{**words, "prepare": prepare},
        signup=_SIGNUP if signup_open else _NO_SIGNUP,
        workflows=_WORKFLOWS if "workflows" in toolsets else "",
    )


INSTRUCTIONS: Final = instructions(DEFAULT_TOOLSETS)
