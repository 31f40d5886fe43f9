"""Slack: a message with what waits, whole, and buttons that decide it.

The address of the notifier is the bot's token, the app's signing secret and the channel, separated by spaces; it is
kept in the vault. Slack signs what people do there (v0: HMAC-SHA256 over the time and the body). The server resolves
the account to a person who linked it, judges what that may decide, and writes the message again: it always shows the
present state. Texts are plain and escaped, so nothing in them is a link, a mention or markup, or shown as another text.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assent.sdk import (
    ChatAnswer,
    ChatEvent,
    ChatInstallation,
    NoteCard,
    Notification,
    NotificationReceipt,
    NotifierContext,
    Services,
    WorkspaceId,
    decide_in_chat,
    link_chat_account,
    list_chat_apps,
)

KIND: Final = "slack_app"
PATH: Final = "/slack/{workspace_id}"
COMMAND: Final = "/assent"
_ADDRESS: Final = re.compile(
    r"(?P<token>xox[a-z]-[A-Za-z0-9-]{10,200}) (?P<secret>[A-Za-z0-9]{16,64}) (?P<channel>[CDG][A-Z0-9]{5,20})"
)

WINDOW_SECONDS: Final = 300
MAX_BODY_BYTES: Final = 200_000
MAX_SECTION_CHARS: Final = 2_900
"""A section takes 3,000 characters."""
MAX_SHOWN_CHARS: Final = 12_000
"""A longer content is read on the page, and has no buttons here."""
MAX_CARDS: Final = 8
"""A message takes 50 blocks."""
MAX_TITLE_CHARS: Final = 150
RECENT: Final = 30
"""The messages among which one is looked for that was posted and not recorded."""
EVENT_TYPE: Final = "assent_run"
GONE: Final = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
OPEN_TO_READ: Final = "It is too long for a message. Open it to read all; you decide there."
OPEN: Final = "Open it to decide."
ON_PAGE: Final = "The policy asks for more than a tap: open it to decide."


# The message


def write_blocks(cards: tuple[NoteCard, ...]) -> list[dict[str, Any]]:
    """Return the blocks of a message. What is not shown whole has no button that decides it."""
    blocks: list[dict[str, Any]] = []
    left = MAX_SHOWN_CHARS
    for card in cards[:MAX_CARDS]:
        text = escape(card.text)
        fits = len(text) <= left
        left -= len(text) if fits else 0
        blocks.append(
            {"type": "header", "text": _plain(_cut(escape(card.title or "Action"), MAX_TITLE_CHARS))}
        )
        blocks += map(_section, _split(text, MAX_SECTION_CHARS)) if fits else [_section(OPEN_TO_READ)]
        if card.state:
            blocks.append(_section(escape(card.state)))
        elif fits and not card.may_decide:
            blocks.append(_section(f"{card.unshown} {OPEN}" if card.unshown else ON_PAGE))
        decides = fits and card.may_decide and not card.state
        blocks.append({"type": "actions", "elements": _buttons(card, decides=decides)})
    if len(cards) > MAX_CARDS:
        blocks.append(_section(f"{len(cards) - MAX_CARDS} more are on the page."))
    return blocks


def _buttons(card: NoteCard, *, decides: bool) -> list[dict[str, Any]]:
    value = f"{card.action_id} {card.digest}"
    found: list[dict[str, Any]] = []
    if decides:
        found = [
            {"type": "button", "action_id": name, "value": value, "text": _plain(label), **style}
            for name, label, style in (
                ("approve", "Approve", {"style": "primary"}),
                ("reject", "Reject…", {"style": "danger"}),
                ("ask", "Ask for changes…", {}),
            )
        ]
    return [*found, {"type": "button", "action_id": "open", "url": card.url, "text": _plain("Open")}]


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": _plain(text)}


def escape(text: str) -> str:
    """Escape what Slack reads as control characters; it decodes these three entities in any text and no others."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _split(escaped: str, most: int) -> list[str]:
    """Split an escaped text into parts, and no entity in two."""
    parts = []
    while len(escaped) > most:
        at = max(escaped.rfind("&", most - 4, most), 0) or most
        parts.append(escaped[:at])
        escaped = escaped[at:]
    return [*parts, escaped or "(empty)"]


def _cut(escaped: str, most: int) -> str:
    return escaped if len(escaped) <= most else f"{_split(escaped, most - 1)[0]}…"


class _SlackAnswer(msgspec.Struct, frozen=True):
    ok: bool = False
    error: str = ""
    ts: str = ""
    messages: list[dict[str, Any]] = []


