"""What the judge reads: calls of clients, the ledger of a provider, events of the journal.

A client appends two lines of JSON to its history for each call, one before and one after; a client or server that is
killed between them leaves the first alone, and the call has no answer. Times are milliseconds of one machine's clock.
The provider's ledger has a line for each request and one for each effect. The journal is the output of
`assent audit export`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

GENESIS = "0" * 64
Payload = dict[str, Any]
DOUBTFUL = frozenset({"temporarily_unavailable", "internal_error"})
"""Reasons of answers after which the call may still have taken effect: the answer to a commit can be lost."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool. `holder` is the owner of its idempotency keys: the API key, or the local user."""

    client: str
    holder: str
    tool: str
    arguments: Payload
    begun: float
    ended: float | None = None
    answer: Payload | None = None

    @property
    def ok(self) -> bool:
        return self.answer is not None and bool(self.answer.get("ok"))

    @property
    def reason(self) -> str | None:
        return None if self.answer is None else self.answer.get("reason")

    @property
    def replayed(self) -> bool:
        """Whether it was answered by what an earlier call did; it took effect then, and not now."""
        return self.answer is not None and "replay" in self.answer

    @property
    def action_id(self) -> str:
        return str(self.arguments.get("actionId", ""))

    @property
    def key(self) -> str | None:
        return self.arguments.get("idempotencyKey")

    @property
    def uncertain(self) -> bool:
        """Whether the client cannot know if it took effect: no answer came, or the server could not reach its store."""
        return self.answer is None or self.reason in DOUBTFUL

    @property
    def latest(self) -> float:
        """The last moment at which it may have taken effect."""
        return float("inf") if self.ended is None or self.uncertain else self.ended


@dataclass(frozen=True, slots=True)
class Request:
    """A request that could have an effect, as it reached the provider."""

    reference: str
    outcome: str
    at_ms: int

    @property
    def action_id(self) -> str:
        return self.reference.rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that happened at the provider."""

    effect_id: str
    reference: str
    content: Payload
    at_ms: int

    @property
    def action_id(self) -> str:
        return self.reference.rpartition(":")[0]

    @property
    def revision(self) -> int:
        return int(self.reference.rpartition(":")[2])

    @property
    def digest(self) -> str:
        return digest(self.content)


@dataclass(frozen=True, slots=True)
class Event:
    """An event of the journal. `text` is its body as it was written, which its hash covers."""

    workspace_id: str
    stream_id: str
    seq: int
    kind: str
    at_ms: int
    text: str
    hash: str

    @property
    def stream(self) -> tuple[str, str]:
        return self.workspace_id, self.stream_id

    @property
    def body(self) -> Payload:
        body = json.loads(self.text)
        return body if isinstance(body, dict) else {}


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a provider does with a repeated request: `key` (recognises it within the window), `look` (can be asked),
    or `none`."""

    kind: str
    window_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A verification of the journal by the server's own command, and whether the journal had been changed before."""

    name: str
    tampered: bool
    found: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything about one run of the programme."""

    calls: list[Call] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    records: Mapping[str, Payload] = field(default_factory=dict)
    """The answers of the last `chieflab_get_action`, by action."""
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)
    """By connector."""
    earlier: list[list[Event]] = field(default_factory=list)
    """Exports that were taken before the last one."""
    trials: list[Trial] = field(default_factory=list)
    server_now_ms: int | None = None
    """The server's clock at the end, if measurements were awaited."""


def read_calls(lines: Iterable[str]) -> list[Call]:
    """Read the histories of clients. A line that a kill cut short is left out."""
    begun: dict[str, Payload] = {}
    ended: dict[str, Payload] = {}
    for line in lines:
        if (value := _whole(line)) is not None:
            (begun if "tool" in value else ended)[value["id"]] = value
    return [
        Call(
            each["client"],
            each["holder"],
            each["tool"],
            each["arguments"],
            each["begun"],
            ended.get(name, {}).get("ended"),
            ended.get(name, {}).get("answer"),
        )
        for name, each in begun.items()
    ]


def read_ledger(lines: Iterable[str]) -> tuple[list[Request], list[Effect]]:
    """Read the ledger of a provider."""
    requests, effects = [], []
    for line in lines:
        entry = _whole(line)
        if entry is None or not entry.get("reference"):
            continue
        if entry["kind"] == "effect":
            content = entry["content"] if isinstance(entry["content"], dict) else {}
            effects.append(Effect(entry["effectId"], entry["reference"], content, entry["atMs"]))
        elif entry["method"] == "POST":
            requests.append(Request(entry["reference"], entry["outcome"], entry["atMs"]))
    return requests, effects


def read_export(lines: Iterable[str]) -> list[Event]:
    """Read the events of an audit export; its checkpoints are left out."""
    return [event for line in lines if (event := _read_event(line)) is not None]


def _read_event(line: str) -> Event | None:
    value = _whole(line)
    if value is None or "streamId" not in value or "seq" not in value:
        return None
    # The hash covers the text of the body, so it is taken from the line and not written again.
    text = line[line.index('"body":') + len('"body":') : line.rindex(',"hash":"')]
    return Event(
        value["workspaceId"],
        value["streamId"],
        value["seq"],
        value["kind"],
        value["atMs"],
        text,
        value["hash"],
    )


def _whole(line: str) -> Payload | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def canonical(value: Any) -> str:
    """The one text of a JSON value. Keys are ASCII and numbers are integers here, so this is RFC 8785."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(content: Payload) -> str:
    """The digest that an approval of this content is bound to."""
    return "sha256:" + hashlib.sha256(canonical(content).encode()).hexdigest()


def link(event: Event, previous: str) -> str:
    """The hash of an event after one with the hash `previous`."""
    identity = [event.workspace_id, event.stream_id, event.seq, event.kind, event.at_ms]
    own = hashlib.sha256((canonical(identity) + "\n" + event.text).encode()).digest()
    return hashlib.sha256(bytes.fromhex(previous) + own).hexdigest()
