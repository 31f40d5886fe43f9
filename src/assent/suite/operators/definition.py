"""What an operator is called and what it is given to work with."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from assent.suite.content.evidence import Evidence
from assent.suite.content.lessons import Lessons
from assent.suite.content.records import Composed


class OperatorInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An operator as it is listed (E50). `tools` are reachable from the primary tool through nextToolCalls (E1)."""

    id: str
    label: str
    function: str
    primary_tool: str
    connectors: tuple[str, ...]
    status: Literal["live"]
    tools: tuple[str, ...]


class Workbench(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator may know: evidence, what was learned, which connectors there are, and when it is."""

    evidence: Evidence
    lessons: Lessons
    connectors: frozenset[str]
    ready: frozenset[str] = frozenset()
    """Those that could perform for this workspace now."""
    now_ms: int
    drafted: dict[str, Composed] = {}
    """What a configured model wrote, by channel."""
    kinds: dict[str, str] = {}
    """What sort of memory each entry is, by its id."""
    warnings: tuple[str, ...] = ()
    """What went wrong while evidence was gathered; said on every action."""
    fetched: dict[str, Any] | None = None
    """What the product page was asked for with, and what came of it."""
    schedule_ms: int | None = None
    sender: str = ""
    recipients: tuple[str, ...] = ()
