"""The operator port: an operator returns the effects it wants instead of performing them (E9)."""

from __future__ import annotations

from typing import Any, Final

from assent.gate.records import Effect
from assent.gate.views import Severity
from assent.kernel.refusals import SuggestedCall
from assent.kernel.structs import Record
from assent.ports.context import Picture


class Draft(Record, kw_only=True):
    """A piece of content that an operator made."""

    type: str
    title: str
    body: str
    channel: str | None = None
    metadata: dict[str, Any] = {}
    picture: Picture | None = None
    """The picture, if the draft is one."""


class StagedEffect(Record, kw_only=True):
    """An effect that an operator requests. `draft` is the index of its content."""

    effect: Effect
    executor_tool: str
    draft: int | None = None
    picture: int | None = None
    """The index of the draft that is the attached picture."""
    severity: Severity | None = None
    warnings: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    cost_credits: int = 0
    schedule_ms: int | None = None
    expires_ms: int | None = None
    metadata: dict[str, Any] = {}
    paths: dict[str, str] = {}
    """The path of each part of the content in the call's arguments."""
    rewrite: dict[str, str] = {}
    """Requirements for a text that replaces a plain note, by argument."""


THIS_RUN: Final = "\0this run"
"""Placeholder in a suggested call for the id of the run that is being prepared."""


class Preparation(Record, kw_only=True):
    """The result of an operator's prepare. The engine stores, checks and asks for approval (E9)."""

    drafts: tuple[Draft, ...] = ()
    effects: tuple[StagedEffect, ...] = ()
    outputs: dict[str, Any] = {}
    next_calls: tuple[SuggestedCall, ...] = ()
    """Complete calls that need no decision of the person."""
    notes: tuple[str, ...] = ()
    """Sentences for the person about the whole run."""
    user_message: str = ""
    """For the person, if nothing is staged."""
    show: str = ""
    """Markdown for the person, if nothing is staged and the drafts do not contain it."""
    writing: dict[str, Any] | None = None
    """Material for an agent that writes texts instead of plain notes."""
