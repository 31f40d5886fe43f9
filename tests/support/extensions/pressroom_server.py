"""Emulates a pressroom: OAuth, accounts, pictures, releases with a reference, their numbers."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from assent_conform.testing.ledger import Ledger
from assent_conform.testing.oauth_provider import OAuthServer, RegisteredApp
from assent_conform.testing.provider_server import ProviderAnswer, ProviderRequest, Route, json_answer

CLIENT = RegisteredApp("assent-client", "a-secret-of-the-pressroom-client")


class PressroomServer(OAuthServer):
    name = "pressroom"
    rotates = True

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        super().__init__(ledger, CLIENT, **options)
        self.account = {"id": "room-7", "name": "Acme pressroom"}
        self.pictures: dict[str, tuple[bytes, str]] = {}

    def routes(self) -> tuple[Route, ...]:
        return (
            *super().routes(),
            Route("GET", "/api/me", self.describe_account),
            Route("POST", "/api/pictures", self.upload),
            Route("POST", "/api/releases", self.publish),
            Route("GET", "/api/releases", self.find),
            Route("GET", "/api/releases/([^/]+)/numbers", self.count),
        )

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        if self.valid(asked.bearer, "releases"):
            return None
        return json_answer(401, {"message": "the token is not valid"})

    def describe_account(self, asked: ProviderRequest) -> ProviderAnswer:
        return json_answer(200, self.account)

    def upload(self, asked: ProviderRequest) -> ProviderAnswer:
        name = f"picture-{len(self.pictures) + 1}"
        self.pictures[name] = (asked.body, unquote(asked.headers["x-alt"]))
        return json_answer(201, {"id": name})

    def publish(self, asked: ProviderRequest) -> ProviderAnswer:
        wanted = asked.json
        done = self.done("release", wanted, wanted["reference"])
        return json_answer(201, _describe(done.effect_id))

    def find(self, asked: ProviderRequest) -> ProviderAnswer:
        done = self.ledger.effects(asked.query["reference"])
        return json_answer(200, _describe(done[0].effect_id)) if done else json_answer(404, {})

    def count(self, asked: ProviderRequest, name: str) -> ProviderAnswer:
        return json_answer(200, {"views": 1_200, "clicks": 34, "position": -3})


def _describe(name: str) -> dict[str, str]:
    return {"id": name, "url": f"https://pressroom.example/{name}", "desk": "Business"}
