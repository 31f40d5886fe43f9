"""The state of a run between two calls, and the move from one step to the next.

A `Snapshot` is a small immutable value with the complete state. Its size depends on the program and
the context, not on the number of steps taken: progress is one bit per node, a loop is one frame,
and only the latest decision of each step is kept.

A `Walk` is a mutable copy of a run's position. It goes to the first node in the innermost loop that
is not done and whose condition holds, and ends on a step, on completion, or with `Stuck`. It always
ends: every loop is bounded, and a loop without steps ends after a bounded number of empty rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from assent.kernel.limits import MAX_LOOP_ITERATIONS
from assent.kernel.structs import Record
from assent.workflow.issues import Issue, Warning
from assent.workflow.machine import conditions
from assent.workflow.machine.content import EMPTY_BYTES
from assent.workflow.machine.values import UNSET, Scope
from assent.workflow.program import LOOP_CONTROL, Ask, Program, Repeat, Text, UnknownFormat

SNAPSHOT_FORMAT: Final = 1
MAX_EMPTY_ROUNDS: Final = MAX_LOOP_ITERATIONS
"""Rounds of loops without a step, before the loops are left."""


class Frame(Record, array_like=True):
    """A running loop: its node, the iteration (from 0), the agent's loop decision, and whether this
    iteration had a step."""

    loop: int
    iteration: int = 0
    decision: str | None = None
    asked: bool = False


class Snapshot(Record, kw_only=True):
    """`at` is the pending node; None when the run is complete. It is a loop only at the start, if
    the loop lacks a value that it needs to begin."""

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


def encode(snapshot: Snapshot) -> str:
    return _ENCODER.encode(snapshot).decode()


_DECODER: Final = msgspec.json.Decoder(Snapshot)


def decode(stored: str) -> Snapshot:
    """Decode a stored snapshot. Raises `UnknownFormat` for another format (W68)."""
    snapshot = _DECODER.decode(stored)
    if snapshot.format != SNAPSHOT_FORMAT:
        raise UnknownFormat(f"snapshot format {snapshot.format}; this server reads {SNAPSHOT_FORMAT}")
    return snapshot


def make_scope(program: Program, snapshot: Snapshot) -> Scope:
    return scope(program, snapshot.context, snapshot.frames, snapshot.decisions)


def scope(
    program: Program,
    context: dict[str, Any],
    frames: tuple[Frame, ...] | list[Frame],
    decisions: dict[str, dict[str, str]],
) -> Scope:
    """Return the scope: loop variables, context, and decisions under `wr.decisions`."""
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
    return Scope(tuple(layers))


def _loop_variables(loop: Repeat, frame: Frame, outer: Scope) -> dict[str, Any]:
    variables: dict[str, Any] = {loop.iteration_var: frame.iteration + 1}
    if loop.items is not None:
        variables[loop.index_var] = frame.iteration
        items = outer.get(loop.items)
        if isinstance(items, list) and frame.iteration < len(items):
            variables[loop.item_var] = items[frame.iteration]
    return variables


def step_key(program: Program, snapshot: Snapshot) -> str:
    """Return the pending step's unique name, with the iteration of each loop (W63)."""
    if snapshot.at is None:
        return ""
    loops = [f"{program.nodes[frame.loop].id}[{frame.iteration + 1}]" for frame in snapshot.frames]
    return "/".join([*loops, program.nodes[snapshot.at].id])


def pending_step(program: Program, snapshot: Snapshot) -> Ask:
    """Return the pending step. Raises ValueError for a complete run."""
    if snapshot.at is None:
        raise ValueError("the run is complete: no step is pending")
    node = program.nodes[snapshot.at]
    return node if isinstance(node, Ask) else _ask_for_loop_value(node)


def _ask_for_loop_value(loop: Repeat) -> Ask:
    """Return a step that asks for the missing value of a loop at the start of a run (W60)."""
    name, wanted = (loop.items, "a list of") if loop.mode == "forEach" else (loop.count, "a whole number,")
    needed = f"`{name}`, {wanted} at most {loop.most}"
    prompt = f"This loop cannot begin without {needed}. Find out what it is and send it as context.{name}."
    return Ask(id=loop.id, title=loop.title, prompt=(Text(text=prompt),))


class LoopEvent(Record):
    """An event of a loop on the way to the next step, for the log (W61).

    `kind` is `loop_entered`, `loop_iterated` or `loop_exited`. An exit has the number of iterations
    and the reason.
    """

    kind: str
    loop_id: str
    iteration: int
    reason: str = ""


