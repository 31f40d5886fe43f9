"""What the repository holds: no command that installs a stranger's program, no binary, no large file."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from assent.kernel.distribution import DISTRIBUTION, PARTS, PUBLISHED

ROOT: Final = Path(__file__).parents[3]
OWN_SAMPLES: Final = "tests/system/install/test_tracked_files.py"

_NAME = re.compile(r"(assent(?:[-_.][\w.-]*)?)(?:\[|[=<>!~@;]|$)", re.IGNORECASE)
_INSTALLS = re.compile(
    r"\b(?P<runs>uvx|uv tool run|pipx run)\b"
    r"|\buv run\b(?P<project>)"
    r"|\b(?<!plugin )"  # a plugin comes from a marketplace
    r"(?:install|upgrade|reinstall|inject|download|pip wheel|(?:uv|poetry|pdm|rye|hatch) add)\b(?P<adds>)"
)
_LIST_COMMA = re.compile(r"""["']\s*,\s*["']""")
_ENTRY = re.compile(r'"command"\s*:\s*"[^"]*\b(uvx|pipx)"\s*,\s*"args"\s*:\s*\[([^\]]*)')
_END = re.compile(r"&&|\|\||[;|#`()]|, |\. |\.?$|\"\s*[\],)}]|: ")
_GIVES_A_PACKAGE = {"--from", "--with", "--spec", "--with-editable"}
_TAKES_A_VALUE = {
    "-p",
    "--python",
    "-i",
    "--index-url",
    "--extra-index-url",
    "--index",
    "-r",
    "-c",
    "--target",
}

_DECLARES = re.compile(
    r"""(?:"identifier"\s*:\s*"|pkg:pypi/|pypi\.org/(?:project|simple)/|"""
    r"""\b(?:dependencies|requires|install_requires|dev|test)\s*=\s*\[[^\]]*["']|"""
    r"""^\[packages\]\n(?:.+\n)*?)(assent(?:[-_.][\w-]*)*)\b""",
    re.IGNORECASE | re.MULTILINE,
)
_STARTS = re.compile(
    r"""\b(?:uvx|pipx)["'](?P<words>[^{}()*]{0,200}?)["'](?P<name>assent(?:-[a-z]+)*)["']|"""
    r"""["']uv["'][^{}]{0,60}?["']run["'](?P<more>[^{}]{0,100}?)["'](?P<tool>assent(?:-[a-z]+)*)["']"""
)
"""An entry of a client's file in any order of lines: the program, then its arguments."""
_WITH_EXTRA = re.compile(r"""(?<![\w/.-])(assent(?:-\w+)*)\[[a-z{]""")
_PINNED = re.compile(r"^(assent(?:[-_.][\w-]*)?)\s*(?:\[[\w, -]*\])?\s*(?:[=<>!~]=?.*)?$", re.IGNORECASE)


def find_distributions(text: str, *, is_list: bool = False) -> set[str]:
    """The distributions called `assent` or `assent-*` that a text tells people to install or run from an index.
    `is_list`: a file with a requirement in each line."""
    joined = text.replace("\\\n", " ")
    found = [name for match in _ENTRY.finditer(joined) for name in _read(f"{match[1]} {_unquote(match[2])}")]
    found += [match[1] for match in _DECLARES.finditer(joined)]
    for match in _STARTS.finditer(joined):
        if "--from" not in (match["words"] or match["more"] or ""):
            found.append(match["name"] or match["tool"])
    for line in joined.splitlines():
        found += _read(_LIST_COMMA.sub(" ", line))
        found += [match[1] for match in _WITH_EXTRA.finditer(line)]
        if is_list and (pin := _PINNED.match(line)) is not None:
            found.append(pin[1])
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


def _unquote(items: str) -> str:
    return re.sub(r"""["',\s]+""", " ", items)


def _read(line: str) -> Iterator[str]:
    """The names that the commands of a line give to an installer."""
    for match in _INSTALLS.finditer(line):
        rest = line[match.end() :]
        end = _END.search(rest)
        words = [word.strip("'\"") for word in rest[: end.start() if end else None].split()]
        named, first = [], ""
        while words:
            word = words.pop(0)
            option, _, value = word.partition("=")
            if option in _GIVES_A_PACKAGE:
                named.append(value or (words.pop(0) if words else ""))
            elif option in _TAKES_A_VALUE:
                words = words if value else words[1:]
            elif not word.startswith("-"):
                first = first or word
                if match["adds"] is not None and words[:1] != ["@"]:
                    named.append(word)
        if match["runs"] is not None and not re.search(r"--(?:from|spec)\b", rest):
            named.append(first)
        yield from (
            name[1] for word in named if (name := _NAME.fullmatch(word) or _NAME.match(word)) is not None
        )


def list_tracked() -> Iterator[tuple[str, str]]:
    """Mode and path of each file in git."""
    listed = subprocess.run(
        ["git", "ls-files", "-s", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for line in listed.stdout.split("\0")[:-1]:
        about, path = line.split("\t", 1)
        if (ROOT / path).is_file():
            yield about.split()[0], path


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("pipx install 'assent[postgres,pictures]'     # for a server", "assent"),
        ("pipx install build     # or: uv tool install 'assent[postgres]'", "assent"),
        ("`uvx assent demo` tries it.", "assent"),
        ("uvx assent@latest demo", "assent"),
        ("uvx --from assent-gate assent demo", "assent-gate"),
        ("uvx --python 3.12 Assent", "assent"),
        ("uv tool run --with assent-wrap pytest", "assent-wrap"),
        ("as you installed the old one: `pipx upgrade assent`, a new image", "assent"),
        ("python3 -m pip install --upgrade assent==0.1.0", "assent"),
        ("pip install build assent_server", "assent-server"),
        ("pipx run --spec assent-gate assent serve", "assent-gate"),
        ("uv add assent", "assent"),
        ("uv run --with assent script.py", "assent"),
        ("f\"pip install 'assent[{extra.name}]'\"", "assent"),
        ('"install assent[otel]"', "assent"),
        ("Drawing needs `assent[pictures]`.", "assent"),
        ('return [shutil.which("uvx") or "uvx", "assent"]', "assent"),
        ('{"command": "uvx",\n "args": ["assent", "stdio"]}', "assent"),
        ('{"command": "/usr/bin/uvx", "args": ["--from", "assent-gate", "assent"]}', "assent-gate"),
        ('"identifier": "assent",', "assent"),
        ('dependencies = ["httpx", "assent>=0.1"]', "assent"),
        ("https://pypi.org/project/assent/", "assent"),
        ('dependencies = [\n  "httpx",\n  "assent>=0.1",\n]', "assent"),
        ('setup(install_requires=["assent"])', "assent"),
        ('[packages]\nhttpx = "*"\nassent = "*"\n', "assent"),
        ('command = "uvx"\nargs = ["assent", "stdio"]', "assent"),
        ('{"command": "uvx", "env": "X", "args": ["assent", "stdio"]}', "assent"),
        ('{"command": "pipx", "args": ["run", "assent"]}', "assent"),
        ('{"command": "uv", "args": ["tool", "run", "assent"]}', "assent"),
        ("uv pip install \\\n  assent-operators", "assent-operators"),
    ],
)
def test_a_line_that_installs_by_name_is_found(line: str, name: str) -> None:
    assert find_distributions(line) == {name}


@pytest.mark.parametrize(
    "line",
    [
        "uv run assent serve",
        "uv build --wheel && pip install dist/assent_gate-0.1.0-py3-none-any.whl",
        "pipx install 'dist/assent_gate-0.1.0-py3-none-any.whl[postgres]'",
        "uvx --from dist/assent_gate-0.1.0-py3-none-any.whl assent demo",
        "pip install '.[postgres]' (in a checkout of Assent)",
        "pip install --no-deps .  # Assent itself",
        "pip install ./assent",
        "pip install 'assent-gate @ file:///srv/assent'",
        ".venv/bin/assent doctor",
        "claude mcp add --transport stdio --scope user assent -- /path/to/assent stdio",
        '"command": "assent", "args": ["stdio"]',
        "claude plugin install assent@assent --config command=/path/to/assent",
        "Debian: apt-get install nginx",
        "uvx mcp-server-git -r assent",
    ],
)
def test_a_line_that_uses_the_checkout_or_a_wheel_is_not_found(line: str) -> None:
    assert find_distributions(line) == set()


def test_a_requirement_in_a_list_is_found() -> None:
    assert find_distributions("httpx==1.0\nassent==0.1.0 \\\n    --hash=sha256:00\n", is_list=True) == {
        "assent"
    }
    assert find_distributions("assent serve\n", is_list=True) == set()


PROJECTS: Final = (
    "pyproject.toml",
    *(f"packages/{name}/pyproject.toml" for name in ("core", "launch", "wrap", "notify", "conform")),
)


def test_the_distributions_have_names_of_their_own_and_two_of_them_have_commands() -> None:
    projects = [tomllib.loads((ROOT / path).read_text())["project"] for path in PROJECTS]
    assert tuple(project["name"] for project in projects) == (DISTRIBUTION, *PARTS)
    assert [set(project.get("scripts", ())) for project in projects] == [
        {"assent", "assent-gate"},
        {"assent"},
        set(),
        set(),
        set(),
        set(),
    ]


def test_no_text_tells_people_to_install_a_distribution_that_is_not_ours() -> None:
    allowed = {DISTRIBUTION} if PUBLISHED else set()
    found = []
    for _, path in list_tracked():
        raw = (ROOT / path).read_bytes()
        if path == OWN_SAMPLES or b"\0" in raw:
            continue
        is_list = path.endswith((".lock", ".in")) or "requirements" in path
        # The workspace takes its own packages from its folders.
        own = set(PARTS) if path in PROJECTS else set()
        names = find_distributions(raw.decode(errors="replace"), is_list=is_list) - allowed - own
        found += [f"{path}: {name}" for name in sorted(names)]
    assert found == []


MAX_BYTES: Final = 200_000
LARGE: Final = (".lock", "package-lock.json", ".ttf", ".woff2")
"""Lock files and fonts."""
PROGRAMS: Final = (b"\x7fELF", b"!<arch>\n", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
ARCHIVES: Final = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")


def judge_file(mode: str, path: str, raw: bytes) -> str | None:
    """Why this file may not be in git, or None."""
    if raw.startswith(PROGRAMS) or (mode == "100755" and not raw.startswith(b"#!")):
        return "is a program without its source"
    if raw.startswith(ARCHIVES) and not path.startswith("tests/data/"):
        return "is an archive"
    if len(raw) > MAX_BYTES and not (path.endswith(LARGE) or path.startswith("docs/screens/")):
        return f"has more than {MAX_BYTES} bytes"
    return None


@pytest.mark.parametrize(
    ("mode", "path", "raw", "refused"),
    [
        ("100755", "bin/nginx", b"\x7fELF\x02", True),
        ("100644", "nginx.deb", b"!<arch>\ndebian-binary", True),
        ("100755", "tool", b"print()", True),
        ("100755", "scripts/uv.sh", b"#!/bin/sh\n", False),
        ("100644", "changelog.gz", b"\x1f\x8b\x08", True),
        ("100644", "a.whl", b"PK\x03\x04", True),
        ("100644", "tests/data/86bd63e/sqlite.db.gz", b"\x1f\x8b\x08", False),
        ("100644", "data.json", b"1" * 200_001, True),
        ("100644", "requirements-dev.lock", b"1" * 200_001, False),
        ("100644", "docs/screens/run.png", b"1" * 200_001, False),
    ],
)
def test_programs_archives_and_large_files_are_refused(
    mode: str, path: str, raw: bytes, refused: bool
) -> None:
    assert (judge_file(mode, path, raw) is not None) is refused


def test_git_holds_no_program_no_archive_and_no_large_file() -> None:
    judged = ((path, judge_file(mode, path, (ROOT / path).read_bytes())) for mode, path in list_tracked())
    assert [f"{path} {why}" for path, why in judged if why is not None] == []
