"""The documents name files, modules and layers that exist, in plain words."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest
from tests.support.docs.pages import DOCS, block_of

from assent.extensions.registry import load_extensions

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "packages" / "core" / "src" / "assent"
SOURCES = sorted(ROOT.glob("packages/*/src"))
PACKAGES = {path.name: path for source in SOURCES for path in source.iterdir()}
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
CONSOLE = ROOT / "packages/core/src/assent/serving/web/README.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "models" / "README.md", CONSOLE])

SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]+\.(?:py|sql|toml|md|pml|sh)")
MODULE = re.compile(r"assent(?:_[a-z]+)?(?:\.[a-z]\w*)+")
FOLDERS = {
    path.name for parent in (ROOT, PACKAGE, *SOURCES) for path in parent.iterdir() if path.is_dir()
} - {"dist", "build"}
NOT_FILES = {
    "assent.toml": "a file of the server's operator",
    "0001_entries.sql": "a file that the reader writes",
    "billing.py": "a file that the reader writes",
    "social.py": "a file that the reader writes",
    "tools/call": "a method of MCP",
    "tools/list": "a method of MCP",
}
"""Words that look like a path of the repository, and what they are."""
AVOIDED = re.compile(
    r"\b(?:anew|whoever|somebody|nobody|the very|by itself|for ever|comes? along|says to have|it stands)\b",
    re.IGNORECASE,
)
DECISION = re.compile(r"docs/decisions/(\d{4})\b")
WORD = re.compile(r"[A-Za-z_]\w+")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
FOR_DEVELOPERS = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs" / "decisions").iterdir()),
]


def section(name: str) -> str:
    """The text between a marker and the next `end`."""
    found = re.search(rf"<!-- {name}.*?-->\n(.*?)<!-- end -->", ARCHITECTURE, re.DOTALL)
    assert found is not None, name
    return found[1]


def exists(name: str, page: Path) -> bool:
    """Whether a page may name this file, module or folder: below the repository, the package or the page itself."""
    return any(
        any(base.glob(each))
        for base in (ROOT, PACKAGE, *SOURCES, page.parent)
        for each in (name, f"{name}.py")
    )


def is_path(text: str) -> bool:
    """Whether a word in backquotes names something in the repository."""
    if text in NOT_FILES:
        return False
    inside = text.partition("/")[0] in FOLDERS and "/" in text and " " not in text
    return inside or FILE.fullmatch(text) is not None


def is_module(name: str) -> bool:
    """Whether a dotted name is a module, or a name in one."""
    package, *parts = name.split(".")
    paths = [PACKAGES[package].joinpath(*parts[:count]) for count in (len(parts), len(parts) - 1)]
    return any(path.is_dir() or path.with_suffix(".py").is_file() for path in paths)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_document_names_files_and_modules_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    spans = SPAN.findall(FENCE.sub("", text))
    missing = [span for span in spans if is_path(span) and not exists(span.rstrip("/"), page)]
    missing += [span for span in spans if MODULE.fullmatch(span) and not is_module(span)]
    missing += [
        number for number in DECISION.findall(text) if not exists(f"docs/decisions/{number}-*.md", page)
    ]
    assert missing == []


def test_pages_for_developers_use_names_that_the_sources_have() -> None:
    sources = [*(ROOT / "models").iterdir(), *ROOT.glob("*.lock"), ROOT / "Makefile", ROOT / "pyproject.toml"]
    for folder in ("packages", "tests", "scripts", "benchmarks", "proof"):
        sources += [file for kind in ("py", "sql", "sh") for file in (ROOT / folder).rglob(f"*.{kind}")]
    known = {file.stem for file in sources} | {name for file in sources for name in file.parts}
    for file in sources:
        known.update(WORD.findall(file.read_text(encoding="utf-8")))
    spans = {
        (page.name, span)
        for page in FOR_DEVELOPERS
        for span in SPAN.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
        if not is_path(span)
    }
    assert {(page, span) for page, span in spans if not known.issuperset(WORD.findall(span))} == set()


def test_the_tree_of_packages_is_the_tree_on_the_disk() -> None:
    named: set[str] = set()
    above: list[str] = []
    for line in section("packages").splitlines():
        found = re.match(r"( *)((?:\S+(?:/|\.py)(?: +|$))+)", line)
        if found is None:
            continue
        depth = len(found[1]) // 2
        for name in found[2].split():
            above = [*above[:depth], name.rstrip("/")]
            named.add("/".join(above))
    assert {name for name in named if not (ROOT / name).exists()} == set()
    top = {path for path in PACKAGE.iterdir() if not path.name.startswith(("_", "py.typed"))}
    parents = [*PACKAGES.values(), *(PACKAGE / name for name in ("engine", "gate", "tools", "workflow"))]
    inside = {
        path
        for parent in parents
        for path in parent.iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert {
        path.relative_to(ROOT).as_posix() for path in top | inside | {*PACKAGES.values()}
    } - named == set()


def test_the_layers_are_those_that_import_linter_checks() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / ".importlinter")
    checked = settings["importlinter:contract:direction"]["layers"].strip().splitlines()
    written = section("layers").strip().strip("`").strip().splitlines()
    assert written == [line.strip() for line in checked]


def test_the_files_to_read_are_nine_and_about_as_long_as_stated() -> None:
    stated = re.search(r"<!-- nine files: (\d+) lines -->", ARCHITECTURE)
    assert stated is not None
    files = re.findall(r"^\d\. `([\w/.]+)`", section("nine files"), re.MULTILINE)
    lines = sum(len((PACKAGE / name).read_text(encoding="utf-8").splitlines()) for name in files)
    assert len(files) == 9
    assert lines == pytest.approx(int(stated[1]), rel=0.1)


def test_documents_use_plain_words() -> None:
    found = {
        page.name: words
        for page in PAGES
        if page.name != "CONTRIBUTING.md"  # its glossary says which words not to use
        and (words := AVOIDED.findall(page.read_text(encoding="utf-8")))
    }
    assert found == {}


README = DOCS.parent / "README.md"


def test_the_function_of_the_page_is_loaded_as_an_effect(tmp_path: Path) -> None:
    code = tmp_path / "billing.py"
    code.write_text(block_of("../README.md", "python"))
    loaded = load_extensions((str(code),))
    assert loaded.failures == () and [each.tool for each in loaded.effects] == ["acme_billing_refund"]


def test_the_page_leads_to_every_page_of_the_documentation() -> None:
    named = set(re.findall(r"\(docs/([\w/-]+\.md)\)", README.read_text()))
    pages = (*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"), *DOCS.glob("reference/*.md"))
    assert named == {path.relative_to(DOCS).as_posix() for path in pages}
