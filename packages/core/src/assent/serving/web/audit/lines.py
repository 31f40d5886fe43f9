"""The journal for people: a line for each event, and groups of events to filter by.

The sentences are in `sentences`. An event kind of another release is shown by its name. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import msgspec

from assent.engine.audit.views import RecordedEvent
from assent.engine.views.names import ShownNames
from assent.extensions.hooks import load_extensions
from assent.gate.effects import EffectTypes
from assent.kernel.ids import is_uuid
from assent.kernel.limits import MINUTE_MS
from assent.kernel.structs import Record
from assent.present.rule_text import PRESET_WORDS
from assent.serving.web.review.history import (
    DECISIONS,
    NOTES,
    SENDING,
    SENTENCES,
    TONES,
    Facts,
    FactWords,
    Sentence,
    capital,
    name_actor,
    write_sentence,
)
from assent.serving.web.review.naming import web_address
from assent.serving.web.shell.times import when


def _count(value: object, name: str) -> str:
    return f"{value} {name}" if value == 1 else f"{value} {name}s"


def _step(facts: Facts) -> str:
    done = "{agent} completed the step “{stepKey}”".format_map(FactWords(facts))
    if facts.get("complete"):
        return f"{done}, the last one of its workflow"
    return f"{done} on a new branch" if facts.get("branch") else done


def _blocked(facts: Facts) -> str:
    return f"An answer for a step was refused ({_count(len(facts.get('issues', ())), 'issue')})"


def _hosts(facts: Facts) -> str:
    hosts = facts.get("hosts")
    listed = ", ".join(map(str, hosts if isinstance(hosts, list) else ())) or "no host"
    allowed = "any public host" if hosts is None else listed
    return "{agent} allowed webhooks to ".format_map(FactWords(facts)) + allowed


def _subscription(facts: Facts) -> str:
    events = facts.get("events")
    listed = ", ".join(map(str, events if isinstance(events, list) else ())) or "none"
    return "{agent} chose the events that are posted to {url}: ".format_map(FactWords(facts)) + listed


def _policy(facts: Facts) -> str:
    """A policy without a preset has rules of its own alone."""
    name, _ = PRESET_WORDS.get(str(facts.get("policy")), ("Own rules only", ""))
    return f"Policy changed to “{name}” by {{agent}}".format_map(FactWords(facts))


def _signed_in(facts: Facts) -> str:
    how = " on a sign-up page" if facts.get("by") == "signup" else ""
    if "passkey" in facts:
        how = " with a passkey"
    return f"{facts.get('name') or facts.get('person', 'Someone')} signed in{how}"


def _signed_out_everywhere(facts: Facts) -> str:
    sessions = _count(facts.get("sessions", 0), "session")
    return f"{facts.get('person', 'someone')} signed out everywhere ({sessions})"


_DECISIONS: Final[dict[str, Sentence]] = {
    **DECISIONS,
    "proposals_released": "{who} released {count} held proposals",
    "proposals_rejected": "{who} rejected {count} held proposals",
    "approvals_sealed": "Earlier approvals were sealed by the server",
}
_SENDING: Final[dict[str, Sentence]] = {
    **SENDING,
    "webhook_delivered": "The result was posted to its webhook",
    "webhook_failed": "The result could not be posted to its webhook",
    "webhook_resent": "The delivery to a webhook is sent again, at the request of {agent}",
}
_RUNS: Final[dict[str, Sentence]] = {
    "run_started": "Begun by {agent}; the result follows",
    "run_failed": "The run ended without a result",
}
_WORKFLOWS: Final[dict[str, Sentence]] = {
    "workflow_started": "{agent} started the workflow {workflowId}",
    "step_acked": _step,
    "step_blocked": _blocked,
    "checkpoint_kept": "A checkpoint was stored",
    "plan_asked": "The step “{stepKey}” asked for a decision about each action of a plan",
    "plan_passed": "The step “{stepKey}” went on: each action of its plan was decided",
    "session_noted": "{by} wrote a note on the session",
    "session_imported": "This run was imported from a file",
}
_ACCESS: Final[dict[str, Sentence]] = {
    "workspace_created": "The workspace “{name}” was made by {agent}",
    "workspace_renamed": "The workspace is now called “{name}”, changed by {agent}",
    "brand_changed": "The look of public pages was changed by {agent}",
    "key_issued": "A {mode} key “{label}” was issued by {agent}",
    "key_revoked": "The key {keyId} was revoked by {agent}",
    "key_rotated": "A key was replaced by {agent}; the old one works until {until}",
    "sign_in_link_issued": "A sign-in link for {person} was made",
    "signed_in": _signed_in,
    "signed_out": "{person} signed out",
    "signed_out_everywhere": _signed_out_everywhere,
    "person_invited": "{named} was invited by {agent}",
    "person_removed": "{named} was removed by {agent}",
    "person_renamed": "{person} is now named {name}",
    "passkey_added": "{name} added the passkey “{label}”",
    "passkey_removed": "{name} removed the passkey “{label}”",
    "person_admitted": "{name} ({role}) signed in for the first time, identified by {issuer}",
    "person_linked": "{name} is now identified by {issuer}",
    "person_unlinked": "A person ended the link with {subject}",
    "person_changed": "{name} became {role}, set by {agent}",
    "signup_requested": "A stranger asked for a workspace",
    "signup_admitted": "{by} let a stranger have a workspace",
    "signup_rejected": "{by} declined a stranger’s request for a workspace",
    "connector_connected": "{connector} was connected by {agent}",
    "connector_disconnected": "{connector} was disconnected by {agent}",
    "connector_expired": "The access to {connector} has ended",
    "connector_accepted_again": "{connector} accepts its access again",
    "connector_accounts_chosen": "{agent} chose what {connector} may use",
    "connector_accounts_changed": "The accounts at {connector} have changed",
    "secret_stored": "The secret {name} was stored by {agent}",
    "secret_removed": "The secret {name} was removed by {agent}",
    "webhook_secret_made": "A secret that signs webhooks was made",
    "webhook_secret_rotated": "The secret that signs webhooks was replaced",
    "webhook_hosts_changed": _hosts,
    "policy_changed": _policy,
    "wrapped_tools_accepted": "The first tools of the wrapped server {server} were accepted",
    "sending_frozen": "All sending{of} was stopped by {agent}",
    "sending_resumed": "Sending{of} was allowed again by {agent}",
    "boundary_checked": "{agent} tried what an agent of the user “{user}” can do to the server",
    "boundary_forgotten": "The check of the user “{user}” was removed by {agent}",
    "person_erased": "The data of a person was erased by {agent}",
    "content_erased": "The content was erased by {agent}",
    "events_erased": "Texts of earlier entries were erased; their hashes stayed",
    "rate_changed": "The workspace may make this many calls in a minute: {perMinute}, set by {agent}",
    "subscription_added": _subscription,
    "subscription_changed": _subscription,
    "subscription_removed": "{agent} stopped the events to {url}",
    "notification_added": "{agent} asked for notifications at {shown}",
    "notification_removed": "Notifications to {shown} were stopped by {agent}",
    "page_fetched": "{url} was requested by {agent}",
}
_OWN: Final[dict[str, Sentence]] = {**SENTENCES, **_DECISIONS, **_SENDING, **_RUNS, **_WORKFLOWS, **_ACCESS}

NOTED: Final = (*(name for name in NOTES if not name.startswith("external")), "why")
"""Facts that may become the note of a line."""

FOLDED_MS: Final = 10 * MINUTE_MS
"""How far apart events may be that a run shows as one line."""

LAST_SHOWN_MS: Final = 253_370_000_000_000
"""The last time that a calendar has, in the year 9998. A changed event may have a later one."""

SESSION: Final = "session:"
"""Prefix of the stream ids of sessions."""


class Group(Record):
    id: str
    label: str
    kinds: tuple[str, ...]


_GROUPS: Final = (
    Group("decisions", "Decisions", (*_DECISIONS,)),
    Group("sending", "Sending", (*_SENDING,)),
    Group("runs", "Runs", ("run_prepared", *_RUNS)),
    Group("workflows", "Workflows", (*_WORKFLOWS,)),
    Group("access", "People, keys and connections", (*_ACCESS,)),
)


@cache
def list_words() -> dict[str, Sentence]:
    """Return the sentences of all kinds, with those of our extensions."""
    added = (words for extension in load_extensions() for words in extension.list_sentences().values())
    return _OWN | {kind: said for words in added for kind, said in words.items()}


@cache
def list_groups() -> tuple[Group, ...]:
    """Return the groups of all kinds, with those of our extensions."""
    added = [extension.list_sentences() for extension in load_extensions()]
    return tuple(
        Group(each.id, each.label, (*each.kinds, *(kind for more in added for kind in more.get(each.id, ()))))
        for each in _GROUPS
    )


@cache
def map_groups() -> dict[str, Group]:
    return {kind: group for group in list_groups() for kind in group.kinds}


OTHER: Final = Group("other", "Other", ())


def audit_line(effects: EffectTypes, event: RecordedEvent, names: ShownNames, now_ms: int) -> dict[str, Any]:
    facts = _facts(event.body)
    at = when(min(event.at_ms, LAST_SHOWN_MS), now_ms)
    about = names.actions.get(str(facts.get("actionId")))
    run, _ = names.runs.get(event.stream_id, ("", ""))
    return {
        "object": about.title if about is not None else run,
        "action_id": about.action_id if about is not None else None,
        "object_kind": about.kind if about is not None and about.kind != about.title else "",
        "what": sentence(effects, event.kind, facts),
        "note": next((text for name in NOTED if isinstance(text := facts.get(name), str) and text), ""),
        "address": web_address(str(facts.get("externalUrl") or "")),
        "at": at,
        "at_ms": event.at_ms,
        "tone": TONES.get(event.kind, ""),
        "kind": event.kind,
        "seq": event.seq,
        "stream_id": event.stream_id,
        "hash": event.hash,
        "href": f"/runs/{event.stream_id}#action-{about.action_id}"
        if about is not None
        else _place(event.stream_id, event.kind),
        "raw": _format(event.body),
    }


def audit_lines(
    effects: EffectTypes, events: Iterable[RecordedEvent], names: ShownNames, now_ms: int
) -> tuple[dict[str, Any], ...]:
    return tuple(audit_line(effects, event, names, now_ms) for event in events)


def fold_lines(lines: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The lines of a run, oldest first, with one line for several actions to which the same happened at
    about the same time. What happens to one action twice has two lines."""
    folded: list[dict[str, Any]] = []
    for line in reversed(tuple(lines)):
        alike = next((each for each in reversed(folded) if _belongs(line, each)), None)
        if alike is not None:
            alike["objects"].append(line)
        else:
            folded.append({**line, "objects": [line]})
    return tuple(folded)


