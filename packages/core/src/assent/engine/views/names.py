"""The names of runs and actions, as lists show them: a run by its goal, an action by its content.

The caller checks access.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

import msgspec

from assent.engine.audit.views import RecordedEvent
from assent.gate.views import View
from assent.kernel.ids import WorkspaceId, is_uuid
from assent.kernel.structs import Record, WireRecord
from assent.kernel.texts import truncate
from assent.ports import Row, Transaction
from assent.present.status_report import describe_run
from assent.sql.loader import statements

T = TypeVar("T")

NAME_CHARS: Final = 120
FIRST_ACTIONS: Final = 6
"""How many actions of a run its row names."""
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


class ShownName(WireRecord):
    """The part of a stored view that names an action."""

    label: str = ""
    title: str = ""
    summary: str = ""
    noun: str = ""


_SHOWN: Final = msgspec.json.Decoder(ShownName)


class _About(WireRecord):
    """The part of an event's facts that says what it is about."""

    action_id: str = ""


_ABOUT: Final = msgspec.json.Decoder(_About)


class ActionName(Record):
    action_id: str
    run_id: str
    kind: str
    """`LinkedIn post`, or the channel."""
    title: str
    """What it says; its kind if it says nothing."""


class ShownNames(Record):
    """The names of the runs and actions that a page mentions. A run has its operator too."""

    actions: dict[str, ActionName]
    runs: dict[str, tuple[str, str]]


class FirstAction(Record):
    """One of the first actions of a run."""

    name: ActionName
    channel: str
    status: str
    execution_state: str
    effect: str


def name_action(row: Row) -> ActionName:
    shown = _decode(_SHOWN, row["view"] or "{}", ShownName())
    said = shown.title or shown.summary or shown.noun
    return ActionName(row["action_id"], row["run_id"], shown.noun or shown.label, truncate(said, NAME_CHARS))


def name_view(view: View) -> str:
    """Name an action by what it says; by its kind if it says nothing."""
    return truncate(view.title or view.summary or view.noun, NAME_CHARS)


def read_names(
    workspace_id: WorkspaceId, action_ids: Iterable[str], run_ids: Iterable[str]
) -> Transaction[ShownNames]:
    """Read the names of some actions and runs. Unknown ids have none."""
    wanted = list(dict.fromkeys(action_ids))
    actions: dict[str, ActionName] = {}
    if wanted:
        rows = yield statements.list_action_names(workspace_id=workspace_id, wanted=_write(wanted))
        actions = {row["action_id"]: name_action(row) for row in rows}
    asked = list(dict.fromkeys(run_ids))
    if not asked:
        return ShownNames(actions, {})
    inputs = yield statements.list_run_inputs(workspace_id=workspace_id, wanted=_write(asked))
    firsts = yield from read_first_actions(workspace_id, asked, most=1)
    runs = {
        row["run_id"]: (
            name_run(_decode(_OBJECT, row["inputs"], {}), firsts.get(row["run_id"], ())),
            row["operator"],
        )
        for row in inputs
    }
    return ShownNames(actions, runs)


def read_event_names(workspace_id: WorkspaceId, events: Iterable[RecordedEvent]) -> Transaction[ShownNames]:
    """Read the names of the actions and runs that events are about."""
    listed = tuple(events)
    about = (_decode(_ABOUT, event.body, _About()).action_id for event in listed)
    runs = (event.stream_id for event in listed if is_uuid(event.stream_id))
    return (yield from read_names(workspace_id, (each for each in about if is_uuid(each)), runs))


def _decode(decoder: msgspec.json.Decoder[T], text: str, otherwise: T) -> T:
    """Decode a text that only names something. One that was changed names nothing; verification finds it."""
    try:
        return decoder.decode(text)
    except (ValueError, RecursionError):
        return otherwise


def name_run(inputs: dict[str, Any], firsts: tuple[FirstAction, ...]) -> str:
    """Name a run by its goal, else by its first action; empty if neither says anything."""
    return describe_run(inputs, firsts[0].name.title if firsts else "")


def read_first_actions(
    workspace_id: WorkspaceId, run_ids: Iterable[str], *, most: int = FIRST_ACTIONS, with_effect: bool = False
) -> Transaction[dict[str, tuple[FirstAction, ...]]]:
    """Read the first actions of some runs, by run, in the order of staging."""
    rows = yield statements.list_first_actions(
        workspace_id=workspace_id, wanted=_write(list(run_ids)), most=most, with_effect=int(with_effect)
    )
    found: dict[str, tuple[FirstAction, ...]] = {}
    for row in rows:
        label = _decode(_SHOWN, row["view"] or "{}", ShownName()).label
        first = FirstAction(name_action(row), label, row["status"], row["execution_state"], row["effect"])
        found[row["run_id"]] = (*found.get(row["run_id"], ()), first)
    return found


def _write(ids: list[str]) -> str:
    return msgspec.json.encode(ids).decode()
