"""Warns of what sounds like something else than the finished text, so that a person looks at it (E18, E48).

Each sign is a guess about words, and a guess may be wrong: it costs the reviewer one line and refuses nothing. The
certain cases are refused by `assent.gate.content.check`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, takewhile
from typing import Final

from assent.gate.content import slots
from assent.gate.content.check import SHORT_CHARS, excerpt_of, is_about_text
from assent.gate.content.prompts import GENRE, MAKE
from assent.gate.content.text_parts import Parts, sign, words

MOST: Final = 3
"""More warnings about one text would say the same."""
SHORT_NOTE_CHARS: Final = 120
BRIEF_CHARS: Final = 1_500
"""Briefs are short; a longer text that has all their signs is about something else."""

NOTE: Final = "It reads like a note about a text that is still to be written: “{}”."
BRIEF: Final = "It reads like a brief for a writer: “{}”."
CHAT: Final = "It reads like the words of an assistant around the text: “{}”."
LABEL: Final = "It has a label that would be published with the text: “{}”."
LEFT: Final = "It has a place that may have been left open: “{}”."

_CHANNEL: Final = (
    r"(?:linked ?in|twitter|x|facebook|instagram|threads|bluesky|tiktok|reddit|hacker news|show hn|"
    r"product hunt|slack|newsletter|blog|e-?mail|social media)"
)
_THING: Final = rf"(?:{GENRE}|draft|text|body|image|screenshot)"

_IS_NOTE: Final = sign(
    rf"(?:this|it|the (?:[\w-]+ )?{_THING}) (?:should|must|needs to|has to|would) be (?:about|short|"
    rf"an? (?:[\w-]+,? ){{0,4}}{_THING})\b",
    rf"the (?:[\w-]+ )?{_THING} (?:should|must|needs to|has to) (?:announce|explain|mention|highlight|cover|"
    rf"introduce|"
    r"talk|describe|focus|feel|include)\b",
    rf"(?:an? |the )?(?:[\w-]+ ){{0,4}}{GENRE} (?:for (?:[\w-]+ ){{1,3}})?(?:announcing|introducing|aimed at|"
    rf"that "
    r"(?:announces|introduces|tells|explains|highlights))\b(?![^.!?]*(?:\b(?:is|was|are|got|went)\b|\?))",
    rf"(?:i|we)(?: would|['’]d)? (?:need|want|like) (?:[\w-]+ ){{1,4}}?{_CHANNEL} {GENRE}\b",
    rf"(?:this is where the [^.!?\n]{{0,40}}\b{_THING} goes|placeholder for (?:the|an?|your) )",
)
_IS_ORDER: Final = sign(
    rf"(?:please |can you |now |let['’]s |help me )?{MAKE} [^.!?\n]{{0,30}}?(?:{_CHANNEL} (?:{GENRE}|for)|"
    rf"(?:post|tweet) "
    r"(?:about|for the))\b(?![^.!?\n]*\b(?:win|your|any)\b)",
    rf"(?:please )?{MAKE} an? {GENRE}\W{{0,3}}$",
    r"(?:rewrite|summari[sz]e|continue|take) (?:this|the) (?:following|\w+ below|so it)\b",
    rf"(?:using|given|based on) the [^.!?\n]{{2,60}}, {MAKE}\b",
    rf"(?:your task is|you will receive|your role:|task:|goal:)[^\n]{{0,200}}\b{MAKE}\b",
)
_IS_BRIEF_LINE: Final = sign(
    rf"(?:[\w-]+ ){{0,3}}?(?:{_CHANNEL}|drafting|copy|content|post|creative|tagline)(?: [\w-]+){{0,2}}? "
    r"(?:brief|outline|notes|direction|angle|ideas?|plan)(?: wanted)?\s{0,2}(?::.{0,400})?",
    r"outline\s?:",
)
_IS_PREAMBLE: Final = sign(
    rf"(?:sure(?: thing)?|certainly|of course|absolutely|great|okay)[!,.:–— -]{{1,4}}(?:here|below|i(?:['’]ve|"
    rf" have))\b[^\n]{{0,80}}\b{_THING}\b[^\n]{{0,80}}:\W{{0,4}}",
    rf"(?:here(?:['’]s| is| are)|below (?:is|are)) (?:your (?:[\w-]+ ){{0,4}}?{_THING}|"
    rf"the (?:[\w-]+ ){{0,4}}?draft|the (?:revised|updated|polished|final) \w+)\b[^\n]{{0,60}}:\W{{0,4}}",
    r"(?:(?:klar|gerne|natürlich)[!,.]? )?hier (?:ist|sind|kommt) (?:dein|ihr|euer|der|"
    r"ein)\w{0,3} [^\n]{0,40}(?:beitrag|post|text|entwurf|tweet|artikel|mail)\b[^\n]{0,40}:\W{0,4}",
    r"(?:¡?claro[!,.]? )?aquí tienes (?:tu|el|la|una?) (?:post|publicación|texto|borrador|correo|"
    r"tuit)[^\n]{0,60}:\W{0,4}",
    r"(?:bien sûr[!,.]? )?voici (?:votre|ton|le|un) (?:post|article|texte|brouillon|e-mail|"
    r"tweet)[^\n]{0,60}:\W{0,4}",
)
_IS_LABEL: Final = sign(
    rf"(?:{_CHANNEL}|draft(?: \d{{1,2}})?|output|final (?:version|output|copy|answer))(?: (?:post|draft|update|"
    rf"version|copy))?"
    r"(?: ?\([^()\n]{1,30}\))?\s?:",
    r"(?:begin|start)(?: of)? (?:\w{1,20} )?(?:draft|post|output|content|copy|text|message)\b.{0,12}",
    r"(?:generated|output|draft|response|"
    r"result)(?: \w{1,15}){0,2} ?[(\[{][^()\[\]{}\n]{1,60}[=:][^()\[\]{}\n]{1,120}[)\]}]",
)
_IS_HEADING: Final = sign(
    rf"#{{1,6}}\s?{_CHANNEL} (?:post|draft|update|copy|caption)\s?",
    rf"[=*#~_-]{{2,10}}\s?{_CHANNEL} (?:post|draft)\b.{{0,20}}",
)
_TAG: Final = sign(
    r"<(?:draft|output|post|response|answer|result|copy|tweet|\w{1,20}_(?:post|draft))(?:\s[^<>\n]{0,80})?>"
)

_ANYWHERE: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        NOTE,
        sign(
            rf"\b{_THING}\b[^.!?\n]{{0,120}}?\b(?:would go|will go|goes|would be|will be|belongs) (?:in )?here\b",
            r"\(?\b(?:draft|copy|text|body|caption|wording)\b(?: [\w-]+){0,3}? (?:to follow|to come|will follow|is "
            r"missing|not yet written)\b",
            rf"\b{_THING} (?:will|(?:still )?(?:needs |has )?to) be (?:written|generated|supplied|added|drafted)\b",
            r"\b(?:agent|assistant|model) (?:will|should|must) (?:now )?(?:write|draft|generate|fill in) this\b",
        ),
    ),
    (
        CHAT,
        sign(
            r"\bas an? (?:ai|large language|language)(?: language)? (?:model|assistant)\b,? i\b",
            r"\bi(?:['’]m sorry,? but i)? (?:cannot|can['’]t) (?:assist|help|comply) with (?:that|"
            r"this)(?: request)?\b",
            r"^\W{0,3}(?:show|render|present) this [^.!?\n]{0,40}\bto the (?:user|human)\b",
        ),
    ),
    (
        LEFT,
        sign(
            r"\[(?:image|photo|picture|screenshot|video|gif|graphic|logo|chart|bild|"
            r"imagen)s?\s?[:–-][^\]\n]{2,120}\]",
            r"\((?:insert|attach|paste|add) [^()\n]{2,60}\)",
            r"(?:^|\n)\W{0,4}(?:todo|fixme)\b ?[:–(-] ?(?:add|insert|fill|replace|attach|confirm|"
            r"verify)\b[^\n]{0,80}",
        ),
    ),
)
_OFFER: Final = sign(
    r"\blet me know if you(?:['’]d| would)? (?:like|want|need)\b[^.!?\n]{0,60}\b(?:chang\w+|adjust\w*|tweak\w*|"
    r"revis\w+|edits?|(?:shorter|longer|different) (?:version|one)|another version|tone|variations?)\b",
    r"\bwould you like me to (?:adjust|make|write|change|shorten|add|create)\b",
    r"\bfeel free to (?:adjust|edit|tweak|modify) (?:it|this|the (?:tone|text|post|draft))\b",
)
_GREETING: Final = sign(r"\W{0,3}(?:hi|hello|dear|hey|hallo|liebe|hola|bonjour|ciao|good morning)\b")
_AUTHOR: Final = re.compile(r"\b(?:[Ww]e|I|my|us|[Yy]our|[Ww]ir|[Ii]ch|[Nn]ous|[Jj]e|[Мм]ы)\b")
_WAITS: Final = sign(
    rf"\b(?:{_CHANNEL}|draft|\w+_\w+)\b.*\b(?:awaiting|pending|ready for) (?:approval|review)\b"
)

# The signs of a brief in many languages: what is wanted, and how long, how limited, in which tone, by which order.
_WANTED: Final = sign(
    r"\b(?:post|beitrag|artikel|publicación|correo|article|annonce|articolo|annuncio|postagem|bericht|inlägg|"
    r"wpis|пост|статья|gönderi|bài đăng|e-?mail|newsletter|tweet|update|announcement|cta|linkedin|instagram|"
    r"facebook|twitter)",
    r"投稿|記事|ツイート|帖子|推文|文章|게시물|링크드인|منشور|पोस्ट",
)
_ORDER: Final = sign(
    r"(?:^|[.!?。:\n] ?)(?:bitte |por favor,? )?(?:schreib(?:e|en sie)?|verfasse|erstelle|escrib[ae]|redacta|"
    r"crea|rédigez?|écris|écrivez|scrivi|escreva|crie|schrijf|skriv|napisz|напиши(?:те)?|tulis|viết|اكتب)\b",
    r"写一|写条|書いて|作成して|考えて|작성해|써 ?주|लिखें|\byaz\b",
)
_NETWORK: Final = sign(
    r"linked ?in|instagram|facebook|twitter|\btweet|newsletter|ツイート|推文|링크드인|लिंक्डइन|لينكد"
)
_SIGNS: Final = (
    sign(
        r"\d{2,4}\s?(?:words?|characters|chars|wörter\w*|zeichen|palabras|caracteres|mots|caractères|parole|"
        r"palavras|woorden|ord|słów|znaków|слов\w*|знаков|символов|kelime|kata|từ|字|文字|자|كلمة|शब्द\w*)",
        r"文字数|字数|مئة كلمة",
    ),
    sign(
        r"(?:~|\b(?:max\w{0,4}\.?|under|at most|around|höchstens|не (?:больше|более)|en fazla|tối đa|ca\.|etwa|"
        r"rund|unas|environ|około|ongeveer|около|circa|cerca de|約|大约|حوالي)) ?\d",
        r"以内|以下|程度|정도|이내|से कम|不超过|\b(?:máximo|maximum|maximal|massimo)\b",
    ),
    sign(
        r"\b(?:tone|tono|tonfall|tonalität|тон|zielgruppe|público objetivo|target audience|giọng)\b(?! of the)",
        r"\btom (?:amig|profiss|formal|leve)|\btoo?n[,.]|(?-i:\bTon\b) ?(?::|soll|\w+[,.])|\bpúblico\b|"
        r"\bpublic ?:|samimi bir ton",
        r"语气|風格|风格|口調|トーン|어조|톤|نبرة|लहजा",
    ),
    _ORDER,
    sign(r"(?:^|[.!?:\n] ?)(?:please )?(?:write|draft|compose)\b"),
)
_LABELS: Final = words(
    "tone,audience,target audience,length,goal,cta,angle,key message,key points,ziel,zielgruppe,tonalität,ton,"
    "länge,kernbotschaft,objetivo,público objetivo,público,tono,llamada a la acción,objectif,cible,longueur,"
    "obiettivo,pubblico,lunghezza,цель,аудитория,тон,объём,目的,ターゲット,トーン,文字数,目标,受众,语气,字数,목적,대상,톤,분량"
)
_INLINE: Final = sign(
    r"\b(?:tone|audience|key points|key message|cta|length|angle|hook|constraints|goal)\s?:"
)


def suspicions_in(text: str) -> tuple[str, ...]:
    """Warnings for the person who decides, each a sentence with its passage. A long text is judged once."""
    return _suspect(text) if len(text) <= SHORT_CHARS else _suspect_once(text)


def _suspect(text: str) -> tuple[str, ...]:
    parts = Parts(text)
    if not parts.text.strip():
        return ()
    found = [*_at_the_top(parts), *_inside(parts)]
    if len(parts.text) <= BRIEF_CHARS and _is_brief(parts):
        found.append((BRIEF, parts.text))
    return tuple(dict.fromkeys(warning.format(excerpt_of(passage)) for warning, passage in found))[:MOST]


_suspect_once: Final = lru_cache(maxsize=64)(_suspect)


def _at_the_top(parts: Parts) -> list[tuple[str, str]]:
    first, opening = parts.lines[0], parts.unquoted[:400].lstrip("#*_>- \n\t")
    if _IS_NOTE.match(opening) or (len(parts.text) <= SHORT_NOTE_CHARS and _WAITS.search(parts.text)):
        return [(NOTE, first)]
    if _IS_BRIEF_LINE.fullmatch(parts.first) or _IS_ORDER.match(opening):
        return [(BRIEF, first)]
    if len(parts.lines) > 1 and _IS_PREAMBLE.fullmatch(parts.first):
        return [(CHAT, first)]
    labelled = _IS_LABEL.fullmatch(parts.first) or _IS_HEADING.fullmatch(first) or _leads_with_fields(parts)
    if _TAG.match(parts.text) or (len(parts.lines) > 1 and labelled):
        return [(LABEL, parts.text if _TAG.match(parts.text) else first)]
    return []


def _leads_with_fields(parts: Parts) -> bool:
    leading = [field for field in takewhile(bool, parts.fields) if field is not None]
    return 1 < len(leading) < len(parts.lines) and all(map(is_about_text, leading[:2]))


def _inside(parts: Parts) -> list[tuple[str, str]]:
    head = parts.unquoted[: len(parts.head)]
    found = [(warning, match[0]) for warning, sign in _ANYWHERE if (match := sign.search(head)) is not None]
    found += [(LEFT, slot) for slot in islice(slots.find_open(head, explained=True), 1)]
    # People end their mails so too.
    if not _GREETING.match(parts.text) and (offer := _OFFER.search(parts.unquoted[-600:])) is not None:
        found.append((CHAT, offer[0]))
    return found


def _is_brief(parts: Parts) -> bool:
    """Whether a text in which no author speaks has several signs of a brief."""
    text = parts.unquoted
    if _AUTHOR.search(text):
        return False
    keys = [field.key if field is not None else "" for field in parts.fields]
    if keys[0] in _LABELS and sum(key in _LABELS for key in keys) * 2 >= max(len(keys), 4):
        return True
    if _ORDER.search(text[:200]) and _NETWORK.search(text[:200]):
        return True
    labels = max(len(_INLINE.findall(line)) for line in parts.lines)
    if labels >= 3:
        return True
    signs = sum(sign.search(text) is not None for sign in _SIGNS)
    return _WANTED.search(text) is not None and (signs >= 2 or labels >= 2)
