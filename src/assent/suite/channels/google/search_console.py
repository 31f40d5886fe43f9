"""`search_console`: reads the clicks and impressions of a run's pages in Google's search.

Its numbers are two to three days late, so a reading a day after publishing is normally empty:
`rows` is absent, which is not zero, and the reading gives the reason (C28). The person chooses the
site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote, urlsplit

from assent.platform.connections import Campaign, Deadline, Exchanged, OfferedChoice, Reading
from assent.suite.channels.google.info import SEARCH_CONSOLE
from assent.suite.channels.google.source import (
    MOST_PAGES,
    GoogleSource,
    day,
    number,
)

LAG: Final = "Google Search Console has no rows for these pages yet; its numbers come two to three days late"
SUMMED: Final = ("clicks", "impressions")
DOMAIN: Final = "sc-domain:"

_SITE: Final = re.compile(r"https?://[^\s/]+/[^\s]{0,500}|sc-domain:[A-Za-z0-9.-]{3,253}")
_BARE: Final = re.compile(r"https?://[^\s/]+")


class SearchConsoleConnector(GoogleSource):
    info = SEARCH_CONSOLE
    id = SEARCH_CONSOLE.id
    channel = "search"
    setting = "siteUrl"
    scopes = ("https://www.googleapis.com/auth/webmasters.readonly",)

    async def ask(self, chosen: str, campaign: Campaign, timeout_seconds: float) -> Reading:
        pages = tuple(page for page in campaign.pages if covers(chosen, page))[:MOST_PAGES]
        if not pages and chosen:
            return self.unavailable(f"no page of this run is on {chosen}, the site that was chosen")
        rows: list[Any] = []
        deadline = Deadline(timeout_seconds)
        for page in pages or campaign.pages[:1]:
            # All filters of a group must match, so each page needs its own query.
            body = {
                "startDate": day(campaign.since_ms),
                "endDate": day(campaign.until_ms),
                "dimensions": ["page"],
                "dimensionFilterGroups": [
                    {"filters": [{"dimension": "page", "operator": "equals", "expression": page}]}
                ],
            }
            url = f"{self.url}/webmasters/v3/sites/{quote(chosen, safe='')}/searchAnalytics/query"
            answer = await self.access.call(
                campaign.workspace_id, "POST", url, body=body, timeout_seconds=deadline.left()
            )
            if not answer.ok or not isinstance(answer.value, dict):
                return self.refused(answer)
            rows += answer.at("rows") or ()
        if not rows:
            return self.unavailable(LAG)
        found = [row if isinstance(row, dict) else {} for row in rows]
        counted = {name: [number(row.get(name)) for row in found] for name in SUMMED}
        if any(value is None for values in counted.values() for value in values):
            return self.unavailable("Google Search Console answered with rows that hold no numbers")
        return self.counted({name: sum(value or 0 for value in values) for name, values in counted.items()})

    def read_choice(self, typed: str) -> str | None:
        site = f"{typed}/" if _BARE.fullmatch(typed) is not None else typed
        return site if _SITE.fullmatch(site) is not None else None

    @property
    def choices_url(self) -> str:
        return f"{self.url}/webmasters/v3/sites"

    def list_choices(self, answer: Exchanged) -> Iterator[OfferedChoice]:
        found = (each.get("siteUrl") for each in answer.at("siteEntry") or ())
        return (OfferedChoice(site, site) for site in found if isinstance(site, str))


def covers(site: str, page: str) -> bool:
    """Whether a page is on a site: below its URL, or on its domain or a subdomain."""
    if site.startswith(DOMAIN):
        host, domain = urlsplit(page).hostname or "", site.removeprefix(DOMAIN).lower()
        return host == domain or host.endswith(f".{domain}")
    return page.startswith(site) or f"{page}/" == site
