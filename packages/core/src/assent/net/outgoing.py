"""Fetches pages and posts JSON at untrusted URLs, protected against SSRF.

Only https on port 443, without credentials in the URL. On every hop the name is resolved once, all
its addresses must be global, and the connection goes to a checked address (Host and certificate are
still the name's). Time, hops, bytes on the wire and decompressed bytes are bounded. Hosts in
`ASSENT_ALLOW_HOSTS` may be private, plain http and on any port. Nothing is kept between calls, not
even cookies.

Import it where it is used, because it imports httpx.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Final

import httpx

from assent.kernel.distribution import AGENT
from assent.kernel.structs import Record
from assent.net.addresses import MAX_URL_CHARS, CheckedTarget, FetchRefused, check

MAX_HOPS: Final = 3
"""Limit of redirects: to https, to www, to a language."""
PAGE_SECONDS: Final = 10.0
"""Limit of everything that it takes to fetch a page."""
MAX_PAGE_BYTES: Final = 2_000_000
"""Limit of a decompressed page. Title, description and headings come far earlier."""
MAX_REPLY_BYTES: Final = 65_536
"""Limit of a webhook's response, which is only logged."""
CONNECT_SHARE: Final = 0.8
"""Share of the time that the connections to all addresses may take."""
READABLE: Final = frozenset({"text/html", "application/xhtml+xml", "text/plain"})

CHARSETS: Final = re.compile(
    r"utf-?8|us-ascii|ascii|iso-?8859-?\d{1,2}|latin-?1|windows-125\d|cp125\d|shift[_-]?jis|sjis|euc-jp|iso-2022-jp|gb2312|"
    r"gbk|gb18030|big5|euc-kr|koi8-[ru]|utf-?16(?:le|be)?|macintosh|tis-620",
    re.IGNORECASE,
)
"""Encodings used on the web. Python knows others that are not text or are slow."""


class FetchedPage(Record, kw_only=True):
    """`url` is the final URL; `truncated`: the page was longer."""

    url: str
    content_type: str
    text: str
    truncated: bool = False


class Posted(Record, kw_only=True):
    status: int
    body: bytes
    retry_after: str | None = None
    content_type: str = ""
    """In lower case, without parameters."""


async def fetch_page(
    url: str,
    *,
    allow_hosts: Sequence[str] = (),
) -> FetchedPage:
    """Fetch a page. Raises `FetchRefused`."""
    headers = {"accept": "text/html, text/plain;q=0.8", "accept-encoding": "gzip, identity"}
    async with _limit_time(PAGE_SECONDS):
        for _ in range(MAX_HOPS + 1):
            target = await check(url, allow_hosts=allow_hosts)
            async with _ask("GET", target, headers, b"", PAGE_SECONDS) as response:
                if response.status_code in (301, 302, 303, 307, 308) and "location" in response.headers:
                    url = _next(target.url, response.headers["location"])
                    continue
                return await _page(target.url, response)
    raise FetchRefused("redirects", f"The page redirects more than {MAX_HOPS} times.")


async def post_json(
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str] | None = None,
    allow_hosts: Sequence[str] = (),
    timeout_seconds: float = 10.0,
) -> Posted:
    """Redirects are not followed: their status is returned."""
    async with _limit_time(timeout_seconds):
        target = await check(url, allow_hosts=allow_hosts)
        return await _send("POST", target, body, headers or {}, timeout_seconds, MAX_REPLY_BYTES)


NOTHING_SENT: Final = frozenset({"url", "scheme", "port", "address", "dns", "connect", "tls"})
"""Reasons of `FetchRefused` after which the other side has received no request."""


async def send_json(
    method: str,
    target: CheckedTarget,
    body: bytes,
    *,
    headers: Mapping[str, str],
    timeout_seconds: float,
    max_bytes: int = MAX_REPLY_BYTES,
) -> Posted:
    """Send one request to a checked target, at most once. Redirects are not followed. Raises
    `FetchRefused`; its `why` is in `NOTHING_SENT` if no request can have arrived."""
    async with _limit_time(timeout_seconds):
        return await _send(method, target, body, headers, timeout_seconds, max_bytes)


async def _send(
    method: str,
    target: CheckedTarget,
    body: bytes,
    headers: Mapping[str, str],
    timeout_seconds: float,
    max_bytes: int,
) -> Posted:
    sent = {"content-type": "application/json", "accept-encoding": "identity", **headers}
    async with _ask(method, target, sent, body, timeout_seconds) as response:
        answered, _ = await _read(response, max_bytes)
        return Posted(
            status=response.status_code,
            body=answered,
            retry_after=response.headers.get("retry-after"),
            content_type=response.headers.get("content-type", "").partition(";")[0].strip().lower(),
        )


