"""Finds the words of a template that a person reads, and that therefore belong to a file of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Final

from jinja2 import Environment, nodes

READ: Final = {"title", "aria-label", "placeholder", "alt", "data-label", "label"}
"""Attributes that are shown or read aloud."""
SAMPLES: Final = {"code", "kbd", "script", "style"}
"""Elements whose text is no prose."""
CODE: Final = {"copyable", "as_code"}
"""Calls that show their argument as code."""
INSIDE_TAGS: Final = {"body", "width"}
"""Blocks that are filled inside a tag: attributes and a class."""
FIRST_MARK: Final = 0xE000
"""Expressions are numbered characters of the private use area while the HTML is parsed."""

_WORD: Final = re.compile(r"(?<![\w/#&?=.-])[^\W\d_]{2,}")
_PHRASE: Final = re.compile(r"[^\W\d_]\s+\S*[^\W\d_]|^[A-Z][a-z]")


def find_prose(source: str) -> list[str]:
    """Return the words in the text, in the attributes that are read and in the strings of expressions."""
    scan = _Scan()
    scan.walk(Environment(autoescape=True).parse(source))
    parser = _Reader(scan.expressions)
    parser.feed("".join(scan.html))
    parser.close()
    return [*parser.found, *scan.found]


def find_named(source: str) -> Iterator[tuple[str, str, set[str]]]:
    """Each word that a template names: its module, its name and the values that it is filled with."""
    tree = Environment(autoescape=True).parse(source)
    filled = {
        id(word): {str(each.key) for each in node.kwargs}
        for node in tree.find_all(nodes.Filter)
        if node.name == "fill" and node.node is not None
        for word in (node.node, *node.node.find_all(nodes.Getattr))
    }
    for node in tree.find_all(nodes.Getattr):
        if isinstance(node.node, nodes.Name) and node.node.name.endswith("_words"):
            yield node.node.name, node.attr, filled.get(id(node), set())


class _Scan:
    """The HTML of a template, with a mark for each expression, and the phrases that macros are given."""

    def __init__(self) -> None:
        self.html: list[str] = []
        self.expressions: list[nodes.Expr] = []
        self.found: list[str] = []

    def walk(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Block) and node.name in INSIDE_TAGS:
            return
        self.found += (text for each in _given(node) for text in _strings(each) if _PHRASE.search(text))
        if isinstance(node, nodes.Output):
            for each in node.nodes:
                if isinstance(each, nodes.TemplateData):
                    self.html.append(each.data)
                else:
                    self.html.append(chr(FIRST_MARK + len(self.expressions)))
                    self.expressions.append(each)
        for child in node.iter_child_nodes():
            self.walk(child)


class _Reader(HTMLParser):
    def __init__(self, expressions: list[nodes.Expr]) -> None:
        super().__init__()
        self.found: list[str] = []
        self._expressions = expressions
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside += [tag] if tag in SAMPLES else []
        pressed = tag == "input" and ("type", "submit") in attrs
        for name, value in attrs:
            if name in READ or (pressed and name == "value"):
                self._read(value or "")

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._read(data)

    def _read(self, text: str) -> None:
        marked = [self._expressions[ord(each) - FIRST_MARK] for each in text if ord(each) >= FIRST_MARK]
        plain = "".join("…" if ord(each) >= FIRST_MARK else each for each in text)
        if _WORD.search(plain):
            self.found.append(" ".join(plain.split()))
        for each in marked:
            if not isinstance(each, nodes.Call):
                self.found += (said for said in _strings(each) if _WORD.search(said))


def _given(node: nodes.Node) -> Iterable[nodes.Node]:
    """What a call, a macro or an assignment is given, unless it is shown as code."""
    if isinstance(node, nodes.Call):
        named = node.node
        is_code = isinstance(named, nodes.Name) and named.name in CODE
        return () if is_code else (*node.args, *(each.value for each in node.kwargs))
    if isinstance(node, nodes.Macro):
        return node.defaults
    return (node.node,) if isinstance(node, nodes.Assign) else ()


def _strings(node: nodes.Node) -> Iterator[str]:
    """The strings that an expression may become."""
    if isinstance(node, nodes.Const):
        yield from (node.value,) if isinstance(node.value, str) else ()
    elif isinstance(node, nodes.CondExpr):
        yield from _strings(node.expr1)
        yield from _strings(node.expr2) if node.expr2 is not None else ()
    elif isinstance(node, nodes.Filter | nodes.Getitem) and node.node is not None:
        yield from _strings(node.node)
    elif isinstance(node, nodes.Pair):
        yield from _strings(node.value)
    elif isinstance(node, nodes.Concat | nodes.BinExpr | nodes.Tuple | nodes.List | nodes.Dict):
        for each in node.iter_child_nodes():
            yield from _strings(each)
