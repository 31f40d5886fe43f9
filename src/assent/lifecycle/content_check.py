"""Refuses what is certainly no finished text (E18, E19, E48).

A person who approves a frame around a draft, a prompt, a card of metadata, a pointer to another record or a template
with open slots has approved nothing that can be published. Only such cases are refused, by their form; whatever merely
sounds unfinished is staged with a warning (`assent.lifecycle.suspicion`), since a person reads every text anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from assent.lifecycle import slots
from assent.lifecycle.text_parts import Field, Parts, fold, says_something, without_marks

Kind = Literal["empty", "frame", "brief", "prompt", "metadata", "pointer", "slot"]

WHY: Final[dict[Kind, str]] = {
    "empty": "It has no text that a person could read; stage the finished text.",
    "frame": "A generator's header stands over the text and would be published with it; stage the text alone.",
    "brief": "It is a brief for a text that is still to be written; write it and stage the finished text.",
    "prompt": "It is an instruction to a model; follow it and stage what comes out.",
    "metadata": "It lists facts about a text; stage the text itself.",
    "pointer": "It only says where a text is kept; stage the text itself.",
    "slot": "It has a slot that was left open; fill it in or take it out.",
}
EXCERPT_CHARS: Final = 120
SHORT_CHARS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a text is not staged, in a sentence for the agent, and the passage that shows it."""

    kind: Kind
    why: str
    excerpt: str


def find_flaw(text: str) -> Flaw | None:
    """What makes this no text to approve; None for a text. A long one is judged once and remembered."""
    return _judge(text) if len(text) <= SHORT_CHARS else _judge_once(text)


def _judge(text: str) -> Flaw | None:
    if not says_something(fold(text)):
        return _flaw("empty", text)
    parts = Parts(text)
    for kind, look in CHECKS:
        if (passage := look(parts)) is not None:
            return _flaw(kind, passage)
    return None


_judge_once: Final = lru_cache(maxsize=64)(_judge)


def _flaw(kind: Kind, passage: str) -> Flaw:
    return Flaw(kind, WHY[kind], excerpt_of(passage))


def excerpt_of(passage: str) -> str:
    """The passage on one line that can be printed, cut to a length that can be told."""
    printable = "".join(char if char.isprintable() else " " for char in passage[: EXCERPT_CHARS * 4])
    excerpt = " ".join(printable.split())
    return excerpt if len(excerpt) <= EXCERPT_CHARS else excerpt[: EXCERPT_CHARS - 1] + "…"


def sign(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | flags)


def words(listed: str) -> frozenset[str]:
    return frozenset(word.strip() for word in listed.split(","))


# Frames: `## Generated (mode=context, route=linkedin)` in all its spellings.

_PAIR: Final = sign(r"(?<![\w?&/.-])(mode|route)\s{0,3}([=:])\s{0,3}[\"']?([^\s,;|)\]}>\"']{1,60})")
_BRACKETED: Final = re.compile(
    r"(.{0,60}?)[(\[{<](?:!--)?([^()\[\]{}<>]{3,200}?)(?:--)?[)\]}>][\s:*=#_~-]{0,8}"
)
_HEAD_WORDS: Final = words(
    "generated,output,draft,response,result,asset,content,context,brief,completion,rendered,body,frame,post,"
    "copy,text,"
    "linkedin,twitter,x,email,e-mail,mail,site,blog,newsletter,message,section,final,launch,card,announcement,"
    "the,for,by"
)
_MODES: Final = words("brief,context,draft,prompt,outline,generate,generated,llm")
_ITEM: Final = sign(r"[\w.-]{1,30}\s{0,3}[=:]\s{0,3}\S{1,60}|v\d{1,4}")


def find_frame(parts: Parts) -> str | None:
    """A line that a generator put over or between its texts."""
    if "mode" not in parts.head.casefold() and "route" not in parts.head.casefold():
        return None
    unquoted = parts.unquoted[: len(parts.head)].split("\n")
    first = parts.lines[0]
    return next((line for line in (first, *unquoted) if _is_frame(line[:400], line is first)), None)


