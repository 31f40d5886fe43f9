"""`bluesky`: publishes an approved post as a record of the connected account.

Speaks AT Protocol directly. The record's key is made from the action and its revision, so a
repeated send finds the existing post: after any failure while writing, the record is read back by
its key. A person connects with the account's handle and an app password, which they can revoke at
Bluesky.

Signing in, uploading pictures and looking up handles are invisible to others; a failure there means
not sent.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from assent import Context, Effect, NotConnected, NotSent, OutcomeUnknown
from assent.platform import (
    Account,
    Connector,
    Deadline,
    Delivered,
    Delivery,
    Exchanged,
    KeyAccess,
    NoLookUp,
    Reading,
    Verified,
    action_of,
    exchange,
)
from assent.sdk import Action, Clock, Picture, Record, iso_time
from assent_launch.channels.bluesky import INFO
from assent_launch.channels.key_connector import KeyConnector
from assent_launch.content import counting
from assent_launch.learning.metrics import select_credible

if TYPE_CHECKING:
    from assent_launch.channels.factory import ConnectorParts

POST: Final = "app.bsky.feed.post"
TAKE_DOWN: Final = "take_down"
MOST_PICTURES: Final = 4
COUNTS: Final = {
    "likeCount": "likes",
    "repostCount": "reposts",
    "replyCount": "replies",
    "quoteCount": "quotes",
    "bookmarkCount": "bookmarks",
}

_TID: Final = "234567abcdefghijklmnopqrstuvwxyz"
_KEY: Final = re.compile(r"@?(did:[a-z]+:[\w.:%-]+|[^\s:/]+)[\s:/]+(\S+)")
"""The key that a person enters: handle, blank or colon, app password."""
_MENTION: Final = re.compile(r"(?<![\w@.])@([a-zA-Z0-9](?:[a-zA-Z0-9-]*\.)+[a-zA-Z]{2,})")
_TAG: Final = re.compile(r"(?:^|(?<=\s))[#＃](?!\ufe0f)(\S*[^\d\s!-/:-@\[-`{-~]\S*)")
_TAG_END: Final = re.compile(r"[!-/:-@\[-`{-~…。、！？]+\Z")


class BlueskySession(Record):
    deadline: Deadline
    did: str
    handle: str
    token: str


class BlueskyConnector(NoLookUp, KeyConnector):
    info = INFO
    id = INFO.id
    delivery = Delivery("natural_key")
    no_look_up = "a post is not asked about, it is written again under its key"

    def __init__(self, url: str, access: KeyAccess, clock: Clock) -> None:
        super().__init__(access, url)
        self._url = url.rstrip("/") + "/xrpc/"
        self._clock = clock

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        session = await self._session(key, Deadline(timeout_seconds))
        if isinstance(session, Exchanged):
            raise self._access.not_accepted(session)
        account = Account(session.did, self.id, f"@{session.handle}", default=True)
        return Verified(label=account.name, accounts=(account,))

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = action_of(ctx, effect)
        if effect.verb == TAKE_DOWN:
            return await self._take_down(action, ctx.deadline)
        if len(action.effect.media) > MOST_PICTURES:
            raise NotSent(f"Bluesky takes {MOST_PICTURES} pictures")
        session = await self._sign_in(action, ctx.deadline)
        record = await self._record(session, action, ctx.pictures)
        key = record_key(action)
        body = {"repo": session.did, "collection": POST, "rkey": key, "validate": True, "record": record}
        try:
            answer = await self._ask("POST", "com.atproto.repo.createRecord", session, body=body)
        except OutcomeUnknown:
            if (found := await self._find_post(session, action)) is not None:
                return found
            raise
        if answer.ok and isinstance(answer.at("uri"), str):
            return _make_delivered(session, key, answer.at("uri"), answer.at("cid"), "created")
        # Bluesky refuses a repetition in several ways; the record under our key tells which one
        # this is.
        if (found := await self._find_post(session, action)) is not None:
            return found
        raise self._judge_failure(answer)

    async def _take_down(self, action: Action, deadline: Deadline) -> Delivered:
        """Delete the record of a post, or ensure that it is gone."""
        session = await self._sign_in(action, deadline)
        uri = str(action.effect.details["receipt"])
        body = {"repo": session.did, "collection": POST, "rkey": uri.rpartition("/")[2]}
        answer = await self._ask("POST", "com.atproto.repo.deleteRecord", session, body=body)
        if not answer.ok:
            raise self._judge_failure(answer)
        return Delivered(uri, None, {"record": "deleted"})

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        deadline = Deadline(timeout_seconds)
        access = await self._access.access(action.workspace_id)
        session = await self._session(self._access.key(access), deadline)
        if isinstance(session, Exchanged):
            return self.count_nothing(action, f"Bluesky does not let us in (HTTP {session.status})")
        query = {"uris": action.external_id or ""}
        answer = await self._ask("GET", "app.bsky.feed.getPosts", session, query=query)
        post = answer.at("posts", 0)
        if not answer.ok or not isinstance(post, dict):
            said = "does not show the post" if answer.ok else f"answered HTTP {answer.status}"
            return self.count_nothing(action, f"Bluesky {said}")
        numbers, left_out = select_credible({name: post.get(field) for field, name in COUNTS.items()})
        if not numbers and not left_out:
            return self.count_nothing(action, "Bluesky gives no numbers")
        return self.count(action, numbers, left_out)

    async def _sign_in(self, action: Action, deadline: Deadline) -> BlueskySession:
        """Sign in and check that this is the account that was approved."""
        access = await self._access.access(action.workspace_id)
        try:
            session = await self._session(self._access.key(access), deadline)
        except OutcomeUnknown as unknown:
            raise NotSent(str(unknown), retry=True) from unknown
        if isinstance(session, Exchanged):
            if session.status == 401:
                raise await self._access.ended(access, str(session.at("message") or ""))
            failed = self._judge_failure(session)
            raise failed if isinstance(failed, NotSent) else NotSent(str(failed), retry=True)
        if action.effect.account_id not in (None, session.did):
            raise NotConnected("this was approved for another Bluesky account than the one that is connected")
        return session

    async def _session(self, key: str, deadline: Deadline) -> BlueskySession | Exchanged:
        """Sign in; return the answer if the server refuses."""
        entered = _KEY.fullmatch(key.strip())
        if entered is None:
            raise NotConnected(
                "Enter the handle, a colon and the app password: alice.bsky.social:abcd-efgh-ijkl-mnop"
            )
        body = {"identifier": entered.group(1), "password": entered.group(2)}
        answer = await self._ask("POST", "com.atproto.server.createSession", deadline, body=body)
        given = [answer.text(name) for name in ("did", "handle", "accessJwt")]
        if not answer.ok or not all(given):
            return answer
        return BlueskySession(deadline, *given)

    async def _record(
        self, session: BlueskySession, action: Action, pictures: tuple[Picture, ...]
    ) -> dict[str, Any]:
        """Build the record of the post. Publishes nothing."""
        effect = action.effect
        try:
            embed = await self._embed(session, action, pictures)
            dids = {
                handle: did
                for handle in dict.fromkeys(_MENTION.findall(effect.body))
                if (did := await self._did_of(handle, session.deadline)) is not None
            }
        except OutcomeUnknown as unknown:
            raise NotSent(str(unknown), retry=True) from unknown
        return {
            "$type": POST,
            "text": effect.body,
            "createdAt": iso_time(self._clock.now_ms()),
            **({"facets": made} if (made := facets(effect.body, dids)) else {}),
            **({"embed": embed} if embed is not None else {}),
        }

    async def _embed(
        self, session: BlueskySession, action: Action, pictures: tuple[Picture, ...]
    ) -> dict[str, Any] | None:
        images = []
        for picture in pictures:
            sent = {"content": picture.content, "headers": {"content-type": picture.content_type}}
            answer = await self._ask("POST", "com.atproto.repo.uploadBlob", session, **sent)
            blob = answer.at("blob")
            if not answer.ok or not isinstance(blob, dict):
                raise self._judge_failure(answer)
            ratio = {"width": picture.width, "height": picture.height}
            images.append({"alt": picture.alt, "image": blob, "aspectRatio": ratio})
        if images:
            return {"$type": "app.bsky.embed.images", "images": images}
        link = action.effect.link
        if not link or link in action.effect.body:
            return None
        card = {
            "uri": link,
            "title": action.effect.title or urlsplit(link).hostname or link,
            "description": "",
        }
        return {"$type": "app.bsky.embed.external", "external": card}

    async def _did_of(self, handle: str, deadline: Deadline) -> str | None:
        """Return the DID of a handle, or None; the mention then stays plain text."""
        query = {"handle": handle.lower()}
        answer = await self._ask("GET", "com.atproto.identity.resolveHandle", deadline, query=query)
        did = answer.at("did")
        return did if answer.ok and isinstance(did, str) else None

    async def _find_post(self, session: BlueskySession, action: Action) -> Delivered | None:
        key = record_key(action)
        query = {"repo": session.did, "collection": POST, "rkey": key}
        try:
            answer = await self._ask("GET", "com.atproto.repo.getRecord", session, query=query)
        except (NotSent, OutcomeUnknown):
            return None
        if not answer.ok or answer.at("value", "text") != action.effect.body:
            return None
        return _make_delivered(session, key, str(answer.at("uri")), answer.at("cid"), "found")

    def _judge_failure(self, answer: Exchanged) -> NotSent | OutcomeUnknown:
        said = answer.at("message") or answer.at("error") or ""
        if answer.at("error") in ("ExpiredToken", "InvalidToken"):
            return NotSent(f"the session ended: {said}", retry=True)
        return answer.fail(str(said), self._clock.now_ms())

    async def _ask(self, method: str, name: str, by: BlueskySession | Deadline, **more: Any) -> Exchanged:
        """Send a request with a session's token, or without one until a deadline."""
        token, deadline = (None, by) if isinstance(by, Deadline) else (by.token, by.deadline)
        return await exchange(method, self._url + name, token=token, timeout_seconds=deadline.left(), **more)