class Stuck(Exception):  # noqa: N818 - an answer to the agent
    """The run cannot go on with the submitted content, because of these issues."""

    def __init__(self, *issues: Issue) -> None:
        super().__init__(issues[0].message)
        self.issues = issues
        self.before: int | None = None
        """The loop that could not begin, if that is the cause."""


class Walk:
    """A mutable copy of a run's position."""

    def __init__(self, program: Program, snapshot: Snapshot) -> None:
        self.program = program
        self.before = snapshot
        self.done = int(snapshot.done, 16)
        self.frames = list(snapshot.frames)
        self.context = snapshot.context
        self.decisions = snapshot.decisions
        self.ahead = snapshot.ahead
        self.events: list[LoopEvent] = []
        self.warnings: list[Warning] = []
        self._rounds = 0

    def scope(self) -> Scope:
        return scope(self.program, self.context, self.frames, self.decisions)

    def decide_loops(self, artifacts: Iterable[dict[str, Any]]) -> None:
        """Record the loop decisions among the artifacts of a step."""
        for artifact in artifacts:
            if artifact.get("kind") == LOOP_CONTROL and artifact.get("decision") in ("continue", "stop"):
                loop_id = artifact.get("loopId")
                self.decide(artifact["decision"], loop_id if isinstance(loop_id, str) else None)

    def decide(self, decision: str, loop_id: str | None) -> None:
        """Record a loop decision for the named loop, or the innermost one that needs a decision, or
        the next one to begin."""
        for n in range(len(self.frames) - 1, -1, -1):
            loop = self._loop(self.frames[n])
            if loop.artifact is not None and loop_id in (None, loop.loop_id, loop.id):
                self.frames[n] = msgspec.structs.replace(self.frames[n], decision=decision)
                return
        self.ahead = (loop_id or "", decision)

    def pass_step(self) -> Snapshot:
        """Mark the pending step done and move to the next one. A loop that is pending has not begun
        and stays unmarked. Raises `Stuck`."""
        at = self.before.at
        if at is not None and isinstance(self.program.nodes[at], Ask):
            self._finish(at)
        return self.settle()

    def settle(self) -> Snapshot:
        """Move to the next step, or to the end of the run. Raises `Stuck`."""
        at = self._find_step()
        return msgspec.structs.replace(
            self.before,
            at=at,
            done=f"{self.done:x}",
            frames=tuple(self.frames),
            decisions=self.decisions,
            ahead=self.ahead,
            blocked=0,
        )

    def _finish(self, index: int) -> None:
        """Mark a node done."""
        self.done |= 1 << index
        if isinstance(self.program.nodes[index], Ask):
            self.frames = [msgspec.structs.replace(frame, asked=True) for frame in self.frames]

    def _find_step(self) -> int | None:
        while True:
            index = self._next()
            if index is None:
                if not self.frames:
                    return None
                self._end_of_round()
                continue
            node = self.program.nodes[index]
            if isinstance(node, Ask):
                return index
            try:
                self._enter(index, node)
            except Stuck as stuck:
                stuck.before = index
                raise

    def _loop(self, frame: Frame) -> Repeat:
        node = self.program.nodes[frame.loop]
        if not isinstance(node, Repeat):
            raise ValueError("a frame names a node that is no loop")
        return node

    def _next(self) -> int | None:
        candidates = self._loop(self.frames[-1]).body if self.frames else self.program.top
        names: Scope | None = None
        for index in candidates:
            if self.done >> index & 1:
                continue
            when = self.program.nodes[index].when
            if when is None:
                return index
            names = names or self.scope()
            if conditions.holds(when, names):
                return index
        return None

    # ── loops ────────────────────────────────────────────────────────────────────────────────────

    def _enter(self, index: int, loop: Repeat) -> None:
        match loop.mode:
            case "for" | "forEach":
                total = self._total(loop)
                if total > loop.most:
                    raise Stuck(_too_many(loop, total))
                goes, reason = total > 0, "no_items"
            case _ if loop.artifact is not None:
                goes, reason = self._take_ahead(loop) != "stop", "stop"
            case _:
                goes, reason = self._wants_more(loop), "condition"
        if goes:
            self.frames.append(Frame(index))
            self.events.append(LoopEvent("loop_entered", loop.id, 1))
        else:
            self._finish(index)
            self.events.append(LoopEvent("loop_exited", loop.id, 0, reason))

    def _take_ahead(self, loop: Repeat) -> str | None:
        """Take the decision made before this loop began, if there is one. It counts once."""
        if self.ahead is None or self.ahead[0] not in ("", loop.loop_id, loop.id):
            return None
        decision, self.ahead = self.ahead[1], None
        return decision

    def _wants_more(self, loop: Repeat) -> bool:
        return conditions.holds(loop.condition, self.scope()) is (loop.mode == "while")

    def _end_of_round(self) -> None:
        """Begin the next iteration or leave the loop, with a warning at its limit (W60). Raises
        `Stuck` while its decision is missing (W62)."""
        frame = self.frames[-1]
        loop = self._loop(frame)
        self._rounds += 1
        following = frame.iteration + 1
        if loop.artifact is not None:
            if frame.decision is None and frame.asked:
                raise Stuck(_no_decision(loop))
            more, reason = frame.decision == "continue", "stop" if frame.asked else "empty"
        elif loop.mode in ("for", "forEach"):
            more, reason = following < self._total(loop, running=True), "done"
        else:
            more, reason = self._wants_more(loop), "condition"
        if more and (following >= loop.most or self._rounds > MAX_EMPTY_ROUNDS):
            message = (
                f'Loop "{loop.title}" was left after {following} iterations, its limit; it wanted to go on.'
            )
            self.warnings.append(Warning("loop_limit_reached", message, loop.id))
            more, reason = False, "limit"
        self.done &= ~self._inside(loop)
        if more:
            self.frames[-1] = Frame(frame.loop, following)
            self.events.append(LoopEvent("loop_iterated", loop.id, following + 1))
            return
        self.frames.pop()
        self._finish(frame.loop)
        self.events.append(LoopEvent("loop_exited", loop.id, following, reason))

    def _inside(self, loop: Repeat) -> int:
        """Return the bits of all nodes in a loop's body, at any depth."""
        bits = 0
        for index in loop.body:
            bits |= 1 << index
            node = self.program.nodes[index]
            if isinstance(node, Repeat):
                bits |= self._inside(node)
        return bits

    def _total(self, loop: Repeat, *, running: bool = False) -> int:
        """Return the iterations of a counted loop, by the context. Raises `Stuck`."""
        if loop.mode == "forEach":
            items = self._outer().get(loop.items or "") if running else self.scope().get(loop.items or "")
            if isinstance(items, list):
                return len(items)
            raise Stuck(_unset(loop, loop.items or "", items, "a list", "items", running))
        if isinstance(loop.count, int):
            return loop.count
        count = self._outer().get(loop.count or "") if running else self.scope().get(loop.count or "")
        number = conditions.parse_number(count) if isinstance(count, str) else count
        if (
            isinstance(number, (int, float))
            and conditions.is_number(number)
            and number >= 0
            and number % 1 == 0
        ):
            return int(number)
        raise Stuck(_unset(loop, loop.count or "", count, "a whole number, 0 or more,", "count", running))

    def _outer(self) -> Scope:
        return scope(self.program, self.context, self.frames[:-1], self.decisions)


