"""Finds and erases the data of a person in every table (`places.py`).

The search reads every row, so that it needs no index and finds what is packed. Erasing goes in three
passes: what is connected to a row first (sessions, connections, people), then single rows and the copies of
texts, then events, and actions last: without their texts no copy is found. Each row is locked and judged
again in its own transaction. A pass that is interrupted leaves nothing half erased, and running it again
finishes the work.

What left the server cannot be reached: sent messages, posts at providers, backups, logs.
"""

from __future__ import annotations

import hashlib
import hmac
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from assent.engine.actions import actions, indexing
from assent.engine.audit.log import Signer, read_signed_erasures
from assent.engine.core import journal
from assent.engine.core.services import Services
from assent.engine.erasure import contents
from assent.engine.erasure.matching import Matcher
from assent.engine.erasure.places import ACTIONS, CONNECTIONS, EVENTS, PEOPLE, PICTURES, SESSIONS, TARGETS
from assent.engine.people import members, targets
from assent.engine.workflows import store
from assent.gate.transitions import TERMINAL, state_of
from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE, ActionId, RunId, WorkspaceId
from assent.kernel.structs import Record, WireRecord
from assent.ports import Row, Single, Transaction
from assent.sql.components import How, Place
from assent.sql.loader import statements

PURPOSE: Final = "erased person"
PAGE: Final = 200
MOST_TARGETS: Final = 10_000
PASSES: Final = 3
"""Rows that others write meanwhile are found by the next pass."""

Key = tuple[str | int, ...]


class FoundRow(Record):
    """A row in which the person was found, and how it is erased."""

    place: Place
    key: Key
    how: How


class LeftRow(WireRecord):
    """Rows that still name the person, and what to do about them."""

    what: str
    rows: int
    advice: str


class ErasureReport(WireRecord, kw_only=True):
    found: dict[str, int]
    """Rows by table."""
    rejected: int = 0
    """Actions that could still have been sent and were rejected."""
    left: tuple[LeftRow, ...] = ()


