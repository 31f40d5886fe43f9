"""Ties `contracts/rules.toml` to the tests: loads it, finds who claims to prove what, and reports.

Two views that keep each other honest. `scan` reads sources and says which tests *claim* a rule, whatever
was selected; `RuleLedger`, a pytest plugin, says which rules a full run really *proved*: at least one test
carrying the id passed, and none carrying it failed. Checks of `assent_conform.checks` claim their rules with
`@check("E25")`; the test that runs them hands the same ids to pytest as marks.

Deliberately unaware of what any rule means.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import msgspec
import pytest

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

ROOT = Path(__file__).resolve().parents[2]
RULE_ID = re.compile(r"[EW][1-9][0-9]*")
WHOLE = "rule ledger: nothing was left out"
MARKER = "rule(id, ...): the contract rules that this test proves, by their ids in contracts/rules.toml"

Text = Annotated[str, msgspec.Meta(min_length=1)]
Level = Literal["M", "N", "S", "D", "M agent", "N agent", "S agent", "asked"]


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, msgspec.Meta(pattern=f"^{RULE_ID.pattern}$")]
    level: Level
    source: Annotated[str, msgspec.Meta(pattern=r"^S[0-4]\b")]
    sentence: Annotated[str, msgspec.Meta(pattern=r"^\S.*\.$")]
    home: Annotated[str, msgspec.Meta(pattern=r"^assent(_[a-z]+)?(\.[a-z][a-z0-9_]*)+$")]
    reading: tuple[Text, ...] = ()
    deviation: Text | None = None
    why: Text | None = None

    def __post_init__(self) -> None:
        if (self.deviation is None) != (self.why is None):
            raise ValueError(f"{self.id}: a deviation and its why come together")


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sources: dict[str, Text]
    rule: tuple[Rule, ...]

    def __post_init__(self) -> None:
        ids = [rule.id for rule in self.rule]
        if twice := sorted({i for i in ids if ids.count(i) > 1}):
            raise ValueError(f"listed twice: {' '.join(twice)}")
        for rule in self.rule:
            if unknown := sorted(set(re.findall(r"\bS\d\b", rule.source)) - set(self.sources)):
                raise ValueError(f"{rule.id}: no such source: {' '.join(unknown)}")

    @property
    def by_id(self) -> dict[str, Rule]:
        return {rule.id: rule for rule in self.rule}


def parse_manifest(text: str) -> Manifest:
    return msgspec.convert(tomllib.loads(text), Manifest)


def load_manifest(root: Path = ROOT) -> Manifest:
    return parse_manifest((root / "contracts" / "rules.toml").read_text(encoding="utf-8"))


class Claim(NamedTuple):
    """One place in the sources that says it proves a rule."""

    rule_id: str
    where: str


def claims_in(source: str, name: str) -> Iterator[Claim]:
    """Every id in a `mark.rule("E25")`, wherever it stands, and in a `@check("E25")` decorator.

    Anywhere is right for marks: on a function, a class, in `pytestmark`, in `pytest.param`.
    """
    for node in ast.walk(ast.parse(source, filename=name)):
        if isinstance(node, ast.Call) and _is_rule_mark(node.func):
            yield from _ids(node, name, every_string=True)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and _last_name(decorator.func) == "check":
                    yield from _ids(decorator, name, every_string=False)


def _is_rule_mark(func: ast.expr) -> bool:
    return isinstance(func, ast.Attribute) and func.attr == "rule" and _last_name(func.value) == "mark"


def _last_name(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


def _ids(call: ast.Call, name: str, *, every_string: bool) -> Iterator[Claim]:
    # A check's decorator may carry a title beside its ids, so there only what looks like an id is one.
    # Ids that are not literals are seen at collection instead, by the ledger.
    for arg in call.args:
        match arg:
            case ast.Constant(value=str(text)) if every_string or RULE_ID.fullmatch(text):
                yield Claim(text, f"{name}:{call.lineno}")


def find_test_folders(root: Path) -> list[Path]:
    """Return the folder of the whole product's tests and those of the packages."""
    return [root / "tests", *root.glob("packages/*/tests")]


def scan(root: Path = ROOT) -> tuple[Claim, ...]:
    files = [
        *(file for folder in find_test_folders(root) for file in folder.rglob("*.py")),
        *(root / "packages" / "conform" / "src" / "assent_conform" / "checks").rglob("*.py"),
    ]
    return tuple(
        claim
        for file in sorted(files)
        for source in [file.read_text(encoding="utf-8")]
        if ".rule(" in source or "check(" in source  # parsing the others takes seconds
        for claim in claims_in(source, file.relative_to(root).as_posix())
    )


