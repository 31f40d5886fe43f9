"""Makes the two sources of Google, which share a client."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from assent import Context, Effect, NotSent, OutcomeUnknown
from assent.platform import (
    Connection,
    Connector,
    ConnectorInfo,
    Deadline,
    Delivered,
    Delivery,
    Exchanged,
    Grantor,
    OAuthAccess,
    Readiness,
    Reading,
    action_of,
)
from assent.sdk import WorkspaceId
from assent_launch.channels.google import GA4, SEARCH_CONSOLE
from assent_launch.learning.measurement import Campaign

if TYPE_CHECKING:
    from assent_launch.channels.factory import ConnectorParts

GOOGLE: Final = Grantor(
    id="google",
    label="Google",
    pages="https://accounts.google.com",
    interface="https://oauth2.googleapis.com",
    authorize_path="/o/oauth2/v2/auth",
    token_path="/token",  # noqa: S106 - an address
    revoke_path="/revoke",
    # Google sends a refresh token only with offline access, and another one only after another
    # consent.
    extra={"access_type": "offline", "prompt": "consent"},
    client_id_setting="ASSENT_GOOGLE_CLIENT_ID",
    client_secret_setting="ASSENT_GOOGLE_CLIENT_SECRET",  # noqa: S106 - a name
    permissions="myaccount.google.com/connections",
)

MOST_PAGES: Final = 10

MAX_CHOICES: Final = 200


class GoogleSource:
    """A source of numbers. Subclasses define the choice and the query."""

    info: ConnectorInfo
    id = ""
    channel = ""
    setting = ""
    scopes: tuple[str, ...] = ()
    """What it asks Google for, no more than it uses."""
    delivery = Delivery("none")

    def __init__(self, access: OAuthAccess, url: str) -> None:
        self.access = access
        self.url = url

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        readiness = await self.access.readiness(workspace_id)
        connection = await self.access.connection(workspace_id) if readiness.ready else None
        if connection is not None and self.chosen(connection) is None:
            return Readiness.unconnected(self.choose_hint, self.choose_hint)
        return readiness

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        raise NotSent(f"{self.info.label} is read and never written to")

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        raise OutcomeUnknown(f"{self.info.label} is read and never written to")

    @property
    def choose_hint(self) -> str:
        return f"{self.info.label} is connected, but what it reads is not chosen yet. Choose it on its page."

    def chosen(self, connection: Connection) -> str | None:
        value = connection.settings.get(self.setting)
        return value if isinstance(value, str) and value else None

    async def measure_campaign(self, campaign: Campaign, timeout_seconds: float) -> Reading | None:
        """Return the numbers of a run's pages; None if the source was never connected."""
        connection = campaign.connections.get(self.id)
        if connection is None or connection.state == "revoked":
            return None
        chosen = self.chosen(connection)
        if connection.live and chosen is None:
            return self.unavailable(self.choose_hint)
        if not campaign.pages:
            return self.unavailable("nothing of this run leads to a page whose visitors could be counted")
        try:
            return await self.ask(chosen or "", campaign, Deadline(timeout_seconds).left())
        except NotSent as not_sent:
            return self.unavailable(not_sent.detail)
        except OutcomeUnknown as unknown:
            return self.unavailable(str(unknown))

    async def ask(self, chosen: str, campaign: Campaign, timeout_seconds: float) -> Reading:
        raise NotImplementedError

    async def choices(
        self, workspace_id: WorkspaceId, timeout_seconds: float
    ) -> tuple[tuple[str, str], ...] | None:
        """Return the properties to choose from; None if Google does not list them."""
        url = self.choices_url
        answer = await self.access.call(workspace_id, "GET", url, timeout_seconds=timeout_seconds)
        if not answer.ok or not isinstance(answer.value, dict):
            return None
        return tuple(self.list_choices(answer))[:MAX_CHOICES]

    def read_choice(self, typed: str) -> str | None:
        raise NotImplementedError

    @property
    def choices_url(self) -> str:
        raise NotImplementedError

    def list_choices(self, answer: Exchanged) -> Iterable[tuple[str, str]]:
        raise NotImplementedError

    def unavailable(self, reason: str) -> Reading:
        return Reading(source=self.id, channel=self.channel, status="unavailable", reason=reason)

    def counted(self, metrics: dict[str, int | float]) -> Reading:
        return Reading(source=self.id, channel=self.channel, status="ok", metrics=metrics)

    def refused(self, answer: Exchanged) -> Reading:
        said = {
            403: f"the connected account may not read it in {self.info.label}; choose another on its page",
            404: f"{self.info.label} does not know what was chosen; choose another on its page",
            429: f"{self.info.label} limits how often it is asked; measure again later",
        }
        return self.unavailable(said.get(answer.status, f"{self.info.label} answered HTTP {answer.status}"))


def day(moment_ms: int) -> str:
    return datetime.fromtimestamp(moment_ms / 1000, UTC).date().isoformat()


def number(value: Any) -> int | float | None:
    """Convert a number, which Google may send as text; None for anything else."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    if not math.isfinite(found):
        return None
    return int(found) if found.is_integer() else found


def make_connectors(parts: ConnectorParts) -> tuple[Connector, ...]:
    settings = parts.settings
    client, base = (
        (settings["google_client_id"], settings["google_client_secret"]),
        settings["google_oauth_url"],
    )

    def ask_google(source: type[GoogleSource]) -> OAuthAccess:
        return OAuthAccess.make(parts.services, source.info, GOOGLE, source.scopes, client, base)

    return (
        Ga4Connector(ask_google(Ga4Connector), settings["ga4_url"]),
        SearchConsoleConnector(ask_google(SearchConsoleConnector), settings["search_console_url"]),
    )


# `ga4`: reads sessions and conversions of a run's pages from Google Analytics 4 (Data API v1beta).
#
# Every value is text. If nothing was counted (yet), `rows` is absent, which is not zero. Without dimensions the
# report has one row, so a visitor of two pages is one session. The person chooses the property.

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

    def list_choices(self, answer: Exchanged) -> Iterator[tuple[str, str]]:
        for account in answer.at("accountSummaries") or ():
            for each in account.get("propertySummaries") or ():
                if isinstance(each.get("property"), str):
                    name = each["property"].removeprefix("properties/")
                    yield name, str(each.get("displayName") or name)


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


# `search_console`: reads the clicks and impressions of a run's pages in Google's search.
#
# Its numbers are two to three days late, so a reading a day after publishing is normally empty: `rows` is absent,
# which is not zero, and the reading gives the reason (C28). The person chooses the site.

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

    def list_choices(self, answer: Exchanged) -> Iterator[tuple[str, str]]:
        found = (each.get("siteUrl") for each in answer.at("siteEntry") or ())
        return ((site, site) for site in found if isinstance(site, str))


def covers(site: str, page: str) -> bool:
    """Whether a page is on a site: below its URL, or on its domain or a subdomain."""
    if site.startswith(DOMAIN):
        host, domain = urlsplit(page).hostname or "", site.removeprefix(DOMAIN).lower()
        return host == domain or host.endswith(f".{domain}")
    return page.startswith(site) or f"{page}/" == site
