"""The ways in which the server notifies people: e-mail, Slack, Telegram, ntfy, web push."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assent.suite.notifiers.mail import MailNotifier
from assent.suite.notifiers.ntfy import NtfyNotifier
from assent.suite.notifiers.slack import SlackNotifier
from assent.suite.notifiers.telegram import TelegramNotifier
from assent.suite.notifiers.webpush import WebPushNotifier

if TYPE_CHECKING:
    from assent.platform.people import Notifier


def make_notifiers(settings: Mapping[str, Any]) -> tuple[Notifier, ...]:
    """Return the notifiers, in the order in which a form offers them."""
    return (
        MailNotifier(),
        SlackNotifier(),
        TelegramNotifier(settings["telegram_url"]),
        NtfyNotifier(),
        WebPushNotifier(),
    )
