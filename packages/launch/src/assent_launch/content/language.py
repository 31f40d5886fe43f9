"""Detects the language of a text, so that a draft never mixes two languages.

The script decides for most languages, function words decide for Latin text. `und` means
undetermined; it has no phrases.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

UNKNOWN: Final = "und"

_SCRIPTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("ja", re.compile(r"[\u3041-\u30ff\uff66-\uff9d]")),
    ("ko", re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("ar", re.compile(r"[\u0600-\u06ff\u0750-\u077f]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
_DENSE: Final = 0.15
"""Share of a script's letters that decides the language; names are often Latin."""


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SMALL_WORDS: Final[dict[str, frozenset[str]]] = {
    "en": word_set(
        "the a an and or of to in for with on is are was be it its this that from by at as you your we our i my not "
        "no can will has have now when what how who new all more than into every without one up so but if they their "
        "them just about out get let lets add added fix fixed over any where while per"
    ),
    "de": word_set(
        "der die das den dem des ein eine einen einem einer eines und oder von zu zum zur in im für mit auf ist sind "
        "war es ihr ihre wir unser unsere sie du dein deine ich mein nicht kein keine kann wird hat haben jetzt wenn "
        "was wie wer neu alle mehr als ohne auch bei aus nach über sich so aber ob noch nur durch pro ihren ihrem jede "
        "jeder"
    ),
    "fr": word_set(
        "le la les un une des et ou de du à au aux en dans pour avec sur est sont ce cette il elle nous vous votre vos "
        "nos ne pas plus que qui sans par se son sa ses leur chaque tout"
    ),
    "es": word_set(
        "el la los las un una unos y o de del a al en para con por es son que se su sus tu tus nosotros no más sin "
        "cada lo como todo cuando este esta"
    ),
    "it": word_set(
        "il lo la gli le un una e o di del della dei a al in per con su è sono che si suo tuo noi non più senza ogni "
        "come questo questa da nel"
    ),
    "pt": word_set(
        "o os as um uma e ou de do da dos em no na para com por é são que se seu sua nós não mais sem cada como este "
        "esta ao você"
    ),
    "nl": word_set(
        "de het een en of van te in voor met op is zijn dat die je jouw wij onze niet geen meer zonder elke als dit "
        "deze er maar ook naar uit bij"
    ),
}
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SAMPLE_CHARS: Final = 4_000

RIGHT_TO_LEFT: Final = frozenset({"ar", "he"})


def detect_language(text: str) -> str:
    """Return the two-letter code of a text's language, or `und`."""
    sample = text[:_SAMPLE_CHARS]
    if script := _script(sample):
        return script
    scores = _scores(sample)
    best = max(scores, key=lambda code: scores[code])
    rivals = sorted(scores.values(), reverse=True)
    if scores[best] == 0 or (rivals[1] == rivals[0] and best != "en"):
        return UNKNOWN
    return best


def _script(sample: str) -> str:
    if sample.isascii():
        return ""
    letters = sum(1 for char in sample if char.isalpha())
    for code, script in _SCRIPTS if letters else ():
        if len(script.findall(sample)) / letters >= _DENSE:
            return code
    return ""


def _scores(sample: str) -> dict[str, int]:
    """Count the function words of each language in a text."""
    words = Counter([word.lower() for word in _WORD.findall(sample)])
    return {code: sum([words[word] for word in small & words.keys()]) for code, small in _SMALL_WORDS.items()}


def language_of_all(texts: Iterable[str]) -> str:
    """Return the language of most of these texts, weighted by length. Latin text without other
    signs counts as English."""
    weights: dict[str, int] = {}
    total = latin = 0
    for text in texts:
        code = detect_language(text)
        total += len(text)
        if code == UNKNOWN:
            latin += len(text)
        else:
            weights[code] = weights.get(code, 0) + len(text)
    if weights:
        return max(weights, key=lambda code: weights[code])
    return "en" if latin and total else UNKNOWN


def speaks(text: str, language: str) -> bool:
    """Whether a text fits a draft of this language: it is in it, or too short to tell."""
    sample = text[:_SAMPLE_CHARS]
    if (script := _script(sample)) or language not in (*_SMALL_WORDS, UNKNOWN):
        return script == language
    scores = _scores(sample)
    most = max(scores.values())
    # One function word is no proof: "per" and "in" are words of several languages.
    return most <= 1 or scores.get(language, 0) >= most - 1


_GREETING: Final = re.compile(
    r"^(?:hi|hello|hey|dear|hallo|liebe\w*|guten tag|sehr geehrte\w*|bonjour|hola|مرحبا|السلام)\b[^.!?\n]{0,60}[,!،]?$",
    re.IGNORECASE,
)
ENDS: Final = ".!?…。！？؟۔"


def add_full_stop(sentence: str, language: str) -> str:
    """End a sentence with the full stop of its script."""
    bare = sentence.rstrip(" ,;:–—-、，；：")
    if not bare or bare[-1] in ENDS or (len(bare) > 1 and bare[-1] in "\"'”’»)」』" and bare[-2] in ENDS):
        return bare
    return bare + ("。" if language in ("ja", "zh") else "" if language == "th" else ".")


def strip_full_stop(sentence: str) -> str:
    """Remove the full stop, for a list or the middle of a sentence."""
    return sentence.rstrip(" .。,;:、")


def is_greeting(line: str) -> bool:
    return _GREETING.match(line) is not None
