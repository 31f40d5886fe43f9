"""What is posted, how it is signed, and what an answer means."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from assent.gate.webhooks import RETRY_DELAYS_MS, WebhookReply, headers, next_try_ms, secret_text, verdict
from assent.kernel.limits import HOUR_MS, MINUTE_MS

VECTOR = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330_000)
BODY = b'{"test": 2432232314}'


def test_the_signature_is_that_of_the_standards_own_example() -> None:
    signed = headers(*VECTOR, BODY)

    assert signed["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert (signed["webhook-id"], signed["webhook-timestamp"]) == (VECTOR[1], "1614265330")


def test_the_contracts_signature_is_keyed_with_the_secret_as_it_is_printed() -> None:
    signed = headers(*VECTOR, BODY)

    expected = hmac.new(VECTOR[0].encode(), BODY, hashlib.sha256).hexdigest()
    assert signed["X-ChiefLab-Signature"] == f"sha256={expected}"


def test_a_secret_is_as_long_as_the_standard_allows() -> None:
    assert len(secret_text(b"\xff" * 32)) == len("whsec_") + 44


@pytest.mark.rule("E90")
def test_the_waits_are_those_of_the_contract() -> None:
    minutes = [delay // MINUTE_MS for delay in RETRY_DELAYS_MS]

    assert minutes == [1, 5, 30, 120, 720]
    assert [next_try_ms(tries, 0) for tries in (1, 5, 6)] == [MINUTE_MS, 12 * HOUR_MS, None]


@pytest.mark.parametrize(
    ("reply", "outcome", "final"),
    [
        (WebhookReply(200), "delivered", True),
        (WebhookReply(204), "delivered", True),
        (WebhookReply(301), "redirect", False),
        (WebhookReply(307), "redirect", False),
        (WebhookReply(400), "rejected", False),
        (WebhookReply(410), "gone", True),
        (WebhookReply(429), "rejected", False),
        (WebhookReply(500), "failed", False),
        (WebhookReply(None, "address", "private"), "refused", False),
        (WebhookReply(None, "timeout", "slow"), "unreachable", False),
        (WebhookReply(None, "dns", "no such name"), "unreachable", False),
    ],
)
def test_only_2xx_arrived_and_only_410_says_stop(reply: WebhookReply, outcome: str, final: bool) -> None:
    found = verdict(reply)

    assert (found.outcome, found.final) == (outcome, final)
