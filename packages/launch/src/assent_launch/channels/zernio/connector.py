"""`zernio`: publishes approved posts to the accounts that a workspace has connected at Zernio.

Zernio recognises a repetition by the request id for five minutes and by the content for a day. Both
return the existing post, which is judged like a new one. After five minutes nothing is sent again
automatically; the list of posts is searched for ours instead.
`assent_launch.channels.zernio.connector` has the content of posts,
`assent_launch.channels.zernio.connector` the requests.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from assent import Context, Effect, NotConnected, NotSent, OutcomeUnknown
from assent.platform import (
    Access,
    Account,
    Connection,
    Connector,
    Deadline,
    Delivered,
    Delivery,
    Exchanged,
    KeyAccess,
    Readiness,
    Reading,
    Remainder,
    Verified,
    action_of,
    exchange,
)
from assent.sdk import (
    MINUTE_MS,
    Action,
    Clock,
    ExecutionState,
    Picture,
    Reason,
    Record,
    WorkspaceId,
    parse_time,
)
from assent_launch.channels.key_connector import KeyConnector
from assent_launch.channels.registry import BY_ID
from assent_launch.channels.zernio import INFO
from assent_launch.learning.metrics import select_credible

if TYPE_CHECKING:
    from assent_launch.channels.factory import ConnectorParts

WINDOW_MS: Final = 5 * MINUTE_MS
LOOK_EVERY_SECONDS: Final = 0.5
MAX_DETAIL_CHARS: Final = 300
"""The longest part of a provider's answer that is kept."""


class ZernioConnector(KeyConnector):
    info = INFO
    id = INFO.id
    delivery = Delivery("native_key", WINDOW_MS, searches=True)

    def __init__(self, url: str, access: KeyAccess, clock: Clock) -> None:
        super().__init__(access, url)
        self.client = ZernioClient(url, access, clock)

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
        if connection is None or (account_ids(effect) and not _missing(connection, effect)):
            return await self._access.readiness(workspace_id)
        if connection.accounts_on(PLATFORMS.get(effect.channel, effect.channel)):
            return Readiness.of_another_account(self._access.label, effect)
        channel = BY_ID[effect.channel].label if effect.channel in BY_ID else effect.channel
        said = f"Zernio has no {channel} account that can be used."
        hint = f"{said} Connect {channel} at Zernio, or choose the account on the page for Zernio."
        return Readiness.unconnected(hint, said)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = action_of(ctx, effect)
        deadline = ctx.deadline
        access = await self._access.access(action.workspace_id)
        if not account_ids(action.effect) or _missing(access.connection, action.effect):
            raise NotConnected("the account it is for is not connected any more")
        media = await self._upload_media(access, action, ctx.pictures, deadline)
        answer = await self.client.ask(
            access,
            "POST",
            "/v1/posts",
            deadline,
            body=request_body(action, media),
            headers={"x-request-id": request_id(action)},
        )
        if answer.status == 409:
            post, found = await self._find_existing(access, action, answer, deadline), True
        elif answer.ok:
            found = isinstance(answer.at("existingPost"), dict)
            post = answer.at("existingPost") if found else answer.at("post")
        else:
            raise self.client.failed(answer)
        if not isinstance(post, dict):
            raise OutcomeUnknown("a success that cannot be read")
        if found:
            await self._check_text(access, action, post, deadline)
        return await self._settle_post(access, action, post, deadline, again=found)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        action = action_of(ctx, effect)
        deadline = ctx.deadline
        access = await self._access.access(action.workspace_id)
        known = ctx.reference
        if isinstance(known, str):
            found: dict[str, Any] | None = await self.client.post(access, known, deadline)
        else:
            found = await self.client.find(
                access, lambda post: is_ours(post, action), search_since_ms(action), deadline
            )
        if found is None:
            raise OutcomeUnknown("no post of this action was found, which does not prove that there is none")
        await self._check_text(access, action, found, deadline)
        return await self._settle_post(access, action, found, deadline, again=False)

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        access = await self._access.access(action.workspace_id)
        query = {"postId": action.external_id or ""}
        answer = await self.client.ask(access, "GET", "/v1/analytics", Deadline(timeout_seconds), query=query)
        found = read_numbers(answer, access.connection)
        return self.count_nothing(action, found) if isinstance(found, str) else self.count(action, *found)

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        return await self.client.verified(key, timeout_seconds)

    async def look_around(self, workspace_id: WorkspaceId, timeout_seconds: float) -> None:
        if await self._access.connection(workspace_id) is None:
            return
        try:
            access = await self._access.access(workspace_id)
            accounts = await self.client.accounts(access, Deadline(timeout_seconds))
        except (NotSent, OutcomeUnknown):
            return
        if accounts is not None:
            await self._access.update_accounts(access, accounts, "asked the provider again")

    async def _upload_media(
        self, access: Access, action: Action, pictures: tuple[Picture, ...], deadline: Deadline
    ) -> tuple[dict[str, str], ...]:
        media = action.effect.media
        if not media:
            return ()
        linked = tuple({"type": each.kind, "url": each.url} for each in media if not each.digest)
        uploaded = [
            {"type": "image", "url": await self.client.upload(access, picture, number, deadline)}
            for number, picture in enumerate(pictures, start=1)
        ]
        return (*uploaded, *linked)

    async def _find_existing(
        self, access: Access, action: Action, answer: Exchanged, deadline: Deadline
    ) -> dict[str, Any]:
        """Return the post that Zernio takes for the same one, if it is ours."""
        existing = answer.at("existingPostId") or answer.at("details", "existingPostId")
        if not isinstance(existing, str):
            raise OutcomeUnknown(f"HTTP 409 without the post that is there already: {words(answer)}")
        post = await self.client.post(access, existing, deadline)
        if not is_ours(post, action):
            raise NotSent(
                f"Zernio has published the same text to this account within a day (post {existing}), so it refuses to "
                "publish it again. Change the text and stage it again."
            )
        return post

    async def _check_text(
        self, access: Access, action: Action, post: dict[str, Any], deadline: Deadline
    ) -> None:
        """Raise `OutcomeUnknown` if an existing post under our key has not the approved text."""
        post_id = str(post.get("_id") or "")
        if post.get("content") is None and post_id:
            post = await self.client.post(access, post_id, deadline)
        if not has_text(post, action.effect):
            raise OutcomeUnknown(f"post {post_id} at Zernio has our key, but not the approved text")

    async def _settle_post(
        self, access: Access, action: Action, post: dict[str, Any], deadline: Deadline, *, again: bool
    ) -> Delivered:
        """Wait for every platform's result. `again`: retry platforms that refused."""
        post_id = str(post.get("_id") or "")
        while (outcome := judge_post(post, action)) is None:
            if not post_id or deadline.left() < 2 * LOOK_EVERY_SECONDS:
                raise OutcomeUnknown("the platforms have not decided yet", reference=post_id or None)
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            post = await self.client.post(access, post_id, deadline)
        if isinstance(outcome, Delivered):
            return outcome
        if again and outcome.curable and await self.client.try_again(access, post_id, deadline):
            post = await self.client.post(access, post_id, deadline)
            return await self._settle_post(access, action, post, deadline, again=False)
        await self._note_ended_accounts(access, action, post)
        raise outcome

    async def _note_ended_accounts(self, access: Access, action: Action, post: dict[str, Any]) -> None:
        """Mark accounts whose sign-in has expired inactive, until Zernio reports otherwise."""
        ended = {p.account_id for p in read_parts(post, action.effect) if p.category == SIGN_IN_ENDED}
        if ended:
            accounts = tuple(
                msgspec.structs.replace(each, active=each.active and each.id not in ended)
                for each in access.connection.accounts
            )
            await self._access.update_accounts(access, accounts, "the sign-in at the platform has expired")


