"""The operator by which `assent conform --profile core` stages: a note that goes nowhere.

A server under test loads it as it loads any operator (`--operators assent_conform.staging`), so that the run also
looks at a function behind the gate.
"""

from __future__ import annotations

import assent

conform = assent.Operator("conform", label="Conform", function="Stages notes that go nowhere, for checks.")


@conform.effect(risk="low")
def note(ctx: assent.Context, text: str) -> assent.Receipt:
    """Keep a note. USE WHEN a server is checked."""
    return assent.Receipt(ctx.key)
