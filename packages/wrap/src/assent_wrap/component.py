"""The tables and statements of wrapping."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assent.sdk import Component

COMPONENT: Final = Component("wrap", prefix="wrap_", folder=Path(__file__).parent, required=True)

statements = COMPONENT.statements
