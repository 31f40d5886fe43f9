"""`resend`: sends approved e-mails through Resend.

Resend keeps an idempotency key for a day: the same key and content return the same e-mail, so an
unknown outcome is reconciled by repeating the request. One table gives the meaning of its error
names.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any, Final

import msgspec

from assent import Context, Effect, NotConnected, NotSent, OutcomeUnknown
from assent.platform import (
    Access,
    Account,
    Deadline,
    Delivered,
    Delivery,
    Exchanged,
    KeyAccess,
    Mailbox,
    NoLookUp,
    Reading,
    Verified,
    action_of,
    exchange,
)
from assent.sdk import DAY_MS, HOUR_MS, Action, Clock, Picture, WorkspaceId, is_one_line, iso_time
from assent_launch.channels.email import RESEND
from assent_launch.channels.email.smtp import html_part
from assent_launch.channels.key_connector import KeyConnector
from assent_launch.learning.metrics import select_credible

TEST_SENDER: Final = "Assent <onboarding@resend.dev>"
"""Resend's sender for accounts without a domain; it delivers only to the account's owner."""

NOBODY: Final = "00000000-0000-0000-0000-000000000000"
"""An id that no e-mail has, used to check whether a key is accepted."""

KEY_ENDED: Final = frozenset({"missing_api_key", "invalid_api_key"})
IN_DOUBT: Final = {
    "invalid_idempotent_request": "another content was sent under the key of this action",
    "concurrent_idempotent_requests": "a request with the key of this action is still being worked on",
}
QUOTAS: Final = ("daily_quota_exceeded", "monthly_quota_exceeded")

EVENTS: Final[dict[str, dict[str, int | float]]] = {
    "delivered": {"delivered": 1},
    "opened": {"delivered": 1, "opened": 1},
    "clicked": {"delivered": 1, "opened": 1, "clicked": 1},
    "complained": {"delivered": 1, "complained": 1},
    "bounced": {"delivered": 0, "bounced": 1},
    "failed": {"delivered": 0, "failed": 1},
    "suppressed": {"delivered": 0, "suppressed": 1},
    "canceled": {"delivered": 0, "canceled": 1},
}
"""The metrics that follow from an e-mail's last event; other events give none."""


class ResendConnector(NoLookUp, KeyConnector):
    info = RESEND
    id = RESEND.id
    delivery = Delivery("native_key", DAY_MS)
    no_look_up = "Resend finds a mail by its id only, and this one's is not known"

    def __init__(self, url: str, access: KeyAccess, clock: Clock) -> None:
        super().__init__(access, url)
        self._url, self._clock = url.rstrip("/"), clock

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        connection = await self._access.connection(workspace_id)
        account = next(iter(connection.accounts_on("email")), None) if connection is not None else None
        if connection is None or account is None:
            return msgspec.structs.replace(effect, target=None)
        sender = effect.sender or str(connection.settings.get("from") or TEST_SENDER)
        return msgspec.structs.replace(effect, target=account.target, sender=sender)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action = action_of(ctx, effect)
        body = mail(action, TEST_SENDER, ctx.pictures)
        access = await self._access.access(action.workspace_id)
        if access.connection.account(action.effect.account_id or "") is None:
            raise NotConnected("the account it is for is not connected any more")
        answer = await self._ask(
            access,
            "POST",
            "/emails",
            ctx.deadline,
            body=body,
            headers={"idempotency-key": ctx.key},
        )
        if not answer.ok:
            raise self._failed(answer, effect)
        mail_id = answer.text("id")
        if not mail_id:
            raise OutcomeUnknown("a success that cannot be read")
        return Delivered(mail_id, None, {"recipients": len(action.effect.everyone)})

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        deadline = Deadline(timeout_seconds)
        access = await self._access.access(action.workspace_id)
        mail_id = action.external_id or ""
        query = {
            "email_id": mail_id,
            "start_date": iso_time((action.executed_ms or action.created_ms) - HOUR_MS),
            "end_date": iso_time(self._clock.now_ms()),
        }
        answer = await self._ask(access, "GET", "/emails/metrics", deadline, query=query)
        totals = answer.at("totals") if answer.ok else None
        metrics, left_out = select_credible(totals if isinstance(totals, dict) else {})
        if not any(metrics.values()) and not left_out:
            # Nothing counted yet, or no such endpoint: the e-mail's last event tells how far it
            # got.
            answer = await self._ask(access, "GET", f"/emails/{mail_id}", deadline)
            metrics = EVENTS.get(str(answer.at("last_event")), {}) if answer.ok else {}
            if metrics and len(action.effect.everyone) > 1:
                return self.count_nothing(
                    action, "Resend tells only the last event of a mail to several people"
                )
        if not metrics and not left_out:
            return self.count_nothing(action, _no_numbers(answer))
        return self.count(action, metrics, left_out)

    async def verify(self, key: str, timeout_seconds: float) -> Verified:
        deadline = Deadline(timeout_seconds)
        answer = await exchange(
            "GET", f"{self._url}/emails/{NOBODY}", token=key, timeout_seconds=deadline.left()
        )
        sends_only = answer.at("name") == "restricted_api_key"
        if not (answer.ok or answer.status in (404, 422) or sends_only):
            raise self._access.not_accepted(answer)
        domain = None if sends_only else await self._domain(key, deadline)
        account = domain or Account("resend", "email", "Resend", default=True)
        settings: dict[str, Any] = {"readsBack": not sends_only}
        if domain is not None:
            settings["from"] = f"hello@{domain.name}"
        return Verified(label="Resend", accounts=(account,), settings=settings)

    async def _domain(self, key: str, deadline: Deadline) -> Account | None:
        """Return a verified sender domain, if the key may list domains."""
        try:
            answer = await exchange("GET", f"{self._url}/domains", token=key, timeout_seconds=deadline.left())
        except (NotSent, OutcomeUnknown):
            return None
        found = answer.at("data") if answer.ok else None
        for each in found if isinstance(found, list) else ():
            if isinstance(each, dict) and each.get("status") == "verified" and each.get("name"):
                return Account(str(each.get("id") or each["name"]), "email", str(each["name"]), default=True)
        return None

    async def _ask(
        self, access: Access, method: str, path: str, deadline: Deadline, **what: Any
    ) -> Exchanged:
        answer = await exchange(
            method, self._url + path, token=self._access.key(access), timeout_seconds=deadline.left(), **what
        )
        if answer.at("name") in KEY_ENDED or (answer.status == 401 and answer.at("name") is None):
            raise await self._access.ended(access, answer.text("message"))
        return answer

    def _failed(self, answer: Exchanged, effect: Effect) -> NotSent | OutcomeUnknown:
        """Return the outcome by error name first, since Resend's statuses are ambiguous."""
        name, said = answer.at("name"), answer.text("message")
        if name in IN_DOUBT:
            return OutcomeUnknown(f"Resend says that {IN_DOUBT[name]}")
        if name in QUOTAS:
            return NotSent(
                f"Resend's quota is used up: {said}", retry=True, retry_after_seconds=DAY_MS // 1000
            )
        if name == "restricted_api_key":
            return NotConnected(f"this key may not send: {said}")
        outcome = answer.fail(said, self._clock.now_ms())
        if isinstance(outcome, NotSent) and answer.status == 422:
            addresses = (Mailbox.parse(each).address for each in effect.everyone)
            outcome.refused = tuple(each for each in addresses if each in said)
        return outcome


