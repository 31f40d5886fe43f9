"""Emulates a Slack incoming webhook: a secret URL that accepts a text and answers with a word.

`POST /emulate` takes any of `script`: `gone` (the webhook was removed), `archived` (its channel
was).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import ProviderAnswer, ProviderRequest, Route
from assent_conform.testing.standalone import Scripted

PATH: Final = "/services/T00000001/B00000001/abcdefghijklmnopqrstuvwx"
MESSAGE: Final = "message"


class Slack(Scripted):
    """A webhook of one channel. It has no idempotency: every accepted message is posted."""

    name = "slack"
    script = ("gone", "archived")

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        super().__init__(ledger, **options)
        self.gone = False
        self.archived = False

    @property
    def hook(self) -> str:
        return self.url + PATH

    def routes(self) -> tuple[Route, ...]:
        return (Route("POST", "/services/(.+)", self.post),)

    def refusal(self, status: int) -> Any:
        return {400: "invalid_payload", 403: "action_prohibited", 404: "channel_not_found"}.get(
            status, "error"
        )

    def post(self, asked: ProviderRequest, hook: str) -> ProviderAnswer:
        if self.gone or f"/services/{hook}" != PATH:
            return _answer(404, "no_service")
        if self.archived:
            return _answer(410, "channel_is_archived")
        try:
            text = asked.json["text"]
        except (msgspec.DecodeError, KeyError, TypeError):
            return _answer(400, "invalid_payload")
        if not text:
            return _answer(400, "no_text")
        self.done(MESSAGE, {"text": text})
        return _answer(200, "ok")


def _answer(status: int, word: str) -> ProviderAnswer:
    return ProviderAnswer(status, word.encode(), {"Content-Type": "text/html"})
