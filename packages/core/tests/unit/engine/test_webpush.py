"""Web push: a note that the browser of the person reads, and nobody on the way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from assent.engine.people.notifiers import WebPushNotifier
from assent.gate.webhooks import WebhookReply
from assent.kernel import tokens
from assent.net.webpush import PushKeys, encrypt, load_private, public_point
from assent.ports import Notification

ENDPOINT = "https://push.example/send/abc?d=1"
NOTE = Notification(
    "Something waits", "One draft.", "https://assent.example/runs/1", at_ms=1_790_000_000_000, subject="run 1"
)


class Subscriber:
    """A browser with its own keys, which reads as RFC 8291 says."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)
        self.vapid = os.urandom(32)

    @property
    def address(self) -> str:
        keys = {"p256dh": tokens.encode(public_point(self.private)), "auth": tokens.encode(self.auth)}
        vapid = tokens.encode(self.vapid)
        return msgspec.json.encode({"endpoint": ENDPOINT, "keys": keys, "vapid": vapid}).decode()

    def read(self, body: bytes) -> bytes:
        return decrypt(body, self.private, self.auth)


def decrypt(body: bytes, private: ec.EllipticCurvePrivateKey, auth: bytes) -> bytes:
    salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    point, sealed = body[21 : 21 + length], body[21 + length :]
    assert (size, length) == (4096, 65) and len(sealed) <= size
    sender = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)

    def derive(secret: bytes, salted: bytes, info: bytes, most: int) -> bytes:
        return HKDF(hashes.SHA256(), most, salted, info).derive(secret)

    shared = private.exchange(ec.ECDH(), sender)
    secret = derive(shared, auth, b"WebPush: info\0" + public_point(private) + point, 32)
    key = derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    plain = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
    assert plain[-1:] == b"\x02"
    return plain[:-1]


def make_context(reply: WebhookReply, sent: list[tuple[str, bytes, Mapping[str, str]]]) -> Any:
    async def post(url: str, body: bytes, headers: Mapping[str, str]) -> WebhookReply:
        sent.append((url, body, headers))
        return reply

    return SimpleNamespace(post_webhook=post, screen_webhook=lambda url: "refused" if "10.0" in url else None)


async def test_the_browser_reads_the_note_and_the_push_service_a_signed_request() -> None:
    browser, sent = Subscriber(), []  # type: ignore[var-annotated]

    receipt = await WebPushNotifier().send(make_context(WebhookReply(201), sent), browser.address, NOTE, "k")

    assert receipt.problem == ""
    [(url, body, headers)] = sent
    assert url == ENDPOINT
    assert b"draft" not in body
    assert msgspec.json.decode(browser.read(body)) == {
        "title": "Something waits",
        "text": "One draft.",
        "path": "/runs/1",
        "tag": "run 1",
        "quiet": False,
    }
    assert (headers["Content-Encoding"], headers["TTL"], headers["Urgency"]) == ("aes128gcm", "86400", "high")
    assert len(headers["Topic"]) == 32
    token, key = headers["Authorization"].removeprefix("vapid t=").split(", k=")
    assert tokens.decode(key) == public_point(load_private(browser.vapid))
    head, claims, signature = token.split(".")
    assert msgspec.json.decode(tokens.decode(claims)) == {
        "aud": "https://push.example",
        "exp": 1_790_003_600,
        "sub": "https://assent.example",
    }
    raw = tokens.decode(signature)
    signed = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    public = load_private(browser.vapid).public_key()
    public.verify(signed, f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    with pytest.raises(InvalidSignature):
        public.verify(signed, f"{head}.{claims}x".encode(), ec.ECDSA(hashes.SHA256()))


def test_the_example_of_the_standard_comes_out_byte_for_byte() -> None:
    """RFC 8291, appendix A."""
    keys = PushKeys(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
    )
    # The private key is a number below the order of the curve; `load_private` adds one.
    private = int.from_bytes(tokens.decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big") - 1

    body = encrypt(
        b"When I grow up, I want to be a watermelon",
        keys,
        private.to_bytes(32, "big"),
        tokens.decode("DGv6ra1nlYgDCS1FRnbzlw"),
    )

    assert tokens.encode(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tl"
        "zAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


@pytest.mark.parametrize(("status", "gone"), [(404, True), (410, True), (413, False), (500, False)])
async def test_a_subscription_that_ended_is_gone_and_a_failure_is_tried_again(
    status: int, gone: bool
) -> None:
    context = make_context(WebhookReply(status), [])

    receipt = await WebPushNotifier().send(context, Subscriber().address, NOTE, "k")

    assert receipt.problem
    assert receipt.gone is gone


def test_only_a_subscription_at_a_public_address_is_accepted() -> None:
    context, notifier, good = make_context(WebhookReply(201), []), WebPushNotifier(), Subscriber().address
    assert notifier.check(context, good) == ""
    assert notifier.mask(good) == "push.example"
    for wrong in (
        "",
        "no JSON",
        "{}",
        good.replace("push.example", "10.0.0.1"),
        good.replace('"auth":"', '"auth":"AAAA'),
        good.replace('"p256dh":"B', '"p256dh":"A'),
    ):
        assert notifier.check(context, wrong) != "", wrong
