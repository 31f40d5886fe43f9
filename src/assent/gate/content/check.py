"""Refuses texts that are certainly not finished (E18, E19, E48).

Refused by form: a frame around a draft, a prompt, a card of metadata, a pointer to another record,
a template with open slots. A person who approves one of these has approved nothing that can be
published. A text that only sounds unfinished is staged with a warning
(`assent.gate.content.suspicion`), because a person reads every text anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from assent.gate.content import slots
from assent.gate.content.prompts import CHANNEL, GENRE, find_prompt
from assent.gate.content.text_parts import (
    Parts,
    TextField,
    fold,
    parse,
    parse_field,
    says_something,
    sign,
    without_marks,
    words,
)

Kind = Literal["empty", "frame", "brief", "prompt", "metadata", "pointer", "slot"]

WHY: Final[dict[Kind, str]] = {
    "empty": "It has no text that a person could read; stage the finished text.",
    "frame": "A generator's header is above the text and would be published with it; stage only the text.",
    "brief": "It is a brief for a text that is still to be written; write it and stage the finished text.",
    "prompt": "It is an instruction to a model; follow it and stage what comes out.",
    "metadata": "It lists facts about a text; stage the text itself.",
    "pointer": "It only says where a text is kept; stage the text itself.",
    "slot": "It has a template slot that was not filled in; fill it in or remove it.",
}
EXCERPT_CHARS: Final = 120
SHORT_CHARS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Flaw:
    """The reason of a refusal, as a sentence for the agent, and the passage that shows it."""

    kind: Kind
    why: str
    excerpt: str


def find_flaw(text: str) -> Flaw | None:
    """Return the first flaw of a text, or None. The result for a long text is cached."""
    return _judge(text) if len(text) <= SHORT_CHARS else _judge_once(text)


def _judge(text: str) -> Flaw | None:
    if not says_something(fold(text)):
        return _flaw("empty", text)
    parts = parse(text)
    for kind, look in CHECKS:
        if (passage := look(parts)) is not None:
            return _flaw(kind, passage)
    return None


_judge_once: Final = lru_cache(maxsize=64)(_judge)


def _flaw(kind: Kind, passage: str) -> Flaw:
    return Flaw(kind, WHY[kind], cut_excerpt(passage))


def cut_excerpt(passage: str) -> str:
    """Return the passage as one printable line, cut to a length that fits a message."""
    printable = "".join(char if char.isprintable() else " " for char in passage[: EXCERPT_CHARS * 4])
    excerpt = " ".join(printable.split())
    return excerpt if len(excerpt) <= EXCERPT_CHARS else excerpt[: EXCERPT_CHARS - 1] + "…"


# Frames: headings such as `## Generated (mode=context, route=linkedin)`, in all spellings.

_PAIR: Final = sign(r"(?<![\w?&.-])(?<!\w/)(mode|route)\s{0,3}([=:])\s{0,3}[\"']?([^\s,;|)\]}>\"']{1,60})")
_BRACKETED: Final = re.compile(
    r"(.{0,60}?)[(\[{<](?:!--)?([^()\[\]{}<>]{3,200}?)(?:--)?[)\]}>][\s:*=#_~-]{0,8}"
)
_HEAD_WORDS: Final = words(
    "generated,output,draft,response,result,asset,content,context,brief,completion,rendered,body,frame,post,"
    "copy,text,linkedin,twitter,x,email,e-mail,mail,site,blog,newsletter,message,section,final,launch,card,"
    "announcement,the,for,by"
)
_MODES: Final = words("brief,context,draft,prompt,outline,generate,generated,llm")
_ITEM: Final = sign(r"[\w.-]{1,30}\s{0,3}[=:]\s{0,3}\S{1,60}|v\d{1,4}")
_BETWEEN: Final = re.compile(r"(?<![\s,;|·–—-])[\s,;|·–—-]++(?=[\w.]+\s{0,3}[=:]|v\d)")


def find_frame(parts: Parts) -> str | None:
    """Return a line that a generator put above or between its texts."""
    if "mode" not in parts.head.casefold() and "route" not in parts.head.casefold():
        return None
    unquoted = parts.unquoted[: len(parts.head)].split("\n")
    fields = [line for line, field in zip(parts.lines[:3], parts.fields, strict=False) if field is not None]
    if _is_frame(parts.lines[0], True) or (len(fields) > 1 and _is_frame(" | ".join(fields), True)):
        return parts.lines[0]
    return next((line for line in unquoted if _is_frame(line[:400], False)), None)


def _is_frame(line: str, opens: bool) -> bool:
    pairs = {name.casefold(): value for name, _, value in _PAIR.findall(line) if value[0] not in "/$"}
    if not pairs:
        return False
    telling = pairs.get("mode", "").casefold() in _MODES or (len(pairs) == 2 and "=" in line)
    bare = without_marks(line.replace("<!--", "").replace("-->", "").lstrip(" /")).strip()
    if (found := _BRACKETED.match(bare)) is not None and _PAIR.search(found[2]):
        headed = _are_head_words(found[1])
        return headed or telling if found.end() == len(bare) else headed and telling and len(pairs) == 2
    if bare != line.strip() and telling and "=" in bare:
        return _PAIR.search(bare[-60:].rstrip("*=#_~- ")) is not None
    if not telling or not (opens or "<!--" in line):
        return False
    head, *items = _BETWEEN.split(bare)
    return all(map(_ITEM.fullmatch, items)) and (_ITEM.fullmatch(head) is not None or _are_head_words(head))


def _are_head_words(text: str) -> bool:
    return _HEAD_WORDS.issuperset(re.findall(r"[\w-]+", text.casefold()))


# Briefs: the notes that a drafting mode writes before the text.

_MODE_LINE: Final = sign(
    r"[\[(<*_ ]{0,4}(?:context|brief)[ -]mode[\])>*_ ]{0,4}(?:[:=–—-].*)?",
    r"(?:draft(?:ing)?|content|writing|generation|output)[ -]mode\s{0,3}[:=–-]+\s{0,3}(?:brief|context|prompt|"
    r"outline|notes|full|final|on|draft)\W{0,4}$",
    r"mode\s{0,3}[:=]\s{0,3}(?:brief|context)\b.{0,40}",
    r"generated (?:by|with|in|for|from|via) .{0,80}\b(?:brief|context|draft) mode\b.*",
)
_BRIEF_LINE: Final = sign(
    rf"(?:(?:{CHANNEL}|{GENRE}|drafting|content|creative|launch|campaign|writing|marketing) ){{0,3}}"
    r"brief\s{0,3}(?::.*|$)"
)
_FOR_WRITER: Final = words(
    "tone,cta,call to action,audience,target audience,goal,objective,avoid,length,key message"
)


def find_brief(parts: Parts) -> str | None:
    """Return a brief's first line, or a heading `Brief` followed by its fields."""
    if _MODE_LINE.fullmatch(parts.first):
        return parts.lines[0]
    if _BRIEF_LINE.fullmatch(parts.first):
        keys = [each.key for each in parts.fields[1:] if each is not None]
        if any(key in _FOR_WRITER for key in keys) and len(keys) * 2 >= len(parts.lines) - 1:
            return parts.lines[0]
    return None


