"""Finds texts that open by instructing a model: chat markup, turns of a chat, a role and a task (E19, E48).

A role or an order alone proves nothing, since people publish job advertisements, pitches and advice for writers: it
counts with a task, with rules for the writer, or when there is nothing else.
"""

from __future__ import annotations

import re
from typing import Final

from assent.gate.content.text_parts import Parts, sign

_CHAT_MARK: Final = sign(
    r"^\s{0,4}(?:<s>\s?)?(?:<\|[a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>)", flags=re.MULTILINE
)
_TURN: Final = sign(r"\W{0,4}(system|user|assistant|human|developer)(?: (?:prompt|message))?\W{0,4}:")
_SECTION: Final = sign(
    r"#{1,6}\s{0,3}(?:role|user|assistant|task|instructions?|system(?: prompt)?|prompt|input|response|"
    r"constraints|rules|context|output(?: format)?|mission)\s?:?"
)
_LABEL: Final = sign(
    r"(?:system )?prompt\s?:|instructions? (?:for|to) the (?:model|agent|assistant|ai|llm|writer)\s?:|"
    r"system\s?:"
)
_IGNORE: Final = sign(
    r"(?:please )?(?:ignore|disregard|forget) (?:all |any |everything )?(?:of )?(?:the |your |my )?(?:previous|"
    r"prior|above|earlier|preceding) (?:instructions?|prompts?|messages?|rules?|context)(?=\W*$|[.,;:!]|"
    r" and\b)"
)
_TO_MODEL: Final = sign(
    r"you(?: are|['’]re) (?:now )?(?:chatgpt|claude|gemini|copilot|gpt-?\d?)\b(?!['’])",
    r"you(?: are|['’]re) (?:now )?(?:an?|the|our|[\w’']+s) (?:[\w-]+ ){0,3}?(?:(?:helpful|ai|virtual|writing|"
    r"marketing|content|media|brand|copy) assistant|chatbot|(?:large )?language model|llm|ai)(?=[.,:;!]|$|"
    r" (?:that|who|for|designed|trained|specialis|whose))",
    r"i want you to act (?:as|like)\b",
    r"the (?:calling |host )?(?:agent|assistant|model|llm|ai) (?:should|must) (?:now )?(?:write|draft|generate|"
    r"compose|fill)\b",
)
_WRITER: Final = (
    r"(?:\w*writer|marketer|marketing \w+|strategist|social media \w+|content \w+|editor|journalist|influencer|"
    r"blogger|publicist|brand \w+|pr \w+|consultant|communications? \w+|growth \w+|expert)"
)
_ADEPT: Final = (
    r"(?:expert|senior|seasoned|experienced|professional|world-class|skilled|award-winning|top|helpful)"
)
_ROLE: Final = sign(
    rf"(?:i want you to |please )?(?:act|behave|respond) (?:as|like) (?:an?|the|my|"
    rf"our) (?:[\w/-]+ ){{0,6}}?(?:{_WRITER}|{_ADEPT})\b",
    rf"(?:you are|you['’]re|pretend (?:that )?you(?:['’]re| are)|imagine (?:that )?you(?:['’]re|"
    rf" are)) (?:now )?(?:an?|the|my|our|[\w’']+s) (?:[\w/-]+ ){{0,6}}?{_WRITER}\b",
    rf"as an? {_ADEPT} (?:[\w-]+ ){{0,3}}?{_WRITER}, ",
)
_ADEPT_ROLE: Final = sign(rf".{{0,40}}\ban? {_ADEPT} (?:[\w/-]+ ){{0,4}}?(?!expert\b){_WRITER}\b")
_ACT: Final = sign(
    r"(?:please )?(?:act (?:as|like)|pretend (?:that )?(?:you['’]re|you are)|imagine (?:that )?(?:you['’]re|"
    r"you are)) (?:an?|my|our) ",
    r"(?:hey |hi )?(?:chatgpt|claude|gemini|copilot)[,:] ",
)
GENRE: Final = (
    r"(?:posts?|tweets?|threads?|e-?mails?|newsletters?|captions?|announcements?|articles?|cop(?:y|ies)|"
    r"headlines?|taglines?|updates?|messages?|descriptions?|summar(?:y|ies)|release notes|comments?|variants?|"
    r"subject lines?)"
)
MAKE: Final = (
    r"(?:write|draft|create|generate|compose|produce|craft|rewrite|prepare|summari[sz]e|turn|come up with)"
)
_ORDER: Final = sign(rf"[\"“]?(?:you are|you will|always|never|{MAKE})\b")
_TASK: Final = sign(
    rf"(?:please |can you |could you |now |then )?(?:help me )?{MAKE}\b[^.!?\n]{{0,60}}?\b{GENRE}\b.*",
    rf"(?:your (?:task|job|goal|mission) is|you are tasked|you will)\b.{{0,30}}\b(?:{MAKE}|creating|writing|"
    rf"drafting)\b.*",
)
_RULE: Final = sign(
    r"(?:please )?(?:keep|make) (?:it|the|them|each)\b.*",
    r"(?:use|include|mention|avoid|focus on|maintain|(?:end|open|start|lead) with|return|respond|output|"
    r"max(?:imum)?|tone|length|audience|format|style|voice|cta|constraints|subject line|no (?:emojis?|"
    r"hashtags?|jargon|buzzwords|superlatives))\b.*",
    r".{0,60}\b\d{1,4} (?:words|characters|chars|sentences|lines|hashtags)\b.*",
)
_FRAGMENT: Final = sign(
    r"(?:do not|don['’]t|never|always|no|only|each|at most|under|below|about|around|one|two|three|friendly|"
    r"plain|short|be|thank|announce|tell)\b(?:\W+\w+){0,8}\W*"
)
_HIRING: Final = sign(
    r"\b(?:apply (?:by|now|here|at|to|via)|(?:we are|we['’]re) hiring|salary|vacancy|(?:full|part)[- ]time)\b"
)
_AUTHOR: Final = re.compile(r"\b(?:[Ww]e|I)\b")
_READER: Final = sign(r"\byour\b")