def _is_frame(line: str, opens: bool) -> bool:
    pairs = {name.casefold(): value for name, _, value in _PAIR.findall(line) if value[0] not in "/$"}
    if not pairs:
        return False
    telling = len(pairs) == 2 or pairs.get("mode", "").casefold() in _MODES
    bare = without_marks(line).strip()
    if (found := _BRACKETED.fullmatch(bare)) is not None and _PAIR.search(found[2]):
        return telling or _HEAD_WORDS.issuperset(re.findall(r"[\w-]+", found[1].casefold()))
    if bare != line.strip() and telling and "=" in bare:
        return _PAIR.search(bare[-60:].rstrip("*=#_~- ")) is not None
    items = re.split(r"[\s,;|·]+(?=[\w.-]+\s{0,3}[=:]|v\d)", bare)
    return opens and telling and all(_ITEM.fullmatch(item) for item in items)


# Briefs: what a drafting mode writes over its notes.

_MODE_LINE: Final = sign(
    r"[\[(<*_ ]{0,4}(?:context|brief)[ -]mode[\])>*_ ]{0,4}(?:\W.*|$)",
    r"(?:draft(?:ing)?|content|writing|generation|output)[ -]mode\s{0,3}[:=–-]+\s{0,3}"
    r"(?:brief|context|prompt|outline|notes|full|final|on|draft)\W{0,4}$",
    r"mode\s{0,3}[:=]\s{0,3}(?:brief|context)\b.{0,40}",
    r"generated (?:by|with|in|for|from|via) .{0,80}\b(?:brief|context|draft) mode\b.*",
)
_BRIEF_LINE: Final = sign(r"(?:[\w’'-]{1,20} ){0,4}brief\s{0,3}(?::.*|$)")


def find_brief(parts: Parts) -> str | None:
    """A brief or context-mode line at the top, or a heading `Brief` with the fields of one."""
    if _MODE_LINE.fullmatch(parts.first):
        return parts.lines[0]
    if _BRIEF_LINE.fullmatch(parts.first):
        below = [each for each in parts.fields[1:] if each is not None]
        if (
            sum(is_about_text(each) or each.key in _PERHAPS for each in below)
            >= min(2, len(parts.lines) - 1)
            > 0
        ):
            return parts.lines[0]
    return None


# Prompts: a text that opens by instructing a model.

