"""Arguments that a tool cannot take: all of what is wrong at once, in the form that a revision can show (C16)."""

from __future__ import annotations

import html
import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.contract.talk import (
    KEYED,
    LEGACY,
    MODERN,
    PUBLIC,
    RECOVERY_FIELDS,
    REVISIONS,
    SIGNUP,
    count_rows,
    say_in,
)
from tests.support.surfaces import Outcome, Surface

from assent.kernel.texts import write_name

AS_ERROR = ("2024-11-05", "2025-03-26", "2025-06-18")
AS_RESULT = ("2025-11-25", MODERN)


async def problems_in(surface: Surface, revision: str, name: str, arguments: Any) -> Any:
    """The payload, taken from where this revision has it."""
    heard = await say_in(surface, revision, "tools/call", {"name": name, "arguments": arguments})
    if revision in AS_ERROR:
        assert heard.error["code"] == -32602
        payload = heard.error["data"]
        for problem in payload["problems"]:
            assert problem["path"] in heard.error["message"]
        assert heard.status in (200, None)
    else:
        assert heard.result["isError"] is True
        payload = heard.result["structuredContent"]
    assert payload["reason"] == "validation_error"
    assert set(payload) >= RECOVERY_FIELDS
    return payload["problems"]


@pytest.mark.rule("E87", "E51")
async def test_all_problems_are_listed_with_their_places_in_every_revision(surface: Surface) -> None:
    assert set(AS_ERROR + AS_RESULT) == set(REVISIONS)
    arguments = {"name": 5, "zebra": 1, "Email": "a@b.c", "email": ["x"]}
    for revision in REVISIONS:
        found = await problems_in(surface, revision, SIGNUP, arguments)
        assert {problem["path"] for problem in found} == {"name", "zebra", "Email", "email"}
        assert all(problem["expected"] and problem["got"] for problem in found)


@pytest.mark.rule("E87")
async def test_each_kind_of_mistake_says_what_was_expected_and_what_came(surface: Surface) -> None:
    table: tuple[tuple[str, dict[str, Any], dict[str, str]], ...] = (
        (SIGNUP, {}, {"email": "required"}),
        (SIGNUP, {"email": None}, {"email": "required"}),
        (SIGNUP, {"email": 5}, {"email": "a text"}),
        (SIGNUP, {"email": True}, {"email": "a text"}),
        (SIGNUP, {"email": {"a": 1}}, {"email": "a text"}),
        (SIGNUP, {"email": ""}, {"email": "at least 3"}),
        (SIGNUP, {"email": "x" * 255}, {"email": "at most 254"}),
        (SIGNUP, {"email": "a@b.c", "name": "x" * 201}, {"name": "at most 200"}),
        (SIGNUP, {"email": "a@b.c", "nmae": "x"}, {"nmae": "name"}),
        (PUBLIC, {"x": 1}, {"x": "no arguments"}),
    )
    for name, arguments, expected in table:
        found = await problems_in(surface, LEGACY[-1], name, arguments)
        assert {problem["path"] for problem in found} == set(expected), arguments
        for problem in found:
            assert expected[problem["path"]] in problem["expected"]


async def test_a_long_or_strange_value_is_shown_short(surface: Surface) -> None:
    for value in ("x" * 100_000, ["y" * 1_000] * 50, 10**300, 1.5e300, {"a" * 5_000: 1}):
        (problem,) = await problems_in(surface, LEGACY[-1], SIGNUP, {"email": value})
        assert len(problem["got"]) <= 80


async def test_a_flood_of_mistakes_is_neither_told_nor_looked_at_in_full(surface: Surface) -> None:
    # The largest body that is taken, and everything in it wrong: nobody else may wait for that.
    flood = {f"{n:x}": 0 for n in range(100_000)}
    started = time.process_time()
    found = await problems_in(surface, LEGACY[-1], SIGNUP, flood)

    assert 1 < len(found) <= 50
    assert time.process_time() - started < 1.0


async def test_an_optional_argument_may_be_null(surface: Surface) -> None:
    outcome = await surface.call(SIGNUP, {"email": "a@b.c", "name": None})

    assert not outcome.is_error


REFUSED_VALUES = (
    "no address",
    "a@",
    "@b.c",
    "a@b@c",
    "a b@c.d",
    "a@b.c\n",
    "a@b..c",
    "<a@b.c>",
    "   ",
    "a@b.c\u0000",
    "\u0000\u0000\u0000",
    "a\r\nBcc: x@y.z@b.c",
)


@pytest.mark.rule("E51")
async def test_a_value_that_fits_the_schema_and_is_refused_is_a_result_in_every_revision(
    surface: Surface,
) -> None:
    for revision in REVISIONS:
        heard = await say_in(
            surface, revision, "tools/call", {"name": SIGNUP, "arguments": {"email": "a b@c.d"}}
        )
        assert heard.result["isError"] is True
        assert heard.result["structuredContent"]["reason"] == "validation_error"
        assert heard.result["structuredContent"]["problems"][0]["path"] == "email"


async def test_no_address_that_is_none_gets_a_link(surface: Surface) -> None:
    for email in REFUSED_VALUES:
        outcome = await surface.call(SIGNUP, {"email": email})
        trimmed = email.strip() != email and "@" in email and "\u0000" not in email
        assert outcome.reason == (None if trimmed else "validation_error"), repr(email)
    trimmed_count = 1  # a line end around an address is not part of it
    assert await count_rows(surface, "signup_links") == trimmed_count


async def test_text_with_a_nul_is_refused_alike_on_both_stores(surface: Surface) -> None:
    outcome = await surface.call(SIGNUP, {"email": "a@b.c", "name": "a\u0000b"})

    assert outcome.reason == "validation_error"
    assert outcome.payload["problems"][0]["path"] == "name"


async def test_text_of_every_other_kind_is_kept_but_for_characters_that_no_one_sees(surface: Surface) -> None:
    for number, name in enumerate(
        (
            "Ünï",
            "日本語",
            "👩‍👩‍👧",
            "\u202eevil",
            "<script>alert(1)</script>",
            "'; DROP TABLE workspaces; --",
            "\x7f\x1b[31m",
        )
    ):
        outcome = await surface.call(SIGNUP, {"email": f"{number}@b.c", "name": name})
        page = await surface.http.get(urlsplit(outcome.payload["deliveryUrl"]).path)
        assert write_name(name) in html.unescape(page.text)
        assert "<script>" not in page.text and "\u202e" not in page.text
        surface.clock.advance(hours=1.1)


async def test_a_bad_argument_is_told_only_to_those_who_may_call(surface: Surface) -> None:
    keyless: Outcome = await surface.call(KEYED, {"x": 1})
    assert keyless.reason == "missing_api_key"
    assert "problems" not in keyless.payload

    await surface.sign_in()
    assert (await surface.call(KEYED, {"x": 1})).reason == "validation_error"


@pytest.mark.parametrize("odd", [[], [1], "text", 3, True])
async def test_arguments_that_are_no_object_get_the_shape_with_the_problem(
    surface: Surface, odd: Any
) -> None:
    answer = await surface.rpc("tools/call", {"name": "chieflab_list_connectors", "arguments": odd})

    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"]["reason"] == "validation_error"
    assert answer["error"]["data"]["problems"][0]["path"] == "arguments"
