"""Instructions an agent reads on connecting: when to use the server, which tool to call first, how
consent works (E78).

Follows S0 and S4: drafts are shown in the chat first, the review link is a fallback (C4). Names
only tools that the server lists. Apart from `discovery`, because a process on stdio answers before the table of
tools is loaded.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from assent.extensions.hooks import PLAIN_WORDS, AgentWords

SPEC_URL: Final = "https://chieflab.io/spec/v0.1"
"""The contract this server implements (E60)."""

_TEXT: Final = """\
Assent lets an agent {purpose} what its user approves.

USE WHEN the user {wish}{workflows}.

FIRST CALL: {first}chieflab_status at the start of a conversation. No key: {signup}. \
chiefmo_ works as a prefix, too.

CLOSED LOOP
1. {prepare} Nothing goes out.
2. Paste every agentGuide.renderInChat body as it is, say userMessage, and wait. \
reviewUrl is a fallback for users away from chat.
3. Yes: chieflab_approve_action({{ actionId, digest }}), plus send: true to send it, or its executorTool later. \
No: chieflab_reject_action({{ actionId, reason }}).
{after}\
agentGuide.nextToolCalls has the next calls and what they need; stopRule says when to stop.

SAFETY: only what is stored as approved is sent, else requires_approval. Approve only what the user approved. \
On ok:false do what `retry` says: same, changed, after_recovery (recoveryTool first) or never: stop and show \
userMessage. The same idempotencyKey and arguments give the same answer, no second effect.

DO NOT USE to brainstorm or to send anything unapproved. It cannot refund, charge, change or delete, \
unless a listed tool does."""

_SIGNUP: Final = "ask for an e-mail address, then chieflab_signup_workspace"
_NO_SIGNUP: Final = "stop; the person who runs this server gives keys"
_WORKFLOWS: Final = "; or wants a workflow followed (workflow_list)"


def instructions(
    toolsets: Collection[str], *, signup_open: bool = True, words: AgentWords = PLAIN_WORDS
) -> str:
    """Build the text for a server that lists these groups of tools."""
    is_listed = words.group in toolsets
    return _TEXT.format(
        purpose=words.purpose,
        wish=words.wish,
        first=words.first_call if is_listed else "",
        prepare=words.prepare.format(by_group=words.prepare_by_group if is_listed else ""),
        after=words.after,
        signup=_SIGNUP if signup_open else _NO_SIGNUP,
        workflows=_WORKFLOWS if "workflows" in toolsets else "",
    )