class SlackButtons:
    """Posts the message of a run, and writes it again."""

    kind = KIND
    label = "Slack, with buttons"
    hint = (
        "The bot token (xoxb-…), a space, the signing secret, a space, and the channel id, such as C0123ABCD"
    )
    by_mail = False
    by_browser = False

    def __init__(self, api_url: str) -> None:
        self._api_url = api_url.rstrip("/")

    def check(self, ctx: NotifierContext, address: str) -> str:
        if not _ADDRESS.fullmatch(address):
            return f"{self.hint}. Both are on the pages of your Slack app."
        return ctx.screen_webhook(self._api_url) or ""

    def mask(self, address: str) -> str:
        found = _ADDRESS.fullmatch(address)
        return f"channel {found['channel']}" if found else "a channel"

    async def send(
        self, ctx: NotifierContext, address: str, note: Notification, key: str
    ) -> NotificationReceipt:
        token, _, channel = address.split(" ")
        text = escape(f"{note.title}. {note.text}")
        message: dict[str, Any] = {"channel": channel, "text": _cut(text, MAX_SECTION_CHARS)}
        if not note.cards:
            answer = await self.call(
                ctx, token, "chat.postMessage", {**message, "text": f"{text} {note.link}"}
            )
            return _receipt(answer, "")
        message["blocks"] = write_blocks(note.cards)
        message["metadata"] = {"event_type": EVENT_TYPE, "event_payload": {"run": note.subject}}
        at = note.replaces or await self._find_posted(ctx, token, channel, note.subject)
        if at:
            answer = await self.call(ctx, token, "chat.update", {**message, "ts": at})
            if isinstance(answer, _SlackAnswer) and (answer.ok or answer.error not in GONE):
                return _receipt(answer, at)
        return _receipt(await self.call(ctx, token, "chat.postMessage", message), "")

    async def _find_posted(self, ctx: NotifierContext, token: str, channel: str, run: str) -> str:
        """Return the message of a run that was posted by a process which died before it recorded that."""
        asked = {"channel": channel, "limit": RECENT, "include_all_metadata": "true"}
        answer = await self.call(ctx, token, "conversations.history", asked, form=True)
        for each in answer.messages if isinstance(answer, _SlackAnswer) else ():
            said = each.get("metadata") or {}
            if said.get("event_type") == EVENT_TYPE and said.get("event_payload", {}).get("run") == run:
                return str(each.get("ts", ""))
        return ""

    async def call(
        self, ctx: NotifierContext, token: str, method: str, given: Mapping[str, Any], *, form: bool = False
    ) -> _SlackAnswer | str:
        """Call a method of Slack. Returns its answer, or why there is none."""
        body = urlencode(given).encode() if form else msgspec.json.encode(given)
        kind = "application/x-www-form-urlencoded" if form else "application/json; charset=utf-8"
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
        reply = await ctx.post_webhook(f"{self._api_url}/{method}", body, headers)
        if reply.status is None:
            return f"Slack could not be reached ({reply.why})"
        try:
            return msgspec.json.decode(reply.body, type=_SlackAnswer)
        except msgspec.MsgspecError:
            return f"Slack answered {reply.status}"


def _receipt(answer: _SlackAnswer | str, at: str) -> NotificationReceipt:
    if isinstance(answer, str):
        return NotificationReceipt(answer)
    if not answer.ok:
        return NotificationReceipt(f"Slack answered {answer.error[:100] or 'no'}")
    return NotificationReceipt(message=answer.ts or at)


# What people do there


def sign(secret: str, at: str, body: bytes) -> str:
    """Return the signature of a request (v0)."""
    return "v0=" + hmac.digest(secret.encode(), b"v0:" + at.encode() + b":" + body, "sha256").hex()


