"""Prints the figures of the code base: sizes, packages, names, cycles, rules in their homes.

    scripts/figures.py [--list] [--limits] [--root DIRECTORY]

--list names what a figure counts, below the table. --limits exits with 1 when a figure is beyond its limit; sizes
have none, because a module is a concept and not a number of lines. The figures depend on the sources alone; comments
and blank lines count as lines.

lines, PART             the distribution, by its folder
rules at home           rules of contracts/rules.toml that a docstring of their home module names
participle functions    top-level functions whose name begins with a past participle
repeated class names    names that more than one class of the package has
cycles                  groups of modules that import each other when they are loaded; lazy: also inside functions
cut strings             short pieces of prose alone on a line, continued by the literal on the next line
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median

ROOT = Path(__file__).resolve().parent.parent
IRREGULAR = re.compile(
    "bound|broken|brought|built|caught|chosen|done|drawn|found|given|grown|held|hidden|kept|known|laid|led|left|lost|"
    "made|met|paid|proven|rewritten|said|seen|sent|shown|spoken|taken|taught|thrown|told|undone|unread|unsent|"
    "unwritten|withdrawn|written"
)
"""Past participles that do not end in -ed. Those that are also the verb (read, put, set) are allowed."""
REGULAR = re.compile("(?!(?:deed|embed|exceed|feed|heed|need|proceed|seed|shed|speed|succeed)$)[a-z]{2,}ed")

MANY_PARAMETERS = 10
SHORT_PIECE = 30


@dataclass(frozen=True)
class Module:
    """One source file, parsed."""

    name: str
    part: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def folder(self) -> str:
        """The package that holds it."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


@dataclass(frozen=True)
class Figure:
    """One row of the table."""

    name: str
    value: float
    limit: float | None = None
    at_least: bool = False
    """The limit is the smallest value allowed, not the largest."""
    found: list[str] = field(default_factory=list)

    @property
    def exceeded(self) -> bool:
        if self.limit is None:
            return False
        return self.value < self.limit if self.at_least else self.value > self.limit

    def write(self) -> str:
        """The row as text."""
        limit = "" if self.limit is None else f"{'≥' if self.at_least else '≤'} {_number(self.limit)}"
        return f"{self.name:<34}{_number(self.value):>10}  {limit:<10}{'beyond' if self.exceeded else ''}".rstrip()


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def load_modules(root: Path) -> list[Module]:
    """Every module of every distribution, by name."""
    modules = []
    for source in sorted(root.glob("packages/*/src")):
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text(encoding="utf-8")
            modules.append(Module(name, source.parent.name, path, text, ast.parse(text)))
    return sorted(modules, key=lambda module: module.name)


def docstring_nodes(tree: ast.AST) -> Iterator[ast.Constant]:
    """String statements: docstrings of modules, classes and functions, and those below fields and constants."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value


def count_docstring_lines(module: Module) -> int:
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in docstring_nodes(module.tree))


def count_import_lines(module: Module) -> int:
    kinds = ast.Import | ast.ImportFrom
    found = [node for node in ast.walk(module.tree) if isinstance(node, kinds)]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in found)


def measure_functions(module: Module) -> list[int]:
    """The lines of each function, methods and inner ones too."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    found = [node for node in ast.walk(module.tree) if isinstance(node, kinds)]
    return [(node.end_lineno or node.lineno) - node.lineno + 1 for node in found]


def is_participle(name: str) -> bool:
    """Whether a function's name begins with a past participle."""
    word = name.strip("_").split("_")[0]
    return any(pattern.fullmatch(word) for pattern in (IRREGULAR, REGULAR))


