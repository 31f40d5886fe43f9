"""How English gives somebody a role and sets a writing task."""

from __future__ import annotations

from typing import Final

from assent.lifecycle.theater.words import ONE, PIECE, SOME, WRITE, sign

_TRADE: Final = (
    r"(?:copy-?writer|writer|ghost-?writer|marketer|strategist|assistant|expert|editor|specialist|consultant|"
    r"(?:media|community|content|product|marketing|brand|growth|pr) manager|journalist|publicist|chatbot|bot|"
    r"language model|llm|ai|agent|storyteller|blogger|author|voice of|creative director|head of \w+|cmo|"
    r"advertiser|"
    r"advisor|coach|translator|proofreader|professional|generator)\b"
)
_YOU_ARE: Final = r"you(?:['’]re| are)"
_NOTED: Final = r"(?:(?:as a reminder|remember|note|from now on|for this task|in this task)[,:]? )?"
_SUPPOSE: Final = rf"(?:imagine|pretend|assume|suppose)(?: that)? {_YOU_ARE}"

ROLE: Final = sign(
    rf"{_NOTED}(?:{_YOU_ARE}|you will be)(?: now)? (?:an?|the|our|my|one of the|"
    rf"[^\s.]{{1,30}}['’]s) {SOME}{{0,9}}?{_TRADE}",
    rf"{_YOU_ARE}(?: now)? (?:writing|drafting|posting|speaking|tasked|responsible|asked) (?:on behalf of|as|"
    rf"for|with|to)\b",
    rf"{_SUPPOSE} (?:an?|the|our|my) {SOME}{{0,9}}?{_TRADE}",
)
"""A role that a writer has. Stories in the second person open so too: a task or a limit has to follow."""
MODEL_ROLE: Final = sign(
    rf"{_NOTED}{_YOU_ARE} (?:tasked|charged) with (?:creating|writing|drafting|producing|generating)\b",
    rf"{_YOU_ARE}(?: now)? (?:a|an|the) (?:helpful (?:ai |writing |marketing )?assistant\b|"
    rf"{SOME}{{0,4}}?(?:language model|llm|ai assistant)\b|"
    rf"{SOME}{{0,6}}?(?:assistant|model|bot|agent|ai|generator) (?:that|who|which|designed to|trained to) "
    r"(?:writes?|drafts?|generates?|creates?|helps?)\b)",
)
"""A role that only a model has."""
ANY_ROLE: Final = sign(
    rf"(?:{_YOU_ARE}|{_SUPPOSE}) (?:an?|the|our) [^.!?]{{2,120}}[.!]?$",
    r"you will (?:receive|be given|get) [^.!?]{2,120}[.!]?$",
)
"""What only a task right after it makes a role."""
ACT_AS: Final = sign(
    r"(?:act|behave) (?:as|like) (?:an?|the) [^.!?]{2,60}?(?: and|,) (?:write|draft|create|generate|give)\b",
    r"(?:please |now )?(?:(?:i want you to|i['’]d like you to|you will|you should|you must|your role is to) )?"
    r"(?:act|behave|respond|answer|pose) (?:as|like) (?:if you (?:are|were) )?(?:an?|the|our|my) "
    rf"{SOME}{{0,9}}?{_TRADE}",
)

