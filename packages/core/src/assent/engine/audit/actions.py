"""Check the records of actions against the journal.

The events of a run determine the state, content, approval and effect of each of its actions.
`audit.log` checks chains and signatures, and workflow runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.core import journal
from assent.engine.recovery.positions import RESTORED
from assent.gate.audit import RestoreReport
from assent.gate.records import Action, Status
from assent.gate.seals import Seals
from assent.gate.transitions import AWAITING, TABLE, Move, State, state_of
from assent.kernel import canonical
from assent.ports import Rows, Store, Transaction
from assent.sql.loader import statements

PREFIX: Final = "action_"
ERASED: Final = "erased"
"""What replaces a text that named an erased person."""
CONTENT_ERASED: Final = "content_erased"
"""The event of an action whose content was replaced by a notice (`assent.engine.erasure`). It bears a
signature of this server: a writer without its secrets cannot replace the content."""
MOST: Final = 500
MOST_CHARS: Final = 200
_TOLD: Final = frozenset({"run_prepared", "confirmation_asked", CONTENT_ERASED})
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_TAKEN_BACK: Final = frozenset({Move.EDIT, Move.WITHDRAW, Move.REJECT})
_DECIDED: Final = frozenset({Status.APPROVED, Status.EXECUTED, Status.FAILED})


class ReplayedAction(msgspec.Struct):
    """The state of one action according to the journal."""

    digest: str
    view: str = ""
    """The digest of its view."""
    revision: int = 1
    state: State = AWAITING
    approvals: set[tuple[str, str]] = msgspec.field(default_factory=set)
    """The approvers of its present content, with their assurance."""
    external_id: str | None = None
    notice: str = ""
    """The digest of the notice in place of its content, if that was erased."""
    elsewhere: bool = False
    """Whether the action of an imported run stayed on another server."""


HasSigned = Callable[[str, str, str], bool]
"""Whether this server signed a text: the text, the signature and the public key."""


def text_to_sign(workspace_id: str, action_id: str, effect: str, view: str) -> str:
    """The text that a `CONTENT_ERASED` event signs, with the digests of the notice."""
    return canonical.canonical((CONTENT_ERASED, workspace_id, action_id, effect, view)).decode()


class JournalReplay:
    """Computes the state of a stream's actions from its events. Without `has_signed`, no content counts as
    erased."""

    def __init__(self, workspace_id: str = "", has_signed: HasSigned | None = None) -> None:
        self.replayed: dict[str, ReplayedAction] = {}
        self.unreadable: list[tuple[int, str]] = []
        """Numbers of events that cannot be decoded, and why."""
        self._workspace_id = workspace_id
        self._has_signed = has_signed

    def read(self, events: Iterable[journal.Event]) -> None:
        for event in events:
            try:
                self._read(event)
            except Exception as error:
                self.unreadable.append((event.seq, explain(error)))

    def _read(self, event: journal.Event) -> None:
        if event.kind == RESTORED:
            msgspec.json.decode(event.body, type=RestoreReport)
        if not event.kind.startswith(PREFIX) and event.kind not in _TOLD:
            return
        body = _OBJECT.decode(event.body)
        if event.kind == "run_prepared":
            for each in body.get("actions") or ():
                self.replayed[each["actionId"]] = ReplayedAction(each["digest"], each.get("view", ""))
        elif event.kind in ("confirmation_asked", "action_staged"):
            self.replayed[body["actionId"]] = ReplayedAction(
                body["digest"], body.get("view", ""), elsewhere=event.kind != "action_staged"
            )
        elif (replayed := self.replayed.get(body.get("actionId", ""))) is None:
            return
        elif event.kind == CONTENT_ERASED:
            if self._is_signed(body):
                replayed.notice, replayed.view = body["effect"], body["view"]
        else:
            _move(replayed, Move(event.kind.removeprefix(PREFIX)), body)

    def _is_signed(self, body: Mapping[str, Any]) -> bool:
        names = ("actionId", "effect", "view", "signature", "publicKey")
        action_id, effect, view, signature, public_key = (str(body.get(name, "")) for name in names)
        text = text_to_sign(self._workspace_id, action_id, effect, view)
        return self._has_signed is not None and self._has_signed(text, signature, public_key)

    def differences(self, rows: Rows, seals: Seals) -> Iterator[str]:
        """Compare the rows of the stream's actions."""
        gone = {action_id: None for action_id, replayed in self.replayed.items() if not replayed.elsewhere}
        for row in rows:
            action_id: str = row["action_id"]
            gone.pop(action_id, None)
            if (replayed := self.replayed.get(action_id)) is None:
                yield f"action {action_id} was never staged"
                continue
            try:
                for what in _differs(actions.action_of(row), replayed, seals):
                    yield f"action {action_id}: {what}"
            except Exception as error:
                yield f"action {action_id} cannot be decoded: {explain(error)}"
        yield from (f"action {action_id} is gone" for action_id in gone)


