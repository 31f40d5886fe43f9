"""The snapshot of a run: a small immutable value with the complete state of the interpreter.

Its size depends on the program and the context, not on the number of steps taken: progress is one bit per node, a loop
is one frame, and only the latest decision of each step is kept.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.workflow.machine.context import EMPTY_BYTES
from assent.workflow.machine.values import Scope
from assent.workflow.program import Ask, Program, Repeat, Text, UnknownFormat

SNAPSHOT_FORMAT: Final = 1


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """A running loop: its node, the iteration (from 0), the agent's loop decision, and whether this iteration had a
    step."""

    loop: int
    iteration: int = 0
    decision: str | None = None
    asked: bool = False


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """`at` is the pending node; None when the run is complete. It is a loop only at the start, if the loop lacks a
    value that it needs to begin."""

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
    return _ENCODER.encode(snapshot)


_DECODER: Final = msgspec.json.Decoder(Snapshot)


def decode(stored: bytes) -> Snapshot:
    """Decode a stored snapshot. Raises `UnknownFormat` for another format (W68)."""
    snapshot = _DECODER.decode(stored)
    if snapshot.format != SNAPSHOT_FORMAT:
        raise UnknownFormat(f"snapshot format {snapshot.format}; this server reads {SNAPSHOT_FORMAT}")
    return snapshot


def scope_of(program: Program, snapshot: Snapshot) -> Scope:
    return scope(program, snapshot.context, snapshot.frames, snapshot.decisions)


def scope(
    program: Program,
    context: dict[str, Any],
    frames: tuple[Frame, ...] | list[Frame],
    decisions: dict[str, dict[str, str]],
) -> Scope:
    """Return the scope: loop variables (innermost first), the context, and people's decisions under `wr.decisions`."""
    server: dict[str, Any] = {"wr": {"decisions": decisions}}
    for name, made in decisions.items():
        if "." in name:  # a step of a routine, whose name is a path
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
    """Return the unique name of the pending step, with the iteration of each loop around it (W63)."""
    if snapshot.at is None:
        return ""
    loops = [f"{program.nodes[frame.loop].id}[{frame.iteration + 1}]" for frame in snapshot.frames]
    return "/".join([*loops, program.nodes[snapshot.at].id])


def pending_step(program: Program, snapshot: Snapshot) -> Ask:
    """Return the pending step. Raises ValueError for a complete run."""
    if snapshot.at is None:
        raise ValueError("the run is complete: no step is pending")
    node = program.nodes[snapshot.at]
    return node if isinstance(node, Ask) else _at_the_door(node)


def _at_the_door(loop: Repeat) -> Ask:
    """Return a step that asks for the missing value of a loop at the start of a run (W60)."""
    name, wanted = (loop.items, "a list of") if loop.mode == "forEach" else (loop.count, "a whole number,")
    needed = f"`{name}`, {wanted} at most {loop.most}"
    prompt = f"This loop cannot begin without {needed}. Find out what it is and send it as context.{name}."
    return Ask(id=loop.id, title=loop.title, prompt=(Text(text=prompt),))
