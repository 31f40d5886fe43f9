"""A billing API to try the example with: `python billing_api.py` serves it on port 9000.

It knows one customer and recognises a repeated Idempotency-Key.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class BillingApi(ThreadingHTTPServer):
    """The API and everything that it paid, by idempotency key."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.paid: dict[str, dict[str, Any]] = {}
        self.loses_answers = False
        """Whether it pays and then closes the connection without an answer."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: BillingApi

    def do_POST(self) -> None:
        wanted = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if wanted["customer"] != "cus_1":
            return self.answer(404, {"error": f"there is no customer {wanted['customer']}"})
        key = self.headers["idempotency-key"]
        number = len(self.server.paid) + 1
        done = {"id": f"re_{number}", "url": f"{self.server.url}/refunds/re_{number}", **wanted}
        done = self.server.paid.setdefault(key, done)
        if self.server.loses_answers:
            self.close_connection = True
            return None
        return self.answer(201, done)

    def answer(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        sys.stderr.write(f"{format % args}\n")


if __name__ == "__main__":
    BillingApi(9000).serve_forever()
