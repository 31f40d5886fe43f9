"""An operator whose target, recipients and price can change between the approval and the execution."""

from __future__ import annotations

import threading
from typing import Any

import assent

LEDGER: list[str] = []
STATE: dict[str, Any] = {}
"""What is true at the provider now."""
RELEASE = threading.Event()

pages = assent.Operator("acme-pages", label="Pages", function="Changes pages once approved.")


@pages.effect(risk="low")
async def replace(ctx: assent.Context, page: str, text: str) -> assent.Receipt:
    """Replace a page. USE WHEN the user wants another text there."""
    LEDGER.append(text)
    return assent.Receipt(f"page-{len(LEDGER)}")


@replace.observe
async def _observe(ctx: assent.ConnectionContext, page: str) -> Any:
    fault = STATE.get("fault", "")
    if fault == "raises":
        raise KeyError(page)
    if fault == "hangs":
        RELEASE.wait(20)
    if fault == "lists":
        return ["3"]
    if fault == "nests":
        return {"page": {"version": 3}}
    if fault == "is too long":
        return {"page": "x" * 5_000}
    assert ctx.http is not None
    return {"version": STATE.get("version", 3), "title": STATE.get("title", "News")}


@pages.effect(risk="low")
def invite(list_name: str) -> assent.Receipt:
    """Invite a list. USE WHEN the user wants everybody on it to come."""
    LEDGER.append(list_name)
    return assent.Receipt("invited")


@invite.facets
def _facets(list_name: str) -> assent.Facets:
    people = STATE.get("people", ("ada@example.org", "grace@example.org"))
    return assent.Facets(recipients=tuple(people), amount=STATE.get("amount", "10.00"), currency="EUR")


@pages.effect(risk="low")
def ring(times: int) -> assent.Receipt:
    """Ring a bell. USE WHEN the user wants to be heard."""
    LEDGER.append(f"rung {times}")
    return assent.Receipt("rung")


assert pages.effects
