"""`zernio`: publishes approved posts to the accounts that a workspace has connected at Zernio.

Zernio recognises a repetition by the request id for five minutes and by the content for a day. Both
return the existing post, which is judged like a new one. After five minutes nothing is sent again
automatically; the list of posts is searched for ours instead.
`assent.suite.channels.zernio.posts` has the content of posts,
`assent.suite.channels.zernio.client` the requests.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from assent.net.http_outcomes import not_connected, refusal
from assent.platform.connections import (
    REFERENCE,
    Access,
    Connection,
    Connections,
    Connector,
    Context,
    Deadline,
    Delivered,
    Delivery,
    Exchanged,
    KeyAccess,
    KeyConnector,
    NotSent,
    OutcomeUnknown,
    PicturesOf,
    Reading,
    Verified,
    action_of,
    no_account,
    not_ready,
)
from assent.platform.effects import Action, Effect, Readiness
from assent.platform.storage import Clock
from assent.platform.values import MINUTE_MS, WorkspaceId
from assent.suite.channels.registry import BY_ID
from assent.suite.channels.zernio.client import ZernioClient, read_numbers, words
from assent.suite.channels.zernio.info import INFO
from assent.suite.channels.zernio.posts import (
    PLATFORMS,
    SIGN_IN_ENDED,
    account_ids,
    has_text,
    is_ours,
    judge_post,
    read_parts,
    request_body,
    request_id,
    search_since_ms,
)

if TYPE_CHECKING:
    from assent.suite.channels.making import ConnectorParts

WINDOW_MS: Final = 5 * MINUTE_MS
LOOK_EVERY_SECONDS: Final = 0.5


class ZernioConnector(KeyConnector):
    info = INFO
    id = INFO.id
    delivery = Delivery("native_key", WINDOW_MS, searches=True)

    def __init__(self, url: str, connections: Connections, pictures_of: PicturesOf, clock: Clock) -> None:
        super().__init__(KeyAccess(INFO, connections))
        self.client = ZernioClient(url, self._access, clock)
        self._pictures_of = pictures_of

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
            return no_account(self._access.label, effect)
        channel = BY_ID[effect.channel].label if effect.channel in BY_ID else effect.channel
        said = f"Zernio has no {channel} account that can be used."
        hint = f"{said} Connect {channel} at Zernio, or choose the account on the page for Zernio."
        return not_ready(hint, said)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = action_of(ctx, effect)
        deadline = ctx.deadline
        access = await self._access.access(action.workspace_id)
        if not account_ids(action.effect) or _missing(access.connection, action.effect):
            raise not_connected("the account it is for is not connected any more")
        media = await self._upload_media(access, action, deadline)
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
        known = ctx.metadata.get(REFERENCE)
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
        self, access: Access, action: Action, deadline: Deadline
    ) -> tuple[dict[str, str], ...]:
        media = action.effect.media
        if not media:
            return ()
        linked = tuple({"type": each.kind, "url": each.url} for each in media if not each.digest)
        uploaded = [
            {"type": "image", "url": await self.client.upload(access, picture, number, deadline)}
            for number, picture in enumerate(await self._pictures_of(action), start=1)
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
            raise refusal(
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
    return (ZernioConnector(url, parts.connections, parts.pictures_of, parts.clock),)
