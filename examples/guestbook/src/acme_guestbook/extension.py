"""What the guest book adds to the server. Each part is imported when it is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from assent.sdk import Command, Extension, Setting

if TYPE_CHECKING:
    from assent.sdk import Notifier, Screen


def _list_screens() -> tuple[Screen, ...]:
    from acme_guestbook.screen import SCREEN

    return (SCREEN,)


def _list_commands() -> tuple[Command, ...]:
    from acme_guestbook.command import list_signatures

    return (Command(name="guestbook list", run=list_signatures, group_help="The guest book."),)


def _make_notifiers(settings: Mapping[str, Any]) -> Iterable[Notifier]:
    from acme_guestbook.doorbell import Doorbell

    return (Doorbell(settings["sound"]),)


EXTENSION: Final = Extension(
    name="guestbook",
    operators=("acme_guestbook.book",),
    settings=(Setting(name="sound", doc="What the doorbell plays.", default="ding-dong"),),
    list_screens=_list_screens,
    list_commands=_list_commands,
    make_notifiers=_make_notifiers,
)
