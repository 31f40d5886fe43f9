"""Notice that another server has taken over the database, and that it may lack the last writes.

The store keeps which history its server continues: the system, the timeline, and whether a commit waits
for a standby. A server with another timeline was promoted; one with another system was filled from a
copy. If commits did not wait, the newest may be gone, and what was sent by them looks unsent. It is then
held as after a restore. So is what a copy in another database has, whose first one may have sent more.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.recovery.positions import Restore, find_fact, find_last_write
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import WireRecord, from_row
from assent.ports import Transaction
from assent.sql.loader import statements

FACT: Final = "server history"


class KeptHistory(WireRecord):
    """The history that the store was last prepared for."""

    system: str
    timeline: int
    synchronous: bool
    database: str = ""


def find_failover() -> Transaction[Restore | None]:
    """Return the failover that may have lost writes and must be recorded; None if there was none, and
    on a store that has no standby."""
    kept, found = yield from _read()
    if kept is None or found is None or kept.synchronous:
        return None
    if (kept.system, kept.timeline) == (found.system, found.timeline):
        return None
    since_ms = yield from find_last_write()
    return Restore(since_ms=since_ms, epoch=0, found="a standby took over that may lack the last writes")


def find_copy() -> Transaction[Restore | None]:
    """Return the restore that a copy in another database stands for; None if this is the database that was
    used before."""
    kept, found = yield from _read()
    if kept is None or found is None:
        return None
    if (kept.system, kept.database or found.database) == (found.system, found.database):
        return None
    since_ms = yield from find_last_write()
    return Restore(since_ms=since_ms, epoch=0, found="it is a copy in another database")


def keep_history() -> Transaction[None]:
    """Keep the present history, once what it may lack is held."""
    kept, found = yield from _read()
    if found is not None and found != kept:
        value = msgspec.json.encode(found).decode()
        yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT, value=value)


def _read() -> Transaction[tuple[KeptHistory | None, KeptHistory | None]]:
    rows = yield statements.read_server_history()
    found = from_row(KeptHistory, rows[0]) if rows else None
    text = yield from find_fact(FACT)
    return (msgspec.json.decode(text, type=KeptHistory) if text else None), found