def explain(error: Exception) -> str:
    """Say why a row cannot be decoded, in few words."""
    return f"{type(error).__name__}: {error}"[:MOST_CHARS]


def _move(replayed: ReplayedAction, move: Move, body: dict[str, Any]) -> None:
    replayed.digest, replayed.revision = (
        body.get("digest", replayed.digest),
        body.get("revision", replayed.revision),
    )
    if move is Move.EDIT:
        replayed.view = body.get("view", "")
    # A confirmation with higher assurance is recorded and does not change the status.
    replayed.state = TABLE.get((replayed.state, move), replayed.state)
    if move in _TAKEN_BACK:
        replayed.approvals = set()
    elif move is Move.APPROVE:
        replayed.approvals.add((body.get("by", ""), body.get("assurance", "")))
    replayed.external_id = body.get("externalId") or replayed.external_id


def _differs(action: Action, replayed: ReplayedAction, seals: Seals) -> Iterator[str]:
    if state_of(action) != replayed.state:
        yield f"it is {action.status}, and the journal says {replayed.state.status}"
    if (action.digest, action.revision) != (replayed.digest, replayed.revision):
        yield "its digest is not the one that the journal has"
    if action.effect.digest() != (replayed.notice or action.digest):
        yield "its content is not what its digest was made from"
    if replayed.view and action.view.digest() != replayed.view:
        yield "its view is not the one that the journal has"
    if replayed.external_id not in (None, ERASED) and action.external_id != replayed.external_id:
        yield "it names another effect than the journal"
    approval = action.approval
    if approval is None:
        if replayed.state.status in _DECIDED:
            yield "its approval is gone"
    elif (approval.by, approval.assurance.value) not in replayed.approvals and not (
        # The erasure of a person replaces the names in the events first. Until then the row has its seal.
        (ERASED, approval.assurance.value) in replayed.approvals and seals.hold(action)
    ):
        yield "its approval has no event"
    elif approval.digest != replayed.digest:
        yield "its approval is about other content"
    elif action.status is Status.APPROVED and not seals.hold(action):
        # Only open actions are sealed again after a change of the master secret.
        yield "its approval does not have this server's seal"


def list_unlogged(workspace_id: str | None) -> Transaction[list[tuple[str, str, str]]]:
    """List actions of runs without a journal."""
    rows = yield statements.list_unlogged_actions(workspace_id=workspace_id or "", most=MOST)
    return [(row["workspace_id"], row["run_id"], row["action_id"]) for row in rows]


async def walk(store: Store, list_page: Callable[..., Transaction[Rows]]) -> AsyncIterator[tuple[str, str]]:
    """Yield the keys of a listing, workspaces and names. It gets the last key and how many rows follow that
    cannot be sent back to the database as a key, because they are not text."""
    after, skip = ("", ""), 0
    while rows := await store.read(partial(list_page, *after, skip)):
        for row in rows:
            key = row[0], row[1]
            yield key
            after, skip = (key, 0) if "".join(key).isprintable() else (after, skip + 1)
