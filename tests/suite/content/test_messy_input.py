"""What real READMEs and changelogs look like, each oddity once: none of it reaches a draft."""

from __future__ import annotations

import pytest

from assent.suite.content.evidence import find_name, gather, read_changes, read_readme


@pytest.mark.parametrize(
    ("markdown", "first"),
    [
        (
            "# Kuma\n\n⚠️ Use a local volume only.\n\nIt is a monitor for servers.\n",
            "It is a monitor for servers.",
        ),
        (
            "# A\n\nWebsite | Roadmap | Discord | Blog\n\nA gives answers to people.\n",
            "A gives answers to people.",
        ),
        ("# A\n\nA runs in `a.env`の中で動きます。\n", "A runs in a.envの中で動きます。"),
    ],
)
def test_the_first_paragraph_says_what_the_product_is(markdown: str, first: str) -> None:
    assert read_readme(markdown).paragraphs[:1] == (first,)


@pytest.mark.parametrize(
    ("markdown", "features"),
    [
        ("# A\n\n## Key Features\n\n### Privacy & Security\n\n- Data stays here\n", ("Data stays here",)),
        ("# A\n\n## Why shouldn't I use it?\n\n- You need POSIX\n", ()),
        ("# A\n\nText about A, long enough.\n\n* Docs: https://docs.example.org\n* Questions? Ask us\n", ()),
        ("# A\n\n## Disclaimer\n\n* ⚠️ There will be bugs\n", ()),
    ],
)
def test_features_are_what_a_maker_would_list(markdown: str, features: tuple[str, ...]) -> None:
    assert read_readme(markdown).features == features


@pytest.mark.parametrize(
    ("notes", "texts"),
    [
        ("- [sidebar] show help by default", ["show help by default"]),
        ("* **core:** convert schemas", ["convert schemas"]),
        ("2.13.0\n------\n\n- Asyncio is on\n\nBug fixes\n~~~~~~~~~\n\n- Fixed a retry (:issue:`61`)",
         ["Asyncio is on", "Fixed a retry"]),
        ("### Added\n- Tabs\n\n### Deprecated\n- The plugins sheet", ["Tabs"]),
    ],
)  # fmt: skip
def test_a_change_is_told_without_the_marks_of_its_changelog(notes: str, texts: list[str]) -> None:
    assert [change.text for change in read_changes(notes.splitlines()).items] == texts


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("# VisiData v2.11\n\nVisiData opens tables of data.", "VisiData"),
        ("What is Inkscape?\n===\n\nInkscape is a program for graphics.", "Inkscape"),
        ("# DB Browser for SQLite\n\nDB Browser for SQLite is a visual tool.", "DB Browser for SQLite"),
        ("# ![Micro](logo.png)\n\nMicro is a text editor.\n\n# Features\n\n- Several cursors", "Micro"),
    ],
)
def test_the_name_is_neither_a_version_nor_a_section(title: str, name: str) -> None:
    assert find_name(gather(repo_context={"readme": title})) == name
