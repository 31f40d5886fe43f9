"""The brain: the lessons and facts of a tenant's runs (E33, S0 §3.6). Every entry has its origin.

The transaction of a decision stores its entry: an approval, a rejection with its reason, an edit,
and the request that came with an edit. Measurements follow a day later. The next prepare reads them
(`lessons.py`). Nothing is stored about workflow steps and contacts, and of e-mail to named people only
what a reviewer said about the writing. Tenants and workspaces never see each other's entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, get_args

import msgspec

from assent.platform import ApprovalEnded, Decided, Erased, Staged
from assent.sdk import DEFAULT_TENANT as DEFAULT_TENANT
from assent.sdk import Action, Asset, Record, Row, Transaction, WireRecord, WorkspaceId, derive_id, digest
from assent_launch.component import statements
from assent_launch.content.lessons import is_about_writing, state_claim
from assent_launch.content.records import MemoryUse

Kind = Literal[
    "brand_voice",
    "voice_sample",
    "repo_fact",
    "proof",
    "channel_performance",
    "claim_risk",
    "lesson",
    "approval",
    "rejection",
    "edit",
]
KINDS: Final[tuple[str, ...]] = get_args(Kind)
FACTS: Final = ("repo_fact", "proof")
"""Kinds that prove a claim once a person confirmed them."""

RISK: Final = "claim_risk"
RULES: Final = ("brand_voice", "lesson", RISK)
"""Kinds that the user states as a rule for every later text."""
MAX_RULES: Final = 20
"""Standing rules in one answer."""
RULES_READ: Final = 3 * MAX_RULES
"""Some of what is read was asked for with an edit of one text, and is no rule."""

State = Literal["confirmed", "proposed", "retired"]

ASKED: Final = "asked"
"""A fact of a lesson: a person asked for it with an edit."""

LOGGED: Final = "logged"
"""A fact of a risky claim: a check found it, and no person refused it."""

MAX_EXCERPT: Final = 4_000
MAX_QUERY_WORDS: Final = 12

WORDS_BATCH: Final = 64
"""How many entries are indexed at once, on average: a batch costs little more than one entry."""


class Entry(WireRecord, kw_only=True):
    """A memory with its origin."""

    entry_id: str
    tenant_id: str
    kind: str
    body: str
    state: str
    source: str
    channel: str | None
    run_id: str | None
    action_id: str | None
    facts: dict[str, Any]
    created_ms: int


class NewEntry(Record, kw_only=True):
    """A memory to store. The same natural key is stored once."""

    tenant_id: str
    kind: Kind
    body: str
    source: str
    natural_key: str
    state: State = "confirmed"
    channel: str | None = None
    run_id: str | None = None
    action_id: str | None = None
    facts: dict[str, Any] = {}


def tenant_of(tenant_id: str | None) -> str:
    return tenant_id if tenant_id is not None else DEFAULT_TENANT


def remember(workspace_id: WorkspaceId, entry: NewEntry, now_ms: int) -> Transaction[str | None]:
    """Store a memory; returns None if its natural key exists (E33)."""
    # The id is made from the key, because a store may run a transaction twice.
    entry_id = derive_id(now_ms, f"{workspace_id}:{entry.natural_key}".encode())
    made = yield statements.insert_brain_entry(
        workspace_id=workspace_id,
        entry_id=entry_id,
        tenant_id=entry.tenant_id,
        kind=entry.kind,
        body=entry.body,
        state=entry.state,
        source=entry.source,
        channel=entry.channel,
        run_id=entry.run_id,
        action_id=entry.action_id,
        facts=msgspec.json.encode(entry.facts).decode(),
        natural_key=entry.natural_key,
        created_ms=now_ms,
    )
    if not made:
        return None
    if int(entry_id[-2:], 16) % WORDS_BATCH == 0:
        yield statements.index_brain_words()
    return entry_id


def read(workspace_id: WorkspaceId, tenant_id: str, *, kind: str = "", most: int) -> Transaction[list[Entry]]:
    """Return a tenant's memories, of one kind or all, newest first."""
    rows: list[Row] = []
    for each in (kind,) if kind else KINDS:
        rows += yield statements.list_brain_entries(
            workspace_id=workspace_id, tenant_id=tenant_id, kind=each, most=most
        )
    rows.sort(key=lambda row: str(row["entry_id"]), reverse=True)
    return [entry_of(row) for row in rows[:most]]


def read_lessons(workspace_id: WorkspaceId, most: int) -> Transaction[list[Entry]]:
    """Return the lessons of all tenants, newest first."""
    rows = yield statements.list_brain_lessons(workspace_id=workspace_id, most=most)
    return [entry_of(row) for row in rows]


