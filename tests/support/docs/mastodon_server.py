"""Emulates the provider of the page about connectors: statuses with a key, a picture and likes."""

from __future__ import annotations

from typing import Any

from assent_conform.testing.oauth_provider import OAuthServer, RegisteredApp
from assent_conform.testing.provider_server import ProviderAnswer, ProviderRequest, Route, json_answer

CLIENT = RegisteredApp("outside-client", "a-secret-of-the-outside-client-00")


class Mastodon(OAuthServer):
    name = "mastodon"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.statuses: dict[str, dict[str, Any]] = {}

    def routes(self) -> tuple[Route, ...]:
        return (
            *super().routes(),
            Route("GET", "/me", self.describe_account),
            Route("POST", "/statuses", self.create),
            Route("GET", "/statuses", self.find),
            Route("GET", "/statuses/([^/]+)", self.read),
        )

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        return None if self.valid(asked.bearer, "write:statuses") else json_answer(401, {"error": "token"})

    def describe_account(self, asked: ProviderRequest) -> ProviderAnswer:
        return json_answer(200, {"id": "109", "acct": "@acme@social.example"})

    def create(self, asked: ProviderRequest) -> ProviderAnswer:
        number = str(len(self.statuses) + 1)
        self.statuses[number] = asked.json
        self.done("toot", asked.json, asked.json["key"])
        return json_answer(200, self._shown(number))

    def find(self, asked: ProviderRequest) -> ProviderAnswer:
        for number, status in self.statuses.items():
            if status["key"] == asked.query.get("key"):
                return json_answer(200, self._shown(number))
        return json_answer(404, {"error": "none"})

    def read(self, asked: ProviderRequest, number: str) -> ProviderAnswer:
        return json_answer(200, {**self._shown(number), "likes": 7})

    def _shown(self, number: str) -> dict[str, Any]:
        return {"id": number, "url": f"https://social.example/{number}"}
