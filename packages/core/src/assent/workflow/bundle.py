"""A session as one file: versioned, with a digest over everything (W68, W71).

A bundle has exactly one encoding, and a file must have it, so any flipped byte is detected. It
contains no tokens, since a server mints its own, and no approvals, which cannot be imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.kernel.canonical import digest
from assent.kernel.structs import Arguments
from assent.kernel.texts import quote

FORMAT: Final = "assent.session"
VERSION: Final = 1
EVENT_KINDS: Final = frozenset({"workflow_started", "step_acked", "step_blocked", "checkpoint_kept"})
"""The events of a log that a bundle contains: those of the run, not those of actions."""

_FACTS: Final[dict[str, dict[str, type]]] = {
    "step_acked": {"node": int, "parent": int, "stepKey": str, "ackHash": str, "complete": bool, "seal": str},
    "checkpoint_kept": {"node": int, "digest": str},
}
"""Fields of the events that an import uses, with their types."""

MAX_SESSION_ID_CHARS: Final = 200
_LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, the last date that can be displayed."""
_EDGE: Final = re.compile(r"[0-9a-f]{64}")
_RUN_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class BundleRefused(Exception):  # noqa: N818 - an answer
    """The file is no bundle that can be imported; the message says why."""


class ExportedEvent(Arguments):
    seq: int
    kind: str
    at_ms: int
    body: dict[str, Any]


class ExportedNode(Arguments):
    node: int
    parent: int | None
    step_key: str
    title: str
    notes: str
    artifacts: list[dict[str, Any]]
    snapshot: dict[str, Any]
    event_seq: int
    created_ms: int


class ExportedAnswer(Arguments):
    """A stored answer without its tokens, which name node `at` and attempt `attempt`."""

    node: int
    edge: str
    child: int | None
    at: int
    attempt: int
    answer: dict[str, Any]
    text: str
    created_ms: int


class ExportedCheckpoint(Arguments):
    node: int
    digest: str
    notes: str
    event_seq: int
    created_ms: int


class ExportedRun(Arguments):
    run_id: str
    workflow_id: str
    workflow_hash: str
    name: str
    created_ms: int
    updated_ms: int
    nodes: list[ExportedNode]
    answers: list[ExportedAnswer]
    checkpoints: list[ExportedCheckpoint]
    events: list[ExportedEvent]


class ExportedSessionNote(Arguments):
    """A person's note on the session."""

    note_id: str
    author: str
    notes: str
    created_ms: int


class Bundle(Arguments):
    session_id: str
    exported_ms: int
    programs: dict[str, dict[str, Any]]
    runs: list[ExportedRun]
    notes: list[ExportedSessionNote]


def write(bundle: Bundle) -> bytes:
    """Encode a bundle."""
    content = msgspec.to_builtins(bundle)
    sealed = {"format": FORMAT, "version": VERSION, "content": content}
    return _encode({**sealed, "digest": digest(sealed)})


