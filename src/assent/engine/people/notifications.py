"""Notifications to people: by e-mail, a Slack-compatible webhook, or push.

The transaction that makes an action wait enqueues a job, once per run and cause. A note has the
number and kind of waiting actions and the workspace, and links to a page that requires sign-in. It
contains no content and no link that decides. The addresses are secrets of the workspace and are
stored in the vault.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Literal
from urllib.parse import urlsplit, urlunsplit

import msgspec

from assent.engine.actions import actions
from assent.engine.core import jobs, journal, tenancy
from assent.engine.core.jobs import Job, JobFailed
from assent.engine.core.services import Services
from assent.gate.connection import OpenedSecrets
from assent.gate.preflight import is_expired
from assent.gate.records import Action, ExecutionState, Status
from assent.gate.step_calls import WORKFLOW
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.limits import HOUR_MS
from assent.kernel.structs import Record, from_row
from assent.ports import NotSent, OutcomeUnknown, Transaction
from assent.sql.loader import statements
from assent.suite.content import channels

Kind = Literal["email", "slack", "ntfy"]
KINDS: Final[tuple[Kind, ...]] = ("email", "slack", "ntfy")
Cause = Literal["waiting", "unknown", "stopped", "unsent", "test"]

NOTIFY_JOB: Final = "notify_people"
UNSENT_AFTER_MS: Final = HOUR_MS
"""How long an approved action may stay unsent before people are notified."""
MOST_TARGETS: Final = 20
"""Most notification targets of a workspace."""

_ADDRESS: Final = "address"
_NAMED: Final = 4
"""Kinds of drafts that a note names."""


class NotificationTarget(Record):
    """A notification target with its address masked."""

    target_id: str
    kind: str
    shown: str
    created_ms: int
    told_ms: int | None
    problem: str | None


class Notification(Record):
    """The text of a notification."""

    title: str
    text: str
    link: str


class _Words(Record):
    """Selects the actions of a run for a note, with its wording."""

    concerns: Callable[[Action, int], bool]
    title: str
    one: str
    several: str


def _is_waiting(action: Action, now_ms: int) -> bool:
    return action.status is Status.AWAITING_APPROVAL


def _is_unknown(action: Action, now_ms: int) -> bool:
    return action.execution_state is ExecutionState.OUTCOME_UNKNOWN


def is_unsent(action: Action, now_ms: int) -> bool:
    """Whether an action is approved and no job sends it. A step of a workflow is never sent."""
    return (
        action.status is Status.APPROVED
        and action.execution_state in (ExecutionState.NONE, ExecutionState.RETRYABLE)
        and action.effect.connector != WORKFLOW
        and (action.schedule_ms is None or action.schedule_ms <= now_ms)
        and not is_expired(action, now_ms)
    )


def _has_stopped(action: Action, now_ms: int) -> bool:
    return action.status is Status.FAILED or is_unsent(action, now_ms)


_WORDS: Final[dict[str, _Words]] = {
    "waiting": _Words(_is_waiting, "Something waits for your decision", "waits for you", "wait for you"),
    "unknown": _Words(_is_unknown, "Was this sent? Please look", "waits for you", "wait for you"),
    "stopped": _Words(_has_stopped, "Something did not go out", "did not go out", "did not go out"),
    "unsent": _Words(
        is_unsent, "Approved, and not sent yet", "is approved and not sent", "are approved and not sent"
    ),
}


def ask(
    workspace_id: WorkspaceId,
    run_id: str,
    cause: Cause,
    now_ms: int,
    *,
    about: str = "",
    after_ms: int = 0,
) -> Transaction[None]:
    """Enqueue a notification, once per run, cause and `about`, if the workspace has targets. When
    the job runs, it checks again and sends nothing if the cause is gone."""
    rows = yield statements.list_notification_targets(workspace_id=workspace_id)
    for row in rows:
        yield from jobs.enqueue(
            workspace_id,
            NOTIFY_JOB,
            f"{row['target_id']}:{run_id}:{cause}{about and f':{about}'}",
            {"targetId": row["target_id"], "runId": run_id, "cause": cause},
            due_ms=now_ms + after_ms,
            now_ms=now_ms,
        )


def ask_about_unsent(action: Action, now_ms: int) -> Transaction[None]:
    """Enqueue a notification in an hour about an approved action that no job sends."""
    # Actions of a run that are approved one after another share one note.
    about = str(now_ms // UNSENT_AFTER_MS)
    yield from ask(
        action.workspace_id, action.run_id, "unsent", now_ms, about=about, after_ms=UNSENT_AFTER_MS
    )


def ask_about_stopped(action: Action, now_ms: int) -> Transaction[None]:
    """Enqueue a notification that an approved action could not be sent, once per action."""
    yield from ask(action.workspace_id, action.run_id, "stopped", now_ms, about=action.action_id)


def enqueue_test(workspace_id: WorkspaceId, target_id: str, now_ms: int) -> Transaction[None]:
    """Enqueue a test notification to one target."""
    payload = {"targetId": target_id, "runId": "", "cause": "test"}
    yield from jobs.enqueue(
        workspace_id, NOTIFY_JOB, f"{target_id}:test:{now_ms}", payload, due_ms=now_ms, now_ms=now_ms
    )


def targets(workspace_id: WorkspaceId) -> Transaction[tuple[NotificationTarget, ...]]:
    rows = yield statements.list_notification_targets(workspace_id=workspace_id)
    return tuple(from_row(NotificationTarget, row) for row in rows)


async def add(services: Services, workspace_id: WorkspaceId, kind: Kind, address: str, *, by: str) -> None:
    """Store a notification target."""
    now_ms = services.clock.now_ms()
    target_id, seal = services.new_id(now_ms), services.vault.seal(1)
    shown = mask(kind, address)

    def keep() -> Transaction[None]:
        yield statements.insert_notification_target(
            workspace_id=workspace_id,
            target_id=target_id,
            kind=kind,
            shown=shown,
            created_ms=now_ms,
        )
        secrets = OpenedSecrets({_ADDRESS: address})
        yield from services.vault.put(workspace_id, _holder(target_id), secrets, seal, now_ms)
        yield from journal.note(workspace_id, "notification_added", {"shown": shown, "by": by}, now_ms)

    await services.store.write(keep)


def remove(
    services: Services, workspace_id: WorkspaceId, target_id: str, now_ms: int, *, by: str
) -> Transaction[bool]:
    gone = yield statements.delete_notification_target(workspace_id=workspace_id, target_id=target_id)
    if not gone:
        return False
    yield from services.vault.destroy(workspace_id, _holder(target_id))
    facts = {"shown": gone[0]["shown"], "by": by}
    yield from journal.note(workspace_id, "notification_removed", facts, now_ms)
    return True


def mask(kind: str, address: str) -> str:
    """Mask an address for display, because the path of a webhook is its secret."""
    if kind == "email":
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/…"


async def notify_target(services: Services, job: Job) -> None:
    """Handle the job: send one note to one target. Raises to be tried again."""
    workspace_id, target_id = job.workspace_id, str(job.payload["targetId"])
    run_id, cause = str(job.payload["runId"]), str(job.payload["cause"])
    found = await services.store.read(partial(_prepare, services, workspace_id, target_id, run_id, cause))
    if found is None:
        return
    target, address, note = found
    problem = await _send(services, target.kind, address, note, f"{target_id}:{run_id or job.job_id}:{cause}")
    now_ms = services.clock.now_ms()
    await services.store.write(lambda: _note(workspace_id, target_id, problem or None, now_ms))
    if problem:
        raise JobFailed(f"no one was notified: {problem}")


def _prepare(
    services: Services, workspace_id: WorkspaceId, target_id: str, run_id: str, cause: str
) -> Transaction[tuple[NotificationTarget, str, Notification] | None]:
    """Return target, address and note; None if the cause is gone."""
    rows = yield statements.find_notification_target(workspace_id=workspace_id, target_id=target_id)
    if not rows:
        return None
    secrets = yield from services.vault.open(workspace_id, _holder(target_id))
    address = dict(secrets.items()).get(_ADDRESS, "")
    target = from_row(NotificationTarget, rows[0])
    place = yield from tenancy.get_workspace(workspace_id)
    if cause == "test":
        note = Notification(
            "Assent can reach you",
            f"Notes about {place.name} arrive here.",
            f"{services.links.base_url}/inbox",
        )
        return target, address, note
    staged = yield from actions.run_actions(workspace_id, RunId(run_id))
    now_ms = services.clock.now_ms()
    words = _WORDS[cause]
    about = [each for each in staged if words.concerns(each, now_ms)]
    if not about:
        return None
    kinds = list(dict.fromkeys(_label(each.effect.channel) for each in about))
    named = ", ".join(kinds[:_NAMED]) + (" and more" if len(kinds) > _NAMED else "")
    count = "One draft" if len(about) == 1 else f"{len(about)} drafts"
    verb = words.one if len(about) == 1 else words.several
    text = f"{count} in {place.name} {verb}: {named}."
    return target, address, Notification(words.title, text, f"{services.links.base_url}/runs/{run_id}")


async def _send(services: Services, kind: str, address: str, note: Notification, key: str) -> str:
    """Send a note. Returns the problem, or an empty text."""
    if kind == "email":
        try:
            await services.outgoing.send_note(address, note.title, f"{note.text}\n\n{note.link}\n", key)
        except (NotSent, OutcomeUnknown) as error:
            return str(error)
        return ""
    url, body = _build_post(kind, address, note)
    reply = await services.outgoing.post_webhook(url, body, {})
    if reply.status is not None and 200 <= reply.status < 300:
        return ""
    return reply.detail or f"it answered {reply.status}"


def _build_post(kind: str, address: str, note: Notification) -> tuple[str, bytes]:
    if kind == "slack":
        return address, msgspec.json.encode({"text": f"*{note.title}*\n{note.text}\n{note.link}"})
    # A push server takes JSON at its root path; the last part of the address is the topic.
    parts = urlsplit(address)
    path, _, topic = parts.path.rstrip("/").rpartition("/")
    url = urlunsplit((parts.scheme, parts.netloc, path + "/", "", ""))
    message = {"topic": topic, "title": note.title, "message": note.text, "click": note.link}
    return url, msgspec.json.encode(message)


def _label(channel: str) -> str:
    row = channels.BY_ID.get(channel)
    return row.label if row is not None else channel.replace("_", " ")


def _note(workspace_id: WorkspaceId, target_id: str, problem: str | None, now_ms: int) -> Transaction[None]:
    yield statements.note_notification(
        workspace_id=workspace_id, target_id=target_id, now_ms=now_ms, problem=problem
    )


def _holder(target_id: str) -> str:
    return f"notify:{target_id}"
