"""Parse a definition file: JSON or YAML, bounded, without duplicate keys."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_JSON_DEPTH, MAX_WORKFLOW_BYTES
from assent.kernel.texts import quote
from assent.workflow.issues import Issue, shorten, walk_values

SUFFIXES: Final = (".json", ".yaml", ".yml")
ANSWERS: Final = ".answers"
"""Before the suffix of a file that has answers for a definition and is none."""
_MAX_YAML_NODES: Final = 50_000
"""Bound on a file's nodes after anchors are expanded, against small files that grow huge."""

_TOO_DEEP: Final = f"The file nests deeper than {MAX_JSON_DEPTH} levels, or has an infinite number."
_TOO_MANY: Final = "The file expands to too many values; use fewer anchors."

_ADVICE: Final = {
    "constructor for the tag": "Tags are not read; remove it and write the plain value",
    "recursive node": "An anchor contains itself; write the value out",
    "another document": "A file has one document; put the next one into another file",
    "'\\t'": "A tab is not allowed here; indent with spaces",
}
"""Advice that replaces messages of the YAML parser."""


class DocumentRefused(Exception):  # noqa: N818 - an answer to the author
    """The file holds no document that can be a definition."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.message)
        self.issues = (issue,)


def load_document(text: str | bytes, suffix: str) -> Any:
    """Parse a file's text. `suffix` is one of `SUFFIXES`. Raises `DocumentRefused`."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise _refusal("not_utf8", f"The file is not UTF-8 text (byte {error.start}); save it as UTF-8.")
    refuse_size(len(text.encode("utf-8", "surrogatepass")))
    is_yaml = suffix.lower() in (".yaml", ".yml")
    if not text.strip("\ufeff \t\r\n"):
        code = "not_yaml" if is_yaml else "not_json"
        raise _refusal(code, "The file is empty; write id, name, description, version and steps.")
    value = _yaml(text) if is_yaml else _json(text.removeprefix("\ufeff"))
    if depth(value) > MAX_JSON_DEPTH:
        raise _refusal("too_deep", f"The file nests deeper than {MAX_JSON_DEPTH} levels.")
    return value


def refuse_size(size: int) -> None:
    """Raise `DocumentRefused` for more bytes than a definition may have."""
    if size > MAX_WORKFLOW_BYTES:
        message = (
            f"The file has {size} bytes; at most {MAX_WORKFLOW_BYTES} are taken. Split it into routines."
        )
        raise _refusal("too_large", message)


def _refusal(code: str, message: str) -> DocumentRefused:
    return DocumentRefused(Issue("$", code, message))


class _UnreadableValue(NamedTuple):
    """Placeholder for an unreadable value until its path is known."""

    code: str
    message: str


def _report_duplicate(key: str) -> _UnreadableValue:
    return _UnreadableValue("duplicate_key", f'The key "{key[:60]}" is in one object twice; keep one.')


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        seen[key] = _report_duplicate(key) if key in seen else value
    return seen


def _constant(name: str) -> _UnreadableValue:
    return _UnreadableValue("not_json", f"{name} is no JSON number; write a plain one.")


def _json(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise _refusal("not_json", f"Line {error.lineno}, column {error.colno}: {error.msg}.")
    except (RecursionError, ValueError):
        raise _refusal("too_deep", _TOO_DEEP)
    for path, part in walk_values(value):
        if isinstance(part, _UnreadableValue):
            raise DocumentRefused(shorten(Issue(path, *part)))
    return value


def _yaml(text: str) -> Any:
    import yaml  # imported late: most folders hold no YAML

    class Loader(yaml.SafeLoader):
        """Plain JSON values only: no dates, no duplicate keys, bounded anchors."""

        nodes = 0
        composed = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            self.composed += 1
            if self.composed > _MAX_YAML_NODES:
                message = f"The file has more than {_MAX_YAML_NODES} values; split it into routines."
                raise _refusal("too_large", message)
            return super().compose_node(parent, index)

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            self.nodes += 1
            if self.nodes > _MAX_YAML_NODES:
                raise _refusal("too_large", _TOO_MANY)
            return super().construct_object(node, deep=deep)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                name, place = self.construct_object(key, deep=True), f"Line {key.start_mark.line + 1}: "
                if name == "<<":
                    message = 'Merge keys ("<<") are not read, only plain anchors; write the fields out.'
                    raise _refusal("key", place + message)
                if not isinstance(name, str):
                    raise _refusal("key", f"{place}The key {quote(name)} is not a text; write it in quotes.")
                if name in seen:
                    raise _refusal("duplicate_key", place + _report_duplicate(name).message)
                seen.add(name)
            return super().construct_mapping(node, deep=True)

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":merge"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        value = yaml.load(text, Loader)  # noqa: S506 - a safe loader, narrowed further
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"Line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        said = next((advice for part, advice in _ADVICE.items() if part in problem), problem)
        raise _refusal("not_yaml", f"{place}{said}.")
    except (RecursionError, ValueError):
        raise _refusal("too_deep", _TOO_DEEP)
    # With its anchors expanded. Not by `walk_values`, whose paths grow without end in an anchor that
    # contains itself.
    stack, count = [value], 0
    while stack:
        node, count = stack.pop(), count + 1
        if count > _MAX_YAML_NODES:
            raise _refusal("too_large", _TOO_MANY)
        stack += node if isinstance(node, list) else node.values() if isinstance(node, dict) else ()
    return value
