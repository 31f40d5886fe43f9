"""A release has one version, its tag and its changelog agree with it, and its files are whole."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from assent import __version__

ROOT = Path(__file__).parents[3]


def test_every_distribution_has_the_version_of_the_core_and_needs_the_others_in_it() -> None:
    core = tomllib.loads((ROOT / "packages/core/pyproject.toml").read_text())
    assert core["project"]["dynamic"] == ["version"] and "version" not in core["project"]
    assert core["tool"]["hatch"]["version"]["path"] == "src/assent/__init__.py"
    for path in {ROOT / "pyproject.toml", *ROOT.glob("packages/*/pyproject.toml")} - {
        ROOT / "packages/core/pyproject.toml"
    }:
        project = tomllib.loads(path.read_text())["project"]
        needed = [*project["dependencies"], *chain(*project.get("optional-dependencies", {}).values())]
        ours = [each for each in needed if each.startswith("assent-")]
        assert ours and all(each.endswith(f"=={__version__}") for each in ours), path
        assert project["version"] == __version__, path
    server = json.loads((ROOT / "server.json").read_text())
    assert {server["version"], *(each["version"] for each in server.get("packages", ()))} == {__version__}


def make_repository(
    root: Path,
    *,
    version: str = "1.2.0",
    named: str = "1.2.0",
    gate: str = "1.2.0",
    core: str = "1.2.0",
    changes: str = "",
) -> Path:
    (root / "packages/core/src/assent").mkdir(parents=True)
    (root / "packages/core/src/assent/__init__.py").write_text(f'__version__ = "{version}"\n')
    (root / "pyproject.toml").write_text(
        f'[project]\nversion = "{gate}"\ndependencies = ["httpx>=1", "assent-core=={core}"]\n'
    )
    (root / "server.json").write_text(json.dumps({"version": named, "packages": [{"version": named}]}))
    (root / "CHANGELOG.md").write_text(f"# Changelog\n\n{changes}\n\n## 1.1.0 - 2026-10-01\n\n- Earlier.\n")
    return root


RELEASED = "## 1.2.0 - 2026-11-17\n\n- **It erases.**"


@pytest.mark.parametrize(
    ("tag", "given", "problem"),
    [
        ("v1.2.0", {"changes": RELEASED}, ""),
        ("v1.2.1", {"changes": RELEASED}, "The tag is v1.2.1"),
        ("1.2.0", {"changes": RELEASED}, "The tag is 1.2.0"),
        ("v1.2.0", {"changes": RELEASED, "named": "1.1.0"}, "server.json names 1.1.0"),
        ("v1.2.0", {"changes": RELEASED, "gate": "1.1.0"}, "pyproject.toml names 1.1.0"),
        ("v1.2.0", {"changes": RELEASED, "core": "1.1.0"}, "pyproject.toml names 1.1.0"),
        ("v1.2.0", {}, "no section for 1.2.0"),
        ("v1.2.0", {"changes": "## 1.2.0 - 2026-11-17"}, "no section for 1.2.0"),
        ("v1.2.0", {"changes": "## 1.2.0\n\n- It erases."}, "has no date"),
        ("v1.2.0", {"changes": f"## Unreleased\n\n- More.\n\n{RELEASED}"}, "changes under Unreleased"),
    ],
)
def test_a_tag_is_released_only_with_its_version_and_its_changes(
    tmp_path: Path, tag: str, given: dict[str, str], problem: str
) -> None:
    root, notes = make_repository(tmp_path / "repository", **given), tmp_path / "notes.md"

    done = subprocess.run(
        [sys.executable, ROOT / "scripts/release.py", "--root", root, "check", tag, "--notes", notes],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, problem in done.stderr) == (1 if problem else 0, True)
    assert notes.exists() is not bool(problem)
    assert problem or notes.read_text() == "- **It erases.**\n"


@pytest.mark.slow
def test_a_release_has_two_files_of_each_distribution_with_their_checksums_and_an_sbom(wheels: Path) -> None:
    sums = dict(line.split("  ")[::-1] for line in (wheels / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256((wheels / name).read_bytes()).hexdigest() for name in sums}
    names = [
        "assent_gate",
        *(f"assent_{path.parent.name}" for path in ROOT.glob("packages/*/pyproject.toml")),
    ]
    files = {f"{name}-{__version__}{end}" for name in names for end in (".tar.gz", "-py3-none-any.whl")}
    assert set(sums) == files | {"sbom.cdx.json"}
    sbom = json.loads((wheels / "sbom.cdx.json").read_text())
    assert {each["name"] for each in sbom["components"]} > {"mcp", "msgspec", "starlette"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('license = "MIT"\n', "", "has no License-Expression"),
        ("[project.urls]", "[tool.urls]", "has no Project-URL"),
        (
            "[tool.hatch.build.targets.wheel]",
            '[tool.hatch.build.targets.sdist]\nexclude = ["py.typed"]\n[tool.hatch.build.targets.wheel]',
            "differs from src: assent_notify/py.typed",
        ),
    ],
)
def test_a_release_with_a_flaw_gets_no_checksums(
    tmp_path: Path, before: str, after: str, problem: str
) -> None:
    root = tmp_path / "repository"
    for name in ("packages/core", "packages/notify"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.lock"):
        shutil.copy(ROOT / name, root / name)
    project = root / "packages/notify/pyproject.toml"
    text = project.read_text()
    assert before in text
    project.write_text(text.replace(before, after))

    done = subprocess.run(
        [sys.executable, ROOT / "scripts/release.py", "--root", root, "build", "--out", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, problem in done.stderr) == (1, True), done.stderr
    assert "assent_core" not in done.stderr and not (tmp_path / "out/SHA256SUMS").exists()
