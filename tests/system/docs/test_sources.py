"""What keeps the sources true and searchable: references that can be followed, exports that are real, whole phrases."""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PYTHON = sorted(
    file for folder in ("packages", "tests", "benchmarks", "proof") for file in (ROOT / folder).rglob("*.py")
)
MODULES = sorted(file for source in ROOT.glob("packages/*/src") for file in source.rglob("*.py"))
SERVER = [file for file in MODULES if not {"testing", "emulators"}.intersection(file.with_suffix("").parts)]
TEXTS = sorted(
    file
    for pattern in ("*.sql", "*.css", "*.js", "*.html")
    for file in (ROOT / "packages").rglob(pattern)
    if file.is_file()
)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

DOCUMENT = re.compile(r"\b[\w/-]+\.md\b")
PLANS = tuple(
    re.compile(pattern)
    for pattern in (
        r"[Ss]ecurity (?:rule|\d+)",
        r"[Rr]eliability P?\d",
        r"findings? \d+",
        r"\(P\d\b",
        r"\(issue: ",
        r"issue \d+",
    )
)
"""How a plan, a review or a ticket is cited, none of which a reader of the repository has."""

SHOWS_ANOTHER = {"packages/core/src/assent/kernel/refusals.py": "a refusal and its reasons are used together"}
"""Modules that export what another one defines, and why."""

SHORTEST_PIECE = 25
"""Characters. A shorter line in the middle of a text was cut by its width and not by its sense."""

DEFINITION = re.compile(r"(?:(?:async )?def|class) (\w+)|([A-Za-z]\w*)(?:: [^=]+)? = ")

TEST_SEAMS = {
    "arm": "a test ends the process at a failpoint",
    "disarm": "and takes that back",
}
"""Names that only tests and scripts use, and what for."""

SHORT_LINE = re.compile(rf"""["'][^"'\n]{{1,{SHORTEST_PIECE}}}["']\n\s*f?["']""")
"""Only a file with such a line is looked at closely."""


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def remarks(source: str) -> Iterator[str]:
    """Comments, and texts that stand alone: docstrings of modules, classes, functions and values."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


def dangling(text: str, documents: set[str]) -> list[str]:
    """What a text cites that is not in the repository."""
    named = [found for found in DOCUMENT.findall(text) if found not in documents] if ".md" in text else []
    return [*named, *(found for plan in PLANS for found in plan.findall(text))]


def borrowed(source: str) -> list[str]:
    """Names that a module exports and only imports."""
    if "__all__" not in source:
        return []
    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return [name for node in tree.body for name in _exports(node) if name in imported]


def _exports(node: ast.stmt) -> list[str]:
    match node:
        case (
            ast.Assign(targets=[ast.Name(id="__all__")], value=value)
            | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value)
        ):
            names: list[str] = ast.literal_eval(value)
            return names
        case _:
            return []


def definitions(source: str) -> Iterator[str]:
    """What a module defines at its top level, unless a decorator registers it or it is a test that a template has."""
    before = ""
    for line in source.splitlines():
        found = DEFINITION.match(line)
        if found is not None and not before.startswith(("@", ")")) and not line.startswith("def test_"):
            yield found[1] or found[2]
        before = line


def scraps(source: str) -> list[str]:
    """The pieces of a text over several lines that end in the middle of a phrase and are too short for a line."""
    if not SHORT_LINE.search(source):
        return []
    found, run = [], list[tokenize.TokenInfo]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING:
            run.append(token)
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            found += [piece.string for piece, after in itertools.pairwise(run) if _is_scrap(piece, after)]
            run = []
    return found


def _is_scrap(piece: tokenize.TokenInfo, after: tokenize.TokenInfo) -> bool:
    text = piece.string
    cut = text[0] in "\"'" and text[-2] == " " and len(text) - 2 < SHORTEST_PIECE
    return cut and piece.start[0] != after.start[0]


def test_sources_cite_nothing_that_is_not_in_the_repository() -> None:
    documents = {form for page in PAGES for form in (page.name, name_of(page))}
    found = {}
    for file in [*PYTHON, *TEXTS]:
        text = file.read_text(encoding="utf-8")
        if dangling(text, documents) and file.suffix == ".py":
            text = "\n".join(remarks(text))
        if cited := dangling(text, documents):
            found[name_of(file)] = cited
    assert found == {}


def test_every_link_between_the_documents_leads_to_a_file() -> None:
    missing = [
        f"{name_of(page)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert missing == []


def test_a_module_exports_what_it_defines() -> None:
    found = {
        name_of(file): names
        for file in MODULES
        if file.name != "__init__.py" and (names := borrowed(file.read_text(encoding="utf-8")))
    }
    assert set(found) == set(SHOWS_ANOTHER)


def test_the_server_uses_every_name_that_it_defines() -> None:
    sources = [file.read_text(encoding="utf-8") for file in SERVER]
    words = Counter(
        word for text in [*sources, *map(Path.read_text, TEXTS)] for word in re.findall(r"\w+", text)
    )
    once = {name for source in sources for name in definitions(source) if words[name] == 1}
    assert once == set(TEST_SEAMS)


def test_no_text_is_cut_in_the_middle_of_a_phrase() -> None:
    found = {name_of(file): cut for file in PYTHON if (cut := scraps(file.read_text(encoding="utf-8")))}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Looking changes nothing (plans.md 4).", ["plans.md"]),
        ("See docs/settings.md and settings.md.", []),
        ("Nobody gets around it (security rule 11).", ["security rule"]),
        ("Found as it was (P8, finding 17).", ["finding 17", "(P8"]),
        ("Telling people (issue: notifications).", ["(issue: "]),
        ("Keeps both (C8, E65).", []),
    ],
)
def test_a_citation_that_cannot_be_followed_is_found(text: str, cited: list[str]) -> None:
    assert dangling(text, {"settings.md", "docs/settings.md"}) == cited


@pytest.mark.parametrize(
    ("source", "cut"),
    [
        (
            'a = (\n    "Lists what is open. USE "\n    "WHEN the user asks."\n)',
            ['"Lists what is open. USE "'],
        ),
        ('a = (\n    "Lists what waits for a person. USE "\n    "WHEN the user asks."\n)', []),
        ('a = (\n    "one\\n"\n    "two"\n)', []),
        ('a = (\n    "one,two,"\n    "three"\n)', []),
        ('a = (\n    r"(?:one|two)"\n    r"three"\n)', []),
        ('a = "one " "two"', []),
    ],
)
def test_a_scrap_of_a_text_is_found(source: str, cut: list[str]) -> None:
    assert scraps(source) == cut


def test_an_export_that_is_only_imported_is_found() -> None:
    assert borrowed("from a import b\n\nclass C: ...\n\n__all__ = ['C', 'b']") == ["b"]
