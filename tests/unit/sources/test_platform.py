"""What our extensions use of the server beyond the public API: `assent.platform`, and no more of it than is counted."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import assent

SOURCE = Path(assent.__file__).parent
EXTENSIONS = ("assent_launch", "assent_wrap", "assent_notify")
FOR_TESTS = ("emulator", "testing")
"""Modules for tests and demos, which stand on the testing kit."""
FOR_OTHERS = {
    "assent.platform.declarations.How",
    "assent.platform.declarations.OwnSetting",
    "assent.platform.pages.NavigationEntry",
    "assent.platform.pages.Screen",
    "assent.platform.pages.Visit",
}
"""Names that are there for packages of others."""
MOST_NAMES = 378
"""The aim is 80. Each step that hides a name, or moves what is the extension's own, lowers this number."""


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
            if not module.startswith("assent.platform."):
                continue
            value = getattr(importlib.import_module(module), name)
            if isinstance(value, ModuleType):
                modules[local] = value.__name__
            else:
                found.add(f"{module}.{name}")
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in modules
            ):
                found.add(f"{modules[node.value.id]}.{node.attr}")
    return found


def test_extensions_import_the_public_api_and_the_platform_alone() -> None:
    others = {
        f"{module}.{name}"
        for tree in trees(*EXTENSIONS, leave_out=FOR_TESTS)
        for module, name, _ in imports(tree)
        if not module.startswith((*EXTENSIONS, "assent.platform."))
    }
    assert others <= {f"assent.{name}" for name in assent.__all__} | {
        "assent.client.Client",
        "assent.client.Refused",
    }


def test_the_platform_grows_no_further() -> None:
    assert len(list_used()) <= MOST_NAMES


def test_every_name_of_the_platform_is_used_by_an_extension() -> None:
    used = {
        f"{module}.{name}"
        for tree in trees(*EXTENSIONS, "assent_conform")
        for module, name, _ in imports(tree)
        if module.startswith("assent.platform.")
    }
    offered = {
        f"assent.platform.{path.stem}.{name}"
        for path in (SOURCE / "platform").glob("*.py")
        for module, _, name in imports(ast.parse(path.read_text()))
    }
    assert offered - used <= FOR_OTHERS
