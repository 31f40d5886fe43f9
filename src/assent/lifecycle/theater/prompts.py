"""Prompts: instructions to a writer or a model. A prompt opens with them, or ends with a task that looks back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assent.lifecycle.theater import tasks, tongues
from assent.lifecycle.theater.fields import of_a_brief
from assent.lifecycle.theater.limits import FRAGMENT, SHOULD, After, weight, weight_of
from assent.lifecycle.theater.page import Page, field_of, word_count
from assent.lifecycle.theater.words import ONE, PIECE, PITCH, READER, SOME, WRITE, listed, sign

NEAR: Final = 12
"""How many sentences after a role may hold its task."""

_CHAT_MARK: Final = sign(
    r"[ \t]*(?:<\|(?:im_start|system|user|assistant|start_header_id)\|>|\[INST\]|<<SYS>>|"
    r"#{2,4} (?:Instruction|Response|System)s?:[ \t]*$|<(?:system|system_prompt|instructions)>)",
    flags=re.MULTILINE,
)
_TURN: Final = sign(r"(?:system|user|assistant|human|developer)\s?:\s?\S")
_SECTIONS: Final = listed(
    "role, task, context, constraints, constraint, output format, output, format, instructions, input, rules",
    "examples, example, persona, objective, goal, requirements, guidelines, tone, audience",
)
_SURE_SECTIONS: Final = listed("task, output format, constraints, instructions, role, persona")
_INLINE_SECTION: Final = re.compile(r"(?:[Yy]our )?([A-Za-z][A-Za-z ]{2,20}): ?")
_LABEL: Final = sign(
    r"(?:#{1,6} ?|\*\*)?(?:(?:(?:system|user|draft|drafting|writing|llm|image|copy|developer|linkedin|x|"
    r"e-?mail|post) )?"
    r"prompt|system|user|developer|(?:instructions?|notes?|context|guidance)(?= (?:for|"
    r"to) (?:the )?(?:calling |host )?"
    r"(?:model|llm|agent|ai|assistant|writer|copywriter)))(?: (?:for|to) [^:\n]{1,60})?(?: \([^()\n]{1,60}\))?"
    r"(?:\*\*)? ?:(?:\*\*)?\s*"
)
_HEADING: Final = sign(
    r"(?:#{1,6} ?|\*\*)?(?:(?:system|user|drafting|creative|content|writing|channel|copy|llm|"
    r"agent) )?(?:prompt|brief|"
    r"instructions?|task|role|request|context|mission|goal|objective|system|background)(?: for [^:.\n]{1,40})?"
    r"(?:\*\*)? ?:?(?:\*\*)?\s*$",
    r"(?:here(?:['’]s| is| are)|below (?:is|are)|this is|see) (?:the |some |your |all )?(?:product |launch |"
    r"repo |brand )?"
    r"(?:context|background|information|evidence|input|data|facts|notes|details)\b",
)
_TO_AN_AGENT: Final = sign(
    rf"(?:the |this )?(?:assistant|agent|model|llm|ai) (?:should|must|needs to|is to|"
    rf"has to) (?:now )?{WRITE} {ONE} "
    rf"{SOME}{{0,6}}?{PIECE}\b",
    r"(?:the |you, the |note to (?:the )?)?(?:calling|host|client|drafting|writing) (?:agent|llm|model|"
    r"assistant|ai)\b"
    r"[^.!?]{0,20}?(?:should|must|will|shall|needs? to|is expected to|to|please|:)\s(?:now |then |please )?"
    r"(?:write|draft|compose|generate|produce|fill|complete|replace|expand|turn|use)\b",
    r"(?:show|render|surface|present|display|paste|print) (?:this|these|the following|the draft|it|the text|"
    r"the body)\b"
    r"[^.!?]{0,60}\b(?:to the (?:user|human)|in (?:the )?chat|verbatim|inline)\b",
    r"(?:please )?(?:(?:return|output|respond|reply|answer|provide|print)(?: with)? (?:only|just|nothing but|"
    r"exclusively)|"
    rf"only (?:return|output|respond|reply)(?: with)?)\b[^.!?]{{0,25}}\b(?:{PIECE}|json|markdown|result|"
    rf"output)\b",
)


def chat(page: Page) -> str | None:
    """The marks of a model's own format, or a system's turn before others."""
    first = page.lines[0]
    turns = sum(_TURN.match(line) is not None for line in page.lines[:6])
    spoken = turns > 1 and first.casefold().startswith("system") and _TURN.match(first)
    return first if spoken or _CHAT_MARK.match(page.text) else None


def sections(page: Page) -> str | None:
    """The sections that a prompt is usually laid out in, from the first line on."""
    titled = [line for line in page.lines if line.startswith(("#", "**")) or line.endswith(":")]
    inline = [match[1] for sentence in page.sentences if (match := _INLINE_SECTION.match(sentence))]
    keys = [field.key for field in page.fields if field is not None]
    found = _SECTIONS.intersection(map(_section, [*titled, *inline, *keys]))
    first = _section(page.fields[0].key if page.fields[0] else page.lines[0])
    if first not in found or len(found) < 3 or len(found & _SURE_SECTIONS) < 2:
        return None
    return page.lines[0] if first in _SURE_SECTIONS or len(found) >= 4 else None


def _section(line: str) -> str:
    return line.strip("#*: \t").casefold().removeprefix("your ")


def labelled(page: Page) -> str | None:
    """`Prompt:` and then one, quoted or not."""
    label = _LABEL.match(page.head)
    if label is None:
        return None
    sentences = Page(page.text[label.end() :]).sentences
    if not sentences:
        return None
    opening = sentences[0]
    sure = tasks.TASK.match(opening) or tasks.ROLE.match(opening) or weight(opening) == 1
    return page.lines[0] if sure or _gives_orders(sentences, asks=True) else None


def orders(page: Page) -> str | None:
    """A role or a task in the opening, or a task at the end that looks back."""
    headings = 0
    while len(page.sentences) > headings + 1 and _is_above(page.sentences[headings]):
        headings += 1
    sentences = page.sentences[headings:]
    asks = tasks.may_set_task(page.unquoted)
    if sentences and _gives_orders(sentences, asks):
        return sentences[0]
    if not asks:
        return None
    if headings and any(map(tasks.TASK.match, sentences[:5])) and weight_of(sentences) >= 1:
        return sentences[0]
    last = page.last_sentences
    for at, sentence in enumerate(last):
        looks_back = tasks.TASK.match(sentence) and tasks.BACKWARD.search(sentence)
        if looks_back and weight_of(last[at + 1 :]) >= 1:
            return sentence
    return None


def _is_above(sentence: str) -> bool:
    """Whether it may stand above the first instruction."""
    short_field = (
        word_count(sentence) <= 6 and of_a_brief(field_of(sentence)) > 0 and not tasks.TASK.match(sentence)
    )
    return short_field or _HEADING.match(sentence) is not None


def _gives_orders(sentences: Sequence[str], asks: bool) -> bool:
    return _in_english(sentences, asks) or tongues.gives_orders(sentences)


def _in_english(sentences: Sequence[str], asks: bool) -> bool:
    """`asks` is whether any of the sentences can be a task."""
    opening, rest = sentences[0], sentences[1:]
    if tasks.ACT_AS.match(opening):
        return True
    after = After(rest, after_task=True)
    if _TO_AN_AGENT.match(opening):
        return after.tells <= 2
    follows = asks and any(tasks.TASK.match(sentence) for sentence in rest[:NEAR])
    if tasks.MODEL_ROLE.match(opening):
        return follows or after.limits > 0 or after.tells <= 3
    if tasks.ROLE.match(opening):
        return follows or after.limits >= 1
    if (
        asks
        and tasks.ANY_ROLE.match(opening)
        and rest
        and after.tells <= 1
        and _sets_task(rest[0], after.limits, 0)
    ):
        return True
    only_limits = (
        len(rest) > 1
        and weight(opening) == 1
        and not SHOULD.match(opening)
        and after.limits >= 1
        and not after.tells
    )
    return only_limits or (
        asks and tasks.TASK.match(opening) is not None and _sets_task(opening, after.limits, after.tells)
    )


def _sets_task(opening: str, limits: float, tells: int) -> bool:
    """Whether an opening sets a task, given how the sentences after it limit it and how many tell something."""
    task = tasks.TASK.match(opening)
    if task is None:
        return False
    wish = opening[max(task.end("ask"), task.end("order"), 0) :]
    limits += FRAGMENT.search(wish) is not None
    to_reader = READER.search(wish) is not None
    if limits >= 2 or (task["order"] and (limits >= 1 or not to_reader)):
        return True
    if to_reader:
        return False
    about = bool(task["given"]) or tasks.SUBJECT.search(wish) is not None
    sure = about or tasks.SURE_TASK.match(wish) is not None
    if task["given"] or tasks.BACKWARD.search(wish) or (sure and limits) or (limits >= 1 and not tells):
        return True
    return sure and tells <= (2 if about and task["ask"] else 0) and not PITCH.search(wish)
