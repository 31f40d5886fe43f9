"""Finds texts that begin by instructing a model: chat markup, chat turns, a role and a task (E19,
E48).

A role or an instruction alone proves nothing: people publish job advertisements, pitches and advice
for writers. An instruction counts if it asks for a text about something and the text has no first
person anywhere. A role counts if a task follows.
"""

from __future__ import annotations

import re
from typing import Final

from assent.gate.content.text_parts import Parts, sign

CHANNEL: Final = (
    r"(?:linked ?in|twitter|x|facebook|instagram|threads|bluesky|tiktok|reddit|hacker news|show hn|"
    r"product hunt|slack|newsletter|blog|e-?mail|social media)"
)
GENRE: Final = (
    r"(?:posts?|tweets?|threads?|e-?mails?|newsletters?|captions?|announcements?|articles?|cop(?:y|ies)|"
    r"headlines?|taglines?|updates?|messages?|descriptions?|summar(?:y|ies)|release notes|comments?|variants?|"
    r"subject lines?)(?!-)"
)
_MAKE: Final = r"(?:write|draft|create|generate|compose|produce|craft|rewrite|prepare|come up with)"
_WRITER: Final = (
    r"(?:\w*writer|marketer|marketing \w+|strategist|social media \w+|content \w+|editor|journalist|"
    r"blogger|publicist|brand \w+|pr \w+|communications? \w+|growth \w+|expert)"
)
_ADEPT: Final = r"(?:expert|senior|seasoned|experienced|professional|world-class|skilled|award-winning|top)"

