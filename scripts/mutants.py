"""Breaks the rules one at a time and says whether the tests notice.

    .venv/bin/python scripts/mutants.py [--draw 40 | --all] [--seed TEXT] [--package gate|wrap] [--list]

Every comparison, boolean and return inside a function of the chosen modules can be broken: a comparison by its
opposite and by moving its bound, `and` and `or` by the other one and by leaving out an operand, a condition by its
negation, a return by another value. Some of these mutants are drawn, by the id of the commit unless another seed is
given. A mutant is killed if a test fails, and survives if all tests that reach its function pass.

Nothing is written to disk. One process collects the tests and never runs one; each mutant lives in a fork of it, where
the code of one function is replaced, and which runs the tests that reach the function until one fails.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import _lru_cache_wrapper, partial
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "packages"

WORKERS = 2
PATIENCE_SECONDS = 60
"""A mutant that runs longer never ends, which a test would show."""


class Package(NamedTuple):
    """Modules to break, the tests that judge them, and how many mutants are drawn."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    drawn: int

    def list_files(self) -> list[str]:
        """Return the files of the modules. One that was moved must not be left out in silence."""
        found: list[str] = []
        for pattern in self.modules:
            matching = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.glob(pattern))
            if not matching:
                raise LookupError(f"there is no {pattern} in {SOURCES}")
            found += matching
        return found


PACKAGES = {
    "gate": Package(
        (
            "core/src/assent/gate/gate.py",
            "core/src/assent/gate/policy.py",
            "core/src/assent/gate/preflight.py",
            "core/src/assent/gate/rules/matching.py",
            "core/src/assent/gate/seals.py",
            "core/src/assent/gate/transitions.py",
            "core/src/assent/engine/actions/guards.py",
            "core/src/assent/engine/actions/hooks.py",
            "core/src/assent/engine/actions/idempotency.py",
        ),
        (
            "packages/core/tests/unit/gate",
            "packages/core/tests/unit/engine",
            "packages/core/tests/unit/present",
            "--ignore=packages/core/tests/unit/gate/content",
        ),
        40,
    ),
    "wrap": Package(
        ("wrap/src/assent_wrap/*.py",),
        (
            "packages/wrap/tests/unit",
            "packages/wrap/tests/wire",
            "packages/wrap/tests/system/gateway",
            "-m",
            "not slow",
            "-k",
            "not postgres and not http-sqlite",
        ),
        12,
    ),
}

OPPOSITES: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

Place = tuple[str, str]
"""A file, and the qualified name of a function of it that is inside no other function."""


class Mutant(NamedTuple):
    """One change of one expression or statement."""

    file: str
    function: str
    line: int
    node: int
    """Which node of the file, in the order of `ast.walk`."""
    instead: int
    """Which of its variants."""
    before: str
    after: str

    @property
    def place(self) -> Place:
        return self.file, self.function

    def __str__(self) -> str:
        return f"{SOURCES.relative_to(ROOT)}/{self.file}:{self.line}  {self.function}  {self.before}  →  {self.after}"


