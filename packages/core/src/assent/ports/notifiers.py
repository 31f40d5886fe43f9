"""The port by which the server reaches people: a notifier carries a short note to one address.

A notifier is registered by an extension. The core knows its kind and its words, never the service
behind it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from assent.gate.webhooks import WebhookReply
from assent.kernel.structs import Record

if TYPE_CHECKING:
    from assent.present.notes import NoteCard


class Notification(Record):
    """The text of a notification, with the time of sending."""

    title: str
    text: str
    link: str
    at_ms: int = 0
    subject: str = ""
    """What it is about. Notes with one subject are about the same run."""
    replaces: str = ""
    """The message that it replaces where the service can edit; otherwise it follows that one."""
    quiet: bool = False
    """Whether it should arrive without a sound."""
    cards: tuple[NoteCard, ...] = ()
    """The actions themselves, for the notifiers of a workspace whose kind ends with `_app`. Such a message replaces
    the one of its run at every change, so that it always shows the present state."""


class NotificationReceipt(Record):
    """The result of sending a note: the problem, or the message's id if the service edits."""

    problem: str = ""
    message: str = ""
    gone: bool = False
    """Whether the address will never work again."""


class NotifierContext(Protocol):
    """The network as a notifier may use it."""

    @property
    def screen_webhook(self) -> Callable[[str], str | None]:
        """Returns why a URL can never get a delivery, in words, or None."""
        ...

    @property
    def post_webhook(self) -> Callable[[str, bytes, Mapping[str, str]], Awaitable[WebhookReply]]:
        """One POST under the SSRF rules. Raises no exception of the network."""
        ...

    @property
    def send_note(self) -> Callable[[str, str, str, str], Awaitable[None]]:
        """Mails a note (to, subject, text, key). Raises `NotSent`, `OutcomeUnknown`."""
        ...


class Notifier(Protocol):
    """Notifies people in one way."""

    @property
    def kind(self) -> str:
        """Its id, stored with every target."""
        ...

    @property
    def label(self) -> str: ...

    @property
    def hint(self) -> str:
        """Tells a person what to enter as the address."""
        ...

    @property
    def by_mail(self) -> bool:
        """Whether its addresses are e-mail addresses, so that a person's own one is offered."""
        ...

    @property
    def by_browser(self) -> bool:
        """Whether a browser makes its addresses, by a web push subscription (`net.webpush`)."""
        ...

    def check(self, ctx: NotifierContext, address: str) -> str:
        """Return why an address cannot be used, in words for a person, or an empty text."""
        ...

    def mask(self, address: str) -> str:
        """Return the address for display, without the part that is a secret."""
        ...

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        """Send a note. A repeated key is the same note."""
        ...