_CHAT_MARK: Final = sign(
    r"^\s{0,4}(?:<s>\s?)?(?:<\|[a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>)", flags=re.MULTILINE
)
_TURN: Final = sign(r"\W{0,4}(system|user|assistant|human|developer)(?: (?:prompt|message))?\W{0,4}:")
_SECTION: Final = sign(
    r"#{1,6}\s{0,3}(?:role|user|assistant|task|instructions?|system(?: prompt)?|prompt|input|response|"
    r"constraints|rules|context|output(?: format)?|mission)\s?:?"
)
_LABEL: Final = sign(
    r"(?:your |the )?(?:(?:system |user )?prompt|system|task|job|goal|mission|assignment|request|"
    r"instructions?)(?: (?:for|to) the (?:model|agent|assistant|ai|llm|writer))?(?:\s?:| is to)\s{0,3}",
    r"(?:hey |hi )?(?:chatgpt|claude|gemini|copilot)[,:] ",
    rf"as an? (?:[\w-]+ ){{0,4}}?{_WRITER}, ",
    r"(?:using|given|based on) the (?:following|facts|evidence|notes|brief)[^.!?,\n]{0,40}, ",
)
_IGNORE: Final = sign(
    r"(?:please )?(?:ignore|disregard|forget) (?:all |any )?(?:of )?(?:the |your |my )?(?:previous|prior|above|"
    r"earlier|preceding) (?:instructions?|prompts?|messages?|rules?|context)(?:\W*$| and\b)"
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
_ROLE: Final = sign(
    rf"(?:(?:please )?(?:act|behave|respond) (?:as|like)|(?:(?:imagine|pretend|assume) (?:that )?)?"
    rf"you(?: are|['’]re)(?: now)?|your role is(?: that of)?|assume the role of) (?:(?:an?|the|my|our|[\w’']+s) )?"
    rf"(?:[\w/-]+ ){{0,6}}?{_WRITER}\b"
)
_ADEPT_ROLE: Final = sign(rf".{{0,40}}\ban? {_ADEPT} (?:[\w/-]+ ){{0,4}}?(?!expert\b){_WRITER}\b")
_TASK: Final = sign(
    rf"(?:please |now |then |your (?:task|job|goal) is to |you will )?(?:{_MAKE} (?:about|up|this|in|an?|the|"
    r"one|two|three|\d+)|announce|summari[sz]e|your (?:task|job|goal) is)\b"
)
_ORDER: Final = sign(
    rf"(?:please |now )?(?:help me )?{_MAKE} (?:me )?(?:an?|one|two|three|four|five|\d{{1,2}}|some) "
    rf"(?P<kind>[^.!?,:\n]{{0,40}}?)\b{GENRE}(?P<after>\W*$|\W{{1,3}}(?:about|announcing|introducing|on|for|to|"
    r"based|using|from|with|aimed|(?:that|which) (?:announces|introduces|explains|tells)|in \d|\d|max|under|tone)\b.*)"
)
_OF_CHANNEL: Final = sign(rf"\b(?:{CHANNEL}|tweet|post for {CHANNEL})\b")
_RULE: Final = sign(
    r"(?:please )?(?:keep|make) (?:it|the|them|each)\b.*",
    r"(?:use|include|mention|avoid|focus on|maintain|(?:end|open|start|lead) with|return|respond|output|"
    r"max(?:imum)?|tone|length|audience|format|style|voice|cta|constraints|subject line|facts|points)\b.*",
    r".{0,60}\b\d{1,4} (?:words|characters|chars|sentences|lines|hashtags)\b.*",
    r"(?:do not|don['’]t|never|always|no|only|each|at most|under|about|around|one|two|three|friendly|plain|"
    r"short|be|thank|announce|tell)\b(?:\W+\w+){0,8}\W*",
)
_FOR_ANYONE: Final = sign(
    r"\b(?:any|every|each|all|anything|win|free|minutes?|seconds?|clicks?|salary|apply|vacancy)\b"
)
AUTHOR: Final = re.compile(r"\b(?:[Ww]e|I|us)\b|\b(?:[Tt]hanks?|[Rr]egards|[Cc]heers|[Bb]est),?\s+[A-Z]\w+")
OWNER: Final = re.compile(r"\b(?:[Oo]urs?|[Mm]y|mine)\b")
_READER: Final = sign(r"\byou(?:rs?)?\b")


def find_prompt(parts: Parts) -> str | None:
    """Return chat markup, a chat turn, a prompt section, or an opening that instructs a model."""
    if (mark := _CHAT_MARK.search(parts.unquoted[: len(parts.head)])) is not None:
        return mark[0]
    if _is_chat(parts) or _has_sections(parts):
        return parts.lines[0]
    if not parts.sentences:
        return None
    opening, rest = parts.sentences[0], parts.sentences[1:]
    return opening if _is_instruction(opening, rest) else None


def asks_for_text(opening: str) -> re.Match[str] | None:
    """Match an instruction to write a text at the beginning of a sentence."""
    label = _LABEL.match(opening)
    return _ORDER.match(opening, label.end() if label else 0)


def _is_instruction(opening: str, rest: tuple[str, ...]) -> bool:
    label = _LABEL.match(opening)
    body = opening[label.end() :].strip(" *_") if label else opening
    if label and not body and rest:
        body, rest = rest[0], rest[1:]
    if _TO_MODEL.match(body):
        return True
    if body.endswith("?") or any(map(_speaks, (body, *rest))):
        return False
    tasks = any(map(_TASK.match, rest[:8]))
    rules = [_RULE.fullmatch(each) is not None for each in rest]
    if _IGNORE.match(body):
        return body.rstrip(".! ")[-1:] != ":" and (not rest or tasks or " and " in body)
    if label and body.casefold().startswith("you are" if "prompt" not in label[0].casefold() else "you "):
        return True
    if (role := _ROLE.match(body)) is not None:
        adept = len(rest) <= 1 and _ADEPT_ROLE.match(body) is not None
        ordered = _TASK.match(body[role.end() :].lstrip(" ,:;.").removeprefix("and "))
        return bool(tasks or (rules and all(rules)) or adept or ordered) and not any(
            map(_FOR_ANYONE.search, (body, *rest))
        )
    order = _ORDER.match(body)
    if order is None or any(_READER.search(each) or _FOR_ANYONE.search(each) for each in (body, *rest)):
        return False
    if ":" in order["after"] and "following" not in order["after"]:
        return False
    return all(rules) or (len(order["after"]) > 2 and _OF_CHANNEL.search(order[0]) is not None)


def _speaks(sentence: str) -> bool:
    if AUTHOR.search(sentence):
        return True
    ordered = _TASK.match(sentence) or _LABEL.match(sentence) or _ROLE.match(sentence)
    return ordered is None and OWNER.search(sentence) is not None


def _is_chat(parts: Parts) -> bool:
    turns = [_TURN.match(line) for line in parts.lines]
    roles = {turn[1].casefold() for turn in turns if turn is not None}
    if turns[0] is None or len(roles) < 2:
        return False
    return None not in turns or turns[0][1].casefold() in ("system", "developer")


def _has_sections(parts: Parts) -> bool:
    found = [_SECTION.fullmatch(line) is not None for line in parts.lines]
    return found[0] and sum(found) >= 2