_CHAT_MARK: Final = sign(
    r"^\s{0,4}(?:<s>\s?)?(?:<\|[a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>)", flags=re.MULTILINE
)
_TURN: Final = sign(r"\W{0,4}(system|user|assistant|human|developer)(?: (?:prompt|message))?\W{0,4}:")
_SECTION: Final = sign(
    r"#{1,6}\s{0,3}(?:role|task|instructions?|system(?: prompt)?|prompt|input|response|constraints|rules|context|"
    r"output(?: format)?|mission)\s?:?"
)
_LABEL: Final = sign(
    r"(?:system )?prompt\s?:|instructions? (?:for|to) the (?:model|agent|assistant|ai|llm|writer)\s?:|system\s?:"
)
_IGNORE: Final = sign(
    r"(?:please )?(?:ignore|disregard|forget) (?:all |any |everything )?(?:of )?(?:the |your |my )?(?:previous|"
    r"prior|above|"
    r"earlier|preceding) (?:instructions?|prompts?|messages?|rules?|context)\b"
)
_TO_MODEL: Final = sign(
    r"you are (?:now )?(?:chatgpt|claude|gemini|copilot|gpt-?\d?)\b(?!['’])",
    r"you are (?:now )?(?:an?|the|our|[\w’']+s) (?:[\w-]+ ){0,3}?(?:(?:helpful|ai|virtual|writing|marketing|"
    r"content|media|brand|"
    r"copy) assistant|chatbot|(?:large )?language model|llm|ai)(?=[.,:;!]|$| (?:that|who|for|designed|trained|"
    r"specialis|whose))",
    r"i want you to act (?:as|like)\b",
    r"the (?:calling |host )?(?:agent|assistant|model|llm|ai) (?:should|must) (?:now )?"
    r"(?:write|draft|generate|compose|fill)\b",
)
_WRITER: Final = (
    r"(?:\w*writer|marketer|marketing \w+|strategist|social media \w+|content \w+|editor|journalist|influencer|"
    r"blogger|"
    r"publicist|brand \w+|pr \w+|consultant|communications? \w+|growth \w+|expert)"
)
_ADEPT: Final = (
    r"(?:expert|senior|seasoned|experienced|professional|world-class|skilled|award-winning|top|helpful)"
)
_ROLE: Final = sign(
    rf"(?:i want you to |please )?(?:act|behave|respond) (?:as|like) (?:an?|the|my|"
    rf"our) (?:[\w/-]+ ){{0,6}}?(?:{_WRITER}|{_ADEPT})\b",
    rf"(?:you are|you['’]re|pretend (?:that )?you(?:['’]re| are)|imagine (?:that )?you(?:['’]re| are)) (?:now )?"
    rf"(?:an?|the|my|our|[\w’']+s) (?:[\w/-]+ ){{0,6}}?{_WRITER}\b",
    rf"as an? {_ADEPT} (?:[\w-]+ ){{0,3}}?{_WRITER}, ",
)
_ACT: Final = sign(
    r"(?:please )?(?:act (?:as|like)|pretend (?:that )?(?:you['’]re|you are)|imagine (?:that )?(?:you['’]re|"
    r"you are)) "
    r"(?:an?|my|our) ",
    r"(?:hey |hi )?(?:chatgpt|claude|gemini|copilot)[,:] ",
)
GENRE: Final = (
    r"(?:posts?|tweets?|threads?|e-?mails?|newsletters?|captions?|announcements?|articles?|cop(?:y|ies)|"
    r"headlines?|taglines?|"
    r"updates?|messages?|descriptions?|summar(?:y|ies)|release notes|comments?|variants?|subject lines?)"
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
    r"max(?:imum)?|tone|"
    r"length|audience|format|style|voice|cta|constraints|subject line|no (?:emojis?|hashtags?|jargon|buzzwords|"
    r"superlatives))\b.*",
    r".{0,60}\b\d{1,4} (?:words|characters|chars|sentences|lines|hashtags)\b.*",
)
_FRAGMENT: Final = sign(
    r"(?:do not|don['’]t|never|always|no|only|each|at most|under|below|about|around|one|two|three|friendly|"
    r"plain|short|be|"
    r"thank|announce|tell)\b(?:\W+\w+){0,8}\W*"
)
_HIRING: Final = sign(
    r"\b(?:apply (?:by|now|here|at|to|via)|(?:we are|we['’]re) hiring|salary|vacancy|(?:full|part)[- ]time)\b"
)
_AUTHOR: Final = re.compile(r"\b(?:[Ww]e|I)\b")


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
    if _ROLE.match(opening):
        alone = len(rest) <= 1 and not any(_AUTHOR.search(each) for each in (opening, *rest))
        return (tasks > 0 or rules > 1 or alone) and not _HIRING.search(parts.head)
    if _ACT.match(opening):
        return tasks > 0 or _TASK.search(opening) is not None
    orders = sum(
        bool(_TASK.match(each) or _RULE.fullmatch(each) or _FRAGMENT.fullmatch(each)) for each in rest
    )
    return task and rules > 0 and orders == len(rest)


def _is_chat(parts: Parts) -> bool:
    turns = [_TURN.match(line) for line in parts.lines]
    roles = {turn[1].casefold() for turn in turns if turn is not None}
    if turns[0] is None or len(roles) < 2:
        return False
    return None not in turns or turns[0][1].casefold() in ("system", "developer")


def _has_sections(parts: Parts) -> bool:
    found = [_SECTION.fullmatch(line) is not None for line in parts.lines]
    return found[0] and sum(found) >= 2


# Metadata and pointers: facts about a text, or where it is.

_ABOUT: Final = words(
    "channel,channels,approved,asset,asset id,assets,action,action id,actions,run id,connector,variant,mode,"
    "tone,cta,"
    "call to action,target audience,key message,key points,proof points,must mention,word count,words,"
    "char count,chars,"
    "post type,body,draft,angle,hook,constraints,task,tone of voice,max length,state,slug,preflight,"
    "subject length,severity"
)
_PERHAPS: Final = words(
    "status,type,title,subject,audience,platform,length,goal,objective,language,format,topic,route,model,tags,"
    "id,images,"
    "image,voice,proof,evidence,frame,author,version,avoid,recipients,priority,created,text,content,property,"
    "field,hashtags,role"
)
_STATE: Final = sign(r"awaiting[_ ]approval|ready[_ ]for[_ ](?:review|approval)|pending[_ ]approval")
_MACHINE_VALUE: Final = sign(
    r"true|false|null|none|draft|pending|approved|rejected|final|ready|published|awaiting[_ ]approval|"
    r"ready[_ ]for[_ ]review|"
    r"[a-z]+(?:_[a-z0-9]+)+|[0-9a-f]{8}-[0-9a-f-]{27}"
)