def is_signed(secret: str, at: str, body: bytes, signature: str, now_ms: int) -> bool:
    """Whether Slack signed this body with the app's secret, a few minutes ago at most."""
    if not re.fullmatch(r"[0-9]{1,12}", at) or abs(now_ms // 1000 - int(at)) > WINDOW_SECONDS:
        return False
    return hmac.compare_digest(sign(secret, at, body).encode(), signature.encode("utf-8", "replace"))


class _Tap(msgspec.Struct, frozen=True):
    action_id: str = ""
    value: str = ""


class _User(msgspec.Struct, frozen=True):
    id: str = ""
    team_id: str = ""


class _Team(msgspec.Struct, frozen=True):
    id: str = ""


class _State(msgspec.Struct, frozen=True):
    values: dict[str, dict[str, dict[str, Any]]] = {}


class _View(msgspec.Struct, frozen=True):
    private_metadata: str = ""
    state: _State = _State()


class _Payload(msgspec.Struct, frozen=True):
    type: str = ""
    user: _User = _User()
    team: _Team | None = None
    trigger_id: str = ""
    response_url: str = ""
    actions: list[_Tap] = []
    view: _View = _View()


Move = Literal["reject", "ask"]


class _Asked(msgspec.Struct, frozen=True):
    """What a modal is about, kept in it."""

    move: Move
    value: str
    response_url: str


MODALS: Final[dict[Move, tuple[str, str]]] = {
    "reject": ("Reject for good", "Why not? The agent reads it."),
    "ask": ("Ask for changes", "What should be different?"),
}


class SlackEvents:
    """What Slack reports to its route."""

    def __init__(self, services: Services, settings: Mapping[str, Any]) -> None:
        self._services = services
        self._app = SlackButtons(settings["slack_url"])
        self._answers = urlsplit(settings["slack_answers_url"])

    async def receive(self, request: Request) -> Response:
        """Answer what Slack reports. Nothing of it is read before its signature is verified."""
        try:
            body = await _read(request)
        except (ClientDisconnect, ValueError):
            return Response(status_code=413)
        workspace_id = WorkspaceId(request.path_params["workspace_id"])
        at, signature = (
            request.headers.get(f"x-slack-{name}", "") for name in ("request-timestamp", "signature")
        )
        installed = await self._find_installed(workspace_id, at, body, signature)
        if installed is None:
            return Response("This request is not signed by a Slack app of this workspace.", 401)
        try:
            fields = {
                name: values[0] for name, values in parse_qs(body.decode(), keep_blank_values=True).items()
            }
            payload = msgspec.json.decode(fields.get("payload", "{}"), type=_Payload)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return Response(status_code=400)
        user = payload.user.id or fields.get("user_id", "")
        team = payload.user.team_id or (payload.team.id if payload.team else "") or fields.get("team_id", "")
        event = ChatEvent(
            workspace_id=workspace_id,
            target_id=installed.target_id,
            account=f"{team}:{user}",
            event_id=hashlib.sha256(f"{at} {signature}".encode()).hexdigest(),
            at_ms=int(at) * 1000,
            via="Slack",
        )
        if "command" in fields:
            answer = await link_chat_account(self._services, event, fields.get("text", ""))
            return JSONResponse({"response_type": "ephemeral", "text": escape(answer.text)})
        if payload.type == "view_submission":
            return await self._submit(event, payload)
        if payload.type == "block_actions" and payload.actions:
            await self._tap(event, payload, payload.actions[0], installed)
        return Response(status_code=200)

    async def _find_installed(
        self, workspace_id: WorkspaceId, at: str, body: bytes, signature: str
    ) -> ChatInstallation | None:
        """Return the app of the workspace whose secret signed a request."""
        now_ms = self._services.clock.now_ms()
        listed = await self._services.store.read(lambda: list_chat_apps(self._services, workspace_id, KIND))
        signed = (
            each
            for each in listed
            if _ADDRESS.fullmatch(each.address)
            and is_signed(each.address.split(" ")[1], at, body, signature, now_ms)
        )
        return next(signed, None)

    async def _tap(self, event: ChatEvent, payload: _Payload, tap: _Tap, installed: ChatInstallation) -> None:
        action_id, _, digest = tap.value.partition(" ")
        if tap.action_id == "approve":
            answer = await decide_in_chat(self._services, event, action_id, digest, "approve")
            await self._tell(event, payload.response_url, answer)
        elif move := next((each for each in MODALS if each == tap.action_id), None):
            token = installed.address.split(" ")[0]
            asked = _Asked(move, tap.value, payload.response_url)
            given = {"trigger_id": payload.trigger_id, "view": _write_modal(asked)}
            outgoing = self._services.for_workspace(event.workspace_id).outgoing
            opened = await self._app.call(outgoing, token, "views.open", given)
            if isinstance(opened, str) or not opened.ok:
                await self._tell(
                    event, payload.response_url, ChatAnswer("The form could not be opened. Try again.", False)
                )

    async def _submit(self, event: ChatEvent, payload: _Payload) -> Response:
        try:
            asked = msgspec.json.decode(payload.view.private_metadata, type=_Asked)
        except msgspec.MsgspecError:
            return Response(status_code=400)
        typed = payload.view.state.values.get("text", {}).get("text", {}).get("value")
        action_id, _, digest = asked.value.partition(" ")
        said = str(typed or "")
        answer = await decide_in_chat(self._services, event, action_id, digest, asked.move, said)
        if answer.decided:
            return Response(status_code=200)
        return JSONResponse({"response_action": "errors", "errors": {"text": answer.text}})

    async def _tell(self, event: ChatEvent, response_url: str, answer: ChatAnswer) -> None:
        """Tell the one who tapped, and no one else, why nothing was decided."""
        where = urlsplit(response_url)
        if not answer.text or (where.scheme, where.netloc) != (self._answers.scheme, self._answers.netloc):
            return
        said = {"response_type": "ephemeral", "replace_original": False, "text": escape(answer.text)}
        outgoing = self._services.for_workspace(event.workspace_id).outgoing
        await outgoing.post_webhook(response_url, msgspec.json.encode(said), {})


def make_routes(services: Services, settings: Mapping[str, Any]) -> list[Route]:
    return [Route(PATH, SlackEvents(services, settings).receive, methods=["POST"])]


def _write_modal(asked: _Asked) -> dict[str, Any]:
    title, label = MODALS[asked.move]
    entry = {"type": "plain_text_input", "action_id": "text", "multiline": True, "max_length": 1_000}
    return {
        "type": "modal",
        "title": _plain(title),
        "submit": _plain("Send"),
        "close": _plain("Cancel"),
        "private_metadata": msgspec.json.encode(asked).decode(),
        "blocks": [{"type": "input", "block_id": "text", "label": _plain(label), "element": entry}],
    }


async def _read(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise ValueError("too large")
    return body
