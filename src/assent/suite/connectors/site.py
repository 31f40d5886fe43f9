"""`site`: publishes an approved post as a page of the workspace's public feed. Needs no account;
always ready.

The natural key is the action and its revision: performing twice finds the existing page. Knows
nothing of the storage and look of pages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from assent.gate.card_calls import UNPUBLISH
from assent.gate.gate import ApprovedAction
from assent.gate.preflight import Readiness
from assent.gate.records import Action
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.kernel.times import iso_time
from assent.ports import Delivered, Delivery, OutcomeUnknown, Reading, StoreUnavailable
from assent.suite.connectors.approved import NoLookUp, action_of


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

    id = "site"
    delivery = Delivery("natural_key")
    no_look_up = "a page is not asked about, it is published again"
    always_ready = True

    def __init__(self, publish: Publish, seen: Seen, take_down: TakeDown) -> None:
        self._publish = publish
        self._take_down = take_down
        self._seen = seen

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered:
        action = action_of(approved)
        try:
            removes = action.effect.verb == UNPUBLISH
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
