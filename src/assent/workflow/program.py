"""The compiled workflow: a pinned program of two instructions.

`Ask` puts one step to the agent and says what must come back; `Repeat` runs instructions again. Everything an author
can write lowers to these. Nodes lie in one flat tuple and name each other by index, so that a run's progress is a bit
per node. A program is data: it is stored by its hash, and runs when its file is long gone.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from assent.kernel.canonical import digest
from assent.workflow.regex.patterns import Engine

PROGRAM_FORMAT: Final = 1
"""Goes up when a stored program can no longer be read as it is."""

LOOP_CONTROL: Final = "wr.loop_control"
ASSESSMENT: Final = "wr.assessment"


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """A value of the program. Every field is written, absent or not: which defaults the codec would leave out depends
    on the identity of objects, and the hash must depend on nothing but the meaning.
    """


class Text(Data, frozen=True):
    """A piece of a prompt, shown while its condition holds."""

    text: str
    when: dict[str, Any] | None = None


class Confirm(Data, frozen=True):
    """A human's consent before the run goes past a step (W40)."""

    kind: str = "human_approval"
    when: dict[str, Any] | None = None


class Contract(Data, frozen=True):
    """What a step's output must be (W34). Without `kind` and `schema` the contract is unknown: any kind passes."""

    ref: str
    required: bool = True
    kind: str | None = None
    schema: dict[str, Any] | None = None
    example: dict[str, Any] | None = None


class Dimension(Data, frozen=True):
    """One scale of an assessment."""

    id: str
    purpose: str
    levels: tuple[str, ...]
    required: bool = True


class Assessment(Data, frozen=True):
    """What an agent must judge about its own work."""

    id: str
    purpose: str
    dimensions: tuple[Dimension, ...]


class Consequence(Data, frozen=True):
    """At this level the step stays, and asks for the follow-up (W38)."""

    level: str
    guidance: str
    assessment: str | None = None


class StepAction(Data, frozen=True):
    """An operator's tool that the step is about, with a template for its arguments."""

    tool: str
    args: dict[str, Any] = {}


class Ask(Data, frozen=True, tag="ask"):
    """One step, put to the agent."""

    id: str
    title: str
    prompt: tuple[Text, ...]
    when: dict[str, Any] | None = None
    confirm: Confirm | None = None
    on_reject: str = "stay"
    contract: Contract | None = None
    criteria: list[Any] | dict[str, Any] | None = None
    assessments: tuple[Assessment, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    notes_required: bool = False
    action: StepAction | None = None
    model_tier: str | None = None
    ask_for_files: bool = False


class Repeat(Data, frozen=True, tag="repeat"):
    """A loop. `mode` says which of the sources decides whether there is another iteration."""

    id: str
    title: str
    mode: str
    most: int
    body: tuple[int, ...]
    when: dict[str, Any] | None = None
    condition: dict[str, Any] | None = None
    artifact: str | None = None
    loop_id: str | None = None
    items: str | None = None
    count: int | str | None = None
    iteration_var: str = "currentIteration"
    item_var: str = "currentItem"
    index_var: str = "currentIndex"


Node = Ask | Repeat


class Program(Data, frozen=True):
    """A workflow as it runs. `preamble` is shown at the start and when a run is resumed."""

    format: int
    id: str
    name: str
    description: str
    version: str
    nodes: tuple[Node, ...]
    top: tuple[int, ...]
    preamble: tuple[str, ...] = ()
    about: str | None = None
    examples: tuple[str, ...] = ()
    model_tier: str | None = None
    preferences: dict[str, str] = {}
    references: tuple[dict[str, Any], ...] = ()
    patterns: Literal["re2"] | msgspec.UnsetType = msgspec.UNSET
    """What searches for its patterns. Not written where it has none, nor in programs that were made before there was a
    choice: those keep their hash."""

    @property
    def engine(self) -> Engine:
        return "automaton" if self.patterns is msgspec.UNSET else self.patterns


def with_engine(program: Program) -> Program:
    """The program, pinned to the engine that is used today if it has patterns."""
    stored = encode(program)
    if b'"pattern"' not in stored and b'"matches"' not in stored:
        return program
    return msgspec.structs.replace(program, patterns="re2")


def without_engine(program: Program) -> Program:
    """The same, as it was before there was a choice."""
    return msgspec.structs.replace(program, patterns=msgspec.UNSET)


def workflow_hash(program: Program) -> str:
    """The identity of a program: the digest of its canonical form (W57)."""
    return digest(program)


def encode(program: Program) -> bytes:
    """The stored form."""
    return msgspec.json.encode(program, order="deterministic")


_DECODER: Final = msgspec.json.Decoder(Program)


class UnknownFormat(ValueError):  # noqa: N818 - a state of the stored program
    """The stored program was written by another generation of this server."""


def decode(stored: bytes) -> Program:
    """The program in its stored form; refuses another format by name (W68)."""
    found = msgspec.json.decode(stored, type=dict[str, Any]).get("format")
    if found != PROGRAM_FORMAT:
        raise UnknownFormat(f"program format {found}; this server reads {PROGRAM_FORMAT}")
    return _DECODER.decode(stored)