class PersonEraser:
    """One request to erase a person, in one workspace or in all ("")."""

    def __init__(
        self,
        services: Services,
        places: Sequence[Place],
        names: Sequence[str],
        *,
        workspace_id: str = "",
        by: str,
    ) -> None:
        self._services = services
        self._store = services.store
        self._places = places
        self._names = tuple(names)
        self._workspace_id = workspace_id
        self._by = by
        self._signer = Signer(services.keys.master)
        self._contents: dict[str, tuple[str, ...]] = {}
        self._rejected = 0

    async def find(self) -> ErasureReport:
        """Search every place. Changes nothing."""
        found = [row async for row in self._search()]
        return ErasureReport(found=_count(found), left=_list_left(found))

    async def erase(self) -> ErasureReport:
        """Erase what is found, and say what is left. Erasing a person who is not found changes nothing."""
        first = [row async for row in self._search()]
        total = Counter(_count(first))
        found, erased = first, False
        for _ in range(PASSES):
            if not any(row.how is not How.LEAVE for row in found):
                break
            await self._erase_rows(found)
            erased = True
            found = [row async for row in self._search()]
        if erased:
            for place in self._places:
                if place.then is not None:
                    await self._store.write(Single(place.then()))
            await self._store.write(partial(self._note, total))
        return ErasureReport(found=dict(total), rejected=self._rejected, left=_list_left(found, after=True))

    def _matcher(self) -> Matcher:
        return Matcher(self._names, self._contents)

    async def _search(self) -> AsyncIterator[FoundRow]:
        matcher = self._matcher()
        # Words that a search would make of what is read here are to be found, and not to be stored after it was erased.
        await indexing.catch_up(self._store, most=sys.maxsize)
        for place in self._places:
            after = place.first()
            while rows := await self._store.read(Single(place.page(after, self._workspace_id, PAGE))):
                for row in rows:
                    if (how := _judge(place, row, matcher)) is not None:
                        yield FoundRow(place, _key(place, row), how)
                after = _key(place, rows[-1])
        async for found in self._search_addresses(matcher):
            yield found

    async def _search_addresses(self, matcher: Matcher) -> AsyncIterator[FoundRow]:
        """Find notifications by their addresses, which are encrypted."""
        place = next(each for each in self._places if each.table == TARGETS)
        for row in await self._store.read(
            Single(place.page(place.first(), self._workspace_id, MOST_TARGETS))
        ):
            workspace_id, target_id = WorkspaceId(row["workspace_id"]), row["target_id"]
            address = await self._store.read(partial(self._open_address, workspace_id, target_id))
            if matcher.names_person(address) and not matcher.find((row["shown"],)):
                yield FoundRow(place, (workspace_id, target_id), How.APART)

    def _open_address(self, workspace_id: WorkspaceId, target_id: str) -> Transaction[str]:
        target = yield from targets.find(workspace_id, target_id)
        return "" if target is None else (yield from targets.open_address(self._services, target))

    async def _erase_rows(self, found: Sequence[FoundRow]) -> None:
        by_table: dict[str, list[Key]] = defaultdict(list)
        for row in found:
            if row.how is not How.LEAVE:
                by_table[row.place.table].append(row.key)
        await self._learn_texts(by_table)
        await self._reject_actions_with(by_table.get(PICTURES, ()))
        await self._erase_sessions(by_table)
        for workspace_id, provider in by_table.get(CONNECTIONS, ()):
            await self._services.connections.disconnect(
                WorkspaceId(str(workspace_id)), str(provider), by=self._by
            )
        for key in by_table.get(TARGETS, ()):
            await self._store.write(partial(self._remove_target, key))
        for _, person_id in by_table.get(PEOPLE, ()):
            await self._store.write(
                partial(members.remove, str(person_id), self._services.clock.now_ms(), by=self._by)
            )
        decided: list[FoundRow] = []
        async for row in self._search():
            if row.how is How.REPLACE and row.place.table == ACTIONS:
                decided.append(row)
            elif row.how is How.REPLACE:
                await self._store.write(partial(self._replace_row, row))
            elif row.how is How.DELETE:
                await self._store.write(Single(row.place.delete(row.key)))
        await self._erase_events()
        # Last: copies of their texts cannot be found without them.
        await self._erase_actions(by_table)
        for row in decided:
            await self._store.write(partial(self._replace_row, row))

    async def _reject_actions_with(self, pictures: Iterable[Key]) -> None:
        """Erase and reject open actions with a picture that will be deleted: they would be sent without it."""
        for workspace, digest in pictures:
            workspace_id = WorkspaceId(str(workspace))
            showing = partial(_list_open_with, workspace_id, str(digest))
            for action_id in await self._store.read(showing):
                erased = await self._store.write(partial(self._erase_content, workspace_id, action_id))
                self._rejected += erased is not None and erased.rejected

    async def _learn_texts(self, found: Mapping[str, Iterable[Key]]) -> None:
        """Read the texts of the actions that will be erased, so that their copies are found."""
        for workspace_id, action_id in _list_actions(found):
            copied = await self._store.read(partial(self._read_texts, workspace_id, action_id))
            if copied is not None:
                self._remember(copied)

    def _read_texts(
        self, workspace_id: WorkspaceId, action_id: ActionId
    ) -> Transaction[contents.ErasedContent | None]:
        action, _ = yield from actions.find(workspace_id, action_id)
        if contents.is_in_flight(action):
            return None
        revisions = yield statements.list_revisions(workspace_id=workspace_id, action_id=action_id)
        earlier = [row["effect"] for row in revisions]
        texts = [msgspec.json.encode(each).decode() for each in (action.effect, action.view)]
        if not self._matcher().find([*texts, *earlier]):
            return None
        return contents.list_texts(action, earlier)

    def _remember(self, copied: contents.ErasedContent) -> None:
        for each in copied.ids:
            # Actions of one run share its id.
            self._contents[each] = tuple({*self._contents.get(each, ()), *copied.texts})

    async def _erase_actions(self, found: Mapping[str, Iterable[Key]]) -> None:
        for workspace_id, action_id in _list_actions(found):
            erased = await self._store.write(partial(self._erase_action, workspace_id, action_id))
            if erased is not None:
                self._remember(erased)
                self._rejected += erased.rejected

    def _erase_action(
        self, workspace_id: WorkspaceId, action_id: ActionId
    ) -> Transaction[contents.ErasedContent | None]:
        """Erase the content if it names the person. An approval by them is withdrawn."""
        action = yield from actions.lock_known(workspace_id, action_id)
        if action is None:
            return None
        revisions = yield statements.list_revisions(workspace_id=workspace_id, action_id=action_id)
        texts = [msgspec.json.encode(each).decode() for each in (action.effect, action.view, action.approval)]
        matcher = self._matcher()
        if not matcher.find([*texts[:2], *(row["effect"] for row in revisions)]):
            if matcher.find(texts[2:]):
                yield from contents.withdraw_approval(action, self._services.clock.now_ms(), by=self._by)
            return None
        return (yield from self._erase_content(workspace_id, action_id))

    def _erase_content(
        self, workspace_id: WorkspaceId, action_id: ActionId
    ) -> Transaction[contents.ErasedContent | None]:
        now_ms, sign = self._services.clock.now_ms(), self._signer.sign_text
        return contents.erase_content(
            workspace_id, action_id, contents.FOR_PERSON, now_ms, by=self._by, sign=sign
        )

    async def _erase_sessions(self, found: Mapping[str, Iterable[Key]]) -> None:
        for table in SESSIONS:
            for workspace_id, name, *_ in found.get(table, ()):
                forget = partial(
                    store.forget_session_of,
                    str(workspace_id),
                    str(name),
                    self._services.clock.now_ms(),
                    is_run=table != "workflow_session_notes",
                )
                await self._store.write(forget)

    def _remove_target(self, key: Key) -> Transaction[None]:
        workspace_id, target_id = WorkspaceId(str(key[0])), str(key[1])
        target = yield from targets.find(workspace_id, target_id)
        if target is not None:
            owner = targets.TargetOwner(workspace_id, target.person_id)
            now_ms = self._services.clock.now_ms()
            yield from targets.remove(self._services, owner, target_id, now_ms, by=self._by)

    def _replace_row(self, row: FoundRow) -> Transaction[None]:
        place = row.place
        if place.table == ACTIONS:
            action = yield from actions.lock_known(WorkspaceId(str(row.key[0])), ActionId(str(row.key[1])))
            if action is None or contents.is_in_flight(action):
                return  # its approval is sealed
        rows = yield place.lock(row.key)
        if not rows:
            return
        values = [rows[0][name] for name in place.columns]
        matcher = self._matcher()
        new = {
            name: matcher.erase(value, values, row.key)
            for name, value in zip(place.columns, values, strict=True)
            if place.ways[name] is How.REPLACE
        }
        yield place.replace(row.key, new, self._services.clock.now_ms())

    async def _erase_events(self) -> None:
        """Replace the bodies of events that name the person, stream by stream; their hashes stay."""
        matcher, signer = self._matcher(), self._signer
        place = next(each for each in self._places if each.table == EVENTS)
        after = place.first()
        while rows := await self._store.read(Single(place.page(after, self._workspace_id, PAGE))):
            found: dict[tuple[str, str], list[int]] = defaultdict(list)
            for row in rows:
                if matcher.find((row["body"],), (row["stream_id"],)):
                    found[row["workspace_id"], row["stream_id"]].append(row["seq"])
            for stream, seqs in found.items():
                await self._store.write(partial(self._erase_bodies, *stream, seqs, matcher, signer))
            after = _key(place, rows[-1])

    def _erase_bodies(
        self, workspace_id: str, stream_id: str, seqs: Sequence[int], matcher: Matcher, signer: Signer
    ) -> Transaction[None]:
        """Read the events again under the lock: another request may have replaced them since."""
        now_ms = self._services.clock.now_ms()
        head = yield from journal.lock_head(workspace_id, stream_id, now_ms)
        known = yield from read_signed_erasures(head, signer)
        bodies: dict[int, str] = {}
        for seq in seqs:
            (event,) = yield from journal.read_stream(workspace_id, stream_id, after_seq=seq - 1, limit=1)
            bodies[seq] = str(matcher.erase(event.body, (event.body,), (stream_id,)))
        yield from journal.erase_bodies(head, bodies, known, signer.sign_text, now_ms)

    def _note(self, found: Mapping[str, int]) -> Transaction[None]:
        """Record the request without the data: keyed hashes of the names tell whether it was this person."""
        key = tokens.derive_key(self._services.keys.master[0], PURPOSE)
        hashes = [hmac.digest(key, name.casefold().encode(), hashlib.sha256).hex() for name in self._names]
        facts = {"person": hashes, "rows": sum(found.values()), "by": self._by}
        workspace_id = WorkspaceId(self._workspace_id) if self._workspace_id else SYSTEM_WORKSPACE
        yield from journal.note(workspace_id, "person_erased", facts, self._services.clock.now_ms())


