"""Templates have their own words; those that code decides between are in the module `words` of the screen."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import assent
from assent.serving.web.shell.rendering import WORDED

TEMPLATES = sorted(Path(assent.__file__).parent.glob("**/templates/*.html"))


def test_every_word_that_a_template_names_exists() -> None:
    """A template may name a word in a branch that no other test renders."""
    named = {
        (screen, name)
        for path in TEMPLATES
        for screen, name in re.findall(r"\b(\w+)_words\.([A-Z]\w+)", path.read_text(encoding="utf-8"))
    }
    assert named
    known = {screen: import_module(f"assent.serving.web.{screen}.words") for screen in WORDED}
    assert [each for each in sorted(named) if not hasattr(known.get(each[0]), each[1])] == []
