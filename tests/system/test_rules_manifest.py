"""The manifest is complete, agrees with the tests both ways, and its report can be believed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.support.rules_manifest import (
    ROOT,
    Claim,
    Manifest,
    claims_in,
    disagreements,
    homeless,
    load_manifest,
    named_in,
    parse_manifest,
    scan,
    summary_lines,
    tally,
)

EXECUTION = tuple(f"E{n}" for n in range(1, 103))
# The numbers the workflow contract lists; the gaps are its own.
WORKFLOW = tuple(
    f"W{n}"
    for n in (
        *(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
        *(11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21),
        *(24, 25, 26, 27, 28),
        *(30, 31, 32, 33, 34, 35, 36, 38, 39, 40),
        *(41, 42, 43, 44, 46),
        *(47, 48, 49, 50, 51, 52, 53, 54),
        *(55, 56, 57, 59),
        *(60, 61, 62, 63),
        *(66, 67, 68, 71, 72),
        *(74, 75, 76),
    )
)
CONFLICTS = tuple(f"C{n}" for n in range(1, 34))

MANIFEST = load_manifest()


def test_every_rule_of_both_contracts_is_listed_once_and_in_order() -> None:
    assert tuple(rule.id for rule in MANIFEST.rule) == EXECUTION + WORKFLOW


def test_every_conflict_between_the_sources_has_its_reading() -> None:
    readings = [text for rule in MANIFEST.rule for text in rule.reading]
    assert set(CONFLICTS) == {match[1] for text in readings if (match := re.match(r"(C\d+): ", text))}


def test_no_two_rules_say_the_same_sentence() -> None:
    sentences = [rule.sentence for rule in MANIFEST.rule]
    assert len(set(sentences)) == len(sentences)


def test_rules_and_tests_agree() -> None:
    assert disagreements(MANIFEST, scan()) == []


def test_every_rule_is_named_in_the_docstring_of_its_home() -> None:
    assert homeless(MANIFEST) == []


@pytest.mark.parametrize(
    ("source", "named"),
    [
        pytest.param('"""Prepares (E11, E12)."""', {"E11", "E12"}, id="of the module"),
        pytest.param('class Gate:\n    """Judges (E5)."""', {"E5"}, id="of a class"),
        pytest.param(
            'class Gate:\n    async def open(self):\n        """Opens (W40)."""', {"W40"}, id="of a method"
        ),
        pytest.param('"""Keeps E1–E4."""', {"E1", "E4"}, id="a range names its ends alone"),
        pytest.param('# E5\nrule = "E6"', set(), id="neither a comment nor a text"),
    ],
)
def test_a_rule_is_named_by_its_id_in_a_docstring(source: str, named: set[str]) -> None:
    assert named_in(source) == named


def test_a_home_that_is_no_module_is_told(tmp_path: Path) -> None:
    manifest = parse_manifest(HEAD + entry("E1"))
    assert homeless(manifest, tmp_path) == ["E1: no module assent.kernel.ids"]


# ── the shape ────────────────────────────────────────────────────────────────────────────────────

HEAD = """
[sources]
S0 = "one"
"""


def entry(rule_id: str, extra: str = "") -> str:
    return f"""
