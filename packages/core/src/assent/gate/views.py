"""The view of an action: how people and agents see one revision of it, as data.

A view is computed when an action is staged or edited (`assent.gate.effects`) and stored with the
revision and its digest. Pages, chat, lists and notifications draw the stored view and run no code of
an extension. The content itself (texts, recipients, pictures, every argument) is not copied here: it
is drawn from the effect, complete. Pure.
"""

from __future__ import annotations

import enum
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal

from assent.kernel import canonical
from assent.kernel.structs import WireRecord


class Severity(enum.StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    def exceeds(self, other: Severity) -> bool:
        return list(Severity).index(self) > list(Severity).index(other)


Executes = Literal["server", "person", "agent"]
"""`server`: a connector performs it. `person`: a person does it by hand and records it. `agent`: the
agent goes on with it, past a step of its workflow or by running a tool of its own."""


class Facts(WireRecord, tag="facts"):
    """Short values with their labels."""

    rows: tuple[tuple[str, str], ...]


class Text(WireRecord, tag="text", omit_defaults=True):
    """A longer text. `code` keeps its spacing."""

    label: str
    text: str
    code: bool = False


class Table(WireRecord, tag="table"):
    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Diff(WireRecord, tag="diff"):
    """Two versions of a text, shown with the difference."""

    label: str
    before: str
    after: str


Block = Facts | Text | Table | Diff


class Field(WireRecord, kw_only=True, omit_defaults=True):
    """A field that a person may edit. `name` is a field of the effect, or `arguments.NAME`."""

    name: str
    label: str
    many: bool = False
    """Whether it has several lines."""
    required: bool = False
    """Whether it may not be emptied."""
    most: int | None = None
    used: int = 0
    """The length of the present text, as its channel counts."""
    unit: str = "characters"
    counts: str = "plain"
    """The rule by which the browser counts while a person types; with `server` it does not."""
    splits: bool = False
    """Whether a longer text is sent in parts."""
    personal: bool = False
    secret: bool = False

    @classmethod
    def list_envelope(cls) -> tuple[Field, ...]:
        """Return the fields of a message that say whom it reaches, and where an answer goes."""
        return (
            cls(name="recipients", label="To", many=True, personal=True),
            cls(name="cc", label="Cc", many=True, personal=True),
            cls(name="reply_to", label="Reply to", personal=True),
        )


class Preview(WireRecord, omit_defaults=True):
    """How the channel shows the text. `fold`: the characters before "see more"; `sizes`: the length
    of each part of a thread, as the channel counts."""

    kind: Literal["text", "post", "thread", "mail", "page", "arguments"] = "text"
    fold: int | None = None
    sizes: tuple[int, ...] = ()


OPTIONAL_VALUES: Final = ("recipients", "amount", "arguments")
"""What a policy reads and an effect may lack. A type says which of them its effects never have."""


MAX_DIGITS: Final = 20
"""Of an amount that is added up."""


class Facets(WireRecord, omit_defaults=True):
    """Properties of an effect that risk, policy and limits look at."""

    recipients: tuple[str, ...] = ()
    amount: str = ""
    currency: str = ""
    target: str = ""

    @property
    def money(self) -> Decimal | None:
        """The amount as a number that can be added up; None for any other text."""
        try:
            found = Decimal(self.amount)
        except InvalidOperation:
            return None
        return found if found.is_finite() and abs(found.adjusted()) < MAX_DIGITS else None


class Repair(WireRecord, omit_defaults=True):
    """The call of a tool that changes or repeats an action: its arguments and what is still
    needed."""

    tool: str
    when: str
    args: dict[str, Any] = {}
    needs: dict[str, str] = {}
    in_run: bool = False
    """Whether the call also takes the id of the run."""


class Undo(WireRecord, omit_defaults=True):
    """An effect that another action can take back once it has happened."""

    within_ms: int | None = None
    """How long after the execution; None: always."""
    leaves: str = ""
    """What that does not undo, in a sentence. Without any, the effect is reversible."""


class Unfit(WireRecord, omit_defaults=True):
    """Why this content can never be delivered as it is."""

    gate: str
    words: str
    """For the person in the chat."""
    on_page: str = ""
    """For the person on the page, where the words differ."""
    repair: Repair | None = None


class HandField(WireRecord, omit_defaults=True):
    """A field of the form where a person publishes by hand: the part of the effect that belongs there
    (a field of the effect, or `details.NAME`), its limit, and its length where the channel counts other
    than characters."""

    name: str
    source: str
    limit: int | None = None
    length: int | None = None


class ByHand(WireRecord, kw_only=True, omit_defaults=True):
    """How a person performs an effect without a connector."""

    where: str
    fields: tuple[HandField, ...]
    advice: tuple[str, ...] = ()


class View(WireRecord, kw_only=True, omit_defaults=True):
    """One revision of an action for people."""

    label: str = ""
    """The channel's name: `LinkedIn`."""
    noun: str = "Action"
    """The kind of action in a few words: `LinkedIn post`."""
    common_noun: bool = False
    """Whether the noun is no proper name, and small within a sentence: `e-mail`."""
    title: str = ""
    """This action in one line; the noun if empty."""
    sentence: str = ""
    """What an approval permits, in one sentence."""
    danger: str = ""
    """What no one may overlook: an approval lets later effects happen without asking."""
    destination: str = ""
    """Where it goes, for lists: `To LinkedIn as Acme`."""
    place: str | None = None
    """Where it goes, in full, if that is no account."""
    summary: str = ""
    """The content in one line, for lists."""
    outcome: str = ""
    """What to say once it is done: `Published: LinkedIn.` After a colon at its end follows the address."""
    done: str = "Done"
    """The label of the completed action, and in lower case the participle: `already published`."""
    version: int = 1
    """The version of the type."""
    risk: Severity = Severity.HIGH
    """The risk of the type, before warnings and declared risks."""
    why: str = ""
    """Why it has that risk."""
    reversible: bool = False
    """Whether it can be undone as a whole."""
    via: str = ""
    """The connector's name."""
    executes: Executes = "server"
    approval_executes: bool = False
    """Whether the approval also starts the execution."""
    look_at: str = ""
    """Where a person can see whether it happened."""
    blocks: tuple[Block, ...] = ()
    """What the type shows beside the content."""
    in_blocks: bool = False
    """Whether the blocks show the whole content. Arguments and details are not repeated, and the confirm
    page has the blocks uncut."""
    technical: tuple[str, ...] = ()
    """The names of those details that say nothing to a person: ids and hashes."""
    links: tuple[str, ...] = ()
    """Addresses in the blocks."""
    facets: Facets = Facets()
    without: tuple[str, ...] = ()
    """Which of `OPTIONAL_VALUES` it does not have, as its type declares. Another one that is missing is
    unknown (`assent.gate.rules.matching`)."""
    fields: tuple[Field, ...] = ()
    """The fields that a person may edit; none if the content is fixed."""
    fixed: str = ""
    """Why the content cannot be edited, as the object of "got"."""
    preview: Preview = Preview()
    unfit: Unfit | None = None
    has_address: bool = False
    """Whether it can be seen at an address once it is done. A person who does it by hand names it."""
    mail: bool = False
    """Whether it is a message to its recipients, with a subject."""
    hides_recipients: bool = False
    takes_picture: bool = False
    """Whether a picture can be attached."""
    sends_link: bool = False
    """Whether the link is sent beside the text."""
    personal: Literal["", "few", "always"] = ""
    """When it counts as personal data, which the memory does not keep: never, to few recipients
    outside a launch, or always."""
    teaches: bool = True
    """Whether decisions about it become lessons for later drafts."""
    schedulable: bool = True
    """Whether it can be approved for a later time."""
    measured: bool = False
    """Whether its connector reads its results."""
    counts_visits: bool = False
    """Whether its address is a page whose visitors a source can count."""
    removes: bool = False
    """Whether it takes back what an earlier action published."""
    by_hand: ByHand | None = None
    """The brief for the person who performs it."""
    again: Repair | None = None
    """The call that prepares another version."""
    undo: Undo | None = None
    """How it is taken back once it has happened (`assent.gate.undo`)."""
    receipt: Literal["", "postId", "messageId"] = ""
    """The name under which the answer repeats the provider's id."""

    @property
    def heading(self) -> str:
        return self.title or self.noun

    def digest(self) -> str:
        return canonical.digest(self)