def is_about_text(field: Field) -> bool:
    """Whether a field states a fact about a text."""
    return field.key in _ABOUT or field.machine


def find_metadata(parts: Parts) -> str | None:
    """Data, front matter or fields about a text, with no text."""
    if parts.text[:1] in ("{", "[") and (data := _decode(parts)) is not None:
        return parts.text if _is_data(data) else None
    if parts.text.startswith("---\n"):
        inside, fence, after = parts.head[4:].partition("\n---")
        if fence and all(line.startswith("#") or not line.strip() for line in after.split("\n")):
            return inside
    if (
        len(parts.lines) == 1
        and len(facts := re.split(r" [|·] ", parts.first)) > 2
        and any(map(_STATE.fullmatch, facts))
    ):
        return parts.text
    fields = list(parts.fields)
    if len(fields) > 2 and fields[0] is None and _is_title(parts.first):
        fields = fields[1:]
    return parts.text if _is_card(fields) else None


def _is_title(line: str) -> bool:
    return len(line.split()) <= 6 and line[-1:] not in (".", "!", "?")


def _is_card(fields: list[Field | None]) -> bool:
    known = [each for each in fields if each is not None]
    if len(known) < len(fields):
        return False
    sure = sum(is_about_text(each) for each in known)
    perhaps = sum(each.key in _PERHAPS for each in known)
    filled = any(
        _MACHINE_VALUE.fullmatch(each.value) for each in known if is_about_text(each) or each.key == "status"
    )
    return (sure + perhaps) * 2 >= len(known) and (sure >= 2 or (filled and sure + perhaps > 0))


def _decode(parts: Parts) -> Any:
    if len(parts.text) > len(parts.head):
        return None
    try:
        return msgspec.json.decode(parts.text)
    except (msgspec.DecodeError, RecursionError):
        # What another language prints instead of JSON.
        printed = re.match(r"\{\s*'(\w{1,40})'\s*:", parts.text) if parts.text.endswith("}") else None
        return {printed[1]: None} if printed else None


def _is_data(data: Any) -> bool:
    if isinstance(data, list):
        return True
    keys = {str(key).casefold() for key in data} if isinstance(data, dict) else set()
    return bool(keys & (_ABOUT | _PERHAPS)) or any(re.search(r"_|id$", key) for key in keys)


_UUID: Final = sign(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_RECORD: Final = sign(
    r"\b(?:asset|record|artifact|action|run)s?(?: id)?[\s_:#=-]{0,3}[a-z]{0,3}-?\d+\b", r"\basset[_ ]?id\b"
)
_KEPT: Final = sign(
    r"\b(?:see|in|refer to|open|view|check|draft|post|copy|text|body|content|saved|stored|approval|review)\b"
)
POINTER_WORDS: Final = 14


def find_pointer(parts: Parts) -> str | None:
    """A short note where the text is, by the name of another record."""
    text = parts.text
    if len(text) > 400 or len(text.split()) > POINTER_WORDS:
        return None
    if not re.search(r"[^\W\d_]", _UUID.sub("", text)) and _UUID.search(text):
        return text
    named = _RECORD.search(text) or (
        _UUID.search(text) and re.search(r"\b(?i:asset|draft|run|action|see)", text)
    )
    return text if named and _KEPT.search(_UUID.sub("", text)) else None


def find_slot(parts: Parts) -> str | None:
    """What a template left open, outside code and quotations."""
    return slots.find_stand_in(parts.text) or next(slots.find_open(parts.unquoted, explained=False), None)


CHECKS: Final[tuple[tuple[Kind, Callable[[Parts], str | None]], ...]] = (
    ("frame", find_frame),
    ("brief", find_brief),
    ("metadata", find_metadata),
    ("prompt", find_prompt),
    ("pointer", find_pointer),
    ("slot", find_slot),
)
"""What is looked for, the surer sign first. Each gives its passage."""
