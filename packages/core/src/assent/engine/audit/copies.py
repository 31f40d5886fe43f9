"""Copies of checkpoints on other machines, and the warning when there is none for a day.

A checkpoint proves something against the owner of this machine only if a copy is where they cannot change it. The
server cannot see such a copy. It knows of one when `assent audit verify --checkpoint` was given a file from elsewhere
that equals the stored checkpoint. A checkpoint is signed only when the journal grew, so an idle server is not warned
about.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import notifications
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import DAY_MS
from assent.kernel.structs import WireRecord
from assent.ports import Transaction
from assent.sql.loader import statements

FACT: Final = "checkpoint copy"
"""The name of the record among the facts of the deployment."""

COMMAND: Final = ("audit", "verify", "--checkpoint", "COPY")
"""The command that shows the server a copy."""


class CheckpointCopy(WireRecord):
    """The newest checkpoint of which a copy was shown, and when the last warning was given."""

    number: int = 0
    warned_ms: int = 0


def explain(command: str) -> str:
    """What to do where no copy is known."""
    return (
        "Copy the newest file of the folder checkpoints to another machine each day, and show the server a copy from "
        f"there: {command}"
    )


def record_copy(number: int) -> Transaction[None]:
    """Record that a copy of a checkpoint was shown."""
    known = yield from _find()
    if number > known.number:
        yield from _store(msgspec.structs.replace(known, number=number))


def find_overdue(now_ms: int) -> Transaction[int | None]:
    """Return when the oldest checkpoint was signed that no known copy covers, if that is a day ago; else
    None. A copy covers the checkpoints before it, which it names by their hashes."""
    known = yield from _find()
    return (yield from _find_overdue(known, now_ms))


def warn(now_ms: int) -> Transaction[int | None]:
    """Notify the owners once a day while copies are overdue. Returns since when, if a warning is due now."""
    known = yield from _find()
    since_ms = yield from _find_overdue(known, now_ms)
    if since_ms is None or now_ms - known.warned_ms < DAY_MS:
        return None
    yield from _store(msgspec.structs.replace(known, warned_ms=now_ms))
    yield from notifications.ask(LOCAL_WORKSPACE, "", "uncopied", now_ms, about=str(now_ms // DAY_MS))
    return since_ms


def _find_overdue(known: CheckpointCopy, now_ms: int) -> Transaction[int | None]:
    rows = yield statements.list_checkpoints(workspace_id=SYSTEM_WORKSPACE, after=known.number, most=1)
    if not rows or now_ms - rows[0]["at_ms"] < DAY_MS:
        return None
    return int(rows[0]["at_ms"])


def _find() -> Transaction[CheckpointCopy]:
    rows = yield statements.find_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT)
    return msgspec.json.decode(rows[0]["value"], type=CheckpointCopy) if rows else CheckpointCopy()


def _store(known: CheckpointCopy) -> Transaction[None]:
    value = msgspec.json.encode(known).decode()
    yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT, value=value)
