"""The figures of the code base are counted as their names say."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.support.docs.script import load_script

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    return load_script("figures")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A package of two parts, with one of each complaint."""
    package = tmp_path / "packages" / "core" / "src" / "assent"
    (package / "engine").mkdir(parents=True)
    launch = tmp_path / "packages" / "launch" / "src" / "assent_launch"
    launch.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "engine" / "__init__.py").write_text('"""Names E1 here, which is no home."""\n')
    (package / "engine" / "one.py").write_text(
        '"""Home of E1."""\nfrom assent.engine import two\n\n\nclass Same:\n    """Does E3."""\n\n\n'
        'def told() -> str:\n    return (\n        "cut "\n        "in two"\n    )\n'
    )
    (package / "engine" / "two.py").write_text(
        "class Same: ...\n\n\ndef ask() -> None:\n    from assent.engine import one\n"
    )
    (launch / "__init__.py").write_text("# one line\n")
    (tmp_path / "contracts").mkdir()
    (tmp_path / "contracts" / "rules.toml").write_text(
        "".join(
            f'[[rule]]\nid = "{name}"\nhome = "{home}"\n'
            for name, home in (
                ("E1", "assent.engine.one"),
                ("E2", "assent.engine.one"),
                ("E3", "assent.engine.one"),
            )
        )
    )
    return tmp_path


def test_each_complaint_is_counted_and_named(figures: ModuleType, checkout: Path) -> None:
    found = {figure.name: figure for figure in figures.measure(checkout)}

    assert found["rules at home"].value == 2
    assert found["rules at home"].found == ["E2 assent.engine.one"]
    assert found["participle functions"].found == ["assent.engine.one.told"]
    assert found["repeated class names"].found == ["Same: assent.engine.one, assent.engine.two"]
    assert found["import cycles when loaded"].found == []
    assert found["import cycles with lazy ones"].found == ["assent.engine.one assent.engine.two"]
    assert found["cut strings"].found == ['assent.engine.one:11 "cut "']
    assert (found["lines, launch"].value, found["lines, whole"].value) == (1, 20)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("told_again", True),
        ("_settled", True),
        ("unread", True),
        ("feed", False),
        ("read", False),
        ("red", False),
    ],
)
def test_a_participle_is_told_from_a_verb(figures: ModuleType, name: str, is_one: bool) -> None:
    assert figures.is_participle(name) is is_one


def test_a_figure_beyond_its_limit_says_so(figures: ModuleType) -> None:
    assert figures.Figure("most", 11, 10).exceeded
    assert not figures.Figure("most", 10, 10).exceeded
    assert figures.Figure("least", 9, 10, at_least=True).exceeded
