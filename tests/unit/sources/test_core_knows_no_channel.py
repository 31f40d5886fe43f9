"""The core knows no channel and no provider: by imports, and by the strings that it decides with."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import assent
from assent.gate.effects import MANUAL
from assent_launch.extension import list_connectors, list_types

SOURCE = Path(assent.__file__).parent

ALLOWED = {
    ("cli/people.py", "email"): "the address of a person, as a field and as a key of the file",
    ("cli/workspaces.py", "email"): "the address of a person, as a field",
    ("engine/erasure/places.py", "email"): "the address of a person, as a column",
    ("engine/people/notifiers.py", "email"): "a way to notify people",
    ("engine/people/mailed_links.py", "email"): "the address of a person, as a field",
    ("kernel/reasons.py", "email"): "the argument of the sign-up tool",
    ("net/mail_server.py", "smtp"): "the scheme of a mail server's URL",
    ("serving/web/people/screens.py", "email"): "the address of a person, as a form field",
    ("serving/web/people/sign_in.py", "email"): "the address of a person, as a form field",
    ("serving/web/people/signup.py", "email"): "the address of a person, as a form field",
}
"""Places where a string of the core equals an id of the suite and means something else."""
MOST_PLACES = 20


def core_modules(*mentioned: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of the core whose texts have one of these, because parsing all of them takes seconds."""
    for path in sorted(SOURCE.rglob("*.py")):
        if any(each in (text := path.read_text()) for each in mentioned):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(text)


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)


def suite_ids() -> frozenset[str]:
    types = tuple(list_types())
    channels = {each.channel for each in types}
    connectors = {each.id for each in list_connectors()}
    return frozenset({*channels, *(each.id for each in types), *connectors} - {MANUAL})


def decided_with(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the operands of comparisons, cases, dictionary keys, subscripts and collections that a
    membership test or a look-up may use."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for operand in (node.left, *node.comparators):
                yield from operand.elts if isinstance(operand, ast.Tuple | ast.List | ast.Set) else (operand,)
        elif isinstance(node, ast.Dict):
            yield from (key for key in node.keys if key is not None)
        elif isinstance(node, ast.MatchValue):
            yield node.value
        elif isinstance(node, ast.Set):
            yield from node.elts
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            value = node.value
            if isinstance(value, ast.Call) and value.args:
                value = value.args[0]
            yield from value.elts if isinstance(value, ast.Tuple | ast.List | ast.Set) else (value,)


def test_no_module_of_the_core_imports_the_suite() -> None:
    packages = ("assent_launch", "assent_wrap", "assent_notify")
    found = [
        f"{name}: {each}"
        for name, tree in core_modules(*packages)
        for each in imported(tree)
        if each.startswith(packages)
    ]
    assert found == []


def test_the_core_decides_nothing_by_an_id_of_the_suite() -> None:
    ids = suite_ids()
    assert {"linkedin", "site_publish", "resend"} <= ids
    found = Counter(
        (name, each.value)
        for name, tree in core_modules(*(f'"{each}"' for each in ids))
        for each in decided_with(tree)
        if isinstance(each, ast.Constant) and each.value in ids
    )
    assert set(found) == set(ALLOWED)
    assert found.total() <= MOST_PLACES


def test_the_search_for_ids_finds_each_way_of_deciding() -> None:
    source = """
if channel == "x": pass
if channel in ("x", "y"): pass
if channel in {"x"}: pass
TABLE = {"x": 1}
NAMES = frozenset({"x"})
KNOWN = ("x",)
NAME = "x"
match channel:
    case "x": pass
"""
    found = [
        each
        for each in decided_with(ast.parse(source))
        if isinstance(each, ast.Constant) and each.value == "x"
    ]
    assert {each.lineno for each in found} == {2, 3, 4, 5, 6, 7, 8, 10}
