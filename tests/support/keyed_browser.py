"""A browser without a window that does what `keys.js` does: it makes a key when it signs in, signs what a confirm page
shows, and sends the form again."""

from __future__ import annotations

import hashlib
from html.parser import HTMLParser
from typing import Any

import httpx
import rfc8785
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from assent.kernel import tokens

VERSION = "assent confirm 1"


class BrowserKey:
    """A P-256 key that stays where it was made."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.shown = tokens.encode(point)

    def sign(self, statement: bytes) -> str:
        r, s = decode_dss_signature(self._key.sign(statement, ec.ECDSA(hashes.SHA256())))
        return "key:" + tokens.encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


class ConfirmPage(HTMLParser):
    """The form of a confirm page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.form: dict[str, str | None] | None = None
        self.fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form" and "data-confirms" in given:
            self.form = given
        elif tag == "input" and self.form is not None and given.get("type") == "hidden":
            self.fields[given["name"] or ""] = given.get("value") or ""

    @property
    def path(self) -> str:
        return str((self.form or {})["action"])

    @property
    def public_key(self) -> str | None:
        return (self.form or {}).get("data-key")

    def statement(self, **changes: Any) -> bytes:
        """What the script signs; `changes` are what an attacker might sign instead."""
        form = self.form or {}
        said = {
            "version": VERSION,
            "origin": form["data-origin"],
            "path": self.path,
            "session": form["data-session"],
            "fields": {name: text for name, text in self.fields.items() if name not in ("confirm", "proof")},
            "nonce": self.fields["confirm"],
        }
        return rfc8785.dumps({**said, **changes})

    def challenge(self) -> bytes:
        return hashlib.sha256(self.statement()).digest()


def is_confirm_page(answer: httpx.Response) -> bool:
    return answer.status_code == 200 and "data-confirms" in answer.text


class KeyHolder:
    """The keys of a browser, by their public parts. `confirms` is whether it presses the button of a confirm page;
    `has_keys` whether it runs scripts."""

    confirms = True
    has_keys = True
    keys: dict[str, BrowserKey]

    def add_key(self, method: str, url: str, given: dict[str, Any]) -> dict[str, Any]:
        """A request as the browser sends it: with a new key if it signs in."""
        if method != "POST" or "/sign-in/" not in url or not self.has_keys:
            return given
        key = BrowserKey()
        self.keys[key.shown] = key
        return {**given, "data": {**(given.get("data") or {}), "key": key.shown}}

    def sign(self, answer: httpx.Response) -> dict[str, str] | None:
        """The fields to send from a confirm page; None if this browser lacks the key."""
        shown = ConfirmPage(answer.text)
        key = self.keys.get(shown.public_key or "")
        return {**shown.fields, "proof": key.sign(shown.statement())} if key is not None else None


class KeyedBrowser(KeyHolder, httpx.AsyncClient):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.keys = {}

    async def request(self, method: str, url: Any, **given: Any) -> httpx.Response:
        answer = await super().request(method, url, **self.add_key(method, str(url), given))
        if method == "POST" and self.confirms and is_confirm_page(answer):
            return await self.confirm(answer)
        return answer

    async def confirm(self, answer: httpx.Response) -> httpx.Response:
        """Sign what a confirm page shows and send it; the page itself if this browser lacks the key."""
        fields = self.sign(answer)
        if fields is None:
            return answer
        return await super().request("POST", answer.url.join(ConfirmPage(answer.text).path), data=fields)


class KeyedClient(KeyHolder, httpx.Client):
    """The same without an event loop."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.keys = {}

    def request(self, method: str, url: Any, **given: Any) -> httpx.Response:
        answer = super().request(method, url, **self.add_key(method, str(url), given))
        fields = self.sign(answer) if method == "POST" and self.confirms and is_confirm_page(answer) else None
        if fields is None:
            return answer
        return super().request("POST", answer.url.join(ConfirmPage(answer.text).path), data=fields)
