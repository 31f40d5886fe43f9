"""The ways to reach people that this distribution adds to the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from assent.sdk import Extension, ExtensionProcess, Kind, Setting

if TYPE_CHECKING:
    from starlette.routing import Route

    from assent.sdk import Notifier, Screen, Services


class Notifying(ExtensionProcess):
    """Made once per process; each part at its first use."""

    def __init__(self, services: Services, settings: Mapping[str, Any]) -> None:
        self._services = services
        self._settings = settings

    def make_routes(self, *, base_url: str, trust_proxy: bool) -> list[Route]:
        from assent_notify.slack import make_routes

        return make_routes(self._services, self._settings)


def _make_notifiers(settings: Mapping[str, Any]) -> Iterable[Notifier]:
    from assent_notify.notifiers import make_notifiers
    from assent_notify.slack import SlackButtons

    return (*make_notifiers(settings), SlackButtons(settings["slack_url"]))


def _list_screens() -> tuple[Screen, ...]:
    from assent_notify.slack_screen import SCREENS

    return SCREENS


EXTENSION: Final = Extension(
    name="notify",
    make_notifiers=_make_notifiers,
    list_screens=_list_screens,
    start=Notifying,
    settings=(
        Setting(
            name="telegram_url",
            kind=Kind.ENDPOINT,
            default="https://api.telegram.org",
            doc="The address of Telegram's bot API, for notifications.",
        ),
        Setting(
            name="slack_url",
            kind=Kind.ENDPOINT,
            default="https://slack.com/api",
            doc="Where Slack is reached, for notifications with buttons.",
        ),
        Setting(
            name="slack_answers_url",
            kind=Kind.ENDPOINT,
            default="https://hooks.slack.com",
            doc="Where Slack takes answers to taps.",
        ),
    ),
)
