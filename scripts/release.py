"""Checks that a tag may become a release, and builds the files that a person uploads.

    scripts/release.py check v0.2.0 [--notes FILE]
    scripts/release.py build [--out dist/release]

`check`: the version is in `packages/core/src/assent/__init__.py`; the core's wheel, the server and
`assent --version` read it there. The other distributions and `server.json` must name the same one, the tag must be
`v` and that version, and CHANGELOG.md must have a section `## 0.2.0 - DATE` with text, and nothing left under
*Unreleased*. The notes are that section.

`build` makes the source archive of every distribution from this tree and the wheel from that archive, and looks into
each wheel: complete metadata, every file of its sources, and nothing else. Beside them it writes an SBOM of the locked
dependencies (CycloneDX) and SHA256SUMS, and prints what is left for a person.

Both exit with 1 and say what to change where something is wrong.
"""

from __future__ import annotations

import argparse
import email
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from email.message import Message
from itertools import chain
from pathlib import Path

from audit import find_licence, make_sbom, read_lock

ROOT = Path(__file__).resolve().parent.parent
UNRELEASED = "Unreleased"


def read_version(root: Path) -> str:
    """The version of the package."""
    found = re.search(
        r'^__version__ = "([^"]+)"$',
        (root / "packages/core/src/assent/__init__.py").read_text(),
        re.MULTILINE,
    )
    return found[1] if found is not None else ""


def read_versions(path: Path) -> set[str]:
    """The versions that a project names: its own, unless the package has it, and those of what it needs of us."""
    project = tomllib.loads(path.read_text())["project"]
    needed = chain(project.get("dependencies", ()), *project.get("optional-dependencies", {}).values())
    ours = {found[1] for each in needed if (found := re.match(r"assent-[^=]*==(.*)", each)) is not None}
    return ours | ({project["version"]} if "version" in project else set())


def read_sections(changelog: str) -> dict[str, tuple[str, str]]:
    """The sections of a changelog by their version: what follows it in the heading, and the text."""
    parts = re.split(r"^## +(\S+)(.*)$", changelog, flags=re.MULTILINE)[1:]
    return {
        name: (rest.strip(" -"), text.strip())
        for name, rest, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }


def find_problems(root: Path, tag: str) -> Iterator[str]:
    """Say what is wrong with this tag as a release."""
    version = read_version(root)
    if tag != f"v{version}":
        yield f"The tag is {tag}, and the version of the package is {version}: tag v{version}, or change the version."
    for path in sorted([root / "pyproject.toml", *root.glob("packages/*/pyproject.toml")]):
        if wrong := read_versions(path) - {version}:
            yield f"{path.relative_to(root)} names {', '.join(sorted(wrong))}: write {version} there."
    server = json.loads((root / "server.json").read_text())
    named = {server["version"], *(package["version"] for package in server.get("packages", ()))}
    if named != {version}:
        yield f"server.json names {', '.join(sorted(named))}: write {version} there."
    sections = read_sections((root / "CHANGELOG.md").read_text())
    date, text = sections.get(version, ("", ""))
    if not text:
        yield f"CHANGELOG.md has no section for {version}: name the section of its changes `## {version} - DATE`."
    elif re.fullmatch(r"\d{4}-\d{2}-\d{2}", date) is None:
        yield f"The section of {version} in CHANGELOG.md has no date: `## {version} - 2026-11-17`."
    if sections.get(UNRELEASED, ("", ""))[1]:
        yield f"CHANGELOG.md has changes under {UNRELEASED}: move them to the section of {version}."


def check(given: argparse.Namespace) -> list[str]:
    """Write the notes of a tag, or say what keeps it from being a release."""
    problems = list(find_problems(given.root, given.tag))
    if not problems and given.notes is not None:
        sections = read_sections((given.root / "CHANGELOG.md").read_text())
        given.notes.write_text(sections[read_version(given.root)][1] + "\n")
    if not problems:
        sys.stdout.write(f"{given.tag} may be released.\n")
    return problems


