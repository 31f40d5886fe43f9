"""The public feed of a workspace: its posts, and an honest count of who saw them.

A post is made by the `site` connector and by nothing else; its natural key is the action and its revision, so that
publishing again finds the page that is there.

A visit counts once per visitor, post and day. Who a visitor is is never stored: only a hash under a key that exists in
this process's memory and changes every day. Counts gather in memory and are added to the store every few seconds, so a
view costs no write. A crash loses what was not written yet (seconds), and lets a returning visitor count once more that
day; so do several replicas, each of which knows its own visitors only. A batch that the store did not take is dropped:
a number may be too small, never too large.

Deliberately unaware of requests and of how a page looks.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.lifecycle.records import Action, Media
from assent.ports import Clock, Row, Store, StoreUnavailable, Transaction
from assent.stores.loader import statements

log = logging.getLogger("assent.feed")

FLUSH_SECONDS: Final = 5.0
"""What a crash can lose of the counts."""

MAX_VISITORS_PER_DAY: Final = 200_000
"""Visits that are told apart; past that many none is counted, because none could be told from a repetition."""

MAX_SLUG_CHARS: Final = 60
MAX_HEADLINE_CHARS: Final = 80
_ID_CHARS: Final = 12

_MEDIA: Final = msgspec.json.Decoder(tuple[Media, ...])


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a feed. `author` is the workspace's name."""

    workspace_id: WorkspaceId
    action_id: str
    revision: int
    post_id: str
    title: str
    body: str
    link: str
    media: tuple[Media, ...]
    published_ms: int
    author: str

    @property
    def headline(self) -> str:
        """What the post is called where only one line is shown."""
        return headline(self.title, self.body)


class Published(NamedTuple):
    """Where an action's content is."""

    post_id: str
    path: str
    published_ms: int


def publish(action: Action, now_ms: int) -> Transaction[Published]:
    """Put an action's content on the feed, or find it there."""
    effect = action.effect
    yield statements.insert_site_post(
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        revision=action.revision,
        post_id=new_post_id(action),
        title=effect.title,
        body=effect.body,
        link=effect.link,
        media=msgspec.json.encode(effect.media).decode(),
        published_ms=now_ms,
    )
    rows = yield statements.find_site_post_of_action(
        workspace_id=action.workspace_id, action_id=action.action_id, revision=action.revision
    )
    post_id: str = rows[0]["post_id"]
    return Published(post_id, post_path(action.workspace_id, post_id), rows[0]["published_ms"])


def feed_path(workspace_id: str) -> str:
    return f"/feed/{workspace_id}/"


def post_path(workspace_id: str, post_id: str) -> str:
    return f"{feed_path(workspace_id)}{post_id}"


def new_post_id(action: Action) -> str:
    """Readable, and the same whenever it is made: words of the title, then a digest of the natural key."""
    effect = action.effect
    plain = (
        unicodedata.normalize("NFKD", headline(effect.title, effect.body)).encode("ascii", "ignore").decode()
    )
    words = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    slug = words[: MAX_SLUG_CHARS + 1].rpartition("-")[0] if len(words) > MAX_SLUG_CHARS else words
    key = f"{action.workspace_id}:{action.provider_key}"
    return f"{slug or 'post'}-{hashlib.sha256(key.encode()).hexdigest()[:_ID_CHARS]}"


def headline(title: str, body: str) -> str:
    """The title, or the first line that says something."""
    if title.strip():
        return " ".join(title.split())
    lines = (re.sub(r"[#>*_`~\[\]|-]+", " ", line) for line in body.splitlines())
    first = next((" ".join(line.split()) for line in lines if line.strip()), "Post")
    return first if len(first) <= MAX_HEADLINE_CHARS else f"{first[: MAX_HEADLINE_CHARS - 1].rstrip()}…"


def find_post(workspace_id: WorkspaceId, post_id: str) -> Transaction[Post | None]:
    rows = yield statements.find_site_post(workspace_id=workspace_id, post_id=post_id)
    return _post(rows[0]) if rows else None


