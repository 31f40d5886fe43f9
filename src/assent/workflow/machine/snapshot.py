"""Where a run stands: a small frozen value, from which everything after it follows.

Its size depends on the program and the context, never on how long the run already took: progress is one bit per node,
a loop is one frame, and only the latest decision of each step is kept.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.workflow.machine.context import EMPTY_BYTES
from assent.workflow.machine.values import Scope
from assent.workflow.program import Ask, Program, Repeat, Text, UnknownFormat

SNAPSHOT_FORMAT: Final = 1


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """One loop that is running: its node, the iteration (from 0), what the agent decided in it, and whether this
    iteration asked anything at all.
    """

    loop: int
    iteration: int = 0
    decision: str | None = None
    asked: bool = False


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A point of a run. `at` is the node being asked, or nothing once the run is complete. A loop is asked only at the
    very start, for what it needs to begin."""

    at: int | None
    done: str = "0"
    frames: tuple[Frame, ...] = ()
    context: dict[str, Any] = {}
    context_bytes: int = EMPTY_BYTES
    decisions: dict[str, dict[str, str]] = {}
    ahead: tuple[str, str] | None = None
    blocked: int = 0
    format: int = SNAPSHOT_FORMAT

    @property
    def is_complete(self) -> bool:
        return self.at is None


_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


def encode(snapshot: Snapshot) -> bytes:
    """The stored form."""
    return _ENCODER.encode(snapshot)


_DECODER: Final = msgspec.json.Decoder(Snapshot)


def decode(stored: bytes) -> Snapshot:
    """The snapshot in its stored form; refuses another format by name (W68)."""
    snapshot = _DECODER.decode(stored)
    if snapshot.format != SNAPSHOT_FORMAT:
        raise UnknownFormat(f"snapshot format {snapshot.format}; this server reads {SNAPSHOT_FORMAT}")
    return snapshot


def scope_of(program: Program, snapshot: Snapshot) -> Scope:
    """The names that hold at this point."""
    return scope(program, snapshot.context, snapshot.frames, snapshot.decisions)


def scope(
    program: Program,
    context: dict[str, Any],
    frames: tuple[Frame, ...] | list[Frame],
    decisions: dict[str, dict[str, str]],
) -> Scope:
    """Loop variables over the context, innermost first, and the humans' decisions under `wr.decisions`."""
    server: dict[str, Any] = {"wr": {"decisions": decisions}}
    for name, made in decisions.items():
        if "." in name:  # a step of a routine: its name alone is a path already
            server |= {f"wr.decisions.{name}": made}
            server |= {f"wr.decisions.{name}.{fact}": value for fact, value in made.items()}
    layers: list[dict[str, Any]] = [server, context]
    for frame in frames:
        loop = program.nodes[frame.loop]
        if isinstance(loop, Repeat):
            layers = [_loop_variables(loop, frame, Scope(tuple(layers))), *layers]
    return Scope(tuple(layers), program.engine)


def _loop_variables(loop: Repeat, frame: Frame, outer: Scope) -> dict[str, Any]:
    variables: dict[str, Any] = {loop.iteration_var: frame.iteration + 1}
    if loop.items is not None:
        variables[loop.index_var] = frame.iteration
        items = outer.get(loop.items)
        if isinstance(items, list) and frame.iteration < len(items):
            variables[loop.item_var] = items[frame.iteration]
    return variables


def step_key(program: Program, snapshot: Snapshot) -> str:
    """The name of the pending step that is unique in the run: with the iteration of each loop around it (W63)."""
    if snapshot.at is None:
        return ""
    loops = [f"{program.nodes[frame.loop].id}[{frame.iteration + 1}]" for frame in snapshot.frames]
    return "/".join([*loops, program.nodes[snapshot.at].id])


def pending_step(program: Program, snapshot: Snapshot) -> Ask:
    """The step being asked. A complete run has none."""
    if snapshot.at is None:
        raise ValueError("the run is complete: no step is pending")
    node = program.nodes[snapshot.at]
    return node if isinstance(node, Ask) else _at_the_door(node)


def _at_the_door(loop: Repeat) -> Ask:
    """What is asked where a run begins with a loop that cannot begin itself: nothing but what it needs (W60)."""
    name, wanted = (loop.items, "a list of") if loop.mode == "forEach" else (loop.count, "a whole number,")
    needed = f"`{name}`, {wanted} at most {loop.most}"
    prompt = f"This loop cannot begin without {needed}. Find out what it is and send it as context.{name}."
    return Ask(id=loop.id, title=loop.title, prompt=(Text(text=prompt),))