def _missing(connection: Connection, effect: Effect) -> tuple[str, ...]:
    return tuple(each for each in account_ids(effect) if connection.account(each) is None)


def make_connectors(parts: ConnectorParts) -> tuple[Connector, ...]:
    url = parts.settings["zernio_url"]
    return (ZernioConnector(url, KeyAccess(INFO, parts.connections), parts.clock),)


# Sends requests to Zernio and parses posts, accounts, uploads and numbers.
#
# Maps refused requests to outcomes; a rejected key expires the connection. Knows nothing of actions.

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
            raise NotSent(f"a picture could not be uploaded: {unknown}", retry=True) from unknown
        return public

    def failed(self, answer: Exchanged) -> NotSent | OutcomeUnknown:
        return answer.fail(words(answer), self._clock.now_ms())


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


# Builds Zernio's request for an approved action, and reads the outcome from the post that Zernio returns. Pure.
#
# A post goes to one or more accounts of one platform, each with its own outcome. Delivered posts stay; the accounts
# that were not reached form the remainder. A post is ours if it carries our mark; without a mark, only if an earlier
# attempt of ours may have made it.

PLATFORMS: Final = {
    "linkedin": "linkedin",
    "x": "twitter",
    "threads": "threads",
    "instagram": "instagram",
    "facebook": "facebook",
    "bluesky": "bluesky",
    "tiktok": "tiktok",
    "reddit": "reddit",
}
"""Zernio's names of our channels."""

SIGN_IN_ENDED: Final = "auth_expired"
FINAL: Final = frozenset({"user_content", "user_abuse", "platform_rejected"})
"""Zernio's categories of refusals that no retry cures. The others are curable, also one that is not
known here."""

WAITING: Final = frozenset({"pending", "publishing", "scheduled", "draft", ""})
MARK: Final = "assentKey"
CLOCKS_APART_MS: Final = 2 * MINUTE_MS


class AccountPost(Record):
    account_id: str
    status: str
    url: str | None
    category: str
    message: str


