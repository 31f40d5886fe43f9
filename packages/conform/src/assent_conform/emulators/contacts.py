"""Emulates HubSpot: OAuth at the v3 endpoint, contacts unique by e-mail address."""

from __future__ import annotations

from typing import Any, Final

from assent_conform.testing.oauth_provider import Grant, OAuthServer
from assent_conform.testing.provider_server import ProviderAnswer, ProviderRequest, Route, json_answer

HUB_ID: Final = 62515
CORRELATION: Final = "aeb5f871-7f07-4993-9211-075dc63e7cbf"
CATEGORIES: Final = {
    400: "VALIDATION_ERROR",
    401: "EXPIRED_AUTHENTICATION",
    403: "MISSING_SCOPES",
    404: "OBJECT_NOT_FOUND",
    409: "CONFLICT",
    422: "VALIDATION_ERROR",
    429: "RATE_LIMITS",
}


def hubspot_error(status: int, message: str) -> dict[str, Any]:
    category = CATEGORIES.get(status, "INTERNAL_ERROR")
    return {"status": "error", "message": message, "correlationId": CORRELATION, "category": category}


def refuse(status: int, message: str) -> ProviderAnswer:
    return json_answer(status, hubspot_error(status, message))


class HubSpot(OAuthServer):
    """app.hubspot.com/oauth and api.hubapi.com."""

    name = "hubspot"
    authorize_path = "/oauth/authorize"
    token_path = "/oauth/v3/token"  # noqa: S105 - an address
    token_seconds = 1800
    access_prefix = "CJ-"
    refresh_prefix = "na1-"
    rotates = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.hub_id = HUB_ID
        self.contacts: dict[str, dict[str, str]] = {}

    def routes(self) -> tuple[Route, ...]:
        contacts = "/crm/v3/objects/contacts"
        return (
            *super().routes(),
            Route("POST", contacts, self.create),
            Route("GET", f"{contacts}/([^/]+)", self.read),
            Route("PATCH", f"{contacts}/([^/]+)", self.update),
        )

    def refusal(self, status: int) -> Any:
        return hubspot_error(status, f"Planned refusal {status}.")

    def oauth_error(self, status: int, error: str, description: str) -> ProviderAnswer:
        body = {"error": error, "error_description": description, "message": description}
        return json_answer(status, {**hubspot_error(status, description), **body})

    def token_facts(self, grant: Grant) -> dict[str, Any]:
        return {"token_type": "bearer", "hub_id": self.hub_id, "scopes": grant.scope.split()}

    def create(self, asked: ProviderRequest) -> ProviderAnswer:
        properties = asked.json.get("properties", {})
        email = str(properties.get("email", "")).lower()
        if "@" not in email:
            return refuse(400, f"Property values were not valid: email {email}")
        existing = self._by_email(email)
        if existing is not None:
            return refuse(409, f"Contact already exists. Existing ID: {existing}")
        number = str(101 + len(self.contacts))
        self.contacts[number] = {**properties, "email": email}
        self.done("contact_created", {"id": number, **self.contacts[number]}, email)
        return json_answer(201, self._shown(number))

    def read(self, asked: ProviderRequest, number: str) -> ProviderAnswer:
        found = self._by_email(number.lower()) if asked.query.get("idProperty") == "email" else number
        if found not in self.contacts:
            return refuse(404, "resource not found")
        return json_answer(200, self._shown(found))

    def update(self, asked: ProviderRequest, number: str) -> ProviderAnswer:
        if number not in self.contacts:
            return refuse(404, "resource not found")
        changed = asked.json.get("properties", {})
        self.contacts[number].update(changed)
        self.done("contact_updated", {"id": number, **changed}, self.contacts[number]["email"])
        return json_answer(200, self._shown(number))

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        if self.valid(asked.bearer):
            return None
        return refuse(401, "The OAuth token used to make this call expired.")

    def _by_email(self, email: str) -> str | None:
        return next((number for number, known in self.contacts.items() if known["email"] == email), None)

    def _shown(self, number: str) -> dict[str, Any]:
        moment = "2026-11-15T12:00:00.000Z"
        return {
            "id": number,
            "properties": dict(self.contacts[number]),
            "createdAt": moment,
            "updatedAt": moment,
            "archived": False,
            "url": f"https://app.hubspot.com/contacts/{self.hub_id}/record/0-1/{number}",
        }