# Metadata and pointers: facts about a text, or its location, instead of the text.

_ABOUT: Final = words(
    "channel,channels,approved,asset,asset id,assets,action,action id,actions,run id,connector,variant,mode,"
    "tone,cta,call to action,target audience,key message,key points,proof points,must mention,word count,words,"
    "char count,chars,post type,body,draft,angle,hook,constraints,task,tone of voice,max length,state,slug,"
    "preflight,subject length,severity"
)
_PERHAPS: Final = words(
    "status,type,title,subject,audience,platform,length,goal,objective,language,format,topic,route,model,tags,"
    "id,images,image,voice,proof,evidence,frame,author,version,avoid,messages,recipients,priority,created,text,"
    "content,property,field,hashtags,role"
)
_STATE: Final = sign(r"awaiting[_ ]approval|ready[_ ]for[_ ](?:review|approval)|pending[_ ]approval")
_MACHINE_VALUE: Final = sign(
    rf"{CHANNEL}|true|false|yes|no|null|none|\d+|draft|pending|approved|rejected|final|ready|published|"
    r"awaiting[_ ]approval|ready[_ ]for[_ ]review|[a-z]+(?:_[a-z0-9]+)+|[0-9a-f]{8}-[0-9a-f-]{27}"
)


def is_about_text(field: TextField) -> bool:
    """Whether a field states a fact about a text."""
    return field.key in _ABOUT or (field.machine and len(field.value.split()) <= 3)


