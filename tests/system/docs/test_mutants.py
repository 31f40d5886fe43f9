"""The script that breaks the rules: it finds its modules, and what it lists are changes that can be made."""

from __future__ import annotations

from types import ModuleType

import pytest
from tests.support.docs.script import load_script


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("mutants")


@pytest.mark.parametrize("package", ["gate", "wrap"])
def test_every_module_that_is_to_be_broken_has_mutants_that_differ_from_it(
    package: str, script: ModuleType
) -> None:
    for file in script.PACKAGES[package].list_files():
        for mutant in script.list_mutants(file):
            assert mutant.before != mutant.after, mutant
            assert mutant.line > 0


def test_a_mutant_is_the_code_of_its_function_with_a_change(script: ModuleType) -> None:
    path = script.SOURCES / "core/src/assent/gate/seals.py"
    whole = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    known = {code.co_qualname: code for code in script.walk_code(whole)}

    for mutant in script.list_mutants("core/src/assent/gate/seals.py"):
        broken = script.break_code(mutant)
        assert broken.co_qualname == mutant.function
        assert broken != known[mutant.function], mutant


def test_a_module_that_was_moved_is_missed(script: ModuleType) -> None:
    with pytest.raises(LookupError):
        script.Package(("core/src/assent/gone.py",), (), 1).list_files()