def negate(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def vary(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand instead of a node."""
    if isinstance(node, ast.Compare):
        for at, found in enumerate(node.ops):
            for other in OPPOSITES[type(found)]:
                ops = [*node.ops[:at], other(), *node.ops[at + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for at in range(len(node.values)):
            kept = [*node.values[:at], *node.values[at + 1 :]]
            yield kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Return):
        yield from vary_return(node)
    elif isinstance(node, ast.If | ast.IfExp | ast.While) and is_plain(node.test):
        changed = copy.copy(node)
        changed.test = negate(node.test)
        yield changed
    elif isinstance(node, ast.comprehension):
        for at, test in enumerate(node.ifs):
            if is_plain(test):
                part = copy.copy(node)
                part.ifs = [*node.ifs[:at], negate(test), *node.ifs[at + 1 :]]
                yield part


def vary_return(node: ast.Return) -> Iterator[ast.stmt]:
    value = node.value
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        yield ast.Pass()
    elif isinstance(value, ast.BoolOp):
        yield ast.Return(negate(value))
    elif is_plain(value):
        yield ast.Return(ast.Constant(None))


def is_plain(test: ast.expr) -> bool:
    """Whether no other variant breaks this condition."""
    if isinstance(test, ast.UnaryOp):
        return not isinstance(test.op, ast.Not)
    if isinstance(test, ast.Constant):
        return not isinstance(test.value, bool)
    return not isinstance(test, ast.Compare | ast.BoolOp)


def list_nodes(tree: ast.Module) -> dict[ast.AST, str]:
    """Return the nodes inside functions, with the name of the outermost function. Defaults, decorators and
    annotations are evaluated once, when the module is loaded, and are left out."""
    found: dict[ast.AST, str] = {}

    def look(body: Sequence[ast.stmt], prefix: str) -> None:
        for each in body:
            if isinstance(each, ast.ClassDef):
                look(each.body, f"{prefix}{each.name}.")
            elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                for statement in each.body:
                    take(statement, f"{prefix}{each.name}")

    def take(node: ast.AST, function: str) -> None:
        found[node] = function
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call):
                continue
            if isinstance(node, ast.keyword) and node.arg == "strict":
                continue  # of zip: what it states holds, or the code is wrong elsewhere
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    take(child, function)

    look(tree.body, "")
    return found


def list_mutants(file: str) -> list[Mutant]:
    """Return every mutant of a file."""
    source = (SOURCES / file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    inside = list_nodes(tree)
    found = []
    for number, node in enumerate(ast.walk(tree)):
        if node not in inside:
            continue
        for instead, other in enumerate(vary(node)):
            line = getattr(node, "lineno", 0) or node.target.lineno  # type: ignore[attr-defined] # a comprehension
            before, after = (describe(each) for each in (node, other))
            found.append(Mutant(file, inside[node], line, number, instead, before, after))
    return found


def describe(node: ast.AST) -> str:
    """Return the changed part in one line."""
    shown: ast.AST = node.test if isinstance(node, ast.If | ast.IfExp | ast.While) else node
    if isinstance(node, ast.comprehension):
        return " ".join(f"if {ast.unparse(test)}" for test in node.ifs)
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(shown))).split())


def break_code(mutant: Mutant) -> CodeType:
    """Return the code of the mutant's function, with its change."""
    path = SOURCES / mutant.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = next(each for number, each in enumerate(ast.walk(tree)) if number == mutant.node)
    other = list(vary(node))[mutant.instead]

    class Replace(ast.NodeTransformer):
        def visit(self, each: ast.AST) -> Any:
            return ast.copy_location(other, each) if each is node else self.generic_visit(each)

    changed = ast.fix_missing_locations(Replace().visit(tree))
    whole = compile(changed, str(path), "exec")
    return next(code for code in walk_code(whole) if code.co_qualname == mutant.function)


def walk_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from walk_code(each)


class Loaded:
    """The functions and caches of this process. They are looked up once, because a fork would have to touch every
    object of the process to find them."""

    def __init__(self, files: frozenset[str]) -> None:
        self._functions: dict[Place, list[FunctionType]] = {}
        self._caches: list[_lru_cache_wrapper[Any]] = []
        for each in gc.get_objects():
            if isinstance(each, _lru_cache_wrapper):
                self._caches.append(each)
            elif isinstance(each, FunctionType):
                place = find_place(each.__code__)
                if place is not None and place[0] in files:
                    self._functions.setdefault(place, []).append(each)

    def change(self, mutant: Mutant) -> None:
        """Give a function its broken code, and forget what any function has computed."""
        broken = break_code(mutant)
        for each in self._functions[mutant.place]:
            if each.__code__.co_qualname == mutant.function:
                each.__code__ = broken
        for cache in self._caches:
            cache.cache_clear()


def find_place(code: CodeType) -> Place | None:
    file = code.co_filename
    if not file.startswith(f"{SOURCES}{os.sep}"):
        return None
    return Path(file).relative_to(SOURCES).as_posix(), code.co_qualname.partition(".<locals>")[0]


class Reached(NamedTuple):
    """What one test reached when nothing was broken."""

    seconds: float
    places: frozenset[Place]
    failure: str


def run_item(item: pytest.Item, following: pytest.Item | None) -> str:
    """Run one test and return what failed; empty if it passed."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, nextitem=following, log=False)
    return next((f"{each.longrepr}" for each in reports if each.failed), "")


def pair(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Yield each test with the one that follows it."""
    return zip_longest(items, items[1:])


def watch(items: Sequence[pytest.Item], files: frozenset[str]) -> list[Reached]:
    """Run tests and note which functions of the files each of them reaches."""
    known: dict[CodeType, Place | None] = {}
    places: set[Place] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code not in known:
            place = find_place(code)
            known[code] = place if place is not None and place[0] in files else None
        if (found := known[code]) is not None:
            places.add(found)

    found = []
    threading.setprofile(note)
    for item, following in pair(items):
        places.clear()
        started = time.perf_counter()
        sys.setprofile(note)
        failure = run_item(item, following)
        sys.setprofile(None)
        found.append(Reached(time.perf_counter() - started, frozenset(places), failure))
    return found


def judge(loaded: Loaded, mutant: Mutant, items: Sequence[pytest.Item]) -> str:
    """Break a function and return the test that notices; empty if none does."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(PATIENCE_SECONDS)
    loaded.change(mutant)
    for item, following in pair(items):
        if run_item(item, following):
            return item.name
    return ""


def fork_each(works: Sequence[Callable[[], Any]]) -> Iterator[tuple[int, Any]]:
    """Run each work in a fork of this process, some at a time. Yields its number with its result, which is None if
    its time was over."""
    waiting = list(enumerate(works))
    running: dict[int, tuple[int, Path]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < WORKERS:
                number, work = waiting.pop(0)
                answer = Path(folder) / str(number)
                sys.stdout.flush()
                if (pid := os.fork()) == 0:
                    quit_with(work, answer)
                running[pid] = number, answer
            pid, status = os.wait()
            number, answer = running.pop(pid)
            if os.waitstatus_to_exitcode(status) not in (0, -signal.SIGALRM):
                raise RuntimeError(f"a fork failed with {status}: {answer.with_suffix('.error').read_text()}")
            yield number, pickle.loads(answer.read_bytes()) if status == 0 else None  # noqa: S301 - our own


def quit_with(work: Callable[[], Any], answer: Path) -> None:
    """Write the result of a work, and end this fork."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    try:
        answer.write_bytes(pickle.dumps(work()))
        os._exit(0)
    except BaseException:
        answer.with_suffix(".error").write_text(traceback.format_exc())
        os._exit(1)


class Judging:
    """A run of pytest that collects the tests and lets mutants face them."""

    def __init__(self, files: frozenset[str], mutants: Sequence[Mutant]) -> None:
        self.files = files
        self.mutants = mutants
        self.verdicts: dict[Mutant, str | None] = {}
        """The test that killed a mutant; empty if it survived; None if it never ended."""

    def pytest_collection(self) -> None:
        """Look for a failure, not for its smallest example, and always in the same order."""
        from hypothesis import Phase, settings  # not before pytest has prepared it

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings(), phases=phases, database=None, derandomize=True)
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("a test module could not be loaded")
        gc.unfreeze()
        for file in self.files:
            import_module(
                file.partition("/src/")[2].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            )
        loaded = Loaded(self.files)
        gc.freeze()  # a collection in a fork would copy every page of this process
        reached = self.watch_all(session.items)
        works = []
        for mutant in self.mutants:
            near = sorted(
                (each.seconds, number) for number, each in enumerate(reached) if mutant.place in each.places
            )
            chosen = [session.items[number] for _, number in near]
            works.append(partial(judge, loaded, mutant, chosen))
        for number, killer in fork_each(works):
            self.verdicts[self.mutants[number]] = killer
        return True

    def watch_all(self, items: Sequence[pytest.Item]) -> list[Reached]:
        """Run all tests once, in as many forks as there are workers."""
        parts = [items[first::WORKERS] for first in range(WORKERS)]
        found: list[Reached | None] = [None] * len(items)
        for number, part in fork_each([partial(watch, part, self.files) for part in parts]):
            if part is None:
                raise RuntimeError("the tests do not run without a mutant")
            found[number::WORKERS] = part
        reached = [each for each in found if each is not None]
        for item, each in zip(items, reached, strict=True):
            if each.failure:
                raise RuntimeError(f"{item.nodeid} fails without a mutant:\n{each.failure}")
        return reached


def read_commit() -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description="Breaks the rules one at a time; do the tests notice?")
    parser.add_argument("--package", choices=PACKAGES, default="gate")
    parser.add_argument("--draw", type=int, help="how many mutants")
    parser.add_argument("--all", action="store_true", help="every mutant instead")
    parser.add_argument("--seed", help="instead of the id of the commit")
    parser.add_argument("--list", action="store_true", help="the mutants alone, without a test")
    parser.add_argument("--module", default="", help="only files with this in their name")
    options = parser.parse_args()
    started = time.perf_counter()
    package = PACKAGES[options.package]
    files = package.list_files()
    known = [mutant for file in files if options.module in file for mutant in list_mutants(file)]
    seed = options.seed or read_commit()
    count = len(known) if options.all else min(options.draw or package.drawn, len(known))
    drawn = known if options.all else random.Random(seed).sample(known, count)  # noqa: S311 - repeatable
    if options.list:
        sys.stdout.write("".join(f"{mutant}\n" for mutant in drawn))
        return 0
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    judging = Judging(frozenset(files), drawn)
    status = pytest.main(["-qq", "-p", "no:xdist", "--no-summary", *package.tests], plugins=[judging])
    if len(judging.verdicts) != len(drawn):
        sys.stdout.write(f"pytest ended with {status}, and not every mutant was judged\n")
        return 2
    survivors = 0
    for mutant in drawn:
        killer = judging.verdicts[mutant]
        survivors += killer == ""
        verdict = "SURVIVED" if killer == "" else "killed"
        by = "" if killer == "" else f"  by {killer or 'its time'}"
        sys.stdout.write(f"{verdict:9} {mutant}{by[:90]}\n")
    sys.stdout.write(
        f"{count - survivors} of {count} killed, {survivors} survived, of {len(known)} mutants in {len(files)} files; "
        f"seed {seed}; {time.perf_counter() - started:.1f} s\n"
    )
    return 1 if survivors * 20 > count else 0


if __name__ == "__main__":
    sys.exit(main())
