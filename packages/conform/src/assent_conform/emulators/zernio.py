"""Emulates Zernio: posts to several accounts with an outcome each, both ways of recognising a
repetition, media, accounts and analytics. The ledger has one effect per account that a post
appeared on.

`POST /emulate` takes any of `script`: `failing` {accountId: errorCategory}, `polls` (reads during
which a post is still publishing), `revoked` [keys], `nested` (409 details under `details`),
`analytics_status`, `sync_status`, `numbers`, `analytics_access`, `limit_reset` (epoch seconds at
which a rate limit ends), `marks` (whether posts tell their metadata).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.kernel.canonical import digest
from assent.kernel.times import iso_time
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.provider_server import ProviderAnswer, ProviderRequest, Route, json_answer
from assent_conform.testing.standalone import Scripted

REQUEST_WINDOW_MS: Final = 5 * 60 * 1000
CONTENT_WINDOW_MS: Final = 24 * 3600 * 1000
KEY: Final = "sk_" + "0123456789abcdef" * 4
PUBLISHED: Final = "published"

ACCOUNTS: Final = (
    ("acc_linkedin", "linkedin", "Acme"),
    ("acc_linkedin_ada", "linkedin", "Ada"),
    ("acc_twitter", "twitter", "@acme"),
)


def zernio_error(status: int, error: str, code: str) -> ProviderAnswer:
    return json_answer(status, {"error": error, "code": code})


NO_POST: Final = zernio_error(404, "Post not found", "post_not_found")


class Zernio(Scripted):
    """zernio.com/api."""

    name = "zernio"
    script = (
        "failing",
        "polls",
        "revoked",
        "nested",
        "analytics_status",
        "sync_status",
        "numbers",
        "analytics_access",
        "limit_reset",
        "marks",
    )

    def __init__(self, ledger: Ledger, **options: Any) -> None:
        super().__init__(ledger, **options)
        self.keys = {KEY}
        self.revoked: list[str] = []
        self.accounts = [
            {
                "_id": each,
                "platform": platform,
                "username": name.lower(),
                "displayName": name,
                "isActive": True,
            }
            for each, platform, name in ACCOUNTS
        ]
        self.failing: dict[str, str] = {}
        self.polls = 0
        self.nested = False
        self.marks = True
        self.analytics_status = 200
        self.sync_status = "synced"
        self.analytics_access = True
        self.numbers: dict[str, Any] = {"impressions": 120, "likes": 7, "comments": 2, "clicks": 11}
        self.limit_reset: int | None = None
        self.posts: dict[str, dict[str, Any]] = {}
        self.uploads: dict[str, bytes] = {}
        self.waiting: dict[str, int] = {}
        self.requests: dict[str, tuple[str, int]] = {}
        self._contents: dict[str, tuple[str, int]] = {}

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/v1/posts", self.create),
            Route("GET", "/v1/posts", self.listing),
            Route("GET", "/v1/posts/([^/]+)", self.read),
            Route("POST", "/v1/posts/([^/]+)/retry", self.retry),
            Route("GET", "/v1/accounts", self.list_accounts),
            Route("GET", "/v1/analytics", self.analytics),
            Route("POST", "/v1/media/presign", self.presign),
            Route("PUT", "/upload/([^/]+)", self.upload, is_open=True),
        )

    def refusal(self, status: int) -> Any:
        return {"error": f"Planned refusal {status}", "code": f"planned_{status}"}

    def on(self, account_id: str) -> list[Any]:
        """Return the posts that appeared on an account, from the ledger."""
        return [each for each in self.happened(PUBLISHED) if each.content["accountId"] == account_id]

    def create(self, asked: ProviderRequest) -> ProviderAnswer:
        wanted = asked.json
        now_ms, request = self.now_ms(), asked.headers.get("x-request-id", "")
        seen = self.requests.get(request)
        if request and seen is not None and now_ms - seen[1] < REQUEST_WINDOW_MS:
            return json_answer(200, {"message": "Already there", "existingPost": self._shown(seen[0])})
        if not wanted.get("content") or not wanted.get("platforms"):
            return zernio_error(400, "content and platforms are required", "invalid_request")
        known = {each["_id"] for each in self.accounts}
        for each in wanted["platforms"]:
            if each.get("accountId") not in known:
                return zernio_error(404, "Account not found", "account_not_found")
            existing = self._contents.get(_content(wanted, each))
            if existing is not None and now_ms - existing[1] < CONTENT_WINDOW_MS:
                return self._duplicate(existing[0], each)
        post_id = f"post_{len(self.posts) + 1}"
        self.posts[post_id] = {
            "_id": post_id,
            "content": wanted["content"],
            "metadata": wanted.get("metadata"),
            "mediaItems": wanted.get("mediaItems", []),
            "createdAt": iso_time(now_ms),
            "platforms": [{**each, "status": "pending"} for each in wanted["platforms"]],
            "reference": (wanted.get("metadata") or {}).get("assentKey"),
        }
        self.requests[request] = (post_id, now_ms)
        self.waiting[post_id] = self.polls
        self._work(post_id)
        return json_answer(201, {"message": "Post created", "post": self._shown(post_id)})

    def read(self, asked: ProviderRequest, post_id: str) -> ProviderAnswer:
        if post_id not in self.posts:
            return NO_POST
        self.waiting[post_id] = self.waiting.get(post_id, 0) - 1
        self._work(post_id)
        return json_answer(200, {"post": self._shown(post_id)})

    def listing(self, asked: ProviderRequest) -> ProviderAnswer:
        limit, number = int(asked.query.get("limit", "20")), int(asked.query.get("page", "1"))
        newest = list(reversed(self.posts))[limit * (number - 1) : limit * number]
        pages = {
            "page": number,
            "limit": limit,
            "total": len(self.posts),
            "pages": -(-len(self.posts) // limit),
        }
        return json_answer(200, {"posts": list(map(self._shown, newest)), "pagination": pages})

    def retry(self, asked: ProviderRequest, post_id: str) -> ProviderAnswer:
        if post_id not in self.posts:
            return NO_POST
        for each in self.posts[post_id]["platforms"]:
            if each["status"] == "failed":
                each["status"] = "pending"
        self._work(post_id)
        return json_answer(200, {"message": "Retrying", "post": self._shown(post_id)})

    def list_accounts(self, asked: ProviderRequest) -> ProviderAnswer:
        return json_answer(200, {"accounts": self.accounts, "hasAnalyticsAccess": self.analytics_access})

    def analytics(self, asked: ProviderRequest) -> ProviderAnswer:
        if not self.analytics_access:
            return zernio_error(403, "Analytics add-on required", "addon_required")
        post_id = asked.query.get("postId", "")
        if post_id not in self.posts:
            return NO_POST
        status = {200: self.sync_status, 202: "pending"}.get(self.analytics_status, "unavailable")
        numbers = self.numbers if self.analytics_status == 200 else {}
        body = {
            "postId": post_id,
            "analytics": {**numbers, "lastUpdated": iso_time(self.now_ms())},
            "syncStatus": status,
        }
        return json_answer(self.analytics_status, body)

    def presign(self, asked: ProviderRequest) -> ProviderAnswer:
        name = f"{len(self.uploads) + 1}-{asked.json['filename']}"
        self.uploads[name] = b""
        address = {"uploadUrl": f"{self.url}/upload/{name}", "publicUrl": f"https://media.example/{name}"}
        return json_answer(200, {**address, "key": name, "type": "image"})

    def upload(self, asked: ProviderRequest, name: str) -> ProviderAnswer:
        if name not in self.uploads or asked.bearer:
            return json_answer(403, {"error": "not a presigned address"})
        self.uploads[name] = asked.body
        return ProviderAnswer(200, b"")

    def _work(self, post_id: str) -> None:
        """Let the platforms process a post."""
        if self.waiting.get(post_id, 0) > 0:
            return
        post = self.posts[post_id]
        for each in post["platforms"]:
            if each["status"] != "pending":
                continue
            category = self.failing.get(each["accountId"])
            if category is not None:
                each |= {"status": "failed", "errorCategory": category, "errorMessage": f"planned {category}"}
                continue
            for name in ("errorCategory", "errorMessage"):
                each.pop(name, None)
            each |= {
                "status": "published",
                "platformPostId": f"{post_id}_{each['accountId']}",
                "platformPostUrl": f"https://{each['platform']}.example/{post_id}/{each['accountId']}",
                "publishedAt": iso_time(self.now_ms()),
            }
            self._contents[_content(post, each)] = (post_id, self.now_ms())
            told = {
                "postId": post_id,
                "platform": each["platform"],
                "accountId": each["accountId"],
                "content": post["content"],
                "mediaItems": post["mediaItems"],
            }
            self.done(PUBLISHED, told, post["reference"])

    def _shown(self, post_id: str) -> dict[str, Any]:
        post = {name: value for name, value in self.posts[post_id].items() if name != "reference"}
        if not self.marks:
            post.pop("metadata", None)
        states = [each["status"] for each in post["platforms"]]
        if self.waiting.get(post_id, 0) > 0:
            return {**post, "status": "publishing"}
        if set(states) == {"published"}:
            return {**post, "status": "published"}
        return {**post, "status": "partial" if "published" in states else "failed"}

    def _duplicate(self, post_id: str, each: dict[str, Any]) -> ProviderAnswer:
        facts = {
            "existingPostId": post_id,
            "accountId": each["accountId"],
            "platform": each["platform"],
        }
        said = {"error": "Duplicate content", "code": "duplicate_content"}
        return json_answer(409, {**said, "details": facts} if self.nested else {**said, **facts})

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        if asked.bearer not in self.keys or asked.bearer in self.revoked:
            return zernio_error(401, f"Invalid API key {asked.bearer}", "unauthorized")
        if self.limit_reset is not None and self.now_ms() < self.limit_reset * 1000:
            headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(self.limit_reset)}
            return json_answer(429, {"error": "Too many requests", "code": "rate_limited"}, headers)
        return None


def _content(post: dict[str, Any], each: dict[str, Any]) -> str:
    media = msgspec.to_builtins(post.get("mediaItems") or [])
    return digest([each["platform"], each["accountId"], post["content"], media])
