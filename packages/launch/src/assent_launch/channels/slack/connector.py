"""`slack`: posts an approved text to a channel through an incoming webhook of Slack, Mattermost and
similar services.

The URL is a secret: with it, anyone can post. So a person enters it like a key, and it is encrypted
like one. A webhook has no idempotency and cannot be queried; if its answer is lost, only a person
can resolve the outcome (`none`). Pictures are left out: a webhook accepts only public picture URLs,
and ours are not public.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from assent import Context, Effect, NotConnected, NotSent, OutcomeUnknown
from assent.platform import (
    Account,
    Connector,
    Deadline,
    Delivered,
    Delivery,
    Exchanged,
    KeyAccess,
    NoLookUp,
    Verified,
    action_of,
)
from assent.sdk import Record
from assent_launch.channels.key_connector import KeyConnector
from assent_launch.channels.slack import INFO

if TYPE_CHECKING:
    from assent_launch.channels.factory import ConnectorParts

MOST_CHARS: Final = 40_000
"""Slack cuts longer texts."""

GONE: Final = frozenset({"no_service", "no_team", "no_active_hooks", "invalid_token", "channel_not_found"})
"""Answers of a webhook that no longer exists, whatever the status."""

NO_TEXT: Final = frozenset({"no_text", "missing_text_or_fallback_or_attachments", "invalid_payload"})
"""Answers to a message without text: the webhook exists, and nothing was posted."""


class HookResponse(Record):
    """The answer of a URL. Without one, `sent` says whether the request went out."""

    status: int | None
    text: str
    sent: bool = True
    headers: Mapping[str, str] = {}


Say = Callable[[str, bytes, float], Awaitable[HookResponse]]
"""Posts JSON to a person's URL. Refuses private addresses that settings do not allow."""


class SlackConnector(NoLookUp, KeyConnector):
    info = INFO
    id = INFO.id
    delivery = Delivery("none")
    no_look_up = "a webhook cannot be asked what it has posted"

    def __init__(self, access: KeyAccess, say: Say) -> None:
        super().__init__(access)
        self._say = say

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        """Send an empty message, which an existing webhook refuses by name."""
        url = key.strip()
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            host = ""
        if not url.startswith(("https://", "http://")) or not host:
            raise NotConnected(
                "Enter the whole address of the webhook, such as https://hooks.slack.com/services/T…/B…/…"
            )
        said = await self._say(url, b'{"text":""}', Deadline(timeout_seconds).left())
        if said.status == 400 and said.text in NO_TEXT:
            # Another webhook of the same workspace is another channel.
            named = f"{self.id}-{hashlib.sha256(url.encode()).hexdigest()[:16]}"
            account = Account(named, self.id, f"the webhook at {host}", default=True)
            return Verified(label=account.name, accounts=(account,))
        answer = f"HTTP {said.status}: {said.text}" if said.status is not None else said.text
        heard = answer[:300]
        if said.status == 200:
            raise NotConnected(
                f"This address took a message without a text ({heard}), which an incoming webhook refuses. Check "
                "that it is the address of a webhook, whole."
            )
        raise NotConnected(f"There is no incoming webhook at this address ({heard}). Copy it again, whole.")

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = action_of(ctx, effect)
        access = await self._access.access(action.workspace_id)
        wanted = action.effect.account_id
        if wanted is not None and access.connection.account(wanted) is None:
            raise NotConnected("this was approved for another webhook than the one that is connected")
        if action.effect.media:
            raise NotSent("a webhook posts no pictures")
        text = message(action.effect)
        if len(text) > MOST_CHARS:
            raise NotSent(f"the text has {len(text):,} characters; Slack takes {MOST_CHARS:,}")
        payload = msgspec.json.encode({"text": text})
        said = await self._say(self._access.key(access), payload, ctx.left())
        if said.status == 200 and said.text == "ok":
            return Delivered(ctx.key, None, {"answer": said.text})
        if said.status is None:
            raise (OutcomeUnknown(said.text) if said.sent else NotSent(said.text, retry=True))
        if said.text in GONE and said.status < 500:
            raise await self._access.ended(access, said.text)
        if said.status == 410:
            raise NotSent(f"HTTP 410: {said.text}")
        raise Exchanged(said.status, None, said.headers).fail(said.text)


def message(effect: Effect) -> str:
    """Return the message without markup: no channel mentions, no links with other text."""
    parts = [part for part in (effect.title, effect.body) if part]
    if effect.link and effect.link not in effect.body:
        parts.append(effect.link)
    return html.escape("\n\n".join(parts), quote=False)


async def post_to_hook(
    allow_hosts: tuple[str, ...], url: str, body: bytes, timeout_seconds: float
) -> HookResponse:
    """Post a message to a person's webhook. Private addresses need the server's permission."""
    from assent.platform import post_json
    from assent.sdk import FetchRefused

    try:
        posted = await post_json(url, body, allow_hosts=allow_hosts, timeout_seconds=timeout_seconds)
    except FetchRefused as refused:
        return HookResponse(None, str(refused), sent=refused.why in ("timeout", "broken"))
    headers = {"retry-after": posted.retry_after} if posted.retry_after is not None else {}
    return HookResponse(posted.status, posted.body.decode("utf-8", "replace").strip(), headers=headers)


def make_connectors(parts: ConnectorParts) -> tuple[Connector, ...]:
    return (
        SlackConnector(
            KeyAccess(INFO, parts.connections), partial(post_to_hook, parts.settings["allow_hosts"])
        ),
    )