def read(raw: bytes) -> Bundle:
    """Decode a bundle. Raises `BundleRefused` for an unknown version (W68) or a changed byte."""
    try:
        document = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BundleRefused("This is no bundle of a session, or it was damaged: it is not JSON.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BundleRefused("This is no bundle of a session.")
    if document.get("version") != VERSION:
        raise BundleRefused(
            f"This bundle has version {quote(document.get('version'), 20)}; this server reads version {VERSION}. "
            "Export and import with the same release."
        )
    stated = document.pop("digest", None)
    try:
        intact = stated == digest(document) and raw == _encode({**document, "digest": stated})
        bundle = msgspec.convert(document.get("content"), Bundle) if intact else None
    except (ValueError, TypeError, RecursionError) as error:
        raise BundleRefused(f"This bundle cannot be read: {error}.") from error
    if bundle is None:
        raise BundleRefused(
            "This bundle was changed after it was exported: its digest does not fit. "
            "Export the session again where it came from."
        )
    for flaw in _flaws(bundle):
        raise BundleRefused(f"The digest of this bundle is valid, but its content is not: {flaw}.")
    return bundle


def _flaws(bundle: Bundle) -> Iterator[str]:
    """Yield names, times and references that no export writes, even if the digest is valid."""
    if not 0 < len(bundle.session_id) <= MAX_SESSION_ID_CHARS or "\0" in bundle.session_id:
        yield "its session has no valid name"
    if not bundle.runs or len({run.run_id for run in bundle.runs}) != len(bundle.runs):
        yield "it has no runs, or one of them twice"
    if len({note.note_id for note in bundle.notes}) != len(bundle.notes):
        yield "a note of its session stands in it twice"
    times = [bundle.exported_ms, *(note.created_ms for note in bundle.notes)]
    for run in bundle.runs:
        times += [run.created_ms, run.updated_ms]
        times += [node.created_ms for node in run.nodes]
        times += [answer.created_ms for answer in run.answers]
        times += [each.created_ms for each in run.checkpoints]
        times += [event.at_ms for event in run.events]
        for flaw in _run_flaws(run):
            yield f"run {quote(run.run_id)} {flaw}"
    if not all(0 <= time <= _LAST_MS for time in times):
        yield "it has an invalid time"
    if any("\0" in text for text in _texts(bundle)):
        yield "it holds a NUL character, which no text of a session has"


def _texts(bundle: Bundle) -> Iterator[str]:
    """Yield the texts that are stored verbatim, not as JSON."""
    for note in bundle.notes:
        yield from (note.note_id, note.author, note.notes)
    for run in bundle.runs:
        yield from (run.workflow_id, run.workflow_hash, run.name)
        for node in run.nodes:
            yield from (node.step_key, node.title, node.notes)
        yield from (answer.text for answer in run.answers)
        yield from (each.notes for each in run.checkpoints)


def _run_flaws(run: ExportedRun) -> Iterator[str]:
    if not _RUN_ID.fullmatch(run.run_id):
        yield "has no valid id"
    if {event.kind for event in run.events} - EVENT_KINDS:
        yield "has events that do not belong to a session"
    if [event.seq for event in run.events] != list(range(1, len(run.events) + 1)):
        yield "has events out of order"
    yield from _log_flaws(run)
    if any(
        node.node != number or node.parent not in (range(number) if number else (None,))
        for number, node in enumerate(run.nodes)
    ):
        yield "has steps that do not follow one another"
    if not _are_distinct([(each.node, each.digest) for each in run.checkpoints]):
        yield "has a checkpoint twice"
    nodes, events = {node.node for node in run.nodes}, {event.seq for event in run.events}
    if not {node.event_seq for node in run.nodes} | {each.event_seq for each in run.checkpoints} <= events:
        yield "has a step that its log does not know"
    named = {place for answer in run.answers for place in (answer.node, answer.at, answer.child)} - {None}
    if not named | {each.node for each in run.checkpoints} <= nodes:
        yield "has an answer that refers to no step"
    if any(
        answer.attempt < 0 or not isinstance(answer.answer.get("ackToken"), bool) for answer in run.answers
    ):
        yield "has an invalid answer"


def _log_flaws(run: ExportedRun) -> Iterator[str]:
    if [event.kind for event in run.events[:1]] != ["workflow_started"] or any(
        type(event.body.get(name)) is not kind
        for event in run.events
        for name, kind in _FACTS.get(event.kind, {}).items()
    ):
        yield "has a log without a run"
        return
    if run.events[0].body.get("workflowHash") != run.workflow_hash:
        yield "is pinned to another workflow than its log says"
    led = [(e.body["parent"], e.body["ackHash"]) for e in run.events if e.kind == "step_acked"]
    answered = [(answer.node, answer.edge) for answer in run.answers]
    if (
        not _are_distinct(led)
        or not _are_distinct(answered)
        or not all(_EDGE.fullmatch(e) for _, e in led + answered)
    ):
        yield "has steps or answers that no call, or the same one, led to"


def _are_distinct(named: list[tuple[int, str]]) -> bool:
    return len(set(named)) == len(named)


def digest_of(raw: bytes) -> str:
    """Return the digest that a bundle states."""
    stated: str = msgspec.json.decode(raw)["digest"]
    return stated


def _encode(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(document, order="sorted") + b"\n"
