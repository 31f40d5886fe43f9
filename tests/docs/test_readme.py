"""The README: its function is a gated tool, and it names every page of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.pages import DOCS, block_of

from assent.extensions.registry import load_extensions

README = DOCS.parent / "README.md"


def test_the_function_of_the_page_is_loaded_as_an_effect(tmp_path: Path) -> None:
    code = tmp_path / "billing.py"
    code.write_text(block_of("../README.md", "python"))
    loaded = load_extensions((str(code),))
    assert loaded.failures == () and [each.tool for each in loaded.effects] == ["acme_billing_refund"]


def test_the_page_leads_to_every_page_of_the_documentation() -> None:
    named = set(re.findall(r"\(docs/([\w/-]+\.md)\)", README.read_text()))
    pages = (*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"), *DOCS.glob("reference/*.md"))
    assert named == {path.relative_to(DOCS).as_posix() for path in pages}
