"""Finds the tables that a SQL text touches, without a database.

Not a parser of SQL: it knows the words after which a table's name stands. The tests compare it
with SQLite's own account for every statement of the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HIDDEN: Final = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""Literals and comments."""
_TOKEN: Final = re.compile(r'"[^"]+"|[A-Za-z_][A-Za-z0-9_.]*|[(),]')
_COMMON: Final = re.compile(
    r"(?:\bWITH(?:\s+RECURSIVE)?|,)\s*(\w+)\s*(?:\([^()]*\)\s*)?AS\s+(?:(?:NOT\s+)?MATERIALIZED\s*)?\(",
    re.IGNORECASE,
)
"""The name of a common table expression."""
_OWN_ARGUMENTS: Final = frozenset({"EXTRACT", "SUBSTRING", "TRIM", "OVERLAY"})
"""Functions with FROM between their arguments."""
_FILLERS: Final = frozenset({"IF", "NOT", "EXISTS", "ONLY", "LATERAL", "CONCURRENTLY"})
_ENDS_LIST: Final = frozenset(
    {"WHERE", "GROUP", "ORDER", "LIMIT", "SET", "SELECT", "RETURNING", "VALUES", "HAVING", "WINDOW"}
)
_NAMES_RELATION: Final = frozenset({"INTO", "TABLE", "REFERENCES", "INDEX", "TO"})
"""Words whose name may be followed by a list in parentheses and is no function."""
_BEFORE_NAME: Final = frozenset({"FROM", "JOIN", "USING", "UPDATE"}) | _NAMES_RELATION


def hide_texts(sql: str) -> str:
    """Return the SQL with empty literals and without comments."""
    return _HIDDEN.sub(lambda found: "''" if found[0].startswith("'") else " ", sql)


def list_tables(sql: str) -> frozenset[str]:
    """Return the names of the tables that a statement reads, changes, defines or refers to. In the
    definition of an index that includes its own name."""
    bare = hide_texts(sql)
    common = {name.lower() for name in _COMMON.findall(bare)}
    return frozenset(_find_names(_TOKEN.findall(bare))) - common


def _find_names(tokens: list[str]) -> Iterator[str]:
    words = [token.upper() for token in tokens]
    makes_index = words[:1] == ["CREATE"] and "INDEX" in words[:3]
    enclosing: list[tuple[str, bool]] = []
    in_list = False
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if word == "(":
            enclosing.append((before, in_list))
            in_list = False
        elif word == ")":
            in_list = enclosing.pop()[1] if enclosing else False
        elif word in _ENDS_LIST:
            in_list = False
        elif word == "FROM" and (before == "DISTINCT" or _is_in(enclosing, _OWN_ARGUMENTS)):
            continue
        elif (word in _BEFORE_NAME and not _is_clause(word, before)) or (makes_index and word == "ON"):
            in_list = in_list or word in ("FROM", "USING")
            yield from _read_name(tokens, words, place + 1, may_call=word not in _NAMES_RELATION | {"ON"})
        elif word == "," and in_list:
            yield from _read_name(tokens, words, place + 1, may_call=True)


def _is_in(enclosing: list[tuple[str, bool]], functions: frozenset[str]) -> bool:
    return bool(enclosing) and enclosing[-1][0] in functions


def _is_clause(word: str, before: str) -> bool:
    """Whether the word is part of another clause: FOR UPDATE, DO UPDATE SET, ON UPDATE CASCADE."""
    if word == "UPDATE":
        return before in ("FOR", "KEY", "DO", "ON")
    return word == "TO" and before != "RENAME"


def _read_name(tokens: list[str], words: list[str], place: int, *, may_call: bool) -> Iterator[str]:
    while place < len(words) and words[place] in _FILLERS:
        place += 1
    if place == len(words) or words[place] in ("(", ")", ",", "SET", "ON"):
        return
    if may_call and words[place + 1 : place + 2] == ["("]:
        return
    yield tokens[place].strip('"').lower()
