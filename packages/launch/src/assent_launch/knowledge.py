"""What is known for a draft: a tenant's memory as evidence and as lessons of earlier decisions (E33), and
the facts that a run was given. An edited text is checked by it like a staged one.

A rule that the user states in the chat is the user's and holds at once. Facts and proofs that were told
in the chat are proposed until a person confirms them: a draft may use them, and a claim that nothing
else supports is still named, because a draft that quoted them would prove itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from assent import Effect
from assent.platform import Remarks
from assent.sdk import (
    MANY_RECIPIENTS,
    Action,
    Record,
    Run,
    Store,
    Transaction,
    WorkspaceId,
    read_asset,
    read_run,
    run_apart,
)
from assent_launch.channels.registry import BY_ID
from assent_launch.content.adapter import adapt, remind
from assent_launch.content.claims import Claim, warnings_for
from assent_launch.content.evidence import TOLD, Evidence, MemoryEntry, gather
from assent_launch.content.lessons import (
    Asked,
    Edited,
    Lessons,
    MeasuredResult,
    RefusedClaim,
    Rejection,
    is_about_writing,
    read_rules,
)
from assent_launch.content.records import CheckedText
from assent_launch.learning import memory
from assent_launch.learning.memory import Entry

MOST = 50
AS_EVIDENCE = ("brand_voice", "voice_sample", *memory.FACTS)
READ = (*AS_EVIDENCE, "lesson", "rejection", "claim_risk", "channel_performance", "edit")


def load_lessons(
    workspace_id: WorkspaceId, tenant_id: str
) -> Transaction[tuple[tuple[MemoryEntry, ...], Lessons, dict[str, str]]]:
    """Return a tenant's memory as evidence and as lessons, and the kind of each entry."""
    found = yield from memory.read_usable(workspace_id, tenant_id, READ, MOST)
    return as_evidence(found), as_lessons(found), {entry.entry_id: entry.kind for entry in found}


def as_evidence(found: Iterable[Entry]) -> tuple[MemoryEntry, ...]:
    """Return the entries that a draft may quote or follow as voice."""
    return tuple(
        MemoryEntry(
            entry_id=entry.entry_id,
            kind=TOLD if entry.kind in memory.FACTS and entry.state != "confirmed" else entry.kind,
            text=entry.body,
        )
        for entry in found
        if entry.kind in AS_EVIDENCE
    )


def as_lessons(found: Sequence[Entry]) -> Lessons:
    """Return the lessons of the entries, oldest first. Approvals are no lessons."""
    of: dict[str, list[Entry]] = {}
    for entry in found:
        of.setdefault(entry.kind, []).append(entry)
    return Lessons(
        rejections=tuple(
            Rejection(
                entry_id=entry.entry_id, reason=entry.facts.get("reason", ""), channel=entry.channel or ""
            )
            for entry in of.get("rejection", ())
        ),
        asked=tuple(
            Asked(
                entry_id=entry.entry_id,
                text=entry.body,
                confirmed=entry.state == "confirmed",
                channel=entry.channel or "",
            )
            for entry in of.get("lesson", ())
            if entry.facts.get(memory.ASKED) or is_about_writing(entry.body)
        ),
        refused_claims=tuple(
            RefusedClaim(entry_id=entry.entry_id, text=entry.body)
            for entry in memory.list_rules(of.get("claim_risk", ()))
        ),
        results=tuple(
            MeasuredResult(entry_id=entry.entry_id, channel=entry.channel or "", text=entry.body)
            for entry in of.get("channel_performance", ())
            if entry.state == "confirmed"
        ),
        edits=tuple(
            Edited(channel=entry.channel or "", before=entry.facts["before"], after=entry.facts["text"])
            for entry in of.get("edit", ())
            if entry.facts.get("before")
        ),
        standing=tuple(
            Asked(entry_id=entry.entry_id, text=entry.body)
            for entry in found
            if (memory.list_rules([entry]) and entry.kind != memory.RISK)
            # A fact may say how not to state it.
            or (entry.kind in memory.FACTS and read_rules(entry.body, entry.entry_id))
        ),
    )


# An edit is checked before its transaction, which takes the result. The product page is not read again: a claim that
# it supported stays supported.

CLAIMS = "claims"


class KnownEvidence(Record):
    """The evidence and lessons that a text is checked against."""

    drafted: dict[str, Any]
    """The metadata of the draft."""
    evidence: Evidence
    lessons: Lessons


async def recheck(store: Store, action: Action, effect: Effect) -> Remarks:
    """Check an effect that would replace the content of an action. Returns the findings."""
    known = await store.read(lambda: _read_known(action))
    return await run_apart(_compare, action, effect, known)


def _compare(action: Action, after: Effect, known: KnownEvidence) -> Remarks:
    if CLAIMS not in known.drafted or after.channel not in BY_ID:
        return Remarks()
    old, new = (_adapt(each, action, known) for each in (action.effect, after))
    staged = [str(warning) for warning in known.drafted.get("warnings", ())]
    return Remarks(
        outdated=(*staged, *old.warnings, *old.recommendations),
        warnings=new.warnings,
        recommendations=new.recommendations,
    )


def _adapt(effect: Effect, action: Action, known: KnownEvidence) -> CheckedText:
    personal = action.is_in_own_words and len(effect.everyone) <= MANY_RECIPIENTS
    made = adapt(
        effect.channel,
        effect.body,
        known.evidence,
        known.lessons,
        title=effect.subject or effect.title,
        preheader=effect.preheader,
        personal=personal,
    )
    made = remind(made, known.lessons, personal=personal)
    if personal:
        return made
    earlier = {
        claim.text: claim for claim in msgspec.convert(known.drafted.get(CLAIMS, []), tuple[Claim, ...])
    }
    claims = tuple(each if each.evidence else earlier.get(each.text, each) for each in made.claims)
    checked = warnings_for(made.claims, known.evidence)
    others = [warning for warning in made.warnings if warning not in checked]
    return msgspec.structs.replace(made, warnings=(*others, *warnings_for(claims, known.evidence)))


def _read_known(action: Action) -> Transaction[KnownEvidence]:
    asset = None
    if action.asset_id is not None:
        asset = yield from read_asset(action.workspace_id, action.asset_id)
    run = yield from read_run(action.workspace_id, action.run_id)
    tenant_id = memory.tenant_of(action.tenant_id)
    entries, lessons, _ = yield from load_lessons(action.workspace_id, tenant_id)
    given = evidence_given(run)
    if run.parent_run_id is not None:
        earlier = evidence_given((yield from read_run(action.workspace_id, run.parent_run_id)))
        for name in ("repo_context", "brand"):
            given[name] = {**earlier.get(name, {}), **given[name]}
    drafted = asset.metadata if asset is not None else {}
    return KnownEvidence(drafted, gather(**given, entries=entries), lessons)


def evidence_given(run: Run) -> dict[str, Any]:
    """Return the product facts in the input of a run, as arguments of `gather`."""
    given = run.inputs
    context = given.get("repoContext") or {}
    if "README" in context:
        context = {"readme": context["README"], **context}
    if given.get("goal"):
        context = add_goal(context, given["goal"])
    return {
        "product_url": given.get("productUrl") or "",
        "repo_context": context,
        "brand": given.get("brand") or {},
    }


def add_goal(context: dict[str, Any], goal: str) -> dict[str, Any]:
    """Return the product context with the goal of the call added."""
    return {**context, "launchGoal": [each for each in (context.get("launchGoal"), goal) if each]}
