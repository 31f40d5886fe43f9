"""Redacts secrets from logs, by field name and by pattern.

Pure. In doubt it hides too much. Independent of loggers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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


class RedactionRule(NamedTuple):
    """`sign` is a cheap pattern that every matching text contains."""

    sign: str
    pattern: re.Pattern[str]
    replacement: str


RULES: Final = (
    # A workspace key: its kind may be shown.
    RedactionRule(r"clp_", re.compile(r"\bclp_(dev|live)_[A-Za-z0-9_-]+"), rf"clp_\1_{HIDDEN}"),
    # The secret that signs webhooks.
    RedactionRule(r"whsec_", re.compile(r"\bwhsec_[A-Za-z0-9+/=_-]+"), f"whsec_{HIDDEN}"),
    # A key of Zernio or Resend.
    RedactionRule(r"\b(?:sk|re)_", re.compile(r"\b(sk|re)_[A-Za-z0-9_]{16,}"), rf"\1_{HIDDEN}"),
    # Tokens signed by our key rings, such as review links: payload, dot, 32 bytes of MAC.
    RedactionRule(
        r"\.[A-Za-z0-9_-]{43}",
        re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{16,4096}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
        HIDDEN,
    ),
    # A secret in a query or a form.
    RedactionRule(
        r"=",
        re.compile(
            r"(?i)((?:\b|_)(?:token|api_?key|secret|password|csrf)=|[?&](?:code|key|state|nonce|sig)=)"
            r"[^&\s\"'#;,)\]}]+"
        ),
        rf"\1{HIDDEN}",
    ),
    # A one-time link that carries its secret in the path.
    RedactionRule(
        r"/(?:get-key|deliver|delivery|claim|sign-in|owner)/",
        re.compile(r"(/(?:get-key|deliver|delivery|claim|sign-in|owner)/)[A-Za-z0-9_.~-]{16,}"),
        rf"\1{HIDDEN}",
    ),
    # A header, as itself, as JSON or as a Python tuple.
    RedactionRule(
        r"authorization|cookie|x-api-key",
        re.compile(
            r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)([\"']?\s*[:=,]\s*b?[\"']?)[^\"'\r\n]+"
        ),
        rf"\1\2{HIDDEN}",
    ),
    RedactionRule(r"bearer", re.compile(r"(?i)\b(bearer)\s+[A-Za-z0-9._~+/=-]{6,}"), rf"\1 {HIDDEN}"),
    # The password in a database address.
    RedactionRule(r"@", re.compile(r"(://[^:/\s@]*:)[^@\s]+@"), rf"\1{HIDDEN}@"),
)

_SIGNS: Final = re.compile("|".join(rule.sign for rule in RULES), re.IGNORECASE)
"""Most texts contain no sign, so that one search suffices."""


class Redactor:
    """Redacts text and fields. `known` are literal values to hide."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        literals = sorted({each for each in known if len(each) >= MIN_LITERAL_CHARS}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, literals))) if literals else None

    def text(self, text: str) -> str:
        if len(text) > LONGEST_TEXT:
            text = f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        if _SIGNS.search(text) is None:
            return text
        for _, pattern, replacement in RULES:
            text = pattern.sub(replacement, text)
        return text

    def fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields without secrets, as JSON-compatible values."""
        return {
            self.text(str(name)): HIDDEN if SECRET_FIELDS.search(str(name)) and value else self._value(value)
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