def _next(url: httpx.URL, location: str) -> str:
    try:
        return str(url.join(location[: MAX_URL_CHARS + 1]))
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise FetchRefused("redirects", "The page redirects to an invalid address.") from None


@asynccontextmanager
async def _limit_time(timeout_seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(timeout_seconds):
            yield
    except TimeoutError:
        raise FetchRefused("timeout", f"There was no answer within {timeout_seconds:g} seconds.") from None


@asynccontextmanager
async def _ask(
    method: str,
    target: CheckedTarget,
    headers: Mapping[str, str],
    body: bytes,
    timeout_seconds: float,
) -> AsyncIterator[httpx.Response]:
    """The response of the first checked address that accepts a connection."""
    named = target.url.netloc.decode("ascii")
    sent = {"host": named, "user-agent": AGENT, **headers}
    # Ignore the environment: a proxy would resolve the name again. No connection is reused.
    # A share of the time for each address: whether one was reached is known before the time is over.
    patience = httpx.Timeout(timeout_seconds, connect=timeout_seconds * CONNECT_SHARE / len(target.addresses))
    async with httpx.AsyncClient(
        trust_env=False, follow_redirects=False, timeout=patience, verify=load_trust()
    ) as client:
        response = await _connect(client, method, target, sent, body)
        try:
            yield response
        finally:
            await response.aclose()


@cache
def load_trust() -> ssl.SSLContext:
    """Load the CA certificates once: loading holds the event loop for longer than a request takes. The context keeps
    nothing of a connection."""
    return httpx.create_ssl_context(trust_env=False)


async def _connect(
    client: httpx.AsyncClient, method: str, target: CheckedTarget, headers: Mapping[str, str], body: bytes
) -> httpx.Response:
    refused = FetchRefused("connect", f"{target.host} could not be reached.")
    for address in target.addresses:
        request = client.build_request(
            method,
            target.url.copy_with(host=address),
            headers=headers,
            content=body or None,
            # The certificate must match the name, although the connection goes to an IP address.
            extensions={"sni_hostname": target.host},
        )
        try:
            return await client.send(request, stream=True)
        except httpx.ConnectError as error:
            if (
                isinstance(error.__cause__ and error.__cause__.__cause__, ssl.SSLError)
                or "certificate" in str(error).lower()
            ):
                raise FetchRefused("tls", f"{target.host} has no valid certificate.") from None
        except httpx.ConnectTimeout:
            refused = FetchRefused("connect", f"{target.host} could not be reached in time.")
        except httpx.TimeoutException:
            # The request may have arrived, so no other address gets it.
            raise FetchRefused("timeout", f"{target.host} did not answer in time.") from None
        except (httpx.TransportError, httpx.StreamError):
            raise FetchRefused("broken", f"{target.host} closed the connection.") from None
    raise refused


async def _page(url: httpx.URL, response: httpx.Response) -> FetchedPage:
    if response.status_code != 200:
        raise FetchRefused(
            "status", f"The page answered with status {response.status_code}.", response.status_code
        )
    kind, _, parameters = response.headers.get("content-type", "").partition(";")
    content_type = kind.strip().lower()
    if content_type not in READABLE:
        raise FetchRefused("type", "The address is not that of a text page.", response.status_code)
    body, truncated = await _read(response, MAX_PAGE_BYTES)
    return FetchedPage(
        url=str(url), content_type=content_type, text=_decode(body, parameters), truncated=truncated
    )


async def _read(response: httpx.Response, most: int) -> tuple[bytes, bool]:
    """Read at most `most` bytes. Decompresses here, to stop decompression bombs."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise FetchRefused("type", "The page has an unsupported content encoding.")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if packing not in ("identity", "") else None
    gathered = bytearray()
    raw = 0
    try:
        async for chunk in response.aiter_raw():
            raw += len(chunk)
            room = most - len(gathered) + 1
            gathered += unpack.decompress(chunk, room) if unpack is not None else chunk[:room]
            if len(gathered) > most or raw > most:
                return bytes(gathered[:most]), True
    except zlib.error:
        raise FetchRefused("broken", "The page has an invalid content encoding.") from None
    except httpx.TimeoutException:
        raise FetchRefused("timeout", "The page was not received in time.") from None
    except (httpx.TransportError, httpx.StreamError):
        raise FetchRefused("broken", "The connection broke while the page was read.") from None
    return bytes(gathered), False


def _decode(body: bytes, parameters: str) -> str:
    """Decode by the header's charset, else the page's, else UTF-8."""
    named = re.search(r"charset\s*=\s*[\"']?([\w-]{1,40})", parameters, re.IGNORECASE)
    inside = re.search(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{1,40})", body[:2_048], re.IGNORECASE)
    charset = named.group(1) if named else inside.group(1).decode("ascii", "replace") if inside else "utf-8"
    if not CHARSETS.fullmatch(charset):
        charset = "utf-8"
    try:
        return body.decode(charset, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")
