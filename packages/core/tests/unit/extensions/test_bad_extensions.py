"""Extensions that cannot be used: each is left out with a message, and the good ones work."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import assent
from assent.extensions.registry import Extensions, Names, load_extensions

GOOD = '''
import assent

shop = assent.Operator("corner-shop", label="Corner shop")

@shop.effect(risk="low")
def ring(ctx, times: int) -> assent.Receipt:
    """Ring the bell. USE WHEN the user wants to be heard."""
    return assent.Receipt("rung")
'''

START = "import assent\nmine = assent.Operator('mine')\n"

BAD = {
    "a missing module": ("import no_such_package_here", "no module named no_such_package_here"),
    "a syntax error": ("def broken(:\n", "bad.py:1: it is no valid Python"),
    "an exception": ("1 / 0", "bad.py:1: importing it raised ZeroDivisionError"),
    "an exit": ("import sys; sys.exit(3)", "ends the process while it is imported"),
    "an interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "a hang": ("import threading; threading.Event().wait()", "did not end within"),
    "no operator": ("x = 1", "defines no operator"),
    "no effects": (START, "has no effects"),
    "an id with spaces": ("import assent; assent.Operator('My Operator')", "no operator id"),
    "an id that is a number": ("import assent; assent.Operator(3)", "is a text, not int"),
    "a reserved id": (
        START.replace("'mine'", "'chieflab-refunds'")
        + "@mine.effect()\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "reserved for Assent",
    ),
    "a reserved channel": (
        START + "@mine.effect(channel='workflow')\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "the channel workflow is reserved",
    ),
    "no docstring": (START + "@mine.effect()\ndef go() -> None: ...\n", "has no docstring"),
    "no type": (
        START + "@mine.effect()\ndef go(ctx, who) -> assent.Receipt:\n    'Go.'\n",
        "parameter who has no type",
    ),
    "open arguments": (
        START + "@mine.effect()\ndef go(ctx, **all: str) -> assent.Receipt:\n    'Go.'\n",
        "parameter **all is open-ended",
    ),
    "an odd type": (
        START + "import socket\n@mine.effect()\ndef go(to: socket.socket) -> assent.Receipt:\n    'Go.'\n",
        "the type socket, which cannot be an argument",
    ),
    "an odd risk": (
        START + "@mine.effect(risk='tiny')\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "the risk is 'tiny'",
    ),
    "an odd declaration of what it lacks": (
        START + "@mine.effect()\ndef go() -> assent.Receipt:\n    'Go.'\ngo.without('people')\n",
        "without is ('people',)",
    ),
    "an odd delivery": (
        START + "@mine.effect(delivery='once')\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "the delivery is str",
    ),
    "an odd time limit": (
        START + "@mine.effect(timeout_seconds=-1)\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "timeout_seconds is -1",
    ),
    "an executor that does not exist": (
        START + "@mine.effect(executor_tool='mine_pay')\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "the executor tool 'mine_pay' does not exist",
    ),
    "nothing that reads back": (
        START + "@mine.effect(delivery=assent.read_back())\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "nothing reads back",
    ),
    "a class as an effect": (START + "@mine.effect()\nclass Go: ...\n", "an effect of mine is type"),
    "the parentheses forgotten": (
        START + "@mine.effect\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "with parentheses",
    ),
    "a hook with another argument": (
        START
        + "@mine.effect()\ndef go(who: str) -> assent.Receipt:\n    'Go.'\n@go.describe\ndef _(whom): return ''\n",
        "parameter whom, which is no argument of the effect",
    ),
    "an undo with another type": (
        START
        + "@mine.effect()\ndef go(who: str) -> assent.Receipt:\n    'Go.'\n"
        + "@go.undo(hours=1)\ndef back(ctx: assent.Context, who: int) -> assent.Receipt:\n    'Back.'\n",
        "parameter who, which has another type there",
    ),
    "an asynchronous check": (
        START
        + "@mine.effect()\ndef go(who: str) -> assent.Receipt:\n    'Go.'\n@go.check\nasync def _(who): ...\n",
        "asynchronous, but it only computes",
    ),
    "two descriptions": (
        START
        + "@mine.effect()\ndef go(who: str) -> assent.Receipt:\n    'Go.'\n"
        + "@go.describe\ndef a(who): return ''\n@go.describe\ndef b(who): return ''\n",
        "two functions for describe",
    ),
    "one verb twice": (
        START
        + "@mine.effect(verb='go')\ndef a() -> assent.Receipt:\n    'Go.'\n"
        + "@mine.effect(verb='go')\ndef b() -> assent.Receipt:\n    'Go.'\n",
        "the tool mine_go exists already",
    ),
    "a name that is too long": (
        START + f"@mine.effect()\ndef {'g' * 41}() -> assent.Receipt:\n    'Go.'\n",
        "is no name of small letters",
    ),
    "a generator": (
        START + "@mine.effect()\ndef go(who: str):\n    'Go.'\n    yield who\n",
        "bad.py:3, go: it is a generator",
    ),
    "an asynchronous generator": (
        START + "@mine.effect()\nasync def go(who: str):\n    'Go.'\n    yield who\n",
        "bad.py:3, go: it is a generator",
    ),
    "a hook that is a generator": (
        START
        + "@mine.effect()\ndef go(who: str) -> assent.Receipt:\n    'Go.'\n"
        + "@go.describe\ndef fit(who):\n    yield who\n",
        "bad.py:6, fit: it is a generator",
    ),
    "a mistake that Assent's own code finds": (
        START + "@mine.effect(delivery=assent.native_key(hours=0))\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "bad.py:3: importing it raised ValueError: native_key needs the hours",
    ),
    "a NUL character": ("import assent\0\n", "bad.py: it is no valid Python"),
    "capital letters": (
        START + "@mine.effect()\ndef goThere() -> assent.Receipt:\n    'Go.'\n",
        "the verb 'goThere'",
    ),
    "an error without words": (
        "class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd",
        "bad.py:3: importing it raised Odd",
    ),
    "an error of several lines": (
        r"raise ValueError('one\ntwo\x1b[2J')",
        "importing it raised ValueError: one two[2J",
    ),
    "half a character in a default": (
        START
        + r"@mine.effect()"
        + "\n"
        + r"def go(who: str = '\ud800') -> assent.Receipt:"
        + "\n    'Go.'\n",
        "its arguments cannot be published",
    ),
    "half a character in a title": (
        START + r"@mine.effect(title='\ud800')" + "\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "the title is not one line",
    ),
    "a title of two lines": (
        START + r"@mine.effect(title='a\nb')" + "\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "the title is not one line",
    ),
    "more choices than an agent reads": (
        "import enum\n"
        + START
        + "Big = enum.Enum('Big', {f'n{i}': f'value {i}' for i in range(5000)})\n"
        + "@mine.effect()\ndef go(which: Big) -> assent.Receipt:\n    'Go.'\n",
        "the schema of its arguments has",
    ),
    "a function that is a book": (
        "import assent\nmine = assent.Operator('mine', function='x' * 5000)\n",
        "the function of mine is not a text of at most 2000",
    ),
    "an executor that is a list": (
        START + "@mine.effect(executor_tool=['a'])\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "the executor tool ['a'] does not exist",
    ),
    "a time limit of True": (
        START + "@mine.effect(timeout_seconds=True)\ndef go() -> assent.Receipt:\n    'Go.'\n",
        "timeout_seconds is True",
    ),
    "the context last": (
        START + "@mine.effect()\ndef go(who: str, ctx: assent.Context) -> assent.Receipt:\n    'Go.'\n",
        "the context is not the first parameter",
    ),
    "a function that returns nothing": (
        START + "@mine.effect()\ndef go(who: str) -> None:\n    'Go.'\n",
        "it returns None. Write -> assent.Receipt",
    ),
    "a function that returns a text": (
        START + "@mine.effect()\nasync def go(who: str) -> str:\n    'Go.'\n",
        "it returns str. Write -> assent.Receipt",
    ),
    "an effect that was replaced": (
        START + "@mine.effect()\ndef go() -> assent.Receipt:\n    'Go.'\nmine.effects[0] = 'go'\n",
        "its operators cannot be read (AttributeError",
    ),
}


def load(*files: Path, seconds: float = 5, taken: Names | None = None) -> Extensions:
    return load_extensions(tuple(map(str, files)), taken or Names(), seconds=seconds)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


@pytest.mark.parametrize("case", BAD)
def test_a_bad_extension_is_left_out_with_a_message_and_the_others_work(case: str, tmp_path: Path) -> None:
    text, said = BAD[case]
    bad, good = write(tmp_path, "bad.py", text), write(tmp_path, "good.py", GOOD)
    loaded = load(bad, good, seconds=0.5 if case == "a hang" else 5)
    assert [operator.id for operator in loaded.operators] == ["corner-shop"]
    (failure,) = loaded.failures
    assert str(bad) in str(failure.source)
    assert said in failure.why
    assert loaded.sources["corner-shop"].name == str(good)


@pytest.mark.parametrize("does", ["raise RuntimeError('no application')", "time.sleep(60)"])
def test_a_value_that_cannot_be_looked_at_hinders_no_one(does: str, tmp_path: Path) -> None:
    """Such as the proxy of a web framework, outside of a request."""
    proxy = f"import time\nclass Proxy:\n    @property\n    def __class__(self): {does}\nrequest = Proxy()\n"
    loaded = load(write(tmp_path, "good.py", proxy + GOOD))
    assert [operator.id for operator in loaded.operators] == ["corner-shop"]


def test_invisible_characters_of_a_docstring_are_left_out(tmp_path: Path) -> None:
    odd = write(tmp_path, "good.py", GOOD.replace("Ring the bell.", r"Ring\x1b the\ud800 \u202ebell."))
    (effect,) = load(odd).effects
    assert effect.description.startswith("Ring the bell. USE WHEN")


def test_there_are_at_least_fifteen_bad_extensions() -> None:
    assert len(BAD) >= 15


def test_a_missing_file_and_a_missing_module_are_named(tmp_path: Path) -> None:
    loaded = load_extensions((str(tmp_path / "gone.py"), "no_such_module_anywhere"))
    assert [failure.why for failure in loaded.failures] == [
        "there is no such file. Correct the path.",
        "there is no module named no_such_module_anywhere. Install it, or name a file: ./no_such_module_anywhere.py.",
    ]


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    assert "is a folder" in load(tmp_path).failures[0].why


def test_an_id_that_two_files_use_is_refused_with_both_places(tmp_path: Path) -> None:
    first, second = write(tmp_path, "first.py", GOOD), write(tmp_path, "second.py", GOOD)
    loaded = load(first, second)
    assert [operator.id for operator in loaded.operators] == ["corner-shop"]
    (failure,) = loaded.failures
    assert str(first) in failure.why
    assert str(second) in str(failure)


@pytest.mark.parametrize(
    "taken",
    [
        Names(operators={"corner-shop": "the suite"}),
        Names(tools={"corner_shop_ring": "the suite"}),
        Names(types={"corner-shop_ring": "the suite"}),
        Names(connectors={"corner_shop_ring": "the suite"}),
    ],
)
def test_a_name_of_the_suite_is_refused(taken: Names, tmp_path: Path) -> None:
    loaded = load(write(tmp_path, "good.py", GOOD), taken=taken)
    assert not loaded.operators
    assert "exists already: the suite" in loaded.failures[0].why


def test_a_file_that_is_named_twice_is_loaded_once(tmp_path: Path) -> None:
    good = write(tmp_path, "good.py", GOOD)
    loaded = load(good, good)
    assert len(loaded.operators) == 1
    assert not loaded.failures


def test_a_file_may_import_its_neighbour_and_hides_no_module(tmp_path: Path) -> None:
    write(tmp_path, "corner_shop_prices.py", "BELL = 3\n")
    write(tmp_path, "json.py", "raise RuntimeError('a neighbour hides the standard library')\n")
    good = write(tmp_path, "good.py", "import json, corner_shop_prices\n" + GOOD)
    assert len(load(good).operators) == 1
    assert "good" not in sys.modules


def test_a_bad_extension_is_refused_where_its_author_imports_it() -> None:
    with pytest.raises(assent.BadExtension, match="no operator id"):
        assent.Operator("Not An Id")


def test_an_extension_that_hangs_does_not_keep_a_process_from_ending(tmp_path: Path) -> None:
    bad = write(tmp_path, "bad.py", BAD["a hang"][0])
    program = (
        "from assent.extensions.registry import load_extensions\n"
        f"print(load_extensions(({str(bad)!r},), seconds=0.1).failures[0].why)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert "did not end" in done.stdout
