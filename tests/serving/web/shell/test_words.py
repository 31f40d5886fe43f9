"""One file of words per screen: templates have no prose, and every word that they name exists."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from string import Formatter

import pytest
from tests.serving.web.shell.prose import find_named, find_prose

import assent
from assent.serving.web.shell.rendering import WORDED

TEMPLATES = sorted(Path(assent.__file__).parent.glob("**/templates/*.html"))
MODULES = {
    **{f"{screen}_words": f"assent.serving.web.{screen}.words" for screen in WORDED},
    "site_words": "assent.suite.site.words",
}


def test_templates_have_no_prose() -> None:
    found = {path.name: prose for path in TEMPLATES if (prose := find_prose(path.read_text()))}

    assert not found


@pytest.mark.parametrize(
    "template",
    [
        "<p>Nothing waits for you</p>",
        "<h1>Inbox</h1>",
        '<a href="/inbox">{{ icons.icon("open") }}Open</a>',
        '<nav aria-label="Path"></nav>',
        '<input placeholder="Search">',
        '<img alt="The logo of {{ name }}">',
        '<input type="submit" value="Save">',
        '{{ "runs" if is_function else "sends" }}',
        '{{ name or "no one" }}',
        '{{ field("name", "Your name", value) }}',
        '{{ field("name", label, hint="Your company or product.") }}',
        '{% call empty("Nothing found", text) %}{% endcall %}',
        '{% macro copy(label="Copy") %}{{ label }}{% endmacro %}',
        '{% set verb = "Approve" if yes else "Reject" %}',
    ],
)
def test_prose_in_a_template_is_found(template: str) -> None:
    assert find_prose(template)


@pytest.mark.parametrize(
    "template",
    [
        '<p class="hint wide">{{ inbox_words.SEARCH }}</p>',
        '<button type="submit" name="decision" value="approve">{{ shell_words.APPROVE }}</button>',
        "<p>{{ words.DECIDE_AS|fill(name=as_strong(person.name)) }}</p>",
        '<kbd>Enter</kbd> <code>assent stdio</code>{{ copyable("assent stdio") }}',
        '{% block width %}medium{% endblock %}<div class="{{ "warn" if late else "ok" }}"></div>',
        '{% set described %}{{ name }}-hint{% endset %}<a href="/llms.txt">/llms.txt</a>',
    ],
)
def test_names_classes_and_code_are_no_prose(template: str) -> None:
    assert not find_prose(template)


def test_every_word_that_a_template_names_exists_and_gets_the_values_of_its_places() -> None:
    """A template may name a word in a branch that no other test renders."""
    wrong = {
        f"{path.name}: {module}.{name}({', '.join(sorted(given))})"
        for path in TEMPLATES
        for module, name, given in find_named(path.read_text())
        if not _fits(getattr(import_module(MODULES[module]), name, None), given)
    }

    assert not wrong


def _fits(word: object, given: set[str]) -> bool:
    if not isinstance(word, str):
        return word is not None
    return {place for _, place, _, _ in Formatter().parse(word) if place} <= given