def _no_numbers(answer: Exchanged) -> str:
    if answer.at("name") == "restricted_api_key":
        return "this Resend key may only send; numbers need one with full access"
    if answer.ok:
        event = str(answer.at("last_event") or "on its way").replace("_", " ")
        return f"the mail is {event}; there is nothing to count yet"
    return f"Resend has no numbers for it (HTTP {answer.status})"


# Builds the Resend request of an approved e-mail. Recipients see each other only if that was approved.
#
# The same action and revision give the same request, so Resend recognises a repeated key. Resend composes the e-mail
# itself. Text that Resend or a mail program might decode or split is quoted where a standard allows it, else refused.
#
# Imported with the first e-mail, because the standard library's mail package is large.

MAX_RECIPIENTS: Final = 50

_ENCODED: Final = re.compile(r"=\?[^?]*\?[bq]\?", re.IGNORECASE)
"""What mail programs would decode to other characters (RFC 2047)."""
_BARE: Final = re.compile(r"\w(?:[\w '-]*\w)?")


def mail(action: Action, default_sender: str, pictures: tuple[Picture, ...] = ()) -> dict[str, Any]:
    """Return the body of the request. Raises `NotSent`."""
    effect = action.effect
    sender, *_ = _boxes("sender", (effect.sender or default_sender,))
    recipients, cc = _boxes("recipients", effect.recipients), _boxes("cc", effect.cc)
    if not recipients:
        raise NotSent("it has no recipients")
    if len(recipients) > MAX_RECIPIENTS:
        raise NotSent(
            f"Resend takes at most {MAX_RECIPIENTS} recipients in one mail, this has {len(recipients)}"
        )
    hidden = len(recipients) > 1 and not effect.is_open
    answers = _boxes("replyTo", (effect.reply_to,)) if effect.reply_to else []
    subject = effect.subject or effect.title
    if not is_one_line(subject) or _ENCODED.search(subject):
        raise NotSent(
            "subject: it holds a line break, a control character or what mail programs decode (=?…?=)"
        )
    return {
        "from": sender,
        "to": [sender] if hidden else recipients,
        **({"bcc": recipients} if hidden else {}),
        **({"cc": cc} if cc else {}),
        **({"reply_to": answers} if answers else {}),
        "subject": subject,
        "text": effect.body,
        "html": html_part(effect),
        "tags": [{"name": "assent_action", "value": action.action_id}],
        **(
            {"attachments": [_attach(number, each) for number, each in enumerate(pictures, 1)]}
            if pictures
            else {}
        ),
    }


def _attach(number: int, picture: Picture) -> dict[str, str]:
    return {
        "filename": f"picture-{number}.{picture.content_type.rpartition('/')[2]}",
        "content": b64encode(picture.content).decode(),
        "content_type": picture.content_type,
    }


def _boxes(field: str, given: tuple[str, ...]) -> list[str]:
    try:
        found = [Mailbox.parse(each) for each in given]
    except ValueError as error:
        raise NotSent(f"{field}: {error}") from error
    if any(_ENCODED.search(box.name) for box in found):
        raise NotSent(f"{field}: a name holds what mail programs decode (=?…?=)")
    return list({box.address: _write_mailbox(box) for box in found}.values())


def _write_mailbox(box: Mailbox) -> str:
    """Return a mailbox, with its name quoted if it could be read as more than words."""
    if not box.name:
        return box.address
    if _BARE.fullmatch(box.name):
        return f"{box.name} <{box.address}>"
    return '"' + box.name.replace("\\", "\\\\") + f'" <{box.address}>'
