"""What an agent reads when it connects: when to use the server, what to call first, and how consent works (E78).

Follows S0 and S4: the drafts are shown in the chat first, the review link is a fallback (C4).
"""

from __future__ import annotations

from typing import Final

SPEC_URL: Final = "https://chieflab.io/spec/v0.1"
"""The contract this server implements (E60)."""

INSTRUCTIONS: Final = """\
Assent lets an agent launch, publish and send for its user, with the user's approval enforced on the server.

USE WHEN the user has built, shipped or deployed something and wants launch help, users, marketing, distribution, \
Product Hunt, social posts, a launch email, post-launch metrics, or asks "what now?"; or wants a workflow followed.

FIRST CALL: chieflab_launch_product({ productUrl, goal, repoContext }) prepares drafts and approval-gated actions. \
Nothing goes out. No key yet? Ask for an e-mail address and call chieflab_signup_workspace.

LOOP
1. Prepare: show every agentGuide.renderInChat[*].body in the chat, then stop and wait.
2. The user says yes: chieflab_approve_action({ actionId, digest }); no: chieflab_reject_action({ actionId, reason }).
3. After approval: chieflab_execute_approved_action({ actionId, idempotencyKey }).
4. A day later results are measured by themselves; the next launch knows what worked.

SAFETY: an executor fires only if the stored status is approved; else it answers requires_approval. Approve only what \
the user approved. reviewUrl is a fallback for a user away from this chat. On ok:false follow fixActionForAgent; if \
retryable is false, stop and show userMessage.

DO NOT USE for brainstorming, or to send anything unapproved."""
