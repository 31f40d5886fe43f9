"""A store that knows when the code of a transaction runs, and a world that refuses to be touched by it."""

from __future__ import annotations

import builtins
import io
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.support.actions.trace import Traced

from assent.engine.definitions.library import WorkflowLibrary
from assent.ports import Begin, Rows, Transaction

_inside = threading.local()
_touched: list[str] = []
"""Kept too, because a server answers for what goes wrong in it."""


class Watched(Traced):
    """Knows when the code of a transaction runs, on whatever thread that is."""

    def _followed(self, mode: str, begin: Begin[Any]) -> Transaction[Any]:
        with _within():
            transaction = begin()
        rows: Rows | None = None
        while True:
            try:
                with _within():
                    bound = next(transaction) if rows is None else transaction.send(rows)
            except StopIteration as end:
                return end.value
            rows = yield bound


@contextmanager
def _within() -> Iterator[None]:
    _inside.now = True
    try:
        yield
    finally:
        _inside.now = False


def _refusing(name: str, touch: Callable[..., Any]) -> Callable[..., Any]:
    def judged(*args: Any, **kwargs: Any) -> Any:
        if getattr(_inside, "now", False):
            _touched.append(name)
            raise AssertionError(f"{name} within a transaction")
        return touch(*args, **kwargs)

    return judged


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files, sockets, waiting and the workflow library fail where a transaction reaches for them."""
    _touched.clear()
    for owner, name in (
        (os, "stat"),
        (os, "scandir"),
        (os, "open"),
        (io, "open"),
        (builtins, "open"),
        (time, "sleep"),
        (socket, "create_connection"),
        (socket, "getaddrinfo"),
        (WorkflowLibrary, "catalogue"),
        (WorkflowLibrary, "find"),
        (WorkflowLibrary, "find_again"),
    ):
        monkeypatch.setattr(owner, name, _refusing(name, getattr(owner, name)))
    yield
    assert _touched == []
