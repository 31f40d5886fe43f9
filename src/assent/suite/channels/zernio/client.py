"""Sends requests to Zernio and parses posts, accounts, uploads and numbers.

Maps refused requests to outcomes; a rejected key expires the connection. Knows nothing of actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

import msgspec

from assent.net.http_outcomes import failure, not_now, retry_after
from assent.platform.connections import (
    Access,
    Account,
    Connection,
    Deadline,
    Exchanged,
    KeyAccess,
    NotSent,
    OutcomeUnknown,
    Picture,
    Verified,
    exchange,
)
from assent.platform.measurement import select_credible
from assent.platform.storage import Clock
from assent.platform.values import parse_time

PAGE: Final = 100
MAX_PAGES: Final = 30
"""How far a search for one of ours goes back at most: 3,000 posts."""


class ZernioClient:
    """Talks to one Zernio server, with the key of any workspace."""

    def __init__(self, url: str, access: KeyAccess, clock: Clock) -> None:
        self._url = url.rstrip("/")
        # Pictures use https, unless the server's operator has chosen a Zernio without it.
        self._scheme = ("https://",) if self._url.startswith("https://") else ("https://", "http://")
        self._access = access
        self._clock = clock

    async def ask(self, access: Access, method: str, path: str, deadline: Deadline, **what: Any) -> Exchanged:
        answer = await exchange(
            method,
            self._url + path,
            token=self._access.key(access),
            timeout_seconds=deadline.left(),
            **what,
        )
        if answer.status == 401:
            raise await self._access.ended(access, words(answer))
        return answer

    async def verified(self, key: str, timeout_seconds: float) -> Verified:
        """Check a key. Raises `NotSent` if Zernio does not accept it."""
        answer = await exchange("GET", f"{self._url}/v1/accounts", token=key, timeout_seconds=timeout_seconds)
        if not answer.ok or not isinstance(answer.at("accounts"), list):
            raise self._access.not_accepted(answer)
        settings = {"analytics": bool(answer.at("hasAnalyticsAccess"))}
        return Verified(label="Zernio", accounts=_accounts(answer.value["accounts"], ()), settings=settings)

    async def accounts(self, access: Access, deadline: Deadline) -> tuple[Account, ...] | None:
        answer = await self.ask(access, "GET", "/v1/accounts", deadline)
        if not answer.ok or not isinstance(answer.at("accounts"), list):
            return None
        return _accounts(answer.value["accounts"], access.connection.accounts)

    async def post(self, access: Access, post_id: str, deadline: Deadline) -> dict[str, Any]:
        """Return an existing post. If it cannot be read, the outcome is unknown."""
        try:
            answer = await self.ask(access, "GET", f"/v1/posts/{quote(post_id, safe='')}", deadline)
        except (NotSent, OutcomeUnknown) as unread:
            raise OutcomeUnknown(f"post {post_id} cannot be read: {unread}", reference=post_id) from unread
        post = answer.at("post") or answer.value
        if not answer.ok or not isinstance(post, dict):
            raise OutcomeUnknown(f"post {post_id} cannot be read: {words(answer)}", reference=post_id)
        return {"_id": post_id, **post}

    async def find(
        self, access: Access, is_wanted: Callable[[dict[str, Any]], bool], since_ms: int, deadline: Deadline
    ) -> dict[str, Any] | None:
        """Search the posts, newest first, for the wanted one, back to a time or for `MAX_PAGES`."""
        for number in range(1, MAX_PAGES + 1):
            query = {"limit": str(PAGE), "page": str(number)}
            answer = await self.ask(access, "GET", "/v1/posts", deadline, query=query)
            listed = answer.at("posts") if answer.ok else None
            posts = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
            if (found := next(filter(is_wanted, posts), None)) is not None:
                return found
            if len(posts) < PAGE or all(_is_before(post, since_ms) for post in posts):
                return None
        return None

    async def try_again(self, access: Access, post_id: str, deadline: Deadline) -> bool:
        path = f"/v1/posts/{quote(post_id, safe='')}/retry"
        return (await self.ask(access, "POST", path, deadline)).ok

    async def upload(self, access: Access, picture: Picture, number: int, deadline: Deadline) -> str:
        """Upload a picture and return its URL. Publishes nothing, so any failure means not sent."""
        kind = picture.content_type
        wanted = {
            "filename": f"picture-{number}.{kind.rpartition('/')[2]}",
            "contentType": kind,
            "size": len(picture.content),
        }
        try:
            place = await self.ask(access, "POST", "/v1/media/presign", deadline, body=wanted)
            upload, public = place.at("uploadUrl"), place.at("publicUrl")
            if not place.ok or not isinstance(upload, str) or not isinstance(public, str):
                raise self.failed(place)
            if not upload.startswith(self._scheme):
                raise OutcomeUnknown("the upload address is invalid")
            put = await exchange(
                "PUT",
                upload,
                content=picture.content,
                headers={"content-type": kind},
                timeout_seconds=deadline.left(),
            )
            if not put.ok:
                raise self.failed(put)
        except OutcomeUnknown as unknown:
            raise not_now(f"a picture could not be uploaded: {unknown}") from unknown
        return public

    def failed(self, answer: Exchanged) -> NotSent | OutcomeUnknown:
        return failure(answer.status, words(answer), retry_after(answer.headers, self._clock.now_ms()))


def _is_before(post: dict[str, Any], since_ms: int) -> bool:
    made_ms = parse_time(str(post.get("createdAt") or ""))
    return made_ms is not None and made_ms < since_ms


def words(answer: Exchanged) -> str:
    said = answer.at("error") or answer.at("message")
    return said if isinstance(said, str) else ""


def read_numbers(
    answer: Exchanged, connection: Connection
) -> tuple[dict[str, int | float], tuple[str, ...]] | str:
    """Return the numbers of a post and the names of invalid values, or why there are none
    (E100)."""
    if answer.status == 202 or answer.at("syncStatus") == "pending":
        return "Zernio is still collecting the numbers"
    if answer.status == 424 or answer.at("syncStatus") == "unavailable":
        return "no platform gave Zernio its numbers"
    found = answer.at("analytics")
    numbers, left_out = select_credible(found if isinstance(found, dict) else {})
    if answer.ok and (numbers or left_out):
        return numbers, left_out
    if answer.status in (402, 403) or not connection.settings.get("analytics", True):
        return "this Zernio account has no analytics add-on"
    return f"Zernio has no numbers for it (HTTP {answer.status})"


def _accounts(raw: list[Any], known: tuple[Account, ...]) -> tuple[Account, ...]:
    """Parse Zernio's accounts. Keeps the chosen defaults; the first active account of a platform
    becomes its default."""
    before = {each.id: each for each in known}
    found: list[Account] = []
    for each in raw:
        if not isinstance(each, dict) or not isinstance(each.get("_id"), str):
            continue
        platform = str(each.get("platform") or "")
        name = str(each.get("displayName") or each.get("username") or each["_id"])
        active = each.get("isActive") is not False
        first = active and not any(a.platform == platform and a.default for a in (*found, *known))
        old = before.get(each["_id"], Account(each["_id"], platform, name, default=first))
        found.append(msgspec.structs.replace(old, platform=platform, name=name, active=active))
    return tuple(found)
