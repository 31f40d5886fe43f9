"""Which keys of a `key: value` line belong to a brief or to a record, and which lines are titles or labels."""

from __future__ import annotations

import re
from typing import Final

from assent.lifecycle.theater.page import Field, word_count
from assent.lifecycle.theater.words import listed, sign

SURE_BRIEF_KEYS: Final = listed(
    "tone, tone of voice, tone & style, brand voice, voice, cta, call to action, call-to-action, key message",
    "key messages, key points, must include, must mention, must have, target audience, word count, hashtags",
    "keywords, deliverable, deliverables, persona, proof points, angle, hook, avoid, do not, don't, dos, don'ts",
    "pillars, objective, objectives, positioning, talking points, writing style, output format",
    "zielgruppe, tonalität, kernbotschaft, ansprache, handlungsaufforderung, público objetivo, tono",
    "llamada a la acción, mensaje clave, público-alvo, tom, chamada para ação, public cible, cible, ton",
    "appel à l'action, message clé, pubblico, pubblico di riferimento, doelgroep, toon, целевая аудитория, тон",
    "призыв к действию, grupa docelowa, ターゲット, トーン, 文字数, 口調, 目标受众, 语气, 目標受眾, 語氣, 字数",
    "타깃, 타겟, 톤, 대상, الجمهور المستهدف, النبرة, hedef kitle",
)
"""Only a brief has these."""
BRIEF_KEYS: Final = SURE_BRIEF_KEYS | listed(
    "goal, goals, audience, format, length, language, topic, subject matter, platform, channel, product, deadline",
    "message, style, context, task, role, instructions, constraints, brand, structure, target, image, visual",
    "link, notes, reference, references, evidence, must, offer, benefit, benefits, usp, problem, proof, frame",
    "campaign, asset, medium, what, who, why, ziel, länge, kanal, thema, plattform, objetivo, canal, longitud",
    "tema, público, formato, plataforma, objectif, longueur, sujet, publique, plateforme, extensão, obiettivo",
    "lunghezza, canale, piattaforma, doel, lengte, цель, аудитория, объём, канал, cel, długość, 目的, 媒体, 目标",
    "渠道, 目標, 목적, 목표, 채널, 분량, الهدف, القناة, الطول, amaç",
)
"""A brief has these too."""
RECORD_KEYS: Final = listed(
    "id, asset, assets, action, actions, channel, channels, connector, route, mode, executor, executor tool",
    "digest, revision, variant, words, word count, chars, characters, char count, character count, slug",
    "operator, provider, workspace, tenant, platform, credits, tokens, content type, post type, asset type",
    "preflight, draft, layout, permalink, recipients, scheduled, scheduled for, scheduled at, images, image count",
    "kanal, canal, チャンネル, 渠道",
)
"""A record of an action has these."""
CHANNELS: Final = listed(
    "linkedin, twitter, x, threads, bluesky, instagram, facebook, tiktok, reddit, hn, email, e-mail"
)
PIECES: Final = listed("post, draft, drafts, copy, caption, tweet, body, version, variant, text, asset")
_LABEL_WORDS: Final = (
    CHANNELS | PIECES | listed("final, the, for, launch, announcement, generated, 1, 2, 3, a, b, v1, v2")
)

STATE: Final = sign(
    r"(?:draft|pending|awaiting|ready|approved|scheduled|queued|in review|review|staged|generated|unpublished|"
    r"entwurf)\b"
)
MACHINE_VALUE: Final = re.compile(
    r"true|false|null|None|[a-z]+(?:_[a-z0-9]+)+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|"
    r"\d{4}-\d\d-\d\dT[\d:.+Z-]{4,20}|see (?:the )?(?:asset|attachment|attached|preview|link|below|"
    r"above)[\w ]{0,30}"
)
# What a program writes beside a key of its own is short; a changelog writes a sentence there.
_SHORT_VALUE: Final = re.compile(r"[^(){}\"'<>;]{0,24}|[\w.:/@+-]{1,64}")
_NUMBERED: Final = re.compile(r"(?:post|tweet|e-?mail|slide|part|variant) \d{1,2}")
_NAME: Final = re.compile(r"[\w-]+")
_IN_PARENTHESES: Final = re.compile(r"\([^()\n]{1,60}\)")


def of_a_record(field: Field | None) -> bool:
    """Whether only a record would have this field."""
    if field is None:
        return False
    state = field.key in ("status", "state") and STATE.match(field.value) is not None
    short = field.machine and _SHORT_VALUE.fullmatch(field.value) is not None
    named = field.key in RECORD_KEYS or field.key.endswith(" id")
    return short or state or named or MACHINE_VALUE.fullmatch(field.value) is not None


def of_a_brief(field: Field | None) -> int:
    """2 for a key that only a brief has, 1 for one that a brief has too, 0 for any other."""
    if field is None:
        return 0
    key = field.key.partition(" for ")[0]
    channel, _, rest = key.partition(" ")
    if channel in CHANNELS and rest:
        key = rest
    if key in SURE_BRIEF_KEYS:
        return 2
    return int(key in BRIEF_KEYS or _NUMBERED.fullmatch(key) is not None)


def is_title(line: str) -> bool:
    """A heading rather than a sentence."""
    if line.startswith("#"):
        return word_count(line) <= 12
    return word_count(line) <= 10 and not line.endswith((".", "!", "?", "。", "！", "？"))


def is_label(line: str) -> bool:
    """`LinkedIn post`, `Email draft (v2)`: the name of a piece instead of its title."""
    outside = {word.casefold() for word in _NAME.findall(_IN_PARENTHESES.sub("", line))}
    words = {word.casefold() for word in _NAME.findall(line)}
    return outside <= _LABEL_WORDS and not CHANNELS.isdisjoint(words) and not PIECES.isdisjoint(words)