[[rule]]
id = "{rule_id}"
level = "M"
source = "S0 §1"
sentence = "{rule_id} holds."
home = "assent.kernel.ids"
{extra}
"""


def small() -> Manifest:
    return parse_manifest(HEAD + entry("E1") + entry("E2"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD + entry("E1") + entry("E1"), id="an id twice"),
        pytest.param(HEAD + entry("X1"), id="an id of no contract"),
        pytest.param(HEAD + entry("E01"), id="an id with a leading zero"),
        pytest.param(HEAD + entry("E1", 'deviation = "other"'), id="a deviation without why"),
        pytest.param(HEAD + entry("E1", 'why = "so"'), id="a why without deviation"),
        pytest.param(HEAD + entry("E1", 'status = "done"'), id="an unknown field"),
        pytest.param(HEAD + entry("E1").replace('"M"', '"maybe"'), id="an unknown level"),
        pytest.param(HEAD + entry("E1").replace("S0 §1", "S3"), id="an undeclared source"),
        pytest.param(HEAD + entry("E1").replace(" holds.", " holds"), id="a sentence without its end"),
        pytest.param(HEAD + entry("E1").replace("assent.kernel", "kernel"), id="a home elsewhere"),
        pytest.param(HEAD + '[[rule]]\nid = "E1"\n', id="missing fields"),
    ],
)
def test_a_manifest_of_the_wrong_shape_is_refused(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        parse_manifest(text)


# ── who claims what ──────────────────────────────────────────────────────────────────────────────


def test_marks_are_found_on_functions_classes_modules_and_parameters() -> None:
    source = """
import pytest
from pytest import mark
pytestmark = [pytest.mark.rule("E1"), pytest.mark.slow]

@pytest.mark.rule("E2", "E3")
class TestGate:
    @mark.rule("E4")
    async def test_it(self): ...

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.rule("E5"))])
def test_other(x): ...

text = 'mark.rule("E9")'
"""
    assert sorted(claim.rule_id for claim in claims_in(source, "t.py")) == ["E1", "E2", "E3", "E4", "E5"]


def test_a_claim_says_where_it_stands() -> None:
    source = '\n@mark.rule("E2")\ndef test_it(): ...\n'
    assert list(claims_in(source, "tests/t.py")) == [Claim("E2", "tests/t.py:2")]


def test_conformance_checks_claim_the_ids_of_their_decorator_and_not_its_title() -> None:
    source = """
@check("E25", "E63", "executing early is refused")
async def early(server): ...

check("E26")
"""
    assert [claim.rule_id for claim in claims_in(source, "c.py")] == ["E25", "E63"]


def test_scan_reads_the_tests_and_the_conformance_checks(tmp_path: Path) -> None:
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    (tmp_path / "packages" / "conform" / "src" / "assent_conform" / "checks").mkdir(parents=True)
    (tmp_path / "tests" / "deep" / "test_a.py").write_text('@mark.rule("E1")\ndef test_a(): ...\n')
    (tmp_path / "packages" / "conform" / "src" / "assent_conform" / "checks" / "gate.py").write_text(
        '@check("E2")\ndef b(): ...\n'
    )
    assert scan(tmp_path) == (
        Claim("E2", "packages/conform/src/assent_conform/checks/gate.py:1"),
        Claim("E1", "tests/deep/test_a.py:1"),
    )


def test_agreement_is_silent() -> None:
    assert disagreements(small(), [Claim("E1", "a:1"), Claim("E2", "a:2")]) == []


@pytest.mark.parametrize(
    ("claimed", "names"),
    [
        pytest.param(["E2"], "E1", id="a rule has no test"),
        pytest.param(["E1", "E2", "E9"], "E9", id="a test carries an unknown id"),
    ],
)
def test_each_disagreement_is_named(claimed: list[str], names: str) -> None:
    found = disagreements(small(), [Claim(i, "a:1") for i in claimed])
    assert [text.split()[0] for text in found] == [names]


# ── what a run proved ────────────────────────────────────────────────────────────────────────────


def test_one_failure_outweighs_any_number_of_passes() -> None:
    assert tally(small(), passed={"E1"}, failed=set()) == (("E1",), ("E2",))
    assert tally(small(), passed={"E1"}, failed={"E1"}) == ((), ("E1", "E2"))


def test_the_summary_names_what_is_not_proven() -> None:
    assert summary_lines(tally(small(), passed={"E1", "E2"}, failed=set())) == ["rules: 2 proven"]
    assert summary_lines(tally(small(), passed={"E2"}, failed={"E1"})) == [
        "rules: 1 proven, 1 not proven",
        "  not proven in this run (1): E1",
    ]


# ── the plugin in a real run ─────────────────────────────────────────────────────────────────────


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "contracts").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\naddopts = --strict-markers\n")
    (tmp_path / "contracts" / "rules.toml").write_text(HEAD + "".join(entry(f"E{n}") for n in range(1, 8)))
    (tmp_path / "tests" / "test_some.py").write_text(
        """
