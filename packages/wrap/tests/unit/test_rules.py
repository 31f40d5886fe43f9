"""Rules of a workspace for wrapped tools: what they say, which of them decides a call, and what calls propose."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from assent_wrap.listing import OfferedTool
from assent_wrap.profiles import BadProfile, Mode
from assent_wrap.rules import (
    MAX_TOOLS,
    CallFacts,
    Observed,
    StandingRule,
    choose_rule,
    describe_rule,
    list_beginnings,
    may_act,
    may_pass,
    propose_rules,
    read_rule,
    read_rules,
)

NOW_MS = 1_800_000_000_000
SELECTS = {"arguments": {"query": {"begins_with": "SELECT", "contains_none": ";"}}}


def write(mode: Mode = "pass", **more: Any) -> dict[str, Any]:
    return {"name": mode, "server": "db", "tool": "read_query", "mode": mode, **more}


def stand(mode: Mode = "pass", used: int = 0, **more: Any) -> StandingRule:
    return StandingRule(rule=read_rule(write(mode, **more)), seal="", by="cli", at_ms=0, used=used)


def call(arguments: dict[str, Any] | None = None, **changes: Any) -> CallFacts:
    given = {
        "server": "db",
        "tool": "read_query",
        "trusted": True,
        "callers": ("key:1", "claude"),
        "may_execute": True,
    }
    return CallFacts(**{**given, "arguments": arguments, **changes})


def decide(*standing: StandingRule, about: CallFacts) -> str:
    found = choose_rule(standing, about, NOW_MS)
    return found.rule.mode if found is not None else ""


QUERY = call({"query": "SELECT 1"})


@pytest.mark.parametrize(
    ("rule", "about", "mode"),
    [
        (stand(), QUERY, "pass"),
        (stand(), call({}, server="other"), ""),
        (stand(), call({}, tool="read_query2"), ""),
        (stand(when=SELECTS), QUERY, "pass"),
        (stand(when=SELECTS), call({"query": "select 1"}), ""),
        (stand(when=SELECTS), call({"query": "SELECT 1; DROP TABLE x"}), ""),
        (stand(when=SELECTS), call({"query": 7}), ""),
        (stand(when=SELECTS), call({}), ""),
        (stand("gate", when=SELECTS), call({"query": "select 1"}), "gate"),
        (stand("gate", when=SELECTS), call({"query": 7}), "gate"),
        (stand("gate", when=SELECTS), call({"query": "DROP"}), ""),
        (stand(when={"trusted": True}), QUERY, "pass"),
        (stand(when={"trusted": True}), call({}, trusted=False), ""),
        (stand(when={"caller": "claude"}), QUERY, "pass"),
        (stand(when={"caller": ["key:2", "key:1"]}), QUERY, "pass"),
        (stand(when={"caller": "Claude"}), QUERY, ""),
        (stand("hide", when={"caller": "Claude"}), QUERY, "hide"),
        (stand(), call({}, may_execute=False), ""),
        (stand("gate"), call({}, may_execute=False), "gate"),
        (stand("gate", tool="read_*"), QUERY, "gate"),
        (stand("hide", tool=["x", "re?d_query"]), QUERY, "hide"),
        (stand(until="2027-01-15T08:00:01Z"), QUERY, "pass"),
        (stand(until="2027-01-15T08:00:00Z"), QUERY, ""),
        (stand("gate", until="2027-01-15T09:00:00+01:00"), QUERY, ""),
        (stand(calls=2, used=1), QUERY, "pass"),
        (stand(calls=2, used=2), QUERY, ""),
        # The list of tools: of a call nothing is known.
        (stand(), call(), "pass"),
        (stand(when=SELECTS), call(), ""),
        (stand("gate", when=SELECTS), call(), ""),
        (stand("hide"), call(), "hide"),
    ],
)
def test_a_rule_decides_the_calls_that_it_is_about(rule: StandingRule, about: CallFacts, mode: str) -> None:
    assert decide(rule, about=about) == mode


def test_the_strictest_rule_decides_in_any_order() -> None:
    rules = [stand("pass"), stand("gate"), stand("hide")]

    assert decide(*rules[:2], about=QUERY) == decide(*rules[1::-1], about=QUERY) == "gate"
    assert decide(*rules, about=QUERY) == decide(*rules[::-1], about=QUERY) == "hide"


def test_a_tool_may_pass_while_a_rule_that_lets_it_stands() -> None:
    assert may_pass([stand(when=SELECTS)], "db", "read_query", NOW_MS)
    for rule in (stand("gate"), stand(calls=1, used=1), stand(server="other")):
        assert not may_pass([rule], "db", "read_query", NOW_MS)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ({"mode": "pass", "tool": "read_*"}, "name each tool whole"),
        ({"tool": ["a", "b?"]}, "name each tool whole"),
        ({"tool": []}, "needs a tool"),
        ({"tool": ["x"] * (MAX_TOOLS + 1)}, "needs a tool"),
        ({"tool": [7]}, "needs a tool"),
        ({"mode": "ask"}, "'ask'"),
        ({"name": ""}, "needs a name"),
        ({"name": "a\nb"}, "needs a name"),
        ({"server": ""}, "no name of a server"),
        ({"modes": 1}, "modes"),
        ({"when": 7}, "when"),
        ({"when": {"trusted": "yes"}}, "trusted"),
        ({"when": {"risk": "low"}}, "risk"),
        ({"when": {"arguments": {"query": {"begin_with": "x"}}}}, "did you mean begins_with"),
        ({"when": {"arguments": {"query": {"begins_with": [""]}}}}, "begins_with"),
        ({"until": "tomorrow"}, "tomorrow"),
        ({"until": "2027-01-15T08:00:00"}, "with its zone"),
        ({"calls": 0}, "calls"),
        ({"calls": True}, "calls"),
        ({"mode": "gate", "calls": 3}, "counts calls"),
        ({"mode": "hide", "when": SELECTS}, "whatever its arguments"),
    ],
)
def test_a_rule_that_says_something_else_than_its_author_meant_is_refused(
    source: dict[str, Any], names: str
) -> None:
    with pytest.raises(BadProfile, match=names):
        read_rule({**write(), **source})


@pytest.mark.parametrize(
    "source", [{}, {"rule": []}, {"rule": {}}, {"rules": [write()]}, {"rule": ["x"]}, []]
)
def test_a_file_without_rules_is_refused(source: Any) -> None:
    with pytest.raises(BadProfile):
        read_rules(source)


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(BadProfile, match="Two rules"):
        read_rules({"rule": [write(), write()]})


def test_a_rule_is_a_sentence() -> None:
    when = {"trusted": True, "caller": "claude", **SELECTS}
    assert describe_rule(read_rule(write(when=when, until="2027-01-15T08:00:00Z", calls=20))) == (
        "Calls of read_query of db pass if the server is trusted and the caller is claude and the argument query "
        "begins with “SELECT” and does not contain “;”, until 2027-01-15T08:00:00.000Z, at most 20 times."
    )
    assert describe_rule(read_rule(write("hide"))) == "Calls of read_query of db are hidden."


@pytest.mark.parametrize(
    ("name", "hints", "acts"),
    [
        ("read_query", {}, False),
        ("send_mail", {}, True),
        ("createInvoice", {}, True),
        ("sender", {}, False),
        ("HTTPPost", {}, True),
        ("put", {"destructiveHint": True}, True),
        ("fetch", {"openWorldHint": True}, True),
        ("put", {"destructiveHint": False}, False),
        ("drop", {"destructiveHint": False}, True),
        ("delete_all", {}, True),
    ],
)
def test_a_tool_that_may_publish_send_charge_or_delete_is_known_by_its_verb_or_hint(
    name: str, hints: dict[str, Any], acts: bool
) -> None:
    assert may_act({"name": name, "annotations": hints}) is acts


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("SELECT 1", [("a", "SELECT")]),
        ("notes/x.txt", [("a", "notes")]),
        ("SELECT 1; DROP", []),
        ("notes/../x", []),
        ("x", []),
        ("12", []),
        ("x" * 21, []),
        (7, []),
    ],
)
def test_the_beginning_of_an_argument_is_its_first_word_where_nothing_risky_follows(
    value: Any, found: list[tuple[str, str]]
) -> None:
    assert [*list_beginnings({"a": value, "b c": "SELECT"})] == found


def offer(tool: str, mode: Mode = "gate", **properties: Any) -> OfferedTool:
    definition = {"name": tool, "inputSchema": {"type": "object", "properties": properties}}
    return OfferedTool(
        name=tool, server="db", tool=tool, mode=mode, rule=None, definition=definition, pin="sha256:1"
    )


def test_proposed_rules_cover_as_many_of_the_observed_calls_as_they_say() -> None:
    text = {"type": "string"}
    offered = [
        offer("read_query", query=text),
        offer("list_tables"),
        offer("mixed", a=text),
        offer("send_mail", to=text),
        offer("delete_all"),
        offer("look", "pass"),
        offer("unused"),
    ]
    queries = ["SELECT 1"] * 5 + ["WITH a AS (SELECT 1) SELECT 2"] * 2 + ["PRAGMA x; DROP TABLE y"]
    observed = [
        Observed("read_query", "", "", len(queries)),
        Observed("read_query", "query", "SELECT", 5),
        Observed("read_query", "query", "WITH", 2),
        Observed("list_tables", "", "", 3),
        Observed("mixed", "", "", 9),
        Observed("mixed", "a", "alpha", 1),
        Observed("send_mail", "", "", 4),
        Observed("delete_all", "", "", 1),
        Observed("look", "", "", 4),
    ]

    proposed = propose_rules("db", offered, observed, NOW_MS)

    rules = read_rules(tomllib.loads(proposed))
    assert [each.tools for each in rules] == [("read_query",), ("list_tables",)]
    assert "# 8 calls of read_query would have asked; this lets 7 of them pass." in proposed
    assert "# 3 calls of list_tables would have asked; this lets 3 of them pass." in proposed
    few = "Fewer than half of them have a text that begins with one of a few words, so no rule is proposed."
    assert f"# 9 calls of mixed would have asked. {few}" in proposed
    assert "# 4 calls of send_mail" in proposed
    assert "# 1 call of delete_all would have asked. It may publish" in proposed
    standing = [StandingRule(rule=each, seal="", by="", at_ms=0) for each in rules]
    passed = [decide(*standing, about=call({"query": each})) == "pass" for each in queries]
    assert passed.count(True) == 7
    assert all(each.until_ms is not None for each in rules)
