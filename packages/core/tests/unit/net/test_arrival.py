"""Who gets a key at once: a request that surely comes from the server's own machine (E93)."""

from __future__ import annotations

from typing import Any

import pytest

from assent.net.loopback import is_local

HERE: dict[str, Any] = {
    "bound_to": "127.0.0.1",
    "base_host": "localhost",
    "trusts_proxy": False,
    "peer": "127.0.0.1",
    "host": "localhost:8080",
    "headers": ("host", "user-agent", "cookie"),
}

LOCAL: tuple[dict[str, Any], ...] = (
    {},
    {"bound_to": "localhost"},
    {"bound_to": "::1", "peer": "::1", "host": "[::1]:8080"},
    {"bound_to": "127.0.0.9", "peer": "127.8.8.8"},
    {"base_host": "127.0.0.1"},
    {"base_host": "::1"},
    {"host": "127.0.0.1"},
    {"host": "LOCALHOST"},
)

NOT_LOCAL: tuple[dict[str, Any], ...] = (
    {"bound_to": "0.0.0.0"},  # noqa: S104 - judged, not bound
    {"bound_to": "::"},
    {"bound_to": ""},
    {"bound_to": "192.168.1.5"},
    {"bound_to": "my-machine"},
    {"base_host": "192.168.1.5"},
    {"base_host": "assent.corp.internal"},
    {"base_host": "localhost.evil.example"},
    {"base_host": ""},
    {"trusts_proxy": True},
    {"peer": "192.168.1.9"},
    {"peer": "unknown"},
    {"peer": ""},
    {"host": "assent.example.com"},
    {"host": "assent.example.com:8080"},
    {"host": "localhost.evil.example"},
    {"host": "evil.example@localhost"},
    {"host": "localhost:8080:1"},
    {"host": ""},
    *({"headers": (*HERE["headers"], name)} for name in ("forwarded", "via", "x-real-ip")),
    *({"headers": (*HERE["headers"], f"x-forwarded-{name}")} for name in ("for", "host", "proto", "port")),
)


@pytest.mark.rule("E93")
def test_a_request_is_local_if_every_fact_says_so() -> None:
    assert [each for each in LOCAL if not is_local(**{**HERE, **each})] == []


@pytest.mark.rule("E93")
def test_one_fact_that_speaks_against_it_is_enough() -> None:
    assert [each for each in NOT_LOCAL if is_local(**{**HERE, **each})] == []