import pytest

@pytest.mark.rule("E1")
@pytest.mark.parametrize("n", [1, 2])
def test_passes(n): ...

@pytest.mark.rule("E2")
@pytest.mark.parametrize("n", [1, 2])
def test_fails_once(n):
    assert n == 1

@pytest.mark.rule("E3")
def test_is_skipped():
    pytest.skip("no")

@pytest.mark.rule("E4")
@pytest.mark.xfail
def test_is_expected_to_fail():
    assert False

@pytest.fixture
def broken():
    yield
    raise RuntimeError

@pytest.mark.rule("E5")
def test_passes_and_breaks_in_teardown(broken): ...

@pytest.mark.rule("E6")
class TestAll:
    ids = ["E7"]
    @pytest.mark.rule(*ids)
    def test_passes(self): ...
"""
    )
    return tmp_path


def run(project: Path, *args: str) -> str:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.support.rules_manifest",
        "-p",
        "no:cacheprovider",
        *args,
    ]
    # The plugin is found beside this file; the project under test has a tests folder of its own.
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONSAFEPATH": "1",
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


WORKERS = {"one process": (), "two workers": ("-p", "xdist", "-n", "2")}
by_workers = pytest.mark.parametrize("workers", WORKERS.values(), ids=WORKERS)


@pytest.mark.slow
@by_workers
def test_a_full_run_counts_only_rules_whose_tests_passed_and_never_failed(
    project: Path, workers: tuple[str, ...]
) -> None:
    output = run(project, *workers)
    assert "rules: 3 proven, 4 not proven" in output
    assert "not proven in this run (4): E2 E3 E4 E5" in output


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["tests", "."])
def test_naming_the_whole_folder_is_a_full_run(project: Path, folder: str) -> None:
    assert "rules: 3 proven" in run(project, folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "narrowing",
    [
        ["-k", "passes"],
        ["-m", "rule"],
        ["-x"],
        ["--collect-only"],
        ["tests/test_some.py"],
        ["--deselect", "tests/test_some.py::test_passes"],
        ["--ignore", "tests/other"],
        [*WORKERS["two workers"], "-k", "passes"],
    ],
    ids=" ".join,
)
def test_a_narrowed_run_says_nothing_about_rules(project: Path, narrowing: list[str]) -> None:
    output = run(project, *narrowing)
    assert "test" in output
    assert "rules:" not in output


LEFT_OUT = {
    "a test that a plugin leaves out": (
        "conftest.py",
        "def pytest_collection_modifyitems(config, items):\n"
        "    config.hook.pytest_deselected(items=[items.pop()])\n",
    ),
    "a file that cannot be collected": ("test_broken.py", "import no_such_module_here\n"),
    "a worker that dies": ("test_dying.py", "import os\n\ndef test_dies():\n    os._exit(1)\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_was_left_out_keeps_the_summary_silent(project: Path, name: str, text: str) -> None:
    (project / "tests" / name).write_text(text)
    output = run(project, *WORKERS["two workers"], "--continue-on-collection-errors")
    assert "test" in output
    assert "rules:" not in output


@pytest.mark.slow
@by_workers
def test_an_unknown_id_fails_the_run_and_names_the_test(project: Path, workers: tuple[str, ...]) -> None:
    (project / "tests" / "test_typo.py").write_text(
        'import pytest\n\n@pytest.mark.rule("E99")\ndef test_it(): ...\n'
    )
    output = run(project, *workers)
    assert "test_typo.py::test_it carries E99, no rule of the manifest" in output
    assert " error" in output
    assert "rules:" not in output
