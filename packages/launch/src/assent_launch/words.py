"""What the texts for agents say about the tools of this package. Loaded at each start, so it imports little."""

from __future__ import annotations

from typing import Final

from assent.platform import AgentWords
from assent.sdk import SuggestedCall
from assent_launch import LAUNCH_NEEDS

LAUNCH_CALL: Final = SuggestedCall(
    "chieflab_launch_product", {}, "the user wants to launch something", LAUNCH_NEEDS
)
POST_CALL: Final = SuggestedCall(
    "chieflab_post",
    {},
    "the user wants one post",
    {"channel": "where it appears, such as linkedin, x or site", "body": "the text, written by you"},
)
SEND_CALL: Final = SuggestedCall(
    "chieflab_send",
    {},
    "the user wants to write to someone",
    {"to": "the addresses", "subject": "the subject", "body": "the text, written by you"},
)

WORDS: Final = AgentWords(
    purpose="launch, publish and send",
    wish="has built, shipped or deployed something and wants launch help, users, marketing, growth, "
    "distribution, Product Hunt, social posts, launch graphics, launch email, post-launch metrics, or asks "
    '"what now?"',
    prepare="Write the texts and titles yourself: {by_group}body in chieflab_post or chieflab_send; else it is a "
    "plain note from repoContext.",
    group="launch",
    first_call="chieflab_launch_product({ productUrl, goal }) for a launch; ",
    prepare_by_group="drafts in chieflab_launch_product, ",
    after="4. Measured a day later.\n",
    summary="Assent prepares launches, posts and mails, and sends only what a human approved; it then measures and "
    "remembers.",
    begin="prepare: chieflab_launch_product, chieflab_post or chieflab_send stage drafts; nothing goes out",
    afterwards=(
        "measure: a day later the server measures; chieflab_measure shows it",
        "remember: decisions and results shape the next run; chieflab_brain_read shows them",
    ),
    calls=(LAUNCH_CALL, POST_CALL, SEND_CALL),
    has_guides=True,
)
