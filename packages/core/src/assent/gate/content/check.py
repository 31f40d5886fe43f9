"""Refuses texts that are certainly not finished (E18, E19, E48).

Refused by form: a frame around a draft, a prompt, a card of metadata, a pointer to another record,
a template with open slots. A person who approves one of these has approved nothing that can be
published. A text that only sounds unfinished is staged with a warning
(`assent.gate.content.suspicion`), because a person reads every text anyway.

A role or an instruction alone is no prompt: people publish job advertisements, pitches and advice for
writers. An instruction counts if it asks for a text about something and the text has no first person
anywhere; a role counts if a task follows. A bracket alone is no slot: links, forum tags and command
arguments look the same, so the words inside decide. A line that explains templates may name a slot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

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


_NAMES: Final = (
    r"(?:(?:first|last|full|your|user|company|product|brand|customer|client|recipient|sender|contact|event|"
    r"city|winner['’]s|insert|project|author|speaker|prospect)[ _-]?)?(?:name|surname|link|url|date|time|title|"
    r"company|product|website|price|amount|location|cta|headline|hashtag|handle|discount|email|signature|fname|"
    r"lname|firma|vorname|nachname|nombre|apellido|empresa|enlace|prénom|nom|entreprise|lien|nome|имя|ссылка|"
    r"名前|お名前|会社名|商品名|リンク|姓名|公司名称|产品名称|链接|이름|회사명|링크|الاسم)"
)
_NAMED: Final = re.compile(rf"(?:customer\.|user\.|product\.)?{_NAMES}(?:, {_NAMES})?", re.IGNORECASE)
_ORDERED: Final = re.compile(
    r"(?:insert|enter|fill in|placeholder|todo|tbd|your|einfügen|insertar|insérer)\b[ :_-]?.{0,60}|(?:add|"
    r"attach|include)(?: an?| the)? (?:\w+ )?(?:link|screenshot|image|photo|video|logo|quote|url|name|date)s?|"
    r"(?:\w+ )?(?:draft|post|e-?mail|message|body) (?:body|text|copy|content)|.{1,60} (?:goes |go )?here|"
    r"(?:customer )?quote|one-line .{1,40}|[\w’' -]{3,40} name|x{2,4}%?|x%",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"name|link|title|time|date|url|email|price|amount", re.IGNORECASE)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

_OPEN: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<!\$)\{\{\{?\s{0,3}(?P<any>[^\W\d][\w.\- ]{0,60}(?:\|[\w \"':,|()-]{0,60})?)\s{0,3}\}\}",
        r"(?P<any>\{%[^{}\n]{1,200}%\}|<%[^<>\n]{1,200}%>|\*\|[A-Z0-9_:]{2,30}\|\*)",
        r"(?<![\w{/\\=.#\-])\$?\{(?P<named>[^\W\d][\w. -]{1,40})\}(?![}/\\=\w-])",
        r"(?<![\w%#@])(?:%|__|#|@@)(?P<named>[A-Za-z][A-Za-z_]{1,30}?)(?:%|__|#|@@)(?![\w%])",
        r"(?<![\w\]])\[{1,2}(?P<square>[^\W_][^\[\]\n<>=@|{}$;]{0,100})\]{1,2}(?!\(|\[|: ?\S{0,8}//)",
        r"(?<![\w=/\\])<{1,2}(?P<angle>[^\W\d_][^<>\n=\"/@]{2,60})>{1,2}",
        r"(?i:\]\((?P<any>url|link|insert[^()\n]{0,40}|your[ _-](?:url|link)|todo|tbd)\))",
        r"(?i:(?::|\bat|\bhere|→|👉) ?(?P<any><(?:link|url)>))",
        r"(?<![\w$])(?P<any>X{2,4} ?%|\[X\] ?%)",
        r"(?i:(?:^|[\n.!?>:]\s{0,3})\W{0,4}(?P<any>lorem ipsum dolor sit amet(?=,? consec|\W{0,4}(?:\n|$))))",
    )
)
_MARKS: Final = ("{", "%", "#", "[", "]", "<", "__", "@@", "*|", "lorem")
"""Every pattern of `_OPEN` needs one of these. Most texts have none, and looking costs 2 µs of 40."""
_GREETED: Final = re.compile(
    r"\b(?i:dear|hi|hello|hey|hallo|liebe[rs]?|hola|bonjour|ciao|regards|cheers),?\s{1,3}\W{0,3}$"
)
_EXPLAINS: Final = re.compile(
    r"\b(?:templat\w{1,8}|placeholders?|merge (?:tags?|fields?)|variables?|syntax|braces|brackets|jinja2?|"
    r"mustache|handlebars|liquid|vue|helm|angular|unresolved|literal(?:ly)?)\b",
    re.IGNORECASE,
)
_MENTIONS: Final = re.compile(
    r"\b(?:type|enter|replace|says?|saying|called|press|prints?|shows?)\s{1,3}$", re.IGNORECASE
)
_REPORTS: Final = re.compile(r"[,.!]?\s(?:says?|said|wrote|reads|(?:is|was) how)\b", re.IGNORECASE)
_INVITES: Final = re.compile(r"[\[<{]{1,2}your .{1,40} here[\]>}]{1,2}", re.IGNORECASE)
NEAR_CHARS: Final = 200
"""How many characters around a slot are searched for an explanation."""

_STAND_IN: Final = re.compile(
    r"\W{0,4}(?:null|undefined|none|nan|n/a|object object|tbd|tba|todo|fixme|placeholder(?: text)?|"
    r"lorem ipsum)\W{0,4}|\W{0,4}(?:todo|fixme|tbd)\W{1,4}(?:write|add|insert|fill|replace|draft|finish|copy|"
    r"text|body|post|content)\b.{0,200}",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(
    r"\b(?:post|draft|copy|body|content|caption|tweet|thread|e-?mail|text|message|asset|image|hook|story|"
    r"call to action)\b",
    re.IGNORECASE,
)
_BRACKET: Final = re.compile(r"[\[<{]{1,3}([^<>\[\]{}\n]{2,160})[\]>}]{1,3}[.!]?")


def find_stand_in(text: str) -> str | None:
    """Return the text if it is only a placeholder: `TODO: write this`, `[LinkedIn post]`."""
    text = text.strip()
    if len(text) > 400:
        return None
    if _STAND_IN.fullmatch(text):
        return text
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    inside = [found[1] for line in lines if (found := _BRACKET.fullmatch(line))]
    whole = len(inside) == len(lines) and any(_PIECE.search(each.replace("_", " ")) for each in inside)
    return text if whole else None


def find_open(text: str, *, explained: bool) -> Iterator[str]:
    """Yield the unfilled slots: the explained ones if `explained`, else the others."""
    folded = text.lower()
    if not any(map(folded.__contains__, _MARKS)):
        return
    for pattern in _OPEN:
        for match in pattern.finditer(text):
            if _is_open(match) and _is_explained(text, match) == explained:
                yield match[0].strip()


def _is_open(match: re.Match[str]) -> bool:
    kind, inside = next((name, text) for name, text in match.groupdict().items() if text is not None)
    if kind == "any":
        return True
    inside = _CAMEL.sub(" ", inside).strip()
    greeted = _GREETED.search(match.string, max(0, match.start() - 20), match.start() + 1) is not None
    named = _NAMED.fullmatch(inside.replace("_", " ")) is not None
    if kind == "angle":
        if _is_mentioned(match):  # a key to press, an argument of a command
            return False
        return (named and _TAG.fullmatch(inside) is None) or (greeted and named) or match[0].startswith("<<")
    return named or (kind == "square" and _ORDERED.fullmatch(inside) is not None)


def _is_mentioned(match: re.Match[str]) -> bool:
    before = max(0, match.start() - 20), match.start()
    return bool(_REPORTS.match(match.string, match.end()) or _MENTIONS.search(match.string, *before))


def _is_explained(text: str, match: re.Match[str]) -> bool:
    start, end = match.start(), match.end()
    if _INVITES.fullmatch(match[0].strip()) or _is_mentioned(match):
        return True
    if _GREETED.search(text, max(0, start - 20), start) is not None:
        return False
    before = max(text.rfind("\n", max(0, start - NEAR_CHARS), start) + 1, start - NEAR_CHARS, 0)
    after = text.find("\n", end, end + NEAR_CHARS)
    after = after if after >= 0 else end + NEAR_CHARS
    return any(_EXPLAINS.search(text, *span) is not None for span in ((before, start), (end, after)))


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
    return find_stand_in(parts.text) or next(find_open(parts.unquoted, explained=False), None)


CHECKS: Final[tuple[tuple[Kind, Callable[[Parts], str | None]], ...]] = (
    ("brief", find_brief),
    ("frame", find_frame),
    ("metadata", find_metadata),
    ("prompt", find_prompt),
    ("pointer", find_pointer),
    ("slot", find_slot),
)
"""All checks, the most certain first. Each returns the passage that it found."""