_GIVEN: Final = (
    r"(?:using|based on|from|given|considering) [^,]{3,120}, |"
    r"use (?:it|this|these|them|the [^.!?]{2,60}?) to "  # the material comes first
)
_ORDERED: Final = (
    r"(?:hey |hi |hello )?(?:chatgpt|claude|gemini|copilot|gpt|assistant|ai)[,:!]+ |as (?:an?|our|"
    r"my) [^,]{3,80}, |"
    r"as (?:an?|the|our|my) [^,.!?]{3,80}?,? you (?:will|should|must|need to) |(?:i|we) (?:need|want) you to |"
    r"i['’]d like you to |(?:your|the) (?:task|job|goal|mission|assignment) is to |(?:your )?task ?: ?|"
    r"instructions? ?: ?|request ?: ?"
)
_ASKED: Final = r"please |kindly |(?:can|could|would) you (?:please )?|help (?:me|us) (?:to )?"
_TO_WRITE: Final = "|".join(
    (
        rf"{WRITE} (?:me |us |up )?(?:up to |at least )?{ONE} {SOME}{{0,7}}?{PIECE}\b",
        rf"{WRITE} (?:me |us )?something (?:\w+ ){{0,2}}?(?:about|for|on|to announce)\b",
        rf"{WRITE} (?:some |the )?(?:\w+ ){{0,2}}?(?:copy|text|content|captions?|posts|tweets|headlines) "
        r"(?:for|about|announcing|on|that)\b",
        rf"{WRITE} (?:linked[ -]?in|twitter|x|instagram|facebook|marketing|social media|launch|"
        rf"ad) {SOME}{{0,3}}?{PIECE}\b",
        r"(?:tell|inform|remind) (?:our|the) (?:\w+ )?(?:followers|customers|users|audience|subscribers|"
        r"community|"
        r"network|readers) (?:about|that|of)\b",
        r"(?:post|tweet|blog) about (?:the|our|how|why)\b",
        r"(?:re-?write|rephrase|reword|proofread|polish) (?:this|it) (?:so|to|in|as|for)\b",
        r"(?:take [^.!?]{2,60}?(?: and|,) )?(?:turn|convert|make) (?:it|them|this|these) into an? (?:\w+ ){0,3}?"
        r"(?:post|tweet|thread|e-?mail|newsletter|announcement|caption)\b",
        r"(?:continue|finish|complete|expand) the (?:post|text|draft|thread|e-?mail|copy) (?:below|above|in)\b",
        r"(?:re-?write|summari[sz]e|shorten|translate|paraphrase|adapt|turn|convert|repurpose|improve|polish|"
        r"edit) "
        r"(?:the |this |these )[^.!?]{0,80}\b(?:following|below|above|(?:as|into) an? (?:\w+ )?(?:post|tweet|"
        r"thread|email))",
    )
)
TASK: Final = sign(
    rf"(?P<given>{_GIVEN})?(?:then |now |next,? |also |finally,? |"
    rf"let['’]s )?(?P<order>{_ORDERED})?(?P<ask>{_ASKED})?"
    rf"(?:{_TO_WRITE})"
)
"""To write something. Advice and offers begin so too; what follows and whom it speaks to decides."""
_OF_TASKS: Final = (
    *(
        "write",
        "draft",
        "compose",
        "generate",
        "create",
        "produce",
        "craft",
        "prepare",
        "come up with",
        "give me",
    ),
    *(
        "give us",
        "provide",
        "develop",
        "brainstorm",
        "suggest",
        "propose",
        "make",
        "design",
        "tell",
        "inform",
    ),
    *(
        "remind",
        "post about",
        "tweet about",
        "blog about",
        "rephrase",
        "reword",
        "proofread",
        "polish",
        "turn",
    ),
    *("convert", "continue", "finish", "complete", "expand", "summari", "shorten", "translate", "paraphrase"),
    *("adapt", "repurpose", "improve", "edit"),
)
"""Every task has one of these in it."""


def may_set_task(text: str) -> bool:
    """Whether any of a text's sentences can be a task: quick to see, and most texts have none."""
    if not text.isascii():
        return True
    small = text.lower()
    return any(words in small for words in _OF_TASKS)


SURE_TASK: Final = sign(
    r"(?:please )?(?:write|draft|compose|generate|create|craft|produce|prepare) (?:me |us )?"
    rf"(?:an?|the|our|one|two|three|\d{{1,2}}) {SOME}{{0,5}}?(?:posts?|tweets?|threads?|e-?mails?|"
    rf"newsletters?|captions?|"
    r"announcements?|taglines?|articles?|press releases?|subject lines?)\b"
)
SUBJECT: Final = sign(
    r"\b(?:about|announcing|announces?|introducing|introduces?|promoting|promotes|explaining|explains|"
    r"highlights?|"
    r"highlighting|celebrating|covering|telling|inviting|informing|teasing|showcasing|regarding|based on|"
    r"following|"
    r"below|above|for (?:our|the|my|this|an?) \w+|for (?-i:[A-Z])\w+|on (?:our|the|my|why|how)|in the voice of|"
    r"in (?:our|the) brand voice|(?:for|to) (?!you|me|free)(?:our |the |all |\w+ )?(?:users|customers|"
    r"subscribers|"
    r"teams|managers|founders|developers|leads))\b"
)
"""What the text is to be about, or for whom."""
BACKWARD: Final = sign(
    r"\b(?:above|following|below|(?:this|these|the) (?:information|context|notes|evidence|details|facts|input|"
    r"changes|"
    r"commits|release|brief|data))\b",
    r"^(?:re-?write|rephrase|reword|proofread|polish) (?:this|it)\b[^:]{0,120}:$",
)
"""Points to material beside the task."""