def read_rules(workspace_id: WorkspaceId, tenant_id: str | None) -> Transaction[list[Entry]]:
    """Return the standing rules of a tenant, or of all, oldest first."""
    rows = yield statements.list_brain_rules(
        workspace_id=workspace_id, tenant_id=tenant_id or "", most=RULES_READ
    )
    return list_rules(map(entry_of, reversed(rows)))[-MAX_RULES:]


def list_rules(found: Iterable[Entry]) -> list[Entry]:
    """Return the standing rules among some memories. A request with an edit was about one text, and a claim that a
    check logged is no one's rule."""
    return [
        entry
        for entry in found
        if entry.kind in RULES and entry.state == "confirmed" and not {ASKED, LOGGED} & entry.facts.keys()
    ]


def state_rule(rule: Entry) -> str:
    """Return a standing rule in words."""
    return state_claim(rule.body) if rule.kind == RISK else rule.body


def read_usable(
    workspace_id: WorkspaceId, tenant_id: str, kinds: Sequence[str], most: int
) -> Transaction[list[Entry]]:
    """Return a tenant's newest memories of each kind, in the order of the kinds, oldest first. Claims that
    were only logged are left out."""
    rows = yield statements.list_usable_entries(
        workspace_id=workspace_id,
        tenant_id=tenant_id,
        kinds=msgspec.json.encode(kinds).decode(),
        most=most,
    )
    return sorted(map(entry_of, rows), key=lambda entry: (kinds.index(entry.kind), entry.entry_id))


def search(
    workspace_id: WorkspaceId, tenant_id: str, query: str, *, kind: str = "", most: int
) -> Transaction[list[Entry]]:
    """Return the memories with these words, best first. Writes, to complete the index."""
    words = _words(query)
    if not words:
        return []
    yield statements.index_brain_words()
    rows = yield statements.search_brain_entries(
        workspace_id=workspace_id,
        tenant_id=tenant_id,
        kind=kind,
        query=" ".join(f'"{word}"' for word in words),
        most=most,
    )
    return [entry_of(row) for row in rows]


def _words(query: str) -> list[str]:
    """Split a search into words, quoted so that both stores read no operators."""
    return re.findall(r"\w+", query.lower())[:MAX_QUERY_WORDS]


def find(workspace_id: WorkspaceId, entry_id: str) -> Transaction[Entry | None]:
    rows = yield statements.find_brain_entry(workspace_id=workspace_id, entry_id=entry_id)
    return entry_of(rows[0]) if rows else None


def set_state(workspace_id: WorkspaceId, tenant_id: str, entry_id: str, state: State) -> Transaction[bool]:
    """Confirm or retire a memory."""
    rows = yield statements.set_brain_state(
        workspace_id=workspace_id, tenant_id=tenant_id, entry_id=entry_id, state=state
    )
    return bool(rows)


def decision_entry(
    action: Action,
    kind: Literal["approval", "rejection", "edit"],
    facts: dict[str, Any],
    before: str = "",
) -> NewEntry:
    """Return the memory of a decision, with the text if it may be kept. A rejection's reason may be a lesson; an edit
    is none."""
    channel, text = action.effect.channel, action.effect.body[:MAX_EXCERPT] if action.keeps_text else ""
    said = {
        "approval": f"Approved for {channel}: {text[:300]}",
        "rejection": f"Rejected for {channel}: {facts.get('reason', '')}",
        "edit": f"Edited for {channel}: {text[:300]}",
    }
    kept = {**_origin(action, facts), "text": text, **({"before": before[:MAX_EXCERPT]} if before else {})}
    if kind == "rejection":
        kept["reason"] = facts.get("reason", "")
    return NewEntry(
        tenant_id=tenant_of(action.tenant_id),
        kind=kind,
        body=said[kind],
        source="a decision",
        natural_key=_decision_key(action, kind, action.revision),
        channel=channel,
        run_id=action.run_id,
        action_id=action.action_id,
        facts=kept,
    )


def lesson_entry(action: Action, asked: str, facts: dict[str, Any]) -> NewEntry:
    """Return a lesson in the words of the person who asked for it with an edit."""
    return NewEntry(
        tenant_id=tenant_of(action.tenant_id),
        kind="lesson",
        body=asked,
        source="asked with an edit",
        natural_key=_decision_key(action, ASKED, action.revision),
        channel=action.effect.channel,
        run_id=action.run_id,
        action_id=action.action_id,
        facts={**_origin(action, facts), ASKED: True},
    )


