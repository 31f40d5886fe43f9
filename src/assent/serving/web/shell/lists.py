"""Pages of a list: which one is asked for, how many there are, and the address of each. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import msgspec


class Pages(msgspec.Struct, frozen=True):
    """A place in a list of `count` entries, `size` to a page. `path` and `query` make the addresses of the others."""

    number: int
    size: int
    count: int
    path: str
    query: dict[str, str] = {}

    @property
    def last(self) -> int:
        return max(1, -(-self.count // self.size))

    def address(self, number: int) -> str:
        kept = {name: value for name, value in self.query.items() if value}
        given = {**kept, "page": str(number)} if number > 1 else kept
        return f"{self.path}?{urlencode(given)}" if given else self.path


def page_number(text: str) -> int:
    """The page that an address asks for; anything that is no number asks for the first."""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 7 else 1


def pages_of(count: int, size: int, asked: str, path: str, query: Mapping[str, str]) -> Pages:
    """The page that is asked for, or the last one where the list is shorter than that."""
    whole = Pages(1, size, count, path, dict(query))
    return msgspec.structs.replace(whole, number=min(page_number(asked), whole.last))
