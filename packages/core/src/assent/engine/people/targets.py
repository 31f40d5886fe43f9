"""Notification targets: where a workspace or a person is notified, and about what.

A target belongs to a workspace or to a person. A person's target is stored with the server's
workspace and hears about the workspaces in which the person may decide. The addresses are secrets
and are stored in the vault.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.core import journal
from assent.engine.core.services import MessageServices
from assent.gate.connection import OpenedSecrets
from assent.gate.views import Severity
from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import HOUR_MS
from assent.kernel.structs import Record, from_row
from assent.net.webpush import KEY_BYTES, load_private, public_point, read_subscription
from assent.ports import Notifier, Transaction
from assent.sql.loader import statements

MOST_TARGETS: Final = 20
"""Most notification targets of a workspace, and of a person."""

CAUSES: Final = ("waiting", "decided", "problems", "reminders")
"""What a target can hear about, as a person chooses it."""

REMIND_HOURS: Final = (0, 1, 4, 24, 72)
"""The choices for the first reminder; 0 is never."""

_RISKS: Final = {"0": Severity.HIGH, "1": Severity.MEDIUM, "2": Severity.LOW}
_ADDRESS: Final = "address"


class Choices(Record):
    """What a target hears about."""

    causes: frozenset[str] = frozenset(CAUSES)
    risks: frozenset[Severity] = frozenset(Severity)
    quiet: bool = False
    remind_hours: int = 24


class TargetOwner(Record):
    """A workspace, or a person."""

    workspace_id: WorkspaceId
    person_id: str = ""


class NotificationTarget(Record):
    """A notification target with its address masked."""

    workspace_id: WorkspaceId
    target_id: str
    kind: str
    shown: str
    created_ms: int
    told_ms: int | None
    problem: str | None
    person_id: str
    causes: str
    risks: str
    quiet: int
    remind_ms: int

    @property
    def choices(self) -> Choices:
        return Choices(
            frozenset(self.causes.split()),
            frozenset(_RISKS[digit] for digit in self.risks),
            bool(self.quiet),
            self.remind_ms // HOUR_MS,
        )


def of_person(person_id: str) -> TargetOwner:
    return TargetOwner(SYSTEM_WORKSPACE, person_id)


def list_targets(owner: TargetOwner) -> Transaction[tuple[NotificationTarget, ...]]:
    rows = yield statements.list_notification_targets(
        workspace_id=owner.workspace_id, person_id=owner.person_id
    )
    return tuple(from_row(NotificationTarget, row) for row in rows)


def find(workspace_id: WorkspaceId, target_id: str) -> Transaction[NotificationTarget | None]:
    rows = yield statements.find_notification_target(workspace_id=workspace_id, target_id=target_id)
    return from_row(NotificationTarget, rows[0]) if rows else None


def open_address(services: MessageServices, target: NotificationTarget) -> Transaction[str]:
    secrets = yield from services.vault.open(target.workspace_id, _holder(target.target_id))
    address: str = dict(secrets.items()).get(_ADDRESS, "")
    return address


async def add(
    services: MessageServices,
    owner: TargetOwner,
    notifier: Notifier,
    address: str,
    *,
    by: str,
    shown: str = "",
) -> str:
    """Store a notification target. Returns its id."""
    now_ms = services.clock.now_ms()
    target_id, seal = services.new_id(now_ms), services.vault.seal(1)
    shown = shown or notifier.mask(address)

    def keep() -> Transaction[None]:
        yield statements.insert_notification_target(
            workspace_id=owner.workspace_id,
            target_id=target_id,
            kind=notifier.kind,
            shown=shown,
            created_ms=now_ms,
            person_id=owner.person_id,
        )
        secrets = OpenedSecrets({_ADDRESS: address})
        yield from services.vault.put(owner.workspace_id, _holder(target_id), secrets, seal, now_ms)
        # The journal is never deleted, so it has no address of a person.
        facts = {"shown": notifier.kind if owner.person_id else shown, "by": by}
        yield from journal.note(owner.workspace_id, "notification_added", facts, now_ms)

    await services.store.write(keep)
    return target_id


def choose(owner: TargetOwner, target_id: str, choices: Choices) -> Transaction[None]:
    """Store what a target hears about."""
    yield statements.choose_notifications(
        workspace_id=owner.workspace_id,
        target_id=target_id,
        person_id=owner.person_id,
        causes=" ".join(each for each in CAUSES if each in choices.causes),
        risks="".join(digit for digit, risk in _RISKS.items() if risk in choices.risks),
        quiet=int(choices.quiet),
        remind_ms=choices.remind_hours * HOUR_MS,
    )


def remove(
    services: MessageServices, owner: TargetOwner, target_id: str, now_ms: int, *, by: str
) -> Transaction[bool]:
    """Delete a target and its address. Returns False if it was gone."""
    gone = yield statements.delete_notification_target(
        workspace_id=owner.workspace_id, target_id=target_id, person_id=owner.person_id
    )
    if not gone:
        return False
    yield from services.vault.destroy(owner.workspace_id, _holder(target_id))
    facts = {"shown": gone[0]["kind" if owner.person_id else "shown"], "by": by}
    yield from journal.note(owner.workspace_id, "notification_removed", facts, now_ms)
    return True


def forget_person(person_id: str) -> Transaction[None]:
    """Delete the targets of a removed person, with their addresses."""
    for target in (yield from list_targets(of_person(person_id))):
        yield statements.delete_notification_target(
            workspace_id=SYSTEM_WORKSPACE, target_id=target.target_id, person_id=person_id
        )
        yield statements.delete_secrets(workspace_id=SYSTEM_WORKSPACE, holder=_holder(target.target_id))


def _holder(target_id: str) -> str:
    return f"notify:{target_id}"


# The server's key for web push. A browser subscribes with its public half, and the private half is stored with the
# subscription, so that a later key changes nothing for it.

_PUSH_HOLDER: Final = "webpush"
_PUSH_KEY: Final = "vapid"


async def find_push_key(services: MessageServices) -> str:
    """Return the public key that browsers subscribe with, as base64url. Made at the first use."""
    return tokens.encode(public_point(load_private(tokens.decode(await _find_push_key(services)))))


async def complete_push(services: MessageServices, sent: str) -> str:
    """Return the address of a browser's subscription, with the server's key; empty if it is none."""
    found = read_subscription(sent)
    if found is None:
        return ""
    with_key = msgspec.structs.replace(found, vapid=await _find_push_key(services))
    return msgspec.json.encode(with_key).decode()


async def _find_push_key(services: MessageServices) -> str:
    drawn, seal, now_ms = services.entropy(KEY_BYTES), services.vault.seal(1), services.clock.now_ms()

    def read() -> Transaction[str]:
        secrets = yield from services.vault.open(SYSTEM_WORKSPACE, _PUSH_HOLDER)
        known: str = dict(secrets.items()).get(_PUSH_KEY, "")
        return known

    def make() -> Transaction[str]:
        if known := (yield from read()):
            return known
        made = OpenedSecrets({_PUSH_KEY: tokens.encode(drawn)})
        yield from services.vault.put(SYSTEM_WORKSPACE, _PUSH_HOLDER, made, seal, now_ms)
        return (yield from read())

    return await services.store.read(read) or await services.store.write(make)