def newest_posts(workspace_id: WorkspaceId, most: int, before: Post | None = None) -> Transaction[list[Post]]:
    """The newest posts, or the newest of those before one."""
    rows = yield statements.list_site_posts(
        workspace_id=workspace_id,
        before_ms=before.published_ms if before is not None else 1 << 62,
        before_id=before.post_id if before is not None else "",
        most=most,
    )
    return [_post(row) for row in rows]


class DayCounts(msgspec.Struct, frozen=True, rename="camel"):
    """One day (UTC) of a post."""

    day: str
    views: int
    clicks: int


class Counts(msgspec.Struct, frozen=True, rename="camel"):
    """How often a post was seen and its links followed; at most `FLUSH_SECONDS` behind."""

    views: int
    clicks: int
    clicks_by_link: dict[str, int]
    days: tuple[DayCounts, ...]


def counts(workspace_id: WorkspaceId, post_id: str) -> Transaction[Counts]:
    """The counts of a post; all zero where nobody came."""
    rows = yield statements.list_site_visits(workspace_id=workspace_id, post_id=post_id)
    views: Counter[int] = Counter()
    clicks: Counter[int] = Counter()
    by_link: Counter[str] = Counter()
    for row in rows:
        (clicks if row["link"] else views)[row["day"]] += row["visits"]
        if row["link"]:
            by_link[row["link"]] += row["visits"]
    days = tuple(
        DayCounts(_day(day), views[day], clicks[day]) for day in sorted(views.keys() | clicks.keys())
    )
    return Counts(views.total(), clicks.total(), dict(by_link), days)


class _Where(NamedTuple):
    """What a visit is added to."""

    workspace_id: str
    post_id: str
    day: int
    link: str


class Visits:
    """Tells visitors apart for a day and gathers counts; one for each process, closed at its end."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        entropy: Callable[[int], bytes],
        *,
        flush_seconds: float = FLUSH_SECONDS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._flush_seconds = flush_seconds
        self._day = -1
        self._key = b""
        self._seen: set[bytes] = set()
        self._gathered: Counter[_Where] = Counter()
        self._flushing: asyncio.Task[None] | None = None
        self._closing: asyncio.Event | None = None

    def count(self, post: Post, visitor: str, link: str = "") -> bool:
        """Count a view, or a click on a link. False where this visitor has done so today."""
        day = self._clock.now_ms() // DAY_MS
        if day != self._day:
            self._day, self._key, self._seen = day, self._entropy(32), set()
        what = "\0".join((post.workspace_id, post.post_id, link, visitor))
        mark = hashlib.blake2b(what.encode("utf-8", "replace"), key=self._key, digest_size=10).digest()
        if mark in self._seen or len(self._seen) >= MAX_VISITORS_PER_DAY:
            return False
        self._seen.add(mark)
        self._gathered[_Where(post.workspace_id, post.post_id, day, link)] += 1
        if self._flushing is None:
            self._closing = asyncio.Event()
            self._flushing = asyncio.create_task(self._flush_later(self._closing))
        return True

    async def flush(self) -> None:
        """Add what was gathered to the store."""
        batch, self._gathered = self._gathered, Counter()
        if batch:
            try:
                await self._store.write(partial(_add, batch))
            except StoreUnavailable as unavailable:
                log.warning("%d visits were not counted: %s", batch.total(), unavailable)

    async def close(self) -> None:
        """Add the rest; nothing is counted after this."""
        if self._flushing is not None and self._closing is not None:
            self._closing.set()
            await self._flushing
        await self.flush()

    async def _flush_later(self, closing: asyncio.Event) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(closing.wait(), self._flush_seconds)
        self._flushing = None
        await self.flush()


def _add(batch: Counter[_Where]) -> Transaction[None]:
    # In one order everywhere, so that two replicas never wait for each other.
    for where, visits in sorted(batch.items()):
        yield statements.add_site_visits(**where._asdict(), visits=visits)


def _day(number: int) -> str:
    return datetime.fromtimestamp(number * DAY_MS / 1000, UTC).date().isoformat()


def _post(row: Row) -> Post:
    values: dict[str, Any] = {name: row[name] for name in Post.__struct_fields__}
    return Post(**{**values, "media": _MEDIA.decode(values["media"])})
