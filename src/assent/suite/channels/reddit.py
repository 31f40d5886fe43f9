"""Reddit, by hand or by Zernio."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from assent.platform.effects import ByHand, Effect, HandField
from assent.suite.channels.channel import Channel, NoteForm, Size, count_chars

BODY: Final = count_chars(40_000)
TITLE: Final = count_chars(300)


def _name_community(form: ByHand, effect: Effect) -> ByHand:
    community = (effect.target or {}).get("subreddit", "").removeprefix("r/")
    if re.fullmatch(r"\w{2,40}", community, re.ASCII) is None:
        return form
    return msgspec.structs.replace(form, where=f"https://www.reddit.com/r/{community}/submit")


CHANNEL: Final = Channel(
    id="reddit",
    label="Reddit",
    shape="titled",
    connectors=("manual", "zernio"),
    verb="post",
    body=BODY,
    title=TITLE,
    title_required=True,
    title_advice=120,
    links_habit=2,
    habits="Speak as a member, say that it is yours, follow the rules of the subreddit; no marketing tone.",
    note=NoteForm(advice="Say in the post that the project is yours, and follow the rules of the subreddit."),
    picture=Size(1200, 628),
    look_at="https://www.reddit.com/user/me/submitted/",
    by_hand=ByHand(
        where="https://www.reddit.com/submit",
        fields=(
            HandField("title", "title", TITLE.most),
            HandField("link", "link"),
            HandField("body", "body", BODY.most),
        ),
        advice=("Read the community's rules on self-promotion first.",),
    ),
    fill_form=_name_community,
)
