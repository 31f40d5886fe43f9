"""What follows from a change of an action, in the order in which it is done (`assent.engine.actions.hooks`): what our
extensions add, then the core's own."""

from __future__ import annotations

from typing import Final

from assent.engine.actions import pictures, undo
from assent.engine.actions.hooks import Subscriber
from assent.engine.people import notifications
from assent.engine.webhooks import events as webhook_events
from assent.extensions.hooks import load_extensions

CORE: Final = (
    Subscriber(name="undo", settled=undo.note_undone),
    Subscriber(
        name="pictures", staged=pictures.keep_staged, decided=pictures.show_edited, erased=pictures.forget
    ),
    Subscriber(
        name="notifications",
        staged=notifications.ask_about_staged,
        decided=notifications.ask_about_decision,
        approval_ended=notifications.ask_about_ended,
        settled=notifications.ask_about_outcome,
    ),
    Subscriber(
        name="webhooks",
        staged=webhook_events.announce_staged,
        decided=webhook_events.announce_decision,
        approval_ended=webhook_events.announce_ended,
        settled=webhook_events.announce_outcome,
    ),
)


def list_subscribers() -> tuple[Subscriber, ...]:
    """Return the whole table. Only our own distributions subscribe, so no setting adds to it."""
    added = (each for extension in load_extensions() for each in extension.list_subscribers())
    return (*added, *CORE)