def remember_decision(decided: Decided) -> Transaction[None]:
    """Store a decision that later drafts can learn from. A second approval after a withdrawal makes its memory active
    again."""
    action, before, facts, now_ms = decided.action, decided.before, decided.facts, decided.at_ms
    workspace_id = action.workspace_id
    if decided.move == "approve" and decided.first and action.keeps_text:
        entry = decision_entry(action, "approval", facts)
        if (yield from remember(workspace_id, entry, now_ms)) is None:
            yield from _set_approval_state(action, action.revision, "confirmed")
    if decided.move == "reject" and (action.keeps_text or _keeps_reason(action, facts)):
        yield from remember(workspace_id, decision_entry(action, "rejection", facts), now_ms)
    if decided.move == "edit":
        if "body" in decided.changed and action.keeps_text and before.keeps_text:
            yield from remember(
                workspace_id, decision_entry(action, "edit", facts, before.effect.body), now_ms
            )
        if decided.asked and action.keeps_requests and before.keeps_requests:
            yield from remember(workspace_id, lesson_entry(action, decided.asked, facts), now_ms)


def _keeps_reason(action: Action, facts: dict[str, Any]) -> bool:
    """Whether memory keeps why a mail to few recipients was rejected: only what is said about the writing."""
    about_mail = action.view.teaches and action.view.personal != "always" and not action.is_step
    return about_mail and is_about_writing(str(facts.get("reason") or ""))


def forget_approval(ended: ApprovalEnded) -> Transaction[None]:
    """Retire the memory of an approval that ended, unless it was given again."""
    action = ended.action
    if action.approval is None or action.revision != ended.revision:
        yield from _set_approval_state(action, ended.revision, "retired")


def forget_content(erased: Erased) -> Transaction[None]:
    """Replace the texts in the memories of decisions about an action by the notice."""
    action = erased.action
    yield statements.erase_decision_memories(
        workspace_id=action.workspace_id, action_id=action.action_id, notice=erased.notice
    )


def _set_approval_state(action: Action, revision: int, state: State) -> Transaction[None]:
    yield statements.set_brain_state_by_key(
        workspace_id=action.workspace_id, natural_key=_decision_key(action, "approval", revision), state=state
    )


def _decision_key(action: Action, kind: str, revision: int) -> str:
    return f"{kind}:{action.action_id}:{revision}"


def _origin(action: Action, facts: dict[str, Any]) -> dict[str, Any]:
    return {"by": facts.get("by"), "assurance": facts.get("assurance"), "revision": action.revision}


def memory_used(asset: Asset) -> tuple[MemoryUse, ...]:
    """Return the memories that changed a draft, and how, as recorded by its author."""
    try:
        return msgspec.convert(asset.metadata.get("memoryUsed", ()), tuple[MemoryUse, ...])
    except msgspec.ValidationError:
        return ()


def note_drafts(staged: Staged) -> Transaction[None]:
    """Record what the drafts of a run used of the memory, and which of their claims are risky."""
    for asset in staged.assets:
        yield from _log_risks(asset, staged.at_ms)
        yield from _note_uses(asset)


def _note_uses(asset: Asset) -> Transaction[None]:
    """Record which memories changed a draft, to count how often each is used."""
    for entry_id in dict.fromkeys(use.entry_id for use in memory_used(asset)):
        yield statements.add_memory_use(
            workspace_id=asset.workspace_id,
            entry_id=entry_id,
            asset_id=asset.asset_id,
            run_id=asset.run_id,
        )


def entry_of(row: Row) -> Entry:
    return Entry(
        entry_id=row["entry_id"],
        tenant_id=row["tenant_id"],
        kind=row["kind"],
        body=row["body"],
        state=row["state"],
        source=row["source"],
        channel=row["channel"],
        run_id=row["run_id"],
        action_id=row["action_id"],
        facts=msgspec.json.decode(row["facts"]),
        created_ms=row["created_ms"],
    )


def _log_risks(asset: Asset, now_ms: int) -> Transaction[None]:
    """Log the risky claims of a draft that no evidence supports, each once."""
    for claim in asset.metadata.get("claims", []):
        if claim.get("risk") and not claim.get("evidence"):
            entry = NewEntry(
                tenant_id=tenant_of(asset.tenant_id),
                kind="claim_risk",
                body=claim["text"],
                source="drafting",
                natural_key=f"claim_risk:{digest([tenant_of(asset.tenant_id), claim['text']])}",
                state="proposed",
                channel=asset.channel,
                run_id=asset.run_id,
                facts={"risk": claim["risk"], LOGGED: True},
            )
            yield from remember(asset.workspace_id, entry, now_ms)
