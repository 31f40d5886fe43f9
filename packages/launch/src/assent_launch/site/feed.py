"""The public feed of a workspace: its posts, and how often each was seen.

Only the `site` connector makes posts. The natural key is the action and its revision, so publishing
again finds the existing page. Every view counts, and nothing about a visitor is stored.

Knows nothing of requests and the look of pages.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import re
import unicodedata
from collections import Counter
from functools import partial
from typing import Final, NamedTuple

import msgspec

from assent.platform import cut
from assent.sdk import (
    DAY_MS,
    Action,
    Clock,
    Media,
    Record,
    Row,
    Store,
    StoreUnavailable,
    Transaction,
    WorkspaceId,
    find_brand,
    from_row,
)
from assent_launch.component import statements

log = logging.getLogger("assent.feed")

FEED_PATH: Final = "/feed/{}/"
"""The path of a workspace's feed, with its id."""

MAX_SLUG_CHARS: Final = 60
MAX_HEADLINE_CHARS: Final = 80
_ID_CHARS: Final = 12
FLUSH_SECONDS: Final = 5.0
"""How many seconds of counts a crash can lose."""

_MEDIA: Final = msgspec.json.Decoder(tuple[Media, ...])


class SitePost(Record, kw_only=True):
    """A page of a feed. `author` is the workspace's name."""

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
    removed_ms: int | None = None
    """When it was taken down."""

    @property
    def headline(self) -> str:
        """Return the post's title for a single line."""
        return headline(self.title, self.body)


class Published(NamedTuple):
    """The published page of an action."""

    post_id: str
    path: str
    published_ms: int


def publish(action: Action, now_ms: int) -> Transaction[Published]:
    """Publish an action's content on the feed, or find it there."""
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


def take_down(action: Action, now_ms: int) -> Transaction[Published | None]:
    """Take down the page that an action names, or find it taken down. Returns None if there is none."""
    workspace_id, post_id = action.workspace_id, str(action.effect.details["receipt"])
    yield statements.remove_site_post(workspace_id=workspace_id, post_id=post_id, removed_ms=now_ms)
    post = yield from find_post(workspace_id, post_id)
    if post is None or post.removed_ms is None:
        return None
    return Published(post_id, post_path(workspace_id, post_id), post.removed_ms)


def post_path(workspace_id: str, post_id: str) -> str:
    return FEED_PATH.format(workspace_id) + post_id


def new_post_id(action: Action) -> str:
    """Return a readable, deterministic id: words of the title, then a digest of the natural key."""
    effect = action.effect
    plain = (
        unicodedata.normalize("NFKD", headline(effect.title, effect.body)).encode("ascii", "ignore").decode()
    )
    words = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    slug = words[: MAX_SLUG_CHARS + 1].rpartition("-")[0] if len(words) > MAX_SLUG_CHARS else words
    key = f"{action.workspace_id}:{action.provider_key}"
    return f"{slug or 'post'}-{hashlib.sha256(key.encode()).hexdigest()[:_ID_CHARS]}"


def headline(title: str, body: str) -> str:
    """Return the title, or the first line that is not blank."""
    if title.strip():
        return " ".join(title.split())
    lines = (re.sub(r"[#>*_`~\[\]|-]+", " ", line) for line in body.splitlines())
    first = next((" ".join(line.split()) for line in lines if line.strip()), "Post")
    return cut(first, MAX_HEADLINE_CHARS)


def find_post(workspace_id: WorkspaceId, post_id: str) -> Transaction[SitePost | None]:
    rows = yield statements.find_site_post(workspace_id=workspace_id, post_id=post_id)
    return _post(rows[0], (yield from _name_author(workspace_id))) if rows else None


def newest_posts(
    workspace_id: WorkspaceId, most: int, before: SitePost | None = None
) -> Transaction[list[SitePost]]:
    """Return the newest posts, or the newest before one."""
    rows = yield statements.list_site_posts(
        workspace_id=workspace_id,
        before_ms=before.published_ms if before is not None else 1 << 62,
        before_id=before.post_id if before is not None else "",
        most=most,
    )
    author = (yield from _name_author(workspace_id)) if rows else ""
    return [_post(row, author) for row in rows]


def _name_author(workspace_id: WorkspaceId) -> Transaction[str]:
    return (yield from find_brand(workspace_id)).name


class Counts(NamedTuple):
    """The views and link clicks of a post."""

    views: int
    clicks: int


def counts(workspace_id: WorkspaceId, post_id: str) -> Transaction[Counts]:
    """Return the stored counts of a post."""
    rows = yield statements.list_site_visits(workspace_id=workspace_id, post_id=post_id)
    clicks = sum(row["visits"] for row in rows if row["link"])
    return Counts(sum(row["visits"] for row in rows) - clicks, clicks)


class _Where(NamedTuple):
    """The row of a visit."""

    workspace_id: str
    post_id: str
    day: int
    link: str


class Visits:
    """The visits of one process. They are buffered in memory and added to the store every few
    seconds, so a view costs no write; a crash loses the buffer. A batch that the store refuses is
    dropped, not written twice."""

    def __init__(self, store: Store, clock: Clock, *, flush_seconds: float = FLUSH_SECONDS) -> None:
        self._store = store
        self._clock = clock
        self._flush_seconds = flush_seconds
        self._gathered: Counter[_Where] = Counter()
        self._flushing: asyncio.Task[None] | None = None
        self._closing: asyncio.Event | None = None

    def count(self, post: SitePost, link: str = "") -> None:
        """Count a view, or a click on a link."""
        day = self._clock.now_ms() // DAY_MS
        self._gathered[_Where(post.workspace_id, post.post_id, day, link)] += 1
        if self._flushing is None:
            self._closing = asyncio.Event()
            self._flushing = asyncio.create_task(self._flush_later(self._closing))

    async def flush(self) -> None:
        """Add the gathered visits to the store."""
        batch, self._gathered = self._gathered, Counter()
        if batch:
            try:
                await self._store.write(partial(_add, batch))
            except StoreUnavailable as unavailable:
                log.warning("%d visits were not counted: %s", batch.total(), unavailable)

    async def read_counts(self, action: Action) -> Counts:
        """Return the counts of an action's page, with the visits that are still buffered."""
        await self.flush()
        return await self._store.read(partial(counts, action.workspace_id, action.external_id or ""))

    async def close(self) -> None:
        """Store the buffered visits and stop counting."""
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
    # One order everywhere, so that two replicas never deadlock.
    for where, visits in sorted(batch.items()):
        yield statements.add_site_visits(**where._asdict(), visits=visits)


def _post(row: Row, author: str) -> SitePost:
    return from_row(SitePost, row, media=_MEDIA.decode(row["media"]), author=author)
