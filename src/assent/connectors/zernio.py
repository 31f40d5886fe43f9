"""`zernio`: approved posts go out to the accounts that a workspace has connected at Zernio.

Zernio recognises a repetition twice: for five minutes by the id of the request, and for a day by the content. Both
answer with the post that is there, which is read and judged like one that was just made. After the five minutes nothing
is sent again by itself; the posts are searched for ours instead. What exactly a post says is in
`assent.connectors.zernio_posts`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec

from assent.connectors.approved import action_of
from assent.connectors.http_outcomes import failure, retry_after
from assent.connectors.json_http import Exchanged, exchange
from assent.connectors.key_access import Deadline, KeyAccess
from assent.connectors.zernio_posts import (
    PLATFORMS,
    account_ids,
    is_ours,
    judged,
    parts_of,
    request_body,
    request_id,
)
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MINUTE_MS
from assent.kernel.refusals import Reason
from assent.lifecycle.connection import Access, Account, Connection, Verified
from assent.lifecycle.gate import ApprovedAction
from assent.lifecycle.preflight import Readiness
from assent.lifecycle.records import Action, Effect
from assent.ports import (
    REFERENCE,
    Clock,
    Connections,
    Delivered,
    Delivery,
    NotSent,
    OutcomeUnknown,
    PicturesOf,
    Reading,
)

WINDOW_MS: Final = 5 * MINUTE_MS
LOOK_EVERY_SECONDS: Final = 0.5
SEARCHED: Final = "100"


class ZernioConnector:
    """Publishes by Zernio's interface."""

    id = "zernio"
    delivery = Delivery("native_key", WINDOW_MS, searches=True)

    def __init__(self, url: str, connections: Connections, pictures_of: PicturesOf, clock: Clock) -> None:
        self._url = url.rstrip("/")
        self._access = KeyAccess(self.id, "Zernio", connections)
        self._pictures_of = pictures_of
        self._clock = clock

    # What is known without asking anybody.

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return await self._access.readiness(workspace_id)

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        connection = await self._access.connection(workspace_id)
        if connection is None:
            return msgspec.structs.replace(effect, target=None)
        if account_ids(effect) and not _missing(connection, effect):
            return effect
        platform = PLATFORMS.get(effect.channel, effect.channel)
        accounts = connection.accounts_on(platform)
        target = {
            "accountId": ",".join(each.id for each in accounts),
            "platform": platform,
            "name": ", ".join(each.name for each in accounts),
        }
        return msgspec.structs.replace(effect, target=target if accounts else None)

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        connection = await self._access.connection(workspace_id)
        if connection is None:
            return await self._access.readiness(workspace_id)
        missing = _missing(connection, effect)
        if account_ids(effect) and not missing:
            return Readiness(ready=True)
        platform = PLATFORMS.get(effect.channel, effect.channel)
        if connection.accounts_on(platform):
            hint = "An account can be named now. Call chieflab_retry_blocked_action; the action is approved again then."
        else:
            hint = (
                f"No {platform} account can be used at Zernio. Connect it (again) at Zernio, then call "
                "chieflab_retry_blocked_action."
            )
        return Readiness(ready=False, blocker=Reason.MISSING_CONNECTOR.value, fix_hint=hint)

    # What is done.

    async def perform(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered:
        action = action_of(approved)
        deadline = Deadline(timeout_seconds)
        access = await self._access.opened(action.workspace_id)
        if not account_ids(action.effect) or _missing(access.connection, action.effect):
            raise NotSent(
                Reason.MISSING_CONNECTOR, "the account it is for is not connected any more", curable=True
            )
        media = await self._uploaded(access, action, deadline)
        answer = await self._ask(
            access,
            "POST",
            "/v1/posts",
            deadline,
            body=request_body(action, media),
            headers={"x-request-id": request_id(action)},
        )
        if answer.status == 409:
            post, found = await self._existing(access, action, answer, deadline), True
        elif answer.ok:
            found = isinstance(answer.at("existingPost"), dict)
            post = answer.at("existingPost") if found else answer.at("post")
        else:
            raise self._failed(answer)
        if not isinstance(post, dict):
            raise OutcomeUnknown("a success that cannot be read")
        return await self._settled(access, action, post, deadline, again=found)

    async def look_up(self, approved: ApprovedAction, timeout_seconds: float) -> Delivered | None:
        action = action_of(approved)
        deadline = Deadline(timeout_seconds)
        access = await self._access.opened(action.workspace_id)
        known = action.metadata.get(REFERENCE)
        if isinstance(known, str):
            post = await self._post(access, known, deadline)
        else:
            post = await self._search(access, action, deadline)
        return await self._settled(access, action, post, deadline, again=False)

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        deadline = Deadline(timeout_seconds)
        access = await self._access.opened(action.workspace_id)
        answer = await self._ask(
            access, "GET", "/v1/analytics", deadline, query={"postId": action.external_id or ""}
        )
        numbers = answer.at("analytics")
        metrics = {
            name: value
            for name, value in (numbers if isinstance(numbers, dict) else {}).items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        reason = _no_numbers(answer, access.connection) if not metrics or answer.status != 200 else None
        return Reading(
            source=self.id,
            channel=action.effect.channel,
            status="ok" if reason is None else "unavailable",
            metrics=metrics if reason is None else {},
            reason=reason,
        )

    # A key and its accounts.

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        answer = await exchange("GET", f"{self._url}/v1/accounts", token=key, timeout_seconds=timeout_seconds)
        if not answer.ok or not isinstance(answer.at("accounts"), list):
            raise self._access.not_accepted(answer)
        accounts = _accounts(answer.value["accounts"], ())
        settings = {"analytics": bool(answer.at("hasAnalyticsAccess"))}
        return Verified(label="Zernio", accounts=accounts, settings=settings)

    async def look_around(self, workspace_id: WorkspaceId, timeout_seconds: float) -> None:
        if await self._access.connection(workspace_id) is None:
            return
        try:
            access = await self._access.opened(workspace_id)
            answer = await self._ask(access, "GET", "/v1/accounts", Deadline(timeout_seconds))
        except (NotSent, OutcomeUnknown):
            return
        if answer.ok and isinstance(answer.at("accounts"), list):
            accounts = _accounts(answer.value["accounts"], access.connection.accounts)
            await self._access.update_accounts(access, accounts, "asked the provider again")

    # Steps.

    async def _uploaded(
        self, access: Access, action: Action, deadline: Deadline
    ) -> tuple[dict[str, str], ...]:
        """The pictures where Zernio can fetch them. Nothing is published by this, so whatever breaks is not sent."""
        if not action.effect.media:
            return ()
        linked = tuple({"type": m.kind, "url": m.url} for m in action.effect.media if not m.digest)
        uploaded = []
        try:
            for number, picture in enumerate(await self._pictures_of(action), start=1):
                kind = picture.content_type
                wanted = {
                    "filename": f"picture-{number}.{kind.rpartition('/')[2]}",
                    "contentType": kind,
                    "size": len(picture.content),
                }
                place = await self._ask(access, "POST", "/v1/media/presign", deadline, body=wanted)
                upload, public = place.at("uploadUrl"), place.at("publicUrl")
                if not place.ok or not isinstance(upload, str) or not isinstance(public, str):
                    raise self._failed(place)
                put = await exchange(
                    "PUT",
                    upload,
                    content=picture.content,
                    headers={"content-type": kind},
                    timeout_seconds=deadline.left(),
                )
                if not put.ok:
                    raise self._failed(put)
                uploaded.append({"type": "image", "url": public})
        except OutcomeUnknown as unknown:
            raise NotSent(
                Reason.CONNECTOR_FAILED, f"a picture could not be uploaded: {unknown}", curable=True
            ) from unknown
        return (*uploaded, *linked)

    async def _existing(
        self, access: Access, action: Action, answer: Exchanged, deadline: Deadline
    ) -> dict[str, Any]:
        """The post that Zernio takes for the same, once it has been looked at and is ours."""
        existing = answer.at("existingPostId") or answer.at("details", "existingPostId")
        if not isinstance(existing, str):
            raise OutcomeUnknown(f"HTTP 409 without the post that is there already: {_words(answer)}")
        post = await self._post(access, existing, deadline)
        if not is_ours(post, action):
            raise NotSent(
                Reason.CONNECTOR_FAILED,
                f"Zernio has published the same text to this account within a day (post {existing}), so it refuses to "
                "publish it again. Change the text and stage it anew.",
                curable=False,
            )
        return post

    async def _post(self, access: Access, post_id: str, deadline: Deadline) -> dict[str, Any]:
        answer = await self._ask(access, "GET", f"/v1/posts/{_segment(post_id)}", deadline)
        post = answer.at("post") or answer.value
        if not answer.ok or not isinstance(post, dict):
            raise OutcomeUnknown(f"post {post_id} cannot be read: {_words(answer)}", reference=post_id)
        return {"_id": post_id, **post}

    async def _search(self, access: Access, action: Action, deadline: Deadline) -> dict[str, Any]:
        answer = await self._ask(access, "GET", "/v1/posts", deadline, query={"limit": SEARCHED})
        posts = answer.at("posts")
        for post in posts if answer.ok and isinstance(posts, list) else ():
            if isinstance(post, dict) and is_ours(post, action):
                return post
        raise OutcomeUnknown("no post of this action was found, which does not prove that there is none")

    async def _settled(
        self, access: Access, action: Action, post: dict[str, Any], deadline: Deadline, *, again: bool
    ) -> Delivered:
        """Wait until the platforms have decided. One that refused before and may not now is asked again."""
        post_id = str(post.get("_id") or "")
        while (outcome := judged(post, action)) is None:
            if not post_id or deadline.left() < 2 * LOOK_EVERY_SECONDS:
                raise OutcomeUnknown("the platforms have not decided yet", reference=post_id or None)
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            post = await self._post(access, post_id, deadline)
        if isinstance(outcome, Delivered):
            return outcome
        if again and outcome.curable:
            answer = await self._ask(access, "POST", f"/v1/posts/{_segment(post_id)}/retry", deadline)
            if answer.ok:
                post = await self._post(access, post_id, deadline)
                return await self._settled(access, action, post, deadline, again=False)
        await self._note_ended_accounts(access, action, post)
        raise outcome

    async def _note_ended_accounts(self, access: Access, action: Action, post: dict[str, Any]) -> None:
        """Accounts whose sign-in has ended are offered no more, until Zernio says otherwise."""
        ended = {p.account_id for p in parts_of(post, action.effect) if p.category == "auth_expired"}
        if ended:
            accounts = tuple(
                msgspec.structs.replace(each, active=each.active and each.id not in ended)
                for each in access.connection.accounts
            )
            await self._access.update_accounts(access, accounts, "the sign-in at the platform has expired")

    async def _ask(
        self, access: Access, method: str, path: str, deadline: Deadline, **what: Any
    ) -> Exchanged:
        answer = await exchange(
            method,
            self._url + path,
            token=self._access.key(access),
            timeout_seconds=deadline.left(),
            **what,
        )
        if answer.status == 401:
            raise await self._access.ended(access, _words(answer))
        return answer

    def _failed(self, answer: Exchanged) -> NotSent | OutcomeUnknown:
        return failure(answer.status, _words(answer), retry_after(answer.headers, self._clock.now_ms()))


def _missing(connection: Connection, effect: Effect) -> tuple[str, ...]:
    """Approved accounts that cannot be reached now."""
    return tuple(each for each in account_ids(effect) if connection.account(each) is None)


def _accounts(raw: list[Any], known: tuple[Account, ...]) -> tuple[Account, ...]:
    """The accounts that Zernio names; who chose which stays, and each platform has one that is meant by itself."""
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


def _no_numbers(answer: Exchanged, connection: Connection) -> str:
    if answer.status == 202:
        return "Zernio is still collecting the numbers"
    if answer.status == 424:
        return "no platform gave Zernio its numbers"
    if answer.status in (402, 403) or (
        not connection.settings.get("analytics", True) and not answer.at("analytics")
    ):
        return "this Zernio account has no analytics add-on"
    return f"Zernio has no numbers for it (HTTP {answer.status})"


def _words(answer: Exchanged) -> str:
    said = answer.at("error") or answer.at("message")
    return said if isinstance(said, str) else ""


def _segment(post_id: str) -> str:
    """An id as a part of an address; what is none leads nowhere."""
    from urllib.parse import quote

    return quote(post_id, safe="")
