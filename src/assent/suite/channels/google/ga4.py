"""`ga4`: reads sessions and conversions of a run's pages from Google Analytics 4 (Data API v1beta).

Every value is text. If nothing was counted (yet), `rows` is absent, which is not zero. Without
dimensions the report has one row, so a visitor of two pages is one session. The person chooses the
property.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote, urlsplit

from assent.platform.connections import Campaign, Exchanged, OfferedChoice, Reading
from assent.suite.channels.google.info import GA4
from assent.suite.channels.google.source import (
    MOST_PAGES,
    GoogleSource,
    day,
    number,
)

PUBLIC: Final = "https://analyticsdata.googleapis.com"
PUBLIC_ADMIN: Final = "https://analyticsadmin.googleapis.com"

METRICS: Final = {"sessions": "sessions", "keyEvents": "conversions"}
"""Google's metrics and our names for them. Analytics calls conversions key events."""

_PROPERTY: Final = re.compile(r"\d{3,20}")

UNREADABLE: Final = "Google Analytics answered with rows that hold no numbers"


class Ga4Connector(GoogleSource):
    info = GA4
    id = GA4.id
    channel = "web"
    setting = "propertyId"
    scopes = ("https://www.googleapis.com/auth/analytics.readonly",)

    async def ask(self, chosen: str, campaign: Campaign, timeout_seconds: float) -> Reading:
        since = day(campaign.since_ms)
        body = {
            "dateRanges": [{"startDate": since, "endDate": day(campaign.until_ms)}],
            "metrics": [{"name": name} for name in METRICS],
            "dimensionFilter": page_filter(campaign.pages),
        }
        url = f"{self.url}/v1beta/properties/{quote(chosen, safe='')}:runReport"
        answer = await self.access.call(
            campaign.workspace_id, "POST", url, body=body, timeout_seconds=timeout_seconds
        )
        if not answer.ok or not isinstance(answer.value, dict):
            return self.refused(answer)
        if not answer.at("rows"):
            return self.unavailable(
                f"Google Analytics has counted nothing on these pages since {since}; a visit can take a day or two to "
                "appear"
            )
        metrics: dict[str, int | float] = {}
        for row in range(len(answer.at("rows"))):
            for place, asked in enumerate(METRICS):
                name = answer.at("metricHeaders", place, "name") or asked
                value = number(answer.at("rows", row, "metricValues", place, "value"))
                if name in METRICS and value is not None:
                    metrics[METRICS[name]] = metrics.get(METRICS[name], 0) + value
        return self.counted(metrics) if metrics else self.unavailable(UNREADABLE)

    def read_choice(self, typed: str) -> str | None:
        number = typed.removeprefix("properties/")
        return number if _PROPERTY.fullmatch(number) is not None else None

    @property
    def choices_url(self) -> str:
        admin = PUBLIC_ADMIN if self.url == PUBLIC else self.url
        return f"{admin}/v1beta/accountSummaries?pageSize=200"

    def list_choices(self, answer: Exchanged) -> Iterator[OfferedChoice]:
        for account in answer.at("accountSummaries") or ():
            for each in account.get("propertySummaries") or ():
                if isinstance(each.get("property"), str):
                    name = each["property"].removeprefix("properties/")
                    yield OfferedChoice(name, str(each.get("displayName") or name))


def page_filter(pages: tuple[str, ...]) -> dict[str, Any]:
    """Return a filter for sessions that saw one of the pages, with or without a trailing slash."""
    return {"orGroup": {"expressions": [_page(page) for page in pages[:MOST_PAGES]]}}


def _page(page: str) -> dict[str, Any]:
    parts = urlsplit(page)
    path = parts.path.rstrip("/")
    spellings = [path, f"{path}/"] if path else ["/"]
    host = {"fieldName": "hostName", "stringFilter": {"matchType": "EXACT", "value": parts.hostname or ""}}
    where = {"fieldName": "pagePath", "inListFilter": {"values": spellings}}
    return {"andGroup": {"expressions": [{"filter": host}, {"filter": where}]}}