def top_level_functions(module: Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in module.tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def find_participles(modules: list[Module]) -> list[str]:
    return [
        f"{module.name}.{function.name}"
        for module in modules
        for function in top_level_functions(module)
        if is_participle(function.name)
    ]


def find_repeated_classes(modules: list[Module]) -> list[str]:
    """Class names with several definitions, each with the modules that hold them."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module.name)
    return [f"{name}: {', '.join(found)}" for name, found in sorted(homes.items()) if len(found) > 1]


def find_many_parameters(modules: list[Module]) -> list[str]:
    found = []
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                count = len([one for one in every if one.arg not in ("self", "cls")])
                if count > MANY_PARAMETERS:
                    found.append(f"{module.name}:{node.lineno} {node.name} {count}")
    return found


def find_rules_away(modules: list[Module], root: Path) -> tuple[int, list[str]]:
    """How many rules there are, and those that no docstring of their home names."""
    rules = tomllib.loads((root / "contracts" / "rules.toml").read_text(encoding="utf-8"))["rule"]
    named: dict[str, set[str]] = {}
    for module in modules:
        text = "\n".join(str(node.value) for node in docstring_nodes(module.tree))
        named[module.name] = set(re.findall(r"\b[EW]\d+\b", text))
    away = []
    for rule in rules:
        if rule["id"] not in named.get(rule["home"], ()):
            away.append(f"{rule['id']} {rule['home']}")
    return len(rules), away


def imports_of(module: Module, names: set[str]) -> tuple[set[str], set[str]]:
    """The modules of ours that one imports when it is loaded, and those it imports inside functions."""
    at_load: set[str] = set()
    lazy: set[str] = set()

    def note(node: ast.AST, into: set[str]) -> None:
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        for full in found:
            target = full if full in names else full.rpartition(".")[0]
            if target in names and target != module.name:
                into.add(target)

    def walk(node: ast.AST, into: set[str]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            note(child, into)
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            walk(child, lazy if inside else into)

    walk(module.tree, at_load)
    return at_load, lazy


def find_cycles(edges: Mapping[str, set[str]]) -> list[str]:
    """Groups of modules that reach each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[str] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(edges.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                found.append(" ".join(sorted(group)))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found)


def find_cut_strings(module: Module) -> list[str]:
    """Short pieces of prose that are alone on a line and continued by the literal on the next."""
    skip = (tokenize.NL, tokenize.COMMENT)
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline)
        if token.type not in skip
    ]
    found = []
    for before, (piece, after) in zip([None, *tokens], pairwise(tokens), strict=False):
        if piece.type != tokenize.STRING or after.type != tokenize.STRING:
            continue
        alone = after.start[0] > piece.end[0] and (before is None or before.end[0] < piece.start[0])
        prose = piece.string[0] not in "rRbB" and not piece.string.endswith('\\n"')
        if alone and prose and len(piece.string) - 2 < SHORT_PIECE:
            found.append(f"{module.name}:{piece.start[0]} {piece.string}")
    return found


def measure(root: Path) -> list[Figure]:
    """Every figure, in the order of the table."""
    modules = load_modules(root)
    names = {module.name for module in modules}
    folders = Counter(module.folder for module in modules if module.path.name != "__init__.py")
    parts: Counter[str] = Counter()
    for module in modules:
        parts[module.part] += len(module.lines)
    whole = parts.total()
    lengths = [len(line) for module in modules for line in module.lines if line.strip()]
    docstrings = sum(count_docstring_lines(module) for module in modules)
    away_of, away = find_rules_away(modules, root)
    participles = find_participles(modules)
    repeated = find_repeated_classes(modules)
    parameters = find_many_parameters(modules)
    imports = {module.name: imports_of(module, names) for module in modules}
    cycles = find_cycles({name: at_load for name, (at_load, _) in imports.items()})
    lazy = find_cycles({name: at_load | later for name, (at_load, later) in imports.items()})
    cut = [found for module in modules for found in find_cut_strings(module)]
    functions = sum(len(top_level_functions(module)) for module in modules)
    imported = sum(map(count_import_lines, modules))
    comments = sum(line.lstrip().startswith("#") for module in modules for line in module.lines)
    sizes = [size for module in modules for size in measure_functions(module)]
    importers = Counter(target for at_load, later in imports.values() for target in at_load | later)
    alone = sorted(module.name for module in modules if importers[module.name] == 1)
    packages = [f"{count:>3} {name}" for name, count in sorted(folders.items())]
    return [
        Figure("modules", len(modules)),
        *(Figure(f"lines, {part}", lines) for part, lines in parts.most_common()),
        Figure("lines, whole", whole),
        Figure("import lines, %", round(100 * imported / whole, 2)),
        Figure("mean length of a line", round(fmean(lengths), 2)),
        Figure("docstring lines, %", round(100 * docstrings / whole, 2)),
        Figure("comment lines, %", round(100 * comments / whole, 2)),
        Figure("modules with one importer", len(alone), found=alone),
        Figure("packages", len(packages), found=packages),
        Figure("rules", away_of),
        Figure("rules at home", away_of - len(away), away_of, at_least=True, found=away),
        Figure("top-level functions", functions),
        Figure("median function, lines", int(median(sizes))),
        Figure("longest function, lines", max(sizes)),
        Figure("participle functions", len(participles), 19, found=participles),
        Figure("repeated class names", len(repeated), 4, found=repeated),
        Figure("functions over 10 parameters", len(parameters), 0, found=parameters),
        Figure("import cycles when loaded", len(cycles), 0, found=cycles),
        Figure("import cycles with lazy ones", len(lazy), 0, found=lazy),
        Figure("cut strings", len(cut), 0, found=cut),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Prints the figures of the code base.")
    parser.add_argument("--list", action="store_true", help="name what the figures count")
    parser.add_argument("--limits", action="store_true", help="exit with 1 when a figure is beyond its limit")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    options = parser.parse_args()
    figures = measure(options.root)
    for figure in figures:
        sys.stdout.write(figure.write() + "\n")
    if options.list:
        for figure in figures:
            if figure.found:
                sys.stdout.write(f"\n{figure.name}\n" + "".join(f"  {one}\n" for one in figure.found))
    return 1 if options.limits and any(figure.exceeded for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
