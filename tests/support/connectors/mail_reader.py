"""A reader of mail headers from the standards alone (RFC 5322, 2047), so that a mail is judged by nothing that wrote or
checked it. Reads what is allowed and stumbles over the rest."""

from __future__ import annotations

import re
from base64 import b64decode

_WORD = r"=\?([A-Za-z0-9-]+)\?([bBqQ])\?([^? ]*)\?="
_MAILBOX = re.compile(
    rf'(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<words>{_WORD}(?: {_WORD})*)) <(?P<address>[^<> ]+)>'
)


def read_by_hand(raw: bytes) -> dict[str, str]:
    """The headers of a mail by name, each as its reader sees it. A name that is given twice is an error."""
    head = raw.partition(b"\r\n\r\n")[0].decode("ascii")
    found: dict[str, str] = {}
    for line in re.sub(r"\r\n(?=[ \t])", "", head).split("\r\n"):
        name, colon, value = line.partition(":")
        assert colon and re.fullmatch(r"[A-Za-z-]+", name) and name not in found, line
        found[name] = _mailbox(value.strip(" ")) if name in ("From", "To") else decoded(value.strip(" "))
    return found


def decoded(text: str) -> str:
    """A text without its encoded words; the blanks between two of them do not count."""
    joined = re.sub(rf"({_WORD}) +(?={_WORD})", r"\1", text)
    return re.sub(_WORD, lambda word: _bytes(word).decode(word[1]), joined)


def _bytes(word: re.Match[str]) -> bytes:
    if word[2] in "bB":
        return b64decode(word[3], validate=True)
    plain = word[3].replace("_", " ").encode()
    return re.sub(rb"=([0-9A-Fa-f]{2})", lambda code: bytes([int(code[1], 16)]), plain)


def _mailbox(value: str) -> str:
    found = _MAILBOX.fullmatch(value)
    if found is None:
        assert not re.search(r'[<>"\s,()]|=\?', value), value
        return value
    if found["quoted"] is not None:
        assert "=?" not in found["quoted"], value
        name = re.sub(r"\\(.)", lambda pair: pair[1], found["quoted"][1:-1])
        return f"{name} <{found['address']}>"
    return f"{decoded(found['words'])} <{found['address']}>"
