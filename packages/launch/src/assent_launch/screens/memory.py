"""The memory screens: rules, lessons and decisions apart, each with its source and use. A person adds,
rewrites and confirms them, or stops their use.

What later drafts follow has a lasting effect, so adding, rewriting and confirming ask for a signature.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from starlette.responses import Response

from assent.sdk import (
    LOOK_AND_SEND,
    SEND,
    Badge,
    Link,
    NavigationEntry,
    PageProblem,
    PageRefused,
    Screen,
    Tenant,
    Transaction,
    Visit,
    find_tenant,
    is_uuid,
    list_tenants,
    with_query,
)
from assent_launch.learning import memory as brain
from assent_launch.learning import memory_views
from assent_launch.learning.memory import Entry

GROUP_TEXTS: Final = {
    "rules": ("Rules", "How your drafts sound, and the facts they may use."),
    "lessons": ("Lessons", "What you asked for when you changed a draft."),
    "decisions": ("Decisions", "What you approved, changed and rejected."),
}
KIND_NAMES: Final = {
    "brand_voice": "Voice",
    "voice_sample": "Voice sample",
    "repo_fact": "Fact",
    "proof": "Proof",
    "channel_performance": "Result",
    "claim_risk": "Never claim",
    "lesson": "Lesson",
    "approval": "Approved",
    "rejection": "Rejected",
    "edit": "Edited",
}
STATE_BADGES: Final = {
    "confirmed": Badge("In use", "ok"),
    "proposed": Badge("Not confirmed", "warn"),
    "retired": Badge("Not used"),
}
NO_SUCH_ENTRY: Final = PageProblem(
    404,
    "There is no such memory",
    "It is not in the workspace you look at, or it cannot be changed.",
    "Look for it in the list.",
    Link("/memory", "All memories"),
)


def note_about(entry: Entry) -> str:
    if entry.facts.get(brain.LOGGED):
        return "A check of a draft found this claim, and nothing supported it. It changes no draft."
    if entry.state == "proposed" and entry.kind in brain.FACTS:
        return "Your agent recorded this. Drafts may use it; it proves a claim once you confirm it."
    return ""


def describe_source(entry: Entry) -> str:
    """Where a memory comes from, in words."""
    source = entry.source
    if source.startswith("asked with an edit"):
        by = entry.facts.get("by")
        return f"learned when {by} edited a draft" if by else "learned from an edit"
    if source == "a decision":
        by = entry.facts.get("by")
        return f"decided by {by}" if by else "a decision"
    return source if source.startswith(("written", "rewritten", "told")) else f"from {source}"


def describe_uses(uses: memory_views.Uses | None) -> str:
    """How often a memory changed a draft, and what became of those drafts."""
    if uses is None:
        return ""
    if not uses.drafts:
        return "Not used in a draft yet"
    number = f"{uses.drafts:,} or more" if uses.drafts >= memory_views.USES_COUNTED else f"{uses.drafts:,}"
    said = f"Used in {number} {'draft' if uses.drafts == 1 else 'drafts'}"
    parts = (
        (uses.unchanged, "approved unchanged"),
        (uses.changed, "approved after a change"),
        (uses.rejected, "rejected"),
    )
    outcome = ", ".join(f"{count:,} {word}" for count, word in parts if count)
    return f"{said}: {outcome}" if outcome else said


ENTRIES: Final = 30
BODY_CHARS: Final = 280
MOST_TEXT: Final = 2_000
CHANGES: Final[dict[str, brain.State]] = {"confirm": "confirmed", "retire": "retired"}
DELETE: Final = "delete"
SAFETY: Final = "claim_risk"
"""A rule of this kind keeps a claim out of drafts."""
DID: Final = {
    "confirm": "Later drafts use it.",
    "retire": "Later drafts do not use it.",
    DELETE: "Deleted.",
}


def list_tabs(current: str) -> list[tuple[str, str, bool]]:
    """The pages of results and memory: label, address, and whether it is the one that is shown."""
    groups = ((label, with_query("/memory", {"group": id}), id) for id, (label, _) in GROUP_TEXTS.items())
    return [(label, href, id == current) for label, href, id in (("Numbers", "/results", ""), *groups)]


async def memory(visit: Visit) -> Response:
    search, tenant = visit.query("q").strip()[:200], visit.query("tenant")[:64]
    group = visit.choice("group", memory_views.GROUPS) or "rules"
    kind = next((each for each in memory_views.GROUPS[group] if each == visit.query("kind")), None)
    state, before = visit.choice("state", STATE_BADGES), visit.cursor()

    def look() -> Transaction[tuple[memory_views.MemoryPage, tuple[Tenant, ...]]]:
        wanted = memory_views.MemoryFilter(
            kinds=(kind,) if kind is not None else memory_views.GROUPS[group],
            tenant_id=tenant,
            state=state,
            search=search,
            before=before,
        )
        found = yield from memory_views.entries(visit.workspace_id, wanted, ENTRIES)
        return found, tuple((yield from list_tenants(visit.workspace_id)))

    found, tenants = await visit.read(look)
    asked = {"group": group, "q": search, "tenant": tenant, "kind": kind or "", "state": state}
    values = {
        "memories": [entry_row(entry, found.uses.get(entry.entry_id), visit) for entry in found.entries],
        "tabs": list_tabs(group),
        "about": GROUP_TEXTS[group][1],
        "group": group,
        "search": search,
        "tenant": tenant,
        "tenants": tenants,
        "kinds": [
            (label, with_query("/memory", {**asked, "kind": id}), id == asked["kind"])
            for id, label in (("", "All"), *((each, KIND_NAMES[each]) for each in memory_views.GROUPS[group]))
        ],
        "kind": asked["kind"],
        "state": state,
        "states": STATE_BADGES,
        "is_filtered": bool(search or tenant or kind or state),
        "can_write": group != "decisions",
        "did": DID.get(visit.query("did"), ""),
        "undo": await _offer_undo(visit),
        "older": with_query("/memory", {**asked, "before": found.older}) if found.older else None,
        "newest": with_query("/memory", asked) if before else None,
    }
    return visit.page("memory.html", values)


async def _offer_undo(visit: Visit) -> dict[str, str] | None:
    """The form that takes back what was just done."""
    entry_id, back = visit.query("entry"), {"confirm": "retire", "retire": "confirm"}.get(visit.query("did"))
    entry = await visit.read(lambda: brain.find(visit.workspace_id, entry_id)) if is_uuid(entry_id) else None
    if entry is None or back is None or entry.facts.get(brain.LOGGED):
        return None
    return {"path": f"/memory/{entry_id}/{back}", "nonce": visit.nonce(f"memory {entry_id}")}


def entry_row(entry: Entry, uses: memory_views.Uses | None, visit: Visit) -> dict[str, Any]:
    # The row names the decision and its channel beside the text.
    decided = entry.kind in memory_views.GROUPS["decisions"]
    body = entry.body.partition(": ")[2] if decided else entry.body
    preview = " ".join(body.split())
    cut = len(preview) > BODY_CHARS
    is_usable = not entry.facts.get(brain.LOGGED)
    return {
        "entry": entry,
        "kind": KIND_NAMES.get(entry.kind, entry.kind),
        "badge": STATE_BADGES.get(entry.state, Badge(entry.state)),
        "body": preview[:BODY_CHARS].rstrip() + "…" if cut else preview,
        "whole": body if cut or "\n" in body.strip() else "",
        "channel": visit.services.effects.page_label(entry.channel) if entry.channel else "",
        "at": visit.when(entry.created_ms),
        "source": describe_source(entry),
        "uses": describe_uses(uses),
        "run": f"/runs/{entry.run_id}/story" if entry.run_id else None,
        "action": f"/runs/{entry.run_id}#action-{entry.action_id}"
        if entry.run_id and entry.action_id
        else None,
        "nonce": visit.nonce(f"memory {entry.entry_id}"),
        "note": note_about(entry),
        "can_confirm": entry.state != "confirmed" and is_usable,
        "can_retire": entry.state != "retired",
        "can_edit": entry.kind in memory_views.WRITTEN and is_usable and entry.state != "retired",
    }


async def change(visit: Visit) -> Response:
    """Confirm an entry, stop its use or delete it."""
    entry_id, wanted = visit.part("entry_id"), visit.part("change")
    form = await visit.form(f"memory {entry_id}")
    entry = await visit.read(lambda: brain.find(visit.workspace_id, entry_id)) if is_uuid(entry_id) else None
    if entry is None or wanted not in (*CHANGES, DELETE):
        raise PageRefused(NO_SUCH_ENTRY)
    await _ask_first(visit, entry, wanted, form)
    by, now_ms = visit.person.label, visit.now_ms

    def put() -> Transaction[bool]:
        if wanted == DELETE:
            return (yield from memory_views.delete(visit.workspace_id, entry_id, by, now_ms))
        return (yield from memory_views.decide(visit.workspace_id, entry_id, CHANGES[wanted], by, now_ms))

    if not await visit.write(put):
        raise PageRefused(NO_SUCH_ENTRY)
    group = next((id for id, kinds in memory_views.GROUPS.items() if entry.kind in kinds), "rules")
    did = {"group": group, "did": wanted, "entry": entry_id}
    return visit.go(with_query("/memory", did) + (f"#memory-{entry_id}" if wanted != DELETE else ""))


async def _ask_first(visit: Visit, entry: Entry, wanted: str, form: dict[str, str]) -> None:
    """Require a signature where drafts use what an agent may have recorded, where a safety rule ends, and where words
    are gone for good."""
    facts = ((KIND_NAMES.get(entry.kind, entry.kind), entry.body[:BODY_CHARS]),)
    if wanted == "confirm" and entry.state != "confirmed":
        await visit.confirm(form, "Use this?", "Later drafts use it from then on.", "Use it", facts)
    elif wanted == "retire" and entry.kind == SAFETY and entry.state == "confirmed":
        text = "Later drafts may claim it again."
        await visit.confirm(form, "Stop using this rule?", text, "Stop using it", facts, danger=True)
    elif wanted == DELETE:
        text = "Its words are removed for good. Drafts that were made with it stay as they are."
        await visit.confirm(form, "Delete this memory?", text, "Delete it", facts, danger=True)


async def write(visit: Visit) -> Response:
    """Add a memory, or rewrite one: its words are replaced, and the old ones are no longer used."""
    old = await _find_written(visit)
    typed = {
        "kind": old.kind
        if old is not None
        else visit.choice("kind", memory_views.WRITTEN) or memory_views.WRITTEN[0],
        "body": old.body if old is not None else "",
        "tenant": old.tenant_id if old is not None else brain.DEFAULT_TENANT,
    }
    subject = visit.here(f"memory-write {old.entry_id if old is not None else ''}")
    advice: dict[str, str] = {}
    tenants = await visit.read(lambda: list_tenants(visit.workspace_id))
    if visit.request.method == "POST":
        form = await visit.form(subject)
        typed["body"] = form.get("body", "").strip()
        if old is None:
            typed["kind"] = (
                form.get("kind", "") if form.get("kind") in memory_views.WRITTEN else typed["kind"]
            )
            wanted = form.get("tenant", "")
            known = await visit.read(lambda: find_tenant(visit.workspace_id, wanted))
            typed["tenant"] = wanted if known is not None else brain.DEFAULT_TENANT
        advice = await _save(visit, form, typed, old)
        if not advice:
            group = next(id for id, kinds in memory_views.GROUPS.items() if typed["kind"] in kinds)
            return visit.go(with_query("/memory", {"group": group}))
    values = {
        "old": old,
        "typed": typed,
        "kinds": [(kind, KIND_NAMES[kind]) for kind in memory_views.WRITTEN],
        "tenants": tenants,
        "advice": advice,
        "nonce": visit.nonce(subject),
        "most": MOST_TEXT,
    }
    return visit.page("memory_write.html", values, status=400 if advice else 200)


async def _find_written(visit: Visit) -> Entry | None:
    """The entry to rewrite; None to add one."""
    entry_id = visit.request.path_params.get("entry_id", "")
    if not entry_id:
        return None
    found = await visit.read(lambda: brain.find(visit.workspace_id, entry_id)) if is_uuid(entry_id) else None
    if found is None or found.kind not in memory_views.WRITTEN or found.state == "retired":
        raise PageRefused(NO_SUCH_ENTRY)
    return found


async def _save(
    visit: Visit, form: dict[str, str], typed: dict[str, str], old: Entry | None
) -> dict[str, str]:
    """Store what was typed and a person confirmed. Returns the advice for what is wrong."""
    body = typed["body"]
    if not body or len(body) > MOST_TEXT:
        return {"body": "Write a sentence of at most 2,000 characters."}
    kind: brain.Kind = next(each for each in memory_views.WRITTEN if each == typed["kind"])
    facts: tuple[tuple[str, str], ...] = ((KIND_NAMES[kind], body[:BODY_CHARS]),)
    if old is not None:
        facts = (("Until now", old.body[:BODY_CHARS]), ("From now on", body[:BODY_CHARS]))
    ask = "Remember this?" if old is None else "Replace these words?"
    await visit.confirm(form, ask, "Later drafts follow it from then on.", "Remember it", facts)
    by = visit.person.label

    def store() -> Transaction[str | None]:
        if old is not None:
            return (yield from memory_views.rewrite(visit.workspace_id, old, body, by, visit.now_ms))
        return (
            yield from memory_views.write(visit.workspace_id, typed["tenant"], kind, body, by, visit.now_ms)
        )

    return (
        {}
        if await visit.write(store) is not None
        else {"body": "This is remembered already, in the same words."}
    )


TEMPLATES: Final = Path(__file__).with_name("templates")

SCREENS: Final = (
    Screen(
        "/memory",
        memory,
        "memory",
        entry=NavigationEntry("memory", "/memory", "Memory", "memory", of="results"),
        templates=TEMPLATES,
    ),
    # Before the route of a change, which would match it.
    Screen("/memory/new", write, "memory", LOOK_AND_SEND, templates=TEMPLATES),
    Screen("/memory/{entry_id}/edit", write, "memory", LOOK_AND_SEND, templates=TEMPLATES),
    Screen("/memory/{entry_id}/{change}", change, "memory", SEND, templates=TEMPLATES),
)
