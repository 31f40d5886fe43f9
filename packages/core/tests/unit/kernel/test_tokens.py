"""A token has one spelling, one purpose and one maker; every other text is refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.kernel import tokens
from assent.kernel.limits import MIN_SECRET_BYTES
from assent.kernel.tokens import KeyRing, TokenInvalid, WeakSecret, derive_key

SECRET = bytes(range(32))
OTHER = bytes(range(32, 64))
PAYLOAD = b'{"exp":1790000000,"runId":"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"}'
RING = KeyRing.for_purpose((SECRET,), "review")

B64URL = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"


def refuses(ring: KeyRing, token: str) -> bool:
    try:
        ring.verify(token)
    except TokenInvalid:
        return True
    return False


# ── fixed vectors: a change here ends every link that was ever sent ──────────────────────────────


def hkdf_of_rfc_5869(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """Extract and expand as RFC 5869 writes them, with the plain hmac class and nothing of ours."""
    pseudo_random_key = hmac.new(salt, key, hashlib.sha256).digest()
    made, previous = b"", b""
    for number in range(1, -(-length // 32) + 1):
        previous = hmac.new(pseudo_random_key, previous + info + bytes((number,)), hashlib.sha256).digest()
        made += previous
    return made[:length]


def test_the_independent_derivation_agrees_with_the_vector_of_the_rfc() -> None:
    # RFC 5869, appendix A.1.
    assert hkdf_of_rfc_5869(
        bytes([0x0B] * 22), bytes(range(13)), bytes.fromhex("f0f1f2f3f4f5f6f7f8f9"), 42
    ) == bytes.fromhex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")


@pytest.mark.parametrize("purpose", ["", "review", "form", "workflow", "ünï"])
@pytest.mark.parametrize("length", [1, 16, 31, 32, 33, 64, 100])
def test_a_derived_key_is_hkdf_with_the_purpose_as_info(purpose: str, length: int) -> None:
    expected = hkdf_of_rfc_5869(SECRET, b"assent/v1", purpose.encode(), length)

    assert derive_key(SECRET, purpose, length) == expected


def test_a_token_of_a_fixed_secret_never_changes() -> None:
    token = RING.sign(b"hello")

    assert derive_key(SECRET, "review").hex() == REVIEW_KEY
    assert token == f"aGVsbG8.{HELLO_MAC}"
    assert RING.verify(token) == b"hello"


REVIEW_KEY = "80ddaeefd3ed2c076ded9a34f6b6e0248b0d1bb09a8bd372d4c05b95fdb63ed4"
HELLO_MAC = "Bp7jDZ-KQYTj3CpVE2-KoGPBahtwtKEzwmrko6sfr0I"


@pytest.mark.rule("E36", "E37")
@given(st.binary(max_size=200))
def test_the_signature_is_hmac_sha_256_over_the_encoded_payload(payload: bytes) -> None:
    encoded, signature = RING.sign(payload).split(".")

    mac = hmac.new(derive_key(SECRET, "review"), encoded.encode(), hashlib.sha256).digest()
    assert base64.urlsafe_b64decode(signature + "=") == mac
    assert RING.verify(f"{encoded}.{signature}") == payload


# ── alterations ──────────────────────────────────────────────────────────────────────────────────


def test_every_single_character_that_is_altered_makes_the_token_invalid() -> None:
    token = RING.sign(PAYLOAD)
    others = B64URL + ".=+/ \n\x00é"

    accepted = [
        (place, other)
        for place, character in enumerate(token)
        for other in others
        if other != character and not refuses(RING, token[:place] + other + token[place + 1 :])
    ]

    assert accepted == []


def test_every_truncation_insertion_and_swap_makes_the_token_invalid() -> None:
    token = RING.sign(PAYLOAD)
    altered = {
        *(token[:end] for end in range(len(token))),
        *(token[start:] for start in range(1, len(token))),
        *(token[:place] + token[place + 1 :] for place in range(len(token))),
        *(
            token[:place] + extra + token[place:]
            for place in range(len(token) + 1)
            for extra in ("A", ".", "=")
        ),
        *(token[:p] + token[p + 1] + token[p] + token[p + 2 :] for p in range(len(token) - 1)),
        token * 2,
        f"{token}.{token}",
        token.swapcase(),
    } - {token}

    assert [text for text in altered if not refuses(RING, text)] == []


@pytest.mark.parametrize(
    "spell",
    [
        pytest.param(lambda t: t + "=", id="padding at the end"),
        pytest.param(lambda t: t.replace(".", "=.", 1), id="padding of the payload"),
        pytest.param(lambda t: t.replace("-", "+").replace("_", "/"), id="the other alphabet"),
        pytest.param(lambda t: t + "\n", id="a line end"),
        pytest.param(lambda t: " " + t, id="a blank"),
        pytest.param(lambda t: t.replace(".", ".\u200b"), id="an invisible character"),
        pytest.param(lambda t: t.replace(".", "。"), id="a full stop of another script"),
        pytest.param(lambda t: t.translate({ord("A"): "\uff21"}), id="a full-width letter"),
    ],
)
def test_no_other_spelling_of_a_token_is_taken(spell: Callable[[str], str]) -> None:
    token = next(
        t for n in range(99) if "-" in (t := RING.sign(b"payload" + bytes([n]))) and "_" in t and "A" in t
    )

    assert RING.verify(token)
    assert refuses(RING, spell(token))


def test_loose_trailing_bits_of_the_signature_are_refused() -> None:
    # 32 bytes leave two bits unused in the last of 43 characters: three spellings would decode alike.
    token = RING.sign(PAYLOAD)
    last = B64URL.index(token[-1])
    assert last % 4 == 0

    for loose in (1, 2, 3):
        other = token[:-1] + B64URL[last + loose]
        decoded = base64.urlsafe_b64decode(other.partition(".")[2] + "=")
        assert decoded == base64.urlsafe_b64decode(token.partition(".")[2] + "=")
        assert refuses(RING, other)


def test_a_payload_in_loose_spelling_is_refused_although_its_signature_is_right() -> None:
    # Only somebody with the key could make this; the form is strict all the same.
    loose = "aGVsbG9"  # "hello" is aGVsbG8
    mac = hmac.new(derive_key(SECRET, "review"), loose.encode(), hashlib.sha256).digest()

    assert refuses(RING, f"{loose}.{tokens.encode(mac)}")


@pytest.mark.parametrize(
    "text", ["", ".", "..", "a", "a.", ".a", "null", "a.b.c", "é.é", "\x00", "." * 100_000]
)
def test_text_that_never_was_a_token_is_refused_plainly(text: str) -> None:
    assert refuses(RING, text)


@given(st.text(max_size=100))
def test_no_text_makes_verify_fail_in_any_other_way(text: str) -> None:
    assert refuses(RING, text)


@given(st.binary(max_size=100))
def test_encode_and_decode_are_inverse(raw: bytes) -> None:
    text = tokens.encode(raw)

    assert set(text) <= set(B64URL)
    assert tokens.decode(text) == raw


@given(st.text(alphabet=B64URL + "=+/ \n", max_size=12))
def test_decode_takes_nothing_that_encode_did_not_make(text: str) -> None:
    try:
        raw = tokens.decode(text)
    except TokenInvalid:
        return
    assert tokens.encode(raw) == text


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_token_of_one_purpose_means_nothing_to_another() -> None:
    token = RING.sign(PAYLOAD)

    assert refuses(KeyRing.for_purpose((SECRET,), "form"), token)
    assert refuses(KeyRing.for_purpose((SECRET,), "review "), token)
    assert refuses(KeyRing((SECRET,)), token)
    assert refuses(KeyRing.for_purpose((OTHER,), "review"), token)


def test_after_a_rotation_both_secrets_verify_and_the_newest_signs() -> None:
    before, after = KeyRing.for_purpose((SECRET,), "review"), KeyRing.for_purpose((OTHER, SECRET), "review")

    old, new = before.sign(PAYLOAD), after.sign(PAYLOAD)

    assert after.verify(old) == after.verify(new) == PAYLOAD
    assert new == KeyRing.for_purpose((OTHER,), "review").sign(PAYLOAD)
    assert refuses(before, new)


def test_when_the_old_secret_leaves_the_ring_its_tokens_end() -> None:
    old = RING.sign(PAYLOAD)

    assert refuses(KeyRing.for_purpose((OTHER,), "review"), old)


@pytest.mark.rule("E40")
def test_every_signature_is_compared_in_constant_time_against_every_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[int, int]] = []

    def watched(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    ring = KeyRing.for_purpose((OTHER, SECRET, bytes(range(64, 96))), "review")
    token = RING.sign(PAYLOAD)
    monkeypatch.setattr(hmac, "compare_digest", watched)

    assert ring.verify(token) == PAYLOAD
    assert compared == [(32, 32)] * 3


@pytest.mark.parametrize(
    "weak",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"short but with many letters", id="too short"),
        pytest.param(bytes(range(MIN_SECRET_BYTES - 1)), id="one byte short"),
        pytest.param(b"a" * 64, id="one letter"),
        pytest.param(b"abc" * 30, id="three letters"),
        pytest.param(b"0" * 32 + b"123456", id="hardly any variety"),
    ],
)
def test_a_weak_secret_signs_nothing_wherever_it_stands_in_the_ring(weak: bytes) -> None:
    for secrets in ((weak,), (SECRET, weak), (weak, SECRET)):
        with pytest.raises(WeakSecret):
            KeyRing.for_purpose(secrets, "review")
        with pytest.raises(WeakSecret):
            KeyRing(secrets)


def test_a_ring_without_keys_cannot_be_made() -> None:
    with pytest.raises(WeakSecret):
        KeyRing(())
    with pytest.raises(WeakSecret):
        KeyRing.for_purpose((), "review")


def test_a_fingerprint_tells_secrets_apart_and_does_not_help_to_sign() -> None:
    assert tokens.fingerprint(SECRET) == tokens.fingerprint(SECRET)
    assert tokens.fingerprint(SECRET) != tokens.fingerprint(OTHER)
    assert tokens.fingerprint(SECRET) not in derive_key(SECRET, "review").hex()
    assert tokens.fingerprint(SECRET) not in hashlib.sha256(SECRET).hexdigest()
