"""Reads forms, and protects them against CSRF in three ways:

1. *Origin*: a browser sends the origin of a request in `Sec-Fetch-Site` or, on plain http, in `Origin`. Every POST
   passes `require_own_form`. A request with neither comes from a program and has no cookie to abuse.
2. *Cookies* are `SameSite=Lax`, and `__Host-` with https.
3. *A nonce per form* (`FormNonces`) for forms that act with a cookie's rights: signed, and bound to this browser and
   the form's subject, so that a decision covers only the content that was shown.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
from collections.abc import AsyncGenerator, Callable
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import Response

from assent.kernel import tokens
from assent.kernel.limits import HOUR_MS
from assent.kernel.structs import Record
from assent.kernel.tokens import KeyRing, TokenInvalid
from assent.serving.http import BodyTooLarge, read_body
from assent.serving.web.shell.problems import (
    FOREIGN_FORM,
    NOT_A_FORM,
    STALE_FORM,
    TOO_LARGE,
    UNREADABLE_FORM,
    PageProblem,
    PageRefused,
)

MAX_FORM_BYTES: Final = 65_536
"""Limit of a form's size. Percent-encoding triples non-ASCII text."""

MAX_FORM_FIELDS: Final = 100
"""More than any form has: an inbox page has fifty rows to select."""

NONCE_TTL_MS: Final = 12 * HOUR_MS
"""A page left open over a working day still works; yesterday's must be reloaded."""

MULTIPART: Final = "multipart/form-data"
MAX_PARTS: Final = 20
URLENCODED: Final = "application/x-www-form-urlencoded"
_NOT_TEXT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


async def read_form(request: Request, most: int = MAX_FORM_BYTES) -> dict[str, str]:
    """Normalizes line ends. The first value of a repeated field counts."""
    try:
        body = await read_body(request.scope, request.receive, most)
    except BodyTooLarge:
        raise PageRefused(TOO_LARGE) from None
    if not body:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != URLENCODED:
        raise PageRefused(NOT_A_FORM)
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FORM_FIELDS
        )
    except ValueError:
        raise PageRefused(UNREADABLE_FORM) from None
    if any(_NOT_TEXT.search(name) or _NOT_TEXT.search(value) for name, value in pairs):
        raise PageRefused(UNREADABLE_FORM)
    return {name: value.replace("\r\n", "\n") for name, value in reversed(pairs)}


def path_of(request: Request) -> str:
    """Path and query exactly as the browser sent them."""
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    query: bytes = request.scope["query_string"]
    return raw.decode("latin-1") + (f"?{query.decode('latin-1')}" if query else "")


