"""Emulates Bluesky: the AT Protocol calls for posting, as the reference server (`@atproto/pds`)
answers them. The ledger has one effect per written record. A test runs the same script against
both.

`POST /emulate` takes any of `script`: `revoked` (app passwords that are not accepted any more),
`numbers` (what `getPosts` tells).
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any, Final

import msgspec

from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import ProviderAnswer, ProviderRequest, Route, json_answer
from assent_conform.testing.standalone import Scripted

HANDLE: Final = "alice.test"
PASSWORD: Final = "q7wx-m2kd-tr5e-zz3p"  # noqa: S105 - of the emulator
DID: Final = "did:plc:2xbz5te72eqktzicnnglohly"
KEY: Final = f"{HANDLE}:{PASSWORD}"
OTHERS: Final = {"bob.test": "did:plc:bobbobbobbobbobbobbobbob"}

POST: Final = "app.bsky.feed.post"
RECORD: Final = "record"
DELETION: Final = "deletion"
TID: Final = re.compile(r"[234567abcdefghij][234567a-z]{12}")
MOST_BLOB_BYTES: Final = 1_000_000

_GRAPHEME: Final = re.compile(
    r"\r\n|[\U0001f1e6-\U0001f1ff]{2}"
    r"|.(?:[\u0300-\u036f\u20e3\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d.)*",
    re.DOTALL,
)
"""A line end, a flag, or a character with its marks, its skin tone and what is joined to it."""


class Bluesky(Scripted):
    """A personal data server with one account."""

    name = "bluesky"
    script = ("revoked", "numbers")

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        super().__init__(ledger, **options)
        self.revoked: list[str] = []
        self.numbers: dict[str, int] | None = {
            "likeCount": 5,
            "repostCount": 2,
            "replyCount": 1,
            "quoteCount": 0,
        }
        self.records: dict[str, dict[str, Any]] = {}
        self.blobs: dict[str, tuple[str, bytes]] = {}
        self._sessions: set[str] = set()

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/xrpc/com.atproto.server.createSession", self.sign_in, is_open=True),
            Route("GET", "/xrpc/com.atproto.identity.resolveHandle", self.resolve, is_open=True),
            Route("POST", "/xrpc/com.atproto.repo.uploadBlob", self.upload),
            Route("POST", "/xrpc/com.atproto.repo.createRecord", self.create),
            Route("POST", "/xrpc/com.atproto.repo.deleteRecord", self.delete),
            Route("GET", "/xrpc/com.atproto.repo.getRecord", self.read, is_open=True),
            Route("GET", "/xrpc/app.bsky.feed.getPosts", self.posts),
        )

    def refusal(self, status: int) -> Any:
        return {
            "error": {429: "RateLimitExceeded"}.get(status, "InvalidRequest"),
            "message": f"Planned {status}",
        }

    def sign_in(self, asked: ProviderRequest) -> ProviderAnswer:
        given = asked.json
        known = given.get("identifier") in (HANDLE, DID) and given.get("password") == PASSWORD
        if not known or PASSWORD in self.revoked:
            return _refuse(401, "AuthenticationRequired", "Invalid identifier or password")
        token = f"session-{len(self._sessions) + 1}"
        self._sessions.add(token)
        return json_answer(
            200, {"did": DID, "handle": HANDLE, "accessJwt": token, "refreshJwt": f"r-{token}"}
        )

    def resolve(self, asked: ProviderRequest) -> ProviderAnswer:
        did = {HANDLE: DID, **OTHERS}.get(asked.query.get("handle", ""))
        if did is None:
            return _refuse(400, "InvalidRequest", "Unable to resolve handle")
        return json_answer(200, {"did": did})

    def upload(self, asked: ProviderRequest) -> ProviderAnswer:
        kind = asked.headers.get("content-type", "")
        link = _make_cid("bafkrei", asked.body)
        self.blobs[link] = (kind, asked.body)
        blob = {"$type": "blob", "ref": {"$link": link}, "mimeType": kind, "size": len(asked.body)}
        return json_answer(200, {"blob": blob})

    def create(self, asked: ProviderRequest) -> ProviderAnswer:
        given = asked.json
        key, record = given.get("rkey", ""), given["record"]
        if TID.fullmatch(key) is None:
            return _refuse(
                400, "InvalidRequest", f'Invalid record key for {POST}: Invalid TID string (got "{key}") at $'
            )
        if (problem := self._problem(record)) is not None:
            return _refuse(400, "InvalidRequest", f"Invalid {POST} record: {problem}")
        if key in self.records:
            # The reference server's answer to a key that is taken.
            return _refuse(500, "InternalServerError", "Internal Server Error")
        self.records[key] = record
        self.done(RECORD, {"rkey": key, "record": record}, reference=key)
        return json_answer(200, {**self._named(key), "validationStatus": "valid"})

    def read(self, asked: ProviderRequest) -> ProviderAnswer:
        key = asked.query.get("rkey", "")
        if key not in self.records or asked.query.get("repo") != DID:
            uri = f"at://{asked.query.get('repo')}/{POST}/{key}"
            return _refuse(400, "RecordNotFound", f"Could not locate record: {uri}")
        return json_answer(200, {**self._named(key), "value": self.records[key]})

    def delete(self, asked: ProviderRequest) -> ProviderAnswer:
        """Delete a record, or ensure that it does not exist."""
        key = asked.json.get("rkey", "")
        if self.records.pop(key, None) is not None:
            self.done(DELETION, {"rkey": key}, reference=key)
        return json_answer(200, {})

    def posts(self, asked: ProviderRequest) -> ProviderAnswer:
        key = asked.query.get("uris", "").rpartition("/")[2]
        if key not in self.records or self.numbers is None:
            return json_answer(200, {"posts": []})
        return json_answer(
            200, {"posts": [{**self._named(key), "record": self.records[key], **self.numbers}]}
        )

    def _problem(self, record: dict[str, Any]) -> str | None:
        """Return a violation of the post lexicon, or None."""
        text = record.get("text")
        if record.get("$type") != POST or not isinstance(text, str) or "createdAt" not in record:
            return "a required property is missing at $.record"
        if (count := count_graphemes(text)) > 300:
            return f"grapheme too big (maximum 300, got {count}) at $.record.text"
        for facet in record.get("facets", []):
            index = facet["index"]
            if not 0 <= index["byteStart"] < index["byteEnd"] <= len(text.encode()):
                return "a facet is outside of the text at $.record.facets"
        for image in record.get("embed", {}).get("images", []):
            kind, content = self.blobs.get(image["image"]["ref"]["$link"], ("", b""))
            if not kind.startswith("image/") or len(content) > MOST_BLOB_BYTES or "alt" not in image:
                return "an image is missing or too large at $.record.embed"
        return None

    def _named(self, key: str) -> dict[str, str]:
        cid = _make_cid("bafyrei", msgspec.json.encode(self.records[key]))
        return {"uri": f"at://{DID}/{POST}/{key}", "cid": cid}

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        if not asked.bearer:
            return _refuse(401, "AuthMissing", "Authentication Required")
        if asked.bearer not in self._sessions:
            return _refuse(400, "InvalidToken", "Token could not be verified")
        return None


def count_graphemes(text: str) -> int:
    """Count user-perceived characters, apart from how the connector counts them: it is judged by this."""
    return len(_GRAPHEME.findall(text))


def _make_cid(prefix: str, content: bytes) -> str:
    return prefix + base64.b32encode(hashlib.sha256(content).digest()).decode().lower().rstrip("=")


def _refuse(status: int, error: str, text: str) -> ProviderAnswer:
    return json_answer(status, {"error": error, "message": text})
