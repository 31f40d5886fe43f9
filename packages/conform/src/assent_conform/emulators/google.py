"""Emulates Google: accounts (OAuth 2), Analytics 4 (reports and the list of properties) and Search
Console.

As documented: report values are strings, `rows` is absent when nothing was found, Search Console's
numbers are two to three days late, and a refresh token needs `access_type=offline`. Three servers
with a ledger each; the data servers ask the first whether a token is valid.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import msgspec

from assent.kernel.structs import Record
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.oauth_provider import OAuthServer
from assent_conform.testing.provider_server import (
    ProviderAnswer,
    ProviderRequest,
    ProviderServer,
    Route,
    json_answer,
)

ANALYTICS: Final = "https://www.googleapis.com/auth/analytics.readonly"
SEARCH: Final = "https://www.googleapis.com/auth/webmasters.readonly"
LAG_DAYS: Final = 3
STATUS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def google_error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message, "status": STATUS.get(status, "UNKNOWN")}}


def refuse(status: int, message: str) -> ProviderAnswer:
    return json_answer(status, google_error(status, message))


class GoogleAccounts(OAuthServer):
    """accounts.google.com and oauth2.googleapis.com."""

    name = "google_oauth"
    authorize_path = "/o/oauth2/v2/auth"
    access_prefix = "ya29."
    refresh_prefix = "1//"
    offline_by_asking = True

    def routes(self) -> tuple[Route, ...]:
        return (*super().routes(), Route("POST", "/revoke", self.revoke))

    def revoke(self, asked: ProviderRequest) -> ProviderAnswer:
        token = asked.form.get("token", "")
        grant = self.refresh.get(token) or self.access.get(token, (None, 0))[0]
        if grant is None or grant.revoked:
            return self.oauth_error(400, "invalid_token", "Token expired or revoked")
        grant.revoked = True
        self.done("revoked", {"scope": grant.scope})
        return json_answer(200, {})


class _GoogleData(ProviderServer):
    """An API that accepts Google's tokens."""

    scope = ""

    def __init__(self, ledger: Ledger, valid: Callable[[str, str], bool], **options: Any) -> None:
        super().__init__(ledger, **options)
        self._valid = valid

    def refusal(self, status: int) -> Any:
        return google_error(status, f"Planned refusal {status}.")

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        if not self._valid(asked.bearer, self.scope):
            return refuse(401, "Request had invalid authentication credentials.")
        return None


class DailyVisits(Record):
    day: date
    host: str
    path: str
    sessions: int
    key_events: int = 0


class Ga4(_GoogleData):
    """Emulates analyticsdata.googleapis.com, and the list of properties of analyticsadmin.googleapis.com."""

    name = "ga4"
    scope = ANALYTICS
    offers_list = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.properties: dict[str, str] = {"1234": "Assent"}
        self.visits: list[DailyVisits] = []

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", r"/v1beta/properties/([^/:]+):runReport", self.run_report),
            Route("GET", "/v1beta/accountSummaries", self.summaries),
            Route("POST", "/emulate", self.emulate, is_page=True),
        )

    def emulate(self, asked: ProviderRequest) -> ProviderAnswer:
        """Set the counted visits: `{"visits": [{day, host, path, sessions, key_events}]}`."""
        self.visits = msgspec.convert(asked.json["visits"], list[DailyVisits])
        return json_answer(200, {})

    def summaries(self, asked: ProviderRequest) -> ProviderAnswer:
        if not self.offers_list:
            return refuse(404, "Method not found.")
        listed = [
            {"property": f"properties/{number}", "displayName": name}
            for number, name in self.properties.items()
        ]
        account = {"name": "accountSummaries/100", "account": "accounts/100", "displayName": "Example"}
        found = [{**account, "propertySummaries": listed}] if listed else []
        return json_answer(200, {"accountSummaries": found} if found else {})

    def run_report(self, asked: ProviderRequest, property_id: str) -> ProviderAnswer:
        if property_id not in self.properties:
            return refuse(403, "User does not have sufficient permissions for this property.")
        wanted = asked.json
        names = [metric["name"] for metric in wanted.get("metrics", ())]
        if not names or set(names) - {"sessions", "keyEvents"} or wanted.get("dimensions"):
            return refuse(400, f"Field {names} is not a valid metric.")
        days = wanted["dateRanges"][0]
        seen = [
            visit
            for visit in self.visits
            if days["startDate"] <= visit.day.isoformat() <= days["endDate"]
            and _matches(wanted.get("dimensionFilter"), {"hostName": visit.host, "pagePath": visit.path})
        ]
        report: dict[str, Any] = {
            "metricHeaders": [{"name": name, "type": "TYPE_INTEGER"} for name in names],
            "metadata": {"currencyCode": "USD", "timeZone": "Etc/UTC"},
            "kind": "analyticsData#runReport",
        }
        if seen:
            sums = {
                "sessions": sum(visit.sessions for visit in seen),
                "keyEvents": sum(visit.key_events for visit in seen),
            }
            report["rows"] = [{"metricValues": [{"value": str(sums[name])} for name in names]}]
            report["rowCount"] = 1
        return json_answer(200, report)