def _list_actions(found: Mapping[str, Iterable[Key]]) -> list[tuple[WorkspaceId, ActionId]]:
    named = {key[:2] for table in (ACTIONS, "action_revisions") for key in found.get(table, ())}
    return [(WorkspaceId(str(one)), ActionId(str(other))) for one, other in sorted(named)]


def _list_open_with(workspace_id: WorkspaceId, digest: str) -> Transaction[list[ActionId]]:
    """List the actions with a picture that could still be sent."""
    found: list[ActionId] = []
    for row in (yield statements.list_picture_runs(workspace_id=workspace_id, digest=digest)):
        for action in (yield from actions.run_actions(workspace_id, RunId(row["run_id"]))):
            if state_of(action) not in TERMINAL and any(
                each.digest == digest for each in action.effect.media
            ):
                found.append(action.action_id)
    return found


def _judge(place: Place, row: Row, matcher: Matcher) -> How | None:
    """Return how the row is erased, or None if it does not name the person."""
    named = matcher.find_columns({name: row[name] for name in place.columns}, _key(place, row))
    if named and place.table == PEOPLE and not matcher.is_name(row["name"], row["email"]):
        return How.LEAVE  # a namesake would lose their access
    ways = {place.ways[name] for name in named}
    return next((how for how in (How.APART, How.DELETE, How.LEAVE, How.REPLACE) if how in ways), None)


def _key(place: Place, row: Row) -> Key:
    return tuple(row[name] for name in place.key)


def _count(found: Iterable[FoundRow]) -> dict[str, int]:
    return dict(sorted(Counter(row.place.table for row in found).items()))


def _list_left(found: Iterable[FoundRow], *, after: bool = False) -> tuple[LeftRow, ...]:
    counted = Counter((row.place.label, row.place.advice) for row in found if after or row.how is How.LEAVE)
    return tuple(LeftRow(label, rows, advice) for (label, advice), rows in sorted(counted.items()))