def named_in(source: str) -> set[str]:
    """The rules that a module names in a docstring: its own, or that of a class or function in it."""
    return {
        rule_id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for rule_id in re.findall(rf"\b{RULE_ID.pattern}\b", ast.get_docstring(node) or "")
    }


def homeless(manifest: Manifest, root: Path = ROOT) -> list[str]:
    """The rules whose home is no module of the package or does not name them; empty when the map is true."""
    named = {
        home: named_in(file.read_text(encoding="utf-8")) if file is not None else None
        for home in {rule.home for rule in manifest.rule}
        for file in [_file_of(home, root)]
    }
    return [
        f"{rule.id} is not named in {rule.home}" if ids is not None else f"{rule.id}: no module {rule.home}"
        for rule in manifest.rule
        if rule.id not in ((ids := named[rule.home]) or ())
    ]


def _file_of(module: str, root: Path) -> Path | None:
    paths = [source.joinpath(*module.split(".")) for source in root.glob("packages/*/src")]
    files = (file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py"))
    return next((file for file in files if file.is_file()), None)


def disagreements(manifest: Manifest, claims: Iterable[Claim]) -> list[str]:
    """What is wrong between the manifest and those who claim to prove it; empty when they agree."""
    claimed: dict[str, list[str]] = {}
    for claim in claims:
        claimed.setdefault(claim.rule_id, []).append(claim.where)
    unknown = [
        f"{rule_id} is no rule of the manifest, but claimed at {', '.join(places)}"
        for rule_id, places in claimed.items()
        if rule_id not in manifest.by_id
    ]
    return unknown + [
        f"{rule.id} has no test that carries it" for rule in manifest.rule if rule.id not in claimed
    ]


class Tally(NamedTuple):
    """What one full run says about every rule."""

    proven: tuple[str, ...]
    unproven: tuple[str, ...]


def tally(manifest: Manifest, passed: set[str], failed: set[str]) -> Tally:
    held = passed - failed
    return Tally(
        proven=tuple(rule.id for rule in manifest.rule if rule.id in held),
        unproven=tuple(rule.id for rule in manifest.rule if rule.id not in held),
    )


def summary_lines(result: Tally) -> list[str]:
    head = f"rules: {len(result.proven)} proven"
    if not result.unproven:
        return [head]
    missing = _listing("not proven in this run", result.unproven)
    return [f"{head}, {len(result.unproven)} not proven", *missing]


def _listing(title: str, ids: Sequence[str]) -> list[str]:
    text = f"{title} ({len(ids)}): {' '.join(ids)}"
    return textwrap.wrap(text, width=100, initial_indent="  ", subsequent_indent="    ")


class RuleLedger:
    """The pytest plugin: keeps what each rule's tests did, and speaks only after a full run.

    With workers, each of them has a ledger that sees what is collected; the one of the distributing process sees every
    result and asks the others whether they left something out.
    """

    def __init__(self, config: pytest.Config, manifest: Manifest) -> None:
        self.manifest = manifest
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.whole = selects_everything(config)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        # While a file is collected, because only errors of that kind reach the terminal from a worker.
        self._known_rules(metafunc.definition)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            item.user_properties += [("rule", rule_id) for rule_id in self._known_rules(item)]

    def _known_rules(self, item: pytest.Item) -> list[str]:
        """The rules that a test carries. Raises UsageError for one that the manifest does not have."""
        carried = sorted({rule_id for mark in item.iter_markers("rule") for rule_id in mark.args})
        if unknown := [rule_id for rule_id in carried if rule_id not in self.manifest.by_id]:
            raise pytest.UsageError(f"{item.nodeid} carries {' '.join(unknown)}, no rule of the manifest")
        return carried

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.whole = self.whole and not items

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.whole = self.whole and not report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        ids = {str(value) for key, value in report.user_properties if key == "rule"}
        if report.failed:
            self.failed |= ids
        elif report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self.passed |= ids

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.whole = self.whole and not (session.shouldstop or session.shouldfail)
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[WHOLE] = self.whole

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        """Only a worker knows what it left out; one that died says nothing."""
        self.whole = self.whole and bool(getattr(node, "workeroutput", {}).get(WHOLE))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        if self.whole and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            terminalreporter.section("contract rules")
            for line in summary_lines(tally(self.manifest, self.passed, self.failed)):
                terminalreporter.write_line(line)


# Options by which a caller leaves something out without pytest_deselected being told.
NARROWING = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "collectonly")


def selects_everything(config: pytest.Config) -> bool:
    if any(config.getoption(name, None) for name in NARROWING):
        return False
    named = [(config.invocation_params.dir / arg).resolve() for arg in config.args]
    return all(
        any(folder.is_relative_to(path) for path in named) for folder in find_test_folders(config.rootpath)
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    config.pluginmanager.register(RuleLedger(config, load_manifest(config.rootpath)), "rule-ledger")
