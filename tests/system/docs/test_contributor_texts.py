"""AGENTS.md and the templates name only files, targets and sections that exist."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
AGENTS = ROOT / "AGENTS.md"
TEMPLATES = sorted((ROOT / ".github").rglob("*.md"))
MOST_LINES = 60


def test_every_path_target_and_section_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    sections = set(re.findall(r"^## (.+)$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE))
    wrong = []
    for file in (AGENTS, *TEMPLATES):
        text = file.read_text()
        paths = re.findall(r"(?:packages|tests|docs)/[\w/.]*\w|\b[A-Z]{5,}\.md\b", text)
        wrong += [(file.name, path) for path in paths if not (ROOT / path).exists()]
        named = re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", text, re.MULTILINE)
        wrong += [(file.name, one or two) for one, two in named if (one or two) not in targets]
        wrong += [(file.name, title) for title in re.findall(r'"(How [^"]+)"', text) if title not in sections]
        assert len(text.splitlines()) <= MOST_LINES
    assert wrong == []


def test_every_issue_template_has_a_name_and_says_what_it_is_for() -> None:
    issues = [file for file in TEMPLATES if file.parent.name == "ISSUE_TEMPLATE"]

    assert len(issues) >= 2
    for file in issues:
        _, head, body = file.read_text().split("---\n", 2)
        assert {"name", "about", "labels"} <= yaml.safe_load(head).keys()
        assert body.strip()
