"""Checks that a tag may become a release, and writes its notes.

    scripts/release.py v0.1.0 [--notes FILE]

The version is in `packages/core/src/assent/__init__.py`; the core's wheel, the server and `assent --version` read it
there. The other distributions and `server.json` must name the same one, the tag must be `v` and that version, and
CHANGELOG.md must have a section `## 0.1.0 - DATE` with text, and nothing left under *Unreleased*. The notes are that
section. Exits with 1 and says what to change otherwise.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

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


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that a tag may become a release.")
    parser.add_argument("tag", help="such as v0.1.0")
    parser.add_argument("--notes", type=Path, help="write the text of the release to this file")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    given = parser.parse_args()
    problems = list(find_problems(given.root, given.tag))
    if problems:
        sys.stderr.write("\n".join(problems) + "\n")
        return 1
    if given.notes is not None:
        sections = read_sections((given.root / "CHANGELOG.md").read_text())
        given.notes.write_text(sections[read_version(given.root)][1] + "\n")
    sys.stdout.write(f"{given.tag} may be released.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