def find_metadata(parts: Parts) -> str | None:
    """Return a passage of data, front matter or fields about a text, if there is no text
    besides."""
    if parts.text[:1] in ("{", "[") and (data := _decode(parts)) is not None:
        return parts.text if _is_data(data) else None
    if parts.text.startswith("---\n"):
        inside, fence, after = parts.head[4:].partition("\n---")
        listed = any(map(parse_field, inside.split("\n")))
        if fence and listed and all(line.startswith("#") or not line.strip() for line in after.split("\n")):
            return inside
    if (
        len(parts.lines) == 1
        and len(facts := re.split(r" [|·] ", parts.first)) > 2
        and any(map(_STATE.fullmatch, facts))
    ):
        return parts.text
    if "```" in parts.text:
        return None  # fields of an example
    fields = list(parts.fields)
    if len(fields) > 2 and fields[0] is None and _is_title(parts.first):
        fields = fields[1:]
    return parts.text if _is_card(fields) else None


def _is_title(line: str) -> bool:
    return len(line.split()) <= 6 and line[-1:] not in (".", "!", "?")


def _is_card(fields: list[TextField | None]) -> bool:
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
        # How other programming languages print data.
        printed = re.match(r"\{\s*'(\w{1,40})'\s*:", parts.text) if parts.text.endswith("}") else None
        return {printed[1]: None} if printed else None


def _is_data(data: Any) -> bool:
    if isinstance(data, list):
        return True
    keys = {str(key).casefold() for key in data} if isinstance(data, dict) else set()
    return bool(keys & (_ABOUT | _PERHAPS)) or any(re.search(r"_|id$", key) for key in keys)


_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TOKEN: Final = sign(
    rf"(?P<id>https?://\S*{_UUID}\S*|{_UUID})|(?P<record>\b(?:asset|artifact)s?(?:[ _]?id)?[\s_:#=-]{{0,3}}"
    r"(?:\[\d+\][.\w]*|\w{0,8}[_-]?\d[\w-]*))|https?://\S+|\w[\w’'-]*"
)
_POINTS: Final = words(
    "see,refer,same,as,in,saved,stored,kept,attached,found,use,reuse,uses,copy,identical,unchanged,is,under"
)
_RECORDS: Final = words(
    "asset,assets,assetid,asset_id,artifact,action,run,record,draft,document,attachment,attached,above,pack,id,"
    "uuid,version"
)
_BESIDE: Final = words(
    "the,a,an,this,that,it,to,of,for,from,at,on,and,with,please,can,be,text,body,content,post,message,email,"
    "mail,full,final,approved,drafted,ready,review,approval,awaiting,previous,existing,other,earlier,section,"
    "launch,part,item,number,no,ref,urn,linkedin,twitter,x,facebook,instagram,threads,bluesky,reddit,slack,blog,"
    "newsletter,here,there,below,doc,file,page,left,unchanged"
)
_IN_POINTERS: Final = _POINTS | _RECORDS | _BESIDE
POINTER_WORDS: Final = 14


def find_pointer(parts: Parts) -> str | None:
    """Return the text if it only says where the real text is: words that point or name records."""
    if len(parts.text) > 400:
        return None
    named, said = 0, []
    for token in _TOKEN.finditer(parts.text):
        word = token[0].casefold()
        if token.lastgroup is not None:
            named += 1
        elif word in _IN_POINTERS or word.isdigit():
            said.append(word)
        else:
            return None
        if named + len(said) > POINTER_WORDS:
            return None
    points = not _POINTS.isdisjoint(said) and not _RECORDS.isdisjoint(said)
    return parts.text if named or (points and len(said) > 1) else None


def find_slot(parts: Parts) -> str | None:
    """Return a template slot that was not filled in. Code and quotations do not count."""
    return slots.find_stand_in(parts.text) or next(slots.find_open(parts.unquoted, explained=False), None)


CHECKS: Final[tuple[tuple[Kind, Callable[[Parts], str | None]], ...]] = (
    ("brief", find_brief),
    ("frame", find_frame),
    ("metadata", find_metadata),
    ("prompt", find_prompt),
    ("pointer", find_pointer),
    ("slot", find_slot),
)
"""All checks, the most certain first. Each returns the passage that it found."""
