"""The content of an action before the transaction that stores it: checked, described and edited.

Content that is no finished text is refused, suspicious content gets a warning. An edit is cleaned, fitted and checked
by its type, and described and checked again. The code of a type runs here, never in a transaction; the transaction
refuses an edit if the action has changed since.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, circumstances, drift_probe
from assent.engine.core.offloading import await_extension, call_extension, run_long_apart
from assent.engine.core.services import EffectServices
from assent.gate.connection import ConnectorInfo
from assent.gate.content.check import find_flaw
from assent.gate.content.cleaning import one_line
from assent.gate.content.deeds import Deed, find_deeds, is_shown_by
from assent.gate.content.suspicion import suspicions_in
from assent.gate.effects import ARGUMENTS, EffectTypes, merge_arguments
from assent.gate.gate import ANY_CONTENT, judge_decision
from assent.gate.preflight import Checked, Remarks
from assent.gate.records import Action, Effect, Observation
from assent.gate.transitions import Move
from assent.gate.undo import FIXED, is_reverse
from assent.gate.views import View
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS, MAX_CONTENT_CHARS, MAX_RECIPIENTS, MAX_VISIBLE
from assent.kernel.refusals import Problem, Reason, Refusal, bad_argument
from assent.kernel.structs import Record
from assent.kernel.texts import has_encoded_word, is_one_line
from assent.ports import Preparation
from assent.present.cards import describe_unproven
from assent.present.refusals import refuse_missing_type, wording


def check_contents(effects: EffectTypes, preparation: Preparation) -> Preparation:
    """Return the preparation with warnings of unfinished text. Raises `Refusal` for content that is
    no text (E18, E19, E48)."""
    problems = [
        Problem(staged.paths.get(each.path, f"actions[{index}].{each.path}"), each.expected, each.got)
        for index, staged in enumerate(preparation.effects)
        for each in content_problems(staged.effect, effects.connector(staged.effect.connector))
    ]
    if problems:
        # A title derived from the text has the path of the text.
        first = {each.path: each for each in reversed(problems)}
        raise Refusal(
            Reason.VALIDATION_ERROR,
            problems=[first[path] for path in dict.fromkeys(p.path for p in problems)],
        )
    warned = tuple(
        msgspec.structs.replace(staged, warnings=tuple(dict.fromkeys((*staged.warnings, *found))))
        if (found := content_warnings(staged.effect))
        else staged
        for staged in preparation.effects
    )
    return msgspec.structs.replace(preparation, effects=warned)


def content_warnings(effect: Effect) -> tuple[str, ...]:
    """Return warnings of text that may be unfinished."""
    headlines = {text for text in (effect.title, effect.subject) if text and not effect.body.startswith(text)}
    found = [warning for text in (effect.body, *sorted(headlines)) for warning in suspicions_in(text)]
    return tuple(dict.fromkeys(found))


SHOWN_BY: Final = 500
"""How many of the latest executed actions may show that something was done."""


async def warn_of_deeds(
    services: EffectServices, workspace_id: WorkspaceId, effect: Effect
) -> tuple[str, ...]:
    """Warn of sentences that say that something was done which no action of the last month did."""
    deeds = await run_long_apart(len(effect.body), _find_deeds, effect)
    if not deeds:
        return ()
    since_ms = services.clock.now_ms() - 30 * DAY_MS
    sent = await services.store.read(lambda: actions.list_sent(workspace_id, since_ms, SHOWN_BY))
    done = tuple(each for each in sent if each.effect.arguments)
    return tuple(describe_unproven(each.passage) for each in deeds if not is_shown_by(each, done))


def _find_deeds(effect: Effect) -> tuple[Deed, ...]:
    return () if effect.arguments else find_deeds(f"{effect.subject}\n{effect.body}")


READ_FIELDS: Final = ("body", "title", "subject", "preheader")
"""Fields that people read."""
ONE_LINE: Final = ("title", "subject", "preheader", "sender", "reply_to")
"""Fields that become a header or a headline."""


def content_problems(effect: Effect, connector: ConnectorInfo) -> list[Problem]:
    """Return the problems that keep content from being shown to a reviewer."""
    problems = []
    if len(effect.body) > MAX_CONTENT_CHARS:
        problems.append(
            Problem("body", f"at most {MAX_CONTENT_CHARS} characters", f"{len(effect.body)} characters")
        )
    for field in READ_FIELDS:
        if field == "body" and effect.arguments:
            continue  # the text form of arguments lists facts by design
        shown = getattr(effect, field)[:MAX_CONTENT_CHARS]
        # The body is required; the other fields may be empty.
        if (shown or field == "body") and (flaw := find_flaw(shown)) is not None:
            problems.append(Problem(field, f"the text itself: {flaw.why}", flaw.excerpt))
    for field in ONE_LINE:
        # A second line could be read as another header.
        if not is_one_line(text := getattr(effect, field)):
            problems.append(Problem(field, "one line without control characters", repr(text[:80])))
    if connector.decodes_headers:
        problems += [
            Problem(field, "no text that mail programs decode (=?…?=)", repr(text[:80]))
            for field in ("title", "subject", "sender", "reply_to")
            if has_encoded_word(text := getattr(effect, field))
        ]
    most, people = MAX_VISIBLE if effect.is_open else MAX_RECIPIENTS, len(effect.everyone)
    if people > most:
        who = "people who see each other" if effect.is_open else "recipients"
        problems.append(Problem("recipients", f"at most {most} {who}", f"{people} recipients"))
    return problems


# Computes views with the code of an effect's type, before the transaction that stores them.


async def describe(services: EffectServices, workspace_id: WorkspaceId, effect: Effect) -> View:
    """Return the view of an effect. Raises `Refusal` if the code of its type fails."""
    found, base_url = services.effects.find(effect), services.links.base_url
    work = partial(services.effects.describe, effect, workspace_id=workspace_id, base_url=base_url)
    if found is None or found.trusted:
        return await run_long_apart(len(effect.body), work)
    return await call_extension(found.operator or found.id, f"the description of {found.id}", work)


class PreparedEdit(Record, kw_only=True):
    """An edit that can be stored. `of` is the digest of the content that it changes."""

    of: str
    names: tuple[str, ...]
    """The changed fields."""
    effect: Effect
    view: View
    checked: Checked | None
    observed: Observation = Observation()


async def prepare_edit(
    services: EffectServices, action: Action, changes: dict[str, Any], *, recheck: bool = True
) -> PreparedEdit | Refusal:
    """Return the edit, or the refusal of an unfit one: the transaction raises it, after the refusals
    that concern the caller."""
    try:
        refuse_missing_type(services.effects, action)
        effect = await edit_effect(services, action.effect, changes)
        if circumstances.rereads(services, effect):
            # Nothing is read for an edit that the transaction refuses.
            with wording():
                judge_decision(action, Move.EDIT, ANY_CONTENT, services.clock.now_ms())
            effect, _ = await circumstances.address(services, action.workspace_id, effect)
        view = await describe(services, action.workspace_id, effect)
        checked = await check_edited(services, action, effect) if recheck else None
        changed = msgspec.structs.replace(action, effect=effect, view=view)
        ready = checked.readiness.ready if checked is not None else action.preflight.connector_ready
        observed = await drift_probe.observe(services, changed, ready=ready, described=True)
    except Refusal as refusal:
        return refusal
    return PreparedEdit(
        of=action.digest,
        names=tuple(changes),
        effect=effect,
        view=view,
        checked=checked,
        observed=observed,
    )


async def edit_effect(services: EffectServices, effect: Effect, changes: dict[str, Any]) -> Effect:
    """Return the effect with the changes. Raises `Refusal` if the result is unfit for review."""
    found = services.effects.find(effect)
    chars = sum(len(text) for text in changes.values() if isinstance(text, str))
    if found is None or found.trusted:
        return await run_long_apart(chars, apply_edit, services.effects, effect, changes)
    return await call_extension(
        found.operator or found.id,
        f"the checks of {found.id}",
        lambda: apply_edit(services.effects, effect, changes),
    )


def apply_edit(effects: EffectTypes, before: Effect, changes: dict[str, Any]) -> Effect:
    """Return the effect with the changes. Calls the code of its type. Raises `Refusal`."""
    found = effects.find(before)
    fixed = FIXED if is_reverse(before) else found.fixed if found is not None else ""
    if fixed:
        # The text describes the effect; editing it would not change the effect.
        raise bad_argument("actionId", "an action with a text of its own", fixed)
    # A hand-over changes the connector and keeps the content.
    if found is not None and found.schema is not None and "connector" not in changes:
        changes = {ARGUMENTS: merge_arguments(found.schema(before), before.arguments, changes)}
    elif ARGUMENTS in changes:
        raise bad_argument(ARGUMENTS, "an action that has arguments", before.type)
    effect = msgspec.structs.replace(before, **clean_edit(changes))
    if effect.body != before.body and "preheader" not in changes:
        # It summarises the text that is being replaced.
        effect = msgspec.structs.replace(effect, preheader="")
    if effect.html and ("body" in changes or "preheader" in changes) and "html" not in changes:
        # The HTML part was made from the text that is being replaced.
        effect = msgspec.structs.replace(effect, html="")
    if found is not None and found.normalise is not None:
        effect = found.normalise(before, effect)
    problems = content_problems(effect, effects.connector(effect.connector))
    if found is not None and found.check is not None:
        problems += found.check(effect)
    if problems:
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)
    return effect


def clean_edit(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes without invisible characters in headlines, as drafts are cleaned."""
    found = dict(changes)
    for name in ("title", "subject", "preheader"):
        if name in found and is_one_line(found[name]):
            found[name] = one_line(found[name], MAX_CONTENT_CHARS)
    return found


# Check an edited text like a staged one: hidden content, readiness, and the remarks of its type.
#
# Runs before the transaction of the edit, which takes the result.


async def check_edited(services: EffectServices, action: Action, effect: Effect) -> Checked:
    """Check an effect that would replace the content of an action. Returns the findings. Raises
    `Refusal` if the code of its type fails."""
    readiness = await circumstances.ask_readiness(services, action.workspace_id, effect)
    before = await run_long_apart(len(action.effect.body), _find_deeds, action.effect)
    outdated = await run_long_apart(len(action.effect.body), content_warnings, action.effect)
    outdated += tuple(describe_unproven(each.passage) for each in before)
    warnings = await run_long_apart(len(effect.body), content_warnings, effect)
    warnings += await warn_of_deeds(services, action.workspace_id, effect)
    found, said = services.effects.find(effect), Remarks()
    if found is not None and found.recheck is not None:
        call = found.recheck(services.store, action, effect)
        said = await (call if found.trusted else await_extension(f"the remarks of {found.id}", call))
    return Checked(
        readiness=readiness,
        outdated=(*outdated, *said.outdated),
        warnings=(*warnings, *said.warnings),
        recommendations=said.recommendations,
    )
