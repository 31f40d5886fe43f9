"""The compiled workflow: a pinned program of two instructions.

`Ask` gives one step to the agent and states what must come back; `Repeat` runs instructions again.
Everything an author can write compiles to these. Nodes are in one flat tuple and refer to each
other by index, so a run's progress is one bit per node. A program is data, stored by its hash; it
runs without its file.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.kernel.canonical import digest
from assent.kernel.structs import Record

PROGRAM_FORMAT: Final = 1
"""Increased when stored programs can no longer be read."""

LOOP_CONTROL: Final = "wr.loop_control"
ASSESSMENT: Final = "wr.assessment"
PLAN: Final = "plan"
"""The kind of a confirmation that is given to the actions of a run, each judged alone."""
PLAN_RUN: Final = "planRunId"
"""The context value that names that run."""


class Data(Record, kw_only=True):
    """Base of all program values. Every field is encoded, because omission of defaults depends on
    the identity of objects, and the hash must depend on the meaning only."""


class Text(Data, frozen=True):
    """A piece of a prompt, shown while its condition holds."""

    text: str
    when: dict[str, Any] | None = None


class Confirm(Data, frozen=True):
    """A person's approval that a step needs before the run passes it (W40)."""

    kind: str = "human_approval"
    when: dict[str, Any] | None = None
    question: str = ""
    """What the author asks the person."""


class Contract(Data, frozen=True):
    """The required output of a step (W34). Without `kind` and `schema` any kind passes."""

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
    """An assessment that the agent makes of its own work."""

    id: str
    purpose: str
    dimensions: tuple[Dimension, ...]


class Consequence(Data, frozen=True):
    """At this level the step stays pending and asks for the follow-up (W38)."""

    level: str
    guidance: str
    assessment: str | None = None


class StepAction(Data, frozen=True):
    """The operator's tool of a step, with a template for its arguments."""

    tool: str
    args: dict[str, Any] = {}


class Ask(Data, frozen=True, tag="ask"):
    """One step for the agent."""

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
    """A loop. `mode` selects the field that decides about another iteration."""

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
    """A compiled workflow. `preamble` is shown at the start and when a run is resumed."""

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


def workflow_hash(program: Program) -> str:
    """The identity of a program: the digest of its canonical form (W57)."""
    return digest(program)


def encode(program: Program) -> bytes:
    return msgspec.json.encode(program, order="deterministic")


_DECODER: Final = msgspec.json.Decoder(Program)


class UnknownFormat(ValueError):  # noqa: N818 - a state of the stored program
    """The stored value has the format of another version of this server."""


def decode(stored: bytes) -> Program:
    """Decode a stored program. Raises `UnknownFormat` for another format (W68)."""
    found = msgspec.json.decode(stored, type=dict[str, Any]).get("format")
    if found != PROGRAM_FORMAT:
        raise UnknownFormat(f"program format {found}; this server reads {PROGRAM_FORMAT}")
    return _DECODER.decode(stored)
