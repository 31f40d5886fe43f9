"""Files become documents only if they are plain, bounded and say each thing once."""

from __future__ import annotations

import json
import time

import pytest
from tests.support.workflows.library import builtin_files, read

from assent.engine.definitions.library import DocumentRefused, load_document

BILLION = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "suffix", "code"),
    [
        ('{"a": 1, "a": 2}', ".json", "duplicate_key"),
        ("a: 1\na: 2", ".yaml", "duplicate_key"),
        ('{"a": NaN}', ".json", "not_json"),
        ("{", ".json", "not_json"),
        ("", ".json", "not_json"),
        ("[" * 100_000, ".json", "too_deep"),
        ("[" * 65 + "]" * 65, ".json", "too_deep"),
        ("a: [", ".yaml", "not_yaml"),
        ("[" * 3_000, ".yml", "too_deep"),
        ("!!python/object/apply:os.getcwd []", ".yaml", "not_yaml"),
        ("a: &a [*a]", ".yaml", "not_yaml"),
        (BILLION, ".yaml", "too_large"),
        ("1: x", ".yaml", "key"),
        ("a: &a {b: 1}\nc: {<<: *a}", ".yaml", "key"),
        ("- a\n" * 60_000, ".yaml", "too_large"),
        (" \n", ".yaml", "not_yaml"),
        ('"' + "x" * 1_048_576 + '"', ".json", "too_large"),
        (b"\xff\xfe{", ".json", "not_utf8"),
    ],
)
def test_a_bad_file_is_refused_by_code(text: str | bytes, suffix: str, code: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        load_document(text, suffix)
    assert refused.value.issues[0].code == code


@pytest.mark.parametrize(
    ("text", "suffix", "where"),
    [
        ('{"a": [{"b": 1}, {"b": 1, "c": 2, "b": 3}]}', ".json", "$.a[1].b"),
        ('{"a": {"b": [0, -Infinity]}}', ".json", "$.a.b[1]"),
        ("a:\n- b: 1\n- b: 1\n  c: 2\n  b: 3", ".yaml", "Line 5: "),
        ("a: 1\n1: 2", ".yaml", "Line 2: "),
    ],
)
def test_an_author_is_told_where_it_is(text: str, suffix: str, where: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        load_document(text, suffix)
    issue = refused.value.issues[0]
    assert where in (issue.path, issue.message[: len(where)])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: !!python/name:os.system", "write the plain value"),
        ("a: &a [*a]", "write the value out"),
        ("a: 1\n---\nb: 2", "into another file"),
        ("a:\n\tb: 1", "indent with spaces"),
    ],
)
def test_an_author_is_told_what_to_write_instead(text: str, told: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        load_document(text, ".yaml")
    assert told in refused.value.issues[0].message


def test_an_anchor_that_contains_itself_is_refused_at_once() -> None:
    began = time.process_time()
    with pytest.raises(DocumentRefused):
        load_document("&a {" + "k" * 100 + ": *a}", ".yaml")
    assert time.process_time() - began < 5


def test_yaml_says_the_same_as_json() -> None:
    import yaml

    for path in builtin_files():
        value = read(path)
        assert load_document(yaml.safe_dump(value, allow_unicode=True), ".yaml") == value


def test_dates_and_numbers_of_yaml_stay_plain() -> None:
    assert load_document("when: 2024-05-02\nn: 3\nlist: &l [1]\nagain: *l", ".yml") == {
        "when": "2024-05-02", "n": 3, "list": [1], "again": [1],
    }  # fmt: skip


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert load_document("\ufeff" + json.dumps({"a": 1}), ".json") == load_document(
        b'\xef\xbb\xbf{"a": 1}', ".json"
    )