def request_id(action: Action) -> str:
    """Return the idempotency key for Zernio: one per action and revision."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"assent:{action.provider_key}"))


def account_ids(effect: Effect) -> tuple[str, ...]:
    """Return the approved accounts, which are separated by commas."""
    return tuple(part for part in (effect.account_id or "").split(",") if part)


def request_body(action: Action, media: tuple[dict[str, str], ...]) -> dict[str, Any]:
    """Build the request. The same action and revision give the same request."""
    effect = action.effect
    thread = effect.details.get("thread")
    more = {"platformSpecificData": {"threadItems": [{"content": part} for part in thread]}} if thread else {}
    platform = PLATFORMS[effect.channel]
    body: dict[str, Any] = {
        "content": effect.body,
        "platforms": [
            {"platform": platform, "accountId": account, **more} for account in account_ids(effect)
        ],
        "publishNow": True,
        "metadata": {MARK: action.provider_key},
    }
    if effect.title:
        body["title"] = effect.title
    if media:
        body["mediaItems"] = list(media)
    return body


def read_parts(post: dict[str, Any], effect: Effect) -> tuple[AccountPost, ...]:
    """Return the outcomes on the effect's accounts that the post mentions."""
    wanted = account_ids(effect)
    raw = [each for each in post.get("platforms") or () if isinstance(each, dict)]
    if not raw:
        # A post that names no platforms has one outcome for all of them.
        raw = [{"accountId": each, "status": post.get("status")} for each in wanted]
    return tuple(part for part in map(_part, raw) if part.account_id in wanted)


def judge_post(post: dict[str, Any], action: Action) -> Delivered | NotSent | None:
    """Return the outcome of our post; None while it is unknown for our accounts."""
    parts = read_parts(post, action.effect)
    post_id = str(post.get("_id") or "")
    named = {part.account_id for part in parts}
    if not post_id or named != set(account_ids(action.effect)):
        return None
    out = [part for part in parts if part.status == "published"]
    failed = [part for part in parts if part.status == "failed"]
    if len(out) + len(failed) < len(parts):
        return None
    if not out:
        return read_refusal(failed[0])
    evidence = {"platforms": [msgspec.to_builtins(part) for part in parts]}
    rest = _rest(action.effect, out, failed) if failed else None
    return Delivered(post_id, next((part.url for part in out if part.url), None), evidence, rest)


def read_refusal(part: AccountPost) -> NotSent:
    """Return the platform's refusal. Zernio reports it, so nothing was published."""
    ended = part.category == SIGN_IN_ENDED
    reason = Reason.MISSING_CONNECTOR if ended else Reason.CONNECTOR_FAILED
    said = (part.message or part.category or "no reason given")[:MAX_DETAIL_CHARS]
    curable = part.category not in FINAL
    return NotSent(f"the platform said: {said}", retry=curable, reason=reason, of_the_effect=True)


def is_ours(post: dict[str, Any], action: Action) -> bool:
    """Whether an existing post is the one that this action asked for."""
    metadata = post.get("metadata")
    if isinstance(metadata, dict) and MARK in metadata:
        return bool(metadata[MARK] == action.provider_key)
    attempt = action.attempt
    in_doubt = action.execution_state is ExecutionState.OUTCOME_UNKNOWN
    if attempt is None or not (in_doubt or attempt.fence > 1):
        return False
    made_ms = parse_time(str(post.get("createdAt") or ""))
    recent = made_ms is None or made_ms >= search_since_ms(action)
    same_text = post.get("content") is None or has_text(post, action.effect)
    return recent and same_text and bool(read_parts(post, action.effect))


def search_since_ms(action: Action) -> int:
    """Return the time before which no post is of this attempt, by Zernio's clock."""
    return action.attempt.started_ms - CLOCKS_APART_MS if action.attempt is not None else 0


def has_text(post: dict[str, Any], effect: Effect) -> bool:
    """Whether a post has the approved text, spacing aside."""
    content = post.get("content")
    return isinstance(content, str) and content.split() == effect.body.split()


def _rest(effect: Effect, out: list[AccountPost], failed: list[AccountPost]) -> Remainder:
    named = _names(effect)
    left = [part.account_id for part in failed]
    target = {
        **(effect.target or {}),
        "accountId": ",".join(left),
        "name": ", ".join(named[each] for each in left),
    }
    reached = ", ".join(named[part.account_id] for part in out)
    why = "; ".join(f"{named[part.account_id]}: {part.message or part.category}" for part in failed)
    return Remainder(msgspec.structs.replace(effect, target=target), reached, why[:MAX_DETAIL_CHARS])


def _names(effect: Effect) -> dict[str, str]:
    ids = account_ids(effect)
    names = (effect.target or {}).get("name", "").split(", ")
    return dict(zip(ids, names if len(names) == len(ids) else ids, strict=True))


def _part(raw: dict[str, Any]) -> AccountPost:
    account = raw.get("accountId")
    # Where Zernio expands references, the account object is in place of its id.
    account_id = account.get("_id") if isinstance(account, dict) else account
    status = str(raw.get("status") or "")
    url = raw.get("platformPostUrl")
    return AccountPost(
        str(account_id or ""),
        "" if status in WAITING else status,
        url if isinstance(url, str) and url.startswith(("https://", "http://")) else None,
        str(raw.get("errorCategory") or ""),
        str(raw.get("errorMessage") or ""),
    )