def require_own_form(request: Request, base_url: str) -> None:
    """Refuse a form that the browser says came from another site."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        if site not in ("same-origin", "none"):
            raise PageRefused(FOREIGN_FORM)
        return
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() not in own_origins(request, base_url):
        raise PageRefused(FOREIGN_FORM)


def own_origins(request: Request, base_url: str) -> frozenset[str]:
    """Our origins: the one this request used and the one in the settings."""
    base = urlsplit(base_url)
    here = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return frozenset({here.lower(), f"{base.scheme}://{base.netloc}".lower()})


class Browser(Record):
    """A browser, recognized by a random id in a cookie."""

    browser_id: str
    is_new: bool


_BROWSER_BYTES: Final = 24
_UNIQUE_BYTES: Final = 16
_SEAL_BYTES: Final = 12
_SEALED: Final = "sealed:"
_EXPIRY_BYTES: Final = 8
_MASK_BYTES: Final = 8


class FormNonces:
    """Nonces for forms that rely on a cookie. `form_keys` is the key ring for this purpose only.

    The page puts `issue(…)` into a hidden field and calls `remember` on its response. The POST
    calls `check` with the same subject. The subject names everything that the decision depends on:
    the signed-in person, the action, its digest.
    """

    def __init__(self, form_keys: KeyRing, entropy: Callable[[int], bytes], *, base_url: str) -> None:
        self._keys = form_keys
        self._entropy = entropy
        self._secure = urlsplit(base_url).scheme == "https"
        self.cookie = "__Host-assent-form" if self._secure else "assent-form"

    def browser(self, request: Request) -> Browser:
        known = self._known(request)
        if known is not None:
            return Browser(known, is_new=False)
        return Browser(tokens.encode(self._entropy(_BROWSER_BYTES)), is_new=True)

    def remember(self, browser: Browser, response: Response) -> None:
        """Set the session cookie of a new browser."""
        if browser.is_new:
            response.set_cookie(
                self.cookie, browser.browser_id, path="/", secure=self._secure, httponly=True, samesite="lax"
            )

    def issue(self, browser: Browser, subject: str, now_ms: int) -> str:
        """A nonce that looks different in every response. Pages with nonces beside what an agent wrote are compressed,
        and their length would tell someone who guesses a nonce piece by piece that a piece is right (BREACH)."""
        salt = self._entropy(_MASK_BYTES)
        return tokens.encode(salt + _mask(salt, self._sign(browser, subject, now_ms).encode()))

    def _sign(self, browser: Browser, subject: str, now_ms: int) -> str:
        expires = (now_ms + NONCE_TTL_MS).to_bytes(_EXPIRY_BYTES, "big")
        return self._keys.sign(expires + _binding(browser.browser_id, subject))

    def check(self, request: Request, nonce: str, subject: str, now_ms: int) -> int:
        """Return the time at which the form was rendered. Refuses a nonce that is forged, expired,
        or from another browser or subject."""
        try:
            raw = tokens.decode(nonce)
        except TokenInvalid:
            raise PageRefused(STALE_FORM) from None
        signed = _mask(raw[:_MASK_BYTES], raw[_MASK_BYTES:]).decode("ascii", "replace")
        return self._check_signed(request, signed, subject, now_ms)

    def _check_signed(self, request: Request, signed: str, subject: str, now_ms: int) -> int:
        known = self._known(request)
        try:
            payload = self._keys.verify(signed)
        except TokenInvalid:
            raise PageRefused(STALE_FORM) from None
        expires = int.from_bytes(payload[:_EXPIRY_BYTES], "big")
        bound = hmac.compare_digest(payload[_EXPIRY_BYTES:], _binding(known or "", subject))
        if known is None or not bound or expires <= now_ms:
            raise PageRefused(STALE_FORM)
        return expires - NONCE_TTL_MS

    def issue_once(self, browser: Browser, subject: str, now_ms: int) -> str:
        """A nonce that no other form has, so that it can be used up. It has one spelling, as only that is used up,
        and needs no mask: no two responses have the same."""
        unique = tokens.encode(self._entropy(_UNIQUE_BYTES))
        return f"{unique}~{self._sign(browser, f'{unique} {subject}', now_ms)}"

    def check_once(self, request: Request, nonce: str, subject: str, now_ms: int) -> int:
        """`check` for `issue_once`. Returns when the nonce expires; the caller uses it up."""
        unique, _, signed = nonce.partition("~")
        return self._check_signed(request, signed, f"{unique} {subject}", now_ms) + NONCE_TTL_MS

    def seal(self, text: str, about: str) -> str:
        """Encrypt a secret field that a page must carry and may not show."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, [key, *_] = self._entropy(_SEAL_BYTES), self._sealing_keys()
        return _SEALED + tokens.encode(nonce + AESGCM(key).encrypt(nonce, text.encode(), about.encode()))

    def unseal(self, text: str, about: str) -> str:
        """Return the field that was sealed; one that was not, as it is."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if not text.startswith(_SEALED):
            return text
        for key in self._sealing_keys():
            with contextlib.suppress(InvalidTag, TokenInvalid, ValueError):
                raw = tokens.decode(text.removeprefix(_SEALED))
                return AESGCM(key).decrypt(raw[:_SEAL_BYTES], raw[_SEAL_BYTES:], about.encode()).decode()
        raise PageRefused(STALE_FORM)

    def _sealing_keys(self) -> list[bytes]:
        return [tokens.derive_key(key, "sealed field") for key in self._keys.keys]

    def _known(self, request: Request) -> str | None:
        value = request.cookies.get(self.cookie, "")
        try:
            return value if len(tokens.decode(value)) == _BROWSER_BYTES else None
        except TokenInvalid:
            return None


def _mask(salt: bytes, text: bytes) -> bytes:
    """Mask or unmask: exclusive or with a stream that the salt begins."""
    stream = hashlib.shake_128(salt).digest(len(text))
    return bytes(one ^ other for one, other in zip(text, stream, strict=True))


def _binding(browser_id: str, subject: str) -> bytes:
    return hashlib.sha256(f"{browser_id}\0{subject}".encode()).digest()


class Uploaded(Record):
    fields: dict[str, str]
    files: dict[str, bytes]


async def read_upload(request: Request, most: int, too_large: PageProblem) -> Uploaded:
    """Read a form with files, whole and bounded. The first value of a repeated name counts."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind.strip().lower() != MULTIPART:
        raise PageRefused(NOT_A_FORM)
    try:
        body = await read_body(request.scope, request.receive, most)
    except BodyTooLarge:
        raise PageRefused(too_large) from None

    async def chunks() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        request.headers, chunks(), max_files=MAX_PARTS, max_fields=MAX_PARTS, max_part_size=most
    )
    # A file stays in memory, as its body does.
    parser.spool_max_size = most
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError):
        raise PageRefused(UNREADABLE_FORM) from None
    found = Uploaded({}, {})
    for name, part in form.multi_items():
        if isinstance(part, str):
            found.fields.setdefault(name, part.replace("\r\n", "\n"))
        else:
            found.files.setdefault(name, await part.read())
    await form.close()
    return found