def record_key(action: Action) -> str:
    """Return a record's key: a TID from the action's creation and its content's hash (C30)."""
    made_ms = int(action.action_id.replace("-", "")[:12], 16)
    mixed = int.from_bytes(hashlib.sha256(action.provider_key.encode()).digest()[:4], "big")
    number = ((made_ms * 1000 + mixed % 1000) << 10 | (mixed >> 10) % 1024) % (1 << 63)
    return "".join(_TID[number >> shift & 31] for shift in range(60, -1, -5))


def facets(text: str, dids: dict[str, str]) -> list[dict[str, Any]]:
    """Return the links, mentions and hashtags of a text with their UTF-8 byte ranges."""
    found: list[tuple[int, int, dict[str, str]]] = []
    taken: list[tuple[int, int]] = []
    for start, end in counting.addresses(text):
        address = text[start:end]
        uri = address if "://" in address else f"https://{address}"
        found.append((start, end, {"$type": "app.bsky.richtext.facet#link", "uri": uri}))
        taken.append((start, end))
    for match in _MENTION.finditer(text):
        if (did := dids.get(match.group(1))) is not None:
            found.append((*match.span(), {"$type": "app.bsky.richtext.facet#mention", "did": did}))
    for match in _TAG.finditer(text):
        tag = _TAG_END.sub("", match.group(1))
        if tag and counting.graphemes(tag) <= 64 and not any(a <= match.start() < b for a, b in taken):
            end = match.start(1) + len(tag)
            found.append((match.start(), end, {"$type": "app.bsky.richtext.facet#tag", "tag": tag}))
    return [
        {
            "index": {"byteStart": len(text[:start].encode()), "byteEnd": len(text[:end].encode())},
            "features": [feature],
        }
        for start, end, feature in sorted(found, key=lambda each: each[:2])
    ]


def _make_delivered(session: BlueskySession, key: str, uri: str, cid: Any, how: str) -> Delivered:
    url = f"https://bsky.app/profile/{session.handle}/post/{key}"
    return Delivered(uri, url, {"cid": str(cid), "record": how})


def make_connectors(parts: ConnectorParts) -> tuple[Connector, ...]:
    url = parts.settings["bluesky_url"]
    return (BlueskyConnector(url, KeyAccess(INFO, parts.connections), parts.clock),)
