"""The approval-theater rule, over a corpus of bodies: what may be put before a human, and what may not.

A file of `corpus/good` is a text to be let through; a file of `corpus/bad/<kind>` is one to be refused as that kind.
Bodies that an editor would not show are TOML with a `body`, all others are the body itself.
"""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.effort import rounds

from assent.lifecycle.readable import EXCERPT_CHARS, LOOKS, WHY, Finding, theater_in

CORPUS = Path(__file__).parent / "corpus"


def bodies(folder: str) -> list[tuple[str, str]]:
    """Each case of a folder: what it is, and the body."""
    files = sorted(file for file in (CORPUS / folder).rglob("*") if file.suffix in (".txt", ".toml"))
    return [(file.relative_to(CORPUS / folder).with_suffix("").as_posix(), body_of(file)) for file in files]


def body_of(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    return str(tomllib.loads(text)["body"]) if file.suffix == ".toml" else text


GOOD = dict(bodies("good"))
BAD = dict(bodies("bad"))
KINDS = sorted({name.partition("/")[0] for name in BAD})


def kind_of(body: str) -> str | None:
    finding = theater_in(body)
    return finding.kind if finding else None


def misjudged(cases: dict[str, str], expected: str | None) -> dict[str, str | None]:
    """The cases that get another verdict, with the one that they get."""
    return {name: kind for name, body in cases.items() if (kind := kind_of(body)) != expected}


@pytest.mark.rule("E18", "E19", "E48")
def test_every_text_is_let_through() -> None:
    assert misjudged(GOOD, None) == {}


@pytest.mark.rule("E18", "E19", "E48")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_text_is_refused_as_what_it_is(kind: str) -> None:
    cases = {name: body for name, body in BAD.items() if name.startswith(f"{kind}/")}
    assert len(cases) >= 5, "a folder without cases proves nothing"
    assert misjudged(cases, kind) == {}


@pytest.mark.rule("E48")
def test_a_frame_around_any_text_is_refused() -> None:
    framed = {name: f"## Generated (mode=context, route=linkedin)\n\n{body}" for name, body in GOOD.items()}
    assert misjudged(framed, "frame") == {}


@pytest.mark.rule("E48")
def test_a_reminder_under_any_text_is_refused() -> None:
    reminders = {
        name: f"{body}\n\nTODO: add link" for name, body in GOOD.items() if name != "x_done_doing_todo"
    }
    assert misjudged(reminders, "placeholder") == {}


def test_line_breaks_and_margins_do_not_change_the_verdict() -> None:
    def moved(body: str) -> str:
        return "\ufeff\n\n " + body.replace("\n", "\r\n") + " \r\n\u200b\n"

    every = {**GOOD, **BAD}
    assert [name for name, body in every.items() if kind_of(moved(body)) != kind_of(body)] == []


def test_the_corpus_has_every_kind() -> None:
    assert set(KINDS) == set(WHY)
    assert len(GOOD) >= 200
    assert {kind for kind, _ in LOOKS} | {"empty"} == set(WHY)


def test_a_finding_says_why_and_shows_the_passage() -> None:
    assert theater_in("We are live!\n\nRead it here:   [INSERT\u00a0LINK]") == Finding(
        kind="placeholder", why=WHY["placeholder"], excerpt="[INSERT LINK]"
    )


@pytest.mark.parametrize("why", WHY.values())
def test_why_is_one_sentence(why: str) -> None:
    assert why.endswith(".")
    assert why.count(". ") == 0


@given(st.text(alphabet=st.characters(), max_size=400))
@example("\ud800")
@example('"' * 7)
@example("```\n```")
@example("---\n---")
@example("> \n>")
@example("|")
@example("\u3164" * 30_000 + "a")
def test_any_text_gets_a_verdict_and_an_excerpt_that_can_be_sent(body: str) -> None:
    finding = theater_in(body)
    if finding is not None:
        assert finding.why == WHY[finding.kind]
        assert len(finding.excerpt) <= EXCERPT_CHARS
        assert finding.excerpt.isprintable()
        finding.excerpt.encode()


PIECES = (
    *(
        "{{",
        "}}",
        "{",
        "[",
        "]",
        "<",
        ">",
        "<!--",
        "```",
        "`",
        '"',
        "“",
        "«",
        "---\n",
        "\n",
        "|",
        "#",
        "- ",
        ": ",
        "=",
        "%",
    ),
    *(
        "Write a ",
        "post ",
        "about ",
        "You are a ",
        "copywriter. ",
        "Tone: ",
        "TODO",
        "mode=x ",
        "Generated (",
        "system: ",
    ),
    *(
        "name",
        "your ",
        "here",
        "lorem ipsum dolor sit ",
        "1/",
        "。",
        "投稿を書いて",
        "\u200b",
        "\u2800",
        "\r",
        "&nbsp;",
    ),
)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_pieces_of_everything_that_is_looked_for_get_a_verdict(body: str) -> None:
    theater_in(body)


@given(st.text(alphabet=st.characters(categories=["Cc", "Cf", "Zs", "Zl", "Zp"]), max_size=50))
def test_nothing_to_see_is_empty(body: str) -> None:
    assert kind_of(body) == "empty"


HOSTILE = (
    *(
        "a",
        " ",
        "\n",
        "a\n",
        "あ",
        "あ。",
        "🚀",
        "\u200b",
        "\ud800",
        "a. ",
        "a b ",
        "-\n",
        "- a\n",
        "> a\n",
        "# \n",
        "* ",
        "| ",
    ),
    *(
        "<",
        "<p ",
        "<a>",
        "<!--",
        "<%",
        "[",
        "[a",
        "](",
        "(insert ",
        "{",
        "{{",
        "{{a",
        "{%",
        "%A",
        "$A",
        "A_",
        "`",
        "``",
        "```",
    ),
    *(
        '"',
        "“",
        "„",
        "«",
        "「",
        "‘",
        "a: b\n",
        "a=b ",
        "a: b | ",
        "1,",
        "friendly, ",
        "no ",
        "in a ",
        "use the ",
        "write a ",
    ),
    *(
        "you are a ",
        "Write a post about x. ",
        "lorem ipsum dolor ",
        "todo: ",
        "your draft ",
        "generated by ",
        "sure, here is ",
    ),
    *(
        "{{ name }} in a template\n",
        "{{ name }} in a template ",
        "[Your Name] bug ",
        "A (mode=x)\n",
        "--- begin ",
        "\r\n",
    ),
)


def seconds_for(unit: str, chars: int) -> float:
    body = (unit * (chars // len(unit) + 1))[:chars]
    started = time.process_time()
    theater_in(body)
    return time.process_time() - started


@pytest.mark.slow
@pytest.mark.prove
def test_no_input_makes_it_slow() -> None:
    # A step for each pair of characters would take hours.
    chars = rounds(200_000, 2_000_000)
    slow = {unit: taken for unit in HOSTILE if (taken := seconds_for(unit, chars)) > chars / 70_000}
    assert slow == {}
