"""The effect types of the workspace's own feed: publishing a page, and taking one down."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import msgspec

from assent import Effect, View
from assent.platform import EffectType, Preview, Scene
from assent.sdk import Severity
from assent_launch.channels.site import CHANNEL, INFO, UNPUBLISH
from assent_launch.effect_types import POST, describe_post, make_types
from assent_launch.site.feed import FEED_PATH

ON_PAGES: Final = "Your site"
"""The name of the channel on pages."""


def _describe_page(view: View, effect: Effect, scene: Scene) -> View:
    view = describe_post(CHANNEL, view, effect, scene)
    if effect.connector != INFO.id:
        return view
    return msgspec.structs.replace(
        view,
        sentence="Publishes this on the public feed of this server, where everybody can read it.",
        place=_name_feed(effect, scene),
        destination=f"To {ON_PAGES}{effect.as_account}",
        preview=Preview("page"),
    )


def _describe_take_down(view: View, effect: Effect, scene: Scene) -> View:
    return msgspec.structs.replace(
        view,
        sentence="Takes this page down. Its address says that it is gone; its text and numbers are kept.",
        destination="Off your own site",
        place=_name_feed(effect, scene),
        preview=Preview("page"),
        receipt="postId",
    )


LEAVES: Final = "People may have read it, and search engines may keep a copy."


def _name_feed(effect: Effect, scene: Scene) -> str:
    address = scene.base_url + FEED_PATH.format(scene.workspace_id)
    host = urlsplit(effect.link).hostname
    other = f" (not {host})" if host and host != urlsplit(address).hostname else ""
    return f"the public feed of this server, {address}{other}"


def _grade(effect: Effect) -> Severity:
    return Severity.LOW if effect.connector == INFO.id else Severity.MEDIUM


def _explain(effect: Effect) -> str:
    return (
        "It is public on your site; you can remove it."
        if effect.connector == INFO.id
        else "It is published under your name."
    )


TYPES: Final = (
    *make_types(
        CHANNEL,
        POST,
        page_label=ON_PAGES,
        noun=f"{ON_PAGES} post",
        common_noun=True,
        risk=_grade,
        why=_explain,
        describe=_describe_page,
        counts_visits=True,
        taken_down=(UNPUBLISH, {INFO.id: LEAVES}),
    ),
    EffectType(
        channel=CHANNEL.id,
        verb=UNPUBLISH,
        label=CHANNEL.label,
        page_label=ON_PAGES,
        noun="Page to take down",
        common_noun=True,
        operator="chieflab-post",
        via=CHANNEL.connectors,
        risk=_grade,
        why=_explain,
        describe=_describe_take_down,
        without=("recipients", "amount", "arguments"),
        trusted=True,
    ),
)
