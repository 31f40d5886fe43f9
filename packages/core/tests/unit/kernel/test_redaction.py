"""Secrets are hidden wherever they stand, and the look that spares most texts the rules never spares one that needs
them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.kernel.redaction import HIDDEN, RULES, Redactor, may_match

SECRET = "Zm9vYmFyYmF6cXV4cXV1eGNvcmdlZ3JhdWx0Z2FycGx5d2F"
HELD = {
    "a key": "called with clp_live_abcdefghijklmnop",
    "a webhook secret": "signed with whsec_abcdef123456+/abcdef==",
    "a key of a provider": "refused sk_abcdef123456abcdef123456",
    "a signed token": f"/runs/x?t=eyJydW5JZCI6IjEyMyJ9.{SECRET[:43]}",
    "a query": "GET /x?token=abcdef123456&page=2",
    "a form": "CSRF=abcdef123456",
    "a one-time link": "/owner/abcdefghijklmnopqrstuvwxyz",
    "a header": "authorization: Basic abcdef123456",
    "a header as JSON": '{"Set-Cookie": "session=abcdef123456"}',
    "a header as a tuple": "(b'x-api-key', b'abcdef123456')",
    "a bearer": "BEARER abcdef123456",
    "an address": "postgresql://assent:abcdef123456@localhost/assent",
}


def by_all_rules(text: str) -> str:
    """What the rules make of a text, one after the other."""
    for rule in RULES:
        text = rule.pattern.sub(rule.replacement, text)
    return text


@pytest.mark.parametrize("text", HELD.values(), ids=list(HELD))
def test_a_secret_is_hidden_wherever_it_stands(text: str) -> None:
    hidden = Redactor().text(text)
    assert HIDDEN in hidden
    assert "abcdef" not in hidden and SECRET[:43] not in hidden


PIECES = st.sampled_from(
    [
        *HELD.values(),
        *(
            "clp_",
            "clp_dev_x",
            ".",
            "=",
            "://",
            "@",
            "u:p@h",
            "/claim/",
            "/deliver",
            "bearer",
            "Bearer ",
            "coo",
        ),
        *("proxy-authorization", "x-api-key", ": ", ", b'", "?key=", "&sig=", "_token=", "secret", SECRET),
        *("\u017fecret=abcdef", "coo\u212aie: abcdef", "BEARER\u2003abcdefgh", "\n", "POST /api/mcp 200"),
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=8).map("".join))
def test_no_text_is_spared_the_rules_that_one_of_them_would_change(text: str) -> None:
    assert Redactor().text(text) == by_all_rules(text)


@given(st.sampled_from(RULES).flatmap(lambda rule: st.from_regex(rule.pattern)))
def test_whatever_a_rule_matches_is_searched(text: str) -> None:
    assert may_match(text)