def _belongs(line: dict[str, Any], group: dict[str, Any]) -> bool:
    """Whether a line is about another action to which the same happened."""
    if (line["what"], line["note"]) != (group["what"], group["note"]) or line["action_id"] is None:
        return False
    near = line["at_ms"] - group["at_ms"] < FOLDED_MS
    return near and all(each["action_id"] not in (None, line["action_id"]) for each in group["objects"])


def sentence(effects: EffectTypes, kind: str, facts: Facts) -> str:
    """Return the sentence of an event, whatever shape its facts have."""
    try:
        return write_sentence(list_words()[kind], _with_names(effects, facts))
    except (KeyError, TypeError, AttributeError, ValueError):
        named = capital(kind.replace("_", " "))
        return f"{named}, by {name_actor(facts)}" if kind not in list_words() and "by" in facts else named


def _with_names(effects: EffectTypes, facts: Facts) -> Facts:
    """Return the facts with the names of the connector and the channel for people."""
    return {
        **facts,
        "connector": effects.connector(str(facts.get("provider", "a connector"))).label,
        "channelName": effects.page_label(str(facts.get("channel", "a channel"))),
    }


def _facts(body: str) -> dict[str, Any]:
    """The facts of an event; none if its body was changed beyond decoding, which verification finds."""
    try:
        decoded = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {"value": decoded}


def _format(body: str) -> str:
    try:
        return msgspec.json.format(body, indent=2)
    except (ValueError, RecursionError):
        return ascii(body)


def _place(stream_id: str, kind: str) -> str | None:
    """The path of the page about the event's subject."""
    if not is_uuid(stream_id):
        return None
    group = map_groups().get(kind, OTHER).id
    if group == "workflows":
        return f"/sessions/{stream_id}"
    return f"/runs/{stream_id}/story" if group != "access" else None
