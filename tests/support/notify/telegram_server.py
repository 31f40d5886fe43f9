"""Telegram's bot API as far as notifications use it, with a ledger of the messages it really showed.

Answers and refusals are those of the documentation: `ok`, `result` with `message_id`, or `description`.
"""

from __future__ import annotations

from typing import Any, Final

from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import (
    ProviderAnswer,
    ProviderRequest,
    ProviderServer,
    Route,
    json_answer,
)

TOKEN: Final = "123456789:AAEmulatedTokenOfABotThatDoesNotExist_-"
CHAT: Final = "987654321"


class Telegram(ProviderServer):
    name = "telegram"

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        super().__init__(ledger, **options)
        self.messages: dict[int, dict[str, Any]] = {}
        """What the chat shows, by message."""

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/bot(.+)/sendMessage", self.send),
            Route("POST", "/bot(.+)/editMessageText", self.edit),
        )

    def refusal(self, status: int) -> Any:
        return {"ok": False, "error_code": status, "description": "Bad Request: refused"}

    def send(self, asked: ProviderRequest, token: str) -> ProviderAnswer:
        if (refused := self._refuse(asked, token)) is not None:
            return refused
        number = len(self.messages) + 1
        self.messages[number] = asked.json
        self.done("send", asked.json)
        return json_answer(200, {"ok": True, "result": {"message_id": number, "text": asked.json["text"]}})

    def edit(self, asked: ProviderRequest, token: str) -> ProviderAnswer:
        if (refused := self._refuse(asked, token)) is not None:
            return refused
        number = asked.json["message_id"]
        if number not in self.messages:
            return _refuse(400, "Bad Request: message to edit not found")
        if self.messages[number]["text"] == asked.json["text"]:
            return _refuse(
                400, "Bad Request: message is not modified: specified new message content is the same"
            )
        self.messages[number] = {**self.messages[number], **asked.json}
        self.done("edit", asked.json)
        return json_answer(200, {"ok": True, "result": {"message_id": number, "text": asked.json["text"]}})

    def _refuse(self, asked: ProviderRequest, token: str) -> ProviderAnswer | None:
        if token != TOKEN:
            return _refuse(401, "Unauthorized")
        return _refuse(400, "Bad Request: chat not found") if asked.json["chat_id"] != CHAT else None


def _refuse(status: int, description: str) -> ProviderAnswer:
    return json_answer(status, {"ok": False, "error_code": status, "description": description})
