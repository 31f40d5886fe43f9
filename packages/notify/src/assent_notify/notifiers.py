"""Ways to notify people beyond those of the core: Slack, Telegram, ntfy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

import msgspec

from assent.sdk import Notification, NotificationReceipt, NotifierContext

if TYPE_CHECKING:
    from assent.sdk import Notifier

# `slack`: notifies by an incoming webhook of Slack or a compatible service.

# Posts a note to a URL whose path is its secret.


class WebhookNotifier:
    by_mail = False
    by_browser = False

    def check(self, ctx: NotifierContext, address: str) -> str:
        if not address.startswith(("https://", "http://")):
            return "Enter the whole address, beginning with https://."
        return ctx.screen_webhook(address) or ""

    def mask(self, address: str) -> str:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc}/…"


async def post_note(ctx: NotifierContext, url: str, body: bytes) -> NotificationReceipt:
    """Post a note."""
    reply = await ctx.post_webhook(url, body, {})
    if reply.status is not None and 200 <= reply.status < 300:
        return NotificationReceipt()
    return NotificationReceipt(reply.detail or f"it answered {reply.status}")


class SlackNotifier(WebhookNotifier):
    kind = "slack"
    label = "Slack-compatible webhook"
    hint = "The address that Slack, Mattermost or Discord (/slack) gives you"

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        body = msgspec.json.encode({"text": f"*{note.title}*\n{note.text}\n{note.link}"})
        return await post_note(ctx, address, body)


def make_notifiers(settings: Mapping[str, Any]) -> tuple[Notifier, ...]:
    """Return the notifiers, in the order in which a form offers them."""
    return (SlackNotifier(), TelegramNotifier(settings["telegram_url"]), NtfyNotifier())


# `ntfy`: notifies by a push to a topic of ntfy or a compatible server.

QUIET: Final = 2
"""The priority that makes no sound."""


class NtfyNotifier(WebhookNotifier):
    kind = "ntfy"
    label = "ntfy-compatible push"
    hint = "The address of a topic, such as https://ntfy.sh/a-name-hard-to-guess"

    def check(self, ctx: NotifierContext, address: str) -> str:
        problem = super().check(ctx, address)
        if not problem and not urlsplit(address).path.strip("/"):
            return "Name the topic, too, as in https://ntfy.sh/your-topic."
        return problem

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        # A push server takes JSON at its root path; the last part of the address is the topic.
        parts = urlsplit(address)
        path, _, topic = parts.path.rstrip("/").rpartition("/")
        url = urlunsplit((parts.scheme, parts.netloc, path + "/", "", ""))
        message: dict[str, Any] = {
            "topic": topic,
            "title": note.title,
            "message": note.text,
            "click": note.link,
        }
        if note.quiet:
            message["priority"] = QUIET
        return await post_note(ctx, url, msgspec.json.encode(message))


# `telegram`: notifies by a message of a bot, which is edited after a decision.
#
# The address is the bot's token and the chat, separated by a space. The message is plain text, and Telegram is told
# not to fetch the link for a preview.

UNCHANGED: Final = "message is not modified"
_ADDRESS: Final = re.compile(
    r"(?P<bot>[0-9]{5,20}):[A-Za-z0-9_-]{20,100} (?P<chat>-?[0-9]{1,20}|@[A-Za-z0-9_]{4,64})"
)


class TelegramNotifier:
    kind = "telegram"
    label = "Telegram"
    hint = "The token of your bot, a space, and the number of the chat, such as 12345:AbC… 987654321"
    by_mail = False
    by_browser = False

    def __init__(self, api_url: str) -> None:
        self._api_url = api_url.rstrip("/")

    def check(self, ctx: NotifierContext, address: str) -> str:
        if not _ADDRESS.fullmatch(address):
            return "Enter the token that BotFather gave you, a space, and the number of the chat."
        return ctx.screen_webhook(self._api_url) or ""

    def mask(self, address: str) -> str:
        found = _ADDRESS.fullmatch(address)
        return f"bot {found['bot']}, chat …{found['chat'][-3:]}" if found else "a bot"

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        token, _, chat = address.partition(" ")
        message: dict[str, Any] = {
            "chat_id": chat,
            "text": f"{note.title}\n{note.text}\n{note.link}",
            "link_preview_options": {"is_disabled": True},
        }
        if note.replaces.isdigit():
            edited = {**message, "message_id": int(note.replaces)}
            reply = await self._call(ctx, token, "editMessageText", edited)
            if not reply.problem or UNCHANGED in reply.problem:
                return NotificationReceipt(message=note.replaces)
            # The message was deleted or is too old: another one follows.
        return await self._call(ctx, token, "sendMessage", {**message, "disable_notification": note.quiet})

    async def _call(
        self, ctx: NotifierContext, token: str, method: str, message: dict[str, Any]
    ) -> NotificationReceipt:
        body = msgspec.json.encode(message)
        reply = await ctx.post_webhook(f"{self._api_url}/bot{token}/{method}", body, {})
        if reply.status is None:
            # The detail of a refused request might name the address, which has the token.
            return NotificationReceipt(f"Telegram could not be reached ({reply.why})")
        try:
            said = msgspec.json.decode(reply.body, type=_Answer)
        except msgspec.MsgspecError:
            return NotificationReceipt(f"Telegram answered {reply.status}")
        if not said.ok:
            return NotificationReceipt(f"Telegram answered {reply.status}: {said.description[:200]}")
        found = said.result if isinstance(said.result, dict) else {}
        return NotificationReceipt(message=str(found.get("message_id", "")))


class _Answer(msgspec.Struct):
    ok: bool = False
    description: str = ""
    result: Any = None