def find_prompt(parts: Parts) -> str | None:
    """Chat markup, turns of a chat, sections of a prompt, or an opening that instructs a model."""
    if (mark := _CHAT_MARK.search(parts.unquoted[: len(parts.head)])) is not None:
        return mark[0]
    if _is_chat(parts) or _has_sections(parts):
        return parts.lines[0]
    opening, rest = parts.sentences[0], parts.sentences[1:]
    if (label := _LABEL.match(opening)) is not None:
        first, *others = [each for each in (opening[label.end() :].strip(" *_"), *rest) if each] or [""]
        return opening if _ORDER.match(first) or _is_instruction(first, others, parts) else None
    return opening if _is_instruction(opening, rest, parts) else None


def _is_instruction(opening: str, rest: list[str], parts: Parts) -> bool:
    task = _TASK.match(opening) is not None
    if opening.endswith("?") and not task:
        return False
    if _IGNORE.match(opening):
        return not any(_AUTHOR.search(each) for each in rest)
    if _TO_MODEL.match(opening):
        return True
    tasks = sum(_TASK.match(each) is not None for each in rest[:8]) + task
    rules = sum(_RULE.fullmatch(each) is not None for each in rest)
    if _ACT.match(opening) and (tasks or _TASK.search(opening)):
        return True
    if _ROLE.match(opening):
        alone = len(rest) <= 1 and not any(_AUTHOR.search(each) for each in (opening, *rest))
        adept = alone and _ADEPT_ROLE.match(opening) is not None
        return (tasks > 0 or rules > 1 or adept) and not _HIRING.search(parts.head)
    orders = sum(
        bool(_TASK.match(each) or _RULE.fullmatch(each) or _FRAGMENT.fullmatch(each)) for each in rest
    )
    return task and rules > 0 and orders == len(rest) and _READER.search(parts.head) is None


def _is_chat(parts: Parts) -> bool:
    turns = [_TURN.match(line) for line in parts.lines]
    roles = {turn[1].casefold() for turn in turns if turn is not None}
    if turns[0] is None or len(roles) < 2:
        return False
    return None not in turns or turns[0][1].casefold() in ("system", "developer")


def _has_sections(parts: Parts) -> bool:
    found = [_SECTION.fullmatch(line) is not None for line in parts.lines]
    return found[0] and sum(found) >= 2
