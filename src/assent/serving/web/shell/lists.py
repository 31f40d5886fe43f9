"""Pagination: the requested page, the number of pages and their URLs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import msgspec

from assent.kernel.structs import Record


class Pages(Record):
    """A page of a list. `path` and `query` build the URLs of the others."""

    number: int
    size: int
    count: int
    path: str
    query: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def last(self) -> int:
        return max(1, -(-self.count // self.size))

    def address(self, number: int) -> str:
        page = str(number) if number > 1 else ""
        return with_query(self.path, {**self.query, "page": page}).removesuffix("?")


def with_query(path: str, query: Mapping[str, str]) -> str:
    """The URL of a list with the parameters that are not empty."""
    return f"{path}?{urlencode({name: value for name, value in query.items() if value})}"


def whole_number(text: str, digits: int = 9) -> int | None:
    """Parse a whole number of at most so many digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def page_number(text: str) -> int:
    """Parse a page number; 1 for anything else."""
    return max(1, whole_number(text, 6) or 1)


def find_page(count: int, size: int, asked: str, path: str, query: Mapping[str, str]) -> Pages:
    """The requested page, or the last one if the list is shorter."""
    whole = Pages(1, size, count, path, dict(query))
    return msgspec.structs.replace(whole, number=min(page_number(asked), whole.last))
