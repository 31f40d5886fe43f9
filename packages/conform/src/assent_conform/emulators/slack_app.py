"""Slack as an app with buttons uses it: messages, forms, answers, and people who tap.

What it delivers is signed as Slack signs it (v0). A tap can be delivered twice, later, with another time or with
another secret: `SignedTap` is one delivery as bytes. Limits are those of the documentation: 50 blocks, 3,000 characters
in a section, 150 in a header, 2,000 in the value of a button.
"""

from __future__ import annotations

import hmac
import json
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

from assent.kernel.structs import Record
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import (
    ProviderAnswer,
    ProviderRequest,
    ProviderServer,
    Route,
    json_answer,
)

TOKEN: Final = "xoxb-111111111111-emulatedtoken"  # noqa: S105 - the emulator's own
SECRET: Final = "8f742231b10e8888abcd99yyyzzz85a5"  # noqa: S105 - the emulator's own
CHANNEL: Final = "C0123ABCD"
TEAM: Final = "T0001"
ADDRESS: Final = f"{TOKEN} {SECRET} {CHANNEL}"
MOST_BLOCKS: Final = 50
MOST_CHARS: Final = {"section": 3_000, "header": 150}


class SignedTap(Record):
    """One delivery: what is posted to the server."""

    body: bytes
    headers: dict[str, str]


def sign_delivery(fields: dict[str, str], at_seconds: int, secret: str = SECRET) -> SignedTap:
    """Return a delivery as Slack signs it."""
    body = urlencode(fields).encode()
    made = hmac.digest(secret.encode(), f"v0:{at_seconds}:".encode() + body, "sha256").hex()
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": str(at_seconds),
        "X-Slack-Signature": f"v0={made}",
    }
    return SignedTap(body, headers)


class SlackApp(ProviderServer):
    name = "slack-app"

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        super().__init__(ledger, **options)
        self.messages: dict[str, dict[str, Any]] = {}
        """What the channel shows, by the time of each message."""
        self.modals: list[dict[str, Any]] = []
        self.told: list[str] = []
        """What single people were told."""
        self._taps = 0

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/api/chat.postMessage", self.post),
            Route("POST", "/api/chat.update", self.update),
            Route("POST", "/api/conversations.history", self.history),
            Route("POST", "/api/views.open", self.open_view),
            Route("POST", "/answers/(.+)", self.tell, is_open=True),
        )

    def refusal(self, status: int) -> Any:
        return {"ok": False, "error": "ratelimited" if status == 429 else "internal_error"}

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        return None if asked.bearer == TOKEN else json_answer(200, {"ok": False, "error": "invalid_auth"})

    def post(self, asked: ProviderRequest) -> ProviderAnswer:
        return self._show(asked, "post", f"1790000000.{len(self.messages):06}")

    def update(self, asked: ProviderRequest) -> ProviderAnswer:
        if (at := asked.json.get("ts", "")) not in self.messages:
            return json_answer(200, {"ok": False, "error": "message_not_found"})
        return self._show(asked, "update", at)

    def _show(self, asked: ProviderRequest, what: str, at: str) -> ProviderAnswer:
        if (wrong := _find_wrong(asked.json)) is not None:
            return wrong
        self.messages[at] = asked.json
        self.done(what, asked.json)
        return json_answer(200, {"ok": True, "channel": CHANNEL, "ts": at})

    def history(self, asked: ProviderRequest) -> ProviderAnswer:
        most = int(parse_qs(asked.body.decode())["limit"][0])
        newest = list(self.messages.items())[-most:]
        listed = [{"ts": at, "metadata": each.get("metadata")} for at, each in reversed(newest)]
        return json_answer(200, {"ok": True, "messages": listed})

    def open_view(self, asked: ProviderRequest) -> ProviderAnswer:
        self.modals.append(asked.json["view"])
        return json_answer(200, {"ok": True})

    def tell(self, asked: ProviderRequest, _: str) -> ProviderAnswer:
        self.told.append(asked.json["text"])
        return json_answer(200, {"ok": True})

    # People

    def message_of(self, run_id: str) -> dict[str, Any]:
        """Return the newest message of a run."""
        shown = [each for each in self.messages.values() if _run_of(each) == run_id]
        return shown[-1]

    def button(self, message: dict[str, Any], name: str) -> dict[str, Any] | None:
        """Return a button of a message; None if it has none of that name."""
        elements = (each for block in message["blocks"] for each in block.get("elements", ()))
        return next((each for each in elements if each["action_id"] == name), None)

    def tap(
        self, button: dict[str, Any], user: str, now_ms: int, *, late_seconds: int = 0, secret: str = SECRET
    ) -> SignedTap:
        """Return the delivery of a tap. `late_seconds` makes its time older, another secret forges it."""
        self._taps += 1
        payload = {
            "type": "block_actions",
            "user": {"id": user, "team_id": TEAM},
            "team": {"id": TEAM},
            "trigger_id": f"trigger-{self._taps}",
            "response_url": f"{self.url}/answers/{self._taps}",
            "container": {"channel_id": CHANNEL},
            "actions": [{"action_id": button["action_id"], "value": button.get("value", "")}],
        }
        return sign_delivery({"payload": json.dumps(payload)}, now_ms // 1000 - late_seconds, secret)

    def submit(self, text: str, user: str, now_ms: int) -> SignedTap:
        """Return the delivery of the newest form, filled in."""
        values = {"text": {"text": {"type": "plain_text_input", "value": text}}}
        view = {**self.modals[-1], "state": {"values": values}}
        payload = {"type": "view_submission", "user": {"id": user, "team_id": TEAM}, "view": view}
        return sign_delivery({"payload": json.dumps(payload)}, now_ms // 1000)

    def type_command(self, text: str, user: str, now_ms: int) -> SignedTap:
        fields = {"command": "/assent", "text": text, "user_id": user, "team_id": TEAM}
        return sign_delivery(fields, now_ms // 1000)


def _run_of(message: dict[str, Any]) -> str:
    return str(message.get("metadata", {}).get("event_payload", {}).get("run", ""))


def _find_wrong(message: dict[str, Any]) -> ProviderAnswer | None:
    """Return Slack's refusal of a message that breaks a limit."""
    blocks = message.get("blocks", [])
    fits = len(blocks) <= MOST_BLOCKS and all(
        0 < len(each["text"]["text"]) <= MOST_CHARS[each["type"]]
        for each in blocks
        if each["type"] in MOST_CHARS
    )
    values = (each.get("value", "") for block in blocks for each in block.get("elements", ()))
    if message.get("channel") != CHANNEL:
        return json_answer(200, {"ok": False, "error": "channel_not_found"})
    if not fits or any(len(value) > 2_000 for value in values):
        return json_answer(200, {"ok": False, "error": "invalid_blocks"})
    return None
