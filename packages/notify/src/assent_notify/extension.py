"""The ways to reach people that this distribution adds to the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from assent.sdk import Extension, OwnSetting

if TYPE_CHECKING:
    from assent.sdk import ExtensionProcess, Notifier, Screen, Services


def _make_notifiers(settings: Mapping[str, Any]) -> Iterable[Notifier]:
    from assent_notify.notifiers import make_notifiers
    from assent_notify.slack import SlackButtons

    return (*make_notifiers(settings), SlackButtons(settings["slack_url"]))


def _list_screens() -> tuple[Screen, ...]:
    from assent_notify.slack_screen import SCREENS

    return SCREENS


def _start(services: Services, settings: Mapping[str, Any]) -> ExtensionProcess:
    from assent_notify.slack import SlackProcess

    return SlackProcess(services, settings)


EXTENSION: Final = Extension(
    name="notify",
    make_notifiers=_make_notifiers,
    list_screens=_list_screens,
    start=_start,
    settings=(
        OwnSetting(name="slack_url", doc="Where Slack is reached.", default="https://slack.com/api"),
        OwnSetting(
            name="slack_answers_url",
            doc="Where Slack takes answers to taps.",
            default="https://hooks.slack.com",
        ),
    ),
)