NEEDED = (
    "Name",
    "Version",
    "Summary",
    "Project-URL",
    "Author",
    "License-Expression",
    "License-File",
    "Keywords",
    "Classifier",
    "Requires-Python",
    "Description-Content-Type",
)
"""The fields that an index shows, or by which an installer decides."""


def build(given: argparse.Namespace) -> list[str]:
    """Make the files of a release, or say what is wrong with them."""
    out: Path = given.out
    shutil.rmtree(out, ignore_errors=True)
    run_uv(given.root, "build", "--all-packages", "--out-dir", out)
    version = read_version(given.root)
    projects = sorted([given.root, *(path.parent for path in given.root.glob("packages/*/pyproject.toml"))])
    problems = [problem for project in projects for problem in find_flaws(project, out, version)]
    if not problems:
        locked = read_lock((given.root / "requirements.lock").read_text())
        sbom = make_sbom(locked, {each.name: find_licence(each.name) for each in locked}, version)
        (out / "sbom.cdx.json").write_text(json.dumps(sbom, indent=2) + "\n")
        files = sorted(path for path in out.iterdir() if path.suffix in {".whl", ".gz", ".json"})
        sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
        (out / "SHA256SUMS").write_text("".join(sums))
        sys.stdout.write(TO_DO.format(out=os.path.relpath(out), version=version, count=len(files) - 1))
    return problems


TO_DO = """\
Built and checked {count} files of {version} in {out}, with sbom.cdx.json and SHA256SUMS beside them.

What a person does now, once the names are theirs on the index:
  uv publish {out}/*.whl {out}/*.tar.gz
  set PUBLISHED in packages/core/src/assent/kernel/distribution.py, and add the package entry to server.json
  git tag v{version} && git push origin v{version}
"""


def find_flaws(project: Path, out: Path, version: str) -> Iterator[str]:
    """Say what is wrong with the two files of a distribution."""
    name = tomllib.loads((project / "pyproject.toml").read_text())["project"]["name"].replace("-", "_")
    wheel, source = out / f"{name}-{version}-py3-none-any.whl", out / f"{name}-{version}.tar.gz"
    if missing := [path.name for path in (wheel, source) if not path.exists()]:
        yield f"{', '.join(missing)} was not built: is the version of {name} another one?"
        return
    about, members = open_wheel(wheel)
    if lacking := [field for field in NEEDED if field not in about]:
        yield f"{wheel.name} has no {', '.join(lacking)}: add it to [project] in its pyproject.toml."
    if not str(about.get_payload()).strip():
        yield f"{wheel.name} has no description: its README.md is empty."
    written = {path.relative_to(project / "src").as_posix() for path in list_sources(project / "src")}
    packed = {member for member in members if f"{name}-{version}.dist-info/" not in member}
    if packed != written:
        yield f"{wheel.name} differs from src: {', '.join(sorted(packed ^ written)[:5])}."


def list_sources(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def open_wheel(path: Path) -> tuple[Message, set[str]]:
    """The metadata of a wheel, and the names of its files."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(wheel.read(metadata)), names


def run_uv(folder: Path, *words: str | Path) -> None:
    found = subprocess.run([ROOT / "scripts/uv.sh"], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    certificates = {} if "UV_SYSTEM_CERTS" in os.environ else {"UV_SYSTEM_CERTS": "true"}
    command = [found.stdout.strip(), *words, "--quiet"]
    subprocess.run(command, cwd=folder, env=os.environ | certificates, check=True)  # noqa: S603 - ours


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a tag, or build the files of a release.")
    commands = parser.add_subparsers(required=True)
    checks = commands.add_parser("check", help="check that a tag may become a release")
    checks.add_argument("tag", help="such as v0.2.0")
    checks.add_argument("--notes", type=Path, help="write the text of the release to this file")
    checks.set_defaults(run=check)
    builds = commands.add_parser("build", help="build and check the files of a release")
    builds.add_argument(
        "--out", type=Path, default=ROOT / "dist/release", help="the folder, which is emptied first"
    )
    builds.set_defaults(run=build)
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    given = parser.parse_args()
    problems: list[str] = given.run(given)
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
