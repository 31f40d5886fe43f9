"""No pattern stalls the server: two hundred of them in every place that takes one, each against 64 KB made for it.

Half are known for what they do to an engine that backtracks, or to the limits of one that does not; the others are
generated.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import make_dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Final

import msgspec
import pytest
from tests.support.actions.kit import Gate
from tests.support.extensions.fixtures import gate_with
from tests.support.loop_probe import longest_wait_ms
from tests.support.sqlite_files import new_sqlite

from assent.extensions.hooks import BadExtension
from assent.extensions.http_effects import read_schema
from assent.extensions.options import ArgumentProblem
from assent.extensions.signatures import read_signature
from assent.kernel.patterns import BadPattern, compile_pattern
from assent.serving.arguments import problems_with
from assent.workflow.contracts.checks import sample
from assent.workflow.contracts.criteria import check_criteria, failures
from assent.workflow.issues import check_shape, mismatches
from assent.workflow.machine import conditions
from assent.workflow.machine.values import Scope
from assent_wrap.adapters.claude_code import is_chosen
from assent_wrap.agent_calls import AgentConnector
from assent_wrap.listing import MAX_TEMPLATES, MAX_URI_CHARS, TEMPLATES, Directory, OfferedEntry, is_passable
from assent_wrap.profiles import ServerRules, ToolRule

CALL_MS: Final = 250
CHARS: Final = 64 * 1_024
PATTERNS: Final = 200

KNOWN: Final = r"""
^(a+)+$
^([A-Za-z0-9]+[-_]?)+$
^(\w+\s?)*$
^(a|a)*$
^(a|aa)+$
^(a*)*$
^(a*)*b
^(a?){60}a{60}$
^(.*a){20}$
(.*)(.*)(.*)(.*)x$
(x+x+)+y
^(([a-z])+.)+[A-Z]([a-z])+$
^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$
^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)@example\.org$
^(https?://)?([\da-z.-]+)\.([a-z.]{2,6})([/\w .-]*)*/?$
^\s*(.*?)\s*$
\s+$
^\s+|\s+$
(\s*,\s*)+$
<[^>]*>.*<[^>]*>.*<[^>]*>$
^(\d+)+$
^(\d+,)*\d+$
^-?\d*(\.\d*)*$
^((\d{1,3}\.?)+)$
(.+)+!!
(?s)(.|\n)*!!
^(?:.|\n)+?end$
^((ab)*)+$
(a|b|ab)*c$
(a|b|ab|ba)*c
^(a|[ab])*c
[ab]*a.{120}z
[ab]*a.{500}z
[ab]*a[^c]{60}[^d]{60}z
[ab]*a(?:a|b|ab|ba){23}z
(?:a?){40}a{40}z
(?:.{0,40}){6}z
(?:a{0,40}b{0,40}){3}z
\pL*a\pL{30}z
^[\p{L}\p{N} '-]{1,60}$
(?i)(a|A)*k$
(?i)^(s|ſ)+!$
^(é|e\x{301})+$
^[^\x00-\x7F]+$
(^a|a$)*b
\b\b\b\ba
(\ba\b)+
(?:){200}
(?:(?:)*)*x
(a*|b*)*c
(a+|b+|c+)+d
((a|b)*(c|d)*)*e
(((((((((a*)*)*)*)*)*)*)*)*)b
^(?!.*(a+)+b)
(?!(x+x+)+y)
^(?![\s\S]*TODO)
(?=(a+)+$)
(?<!(a|aa)+)b
(a+)\1+$
(?>a+)+b
(a++)+b
^(a+)+\Z
(?P<w>\w+)(?P=w)
a{1001}
(a{50}){50}
[ab]{900}[ab]{900}
((?:){500}){500}
(
[z-a]
*a*a*a*a*a*a*a*a*b
*[!b]*[!b]*[!b]*!
???????????????????????????????*b
""".strip().splitlines()


def generate(seed: int) -> str:
    """A pattern of repetitions of alternatives of repetitions, which is what engines fear."""
    dice = random.Random(seed)  # noqa: S311 - no secret

    def part(depth: int) -> str:
        if depth == 0:
            return dice.choice(["a", "b", "ab", ".", "[ab]", "[^b]", r"\w", r"\s", r"\d", r"\p{L}", "é", "!"])
        match dice.randrange(4):
            case 0:
                return part(depth - 1) + part(depth - 1)
            case 1:
                return f"(?:{part(depth - 1)}|{part(depth - 1)})"
            case _:
                times = dice.choice(["*", "+", "?", "*?", "{2,}", "{0,9}", f"{{{dice.randint(1, 60)}}}"])
                return f"(?:{part(depth - 1)}){times}"

    return dice.choice(["", "^", "(?i)^"]) + part(dice.randint(2, 4)) + dice.choice(["$", "!!$", "c"])


LOADED: Final = [*KNOWN, *(generate(seed) for seed in range(PATTERNS - len(KNOWN)))]


def taken(pattern: str) -> bool:
    try:
        compile_pattern(pattern)
    except BadPattern:
        return False
    return True


TAKEN: Final = [each for each in LOADED if taken(each)]


FEW: Final = "".join(random.Random(1).choices("ab", k=CHARS))  # noqa: S311 - no secret


@cache
def hostile(pattern: str) -> tuple[str, ...]:
    """Texts that nearly match all the way, then do not."""
    nearly = sample(pattern, roomy=True) or sample(pattern, roomy=False) or "TODO"
    return (nearly * (CHARS // len(nearly)))[: CHARS - 1] + "!", "a" * (CHARS - 1) + "!", FEW


Use = Callable[[str], object]


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """A place does not take the pattern."""


def http_effect(pattern: str) -> Use:
    schema = {"type": "object", "properties": {"note": {"type": "string", "pattern": pattern}}}
    signature = read_schema(schema, "[effect.refund.arguments]")
    return lambda text: signature.read({"note": text})


def declared(pattern: str) -> Any:
    """As a function's author writes it. Python's `re` reads the pattern of `Meta` when it is made."""
    return Annotated[str, msgspec.Meta(extra_json_schema={"pattern": pattern})]


def function(pattern: str) -> Use:
    def refund(note: str) -> None: ...

    refund.__annotations__["note"] = declared(pattern)
    signature = read_signature(refund)
    return lambda text: signature.read({"note": text})


def field_of_a_dataclass(pattern: str) -> Use:
    def refund(lines: Any) -> None: ...

    refund.__annotations__["lines"] = list[make_dataclass("Line", [("note", declared(pattern))])]  # type: ignore[misc]
    signature = read_signature(refund)
    return lambda text: signature.read({"lines": [{"note": text}]})


def explained_arguments(pattern: str) -> Use:
    compile_pattern(pattern)  # such a tool is loaded only with patterns that compile
    request = msgspec.defstruct("Request", [("note", declared(pattern)), ("count", int)])
    tool: Any = SimpleNamespace(request=request)
    return lambda text: problems_with(tool, {"note": text, "count": "two"}, "")


def workflow_rule(pattern: str) -> Use:
    rule = {"type": "regex", "pattern": pattern, "message": "Fit it."}
    require(check_criteria(rule, "$"))
    return lambda text: failures(rule, text, None, Scope(()))


def workflow_schema(pattern: str) -> Use:
    shape = {"type": "object", "properties": {"note": {"type": "string", "pattern": pattern}}}
    require(check_shape(shape, "$"))
    return lambda text: mismatches({"note": text}, shape, "output")


def workflow_condition(pattern: str) -> Use:
    condition = {"var": "note", "matches": pattern}
    require(conditions.check(condition, "$"))
    return lambda text: conditions.holds(condition, Scope(({"note": text},)))


def require(issues: list[Any]) -> None:
    if issues:
        raise Refused(issues)


def wrap_rule(glob: str) -> Use:
    return ServerRules(tools=(ToolRule(match=glob),)).find


def agent_risk(glob: str) -> Use:
    connector = AgentConnector({"agent_risks": (f"claude-code:{glob}=low",)})
    return lambda text: connector.grade("claude-code", text, "a label")


def chosen_tool(glob: str) -> Use:
    return lambda text: is_chosen(text, (glob,))


PLACES: Final[dict[str, Callable[[str], Use]]] = {
    "a property of an HTTP effect": http_effect,
    "an argument of a function": function,
    "a field of a function's dataclass": field_of_a_dataclass,
    "the explanation of wrong arguments": explained_arguments,
    "a rule for a step's notes": workflow_rule,
    "the schema of a step's output": workflow_schema,
    "a condition of a step": workflow_condition,
}
"""Every place with regular expressions of an author."""

GLOBS: Final[dict[str, Callable[[str], Use]]] = {
    "a rule of wrap": wrap_rule,
    "the risk of an agent's tool": agent_risk,
    "the tools that a hook asks about": chosen_tool,
}
"""Every place with names that may have a `*`. Policies and other settings take no patterns."""


@pytest.mark.parametrize("place", [*PLACES, *GLOBS])
def test_no_pattern_takes_long_for_a_text_made_for_it(place: str) -> None:
    load = (PLACES | GLOBS)[place]
    loaded, slow = 0, []
    for pattern in LOADED:
        try:
            use = load(pattern)
        except (BadPattern, BadExtension, Refused):
            continue
        loaded += 1
        for text in hostile(pattern):
            begun = time.thread_time()
            with suppress(ArgumentProblem):
                use(text)
            if (took := (time.thread_time() - begun) * 1_000) > CALL_MS:
                slow.append((pattern, took))
    assert slow == []
    assert loaded == (len(TAKEN) if place in PLACES else PATTERNS)
    assert loaded > PATTERNS * 0.8


@pytest.mark.parametrize("between", ["a", "aa"])
@pytest.mark.parametrize("variable", ["{v}", "{+v}", "{/v}"])
def test_no_template_of_a_server_takes_long_for_an_address_made_for_it(between: str, variable: str) -> None:
    """The resources of a wrapped server, which writes the templates; an agent writes the address."""
    templates = [
        f"x://{at}q{variable}" + "".join(f"{between}{{{each}}}" for each in range(variables))
        for variables in (9, 90)
        for at in range(MAX_TEMPLATES)
    ]
    entries = [
        OfferedEntry("evil", TEMPLATES, each, {"uriTemplate": each, "name": "n"}) for each in templates
    ]
    passed = [each for each in entries if is_passable(TEMPLATES, each.definition)]
    assert len(passed) >= MAX_TEMPLATES
    directory = Directory("resources", ["evil"], passed, {}, [])
    for chars in (MAX_URI_CHARS - len("x://!"), CHARS):
        for text in (between * (chars // len(between)), FEW[:chars]):
            begun = time.thread_time()
            directory.find(f"x://{text}!")
            assert (time.thread_time() - begun) * 1_000 < CALL_MS


SOLD, BOUGHT = "sell{}_request", "shop_buy{}"
"""The names of the tools of an HTTP effect and of a function."""
BATCH: Final = 20
"""How many arguments with a pattern a tool has."""
NAMED: Final = [(f"{at // BATCH}", f"note{at % BATCH}", pattern) for at, pattern in enumerate(TAKEN)]
"""Each pattern with the number of its tool and the name of its argument."""


def write_operator() -> str:
    lines = ["from typing import Annotated", "import msgspec, assent", 'shop = assent.Operator("shop")']
    for number in dict.fromkeys(tool for tool, _, _ in NAMED):
        arguments = ", ".join(
            f"{name}: Annotated[str, {write_note(pattern)}] | None = None"
            for tool, name, pattern in NAMED
            if tool == number
        )
        lines += [
            '@shop.effect(risk="low")',
            f"def buy{number}({arguments}) -> assent.Receipt:",
            '    """Buy. USE WHEN the user wants it."""',
            '    return assent.Receipt("1")',
        ]
    return "\n".join(lines) + "\n"


def write_note(pattern: str) -> str:
    try:
        msgspec.Meta(pattern=pattern)
    except re.error:  # RE2 reads it, and Python's engine does not
        return f"msgspec.Meta(extra_json_schema={{'pattern': {pattern!r}}})"
    return f"msgspec.Meta(pattern={pattern!r})"


def write_section(number: str) -> dict[str, Any]:
    properties = {
        name: {"type": "string", "pattern": pattern} for tool, name, pattern in NAMED if tool == number
    }
    return {
        "url": "https://example.org/",
        "description": "Sell. USE WHEN the user wants it.",
        "title": "Sell",
        "arguments": {"type": "object", "properties": properties},
    }


@pytest.fixture
async def gate(tmp_path: Path) -> AsyncIterator[Gate]:
    """A whole server with every pattern in an argument of a function and of an HTTP effect."""
    operator = tmp_path / "shop.py"
    operator.write_text(write_operator())
    effects = {f"sell{number}": write_section(number) for number, _, _ in NAMED}
    database_url = new_sqlite(tmp_path / "assent.db")
    made = gate_with((str(operator),), database_url, tmp_path, "http", effects=effects)
    assert made.app.extensions.failures == ()
    try:
        await made.sign_in()
        await made.call(BOUGHT.format(0), {"note0": 1})  # what a process loads with its first call
        yield made
    finally:
        await made.close()


@pytest.mark.parametrize("tool", [SOLD, BOUGHT])
async def test_a_text_that_backtracks_for_ever_is_refused_at_once(gate: Gate, tool: str) -> None:
    assert NAMED[0] == ("0", "note0", "^(a+)+$")
    refused = await gate.call(tool.format(0), {"note0": "a" * 38 + "!"})
    assert refused.reason == "validation_error"
    assert refused.payload["problems"][0]["path"] == "note0"


@pytest.mark.parametrize("tool", [SOLD, BOUGHT])
async def test_a_server_answers_others_while_it_searches(gate: Gate, tool: str) -> None:
    async def ask() -> None:
        assert (await gate.http.get("/healthz")).status_code == 200

    slow, refused = [], 0
    for number, name, pattern in NAMED:
        search = compile_pattern(pattern).search
        text = min(hostile(pattern), key=search)  # one that does not fit, if there is one
        call = gate.call(tool.format(number), {name: text})
        answer, waited = await longest_wait_ms(call, ask)
        refused += answer.is_error
        if waited > CALL_MS:
            slow.append((pattern, waited))
    assert slow == []
    assert refused > len(NAMED) * 0.8
