"""`smtp`: sends an approved e-mail through the workspace's SMTP server, else through that of the
settings.

A workspace's server is a connection like any other: a person enters it, it is encrypted, and every
process on the same data uses it. The settings name one for all workspaces. The approval covers
which of the two is used.

SMTP has no idempotency key, so a person resolves an unknown outcome. Until the content is
transferred, nothing was sent; `assent.net.mail` decides what is known when an
exchange breaks.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from html import escape
from typing import TYPE_CHECKING, Any, Final

import msgspec

from assent import Context, Effect, NotConnected, NotSent
from assent.platform import (
    Account,
    Connection,
    Deadline,
    Delivered,
    Delivery,
    Mailbox,
    MailClient,
    MailServer,
    NoLookUp,
    Readiness,
    Remainder,
    Verified,
    action_of,
)
from assent.sdk import Clock, Reason, Record, Services, WorkspaceId, run_apart
from assent_launch.channels.email import SMTP

if TYPE_CHECKING:
    import ssl

_ATTRIBUTES: Final = r"""(?:\s+[\w:-]+(?:=(?:"[^"<>]*"|'[^'<>]*'|[\w:./%#-]+))?)*\s*"""
_OPENING: Final = re.compile(
    rf"""\s*(?:<!doctype\ html>\s*)?(?:<html{_ATTRIBUTES}>\s*)?
    (?:<head>\s*(?:(?:<meta{_ATTRIBUTES}/?>|<title>[^<>]*</title>)\s*)*</head>\s*)?
    <body{_ATTRIBUTES}>""",
    re.IGNORECASE | re.VERBOSE,
)
"""The beginning of a document that every mail program parses alike. The preheader is inserted after
it, never inside a comment, script or attribute."""

_HIDDEN: Final = (
    '<div style="display:none;max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">{text}</div>'
)


def write_parts(effect: Effect) -> tuple[tuple[str, str], ...]:
    """Return the texts of an e-mail, by their format. Raises a final `NotSent` for a picture."""
    if effect.media:
        raise NotSent("it has a picture, and this mail server sends only text")
    return ("plain", effect.body), ("html", html_part(effect))


def _find_rest(effect: Effect, refused: dict[str, str]) -> Remainder | None:
    """Return the e-mail to those whom the server refused, for a person who knows the right addresses."""
    if not refused:
        return None
    left = tuple(each for each in effect.everyone if Mailbox.parse(each).address in refused)
    reached = ", ".join(each for each in effect.everyone if each not in left)
    why = "; ".join(f"{address}: {said}" for address, said in refused.items())
    return Remainder(msgspec.structs.replace(effect, recipients=left, cc=()), reached, why)


def html_part(effect: Effect) -> str:
    """Return the approved HTML, or the text as paragraphs, with the preheader first."""
    html = effect.html or "\n".join(
        f"<p>{'<br>'.join(escape(line) for line in paragraph.splitlines())}</p>"
        for paragraph in re.split(r"\n\s*\n", effect.body.strip())
    )
    text = escape(effect.preheader)
    if not text or f">{text}</div>" in html:
        return html
    opening = _OPENING.match(html)
    place = opening.end() if opening is not None else 0
    return html[:place] + _HIDDEN.format(text=text) + html[place:]


NONE_THERE: Final = "Your mail server is not connected."

REACH_SECONDS: Final = 3.0
"""Timeout for the DNS lookup of a mail server."""

SENDER: Final = "from"

Reach = Callable[[MailServer], Awaitable[MailServer]]
"""Resolves a host that a person chose. Raises `NotSent` for one in a private network."""


class MailRoute(Record):
    """A server, its sender, and its connection if it is a workspace's."""

    server: MailServer
    sender: Mailbox
    connection: Connection | None = None


class SmtpConnector(NoLookUp):
    """Sends through one server, from one sender unless the action names another."""

    info = SMTP
    id = SMTP.id
    delivery = Delivery("none")
    no_look_up = "a mail server cannot be asked what it has sent"
    observes = True

    def __init__(
        self,
        url: str | None,
        sender: str | None,
        clock: Clock,
        *,
        services: Services | None = None,
        reach: Reach | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """`url` and `sender` are the settings; both None until they are set."""
        self._default = MailRoute(MailServer.parse(url), Mailbox.parse(sender)) if url and sender else None
        self._written_sender = (sender or "") if self._default is not None else ""
        self._services = services
        self._reach = reach
        self._clock = clock
        self._context = context

    @property
    def for_everybody(self) -> bool:
        return self._default is not None

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        found = await self._find_connection(workspace_id)
        if self._default is not None or (found is not None and found.live):
            return Readiness(ready=True)
        if found is not None and found.ended:
            why = f"{found.problem or 'The mail server does not accept its user and password any more'}."
            return Readiness.unconnected(f"{why} Connect it again.", why)
        hint = (
            f"{NONE_THERE} Enter it on the page for it, or in a terminal of this server: "
            f'assent connect smtp --workspace {workspace_id} --from "NAME <ADDRESS>" --key-stdin'
        )
        return Readiness.unconnected(hint, NONE_THERE)

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """Set the server and the sender that will be used, so that they are shown and approved."""
        found = await self._find_connection(workspace_id)
        if found is None or not found.live or not found.accounts:
            sender = effect.sender or self._written_sender
            return msgspec.structs.replace(effect, target=None, sender=sender)
        account = found.accounts[0]
        # A sender of another server is not kept.
        keeps = effect.sender not in ("", self._written_sender) and effect.account_id in (None, account.id)
        return msgspec.structs.replace(
            effect,
            target=account.target,
            sender=effect.sender if keeps else str(found.settings.get(SENDER, "")),
        )

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        readiness = await self.readiness(workspace_id)
        if not readiness.ready or (await self._is_named(workspace_id, effect) and effect.sender):
            return readiness
        return Readiness.of_another_account("The mail server", effect)

    async def _is_named(self, workspace_id: WorkspaceId, effect: Effect) -> bool:
        if effect.account_id is None:
            return self._default is not None
        found = await self._find_connection(workspace_id)
        return found is not None and found.live and found.account(effect.account_id) is not None

    async def observe(
        self, workspace_id: WorkspaceId, effect: Effect, timeout_seconds: float
    ) -> dict[str, Any]:
        """Return the server and its sender as they are set now. Calls no server."""
        if effect.account_id is None:
            default = self._for_everybody()
            return {"mail server": default.server.host, "sender": self._written_sender}
        found = await self._find_connection(workspace_id)
        account = found.account(effect.account_id) if found is not None else None
        if found is None or account is None:
            raise NotConnected("the mail server it was prepared for is not connected any more")
        return {"mail server": account.name, "sender": str(found.settings.get(SENDER, ""))}

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = action_of(ctx, effect)
        route = await self._find_route(action.workspace_id, action.effect)
        parts, now_ms = await run_apart(write_parts, effect), self._clock.now_ms()
        client = MailClient(route.server, self._context)
        try:
            handed = await client.send_effect(
                effect, route.sender, parts, key=ctx.key, now_ms=now_ms, seconds=ctx.left()
            )
        except NotSent as refused:
            if refused.reason is Reason.MISSING_CONNECTOR and route.connection is not None:
                await self._require_services().connections.mark_expired(
                    route.connection, f"{refused.detail[:1].upper()}{refused.detail[1:]}"
                )
            raise
        evidence = {"reply": handed.reply, "recipients": handed.taken}
        return Delivered(handed.message_id, None, evidence, _find_rest(effect, handed.refused))

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        """Check a server's address, such as smtp://user:password@mail.example.org:587."""
        return await self._verify_server(key, timeout_seconds)

    async def verify_anywhere(self, key: str, timeout_seconds: float) -> Verified:
        """Like `verify`, but accepts private networks, for a person at this server's terminal."""
        return await self._verify_server(key, timeout_seconds, anywhere=True)

    async def look_around(self, workspace_id: WorkspaceId, timeout_seconds: float) -> None:
        """Do nothing: a mail server is one account."""

    async def _verify_server(self, key: str, timeout_seconds: float, *, anywhere: bool = False) -> Verified:
        server = await self._resolve_server(_parse(key), anywhere=anywhere)
        await MailClient(server, self._context).check(Deadline(timeout_seconds).left())
        return Verified(label=server.host, accounts=(_account(server),))

    async def _find_route(self, workspace_id: WorkspaceId, effect: Effect) -> MailRoute:
        if effect.account_id is None:
            return self._for_everybody()
        route = await self._find_own_route(workspace_id, effect.sender)
        if route is None or route.connection is None or route.connection.account(effect.account_id) is None:
            raise NotConnected("the mail server it was approved for is not connected any more")
        return route

    async def _find_own_route(self, workspace_id: WorkspaceId, sender: str = "") -> MailRoute | None:
        """The mail server of the workspace itself; None if it has none."""
        held = await self._require_services().connections.access(workspace_id, self.id)
        if held is None or held.key is None:
            return None
        connection = held.connection
        server = await self._resolve_server(_parse(held.key), anywhere=connection.any_address)
        return MailRoute(server, Mailbox.parse(str(connection.settings.get(SENDER) or sender)), connection)

    async def can_mail_notes(self, workspace_id: WorkspaceId) -> bool:
        found = await self._find_connection(workspace_id)
        return found is not None and found.live and bool(found.settings.get(SENDER))

    async def mail_note(
        self, workspace_id: WorkspaceId, to: str, subject: str, text: str, key: str, seconds: float
    ) -> None:
        route = await self._find_own_route(workspace_id) if await self.can_mail_notes(workspace_id) else None
        if route is None:
            raise NotConnected(NONE_THERE)
        now_ms = self._clock.now_ms()
        client = MailClient(route.server, self._context)
        await client.send_note(route.sender, to, subject, text, key=key, now_ms=now_ms, seconds=seconds)

    async def _resolve_server(self, server: MailServer, *, anywhere: bool) -> MailServer:
        """Return the server with its resolved IP, if a workspace chose the host."""
        if anywhere or self._reach is None:
            return server
        try:
            async with asyncio.timeout(REACH_SECONDS):
                return await self._reach(server)
        except TimeoutError:
            raise NotSent(
                f"the name {server.host} could not be looked up within {REACH_SECONDS:g} seconds", retry=True
            ) from None

    def _for_everybody(self) -> MailRoute:
        if self._default is None:
            raise NotConnected(NONE_THERE)
        return self._default

    def _require_services(self) -> Services:
        if self._services is None:
            raise NotConnected(NONE_THERE)
        return self._services

    async def _find_connection(self, workspace_id: WorkspaceId) -> Connection | None:
        if self._services is None:
            return None
        return await self._services.connections.find(workspace_id, self.id)


def _parse(url: str) -> MailServer:
    try:
        return MailServer.parse(url)
    except ValueError as error:
        raise NotConnected(f"That is not the address of a mail server: {error}.") from None


def _account(server: MailServer) -> Account:
    """Return the account: another user or host is another account, another password is not."""
    who = f"{server.user or ''}@{server.host}:{server.port}"
    named = f"smtp-{hashlib.sha256(who.encode()).hexdigest()[:16]}"
    return Account(
        named,
        "email",
        server.host if server.user is None else f"{server.user} at {server.host}",
        default=True,
    )
