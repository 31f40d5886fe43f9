"""Lines of pages and repositories that address a model instead of readers. Such a line is left out."""

from __future__ import annotations

import re
from typing import Final

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


def speaks_to_a_model(line: str) -> bool:
    """Whether a line addresses a model and not the readers."""
    return any(pattern.search(line[:2_000]) for pattern in (_TO_A_MODEL, _ABOUT_THE_GATE))
