"""The memory screen: each entry with its source. A person confirms it or stops its use."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from assent.engine.core import tenancy
from assent.engine.learning import memory as brain
from assent.engine.learning.memory import KINDS, Entry
from assent.engine.views import memory_views
from assent.kernel.ids import is_uuid
from assent.ports import Transaction
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.review.words import Badge
from assent.serving.web.shell.console import SEND, Screen, Visit
from assent.serving.web.shell.lists import with_query
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused

ENTRIES: Final = 40
BODY_CHARS: Final = 280

KIND_NAMES: Final = {
    "brand_voice": "Brand voice",
    "voice_sample": "Voice sample",
    "repo_fact": "Fact",
    "proof": "Proof",
    "channel_performance": "Results",
    "claim_risk": "Risky claim",
    "lesson": "Lesson",
    "approval": "Approval",
    "rejection": "Rejection",
    "edit": "Edit",
}
STATE_BADGES: Final = {
    "confirmed": Badge("Confirmed", "ok"),
    "proposed": Badge("Not confirmed", "info"),
    "retired": Badge("No longer used"),
}
CHANGES: Final[dict[str, brain.State]] = {"confirm": "confirmed", "retire": "retired"}

RETIRED_NOTES: Final = {
    "earlier_rules": "Made by earlier rules, which added numbers that do not belong together.",
    "word_diff": "Earlier versions compared the words of an edit and used them in other texts. That is over.",
    "workflow_step": "A confirmed step of a workflow says nothing about later texts.",
    "found_by_a_check": "A check found this claim, by rules that are no longer used.",
    "personal_mail": "Mail to named people is no longer remembered.",
    "contact": "Contacts are no longer remembered.",
}
"""Why a memory of an earlier version is no longer used."""
UNCONFIRMED_FACT: Final = "Your agent recorded this. Drafts use it once you confirm it."
FOUND_CLAIM: Final = "A check of a draft found this claim, and nothing supported it. It changes no draft."

NO_SUCH_ENTRY: Final = PageProblem(
    404,
    "There is no such memory",
    "It is not in the workspace you look at.",
    "Look for it in the list.",
    Link("/memory", "All memories"),
)


async def memory(visit: Visit) -> Response:
    search, tenant = visit.query("q").strip()[:200], visit.query("tenant")[:64]
    kind, state = visit.choice("kind", KINDS), visit.choice("state", STATE_BADGES)
    before = visit.cursor()
    tenants = await visit.read(lambda: tenancy.list_tenants(visit.workspace_id))

    found = await visit.read(
        lambda: memory_views.entries(
            visit.workspace_id,
            tenant_id=tenant,
            kind=kind,
            state=state,
            search=search,
            before=before,
            most=ENTRIES,
        )
    )
    asked = {"q": search, "tenant": tenant, "kind": kind, "state": state}
    values = {
        "memories": [entry_row(entry, visit) for entry in found.entries],
        "search": search,
        "tenant": tenant,
        "kind": kind,
        "state": state,
        "kinds": KIND_NAMES,
        "states": STATE_BADGES,
        "tenants": [each.tenant_id for each in tenants],
        "is_filtered": any(asked.values()),
        "older": with_query("/memory", {**asked, "before": found.older}) if found.older else None,
        "newest": with_query("/memory", asked) if before else None,
    }
    return visit.page("memory.html", values)


def entry_row(entry: Entry, visit: Visit) -> dict[str, Any]:
    preview = " ".join(entry.body.split())
    cut = len(preview) > BODY_CHARS
    return {
        "entry": entry,
        "kind": KIND_NAMES.get(entry.kind, entry.kind),
        "badge": STATE_BADGES.get(entry.state, Badge(entry.state)),
        "body": preview[:BODY_CHARS].rstrip() + "…" if cut else preview,
        "whole": entry.body if cut or "\n" in entry.body.strip() else "",
        "channel": visit.services.effects.page_label(entry.channel) if entry.channel else "",
        "at": visit.when(entry.created_ms),
        "run": f"/runs/{entry.run_id}/story" if entry.run_id else None,
        "action": f"/runs/{entry.run_id}#action-{entry.action_id}"
        if entry.run_id and entry.action_id
        else None,
        "nonce": visit.nonce(f"memory {entry.entry_id}"),
        "note": note_about(entry),
        "can_confirm": entry.state != "confirmed"
        and not brain.is_outdated(entry)
        and not entry.facts.get(brain.LOGGED),
        "can_retire": entry.state != "retired",
    }


def note_about(entry: Entry) -> str:
    if because := entry.facts.get(brain.RETIRED_BECAUSE):
        return f"{RETIRED_NOTES.get(because, '')} It is kept and no longer used.".strip()
    if entry.facts.get(brain.LOGGED):
        return FOUND_CLAIM
    if entry.state == "proposed" and entry.kind in brain.FACTS:
        return UNCONFIRMED_FACT
    return ""


async def change(visit: Visit) -> Response:
    """Confirm an entry or stop its use."""
    entry_id, state = visit.part("entry_id"), CHANGES.get(visit.part("change"))
    form = await visit.form(f"memory {entry_id}")
    if state == "confirmed" and is_uuid(entry_id):
        await _require_person(visit, entry_id, form)

    def put() -> Transaction[bool]:
        if state is None or not is_uuid(entry_id):
            return False
        return (
            yield from memory_views.decide(
                visit.workspace_id, entry_id, state, visit.person.name, visit.now_ms
            )
        )

    if not await visit.write(put):
        raise PageRefused(NO_SUCH_ENTRY)
    return visit.go(f"/memory#memory-{entry_id}")


async def _require_person(visit: Visit, entry_id: str, form: dict[str, str]) -> None:
    """Require that a person lets drafts use an entry, which an agent may have recorded."""
    entry = await visit.read(lambda: brain.find(visit.workspace_id, entry_id))
    if entry is not None and entry.state != "confirmed":
        text = "Later drafts use it from then on."
        facts = ((KIND_NAMES.get(entry.kind, entry.kind), entry.body[:BODY_CHARS]),)
        await visit.confirm(form, Consequence("Confirm this?", text, "Confirm it", facts))


SCREENS: Final = (
    Screen("/memory", memory, "memory"),
    Screen("/memory/{entry_id}/{change}", change, "memory", SEND),
)
