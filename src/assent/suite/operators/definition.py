"""The description of an operator, and the input that every operator gets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import msgspec

from assent.platform.values import Record, WireRecord
from assent.suite.content.evidence import Evidence
from assent.suite.content.lessons import Lessons
from assent.suite.content.records import Facts, Written


class OperatorInfo(WireRecord, kw_only=True):
    """An operator's list entry (E50). Its primary tool leads to all `tools` by nextToolCalls
    (E1)."""

    id: str
    label: str
    function: str
    primary_tool: str
    connectors: tuple[str, ...]
    status: Literal["live"]
    tools: tuple[str, ...]

    def without_tools(self, names: Collection[str]) -> OperatorInfo:
        return msgspec.structs.replace(self, tools=tuple(each for each in self.tools if each not in names))


class Workbench(Record, kw_only=True):
    """The input of an operator: evidence, lessons, the connectors of the server, and the time."""

    evidence: Evidence
    lessons: Lessons
    connectors: frozenset[str]
    ready: frozenset[str] = frozenset()
    now_ms: int
    written: dict[str, Written] = {}
    """The texts of channels for which the call brings none."""
    kinds: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    """Problems while gathering evidence; shown on every action."""
    fetched: dict[str, Any] | None = None
    """The request for the product page, and its result."""
    schedule_ms: int | None = None
    sender: str = ""
    recipients: tuple[str, ...] = ()

    @property
    def facts(self) -> Facts:
        return Facts(self.evidence, self.lessons)
