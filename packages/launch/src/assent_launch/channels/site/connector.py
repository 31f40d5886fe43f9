"""`site`: publishes an approved post as a page of the workspace's public feed. Needs no account;
always ready.

The natural key is the action and its revision: performing twice finds the existing page. Knows
nothing of the storage and look of pages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from assent import Context, Effect, NotSent, OutcomeUnknown
from assent.platform import Connector, Delivered, Delivery, NoLookUp, Readiness, Reading, action_of
from assent.sdk import Action, Record, StoreUnavailable, WorkspaceId, iso_time
from assent_launch.channels.site import INFO, UNPUBLISH
from assent_launch.site import feed

if TYPE_CHECKING:
    from assent_launch.channels.factory import ConnectorParts


class SitePage(Record):
    """A published page: its id, URL and date."""

    post_id: str
    url: str
    published_ms: int


Publish = Callable[[Action], Awaitable[SitePage]]
"""Publishes an action's content on the feed, or finds it there."""


TakeDown = Callable[[Action], Awaitable[SitePage]]
"""Takes down the page that an action names, or finds it gone."""


Seen = Callable[[Action], Awaitable[tuple[int, int]]]
"""Returns the views and link clicks of a published action."""


class SiteConnector(NoLookUp):
    """The connector of the built-in feed."""

    info = INFO
    id = INFO.id
    delivery = Delivery("natural_key")
    no_look_up = "a page is not asked about, it is published again"
    always_ready = True

    def __init__(self, publish: Publish, seen: Seen, take_down: TakeDown) -> None:
        self._publish = publish
        self._take_down = take_down
        self._seen = seen

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = action_of(ctx, effect)
        try:
            removes = effect.verb == UNPUBLISH
            page = await (self._take_down if removes else self._publish)(action)
        except StoreUnavailable as unavailable:
            # If the connection broke during COMMIT the result is unknown; a repetition finds out.
            raise OutcomeUnknown("the store did not answer") from unavailable
        when = {"removedAt" if removes else "publishedAt": iso_time(page.published_ms)}
        return Delivered(page.post_id, page.url, when)

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        """Return the page's counts. Zero is a number, because every view passes this server."""
        views, clicks = await self._seen(action)
        return Reading(
            source=self.id,
            channel=action.effect.channel,
            status="ok",
            metrics={"views": views, "clicks": clicks},
        )


def make_connectors(parts: ConnectorParts) -> tuple[Connector, ...]:
    services, store, clock = parts.services, parts.services.store, parts.clock

    async def publish(action: Action) -> SitePage:
        made = await store.write(lambda: feed.publish(action, clock.now_ms()))
        return SitePage(made.post_id, services.links.base_url + made.path, made.published_ms)

    async def take_down(action: Action) -> SitePage:
        made = await store.write(lambda: feed.take_down(action, clock.now_ms()))
        if made is None:
            raise NotSent("there is no such page")
        return SitePage(made.post_id, services.links.base_url + made.path, made.published_ms)

    return (SiteConnector(publish, parts.visits.read_counts, take_down),)
