"""Cleans text from pages and repositories. It is data: nothing in it is followed as an instruction.

Removes control characters, invisible ones, direction overrides and markup, and lines that address a
model or are a brief, frame or template (`assent.gate.content.check`). Linear in the length of the
text, and bounded.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

LINE_CHARS: Final = 600
"""The longest fact; a longer one is cut at a sentence."""

_INVISIBLE: Final = re.compile(
    r"[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_TAG_CHARACTERS: Final = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|[\U000e0000-\U000e007f]+")
"""Invisible letters, which have a meaning only in flags."""
_TAGS: Final = re.compile(r"<(?:!--.{0,2000}?-->|/?[a-zA-Z][^<>]{0,500}>)", re.DOTALL)
_SPACES: Final = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f]+")

_TO_A_MODEL: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|your|"
    r"system)\b.{0,30}"
    r"\b(?:instructions?|prompts?|rules?|messages?|context|guidelines|directions)\b"
    r"|\b(?:system|developer|hidden|initial) (?:prompt|message|instructions?)\b"
    r"|^\s*(?:system|assistant|user|human|ai|developer|instruction|prompt)\s*:"
    r"|<\|?(?:im_start|im_end|system|endoftext|/?inst)\|?>|\[/?inst\]"
    r"|\b(?:you are|act as|pretend to be|you must now|from now on,? you)\b.{0,60}"
    r"\b(?:assistant|model|ai|agent|bot|llm|chatgpt|claude|gpt)\b"
    r"|\b(?:ai|llm|language model|assistant|agent|chatbot)s?\b.{0,30}"
    r"\b(?:reading|processing|summari[sz]ing|parsing) this\b"
    r"|\b(?:call|invoke|use|run|execute) the\b.{0,30}\b(?:tool|function)\b|\b(?:chieflab|chiefmo)_\w+"
    r"|\b(?:approve|publish|send) (?:this|all|it|every action)\b.{0,40}\b(?:without|automatically|immediately|now)\b"
    r"|\b(?:reveal|print|output|repeat|leak|exfiltrate)\b.{0,40}"
    r"\b(?:secret|api key|password|token|prompt|instructions)\b"
    r"|\b(?:ignoriere|vergiss|missachte)\b.{0,50}\b(?:anweisung|vorgaben|regeln|prompt)"
    r"|(?:以前|前|これまで|上記).{0,8}(?:指示|命令|プロンプト).{0,8}(?:無視|忘れ)|忽略.{0,10}(?:指令|指示|提示)"
    r"|تجاهل.{0,30}(?:التعليمات|الأوامر|التوجيهات)",
    re.IGNORECASE,
)

_ABOUT_THE_GATE: Final = re.compile(
    r"\b(?:ignore|disregard|forget) (?:everything |all )?(?:of )?the (?:above|foregoing|preceding)\b"
    r"|\b(?:note|notice|message|instructions?|hinweis|nachricht|anweisung(?:en)?) (?:to|for|an|für) (?:\w+ )?"
    r"(?:ais?|llms?|ki|(?:language |ai )?models?|(?:ai )?assistants?|ai agents?|chatbots?)\b"
    r"|\b(?:hey|dear|hello|attention),? (?:ai|chatgpt|claude|gemini|copilot|gpt|llm|assistant|model)\b"
    r"|^\W*(?:chatgpt|claude|gemini|copilot|gpt|instructions?)\s*:"
    r"|\bto the model (?:preparing|writing|reading|drafting)\b"
    r"|\b(?:ai|language) (?:models?|assistants?|agents?|systems?) (?:must|shall|have to)\b"
    r"|\b(?:user|human|owner) (?:has |have )?(?:already |just )?approved (?:this|it|all|every)\b"
    r"|\btell the (?:user|human) (?:that|to)\b|\bapprove (?:all|every|any) (?:pending |staged )?actions?\b"
    r"|\b(?:do not|don['’]t|never|without) (?:show|ask|tell|inform)(?:ing)?\b.{0,30}"
    r"\b(?:user|human|approval)\b"
    r"|\bno (?:review|approval|confirmation) is (?:needed|required|necessary)\b.{0,20}"
    r"\b(?:go ahead|publish|send|proceed)\b"
    r"|\bskip the (?:review|approval|confirmation)\b"
    r"|\bwhen (?:writing|preparing|drafting) (?:the|this|an?) (?:\w+ )?(?:announcement|post|e-?mail|launch|draft)\b"
    r"|\b(?:set|add|change|put)\b.{0,20}\b(?:recipients?|bcc|cc)\b.{0,30}@",
    re.IGNORECASE,
)
"""Matches instructions to the writer: what to leave out, skip or insert."""


def printable(text: str) -> str:
    """Remove invisible and unassigned characters, unify line ends, compose accents."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = _TAG_CHARACTERS.sub(r"\1", _INVISIBLE.sub("", text))
    kept = "".join(
        char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs", "Co", "Cn")
    )
    return unicodedata.normalize("NFC", kept)


def one_line(text: str, most: int = LINE_CHARS) -> str:
    """Return a single line without markup, cut at a sentence or word if it is too long."""
    text = html.unescape(_TAGS.sub(" ", text[: most * 8]))
    # Unescaping may have produced new markup.
    text = _TAGS.sub(" ", text)
    text = _SPACES.sub(" ", printable(text).replace("\n", " ")).strip()
    return cut(text, most)


def cut(text: str, most: int) -> str:
    """Cut a text to `most` characters, at a late sentence end, else at a word."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    end = max(head.rfind(stop) for stop in (". ", "! ", "? ", "。", "！", "؟"))
    if end > most // 2:
        return head[: end + 1]
    space = head.rfind(" ")
    return (head[:space] if space > most // 2 else head).rstrip(" ,;:–—-、") + "…"


def speaks_to_a_model(line: str) -> bool:
    """Whether a line addresses a model and not the readers."""
    return any(pattern.search(line[:2_000]) for pattern in (_TO_A_MODEL, _ABOUT_THE_GATE))