def _matches(expression: dict[str, Any] | None, values: dict[str, str]) -> bool:
    if expression is None:
        return True
    if "andGroup" in expression:
        return all(_matches(each, values) for each in expression["andGroup"]["expressions"])
    if "orGroup" in expression:
        return any(_matches(each, values) for each in expression["orGroup"]["expressions"])
    found = expression["filter"]
    value = values[found["fieldName"]]
    if "inListFilter" in found:
        return value in found["inListFilter"]["values"]
    return bool(value == found["stringFilter"]["value"])


class Query(Record):
    day: date
    page: str
    clicks: int
    impressions: int


class SearchConsole(_GoogleData):
    """searchconsole.googleapis.com."""

    name = "search_console"
    scope = SEARCH
    offers_list = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sites: list[str] = ["https://example.org/", "sc-domain:example.com"]
        self.queries: list[Query] = []

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/webmasters/v3/sites", self.list_sites),
            Route("POST", r"/webmasters/v3/sites/([^/]+)/searchAnalytics/query", self.query),
            Route("POST", "/emulate", self.emulate, is_page=True),
        )

    def emulate(self, asked: ProviderRequest) -> ProviderAnswer:
        """Set the search numbers and sites: `{"queries": [{day, page, clicks, impressions}],
        "sites": […]}`."""
        self.queries = msgspec.convert(asked.json.get("queries", []), list[Query])
        self.sites = [str(site) for site in asked.json.get("sites", self.sites)]
        return json_answer(200, {})

    def list_sites(self, asked: ProviderRequest) -> ProviderAnswer:
        if not self.offers_list:
            return refuse(404, "Not found.")
        entries = [{"siteUrl": site, "permissionLevel": "siteOwner"} for site in self.sites]
        return json_answer(200, {"siteEntry": entries} if entries else {})

    def query(self, asked: ProviderRequest, site: str) -> ProviderAnswer:
        if site not in self.sites:
            return refuse(403, f"User does not have sufficient permission for site '{site}'.")
        wanted = asked.json
        now = datetime.fromtimestamp(self.now_ms() / 1000, UTC).date()
        last = now if wanted.get("dataState") == "all" else now - timedelta(days=LAG_DAYS)
        pages = [
            each["expression"]
            for group in wanted.get("dimensionFilterGroups", ())
            for each in group["filters"]
            if each["dimension"] == "page" and each.get("operator", "equals") == "equals"
        ]
        found: dict[str, list[Query]] = {}
        for each in self.queries:
            inside = wanted["startDate"] <= each.day.isoformat() <= wanted["endDate"] and each.day <= last
            if inside and (not pages or each.page in pages):
                found.setdefault(each.page, []).append(each)
        said: dict[str, Any] = {"responseAggregationType": "byPage"}
        if found:
            said["rows"] = [_search_row(page, queries) for page, queries in found.items()]
        return json_answer(200, said)


def _search_row(page: str, queries: list[Query]) -> dict[str, Any]:
    clicks, seen = sum(each.clicks for each in queries), sum(each.impressions for each in queries)
    return {
        "keys": [page],
        "clicks": clicks,
        "impressions": seen,
        "ctr": clicks / seen if seen else 0,
        "position": 7.5,
    }
