"""Checks of content before a reviewer sees it: refuses content that is no finished text, warns of
suspicious content."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from assent.engine.core.extension_calls import call_extension
from assent.engine.core.offloading import run_long_apart
from assent.engine.core.services import Services
from assent.gate.connection import ConnectorInfo
from assent.gate.content.check import find_flaw
from assent.gate.content.suspicion import suspicions_in
from assent.gate.effects import EffectTypes
from assent.gate.records import Effect
from assent.gate.views import View
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MAX_CONTENT_CHARS, MAX_RECIPIENTS
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.kernel.texts import has_encoded_word, is_one_line
from assent.ports import Preparation


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


READ_FIELDS: Final = ("body", "title", "subject", "preheader")
"""Fields that people read."""
ONE_LINE: Final = ("title", "subject", "preheader", "sender")
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
            for field in ("title", "subject", "sender")
            if has_encoded_word(text := getattr(effect, field))
        ]
    if len(effect.recipients) > MAX_RECIPIENTS:
        problems.append(
            Problem("recipients", f"at most {MAX_RECIPIENTS}", f"{len(effect.recipients)} recipients")
        )
    return problems


# Computes views with the code of an effect's type, before the transaction that stores them.


async def describe(services: Services, workspace_id: WorkspaceId, effect: Effect) -> View:
    """Return the view of an effect. Raises `Refusal` if the code of its type fails."""
    found, base_url = services.effects.find(effect), services.links.base_url
    work = partial(services.effects.describe, effect, workspace_id=workspace_id, base_url=base_url)
    if found is None or found.trusted:
        return await run_long_apart(len(effect.body), work)
    return await call_extension(found.operator or found.id, f"the description of {found.id}", work)
