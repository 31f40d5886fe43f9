"""Every event of the journal as a sentence, and which events belong together (ux.md 11).

One table from kinds to sentences; a test holds it against the kinds that the code appends. A kind of another release
still shows, by its name. Pure: events in, words out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from assent.engine.audit_views import Recorded
from assent.kernel.ids import is_uuid
from assent.serving.web.review_history import NOTES, SENTENCES, Facts, who
from assent.serving.web.review_times import When, when
from assent.serving.web.review_words import agent_name, channel_name

SESSION: Final = "session:"
"""How the streams of sessions are named."""


def _by(facts: Facts) -> str:
    return agent_name(str(facts.get("by", "somebody")))


def _counted(value: object, name: str) -> str:
    return f"{value} {name}" if value == 1 else f"{value} {name}s"


def _step(facts: Facts) -> str:
    done = f"{_capital(_by(facts))} completed the step “{facts.get('stepKey', '')}”"
    if facts.get("complete"):
        return f"{done}, the last one of its workflow"
    return f"{done} on a new branch" if facts.get("branch") else done


def _measured(facts: Facts) -> str:
    totals = facts.get("totals")
    if not isinstance(totals, dict) or not totals:
        return "Measured"
    return "Measured: " + ", ".join(f"{name} {value}" for name, value in sorted(totals.items()))


def _numbers(facts: Facts) -> str:
    metrics = facts.get("metrics")
    told = (
        ", ".join(f"{name} {value}" for name, value in sorted(metrics.items())) if metrics else "no numbers"
    )
    return f"Numbers for {channel_name(str(facts.get('channel', 'a channel')))} written down by hand: {told}"


MORE: Final[dict[str, Callable[[Facts], str]]] = {
    "workspace_created": lambda facts: f"The workspace “{facts.get('name', '')}” was made by {_by(facts)}",
    "key_issued": lambda facts: (
        f"A {facts.get('mode', '')} key “{facts.get('label', '')}” was issued by {_by(facts)}"
    ),
    "key_revoked": lambda facts: f"The key {facts.get('keyId', '')} was revoked by {_by(facts)}",
    "workflow_started": lambda facts: (
        f"{_capital(_by(facts))} started the workflow {facts.get('workflowId', '')}"
    ),
    "step_acked": _step,
    "step_blocked": lambda facts: (
        f"An answer for a step was refused ({_counted(len(facts.get('issues', ())), 'issue')})"
    ),
    "checkpoint_kept": lambda facts: "A checkpoint was kept",
    "session_noted": lambda facts: f"{facts.get('by', 'Somebody')} wrote a note on the session",
    "session_imported": lambda facts: "This run came in from a file",
    "metrics_recorded": _numbers,
    "run_measured": _measured,
    "measurement_empty": lambda facts: "Measured, and no source had numbers yet",
    "memory_decided": lambda facts: (
        f"{facts.get('by', 'Somebody')} {'confirmed' if facts.get('state') == 'confirmed' else 'retired'} a memory"
    ),
    "sign_in_link_issued": lambda facts: f"A sign-in link for {facts.get('person', 'somebody')} was made",
    "signed_in": lambda facts: f"{facts.get('name') or facts.get('person', 'Somebody')} signed in",
    "signed_out": lambda facts: f"{_capital(str(facts.get('person', 'somebody')))} signed out",
    "signed_out_everywhere": lambda facts: (
        f"{_capital(str(facts.get('person', 'somebody')))} signed out everywhere "
        f"({_counted(facts.get('sessions', 0), 'session')})"
    ),
}

WORDS: Final[dict[str, Callable[[Facts], str]]] = {**SENTENCES, **MORE}
"""Every kind there is."""


class Group(msgspec.Struct, frozen=True):
    """Events that somebody looks for together."""

    id: str
    label: str
    kinds: tuple[str, ...]
    tone: str = ""


GROUPS: Final[tuple[Group, ...]] = (
    Group(
        "decisions",
        "Decisions",
        (
            *("action_approve", "approval_recorded", "action_reject", "action_edit", "action_withdraw"),
            *("outcome_answered", "outcome_still_unknown", "confirmation_asked", "review_links_ended"),
        ),
        "info",
    ),
    Group(
        "sending",
        "Sending",
        (
            *("action_claim", "action_succeed", "action_refuse", "action_postpone", "action_lose"),
            *("action_found_done", "action_found_refused", "action_found_not_done", "action_hand_over"),
            *("late_answer", "connector_rechecked"),
        ),
        "ok",
    ),
    Group(
        "runs",
        "Runs and memory",
        ("run_prepared", "run_measured", "measurement_empty", "metrics_recorded", "memory_decided"),
    ),
    Group(
        "workflows",
        "Workflows",
        (
            *("workflow_started", "step_acked", "step_blocked", "checkpoint_kept", "session_noted"),
            "session_imported",
        ),
    ),
    Group(
        "access",
        "Keys and people",
        (
            *("workspace_created", "key_issued", "key_revoked"),
            *("sign_in_link_issued", "signed_in", "signed_out", "signed_out_everywhere"),
        ),
        "warn",
    ),
)
GROUP_OF: Final[dict[str, Group]] = {kind: group for group in GROUPS for kind in group.kinds}
OTHER: Final = Group("other", "Other", ())


class AuditLine(msgspec.Struct, frozen=True, kw_only=True):
    """One event for people: what happened, what was said about it, when, and where to look further."""

    what: str
    note: str
    at: When
    day: str
    clock: str
    group: Group
    kind: str
    seq: int
    stream_id: str
    hash: str
    href: str | None
    raw: str


def audit_line(event: Recorded, now_ms: int) -> AuditLine:
    facts = _facts(event.body)
    at = when(event.at_ms, now_ms)
    return AuditLine(
        what=sentence(event.kind, facts),
        note=next((text for name in NOTES if isinstance(text := facts.get(name), str) and text), ""),
        at=at,
        day=at.text.partition(", ")[0],
        clock=at.text.partition(", ")[2],
        group=GROUP_OF.get(event.kind, OTHER),
        kind=event.kind,
        seq=event.seq,
        stream_id=event.stream_id,
        hash=event.hash,
        href=_place(event.stream_id, event.kind),
        raw=msgspec.json.format(event.body, indent=2),
    )


def audit_lines(events: Iterable[Recorded], now_ms: int) -> tuple[AuditLine, ...]:
    return tuple(audit_line(event, now_ms) for event in events)


def sentence(kind: str, facts: Facts) -> str:
    """What happened. Facts of another release may be of any shape, and a page must still show them."""
    words = WORDS.get(kind)
    try:
        said = words(facts) if words is not None else _capital(kind.replace("_", " "))
    except (TypeError, AttributeError, ValueError):
        said = _capital(kind.replace("_", " "))
    via = who(facts) if kind not in WORDS and "by" in facts else ""
    return f"{said}, by {via}" if via else said


def _facts(body: str) -> dict[str, Any]:
    decoded = msgspec.json.decode(body)
    return decoded if isinstance(decoded, dict) else {"value": decoded}


def _place(stream_id: str, kind: str) -> str | None:
    """The page of what an event is about."""
    if not is_uuid(stream_id):
        return None
    if GROUP_OF.get(kind, OTHER).id == "workflows":
        return f"/sessions/{stream_id}"
    return f"/runs/{stream_id}" if GROUP_OF.get(kind, OTHER).id != "access" else None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
