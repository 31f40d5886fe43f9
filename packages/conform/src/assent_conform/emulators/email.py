"""Emulates Resend: e-mails unique by key for a day, its three answers to a repeated key, read-back,
metrics and domains. The ledger has one effect per e-mail that was sent.

`POST /emulate` takes any of `script`: `last_event`, `numbers`, `metrics_status`, `revoked` [keys],
`send_only` [keys], `domains` (verified ones), `quota` (an error name), `busy` (how many answers say
that the key is still in use).
"""

from __future__ import annotations

import uuid
from typing import Any, Final

from assent.kernel.canonical import digest
from assent.kernel.times import iso_time
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import ProviderAnswer, ProviderRequest, Route, json_answer
from assent_conform.testing.standalone import Scripted

KEY_WINDOW_MS: Final = 24 * 3600 * 1000
KEY: Final = "re_0123456789abcdefghijABCDEFGHIJ"
SENT: Final = "sent"
MAX_KEY_CHARS: Final = 256
MAX_RECIPIENTS: Final = 50

NAMES: Final = {
    400: "validation_error",
    401: "missing_api_key",
    403: "validation_error",
    404: "not_found",
    422: "validation_error",
    429: "rate_limit_exceeded",
}


def resend_error(status: int, name: str, message: str) -> ProviderAnswer:
    return json_answer(status, {"statusCode": status, "name": name, "message": message})


class Resend(Scripted):
    """api.resend.com."""

    name = "resend"
    script = (
        "last_event",
        "numbers",
        "metrics_status",
        "revoked",
        "send_only",
        "domains",
        "quota",
        "busy",
    )

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        super().__init__(ledger, **options)
        self.keys = {KEY}
        self.revoked: list[str] = []
        self.send_only: list[str] = []
        self.domains: list[str] = ["example.org"]
        self.last_event = "delivered"
        self.numbers: dict[str, Any] = {"sent": 1, "delivered": 1, "opened": 1, "clicked": 0}
        self.metrics_status = 200
        self.quota: str | None = None
        self.busy = 0
        self.mails: dict[str, dict[str, Any]] = {}
        self.used: dict[str, tuple[str, str, int]] = {}

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/emails", self.send),
            Route("GET", "/emails/metrics", self.metrics),
            Route("GET", "/emails/([^/]+)", self.read),
            Route("GET", "/domains", self.list_domains),
        )

    def refusal(self, status: int) -> Any:
        name = NAMES.get(status, "application_error")
        return {"statusCode": status, "name": name, "message": f"Planned refusal {status}."}

    def send(self, asked: ProviderRequest) -> ProviderAnswer:
        key = asked.headers.get("idempotency-key")
        if key is not None and not 1 <= len(key) <= MAX_KEY_CHARS:
            return resend_error(400, "invalid_idempotency_key", "The key must be 1 to 256 characters.")
        wanted, now_ms = asked.json, self.now_ms()
        body_digest = digest(wanted)
        used = self.used.get(key) if key is not None else None
        if used is not None and now_ms - used[2] < KEY_WINDOW_MS:
            if self.busy > 0:
                self.busy -= 1
                return resend_error(
                    409, "concurrent_idempotent_requests", "The original request is in progress."
                )
            if used[0] != body_digest:
                return resend_error(409, "invalid_idempotent_request", "The key was used with another body.")
            return json_answer(200, {"id": used[1]})
        if (invalid := self._invalid(wanted)) is not None:
            return invalid
        mail_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"mail {len(self.mails) + 1}"))
        self.mails[mail_id] = {**wanted, "created_at": iso_time(now_ms)}
        if key is not None:
            self.used[key] = (body_digest, mail_id, now_ms)
        self.done(SENT, {"id": mail_id, **wanted}, key)
        return json_answer(200, {"id": mail_id})

    def read(self, asked: ProviderRequest, mail_id: str) -> ProviderAnswer:
        if mail_id not in self.mails:
            return resend_error(404, "not_found", "Email not found")
        return json_answer(
            200, {"object": "email", "id": mail_id, **self.mails[mail_id], "last_event": self.last_event}
        )

    def metrics(self, asked: ProviderRequest) -> ProviderAnswer:
        if self.metrics_status != 200:
            return resend_error(self.metrics_status, "not_found", "No metrics.")
        totals = self.numbers if asked.query.get("email_id") in self.mails else {}
        return json_answer(200, {"object": "metrics", "totals": totals, "data": []})

    def list_domains(self, asked: ProviderRequest) -> ProviderAnswer:
        found = [{"id": f"dom_{name}", "name": name, "status": "verified"} for name in self.domains]
        return json_answer(200, {"object": "list", "data": found})

    def _invalid(self, wanted: dict[str, Any]) -> ProviderAnswer | None:
        missing = [name for name in ("from", "to", "subject") if not wanted.get(name)]
        if missing:
            return resend_error(422, "validation_error", f"Missing `{missing[0]}` field.")
        to = [wanted["to"]] if isinstance(wanted["to"], str) else wanted["to"]
        if max(len(to), len(wanted.get("bcc") or ())) > MAX_RECIPIENTS:
            return resend_error(422, "validation_error", "Too many recipients.")
        domain = wanted["from"].rstrip(">").rpartition("@")[2]
        if domain not in (*self.domains, "resend.dev"):
            return resend_error(403, "validation_error", f"The {domain} domain is not verified.")
        return None

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        if not asked.bearer:
            return resend_error(401, "missing_api_key", "Missing API key.")
        if asked.bearer not in {*self.keys, *self.send_only} or asked.bearer in self.revoked:
            return resend_error(403, "invalid_api_key", f"API key {asked.bearer} is invalid")
        if self.quota is not None and asked.method == "POST":
            return resend_error(429, self.quota, "You have reached your quota.")
        if asked.method == "GET" and asked.bearer in self.send_only:
            return resend_error(401, "restricted_api_key", "This key can only send e-mails")
        return None
