"""Redacts secrets from logs and from what a failed connector said, by field name and by pattern.

Pure. In doubt it hides too much. Independent of loggers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

HIDDEN: Final = "[redacted]"

SECRET_FIELDS: Final = re.compile(
    r"(?:authorization|cookie|password|secret|secrets|token|api_?key|credentials|csrf|nonce)$", re.IGNORECASE
)
"""Names of fields whose value is always hidden."""

LONGEST_TEXT: Final = 8_192
"""Text beyond this length is cut, to bound the time."""

MIN_LITERAL_CHARS: Final = 8
"""A shorter known secret would hide ordinary words."""


_DOT: Final = "."
_SHORTEST_TOKEN: Final = 16 + 1 + 43


class RedactionRule(NamedTuple):
    """A text that matches contains one of `signs`, in lower case."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    replacement: str


RULES: Final = (
    # A workspace key: its kind may be shown.
    RedactionRule(("clp_",), re.compile(r"\bclp_(dev|live)_[A-Za-z0-9_-]+"), rf"clp_\1_{HIDDEN}"),
    # The secret that signs webhooks.
    RedactionRule(("whsec_",), re.compile(r"\bwhsec_[A-Za-z0-9+/=_-]+"), f"whsec_{HIDDEN}"),
    # A key of Zernio or Resend.
    RedactionRule(("sk_", "re_"), re.compile(r"\b(sk|re)_[A-Za-z0-9_]{16,}"), rf"\1_{HIDDEN}"),
    # Tokens signed by our key rings, such as review links: payload, dot, 32 bytes of MAC.
    RedactionRule(
        (_DOT,),
        re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{16,4096}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
        HIDDEN,
    ),
    # A secret in a query or a form.
    RedactionRule(
        ("=",),
        re.compile(
            r"(?i)((?:\b|_)(?:token|api_?key|secret|password|csrf)=|[?&](?:code|key|state|nonce|sig)=)"
            r"[^&\s\"'#;,)\]}]+"
        ),
        rf"\1{HIDDEN}",
    ),
    # A one-time link that carries its secret in the path.
    RedactionRule(
        ("/get-key/", "/deliver/", "/delivery/", "/claim/", "/sign-in/", "/owner/"),
        re.compile(r"(/(?:get-key|deliver|delivery|claim|sign-in|owner)/)[A-Za-z0-9_.~-]{16,}"),
        rf"\1{HIDDEN}",
    ),
    # A header, as itself, as JSON or as a Python tuple.
    RedactionRule(
        ("authorization", "cookie", "x-api-key"),
        re.compile(
            r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)([\"']?\s*[:=,]\s*b?[\"']?)[^\"'\r\n]+"
        ),
        rf"\1\2{HIDDEN}",
    ),
    RedactionRule(("bearer",), re.compile(r"(?i)\b(bearer)\s+[A-Za-z0-9._~+/=-]{6,}"), rf"\1 {HIDDEN}"),
    # The password in a database address.
    RedactionRule(("@",), re.compile(r"(://[^:/\s@]*:)[^@\s]+@"), rf"\1{HIDDEN}@"),
)

_SIGNS: Final = tuple(sign for rule in RULES for sign in rule.signs if sign != _DOT)


def may_match(text: str) -> bool:
    """Whether a rule may match. Most texts contain no sign, so that no pattern is searched."""
    if not text.isascii():
        return True  # patterns that ignore case take some other letters for ASCII ones
    lower = text.lower()
    return any(sign in lower for sign in _SIGNS) or (len(text) >= _SHORTEST_TOKEN and _DOT in text)


@lru_cache(maxsize=256)
def _names_secret(name: str) -> bool:
    return SECRET_FIELDS.search(name) is not None


class Redactor:
    """Redacts text and fields. `known` are literal values to hide."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        literals = sorted({each for each in known if len(each) >= MIN_LITERAL_CHARS}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, literals))) if literals else None
        self._name = lru_cache(maxsize=256)(self.text)

    def text(self, text: str) -> str:
        if len(text) > LONGEST_TEXT:
            text = f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        if not may_match(text):
            return text
        for rule in RULES:
            text = rule.pattern.sub(rule.replacement, text)
        return text

    def fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields without secrets, as JSON-compatible values."""
        return {
            self._name(str(name)): HIDDEN if _names_secret(str(name)) and value else self._value(value)
            for name, value in fields.items()
        }

    def _value(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self.fields(value)
        if isinstance(value, list | tuple | set | frozenset):
            return [self._value(each) for each in value]
        return self.text(repr(value))