def _unset(loop: Repeat, name: str, value: Any, wanted: str, what: str, running: bool) -> Issue:
    state = "is not set" if value is UNSET or value is None else f"is not {wanted.split(',')[0]}"
    when = "is not at its end" if running else "comes next"
    return Issue(
        f"context.{name}",
        f"loop_{what}_unset" if value is UNSET or value is None else f"loop_{what}_invalid",
        f'Loop "{loop.title}" {when} and needs `{name}`, which {state}: send {wanted} as context.{name}.',
    )


def _too_many(loop: Repeat, total: int) -> Issue:
    name = loop.items if loop.mode == "forEach" else loop.count
    if not isinstance(name, str):
        message = f'Loop "{loop.title}" counts to {total} and takes at most {loop.most} iterations: '
        return Issue(
            f"loop.{loop.id}.count", "loop_limit_exceeded", message + "its author must change the file."
        )
    return Issue(
        f"context.{name}",
        "loop_limit_exceeded",
        f'Loop "{loop.title}" takes at most {loop.most} iterations, and `{name}` asks for {total}: send fewer.',
    )


def _no_decision(loop: Repeat) -> Issue:
    name = loop.loop_id or loop.id
    return Issue(
        "output",
        "loop_decision_missing",
        f'Loop "{loop.title}" needs a decision: send an output of kind "wr.loop_control" (loopId "{name}", or none) '
        "with continue or stop.",
    )
