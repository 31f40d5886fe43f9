"""What packages use of the server: the public names `assent` and `assent.sdk`, and for ours `assent.platform`, too."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import assent
import assent.sdk

SOURCE = Path(assent.__file__).parent
PAGE = SOURCE.parents[3] / "docs" / "reference" / "extension-api.md"
EXTENSIONS = ("assent_launch", "assent_wrap", "assent_notify")
PURE = ("kernel", "gate", "present", "workflow")
FOR_TESTS = ("emulator", "testing")
"""Modules for tests and demos, which stand on the testing kit."""
MOST_NAMES = 80
"""Of the platform, with what extensions use of its modules."""


def trees(*packages: str, leave_out: tuple[str, ...] = ()) -> Iterator[ast.Module]:
    for package in packages:
        for path in sorted(Path(str(importlib.import_module(package).__file__)).parent.rglob("*.py")):
            if path.stem not in leave_out:
                yield ast.parse(path.read_text())


def imports(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Yield the module, the name and the local name of each import from this package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "assent":
            yield from ((node.module or "", each.name, each.asname or each.name) for each in node.names)


def list_used() -> set[str]:
    """Return the names of the platform that extensions use, with what they use of its modules."""
    found = set()
    for tree in trees(*EXTENSIONS, leave_out=FOR_TESTS):
        modules = {}
        for module, name, local in imports(tree):
            if not module.startswith("assent.platform"):
                continue
            value = getattr(importlib.import_module(module), name)
            if isinstance(value, ModuleType):
                modules[local] = value.__name__
            else:
                found.add(name)
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in modules
            ):
                found.add(f"{modules[node.value.id]}.{node.attr}")
    return found


def list_offered(module: str) -> dict[str, str]:
    """Return the names of a module that imports late, each with its home."""
    homes: dict[str, str] = importlib.import_module(module).HOMES
    pairs = ((home, each.partition("=")) for home, names in homes.items() for each in names.split())
    return {public or inside: f"{home}.{inside}" for home, (inside, _, public) in pairs}


def list_documented(module: str) -> list[str]:
    """Return the names in the tables of a module's section of the page."""
    section = PAGE.read_text().partition(f"## {module}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_extensions_import_the_public_api_and_the_platform_alone() -> None:
    others = {
        f"{module}.{name}"
        for tree in trees(*EXTENSIONS, leave_out=FOR_TESTS)
        for module, name, _ in imports(tree)
        if not module.startswith((*EXTENSIONS, "assent.platform"))
    }
    public = {f"assent.{name}" for name in assent.__all__}
    public |= {f"assent.sdk.{name}" for name in list_offered("assent.sdk")}
    assert others <= public | {"assent.client.Client", "assent.client.Refused"}


def test_pure_packages_use_names_of_pure_packages_alone() -> None:
    homes = {"assent.sdk": list_offered("assent.sdk"), "assent.platform": list_offered("assent.platform")}
    used = {
        homes[module][name]
        for tree in trees("assent_launch.content")
        for module, name, _ in imports(tree)
        if module in homes
    }
    assert [each for each in sorted(used) if each.split(".")[1] not in PURE] == []


@pytest.mark.parametrize("module", ["assent.sdk", "assent.platform"])
def test_every_name_is_documented_once_typed_and_found(module: str) -> None:
    offered = list_offered(module)
    assert sorted(list_documented(module)) == sorted(offered)
    loaded = importlib.import_module(module)
    typed = {
        local.removeprefix("_"): f"{home}.{inside}"
        for home, inside, local in imports(ast.parse(Path(str(loaded.__file__)).read_text()))
        if (home, inside) != ("assent", "import_late")
    }
    assert typed == offered
    for name in offered:
        assert getattr(loaded, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        assert loaded.no_such_name


def test_the_platform_has_at_most_eighty_names_and_each_is_used() -> None:
    offered = list_offered("assent.platform").keys()
    assert list_used() == set(offered)
    assert len(offered) <= MOST_NAMES
